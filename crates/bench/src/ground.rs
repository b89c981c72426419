//! The ponds that are measured.

use std::path::{Path, PathBuf};

use millpond::Pond;
use millpond_wire::message::Status;

use crate::programs;
use millpond_console::error::{CommandError, wrong};
use millpond_trial::protocol::Card;
use millpond_trial::{TrialPond, Worker};

/// What every pond of its own needs to know.
#[derive(Clone, Debug)]
pub struct Ground {
    /// On what is measured.
    pub card: Card,
    /// Whether fewer rounds are made.
    pub quick: bool,
    pub program: PathBuf,
}

impl Ground {
    /// Less, where it should be quick.
    pub fn count(&self, full: u32, quick: u32) -> u32 {
        if self.quick { quick } else { full }
    }

    /// A new pond that nobody else uses.
    pub fn pond(&self) -> Result<(TrialPond, Status), CommandError> {
        let mut trial = TrialPond::prepare(&self.program, ROOM)?;
        // A crowd of one user is what is measured.
        trial.set("MILLPOND_LIMITS_CONNECTIONS_PER_USER", "1000000".to_owned());
        // Devices of the software driver are named after the folder they are in.
        let device = if self.card.soft { "0" } else { &self.card.device };
        let (status, _) = trial.serve(device, &[])?;
        Ok((trial, status))
    }
}

/// What everything together needs on the software driver.
const ROOM: u64 = 4 << 30;

/// A pond with whom measures it.
pub struct Bench {
    pub ground: Ground,
    pub pond: Pond,
    pub status: Status,
    pub worker: Worker,
    pub meter: Worker,
    /// The card's used bytes before the pond was started, where it was started here.
    pub used_before: Option<u64>,
    /// Dropped last, and with it the pond.
    trial: Option<TrialPond>,
}

impl Bench {
    /// In a pond of its own.
    pub fn on_its_own(program: PathBuf, quick: bool) -> Result<Self, CommandError> {
        let mut trial = TrialPond::prepare(&program, ROOM)?;
        let mut meter = trial.worker("bench meter")?;
        let card = meter.open_card()?;
        let used_before = Some(meter.used_bytes()?);
        let (status, _) = trial.serve(&card.device, &[])?;
        let pond = trial.connect("bench")?;
        let worker = trial.worker("bench worker")?;
        let ground = Ground { card, quick, program };
        Ok(Self { ground, pond, status, worker, meter, used_before, trial: Some(trial) })
    }

    /// In one that is there.
    pub fn on(pond: Pond, quick: bool) -> Result<Self, CommandError> {
        let folder = pond.runtime_dir().to_owned();
        let status = pond.status()?;
        let mut meter = Worker::attached("bench meter", &folder)?;
        let ground = Ground { card: meter.open_card()?, quick, program: programs::core()? };
        let worker = Worker::attached("bench worker", &folder)?;
        Ok(Self { ground, pond, status, worker, meter, used_before: None, trial: None })
    }

    /// Another worker in the same pond.
    pub fn another_worker(&self, label: &str) -> Result<Worker, CommandError> {
        match &self.trial {
            Some(trial) => trial.worker(label),
            None => Worker::attached(label, self.folder()),
        }
    }

    pub fn folder(&self) -> &Path {
        self.pond.runtime_dir()
    }

    /// Where files may lie: with a pond of its own, or where others lie.
    pub fn files(&self) -> PathBuf {
        self.trial.as_ref().map_or_else(std::env::temp_dir, |trial| trial.folder().to_owned())
    }

    /// Bytes that the pond can still take on its first GPU, and the slabs there.
    pub fn room(&self) -> Result<(u64, u32), CommandError> {
        let status = self.pond.status()?;
        let device = status.devices.first().ok_or_else(|| wrong("the pond has no GPU"))?;
        let kept = device.slab_bytes.saturating_sub(device.recycled_bytes);
        let in_books = device.capacity_bytes.saturating_sub(kept);
        let used = device.physical_used_bytes.unwrap_or_default();
        let on_card = device.total_bytes.saturating_sub(used.saturating_sub(device.recycled_bytes));
        Ok((in_books.min(on_card), device.slabs))
    }

    /// Ends all of it.
    pub fn end(self) -> Result<Ground, CommandError> {
        self.worker.end()?;
        self.meter.end()?;
        self.pond.close()?;
        drop(self.trial);
        Ok(self.ground)
    }
}
