//! What a worker measures.

use std::fs::File;
use std::hint::black_box;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use millpond::{Dtype, GetOptions, Pond, Sink, Source, StageSpec, Tensor, TensorSpec};
use millpond_console::error::{CommandError, failed, wrong};
use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, Device, LinearMemory, Mapping,
    OpenedMemory,
};
use millpond_mover::raw::{RawRing, raw_get, raw_put};
use millpond_mover::settings;
use millpond_trial::protocol::Order;
use millpond_trial::worker::{FLUSH, Tools, context};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::caches::{CacheWork, Caches};
use crate::raw::RawClient;
use crate::rows::BATCH;
use crate::socket::Floor;

/// What a worker measures, and how often.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Map tensors and let go of all.
    Attach {
        /// Their names; a round is all of them.
        names: Vec<String>,
        /// One that stays mapped meanwhile.
        beside: Option<String>,
        rounds: u32,
    },
    /// The same with the bare driver calls on the descriptors of the same slabs.
    AttachRaw { device: String, names: Vec<String>, rounds: u32 },
    /// Get what this process holds; each time is that of one get of a batch.
    GetAgain { name: String, rounds: u32 },
    /// Open a legacy handle with the bare driver, and close it.
    OpenRaw { device: String, handle: Vec<u8>, rounds: u32 },
    /// Allocate with the bare driver, and free everything afterwards.
    AllocRaw { device: String, bytes: u64, rounds: u32 },
    /// Make the current version of a model, in as many slabs.
    Stage { model: String, parts: u32, part_bytes: u64 },
    /// Attach a model, as the first thing that this process wants of the pond; a lazy pond connects
    /// with it.
    First { device: String, model: String, lazy: bool },
    /// Connect, likewise.
    FirstConnect { device: String },
    /// The bare driver calls on the model's slabs, likewise.
    FirstRaw { device: String, model: String },
    /// Publish one tensor again and again.
    Publish { rounds: u32 },
    /// Make and map a tensor in a slab that is there and mapped.
    Create { bytes: u64, rounds: u32 },
    /// Connect and say hello; the connections stay until the worker ends.
    Connect { connections: u32 },
    /// The same, each with a lease.
    Hold { name: String, clients: u32 },
    /// Wait until the daemon is gone, then have all of these connect and claim.
    Claim,
    /// Have the pond move bytes between a file and a tensor that has a slab of its own.
    Move(Move),
    /// The same with a bare pinned ring.
    MoveRaw { device: String, what: Move },
    /// Something with elastic caches.
    Cache(CacheWork),
}

/// A move of all bytes of a tensor, several times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Move {
    pub name: String,
    pub file: PathBuf,
    pub bytes: u64,
    /// From the file to the tensor, or back.
    pub put: bool,
    pub rounds: u32,
}

impl From<Measure> for Order {
    fn from(what: Measure) -> Self {
        // Numbers and texts are always JSON.
        Order::Measure(serde_json::to_value(what).unwrap_or_default())
    }
}

/// When something began, by the clock and by the processor time of this process.
struct Start {
    clock: Instant,
    processor: Duration,
}

impl Start {
    fn now() -> Self {
        Self { clock: Instant::now(), processor: processor_time() }
    }

    /// Both since then.
    fn taken(&self) -> [Duration; 2] {
        [self.clock.elapsed(), processor_time().saturating_sub(self.processor)]
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// What a worker keeps from one order to the next.
#[derive(Default)]
pub struct Kept {
    /// Connections that only stay.
    crowd: Vec<RawClient>,
    caches: Caches,
}

impl Kept {
    /// Does what was ordered, and says how long each part took.
    pub fn measure(
        &mut self,
        tools: &mut Tools,
        what: serde_json::Value,
    ) -> Result<Vec<Duration>, CommandError> {
        match serde_json::from_value(what).map_err(|error| failed("an order", error))? {
            Measure::Attach { names, beside, rounds } => {
                attach(tools.pond()?, &names, beside.as_deref(), rounds)
            }
            Measure::AttachRaw { device, names, rounds } => {
                let mut client = RawClient::connect(tools.folder())?;
                let fds: Result<Vec<(OwnedFd, u64)>, _> =
                    names.iter().map(|name| client.get(name)).collect();
                let fds = fds?;
                let taken = attach_raw(&tools.device(&device)?, &fds, rounds);
                drop(fds);
                client.end()?;
                taken
            }
            Measure::GetAgain { name, rounds } => get_again(tools.pond()?, &name, rounds),
            Measure::OpenRaw { device, handle, rounds } => {
                open_raw(&tools.device(&device)?, &handle, rounds)
            }
            Measure::AllocRaw { device, bytes, rounds } => {
                alloc_raw(&tools.device(&device)?, bytes, rounds)
            }
            Measure::Stage { model, parts, part_bytes } => {
                let names = (0..parts).map(|part| format!("part.{part}"));
                let tensors = names.map(|name| (name, Dtype::U8, vec![part_bytes]));
                let spec = StageSpec::new(model).slab_bytes(part_bytes).tensors(tensors);
                tools.pond()?.stage(spec)?.commit(true)?;
                tools.pond()?.flush(FLUSH)?;
                Ok(Vec::new())
            }
            Measure::First { device, model, lazy } => {
                let _context = context(&tools.device(&device)?)?;
                let start = Start::now();
                let pond = if lazy { tools.lazy_pond()? } else { tools.pond()? };
                let attached = pond.attach(model.as_str())?;
                let taken = start.taken();
                drop(attached);
                pond.flush(FLUSH)?;
                Ok(taken.into())
            }
            Measure::FirstConnect { device } => {
                let _context = context(&tools.device(&device)?)?;
                let start = Start::now();
                tools.pond()?;
                Ok(start.taken().into())
            }
            Measure::FirstRaw { device, model } => {
                let mut client = RawClient::connect(tools.folder())?;
                let fds = client.get_version(&model)?;
                let context = context(&tools.device(&device)?)?;
                let mut mapped = Vec::with_capacity(fds.len());
                let start = Start::now();
                map_raw(&context, &fds, &mut mapped)?;
                let taken = start.taken();
                unmap_raw(&mut mapped)?;
                drop(fds);
                client.end()?;
                Ok(taken.into())
            }
            Measure::Publish { rounds } => publish(tools.pond()?, rounds),
            Measure::Create { bytes, rounds } => create(tools.pond()?, bytes, rounds),
            Measure::Connect { connections } => self.join(tools, connections),
            Measure::Hold { name, clients } => self.hold(tools, &name, clients),
            Measure::Claim => self.claim(),
            Measure::Move(what) => move_bytes(tools.pond()?, &what),
            Measure::MoveRaw { device, what } => {
                let mut client = RawClient::connect(tools.folder())?;
                let slab = client.get(&what.name)?;
                let taken = move_raw(&tools.device(&device)?, &slab, &what);
                drop(slab);
                client.end()?;
                taken
            }
            Measure::Cache(work) => self.caches.work(tools, work),
        }
    }

    fn join(&mut self, tools: &Tools, connections: u32) -> Result<Vec<Duration>, CommandError> {
        let limit = getrlimit(Resource::Nofile);
        // Where it stays as it is, a connection says so.
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
        let mut taken = Vec::new();
        for _ in 0..connections {
            let start = Instant::now();
            self.crowd.push(RawClient::connect(tools.folder())?);
            taken.push(start.elapsed());
        }
        Ok(taken)
    }

    fn hold(
        &mut self,
        tools: &Tools,
        name: &str,
        clients: u32,
    ) -> Result<Vec<Duration>, CommandError> {
        let taken = self.join(tools, clients)?;
        for client in &mut self.crowd {
            drop(client.get(name)?);
        }
        Ok(taken)
    }

    /// Waits for the daemon's end; then everybody claims.
    fn claim(&mut self) -> Result<Vec<Duration>, CommandError> {
        let first = self.crowd.first().ok_or_else(|| wrong("nobody is connected"))?;
        first.wait_for_hang_up()?;
        let start = Instant::now();
        for client in &mut self.crowd {
            client.claim()?;
        }
        Ok(vec![start.elapsed()])
    }
}

/// What no attach can be faster than: import, reserve, map and set access, on descriptors that are
/// here already.
pub fn attach_raw(
    device: &Device,
    fds: &[(OwnedFd, u64)],
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let context = context(device)?;
    let mut taken = Vec::new();
    let mut mapped = Vec::with_capacity(fds.len());
    for _ in 0..rounds {
        let start = Instant::now();
        map_raw(&context, fds, &mut mapped)?;
        taken.push(start.elapsed());
        unmap_raw(&mut mapped)?;
    }
    Ok(taken)
}

fn get_again(pond: &Pond, name: &str, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let held = pond.get(name)?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(pond.get(name)?);
        }
        taken.push(start.elapsed() / BATCH);
    }
    drop(held);
    pond.flush(FLUSH)?;
    Ok(taken)
}

/// What no get of a legacy handle can be faster than: a message and its answer, and the open. The close
/// is not measured.
fn open_raw(device: &Device, handle: &[u8], rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let context = context(device)?;
    let handle = handle.try_into().map_err(|_| wrong("a handle has 64 bytes"))?;
    let (floor, mut taken) = (Floor::start()?, Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        floor.round_trip()?;
        let memory = OpenedMemory::open(&context, handle).map_err(refused)?;
        taken.push(start.elapsed());
        memory.close().map_err(refused)?;
    }
    Ok(taken)
}

/// What no create can be faster than: a message and its answer, and the allocation.
fn alloc_raw(device: &Device, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let context = context(device)?;
    let (mut taken, mut made) = (Vec::new(), Vec::new());
    let floor = Floor::start()?;
    for _ in 0..rounds {
        let start = Instant::now();
        floor.round_trip()?;
        made.push(LinearMemory::alloc(&context, bytes).map_err(refused)?);
        taken.push(start.elapsed());
    }
    Ok(taken)
}

type RawMapped = Vec<(Allocation, Mapping)>;

fn refused(error: CudaError) -> CommandError {
    failed("attaching with the bare driver", error)
}

fn map_raw(
    context: &Context,
    fds: &[(OwnedFd, u64)],
    mapped: &mut RawMapped,
) -> Result<(), CommandError> {
    let driver = context.driver();
    for (fd, bytes) in fds {
        let memory = Allocation::import(driver, fd.as_fd(), *bytes).map_err(refused)?;
        let range = AddressRange::reserve(driver, *bytes).map_err(refused)?;
        let mapping =
            Mapping::map(context, &range, 0, &memory, Access::ReadOnly).map_err(refused)?;
        mapped.push((memory, mapping));
    }
    Ok(())
}

fn unmap_raw(mapped: &mut RawMapped) -> Result<(), CommandError> {
    for (memory, mapping) in mapped.drain(..) {
        drop(memory);
        mapping.unmap().map_err(refused)?;
    }
    Ok(())
}

fn move_bytes(pond: &Pond, what: &Move) -> Result<Vec<Duration>, CommandError> {
    let mut taken = Vec::new();
    for _ in 0..what.rounds {
        let file = open(what)?;
        let start = Instant::now();
        if what.put {
            pond.upload(what.name.as_str(), Source::file(file, "a file")?, |_| ())?;
        } else {
            pond.download(what.name.as_str(), Sink::file(file, "a file")?, |_| ())?;
        }
        taken.push(start.elapsed());
    }
    Ok(taken)
}

fn open(what: &Move) -> Result<File, CommandError> {
    let opened = File::options().read(true).write(true).open(&what.file);
    opened.map_err(|error| failed("opening a file", error))
}

/// The same ring as a mover's, on the same slab.
fn move_raw(
    device: &Device,
    slab: &(OwnedFd, u64),
    what: &Move,
) -> Result<Vec<Duration>, CommandError> {
    let file = open(what)?;
    let context = context(device)?;
    let refused = |error| failed("mapping with the bare driver", error);
    let memory = Allocation::import(device.driver(), slab.0.as_fd(), slab.1).map_err(refused)?;
    let range = AddressRange::reserve(device.driver(), slab.1).map_err(refused)?;
    let mapping = Mapping::map(&context, &range, 0, &memory, Access::ReadWrite).map_err(refused)?;
    let ring = RawRing {
        threads: usize::from(settings::default_threads()),
        block_bytes: usize::try_from(settings::BLOCK_BYTES).unwrap_or(usize::MAX),
        depth: usize::from(settings::DEPTH),
    };
    let turn = if what.put { raw_put } else { raw_get };
    let taken: Result<Vec<Duration>, _> =
        (0..what.rounds).map(|_| turn(&context, &file, &mapping, what.bytes, ring)).collect();
    drop(memory);
    mapping.unmap().map_err(refused)?;
    taken.map_err(|error| failed("the bare ring", error))
}

/// Maps all of them and lets go, while another one may stay mapped.
fn attach(
    pond: &Pond,
    names: &[String],
    beside: Option<&str>,
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let held = beside.map(|name| pond.get(name)).transpose()?;
    let mut taken = Vec::new();
    let mut tensors: Vec<Tensor> = Vec::with_capacity(names.len());
    for _ in 0..rounds {
        let start = Instant::now();
        match names {
            [name] => tensors.push(pond.get(name.as_str())?),
            _ => tensors
                .extend(pond.get_many(names.iter().map(String::as_str), GetOptions::read_only())?),
        }
        taken.push(start.elapsed());
        tensors.clear();
        pond.flush(FLUSH)?;
    }
    drop(held);
    pond.flush(FLUSH)?;
    Ok(taken)
}

fn publish(pond: &Pond, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let tensor = pond.create(TensorSpec::unnamed(Dtype::U8, [1]))?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        tensor.publish()?;
        taken.push(start.elapsed());
    }
    pond.delete(tensor.id())?;
    drop(tensor);
    pond.flush(FLUSH)?;
    Ok(taken)
}

/// Makes and maps tensors, each of them gone before the next; the slab stays mapped.
fn create(pond: &Pond, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let spec = || TensorSpec::unnamed(Dtype::U8, [bytes]);
    let anchor = pond.create(spec())?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let tensor = pond.create(spec())?;
        taken.push(start.elapsed());
        pond.delete(tensor.id())?;
        drop(tensor);
        if !pond.flush(FLUSH)? {
            return Err(failed("giving a tensor back", "it takes too long"));
        }
    }
    pond.delete(anchor.id())?;
    drop(anchor);
    pond.flush(FLUSH)?;
    Ok(taken)
}
