//! The processes of the demo, and what all steps need.

use std::time::Duration;

use millpond::Pond;
use millpond_wire::Epoch;
use millpond_wire::message::Status;

use super::account::Account;
use super::plan::Plan;
use super::story::Story;
use crate::args::DemoArgs;
use crate::error::{CommandError, Outcome, failed, wrong};
use crate::json::DemoJson;
use crate::units;
use millpond_trial::protocol::{Card, Order};
use millpond_trial::{TrialPond, Worker, until};

/// What is needed on disk where the driver is software and nobody said how much.
const SOFT_BYTES: u64 = 512 << 20;

/// The processes of the demo. Dropped in this order: workers first, then the pond.
#[derive(Debug)]
pub struct Demo<'a> {
    pub story: Story<'a>,
    pub facts: DemoJson,
    pub plan: Plan,
    /// What the checksums must be; known once it was needed.
    pub sums: Vec<u64>,
    pub card: Card,
    pub count: u8,
    pub workers: Vec<Worker>,
    /// Reads the card's used bytes, from the first moment to the last, and does nothing else.
    pub meter: Worker,
    pub pond: Option<Pond>,
    /// The daemon that should be there.
    pub epoch: Option<Epoch>,
    /// The card's used bytes before there was a pond.
    pub first_reading: u64,
    /// The card's used bytes with the pond and nobody else.
    pub pond_reading: u64,
    /// The card's used bytes with every context and no tensor.
    pub contexts_reading: u64,
    pub trial: Option<TrialPond>,
}

impl<'a> Demo<'a> {
    /// A folder and somebody who reads the card; no pond yet.
    pub fn gather(args: &DemoArgs, story: Story<'a>) -> Result<Self, CommandError> {
        let size = args.size.map(|size| size.0);
        let own = std::env::current_exe().map_err(|error| failed("finding this program", error))?;
        let trial = TrialPond::prepare(&own, size.unwrap_or(SOFT_BYTES))?;
        let mut meter = trial.worker("demo meter")?;
        let card = meter.open_card()?;
        let plan = Plan::new(size, card.soft, card.total_bytes)?;
        let facts = DemoJson {
            driver: card.driver.clone(),
            software_driver: card.soft,
            device: card.device.clone(),
            device_name: card.name.clone(),
            reading: card.reading.clone(),
            workers: u64::from(args.workers),
            tensors: plan.count(),
            bytes: plan.bytes(),
            ..DemoJson::default()
        };
        let first_reading = meter.used_bytes()?;
        Ok(Self {
            story,
            facts,
            plan,
            sums: Vec::new(),
            card,
            count: args.workers,
            workers: Vec::new(),
            meter,
            pond: None,
            epoch: None,
            first_reading,
            pond_reading: first_reading,
            contexts_reading: 0,
            trial: Some(trial),
        })
    }

    /// The pond's processes and folder.
    pub fn trial(&mut self) -> Result<&mut TrialPond, CommandError> {
        self.trial.as_mut().ok_or_else(|| wrong("the pond is gone"))
    }

    /// The demo's own connection.
    pub fn pond(&self) -> Result<&Pond, CommandError> {
        self.pond.as_ref().ok_or_else(|| wrong("there is no pond yet"))
    }

    /// What the pond says.
    pub fn status(&self) -> Result<Status, CommandError> {
        Ok(self.pond()?.status()?)
    }

    /// What the account book says.
    pub fn account(&self) -> Result<Account, CommandError> {
        self.status().map(|status| Account::of(&status))
    }

    /// Claims that the account becomes this, waiting for it. The time it took comes along.
    pub fn claim_account(&mut self, expected: Account) -> Result<Option<Duration>, CommandError> {
        let pond = self.pond()?.clone();
        let look = || {
            let status = pond.status()?;
            let as_expected = Account::of(&status) == expected && status.silent_clients == 0;
            Ok(as_expected.then_some(()))
        };
        self.look_at_the_daemon()?;
        match until("the account", look) {
            Ok(((), time)) => {
                self.story.claim(true, format_args!("account is right: {expected}"))?;
                Ok(Some(time))
            }
            Err(CommandError::Failed(_)) => {
                let is = self.account()?;
                let text = format!("account should be {expected}, but is {is}");
                self.story.claim(false, text)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Nobody dies here without being killed: a daemon that was started again all by itself makes
    /// the story false.
    fn look_at_the_daemon(&mut self) -> Outcome {
        let epoch = self.status()?.epoch;
        let expected = self.epoch.replace(epoch).unwrap_or(epoch);
        if epoch == expected {
            return Ok(());
        }
        let text = format!("the daemon lives on (epoch {expected}), but it is epoch {epoch} now");
        self.story.claim(false, text)
    }

    /// Claims that all bytes are as they were written: through a worker that has had them mapped
    /// all the time, and through a process that maps them now. Remembers what is lost.
    pub fn claim_bytes(&mut self) -> Outcome {
        let names = self.plan.names();
        let trial = self.trial.as_ref().ok_or_else(|| wrong("the pond is gone"))?;
        let mut newcomer = trial.worker("demo newcomer")?;
        let old = self.workers.first_mut().ok_or_else(|| wrong("no worker is left"))?;
        old.tell(&Order::Check)?;
        newcomer.times(&Order::Map { names })?;
        newcomer.tell(&Order::Check)?;
        let (seen_by_old, seen_by_new) = (old.heard_sums()?, newcomer.heard_sums()?);
        newcomer.end()?;
        let lost = self.plan.wrong_bytes(&self.sums, &seen_by_old);
        let lost = lost.max(self.plan.wrong_bytes(&self.sums, &seen_by_new));
        self.facts.lost_bytes = Some(lost);
        let text = format!(
            "every byte intact: read by a worker that has mapped them all the time, and by a \
             new process; lost: {}",
            units::bytes(lost)
        );
        self.story.claim(lost == 0, text)
    }

    /// The story and what was seen; everything else ends.
    pub fn leave(mut self) -> (Story<'a>, DemoJson) {
        self.facts.ok = self.story.was_true();
        self.facts.claims = self.story.claims().to_vec();
        self.facts.times.total_ms = Some(units::millis(self.story.elapsed()));
        (self.story, self.facts)
    }
}
