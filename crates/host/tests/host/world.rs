//! What the tests are written in: a world with a device, a host in it, and readers of its memory. The
//! process of a test is a second process beside the host, with a context of its own.

use std::any::type_name_of_val;
use std::ffi::OsStr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use millpond_cuda::{
    Context, CudaError, Device, Driver, DriverChoice, DriverKind, IpcEvent, OpenedMemory, Stream,
};
use millpond_host::channel::{DaemonEnd, FromHost, Handle, Holding, ToHost, Why};
use millpond_wire::{Epoch, GpuUuid, SlabId};

const WORLD: &str = "MILLPOND_HOST_TEST_WORLD";
const HOST: &str = "MILLPOND_HOST_TEST_HOST";
const OPENER: &str = "MILLPOND_HOST_TEST_OPENER";
/// The exit code of a process that could not open a handle.
const REFUSED: i32 = 3;

/// Longer than anything takes that does not hang.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const MIB: u64 = 1 << 20;

/// Does nothing in an ordinary run; in a child it is the whole host.
#[test]
fn host_entry() {
    if std::env::var_os(HOST).is_some() {
        let result = millpond_host::run_from_stdin();
        std::process::exit(result.map_or_else(
            |error| {
                eprintln!("the host ended: {error}");
                1
            },
            |()| 0,
        ));
    }
}

/// The same for a process that opens a handle.
#[test]
fn opener_entry() {
    if let Ok(text) = std::env::var(OPENER) {
        let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
        let opened = World::new().try_open(&std::array::from_fn(byte));
        std::process::exit(if opened.is_ok() { 0 } else { REFUSED });
    }
}

/// Whether a process that has never seen this memory opens it.
pub fn opens_elsewhere(memory: &Handle) -> bool {
    let text: String = memory.iter().map(|byte| format!("{byte:02x}")).collect();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "world::opener_entry", "--nocapture"])
        .env(OPENER, text)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.code() == Some(REFUSED), "{status}");
    status.success()
}

/// Runs the body of a test in a process of its own.
pub fn in_own_world<F: FnOnce(&World)>(body: F) {
    let choice = std::env::var_os(DriverChoice::VARIABLE).unwrap_or_else(|| "soft".into());
    in_world_of(&choice, body);
}

/// The same, always on the software driver: for faults, which no card has on request.
pub fn in_soft_world<F: FnOnce(&World)>(body: F) {
    in_world_of("soft".as_ref(), body);
}

fn in_world_of<F: FnOnce(&World)>(choice: &OsStr, body: F) {
    if std::env::var_os(WORLD).is_some() {
        body(&World::new());
        return;
    }
    let name = type_name_of_val(&body).trim_end_matches("::{{closure}}").to_owned();
    let (_, test) = name.split_once("::").unwrap();
    let folder = tempfile::Builder::new().prefix("millpond-host-").tempdir_in("/dev/shm").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1", "--include-ignored"])
        .env(WORLD, "1")
        .env("MILLPOND_SOFT_DIR", folder.path())
        .env("MILLPOND_SOFT_MEMORY", "1G")
        .env(DriverChoice::VARIABLE, choice)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {}", output.status);
}

pub struct World {
    pub driver: Driver,
    pub device: Device,
    pub context: Context,
    pub stream: Stream,
}

impl World {
    fn new() -> World {
        let choice = DriverChoice::from_env();
        let driver = Driver::open(choice, Some(&millpond_softgpu::PROVIDER)).unwrap();
        let device = driver.devices().unwrap().remove(0);
        let context = Context::primary(&device).unwrap();
        let stream = Stream::new(&context).unwrap();
        World { driver, device, context, stream }
    }

    pub fn is_soft(&self) -> bool {
        self.driver.kind() == DriverKind::Soft
    }

    pub fn gpu(&self) -> GpuUuid {
        GpuUuid(self.device.uuid().0)
    }

    pub fn free_bytes(&self) -> u64 {
        self.context.memory_info().unwrap().free_bytes
    }

    pub fn try_open(&self, memory: &Handle) -> Result<OpenedMemory, CudaError> {
        OpenedMemory::open(&self.context, memory)
    }

    #[track_caller]
    pub fn open(&self, slab: &Slab) -> OpenedMemory {
        let opened = self.try_open(&slab.memory).unwrap();
        assert_eq!(opened.bytes(), slab.bytes);
        opened
    }

    pub fn open_event(&self, event: &Handle) -> IpcEvent {
        IpcEvent::open(&self.context, event).unwrap()
    }
}

/// What a host says about a slab that it has.
pub type Slab = Holding;

fn read(opened: &OpenedMemory) -> Vec<u8> {
    let mut contents = vec![0; usize::try_from(opened.bytes()).unwrap()];
    opened.span().copy_to_host(0, &mut contents).unwrap();
    contents
}

pub fn is_filled_with(opened: &OpenedMemory, byte: u8) -> bool {
    read(opened).iter().all(|found| *found == byte)
}

/// A host's process, and the channel to it; killed when dropped.
pub struct Host {
    pub child: Child,
    /// `None` after the daemon's death.
    pub daemon: Option<DaemonEnd>,
}

impl Host {
    pub fn start(world: &World) -> Host {
        Host::start_with(world, &[])
    }

    pub fn start_with(world: &World, environment: &[(&str, &str)]) -> Host {
        let host = Host::spawn(environment);
        host.say(&ToHost::Start { device: world.gpu() });
        let answer = host.hear();
        assert!(matches!(answer, FromHost::Ready { .. }), "{answer:?}");
        host
    }

    pub fn spawn(environment: &[(&str, &str)]) -> Host {
        let (channel, theirs) = DaemonEnd::pair().unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "world::host_entry", "--nocapture"])
            .envs(environment.iter().copied())
            .env(HOST, "1")
            .stdin(theirs)
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Host { child, daemon: Some(channel) }
    }

    pub fn channel(&self) -> &DaemonEnd {
        self.daemon.as_ref().unwrap()
    }

    pub fn say(&self, message: &ToHost) {
        self.channel().send(message).unwrap();
    }

    #[track_caller]
    pub fn hear(&self) -> FromHost {
        self.channel().receive_within(PATIENCE).unwrap()
    }

    #[track_caller]
    pub fn ask(&self, message: &ToHost) -> FromHost {
        self.say(message);
        self.hear()
    }

    #[track_caller]
    pub fn try_allocate(&self, slab: SlabId, bytes: u64, zero: bool) -> Result<Slab, Why> {
        match self.ask(&ToHost::Allocate { slab, bytes, zero }) {
            FromHost::Allocated { slab: named, memory, event } if named == slab => {
                Ok(Slab { slab, bytes, memory, event })
            }
            FromHost::NotAllocated { slab: named, why, .. } if named == slab => Err(why),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn allocate(&self, bytes: u64) -> Slab {
        self.try_allocate(SlabId::random(), bytes, true).unwrap()
    }

    #[track_caller]
    pub fn free(&self, slab: &Slab) {
        let slab = slab.slab;
        assert_eq!(self.ask(&ToHost::Free { slab }), FromHost::Freed { slab });
    }

    /// Says hello as a daemon of that epoch: what is held, whether it is sealed, and the context.
    #[track_caller]
    pub fn hello(&self, number: u64) -> (Vec<Slab>, bool, u64) {
        let epoch = Epoch(number);
        self.say(&ToHost::Hello { epoch });
        let mut all = Vec::new();
        loop {
            match self.hear() {
                FromHost::Holds { epoch: of, held } if of == epoch => all.extend(held),
                FromHost::HoldsEnd { epoch: of, sealed, context_bytes } if of == epoch => {
                    return (all, sealed, context_bytes);
                }
                // For a daemon before this one.
                _ => {}
            }
        }
    }

    /// Waits for the end of the process.
    pub fn ended(&mut self) -> ExitStatus {
        wait_until("the host does not end", || self.child.try_wait().unwrap())
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        assert_eq!(self.ended().signal(), Some(9));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[track_caller]
pub fn wait_until<T>(otherwise: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{otherwise}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
