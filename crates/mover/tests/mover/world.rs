//! What the tests are written in: a world with a device and slabs, and a mover in it.

use std::any::type_name_of_val;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use millpond_cuda::{
    Access, AddressRange, Allocation, Context, Device, Driver, DriverChoice, DriverKind, Mapping,
};
use millpond_mover::channel::{
    DaemonEnd, FromMover, Job, Pieces, PiecesKind, Rights, ToMover, Why, Work,
};
use millpond_wire::{Backing, ContentHash, Epoch, GpuUuid, Piece, Run, SlabId};

const WORLD: &str = "MILLPOND_MOVER_TEST_WORLD";
const MOVER: &str = "MILLPOND_MOVER_TEST_MOVER";

/// Longer than anything takes that does not hang.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const EPOCH: Epoch = Epoch(7);
/// Small, so that small tensors have many blocks.
pub const BLOCK: u64 = 64 << 10;
pub const MIB: u64 = 1 << 20;

/// Does nothing in an ordinary run; in a child it is the whole mover.
#[test]
fn mover_entry() {
    if std::env::var_os(MOVER).is_some() {
        let result = millpond_mover::run_from_stdin();
        std::process::exit(result.map_or_else(
            |error| {
                eprintln!("the mover ended: {error}");
                1
            },
            |()| 0,
        ));
    }
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
    let folder = tempfile::Builder::new().prefix("millpond-mover-").tempdir_in("/dev/shm").unwrap();
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
    pub folder: tempfile::TempDir,
}

/// A slab that this process has mapped too, to see what is in it.
pub struct Slab {
    pub id: SlabId,
    pub fd: OwnedFd,
    pub bytes: u64,
    pub mapping: Mapping,
}

impl World {
    fn new() -> World {
        let choice = DriverChoice::from_env();
        let driver = Driver::open(choice, Some(&millpond_softgpu::PROVIDER)).unwrap();
        let device = driver.devices().unwrap().remove(0);
        let context = Context::primary(&device).unwrap();
        World { driver, device, context, folder: tempfile::tempdir().unwrap() }
    }

    pub fn is_soft(&self) -> bool {
        self.driver.kind() == DriverKind::Soft
    }

    pub fn export(&self, bytes: u64) -> OwnedFd {
        Allocation::create(&self.device, bytes).unwrap().export().unwrap()
    }

    pub fn slab(&self, bytes: u64) -> Slab {
        let fd = self.export(bytes);
        let allocation = Allocation::import(&self.driver, fd.as_fd(), bytes).unwrap();
        let range = AddressRange::reserve(&self.driver, bytes).unwrap();
        let mapping =
            Mapping::map(&self.context, &range, 0, &allocation, Access::ReadWrite).unwrap();
        mapping.memset(0, bytes, 0xee).unwrap();
        Slab { id: SlabId::random(), fd, bytes, mapping }
    }

    pub fn free_bytes(&self) -> u64 {
        self.context.memory_info().unwrap().free_bytes
    }

    pub fn file(&self, name: &str, contents: &[u8]) -> File {
        let path: PathBuf = self.folder.path().join(name);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        let file = file.unwrap();
        file.write_all_at(contents, 0).unwrap();
        file
    }
}

impl Slab {
    pub fn read(&self, offset: u64, bytes: u64) -> Vec<u8> {
        let mut contents = vec![0; usize::try_from(bytes).unwrap()];
        self.mapping.copy_to_host(offset, &mut contents).unwrap();
        contents
    }
}

/// A mover's process, and the channel to it.
pub struct Spawned {
    pub child: Child,
    pub channel: DaemonEnd,
}

/// A mover that is ready; killed when dropped.
pub struct Mover {
    pub spawned: Spawned,
    next_job: u64,
}

impl Mover {
    pub fn start(world: &World) -> Mover {
        Mover::start_with(world, &[])
    }

    pub fn start_with(world: &World, environment: &[(&str, &str)]) -> Mover {
        let mover = Mover::spawn(environment);
        mover.say(&start(GpuUuid(world.device.uuid().0), 3, u32::try_from(BLOCK).unwrap()), None);
        assert!(matches!(mover.hear(), FromMover::Ready { .. }));
        mover
    }

    pub fn spawn(environment: &[(&str, &str)]) -> Mover {
        let (channel, theirs) = DaemonEnd::pair().unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "world::mover_entry", "--nocapture"])
            .envs(environment.iter().copied())
            .env(MOVER, "1")
            .stdin(theirs)
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let spawned = Spawned { child, channel };
        Mover { spawned, next_job: 1 }
    }

    pub fn channel(&self) -> &DaemonEnd {
        &self.spawned.channel
    }

    pub fn say(&self, message: &ToMover, fd: Option<BorrowedFd<'_>>) {
        self.channel().send(message, fd).unwrap();
    }

    #[track_caller]
    pub fn hear(&self) -> FromMover {
        let (said, fd) = self.hear_with();
        assert!(fd.is_none(), "{said:?} came with a descriptor");
        said
    }

    #[track_caller]
    pub fn hear_with(&self) -> (FromMover, Option<OwnedFd>) {
        self.channel().receive_within(PATIENCE).unwrap()
    }

    #[track_caller]
    pub fn map(&self, slab: &Slab) {
        self.say(
            &ToMover::Map { slab: slab.id, bytes: slab.bytes, backing: Backing::default() },
            Some(slab.fd.as_fd()),
        );
        assert_eq!(self.hear(), FromMover::Mapped { slab: slab.id });
    }

    /// Sends a job and does not wait; says its number.
    pub fn begin(&mut self, work: Work, file: Option<&dyn AsFd>) -> u64 {
        let job = self.next_job;
        self.next_job += 1;
        self.say(
            &ToMover::Job(Job { job, epoch: EPOCH, by: own_rights(), work }),
            file.map(AsFd::as_fd),
        );
        job
    }

    #[track_caller]
    pub fn done(&mut self, work: Work, file: Option<&dyn AsFd>) {
        let job = self.begin(work, file);
        assert_eq!(self.hear(), FromMover::Done { job, hashes: vec![] });
    }

    /// Sends a job of pieces and waits for its hashes.
    #[track_caller]
    pub fn hashes(&mut self, work: Work, file: Option<&dyn AsFd>) -> Vec<ContentHash> {
        let number = self.begin(work, file);
        match self.hear() {
            FromMover::Done { job, hashes } if job == number => hashes,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a job that must fail; says why.
    #[track_caller]
    pub fn fails(&mut self, work: Work, file: Option<&dyn AsFd>) -> (Why, String) {
        let number = self.begin(work, file);
        match self.hear() {
            FromMover::JobFailed { job, why, text } if job == number => (why, text),
            other => panic!("{other:?}"),
        }
    }

    /// Waits for the end of the process.
    pub fn ended(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.spawned.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < PATIENCE, "the mover does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn kill(&mut self) {
        self.spawned.child.kill().unwrap();
        assert_eq!(self.ended().signal(), Some(9));
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        drop(self.spawned.child.kill());
        drop(self.spawned.child.wait());
    }
}

pub fn start(device: GpuUuid, threads: u16, block_bytes: u32) -> ToMover {
    ToMover::Start { epoch: EPOCH, device, threads, block_bytes, depth: 2 }
}

/// Who this process is, so that nothing changes.
pub fn own_rights() -> Rights {
    let groups = rustix::process::getgroups().unwrap_or_default();
    Rights {
        user: rustix::process::geteuid().as_raw(),
        group: rustix::process::getegid().as_raw(),
        groups: groups.into_iter().map(|group| group.as_raw()).collect(),
    }
}

pub fn put(slab: &Slab, offset: u64, bytes: u64, file_offset: u64) -> Work {
    Work::Put { slab: slab.id, offset, bytes, file_offset }
}

pub fn get(slab: &Slab, offset: u64, bytes: u64, file_offset: u64) -> Work {
    Work::Get { slab: slab.id, offset, bytes, file_offset }
}

/// A job of pieces that begin at the slab's start.
pub fn pieces(kind: PiecesKind, slab: &Slab, pieces: &[Piece], runs: &[Run]) -> Work {
    let (pieces, runs) = (pieces.to_vec(), runs.to_vec());
    Work::Pieces(Pieces { kind, slab: slab.id, base: 0, pieces, runs })
}

/// What pieces are in a file: one for each, from what their runs are.
pub fn hashes_of(contents: &[u8], pieces: &[Piece], runs: &[Run]) -> Vec<ContentHash> {
    let in_order: Vec<u8> = runs
        .iter()
        .filter(|run| run.bytes > 0)
        .flat_map(|run| {
            let start = usize::try_from(run.file_offset).unwrap();
            &contents[start..start + usize::try_from(run.bytes).unwrap()]
        })
        .copied()
        .collect();
    let mut rest = in_order.as_slice();
    let mut hash = |piece: &Piece| {
        let (now, later) = rest.split_at(usize::try_from(piece.bytes).unwrap());
        rest = later;
        ContentHash::of(now)
    };
    pieces.iter().map(&mut hash).collect()
}

/// Bytes that differ everywhere, from a seed.
pub fn pattern(bytes: u64, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let words = (0..bytes.div_ceil(8)).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(usize::try_from(bytes).unwrap()).collect()
}
