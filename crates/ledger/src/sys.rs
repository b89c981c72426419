//! System calls, made directly.
//!
//! Not through the C library's wrappers where those are points of cancellation: a host that cancels
//! a thread there would leave the group's lock held. No wrapper here allocates or takes a lock.

use core::ffi::{CStr, c_int, c_long};
use core::ptr::{NonNull, null, null_mut};

use crate::error::LedgerError;

/// A descriptor that is closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Fd(c_int);

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours. EINTR closes it too on Linux, so no second try.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

/// What `fstat` says, as far as anybody here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub size: u64,
    pub links: u64,
    pub owner: u32,
    pub mode: u32,
    pub inode: u64,
}

pub(crate) fn errno() -> c_int {
    // SAFETY: the C library's per-thread error number is always there.
    unsafe { *libc::__errno_location() }
}

/// The error number as it was, again when this is dropped.
pub(crate) struct Errno(c_int);

impl Errno {
    pub(crate) fn keep() -> Self {
        Self(errno())
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as in `errno`.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

fn error(call: &'static str) -> LedgerError {
    LedgerError::System { call, errno: errno() }
}

/// Runs a call again while a signal interrupts it.
fn retry(mut call: impl FnMut() -> c_long) -> c_long {
    loop {
        let answer = call();
        if answer != -1 || errno() != libc::EINTR {
            return answer;
        }
    }
}

/// How long the files that this process writes may be. A write beyond that, also inside of a file
/// that is longer, is a signal that ends the process.
fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: u64::MAX, rlim_max: u64::MAX };
    // SAFETY: the structure outlives the call; nothing is set.
    unsafe {
        let none = null::<libc::rlimit64>();
        libc::syscall(libc::SYS_prlimit64, 0, libc::RLIMIT_FSIZE, none, &raw mut limit);
    }
    limit.rlim_cur
}

fn small(value: c_long) -> c_int {
    c_int::try_from(value).unwrap_or(-1)
}

pub(crate) fn open(path: &CStr, flags: c_int, mode: u32) -> Result<Fd, c_int> {
    // SAFETY: the path ends with a zero and outlives the call.
    let fd = retry(|| unsafe {
        libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            mode,
        )
    });
    if fd < 0 { Err(errno()) } else { Ok(Fd(small(fd))) }
}

pub(crate) fn mkdir(path: &CStr, mode: u32) -> Result<(), c_int> {
    // SAFETY: the path ends with a zero and outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_mkdirat, libc::AT_FDCWD, path.as_ptr(), mode) };
    if done < 0 { Err(errno()) } else { Ok(()) }
}

pub(crate) fn remove_file(path: &CStr) -> Result<(), c_int> {
    unlink(path, 0)
}

/// Only an empty one.
pub(crate) fn remove_folder(path: &CStr) -> Result<(), c_int> {
    unlink(path, libc::AT_REMOVEDIR)
}

fn unlink(path: &CStr, flags: c_int) -> Result<(), c_int> {
    // SAFETY: the path ends with a zero and outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), flags) };
    if done < 0 { Err(errno()) } else { Ok(()) }
}

/// Calls `each` with the names of the folders in a folder, until it says no.
pub(crate) fn each_folder(list: &Fd, mut each: impl FnMut(&CStr) -> bool) {
    // Of each entry: number and position (8 bytes each), its length (2), its type (1), its name.
    const NAME: usize = 19;
    let mut entries = [0_u64; 512];
    loop {
        // SAFETY: the buffer is as long as the call is told.
        let got = retry(|| unsafe {
            let room = size_of_val(&entries);
            libc::syscall(libc::SYS_getdents64, list.0, entries.as_mut_ptr(), room)
        });
        let Some(len) = usize::try_from(got).ok().filter(|len| *len > 0) else { return };
        // SAFETY: the kernel has written so many bytes of the buffer, and any byte is a byte.
        let mut rest = unsafe { core::slice::from_raw_parts(entries.as_ptr().cast::<u8>(), len) };
        while let Some((entry, next)) = rest
            .get(16..18)
            .and_then(|len| <[u8; 2]>::try_from(len).ok())
            .and_then(|len| rest.split_at_checked(u16::from_ne_bytes(len).into()))
            .filter(|(entry, _)| entry.len() > NAME)
        {
            rest = next;
            let name = entry.get(NAME..).and_then(|name| CStr::from_bytes_until_nul(name).ok());
            let is_folder = entry.get(18) == Some(&libc::DT_DIR);
            if let Some(name) = name.filter(|name| is_folder && !name.to_bytes().starts_with(b"."))
                && !each(name)
            {
                return;
            }
        }
    }
}

/// The inode behind a path, links followed; for namespaces.
pub(crate) fn inode_of(path: &CStr) -> Option<u64> {
    // SAFETY: all zeroes are a valid `stat`, and the call writes only into it.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: path and buffer outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path.as_ptr(), &raw mut stat, 0)
    };
    (done == 0).then_some(stat.st_ino)
}

/// When a file or folder was last written, in seconds of the clock on the wall.
pub(crate) fn written_at(path: &CStr) -> Option<i64> {
    look_at(path).ok().map(|stat| stat.st_mtime)
}

/// Who owns what is there, which may be a link.
pub(crate) fn owner_of(path: &CStr) -> Result<u32, c_int> {
    look_at(path).map(|stat| stat.st_uid)
}

fn look_at(path: &CStr) -> Result<libc::stat, c_int> {
    // SAFETY: all zeroes are a valid `stat`, and the call writes only into it.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: path and buffer outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path.as_ptr(), &raw mut stat, flags)
    };
    if done == 0 { Ok(stat) } else { Err(errno()) }
}

/// Seconds of the clock on the wall.
pub(crate) fn wall_seconds() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    now.tv_sec
}

/// Where a link points to; nothing when it cannot be read.
pub(crate) fn read_link<'a>(path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    // SAFETY: path and buffer outlive the call, and the buffer is as long as the call is told.
    let got = unsafe {
        libc::syscall(
            libc::SYS_readlinkat,
            libc::AT_FDCWD,
            path.as_ptr(),
            into.as_mut_ptr(),
            into.len(),
        )
    };
    usize::try_from(got).ok().and_then(|len| into.get(..len)).unwrap_or(&[])
}

impl Fd {
    pub(crate) fn status(&self) -> Result<Status, LedgerError> {
        // SAFETY: all zeroes are a valid `stat`, and the call writes only into it.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the descriptor is ours and the buffer outlives the call.
        if unsafe { libc::syscall(libc::SYS_fstat, self.0, &raw mut stat) } != 0 {
            return Err(error("fstat"));
        }
        Ok(Status {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            #[allow(clippy::useless_conversion, reason = "its width differs between targets")]
            links: stat.st_nlink.into(),
            owner: stat.st_uid,
            mode: stat.st_mode,
            inode: stat.st_ino,
        })
    }

    /// Sets the time at which the file was last written to now; nobody depends on it.
    pub(crate) fn touch(&self) {
        let (path, times) = (null::<u8>(), null::<libc::timespec>());
        // SAFETY: without a path the descriptor itself is meant, without times now.
        unsafe { libc::syscall(libc::SYS_utimensat, self.0, path, times, 0) };
    }

    /// Reads until the buffer is full or the file ends.
    pub(crate) fn read_at(&self, into: &mut [u8], offset: u64) -> Result<usize, LedgerError> {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            // SAFETY: the buffer is as long as the call is told.
            let got = retry(|| unsafe {
                libc::syscall(libc::SYS_pread64, self.0, rest.as_mut_ptr(), rest.len(), at)
            });
            match usize::try_from(got) {
                Ok(0) => break,
                Ok(got) => done = done.saturating_add(got),
                Err(_) => return Err(error("pread")),
            }
        }
        Ok(done)
    }

    pub(crate) fn write_at(&self, from: &[u8], offset: u64) -> Result<(), LedgerError> {
        let end = offset.saturating_add(u64::try_from(from.len()).unwrap_or(u64::MAX));
        if end > file_size_limit() {
            return Err(LedgerError::System { call: "pwrite", errno: libc::EFBIG });
        }
        let mut done = 0;
        while let Some(rest) = from.get(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            // SAFETY: the buffer is as long as the call is told.
            let got = retry(|| unsafe {
                libc::syscall(libc::SYS_pwrite64, self.0, rest.as_ptr(), rest.len(), at)
            });
            match usize::try_from(got) {
                Ok(got) if got > 0 => done = done.saturating_add(got),
                _ => return Err(error("pwrite")),
            }
        }
        Ok(())
    }

    /// Makes the file this long, with its memory there: a full tmpfs is an error here and not a
    /// SIGBUS later.
    pub(crate) fn allocate(&self, size: u64) -> Result<(), LedgerError> {
        // SAFETY: no memory is involved.
        match retry(|| unsafe { libc::syscall(libc::SYS_fallocate, self.0, 0, 0_i64, size) }) {
            0 => Ok(()),
            _ => Err(error("fallocate")),
        }
    }

    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), LedgerError> {
        // SAFETY: no memory is involved.
        match unsafe { libc::syscall(libc::SYS_fchmod, self.0, mode) } {
            0 => Ok(()),
            _ => Err(error("fchmod")),
        }
    }

    pub(crate) fn set_owner(&self, uid: u32) -> Result<(), LedgerError> {
        // SAFETY: no memory is involved; all ones leave the group as it is.
        match unsafe { libc::syscall(libc::SYS_fchown, self.0, uid, u32::MAX) } {
            0 => Ok(()),
            _ => Err(error("fchown")),
        }
    }

    fn lock_call(&self, command: c_int, lock: &mut libc::flock) -> c_long {
        // SAFETY: the structure outlives the call.
        unsafe { libc::syscall(libc::SYS_fcntl, self.0, command, core::ptr::from_mut(lock)) }
    }

    /// Waits for a lock on one byte, for as long as it takes.
    pub(crate) fn lock_wait(&self, byte: i64) -> Result<(), LedgerError> {
        match retry(|| self.lock_call(libc::F_OFD_SETLKW, &mut range(libc::F_WRLCK, byte, 1))) {
            0 => Ok(()),
            _ => Err(error("lock")),
        }
    }

    /// Takes a lock on unlocked bytes.
    pub(crate) fn lock_try(&self, first: i64, count: i64) -> Result<bool, LedgerError> {
        let mut lock = range(libc::F_WRLCK, first, count);
        match retry(|| self.lock_call(libc::F_OFD_SETLK, &mut lock)) {
            0 => Ok(true),
            _ if matches!(errno(), libc::EAGAIN | libc::EACCES) => Ok(false),
            _ => Err(error("lock")),
        }
    }

    pub(crate) fn unlock(&self, first: i64, count: i64) {
        self.lock_call(libc::F_OFD_SETLK, &mut range(libc::F_UNLCK, first, count));
    }

    /// Whether another description holds a lock in the range.
    pub(crate) fn is_locked(&self, first: i64, count: i64) -> Result<bool, LedgerError> {
        let mut lock = range(libc::F_WRLCK, first, count);
        match retry(|| self.lock_call(libc::F_OFD_GETLK, &mut lock)) {
            0 => Ok(c_int::from(lock.l_type) != libc::F_UNLCK),
            _ => Err(error("lock query")),
        }
    }

    /// Maps the file's beginning without access: the mapping only keeps the description alive.
    pub(crate) fn map_untouchable(&self, len: usize) -> Result<NonNull<u8>, LedgerError> {
        let shared = libc::MAP_SHARED;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe { libc::mmap(null_mut(), len, libc::PROT_NONE, shared, self.0, 0) };
        if at == libc::MAP_FAILED {
            return Err(error("mmap"));
        }
        NonNull::new(at.cast()).ok_or(error("mmap"))
    }
}

fn range(kind: c_int, first: i64, count: i64) -> libc::flock {
    // SAFETY: all zeroes are a valid `flock`; OFD locks want the pid to be zero.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = libc::c_short::try_from(kind).unwrap_or(0);
    lock.l_whence = 0;
    lock.l_start = first;
    lock.l_len = count;
    lock
}

/// A forked child does not get this mapping.
///
/// # Safety
/// The range is a mapping of the caller's.
pub(crate) unsafe fn keep_from_children(at: NonNull<u8>, len: usize) -> Result<(), LedgerError> {
    // SAFETY: by this function's contract.
    match unsafe { libc::madvise(at.as_ptr().cast(), len, libc::MADV_DONTFORK) } {
        0 => Ok(()),
        _ => Err(error("madvise")),
    }
}

/// # Safety
/// The range is a mapping of the caller's that nobody uses any more.
pub(crate) unsafe fn unmap(at: NonNull<u8>, len: usize) {
    // SAFETY: by this function's contract.
    unsafe { libc::munmap(at.as_ptr().cast(), len) };
}

/// A new System V segment; see `region`.
/// A new segment with a key, or with none (`IPC_PRIVATE`).
pub(crate) fn segment_new(key: c_int, len: usize, mode: c_int) -> Result<c_int, c_int> {
    // SAFETY: no memory is involved.
    let id = unsafe { libc::shmget(key, len, libc::IPC_CREAT | libc::IPC_EXCL | mode) };
    if id < 0 { Err(errno()) } else { Ok(id) }
}

/// The segment with a key that its creator has left: it has ended, and nobody is attached.
pub(crate) fn segment_left(key: c_int, len: usize) -> Option<c_int> {
    // SAFETY: no memory is involved.
    let id = unsafe { libc::shmget(key, 0, 0) };
    // SAFETY: all zeroes are a valid structure, and the call writes only into it.
    let mut info: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: the structure outlives the call.
    if id < 0 || unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut info) } != 0 {
        return None;
    }
    // A creator that cannot be seen from here has the number 0.
    let ended = info.shm_cpid > 0 && !pid_exists(info.shm_cpid);
    (ended && info.shm_nattch == 0 && info.shm_segsz == len && info.shm_perm.cuid == user())
        .then_some(id)
}

pub(crate) fn segment_attach(id: c_int, read_only: bool) -> Result<NonNull<u8>, c_int> {
    let flags = if read_only { libc::SHM_RDONLY } else { 0 };
    // SAFETY: the kernel chooses the address.
    let at = unsafe { libc::shmat(id, null(), flags) };
    if at.addr() == usize::MAX {
        return Err(errno());
    }
    NonNull::new(at.cast()).ok_or(libc::EINVAL)
}

/// The length of a segment that is attached.
pub(crate) fn segment_len(id: c_int) -> Option<usize> {
    // SAFETY: all zeroes are a valid structure, and the call writes only into it.
    let mut info: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: the structure outlives the call.
    let done = unsafe { libc::shmctl(id, libc::IPC_STAT, &raw mut info) };
    (done == 0).then_some(info.shm_segsz)
}

pub(crate) fn segment_set_owner(id: c_int, uid: u32, mode: u16) {
    // SAFETY: all zeroes are a valid structure, and the calls use only it.
    let mut info: libc::shmid_ds = unsafe { core::mem::zeroed() };
    // SAFETY: as above.
    unsafe {
        if libc::shmctl(id, libc::IPC_STAT, &raw mut info) == 0 {
            info.shm_perm.uid = uid;
            #[allow(clippy::useless_conversion, reason = "its width differs between targets")]
            {
                info.shm_perm.mode = mode.into();
            }
            libc::shmctl(id, libc::IPC_SET, &raw mut info);
        }
    }
}

/// The segment ends with its last attachment.
pub(crate) fn segment_end_with_users(id: c_int) {
    // SAFETY: no memory is involved.
    unsafe { libc::shmctl(id, libc::IPC_RMID, null_mut()) };
}

/// # Safety
/// The address is an attachment of the caller's that nobody uses any more.
pub(crate) unsafe fn segment_detach(at: NonNull<u8>) {
    // SAFETY: by this function's contract.
    unsafe { libc::shmdt(at.as_ptr().cast()) };
}

pub(crate) fn random() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the buffer is as long as the call is told.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    let value = u64::from_ne_bytes(bytes);
    if got == 8 && value != 0 { value } else { monotonic_nanos() | 1 }
}

pub(crate) fn monotonic_nanos() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

pub(crate) fn sleep_nanos(nanos: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nanos.into() };
    // SAFETY: the structure outlives the call; waking early is fine.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, null_mut::<u8>()) };
}

pub(crate) fn pid() -> i32 {
    // SAFETY: no memory is involved. Not the library's cached number: see `fork` in old ones.
    small(unsafe { libc::syscall(libc::SYS_getpid) })
}

pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Whether a process with this number exists, whatever it is and whoever owns it.
pub(crate) fn pid_exists(pid: i32) -> bool {
    // SAFETY: signal 0 is sent to nobody; the caller checked that the number is one process.
    unsafe { libc::syscall(libc::SYS_kill, pid, 0) == 0 || errno() != libc::ESRCH }
}

/// The running program's short name; the process's, not the calling thread's.
pub(crate) fn program_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    if let Ok(fd) = open(c"/proc/self/comm", libc::O_RDONLY, 0) {
        let _ = fd.read_at(&mut name, 0);
    }
    for byte in &mut name {
        if *byte == b'\n' {
            *byte = 0;
        }
    }
    name
}
