//! The ugly part: every call of the operating system that Rust's library lacks.
//!
//! Locks on open file descriptions, reservations of address space, files mapped into them, and
//! copies between a file and an address of the program. Nothing else in the engine calls `libc`.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Widens a size. Only 64-bit machines are supported, and this does not compile on others.
pub const fn to_u64(value: usize) -> u64 {
    u64::from_ne_bytes(value.to_ne_bytes())
}

/// The opposite of [`to_u64`].
pub const fn to_usize(value: u64) -> usize {
    usize::from_ne_bytes(value.to_ne_bytes())
}

/// A device address as the kernel wants it.
fn address(value: u64) -> *mut libc::c_void {
    ptr::without_provenance_mut(to_usize(value))
}

fn offset(value: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(value).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How a range of a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    Shared,
    Exclusive,
    None,
}

fn flock(kind: Lock, start: u64, len: u64) -> io::Result<libc::flock> {
    // SAFETY: flock is plain old data, for which all zeroes is a value.
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    let (kind, whence) = match kind {
        Lock::Shared => (libc::F_RDLCK, libc::SEEK_SET),
        Lock::Exclusive => (libc::F_WRLCK, libc::SEEK_SET),
        Lock::None => (libc::F_UNLCK, libc::SEEK_SET),
    };
    request.l_type = libc::c_short::try_from(kind).map_err(|_| io::ErrorKind::InvalidInput)?;
    request.l_whence = libc::c_short::try_from(whence).map_err(|_| io::ErrorKind::InvalidInput)?;
    request.l_start = offset(start)?;
    request.l_len = offset(len)?;
    Ok(request)
}

/// Takes or drops a lock that belongs to the open file description; a `len` of 0 means all.
///
/// With `wait` it waits for others; without, a conflict is an error of kind `WouldBlock`.
pub fn lock(file: &File, kind: Lock, start: u64, len: u64, wait: bool) -> io::Result<()> {
    let request = flock(kind, start, len)?;
    let command = if wait { libc::F_OFD_SETLKW } else { libc::F_OFD_SETLK };
    loop {
        // SAFETY: the descriptor is open and `request` is a valid flock that outlives the call.
        match check(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const request) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// True when another open file description holds a lock in the range.
pub fn is_locked_by_others(file: &File, start: u64, len: u64) -> io::Result<bool> {
    let mut request = flock(Lock::Exclusive, start, len)?;
    // SAFETY: the descriptor is open; `request` is a valid flock with l_pid 0, and is writable.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut request) })?;
    Ok(i32::from(request.l_type) != libc::F_UNLCK)
}

/// Gives a file all its pages now, so that a full file system is an error here and not a signal later.
pub fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let len = offset(bytes)?;
    loop {
        // SAFETY: fallocate only needs an open descriptor.
        match check(unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, len) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Duplicates a descriptor number that came from the program, closed on exec.
pub fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the number is not -1; it is borrowed only for this call, and a closed one is EBADF.
    unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()
}

/// Copies from the program's memory (an exposed address) into a file. A bad address is the error `EFAULT`, not a signal.
pub fn write_from(file: &File, mut at: u64, mut host: usize, mut len: usize) -> io::Result<()> {
    while len > 0 {
        // SAFETY: the kernel checks the address range itself and answers EFAULT.
        let done = unsafe {
            libc::pwrite(file.as_raw_fd(), ptr::with_exposed_provenance(host), len, offset(at)?)
        };
        let done = progress(done)?;
        (at, host, len) = (at + to_u64(done), host + done, len - done);
    }
    Ok(())
}

/// Copies from a file into the program's memory (an exposed address). A bad address is the error `EFAULT`, not a signal.
pub fn read_into(file: &File, mut at: u64, mut host: usize, mut len: usize) -> io::Result<()> {
    while len > 0 {
        // SAFETY: the kernel checks the address range itself and answers EFAULT; that the program
        // meant this range to be written is the contract of the copy that it asked for.
        let done = unsafe {
            libc::pread(file.as_raw_fd(), ptr::with_exposed_provenance_mut(host), len, offset(at)?)
        };
        let done = progress(done)?;
        (at, host, len) = (at + to_u64(done), host + done, len - done);
    }
    Ok(())
}

fn progress(result: isize) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(done) => Ok(done),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

/// What the host may do with a range of device addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostAccess {
    None,
    Read,
    ReadWrite,
}

impl HostAccess {
    const fn protection(self) -> libc::c_int {
        match self {
            Self::None => libc::PROT_NONE,
            Self::Read => libc::PROT_READ,
            Self::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        }
    }
}

const NOTHING: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

fn mapped(result: *mut libc::c_void) -> io::Result<u64> {
    if result == libc::MAP_FAILED {
        Err(io::Error::last_os_error())
    } else {
        Ok(to_u64(result.addr()))
    }
}

/// Reserves addresses that nobody can touch. `align` is a power of two.
pub fn reserve(bytes: u64, align: u64) -> io::Result<u64> {
    let padded = bytes.checked_add(align).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: a mapping at an address of the kernel's choice touches nobody's memory.
    let base = mapped(unsafe {
        libc::mmap(ptr::null_mut(), to_usize(padded), libc::PROT_NONE, NOTHING, -1, 0)
    })?;
    let start = base.next_multiple_of(align);
    for (from, to) in [(base, start), (start + bytes, base + padded)] {
        if to > from {
            // SAFETY: the range is a part of the mapping just made, which nobody else knows yet.
            unsafe { release(from, to - from)? };
        }
    }
    Ok(start)
}

/// Reserves exactly this range, or fails when anything is there already.
pub fn reserve_at(start: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping.
    let got = mapped(unsafe {
        libc::mmap(
            address(start),
            to_usize(bytes),
            libc::PROT_NONE,
            NOTHING | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    })?;
    if got != start {
        // A kernel before 4.17 takes the address as a hint only.
        // SAFETY: the mapping was made here and nobody knows it.
        unsafe { release(got, bytes)? };
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(())
}

/// Gives a reserved range back to the kernel.
///
/// # Safety
/// The range was made by [`reserve`] or [`reserve_at`], and nothing in this program uses it.
pub unsafe fn release(start: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: as the caller promised.
    check(unsafe { libc::munmap(address(start), to_usize(bytes)) })
}

/// Shows a file at a reserved range.
///
/// # Safety
/// The range is inside a reservation of this module, and what it showed before is not in use by
/// references of this program (the program's own raw pointers into it are its own affair).
pub unsafe fn show(start: u64, bytes: u64, file: &File, access: HostAccess) -> io::Result<()> {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: as the caller promised; the descriptor is open.
    mapped(unsafe {
        libc::mmap(address(start), to_usize(bytes), access.protection(), flags, file.as_raw_fd(), 0)
    })
    .map(drop)
}

/// Changes what the host may do with a shown range.
///
/// # Safety
/// As [`show`].
pub unsafe fn protect(start: u64, bytes: u64, access: HostAccess) -> io::Result<()> {
    // SAFETY: as the caller promised.
    check(unsafe { libc::mprotect(address(start), to_usize(bytes), access.protection()) })
}

/// Makes a range of a reservation untouchable again and lets go of the files shown there.
///
/// # Safety
/// As [`show`].
pub unsafe fn hide(start: u64, bytes: u64) -> io::Result<()> {
    let flags = NOTHING | libc::MAP_FIXED;
    // SAFETY: as the caller promised.
    mapped(unsafe { libc::mmap(address(start), to_usize(bytes), libc::PROT_NONE, flags, -1, 0) })
        .map(drop)
}

/// A whole file, mapped read and write for as long as the value lives.
#[derive(Debug)]
pub struct SharedView {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the view is only read and written through atomics.
unsafe impl Send for SharedView {}
// SAFETY: as above.
unsafe impl Sync for SharedView {}

impl SharedView {
    /// Maps the first `bytes` of a file, which has them all (see [`allocate`]).
    pub fn new(file: &File, bytes: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a mapping at an address of the kernel's choice touches nobody's memory.
        let base = unsafe {
            libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        mapped(base)?;
        Ok(Self { base: base.cast(), bytes })
    }

    /// The value of type `T` at a byte offset, or `None` outside the view.
    ///
    /// # Safety
    /// `T` consists of atomics only, for which any bytes are a value.
    pub unsafe fn get<T>(&self, at: usize) -> Option<&T> {
        let fits = at.checked_add(size_of::<T>()).is_some_and(|end| end <= self.bytes);
        // SAFETY: in bounds by the check; aligned because mappings start at a page and the second
        // condition; any bytes are a value, as the caller promised; shared writes are atomic.
        (fits && at.is_multiple_of(align_of::<T>()))
            .then(|| unsafe { &*self.base.add(at).cast::<T>() })
    }
}

impl Drop for SharedView {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` and references into it cannot outlive `self`.
        // A failure would leave the mapping in place, which harms nobody.
        let _ = unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// Free bytes of the file system that holds an open folder.
pub fn file_system_free(folder: &File) -> io::Result<u64> {
    // SAFETY: statvfs is plain old data, for which all zeroes is a value.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `stat` is writable.
    check(unsafe { libc::fstatvfs(folder.as_raw_fd(), &raw mut stat) })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes of memory that the machine can still give.
pub fn memory_available() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    kib.map(|kib| kib.saturating_mul(1024)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Whether the machine has these bytes now. Without this, a large request would take all memory
/// before it failed.
pub fn has_room(folder: &File, bytes: u64) -> io::Result<bool> {
    /// Smaller requests cannot do much harm, and reading /proc would cost more than they do.
    const LARGE: u64 = 64 << 20;
    Ok(bytes <= file_system_free(folder)? && (bytes < LARGE || bytes <= memory_available()?))
}

/// Opens or makes a file in an open folder, for reading and writing, closed on exec.
pub fn open_in(folder: &File, name: &str, create: bool) -> io::Result<File> {
    let name = std::ffi::CString::new(name)?;
    let flags = libc::O_RDWR
        | libc::O_CLOEXEC
        | libc::O_NOFOLLOW
        | if create { libc::O_CREAT | libc::O_EXCL } else { 0 };
    // SAFETY: the folder is open and the name ends in NUL.
    let fd = unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o600) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Removes a file from an open folder; one that is not there is fine.
pub fn remove_in(folder: &File, name: &str) -> io::Result<()> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: the folder is open and the name ends in NUL.
    match check(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Lets this process open as many files as it may: every allocation is one.
pub fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writing and then for reading.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
            && limit.rlim_cur < limit.rlim_max
        {
            limit.rlim_cur = limit.rlim_max;
            // A refusal only means that memory runs out earlier.
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// This user, as the kernel checks it.
pub fn user_id() -> u32 {
    // SAFETY: geteuid has no conditions and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fact on which the life of an allocation rests.
    #[test]
    fn a_lock_follows_the_description_through_dup_and_mapping() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let open = || {
            File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap()
        };
        let (holder, prober) = (open(), open());
        allocate(&holder, 4096).unwrap();
        lock(&holder, Lock::Shared, 0, 0, false).unwrap();
        assert!(is_locked_by_others(&prober, 0, 0).unwrap());
        let second = duplicate(holder.as_raw_fd()).unwrap();
        drop(holder);
        assert!(is_locked_by_others(&prober, 0, 0).unwrap(), "a dup keeps it");
        let file = File::from(second);
        let start = reserve(4096, 4096).unwrap();
        // SAFETY: the range was just reserved.
        unsafe { show(start, 4096, &file, HostAccess::Read).unwrap() };
        drop(file);
        assert!(is_locked_by_others(&prober, 0, 0).unwrap(), "a mapping keeps it");
        // SAFETY: nobody refers to the range.
        unsafe { hide(start, 4096).unwrap() };
        assert!(!is_locked_by_others(&prober, 0, 0).unwrap(), "the last of them ends it");
    }

    #[test]
    fn the_machine_says_how_much_memory_it_has() {
        assert!(memory_available().unwrap() > 1 << 20);
        let folder = File::open("/dev/shm").unwrap();
        assert!(has_room(&folder, 4096).unwrap());
        assert!(!has_room(&folder, 1 << 60).unwrap());
    }

    #[test]
    fn bad_host_addresses_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.path().join("f"))
            .unwrap();
        allocate(&file, 4096).unwrap();
        assert_eq!(write_from(&file, 0, 8, 8).unwrap_err().raw_os_error(), Some(libc::EFAULT));
        assert_eq!(read_into(&file, 0, 8, 8).unwrap_err().raw_os_error(), Some(libc::EFAULT));
    }

    #[test]
    fn reservations_are_aligned_and_exclusive() {
        let start = reserve(4 << 20, 1 << 30).unwrap();
        assert!(start.is_multiple_of(1 << 30));
        assert!(reserve_at(start, 4 << 20).is_err());
        // SAFETY: nobody uses the range.
        unsafe { release(start, 4 << 20).unwrap() };
        reserve_at(start, 4 << 20).unwrap();
        assert!(reserve(1 << 60, 2 << 20).is_err());
    }
}
