//! The driver under test and the words that the tests are written in.

use millpond_cuda::sys::Status;
use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, Device, Driver, DriverChoice, DriverKind,
    Granularity, Mapping, TouchKernel,
};
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// One test at a time: most of them read how much memory of the device is free.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

static CONTEXT: OnceLock<Context> = OnceLock::new();

/// How long the driver may take to free what nobody holds any more.
const FREED_WITHIN: Duration = Duration::from_secs(30);

/// A card gives the memory of a process back up to 21 ms after its end, and nothing tells when.
const GIVEN_BACK_AFTER: Duration = Duration::from_millis(60);

/// When another process of this test ended last.
static LAST_END: Mutex<Option<Instant>> = Mutex::new(None);

/// What other parts of the driver may take or give back while a test measures, per allocation.
const NOISE_BYTES: u64 = 16 << 20;

pub const MIB: u64 = 1 << 20;

/// The driver under test and its first device, for one test at a time.
pub struct Gpu {
    pub driver: Driver,
    pub device: Device,
    _lock: MutexGuard<'static, ()>,
}

impl Gpu {
    pub fn take() -> Self {
        let lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = driver();
        let device = driver.devices().unwrap().remove(0);
        wait_for_the_ended();
        Self { driver, device, _lock: lock }
    }

    /// The primary context, made once and kept until the process ends.
    pub fn context(&self) -> Context {
        CONTEXT.get_or_init(|| Context::primary(&self.device).unwrap()).clone()
    }

    pub fn kernel(&self) -> TouchKernel {
        static KERNEL: OnceLock<TouchKernel> = OnceLock::new();
        KERNEL.get_or_init(|| TouchKernel::load(&self.context()).unwrap()).clone()
    }

    /// The unit that all sizes in the tests are made of.
    pub fn unit(&self) -> u64 {
        Allocation::granularity(&self.device, Granularity::Minimum).unwrap()
    }

    pub fn create(&self, bytes: u64) -> Allocation {
        Allocation::create(&self.device, bytes).unwrap()
    }

    pub fn reserve(&self, bytes: u64) -> AddressRange {
        AddressRange::reserve(&self.driver, bytes).unwrap()
    }

    /// Maps an allocation at addresses of its own.
    pub fn map(&self, allocation: &Allocation, access: Access) -> Mapping {
        let range = self.reserve(allocation.bytes());
        Mapping::map(&self.context(), &range, 0, allocation, access).unwrap()
    }

    /// New memory, mapped for reading and writing.
    pub fn memory(&self, bytes: u64) -> Mapping {
        self.map(&self.create(bytes), Access::ReadWrite)
    }

    pub fn free_bytes(&self) -> u64 {
        self.context().memory_info().unwrap().free_bytes
    }

    /// Asserts that about `bytes` less are free than `before`.
    #[track_caller]
    pub fn assert_taken(&self, before: u64, bytes: u64) {
        wait_for_the_ended();
        let taken = before.saturating_sub(self.free_bytes());
        assert!(
            (bytes..bytes + NOISE_BYTES).contains(&taken),
            "{taken} bytes are taken, expected about {bytes}"
        );
    }

    /// Waits until about as much is free as before.
    #[track_caller]
    pub fn assert_freed(&self, before: u64) {
        wait_until("memory is free again", || self.free_bytes() + NOISE_BYTES > before);
    }
}

/// A context that is lost stays lost: say in which test it happened, not in which it was noticed.
impl Drop for Gpu {
    fn drop(&mut self) {
        if let Some(context) = CONTEXT.get()
            && !std::thread::panicking()
            && !crate::child::is_child()
        {
            assert_eq!(context.synchronize(), Ok(()), "this test lost the context of the suite");
        }
    }
}

/// Another process has ended, and its memory may still be on its way back.
pub fn process_ended() {
    *LAST_END.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Waits until a card has given back what ended processes had, so that it moves no reading.
fn wait_for_the_ended() {
    let ended = LAST_END.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(ended) = ended
        && !is_soft()
    {
        std::thread::sleep(GIVEN_BACK_AFTER.saturating_sub(ended.elapsed()));
    }
}

/// The driver that `MILLPOND_DRIVER` names, opened once.
pub fn driver() -> Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER
        .get_or_init(|| {
            let choice = match std::env::var_os(DriverChoice::VARIABLE) {
                Some(text) => DriverChoice::from(text),
                None => DriverChoice::Soft,
            };
            if choice == DriverChoice::Soft {
                use_own_soft_folder();
            }
            let driver = Driver::open(choice, Some(&millpond_softgpu::PROVIDER)).unwrap();
            if !crate::child::is_child() && std::env::var_os(crate::alone::VARIABLE).is_none() {
                say(&format!("driver under test: {driver:?}"));
            }
            driver
        })
        .clone()
}

pub fn is_soft() -> bool {
    driver().kind() == DriverKind::Soft
}

/// Devices of our own, so that other tests on this machine do not move our readings.
fn use_own_soft_folder() {
    const PREFIX: &str = "millpond-conformance-";
    let shm = Path::new("/dev/shm");
    if std::env::var_os("MILLPOND_SOFT_DIR").is_some() {
        return;
    }
    // A run that was killed leaves its folder: the next one sweeps up.
    for entry in std::fs::read_dir(shm).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
    OWN_SOFT_FOLDER.get_or_init(|| shm.join(format!("{PREFIX}{}", std::process::id())));
    // SAFETY: called once, before the driver reads it; other test threads wait for the lock. The
    // function that runs at the exit touches nothing but a path.
    unsafe {
        libc::atexit(remove_own_soft_folder);
        std::env::set_var("MILLPOND_SOFT_DIR", shm.join(format!("{PREFIX}{}", std::process::id())));
        if std::env::var_os("MILLPOND_SOFT_MEMORY").is_none() {
            std::env::set_var("MILLPOND_SOFT_MEMORY", "1G");
        }
    }
}

static OWN_SOFT_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Nothing runs after the last test but this. A child has the number of its parent in the path, not its
/// own, and leaves the folder alone.
extern "C" fn remove_own_soft_folder() {
    let own = std::process::id().to_string();
    if let Some(path) = OWN_SOFT_FOLDER.get().filter(|path| path.to_string_lossy().ends_with(&own))
    {
        drop(std::fs::remove_dir_all(path));
    }
}

/// Prints a line that the test harness does not swallow.
pub fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    drop(writeln!(stdout, "{line}"));
}

/// Prints what a driver answered where no assertion is exact.
pub fn observe<T>(what: &str, result: &Result<T, CudaError>) {
    match result {
        Ok(_) => observe_text(what, Status::SUCCESS),
        Err(error) => observe_text(what, error.status),
    }
}

pub fn observe_text(what: &str, answer: impl Display) {
    say(&format!("observed: {what} -> {answer}"));
}

/// Says that something could not be tested on this driver; a run on a card fails on any.
#[allow(dead_code, reason = "there is nothing to skip at present, and that should stay easy")]
pub fn skip(reason: &str) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    say(&format!("SKIPPED: {reason} (skip {count} of this run)"));
}

/// The status of a call that must fail.
#[track_caller]
pub fn status<T>(result: Result<T, CudaError>) -> Status {
    match result {
        Ok(_) => panic!("the call should have failed"),
        Err(error) => error.status,
    }
}

/// Asserts that a call fails as it does on the card: an argument that the driver found wrong.
#[track_caller]
pub fn invalid<T>(what: &str, result: Result<T, CudaError>) {
    assert_eq!(status(result), Status::INVALID_VALUE, "{what}");
}

/// Asserts that a call fails, whatever the code, and prints the code.
#[track_caller]
pub fn refused<T>(what: &str, result: Result<T, CudaError>) -> Status {
    observe(what, &result);
    status(result)
}

#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < FREED_WITHIN, "waited {FREED_WITHIN:?} for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
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

/// What the touch kernel computes.
pub fn sum_of_words(bytes: &[u8]) -> u64 {
    bytes
        .chunks_exact(8)
        .fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(word.try_into().unwrap())))
}

pub fn read(mapping: &Mapping) -> Vec<u8> {
    let mut bytes = vec![0x5a; usize::try_from(mapping.bytes()).unwrap()];
    mapping.copy_to_host(0, &mut bytes).unwrap();
    bytes
}

pub fn read_word(mapping: &Mapping) -> u64 {
    let mut word = [0; 8];
    mapping.copy_to_host(0, &mut word).unwrap();
    u64::from_le_bytes(word)
}
