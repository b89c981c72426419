//! What a context takes on a GPU: measured by NVML for the first one, and kept for later programs.

use core::ffi::c_int;

use millpond_ledger::Uuid;

use crate::account;
use crate::driver::others;
use crate::types::{NvmlProcess, status};

/// A context takes a little from the card that NVML counts to nobody: 5.6 of 524 MiB were seen.
pub(super) fn with_overhead(bytes: u64) -> u64 {
    const LARGE: u64 = 64 << 20;
    if bytes < LARGE { bytes } else { bytes.saturating_add(bytes / 64) }
}

/// Reads what NVML counts to this process on a GPU. NVML takes 20 ms to start, so what was measured is
/// kept.
pub(super) struct Meter {
    device: usize,
}

impl Drop for Meter {
    fn drop(&mut self) {
        // SAFETY: no conditions; the count of users goes back to what it was.
        unsafe { others::nvmlShutdown() };
    }
}

impl Meter {
    /// `None` where NVML is missing.
    #[cold]
    pub(super) fn new(ordinal: c_int) -> Option<Self> {
        let uuid = account::uuid_of(ordinal)?;
        // SAFETY: the text ends with a zero; the library is the driver's own and stays loaded.
        let library = unsafe {
            libc::dlopen(c"libnvidia-ml.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL)
        };
        if library.is_null() {
            crate::resolve::forget_errors();
            return None;
        }
        // SAFETY: no conditions.
        if unsafe { others::nvmlInit_v2() } != status::SUCCESS {
            return None;
        }
        let mut meter = Self { device: 0 };
        let text = uuid_text(uuid);
        // SAFETY: a text that ends with a zero, and a pointer to a device.
        let status = unsafe {
            others::nvmlDeviceGetHandleByUUID(text.as_ptr().cast(), &raw mut meter.device)
        };
        (status == status::SUCCESS).then_some(meter)
    }

    /// What this process has; `None` where it has nothing, or NVML counts other process numbers than
    /// ours.
    pub(super) fn used(&self) -> Option<u64> {
        const MOST: usize = 256;
        let mut count = 256_u32;
        let mut processes = [NvmlProcess::default(); MOST];
        // SAFETY: pointers to values of the right types, and `count` entries.
        let status = unsafe {
            others::nvmlDeviceGetComputeRunningProcesses_v3(
                self.device,
                &raw mut count,
                processes.as_mut_ptr(),
            )
        };
        if status != status::SUCCESS {
            return None;
        }
        // SAFETY: no conditions.
        let own = u32::try_from(unsafe { libc::getpid() }).ok()?;
        let count = usize::try_from(count).unwrap_or(0).min(MOST);
        let used = processes.get(..count)?.iter().find(|process| process.pid == own)?.used;
        (used != u64::MAX).then_some(used)
    }
}

/// What this process has, in bytes: by NVML, if it lists it, and by the book, with the imports that
/// are in the book.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) nvml: Option<u64>,
    pub(super) book: u64,
    pub(super) imports: u64,
}

impl Reading {
    /// What the book has and NVML counts to this process too.
    fn made(self) -> u64 {
        self.book.saturating_sub(self.imports)
    }
}

/// What a context has taken, from before it was made to after, less what other threads took. Neither
/// reading has all that the other has: imports are in the book, and NVML counts them to their makers;
/// what nobody could measure is in the book as what it was taken for. `None` when that hides it.
pub(super) fn taken(before: Reading, after: Reading) -> Option<u64> {
    let others = after.made().saturating_sub(before.made());
    let now = after.nvml?.saturating_sub(others);
    match before.nvml {
        Some(had) => Some(now.saturating_sub(had)),
        // Without a context it was not listed: what it had is in the reading of now.
        None => {
            let made = before.made();
            Some(now.saturating_sub(made)).filter(|left| *left > 0 || made == 0)
        }
    }
}

/// `GPU-` and the UUID as NVML writes it, with a zero at the end.
fn uuid_text(uuid: Uuid) -> [u8; 41] {
    let mut text = [0_u8; 41];
    let digits = b"0123456789abcdef";
    let hex = uuid.iter().enumerate().flat_map(|(place, byte)| {
        let dash = matches!(place, 4 | 6 | 8 | 10).then_some(b'-');
        let [high, low] = [byte >> 4, byte & 15]
            .map(|digit| digits.get(usize::from(digit)).copied().unwrap_or(b'0'));
        [dash, Some(high), Some(low)].into_iter().flatten()
    });
    for (place, byte) in text.iter_mut().zip(b"GPU-".iter().copied().chain(hex)) {
        *place = byte;
    }
    text
}

/// Sizes that were measured, for this user's programs to come: NVML is slow to start.
pub(super) mod sizes {
    use core::ffi::{CStr, c_int};
    use core::fmt::Write as _;

    use super::uuid_text;
    use crate::account::{self, Home};
    use crate::message::{Line, Shown};

    /// What the software driver's contexts take can change from run to run; a card's cannot.
    const SMALLEST: u64 = 64 << 20;
    const LARGEST: u64 = 8 << 30;

    /// `/dev/shm/millpond-UID/context-GPU-…`, which holds one number.
    fn open(ordinal: c_int, flags: c_int) -> Option<c_int> {
        let uuid = uuid_text(account::uuid_of(ordinal)?);
        let uuid = CStr::from_bytes_until_nul(&uuid).ok()?.to_bytes();
        let mut path = Line::new();
        let _ = write!(path, "{Home}\0");
        if flags & libc::O_CREAT != 0 {
            let folder = CStr::from_bytes_until_nul(path.as_bytes()).ok()?;
            // SAFETY: the path ends with a zero.
            unsafe { libc::mkdir(folder.as_ptr(), 0o700) };
        }
        let mut path = Line::new();
        let _ = write!(path, "{Home}/context-{}\0", Shown(uuid));
        let path = CStr::from_bytes_until_nul(path.as_bytes()).ok()?;
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero.
        let fd = unsafe { libc::open(path.as_ptr(), flags, 0o600) };
        if fd < 0 {
            return None;
        }
        // SAFETY: our own descriptor, and a struct that the call fills.
        let own = unsafe {
            let mut found: libc::stat = core::mem::zeroed();
            libc::fstat(fd, &raw mut found) == 0 && found.st_uid == libc::geteuid()
        };
        if own {
            return Some(fd);
        }
        // SAFETY: our own descriptor.
        unsafe { libc::close(fd) };
        None
    }

    pub(in crate::hooks) fn kept(ordinal: c_int) -> Option<u64> {
        let fd = open(ordinal, libc::O_RDONLY)?;
        let mut bytes = [0_u8; 8];
        // SAFETY: our own descriptor and buffer.
        let read = unsafe {
            let read = libc::pread(fd, bytes.as_mut_ptr().cast(), 8, 0);
            libc::close(fd);
            read
        };
        let size = u64::from_le_bytes(bytes);
        (read == 8 && (SMALLEST..=LARGEST).contains(&size)).then_some(size)
    }

    pub(in crate::hooks) fn keep(ordinal: c_int, size: u64) {
        if !(SMALLEST..=LARGEST).contains(&size) {
            return;
        }
        let Some(fd) = open(ordinal, libc::O_WRONLY | libc::O_CREAT) else { return };
        let bytes = size.to_le_bytes();
        // SAFETY: our own descriptor and buffer.
        unsafe {
            libc::pwrite(fd, bytes.as_ptr().cast(), 8, 0);
            libc::close(fd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_context_took_is_told_from_the_rest() {
        let with_imports = |nvml: (Option<u64>, Option<u64>), book: (u64, u64), imports: u64| {
            let before = Reading { nvml: nvml.0, book: book.0, imports };
            taken(before, Reading { nvml: nvml.1, book: book.1, imports })
        };
        let taken = |nvml, book| with_imports(nvml, book, 0);
        assert_eq!(taken((None, Some(518)), (0, 0)), Some(518));
        assert_eq!(taken((None, Some(538)), (20, 20)), Some(518));
        // A context that was taken for more, an import of 900, another thread's 40.
        assert_eq!(taken((Some(518), Some(1036)), (640, 640)), Some(518));
        assert_eq!(taken((Some(518), Some(1036)), (1540, 1540)), Some(518));
        assert_eq!(taken((None, Some(558)), (0, 40)), Some(518));
        // Imports of 900, or of less than a context, beside 20 of its own.
        assert_eq!(with_imports((None, Some(518)), (900, 900), 900), Some(518));
        assert_eq!(with_imports((None, Some(538)), (24, 24), 4), Some(518));
        // Hidden behind what only the book has, and where NVML does not say.
        assert_eq!(taken((None, Some(518)), (900, 900)), None);
        assert_eq!(taken((None, None), (0, 0)), None);
        assert_eq!(taken((None, Some(0)), (0, 0)), Some(0));
    }

    #[test]
    fn uuids_are_written_as_nvml_does() {
        let uuid = core::array::from_fn(|place| u8::try_from(place * 17).unwrap_or(0));
        assert_eq!(&uuid_text(uuid), b"GPU-00112233-4455-6677-8899-aabbccddeeff\0");
    }
}
