//! The driver's state: devices, memory, addresses, contexts, streams. No C types in here.

pub mod address;
pub mod advice;
pub mod arrays;
pub mod board;
pub mod capture;
pub mod contexts;
pub mod default_stream;
pub mod fence;
pub mod graph;
pub mod graph_memory;
pub mod host;
mod ids;
pub mod ipc;
pub mod job;
mod layout;
pub mod location;
pub mod modules;
mod ordered;
pub mod physical;
pub mod pool;
pub mod pools;
pub mod processes;
pub mod queue;
pub mod registry;
pub mod shared_events;
pub mod shared_pools;
pub mod streams;
pub mod system;
mod visible;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use millpond_cuda::sys::Status;

use address::{AddressSpace, SMALL_BYTES};
use arrays::Arrays;
use board::{Board, Device, GRANULARITY, StartError, board};
use capture::Captures;
use contexts::{Context, Contexts};
use graph::Graphs;
use host::HostMemory;
use ipc::Ipc;
use job::{Job, Place};
use modules::Modules;
use physical::{Allocation, Handles, Origin};
use pools::Pools;
use shared_pools::SharedPools;
use streams::{Events, Streams};
use system::{to_u64, to_usize};

/// Copies from pageable memory up to this size are taken over at the call, larger ones waited for.
const TAKEN_BYTES: u64 = 64 << 10;
/// Uploads that land late in adversarial mode; more would cost too much memory.
const LATE_UPLOAD_BYTES: u64 = 16 << 20;

/// Takes the bytes of a pageable source over.
fn take_over(at: usize, bytes: u64) -> Place {
    let pointer = std::ptr::with_exposed_provenance::<u8>(at);
    // SAFETY: the program says that it may be read, as for any copy from it.
    let bytes = unsafe { std::slice::from_raw_parts(pointer, to_usize(bytes)) };
    Place::Taken(bytes.to_vec())
}

/// Everything that `cuInit` makes.
#[derive(Debug)]
pub struct Engine {
    pub board: &'static Board,
    /// The devices that this process may use, by ordinal.
    pub visible: Vec<&'static Arc<Device>>,
    /// Handles to physical memory.
    pub handles: Handles,
    pub space: Arc<AddressSpace>,
    pub contexts: Contexts,
    /// Memory of other processes by legacy handles.
    pub ipc: Ipc,
    pub arrays: Arrays,
    pub streams: Streams,
    pub events: Events,
    pub modules: Modules,
    pub host: HostMemory,
    pub pools: Pools,
    pub shared_pools: SharedPools,
    /// Graphs and their memory.
    pub graphs: Graphs,
    pub captures: Captures,
    pid: u32,
}

static ENGINE: OnceLock<Engine> = OnceLock::new();
/// Held while one thread starts; why the last one could not.
static STARTING: Mutex<Option<String>> = Mutex::new(None);

pub fn start() -> Result<(), Status> {
    let mut why = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if ENGINE.get().is_none() {
        if !is_own_proc() {
            *why = Some("/proc is of another pid namespace than this process".to_owned());
            return Err(Status::OPERATING_SYSTEM);
        }
        let engine = Engine::new().map_err(|error| {
            *why = Some(error.to_string());
            match error {
                StartError::Config(_) => Status::SYSTEM_NOT_READY,
                StartError::Folder { .. } => Status::OPERATING_SYSTEM,
            }
        })?;
        if engine.visible.is_empty() {
            *why = Some("CUDA_VISIBLE_DEVICES leaves no device".to_owned());
            return Err(Status::NO_DEVICE);
        }
        *why = None;
        let _ = ENGINE.set(engine);
    }
    engine().map(drop)
}

/// Why the last `cuInit` of this process was refused: a status has no words.
#[must_use]
pub fn refusal() -> Option<String> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether `/proc` is of this process's namespace: a card's driver refuses to begin with another's.
fn is_own_proc() -> bool {
    let own = std::process::id().to_string();
    std::fs::read_link("/proc/self").map_or(true, |pid| pid.as_os_str() == own.as_str())
}

/// The engine, once `cuInit` was called in this process. A forked child has none and gets none.
pub fn engine() -> Result<&'static Engine, Status> {
    match ENGINE.get() {
        Some(engine) if engine.pid == std::process::id() => Ok(engine),
        _ => Err(Status::NOT_INITIALIZED),
    }
}

impl Engine {
    fn new() -> Result<Self, StartError> {
        let board = board()?;
        let failed = |source| StartError::Folder {
            folder: board.config.folder.display().to_string(),
            source,
        };
        for device in &board.devices {
            device
                .registry
                .with_processes(|processes, layout| processes.enter(layout))
                .map_err(failed)?;
        }
        system::raise_open_files();
        let config = &board.config;
        let space = Arc::new(AddressSpace::new(config.strict));
        Ok(Self {
            board,
            visible: visible::visible(board).map_err(failed)?,
            handles: Handles::default(),
            contexts: Contexts::new(
                Arc::clone(&space),
                config.adversarial,
                config.context_bytes,
                board.devices.len(),
            ),
            pools: Pools::new(&space, config.pool_step),
            graphs: Graphs::new(&board.devices, &space, config.pool_step),
            captures: Captures::default(),
            shared_pools: SharedPools::default(),
            space,
            ipc: Ipc::default(),
            arrays: Arrays::default(),
            streams: Streams::default(),
            events: Events::default(),
            modules: Modules::default(),
            host: HostMemory::default(),
            pid: std::process::id(),
        })
    }

    /// A device by its ordinal.
    pub fn device(&self, ordinal: i32) -> Result<&'static Arc<Device>, Status> {
        usize::try_from(ordinal)
            .ok()
            .and_then(|index| self.visible.get(index))
            .copied()
            .ok_or(Status::INVALID_DEVICE)
    }

    /// The ordinal by which this process knows a device.
    pub fn ordinal(&self, device: &Device) -> Result<i32, Status> {
        let found = self.visible.iter().position(|visible| visible.index == device.index);
        found.and_then(|ordinal| i32::try_from(ordinal).ok()).ok_or(Status::INVALID_DEVICE)
    }

    /// The context and the lane of a stream handle; 0, 1 and 2 are default streams of the current context.
    pub fn lane(&self, stream: u64) -> Result<(Arc<Context>, u64), Status> {
        if default_stream::is_default(stream) {
            let context = self.contexts.current()?;
            let lane = default_stream::lane(&context, stream);
            return Ok((context, lane));
        }
        let (context, lane) = self.streams.find(stream)?;
        context.check()?;
        Ok((context, lane))
    }

    /// A host address, or a device address that was passed as one: addresses are unified.
    pub fn place(&self, at: usize) -> Place {
        if self.space.is_device_address(to_u64(at)) {
            Place::Device(to_u64(at))
        } else {
            Place::Host(at)
        }
    }

    /// Work of a synchronous call: on the default stream, done when it returns. But for an upload
    /// from pageable memory: a card returns when it has taken the bytes, and writes them later; in
    /// adversarial mode as late as it can.
    pub fn run(&self, job: Job) -> Result<(), Status> {
        let (context, lane) = self.lane(0)?;
        self.captures.refuse_stream(lane, &context)?;
        self.captures.refuse_unsafe_call()?;
        job.check(context.queue.site())?;
        match job {
            Job::Copy { to: to @ Place::Device(_), from: Place::Host(at), bytes }
                if self.board.config.adversarial
                    && bytes <= LATE_UPLOAD_BYTES
                    && !self.host.is_pinned(at, to_usize(bytes)) =>
            {
                let from = take_over(at, bytes);
                context.queue.submit(lane, Job::Copy { to, from, bytes }).map(drop)
            }
            job => context.queue.run(lane, job),
        }
    }

    /// Work of an asynchronous call.
    pub fn submit(&self, stream: u64, job: Job) -> Result<(), Status> {
        let Some(job) = self.capture(stream, job)? else { return Ok(()) };
        let (context, lane) = self.lane(stream)?;
        job.check(context.queue.site())?;
        match job {
            Job::Copy { to, from: Place::Host(at), bytes }
                if !self.host.is_pinned(at, to_usize(bytes)) =>
            {
                if bytes > TAKEN_BYTES {
                    return context.queue.run(lane, Job::Copy { to, from: Place::Host(at), bytes });
                }
                let from = take_over(at, bytes);
                context.queue.submit(lane, Job::Copy { to, from, bytes }).map(drop)
            }
            Job::Copy { to: Place::Host(at), from, bytes }
                if !self.host.is_pinned(at, to_usize(bytes)) =>
            {
                context.queue.run(lane, Job::Copy { to: Place::Host(at), from, bytes })
            }
            job => context.queue.submit(lane, job).map(drop),
        }
    }

    /// `cuMemAlloc`: whole blocks of 2 MiB, which small memory shares.
    pub fn allocate_linear(&self, bytes: u64) -> Result<u64, Status> {
        let context = self.contexts.current()?;
        self.captures.refuse_unsafe_call()?;
        let device = &context.device;
        if bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if bytes <= SMALL_BYTES {
            let part = Allocation::create_part(device, bytes.next_multiple_of(4096))?;
            let block = || Allocation::create(device, GRANULARITY, Origin::Own);
            return self.space.map_small(bytes, Arc::new(part), context.id, block);
        }
        let pages = bytes.checked_next_multiple_of(GRANULARITY).ok_or(Status::OUT_OF_MEMORY)?;
        let allocation = Allocation::create_linear(device, bytes, pages)?;
        self.space.map_linear(bytes, Arc::new(allocation), context.id)
    }

    /// `cuMemFree`: waits for the context's work first, as the card does.
    pub fn free_linear(&self, at: u64) -> Result<(), Status> {
        if let Ok(current) = self.contexts.current_any() {
            current.check()?;
        }
        if at == 0 {
            return Ok(());
        }
        self.captures.refuse_unsafe_call()?;
        if let Some(freed) = self.free_unordered(at) {
            return freed;
        }
        let owner = self.space.linear_context(at).ok_or(Status::INVALID_VALUE)?;
        self.contexts.find(owner)?.queue.wait_all()?;
        self.space.unmap_linear(at)
    }

    pub fn free_host(&self, at: usize) -> Result<(), Status> {
        if at == 0 {
            return Ok(());
        }
        if self.host.containing(at).is_some_and(|(start, _)| start == at)
            && let Ok(current) = self.contexts.current_any()
        {
            current.queue.wait_all()?;
        }
        self.host.free(at)
    }
}
