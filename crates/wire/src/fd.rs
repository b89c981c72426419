//! The calls that neither std nor rustix offers safely: locks on open file descriptions, who is at
//! the other end of a socket, how much of what was sent is unread, counters that another process
//! writes, memory that costs what is used of it, memory that was freed, sealed bytes that are read where they lie, descriptors
//! that a process is born with, signals that wait or are ignored, and which process this is.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::caps;

/// What the kernel shows for every user without a number in this user namespace.
pub const OVERFLOW_USER: u32 = 65_534;

/// Who connected, as the kernel says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Process, in this process's namespace; zero where it is not visible.
    pub pid: u32,
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
}

/// Tries to take the write lock of an open file description. It follows the description through
/// `dup`, `fork` and `SCM_RIGHTS` and ends when the last of them is closed, also by kill -9.
///
/// # Errors
/// `Ok(false)` if somebody else has it; an error of the system otherwise.
pub fn try_lock(file: &File) -> io::Result<bool> {
    let mut lock = whole_file_lock();
    // SAFETY: the descriptor is open for the length of the call and `lock` is a valid flock.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw mut lock) };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}

/// Whether two descriptors are copies of each other: by `dup`, `fork` or `SCM_RIGHTS`. False where the
/// kernel does not tell.
pub fn is_same_description(one: impl AsFd, other: impl AsFd) -> bool {
    const KCMP_FILE: libc::c_long = 0;
    let number = |fd: &dyn AsRawFd| libc::c_long::from(fd.as_raw_fd());
    let (one, other) = (one.as_fd(), other.as_fd());
    let own = libc::c_long::from(std::process::id().cast_signed());
    // SAFETY: kcmp takes five numbers and touches no memory of this process.
    let order =
        unsafe { libc::syscall(libc::SYS_kcmp, own, own, KCMP_FILE, number(&one), number(&other)) };
    order == 0
}

/// Whether somebody has the write lock of a file, without taking any. It takes a descriptor that can
/// write to have one, so this tells whoever owns the file from those who can only read it.
///
/// # Errors
/// What the system says.
pub fn is_write_locked(file: &File) -> io::Result<bool> {
    let mut lock = whole_file_lock();
    // Only a write lock is in the way of a read lock.
    lock.l_type = F_RDLCK;
    // SAFETY: the descriptor is open for the length of the call and `lock` is a valid flock.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if result == 0 { Ok(lock.l_type == F_WRLCK) } else { Err(io::Error::last_os_error()) }
}

fn whole_file_lock() -> libc::flock {
    // SAFETY: flock is plain data for which all zeroes is valid: from the start, to the end, pid 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock
}

// The C headers give these as int, the struct holds short; all fit on Linux.
const F_RDLCK: i16 = 0;
const F_WRLCK: i16 = 1;
const SEEK_SET: i16 = 0;
const _: () = assert!(libc::F_RDLCK == 0 && libc::F_WRLCK == 1 && libc::SEEK_SET == 0);

/// Has the allocator give freed memory back to the system, where it can be asked to. Other threads
/// that allocate may wait for that.
pub fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it may be called at any time from any thread, and takes any number.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// User and groups of the process that connected the other end.
///
/// # Errors
/// What `getsockopt` says.
pub fn peer_credentials(socket: impl AsFd) -> io::Result<PeerCredentials> {
    let fd = socket.as_fd().as_raw_fd();
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = socklen::<libc::ucred>();
    // SAFETY: the buffer is a ucred and `length` says so.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut groups = vec![0u32; caps::GROUPS];
    let mut length = socklen::<[u32; caps::GROUPS]>();
    // SAFETY: the buffer holds `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_PEERGROUPS,
            groups.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    // A user in more groups than we look at counts as in none of them.
    let count = if result == 0 { length as usize / size_of::<u32>() } else { 0 };
    groups.truncate(count);
    Ok(PeerCredentials {
        pid: u32::try_from(credentials.pid).unwrap_or(0),
        user: credentials.uid,
        group: credentials.gid,
        groups,
    })
}

/// A pidfd of the process that connected the other end, right across pid namespaces and free of
/// races with pid reuse (Linux 6.5); on older kernels one that was opened by number.
///
/// # Errors
/// What the kernel says; `ESRCH` where the process is gone already.
pub fn peer_pidfd(socket: impl AsFd) -> io::Result<OwnedFd> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut pidfd: libc::c_int = -1;
    let mut length = socklen::<libc::c_int>();
    // SAFETY: the buffer is an int and `length` says so.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut pidfd).cast(),
            &raw mut length,
        )
    };
    if result == 0 && pidfd >= 0 {
        // SAFETY: the kernel made this descriptor for us just now; nobody else owns it.
        return Ok(unsafe { OwnedFd::from_raw_fd(pidfd) });
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() != Some(libc::ENOPROTOOPT) {
        return Err(error);
    }
    let pid = i32::try_from(peer_credentials(&socket)?.pid).unwrap_or(0);
    let pid = rustix::process::Pid::from_raw(pid)
        .ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
    Ok(rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?)
}

/// Bytes that were sent and that the peer has not read.
///
/// # Errors
/// What `ioctl` says.
pub fn unread_by_peer(socket: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ (the same number as TIOCOUTQ) writes one int.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Counters of eight bytes in a memfd that somebody else writes, mapped for reading: a look at one
/// is no system call.
#[derive(Debug)]
pub struct Counters {
    first: std::ptr::NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the memory is only read, atomically, and belongs to this value until it is dropped.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

impl Counters {
    /// Maps so many.
    ///
    /// # Errors
    /// What the system says; something that is too small, or that could become so under a reader.
    pub fn map(fd: impl AsFd, count: usize) -> io::Result<Self> {
        let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text);
        if !rustix::fs::fcntl_get_seals(&fd)?.contains(rustix::fs::SealFlags::SHRINK) {
            return Err(invalid("the counters are not sealed against shrinking"));
        }
        let bytes = count * size_of::<AtomicU64>();
        let size = rustix::fs::fstat(&fd)?.st_size;
        if bytes == 0 || usize::try_from(size).unwrap_or(0) < bytes {
            return Err(invalid("there are fewer counters"));
        }
        let (read, shared) = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let address = unsafe { mmap(std::ptr::null_mut(), bytes, read, shared, fd, 0) }?;
        let first = std::ptr::NonNull::new(address.cast())
            .ok_or_else(|| invalid("the counters were mapped at zero"))?;
        Ok(Self { first, count })
    }

    /// One of them, as it is now.
    #[must_use]
    pub fn read(&self, index: usize) -> Option<u64> {
        // SAFETY: inside of the mapping, aligned because the mapping is, and the file cannot shrink;
        // whoever writes it does so from outside of this program, which an atomic read allows for.
        (index < self.count)
            .then(|| unsafe { self.first.add(index).as_ref() }.load(Ordering::Acquire))
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<AtomicU64>();
        // SAFETY: the whole mapping of `map`, which nobody else has. It cannot fail for one.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), bytes) };
    }
}

/// Zeroed memory of this process, of which only the pages that are used cost anything. A buffer from
/// the heap is cleared in full by whoever makes it.
#[derive(Debug)]
pub struct Pages {
    first: std::ptr::NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is private, and belongs to this value until it is dropped.
unsafe impl Send for Pages {}
// SAFETY: as above; it is changed only through a unique borrow.
unsafe impl Sync for Pages {}

impl Pages {
    /// # Errors
    /// What the system says, for example when memory is short.
    pub fn new(len: usize) -> io::Result<Self> {
        let (access, private) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let address = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, private) }?;
        let first = std::ptr::NonNull::new(address.cast())
            .ok_or_else(|| io::Error::other("memory was mapped at zero"))?;
        Ok(Self { first, len })
    }
}

impl std::ops::Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` zeroed bytes are mapped until this value is dropped, and nobody else has
        // them.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl std::ops::DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the whole mapping of `new`, which nobody else has. It cannot fail for one.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), self.len) };
    }
}

/// A sealed memfd, read where it lies: what it costs does not grow with its size.
#[derive(Debug)]
pub struct SealedMap {
    first: std::ptr::NonNull<u8>,
    len: usize,
}

// SAFETY: nobody can change the bytes any more, and the mapping is this value's until it is dropped.
unsafe impl Send for SealedMap {}
// SAFETY: as above.
unsafe impl Sync for SealedMap {}

impl SealedMap {
    /// Maps all of it.
    ///
    /// # Errors
    /// If it is empty, larger than `max`, or not sealed against shrinking and writing: then its
    /// sender could change it under the reader. Else what the system says.
    pub fn map(fd: impl AsFd, max: u64) -> io::Result<Self> {
        use rustix::fs::SealFlags;
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        let seals = rustix::fs::fcntl_get_seals(&fd)
            .map_err(|_| invalid("the descriptor is not a memfd".to_owned()))?;
        if !seals.contains(SealFlags::SHRINK | SealFlags::WRITE) {
            return Err(invalid("the memfd is not sealed".to_owned()));
        }
        let size = rustix::fs::fstat(&fd)?.st_size;
        let len = u64::try_from(size).ok().filter(|size| (1..=max).contains(size));
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| {
            invalid(format!("the memfd has {size} bytes, 1 to {max} are possible"))
        })?;
        let (read, shared) = (ProtFlags::READ, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let address = unsafe { mmap(std::ptr::null_mut(), len, read, shared, fd, 0) }?;
        let first = std::ptr::NonNull::new(address.cast())
            .ok_or_else(|| invalid("the memfd was mapped at zero".to_owned()))?;
        Ok(Self { first, len })
    }
}

impl std::ops::Deref for SealedMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes are mapped until this value is dropped. The seals keep the file from
        // becoming shorter and its bytes from being written, by anybody and for ever.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl AsRef<[u8]> for SealedMap {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for SealedMap {
    fn drop(&mut self) {
        // SAFETY: the whole mapping of `map`, which nobody else has. It cannot fail for one.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), self.len) };
    }
}

fn socklen<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX)
}

/// Takes the descriptors 3, 4 and so on that a service manager passed to this process, and marks
/// them so that no child inherits them. Once: a second call finds none.
///
/// # Errors
/// If one of them is not open, or was opened by this process itself.
pub fn take_inherited(count: u32) -> io::Result<Vec<OwnedFd>> {
    let take = |number: u32| {
        let raw =
            i32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // SAFETY: asking for the flags of any number does nothing but that.
        let flags = unsafe { libc::fcntl(raw, libc::F_GETFD) };
        if flags == -1 {
            return Err(io::Error::last_os_error());
        }
        if flags & libc::FD_CLOEXEC != 0 {
            let text = format!("descriptor {raw} was not inherited");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        // SAFETY: it is open, and changing this flag touches nothing else.
        if unsafe { libc::fcntl(raw, libc::F_SETFD, flags | libc::FD_CLOEXEC) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open and nobody's: std marks everything that it opens close-on-exec, and
        // whatever came from here before was marked above.
        Ok(unsafe { OwnedFd::from_raw_fd(raw) })
    };
    (3..3u32.saturating_add(count)).map(take).collect()
}

/// Closes what this process was born with beside its standard streams. A driver opens files that are
/// not close-on-exec, and a process that is started at that moment inherits them.
///
/// # Errors
/// If the list of descriptors cannot be read.
pub fn close_inherited() -> io::Result<()> {
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let raw: i32 = name.to_str().and_then(|name| name.parse().ok()).unwrap_or(0);
        // SAFETY: asking for the flags of any number does nothing but that.
        let flags = unsafe { libc::fcntl(raw, libc::F_GETFD) };
        if raw > 2 && flags != -1 && flags & libc::FD_CLOEXEC == 0 {
            inherited.push(raw);
        }
    }
    for raw in inherited {
        // SAFETY: it is open and nobody's: std and this project mark everything that they open
        // close-on-exec.
        drop(unsafe { OwnedFd::from_raw_fd(raw) });
    }
    Ok(())
}

/// This process's number, zero until it is asked for and again in every forked child.
static PROCESS: AtomicU32 = AtomicU32::new(0);

extern "C" fn in_child() {
    PROCESS.store(0, Ordering::Relaxed);
}

/// The number of this process, without a system call but for the first time; right after `fork` too.
/// Only a child that was made without the C library's `fork` would be told its parent's.
#[must_use]
pub fn process_number() -> u32 {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let known = PROCESS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let number = std::process::id();
    // SAFETY: the handler is a function of this program that only stores to an atomic.
    let register = || unsafe { libc::pthread_atfork(None, None, Some(in_child)) } == 0;
    // Where a fork would not be noticed, nothing is remembered.
    if *REGISTERED.get_or_init(register) {
        PROCESS.store(number, Ordering::Relaxed);
    }
    number
}

/// Lets `SIGTERM` and `SIGINT` wait in this thread, or come; processes started from it inherit that.
/// One that waits is not lost, and ends nobody.
///
/// # Errors
/// What the system says.
pub fn hold_back_stop_signals(hold_back: bool) -> io::Result<()> {
    // SAFETY: all zeroes is a valid set, and it is emptied before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    let how = if hold_back { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    // SAFETY: `set` is valid for all calls, and nobody asks for the old mask.
    let result = unsafe {
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}

/// Lets a process in the background write to its terminal, and read nothing from it, instead of
/// being stopped. Processes started from this one inherit that.
pub fn ignore_terminal_stops() {
    for signal in [libc::SIGTTIN, libc::SIGTTOU] {
        // SAFETY: both signals exist, and to ignore one runs no code of this program. It cannot
        // fail for them.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn a_forked_child_has_a_number_of_its_own() {
        assert_eq!(process_number(), std::process::id());
        // SAFETY: the child calls nothing but what may be called after a fork of many threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let right = process_number() == std::process::id();
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(if right { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: `status` is valid for the call.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        assert_eq!(process_number(), std::process::id());
    }

    #[test]
    fn a_lock_follows_the_description_and_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let open = || {
            File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap()
        };
        let first = open();
        assert!(try_lock(&first).unwrap());
        assert!(!try_lock(&open()).unwrap());
        let copy = first.try_clone().unwrap();
        drop(first);
        assert!(!try_lock(&open()).unwrap(), "the copy still holds it");
        drop(copy);
        assert!(try_lock(&open()).unwrap());
    }

    #[test]
    fn a_write_lock_is_seen_by_those_who_can_only_read_and_a_read_lock_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let owner = File::create(&path).unwrap();
        let reader = File::open(&path).unwrap();
        assert!(!is_write_locked(&reader).unwrap());
        assert!(try_lock(&owner).unwrap());
        assert!(is_write_locked(&reader).unwrap());
        drop(owner);
        rustix::fs::fcntl_lock(&reader, rustix::fs::FlockOperation::LockShared).unwrap();
        assert!(!is_write_locked(&File::open(&path).unwrap()).unwrap());
    }

    #[test]
    fn counters_are_seen_as_they_are_written_and_cannot_shrink() {
        use std::os::unix::fs::FileExt;
        let flags = rustix::fs::MemfdFlags::CLOEXEC | rustix::fs::MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("counters", flags).unwrap());
        file.set_len(4096).unwrap();
        assert!(Counters::map(&file, 512).is_err(), "it could shrink under a reader");
        rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).unwrap();
        assert!(Counters::map(&file, 513).is_err() && Counters::map(&file, 0).is_err());
        let counters = Counters::map(&file, 512).unwrap();
        assert_eq!((counters.read(511), counters.read(512)), (Some(0), None));
        file.write_all_at(&7u64.to_ne_bytes(), 511 * 8).unwrap();
        assert_eq!(counters.read(511), Some(7));
        assert!(Counters::map(File::open("/dev/null").unwrap(), 1).is_err());
    }

    #[test]
    fn pages_are_zeroed_and_keep_what_is_written() {
        let mut pages = Pages::new(3 * 4096).unwrap();
        assert_eq!(pages.len(), 3 * 4096);
        assert!(pages.iter().all(|byte| *byte == 0));
        pages[4095..4099].copy_from_slice(b"pond");
        let pages = std::thread::spawn(move || pages).join().unwrap();
        assert_eq!(&pages[4095..4099], b"pond");
        assert!(Pages::new(0).is_err());
    }

    #[test]
    fn only_what_nobody_can_change_is_read_where_it_lies() {
        let fd = crate::memfd::sealed("test", b"pond").unwrap();
        let map = SealedMap::map(&fd, 4).unwrap();
        drop(fd);
        assert_eq!(&*map, b"pond");
        assert_eq!(std::thread::spawn(move || map.as_ref().to_vec()).join().unwrap(), b"pond");
        let refused = |fd: OwnedFd, max| SealedMap::map(fd, max).unwrap_err().to_string();
        let sealed = |bytes: &[u8]| crate::memfd::sealed("test", bytes).unwrap();
        assert!(refused(sealed(b"pond"), 3).contains("4 bytes, 1 to 3"));
        assert!(refused(sealed(b""), 3).contains("0 bytes"));
        assert!(refused(File::open("/dev/null").unwrap().into(), 3).contains("not a memfd"));
        // One seal is not enough: each keeps from one kind of change.
        for seal in [rustix::fs::SealFlags::SHRINK, rustix::fs::SealFlags::WRITE] {
            let flags = rustix::fs::MemfdFlags::CLOEXEC | rustix::fs::MemfdFlags::ALLOW_SEALING;
            let fd = rustix::fs::memfd_create("half", flags).unwrap();
            rustix::io::write(&fd, b"pond").unwrap();
            rustix::fs::fcntl_add_seals(&fd, seal).unwrap();
            assert!(refused(fd, 4).contains("not sealed"));
        }
    }

    #[test]
    fn the_peer_is_this_process() {
        let (a, b) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        let peer = peer_credentials(&a).unwrap();
        assert_eq!(peer.pid, std::process::id());
        assert!(peer_pidfd(&a).is_ok());
        assert_eq!(unread_by_peer(&a).unwrap(), 0);
        rustix::net::send(&a, b"hello", rustix::net::SendFlags::empty()).unwrap();
        assert!(unread_by_peer(&a).unwrap() > 0);
        drop(b);
    }
}
