//! The driver thread: every slow driver call, asked by channel, so that no request waits for one
//! that is not its own.
//!
//! It never makes a CUDA context. After export the handle is released, so descriptors are the only
//! driver state, the same before and after a restart.

mod order;

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use millpond_cuda::{
    Allocation, CudaError, Device, Driver, DriverChoice, DriverKind, Granularity, Nvml,
};
use millpond_wire::{GpuUuid, SlabId, trust};

use order::Order;

use crate::book::ChargedAccounts;
use crate::descriptors;
use crate::foreign;
use crate::policy::DriverFailure;
use crate::side_thread::{Inside, SideThread, Speaker};

/// A descriptor that several owners share.
pub type SharedFd = Arc<OwnedFd>;

/// What the thread is asked.
#[derive(Debug)]
pub enum Ask {
    /// Make and export a slab.
    MakeSlab {
        /// Its identity, for the answer.
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
    },
    /// Have the owner of memory charged that somebody else makes.
    Charge {
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
        /// The process that has made it already.
        maker_pid: Option<u32>,
    },
    /// Count memory that is there, whatever its owner may have.
    Count { slab: SlabId, device: GpuUuid, bytes: u64, user: u32 },
    /// Try to make memory that can be shared over a fabric, and pass on what the driver says.
    TryFabric { slab: SlabId, device: GpuUuid },
    /// A slab is gone: all its descriptors were closed before.
    SlabGone(SlabId),
    /// Read what the cards say is in use.
    ReadPhysical,
    /// Close a descriptor: the last one of a slab frees its memory, which takes its time.
    Close(SharedFd),
}

/// What the thread says.
#[derive(Debug)]
pub enum Told {
    /// The driver is there.
    Ready {
        /// Its name and version.
        name: String,
        devices: Vec<FoundDevice>,
        /// Where the locks of its GPUs lie.
        lock_folder: PathBuf,
        /// How the cards are read.
        nvml: Option<Nvml>,
    },
    /// The driver is not there, and why.
    Failed(String),
    /// A slab, or why not.
    SlabMade { slab: SlabId, result: Result<SharedFd, DriverFailure> },
    /// The owner of memory was charged, or may not have it.
    Charged { slab: SlabId, result: Result<(), DriverFailure> },
    /// Bytes in use on each card.
    Physical(Vec<(GpuUuid, u64)>),
}

/// A GPU as the driver describes it.
#[derive(Clone, Debug)]
pub struct FoundDevice {
    pub uuid: GpuUuid,
    /// Place in the driver's list.
    pub index: u32,
    /// What it calls it.
    pub name: String,
    pub total_bytes: u64,
}

/// The thread, from outside.
pub type DriverThread = SideThread<Ask, Told>;

/// Starts the thread; [`Told::Ready`] or [`Told::Failed`] is the first that it says.
///
/// # Errors
/// What the system says.
pub fn start(choice: DriverChoice, charges: Arc<ChargedAccounts>) -> std::io::Result<DriverThread> {
    SideThread::start("millpond-driver", move |Inside { asked, speaker, .. }| {
        serve(&choice, &charges, &asked, &speaker);
    })
}

fn serve(
    choice: &DriverChoice,
    charges: &ChargedAccounts,
    asked: &Receiver<Ask>,
    speaker: &Speaker<Told>,
) {
    let cards = match Cards::open(choice) {
        Ok(cards) => {
            speaker.say(Told::Ready {
                name: cards.name.clone(),
                devices: cards.found(),
                lock_folder: cards.lock_folder.clone(),
                nvml: cards.nvml.clone(),
            });
            Some(cards)
        }
        Err(text) => {
            speaker.say(Told::Failed(text));
            None
        }
    };
    let work = Work { cards, charges, speaker };
    let mut order = Order::default();
    loop {
        asked.try_iter().for_each(|ask| order.add(ask));
        match order.next() {
            Some(ask) => work.done(ask, &mut order),
            None => match asked.recv() {
                Ok(ask) => order.add(ask),
                Err(_) => return,
            },
        }
    }
}

/// What the thread works with.
struct Work<'a> {
    cards: Option<Cards>,
    charges: &'a ChargedAccounts,
    speaker: &'a Speaker<Told>,
}

impl Work<'_> {
    fn done(&self, ask: Ask, order: &mut Order) {
        match ask {
            Ask::MakeSlab { slab, device, bytes, user } => {
                let mut result = self.make(slab, device, bytes, user);
                let rest = match &result {
                    Err(_) => order.take_rest(),
                    Ok(_) => VecDeque::new(),
                };
                if !rest.is_empty() {
                    // What was given back before this was asked counts for it.
                    rest.into_iter().for_each(|ask| self.done(ask, order));
                    result = self.make(slab, device, bytes, user);
                }
                self.speaker.say(Told::SlabMade { slab, result });
            }
            Ask::Charge { slab, device, bytes, user, maker_pid } => {
                let made = |pid| self.charges.charge_made(slab, device, bytes, user, pid);
                let mut result = match maker_pid.is_some_and(made) {
                    true => Ok(()),
                    false => self.charge(slab, device, bytes, user),
                };
                if result.is_err() {
                    order.take_rest().into_iter().for_each(|ask| self.done(ask, order));
                    result = self.charge(slab, device, bytes, user);
                }
                self.speaker.say(Told::Charged { slab, result });
            }
            Ask::TryFabric { slab, device } => {
                let text = self.cards.as_ref().map_or_else(no_driver, |it| it.try_fabric(device));
                let failure = DriverFailure { out_of_memory: false, text, over_limit: None };
                self.speaker.say(Told::SlabMade { slab, result: Err(failure) });
            }
            Ask::ReadPhysical => {
                let used = self.cards.as_ref().map(Cards::physical).unwrap_or_default();
                self.speaker.say(Told::Physical(used));
            }
            Ask::Close(fd) => drop(fd),
            Ask::Count { slab, device, bytes, user } => {
                self.charges.adopt([(slab, device, bytes, user)]);
            }
            Ask::SlabGone(slab) => self.charges.give_back(slab),
        }
    }

    fn charge(
        &self,
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
    ) -> Result<(), DriverFailure> {
        charge(self.charges, (slab, device, bytes, user))
    }

    fn make(
        &self,
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
    ) -> Result<SharedFd, DriverFailure> {
        match &self.cards {
            Some(cards) => make_charged(cards, self.charges, (slab, device, bytes, user)),
            None => {
                Err(DriverFailure { out_of_memory: false, text: no_driver(), over_limit: None })
            }
        }
    }
}

/// Charges the owner's group, then makes the slab: what the driver has is always in the books.
fn make_charged(
    cards: &Cards,
    charges: &ChargedAccounts,
    (slab, device, bytes, user): (SlabId, GpuUuid, u64, u32),
) -> Result<SharedFd, DriverFailure> {
    charge(charges, (slab, device, bytes, user))?;
    cards.make(device, bytes).inspect_err(|_| charges.give_back(slab))
}

fn charge(
    charges: &ChargedAccounts,
    (slab, device, bytes, user): (SlabId, GpuUuid, u64, u32),
) -> Result<(), DriverFailure> {
    charges.charge(slab, device, bytes, user).map_err(|over| DriverFailure {
        out_of_memory: false,
        text: over.answer.to_string(),
        over_limit: Some(over),
    })
}

fn no_driver() -> String {
    "there is no driver".to_owned()
}

struct Cards {
    name: String,
    devices: HashMap<GpuUuid, Device>,
    in_order: Vec<GpuUuid>,
    lock_folder: PathBuf,
    nvml: Option<Nvml>,
    /// While a process has no exported descriptor open, each export costs a millisecond.
    _kept: Vec<OwnedFd>,
}

impl Cards {
    fn open(choice: &DriverChoice) -> Result<Self, String> {
        choice.path().map_or(Ok(()), trust::library).map_err(|error| error.to_string())?;
        let driver = Driver::open(choice.clone(), Some(&millpond_softgpu::PROVIDER))
            .map_err(|error| error.to_string())?;
        driver.init().map_err(|error| match millpond_softgpu::refusal() {
            Some(why) if driver.kind() == DriverKind::Soft => format!("{error}: {why}"),
            _ => error.to_string(),
        })?;
        let devices = driver.devices().map_err(|error| error.to_string())?;
        if driver.kind() == DriverKind::Soft
            && *choice == DriverChoice::Auto
            && let Some(reason) = millpond_cuda::broken_driver()
        {
            tracing::warn!("the NVIDIA driver does not work: {reason}; see `millpond doctor`");
        }
        if devices.iter().any(|device| device.name().ends_with(millpond_softgpu::MARK)) {
            tracing::warn!("software driver: tensors are in host memory, no GPU is used");
        }
        let nvml = Nvml::open(&driver)
            .inspect_err(|error| tracing::warn!("no readings of the card: {error}"))
            .ok();
        let kept = devices.iter().filter_map(|device| keep_one(device).ok()).collect();
        let in_order = devices.iter().map(|device| GpuUuid(device.uuid().0)).collect();
        Ok(Self {
            name: format!("{} {}", driver.name(), driver.version()),
            devices: devices.into_iter().map(|device| (GpuUuid(device.uuid().0), device)).collect(),
            in_order,
            lock_folder: lock_folder(&driver)?,
            nvml,
            _kept: kept,
        })
    }

    fn found(&self) -> Vec<FoundDevice> {
        let device = |uuid: &GpuUuid| {
            let device = self.devices.get(uuid)?;
            Some(FoundDevice {
                uuid: *uuid,
                index: u32::try_from(device.ordinal()).unwrap_or(0),
                name: device.name().to_owned(),
                total_bytes: device.total_bytes(),
            })
        };
        self.in_order.iter().filter_map(device).collect()
    }

    fn make(&self, uuid: GpuUuid, bytes: u64) -> Result<SharedFd, DriverFailure> {
        let device = self.devices.get(&uuid).ok_or_else(|| DriverFailure {
            out_of_memory: false,
            text: format!("{uuid} not found"),
            over_limit: None,
        })?;
        let made = Allocation::create(device, bytes).and_then(|allocation| {
            let fd = allocation.export()?;
            allocation.release()?;
            Ok(fd)
        });
        let fd = made.map_err(|error: CudaError| DriverFailure {
            out_of_memory: error.is_out_of_memory(),
            text: error.to_string(),
            over_limit: None,
        })?;
        descriptors::may_hold(&fd).map_err(|short| DriverFailure {
            out_of_memory: false,
            text: short.to_string(),
            over_limit: None,
        })?;
        Ok(Arc::new(fd))
    }

    /// What the driver says to memory with a fabric handle.
    fn try_fabric(&self, uuid: GpuUuid) -> String {
        let Some(device) = self.devices.get(&uuid) else { return format!("{uuid} not found") };
        match millpond_cuda::share::try_fabric(device) {
            Ok(()) => "it would, but this version does not use it".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    fn physical(&self) -> Vec<(GpuUuid, u64)> {
        let used = |uuid: &GpuUuid| {
            let device = self.devices.get(uuid)?;
            let memory = self.nvml.as_ref()?.device(device.uuid()).ok()?.memory().ok()?;
            Some((*uuid, memory.used_bytes))
        };
        self.in_order.iter().filter_map(used).collect()
    }
}

/// A card's lock lies where every user can reach it, a software device's beside the device.
fn lock_folder(driver: &Driver) -> Result<PathBuf, String> {
    match driver.kind() {
        DriverKind::Cuda => Ok(PathBuf::from("/dev/shm")),
        DriverKind::Soft => {
            let config = millpond_softgpu::configuration().map_err(|error| error.to_string())?;
            Ok(config.folder)
        }
    }
}

fn keep_one(device: &Device) -> Result<OwnedFd, CudaError> {
    let bytes = Allocation::granularity(device, Granularity::Minimum)?;
    let allocation = Allocation::create(device, bytes)?;
    let fd = allocation.export()?;
    foreign::remember(&fd);
    allocation.release()?;
    Ok(fd)
}
