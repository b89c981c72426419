//! Datagrams with file descriptors over unix sockets.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::{caps, fd};

/// A path that does not fit the kernel's address structure.
pub const PATH_BYTES: usize = 107;

/// Why there is no connection, or a message could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The path does not fit a socket address.
    #[error("socket path '{path}' has {length} bytes; the kernel takes at most {PATH_BYTES}")]
    PathTooLong { path: PathBuf, length: usize },
    /// The socket, or the folder it is in, belongs to somebody it should not belong to.
    #[error("'{path}' belongs to {}, not to {expected}", Owner(*owner))]
    Untrusted {
        path: PathBuf,
        owner: u32,
        /// Whose it may be.
        expected: String,
    },
    /// The peer broke a rule of the protocol.
    #[error("{0}")]
    Lying(&'static str),
    /// A message was taken, but not the descriptors that came with it, or not all of them.
    #[error("this process has no descriptors left for those that came with a message")]
    OutOfDescriptors,
    /// The peer is gone.
    #[error("the peer hung up")]
    HungUp,
    /// The system said no.
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

/// Takes the seqpacket socket that this process was started with from standard input, and puts
/// `/dev/null` there, so that no child inherits it: the peer would miss the end of this process.
/// `None` if something else is there.
///
/// # Errors
/// What the system says.
pub fn take_stdin() -> io::Result<Option<OwnedFd>> {
    let stdin = rustix::stdio::stdin();
    if rustix::net::sockopt::socket_type(stdin) != Ok(SocketType::SEQPACKET) {
        return Ok(None);
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin, 3)?;
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(Some(socket))
}

impl SocketError {
    fn io(what: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> SocketError {
        let what = what.into();
        move |errno| SocketError::Io { what, source: errno.into() }
    }

    /// Whether the message should be sent again later: the peer's queue is full, or there are too
    /// many descriptors in flight.
    #[must_use]
    pub fn is_later(&self) -> bool {
        let SocketError::Io { source, .. } = self else { return false };
        let code = source.raw_os_error();
        source.kind() == io::ErrorKind::WouldBlock
            || [libc::ETOOMANYREFS, libc::ENOBUFS].map(Some).contains(&code)
    }

    /// Whether the reason is that this user has too many descriptors in flight, to whomever.
    #[must_use]
    pub fn is_in_flight(&self) -> bool {
        let SocketError::Io { source, .. } = self else { return false };
        source.raw_os_error() == Some(libc::ETOOMANYREFS)
    }
}

/// The owner of a socket, in words.
#[derive(Clone, Copy, Debug)]
pub struct Owner(pub u32);

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            fd::OVERFLOW_USER => f.write_str("a user without a number in this user namespace"),
            user => write!(f, "user {user}"),
        }
    }
}

/// One message as it came.
#[derive(Debug, Default)]
pub struct Received {
    /// How many bytes of the buffer are the message.
    pub bytes: usize,
    pub fds: Vec<OwnedFd>,
}

fn address(path: &Path) -> Result<SocketAddrUnix, SocketError> {
    let length = path.as_os_str().len();
    if length > PATH_BYTES {
        return Err(SocketError::PathTooLong { path: path.to_owned(), length });
    }
    SocketAddrUnix::new(path).map_err(SocketError::io(format!("socket path '{}'", path.display())))
}

fn new_socket() -> Result<OwnedFd, SocketError> {
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(SocketError::io("making a socket"))
}

/// Binds and listens, non-blocking, for this user alone: whoever lets others in changes the mode. A
/// socket that is there already and that nobody listens on is replaced; the caller holds the folder's
/// lock.
///
/// # Errors
/// [`SocketError`].
pub fn listen(path: &Path) -> Result<OwnedFd, SocketError> {
    let address = address(path)?;
    let socket = new_socket()?;
    let what = || format!("listening on '{}'", path.display());
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {
            std::fs::remove_file(path)
                .map_err(|source| SocketError::Io { what: what(), source })?;
        }
        _ => {}
    }
    // The mode of what is bound: from the first moment on nobody else can connect.
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::fchmod(&socket, mode).map_err(SocketError::io(what()))?;
    rustix::net::bind(&socket, &address).map_err(SocketError::io(what()))?;
    rustix::net::listen(&socket, QUEUE_LENGTH).map_err(SocketError::io(what()))?;
    set_nonblocking(&socket)?;
    Ok(socket)
}

/// Whether nobody listens any more on a socket that is there. Waits for nobody.
#[must_use]
pub fn is_stale(path: &Path) -> bool {
    let (Ok(address), Ok(socket)) = (address(path), new_socket()) else { return false };
    set_nonblocking(&socket).is_ok()
        && rustix::net::connect(&socket, &address) == Err(rustix::io::Errno::CONNREFUSED)
}

/// Makes a descriptor non-blocking.
///
/// # Errors
/// [`SocketError::Io`].
pub fn set_nonblocking(fd: impl AsFd) -> Result<(), SocketError> {
    let flags = rustix::fs::fcntl_getfl(&fd).map_err(SocketError::io("reading flags"))?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)
        .map_err(SocketError::io("setting flags"))
}

/// Takes one waiting connection, if there is one.
///
/// # Errors
/// [`SocketError::Io`], for example when there are no descriptors left.
pub fn accept(listener: impl AsFd) -> Result<Option<OwnedFd>, SocketError> {
    use rustix::io::Errno;
    match rustix::net::accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
        Ok(socket) => Ok(Some(socket)),
        Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
        Err(errno) => Err(SocketError::io("accepting a connection")(errno)),
    }
}

/// How many connections wait to be taken. The kernel has one queue for all users, so a user who connects
/// all the time makes the others wait for all of it: taking 128 costs a few milliseconds, taking 4096 a
/// hundred. Who finds it full sleeps until there is a place. The units of systemd name the same number.
const QUEUE_LENGTH: i32 = 128;

/// How long a connection may wait for its place in the queue of those that nobody has taken yet.
/// It is full only where nobody takes any.
const QUEUE: Duration = Duration::from_secs(5);

/// Connects, after a look at whose socket it is: only one of this user or of root is trusted. Waits
/// only if many wait there already, and not for ever.
///
/// # Errors
/// [`SocketError`].
pub fn connect(path: &Path) -> Result<OwnedFd, SocketError> {
    connect_within(path, QUEUE)
}

fn connect_within(path: &Path, queue: Duration) -> Result<OwnedFd, SocketError> {
    let address = address(path)?;
    let what = || format!("connecting to '{}'", path.display());
    let me = rustix::process::geteuid().as_raw();
    let found = std::fs::symlink_metadata(path)
        .map_err(|source| SocketError::Io { what: what(), source })?;
    if !found.file_type().is_socket() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a socket");
        return Err(SocketError::Io { what: what(), source });
    }
    // Most are one's own or root's: only another user's is looked at more closely.
    let host = (!is_own(found.uid(), me) && is_invitation(path, &found)).then_some(found.uid());
    trusted(path, found.uid(), me, host)?;
    let socket = new_socket()?;
    let limit = |time| {
        set_socket_timeout(&socket, Timeout::Send, time)
            .map_err(SocketError::io("setting a timeout on the socket"))
    };
    limit(Some(queue))?;
    rustix::io::retry_on_intr(|| rustix::net::connect(&socket, &address))
        .map_err(SocketError::io(what()))?;
    limit(None)?;
    // The file's owner is who made it; the listener's credentials are who answers.
    let peer =
        fd::peer_credentials(&socket).map_err(|source| SocketError::Io { what: what(), source })?;
    trusted(path, peer.user, me, host)?;
    Ok(socket)
}

/// Whether another user's socket is meant for this one: it is open to a group that the caller is in
/// and to nobody else, in a folder where only its owner or root can put something.
fn is_invitation(path: &Path, found: &std::fs::Metadata) -> bool {
    let groups = rustix::process::getgroups().unwrap_or_default();
    let is_mine = |group: u32| {
        rustix::process::getegid().as_raw() == group
            || groups.iter().any(|mine| mine.as_raw() == group)
    };
    let folder = path.parent().and_then(|folder| std::fs::symlink_metadata(folder).ok());
    found.uid() != fd::OVERFLOW_USER
        && found.mode() & 0o067 == 0o060
        && is_mine(found.gid())
        && folder.is_some_and(|folder| {
            folder.is_dir()
                && folder.mode() & 0o022 == 0
                && (folder.uid() == found.uid() || folder.uid() == 0)
        })
}

/// Whether a client of this user connects to a socket of that owner in this place.
#[must_use]
pub fn is_trusted(path: &Path) -> bool {
    let me = rustix::process::geteuid().as_raw();
    std::fs::symlink_metadata(path)
        .is_ok_and(|found| is_own(found.uid(), me) || is_invitation(path, &found))
}

/// Whether an owner is this user or root. The overflow user is neither, although a process without a
/// number of its own is shown the same one.
fn is_own(owner: u32, me: u32) -> bool {
    owner != fd::OVERFLOW_USER && [me, 0].contains(&owner)
}

fn trusted(path: &Path, owner: u32, me: u32, host: Option<u32>) -> Result<(), SocketError> {
    if is_own(owner, me) || Some(owner) == host {
        return Ok(());
    }
    let expected = if me == 0 { "root (0)".to_owned() } else { format!("you ({me}) or root (0)") };
    Err(SocketError::Untrusted { path: path.to_owned(), owner, expected })
}

/// Two connected ends.
///
/// # Errors
/// [`SocketError::Io`].
pub fn pair() -> Result<(OwnedFd, OwnedFd), SocketError> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(SocketError::io("making a socket pair"))
}

/// Sends one message with its descriptors, all or nothing.
///
/// # Errors
/// [`SocketError`]; [`SocketError::is_later`] tells when to try again.
pub fn send(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
    blocking: bool,
) -> Result<(), SocketError> {
    if bytes.len() > caps::MESSAGE_BYTES || fds.len() > caps::MESSAGE_FDS {
        return Err(SocketError::Lying("the message to be sent is too large"));
    }
    let mut flags = SendFlags::NOSIGNAL;
    if !blocking {
        flags |= SendFlags::DONTWAIT;
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(caps::MESSAGE_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(SocketError::Lying("too many descriptors to be sent"));
    }
    loop {
        match rustix::net::sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
                return Err(SocketError::HungUp);
            }
            Err(errno) => return Err(SocketError::io("sending a message")(errno)),
        }
    }
}

/// Receives one message into `buffer`. `None` means that nothing is there yet (only when not
/// blocking).
///
/// # Errors
/// [`SocketError::HungUp`] at the end; [`SocketError::Lying`] for a message that is too large or
/// has too many descriptors, [`SocketError::OutOfDescriptors`] for more than this process can open;
/// they are all closed.
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    blocking: bool,
) -> Result<Option<Received>, SocketError> {
    use rustix::io::Errno;
    let mut flags = RecvFlags::CMSG_CLOEXEC;
    if !blocking {
        flags |= RecvFlags::DONTWAIT;
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(caps::MESSAGE_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let result =
            rustix::net::recvmsg(&socket, &mut [IoSliceMut::new(buffer)], &mut control, flags);
        match result {
            Ok(message) => break message,
            // A peer that died with unread data resets first; its messages follow.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(SocketError::io("receiving a message")(errno)),
        }
    };
    let mut fds = Vec::new();
    for ancillary in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = ancillary {
            fds.extend(received);
        }
    }
    if message.flags.intersects(ReturnFlags::TRUNC) {
        return Err(SocketError::Lying("a message was larger than 64 KiB"));
    }
    let cut = message.flags.intersects(ReturnFlags::CTRUNC);
    if fds.len() > caps::MESSAGE_FDS || (cut && fds.len() == caps::MESSAGE_FDS) {
        return Err(SocketError::Lying("a message came with more than 128 descriptors"));
    }
    if cut {
        // There is room for all that a message may have: some are missing because no number was
        // free.
        return Err(SocketError::OutOfDescriptors);
    }
    if message.bytes == 0 {
        return Err(SocketError::HungUp);
    }
    Ok(Some(Received { bytes: message.bytes, fds }))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn bytes_and_descriptors_arrive_together() {
        let (a, b) = pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        send(&a, b"one", &[null.as_fd(), null.as_fd()], true).unwrap();
        let mut buffer = vec![0; caps::MESSAGE_BYTES];
        let received = receive(&b, &mut buffer, true).unwrap().unwrap();
        assert_eq!(&buffer[..received.bytes], b"one");
        assert_eq!(received.fds.len(), 2);
        assert!(receive(&b, &mut buffer, false).unwrap().is_none());
        drop(a);
        assert!(matches!(receive(&b, &mut buffer, true), Err(SocketError::HungUp)));
    }

    /// Where a daemon cannot start, its keeper still listens, and those who gave up stay in the
    /// queue: who comes later must be told, and not wait for ever.
    #[test]
    fn a_full_queue_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sock");
        let listener = new_socket().unwrap();
        rustix::net::bind(&listener, &address(&path).unwrap()).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let waiting = Duration::from_millis(20);
        let mut taken = Vec::new();
        let refused = loop {
            match connect_within(&path, waiting) {
                Ok(socket) => taken.push(socket),
                Err(error) => break error,
            }
            assert!(taken.len() < 10);
        };
        assert!(refused.is_later(), "{refused}");
    }

    /// Connections that are never accepted, until the queue is full.
    fn crowd(path: &Path) -> Vec<OwnedFd> {
        let address = address(path).unwrap();
        let one = || {
            let socket = new_socket().unwrap();
            set_nonblocking(&socket).unwrap();
            rustix::net::connect(&socket, &address).is_ok().then_some(socket)
        };
        std::iter::from_fn(one).take(10_000).collect()
    }

    #[test]
    fn whoever_connects_waits_for_a_bounded_number_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sock");
        let listener = listen(&path).unwrap();
        let others = crowd(&path).len();
        // The kernel takes one more than it was told.
        assert_eq!(i32::try_from(others), Ok(QUEUE_LENGTH + 1));
        std::thread::scope(|scope| {
            let mine = scope.spawn(|| connect_within(&path, Duration::from_secs(600)));
            let mut taken = 0;
            // The accepted connections came first; the waiting one follows.
            while !mine.is_finished() || taken <= others {
                taken += usize::from(accept(&listener).unwrap().is_some());
                assert!(taken <= others + 1);
            }
            assert!(mine.join().unwrap().is_ok());
        });
    }

    #[test]
    fn systemd_makes_sockets_with_the_same_queue() {
        let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/systemd");
        for folder in [units.join("user"), units] {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let sockets = files.filter(|path| path.extension().is_some_and(|it| it == "socket"));
            let texts = sockets.map(|path| std::fs::read_to_string(path).unwrap());
            let queue = format!("\nBacklog={QUEUE_LENGTH}\n");
            let named: Vec<bool> = texts.map(|text| text.contains(&queue)).collect();
            assert_eq!(named, [true; 3]);
        }
    }

    #[test]
    fn more_descriptors_than_allowed_are_the_senders_fault() {
        let (a, b) = pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        let many = [null.as_fd(); caps::MESSAGE_FDS + 1];
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(caps::MESSAGE_FDS + 1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        let bytes = [IoSlice::new(b"x")];
        rustix::net::sendmsg(&a, &bytes, &mut control, SendFlags::empty()).unwrap();
        let result = receive(&b, &mut [0; 8], true);
        assert!(matches!(result, Err(SocketError::Lying(_))), "{result:?}");
    }

    #[test]
    fn too_large_is_refused_on_both_sides() {
        let (a, b) = pair().unwrap();
        let large = vec![1; caps::MESSAGE_BYTES + 1];
        assert!(matches!(send(&a, &large, &[], true), Err(SocketError::Lying(_))));
        rustix::net::send(&a, &large, SendFlags::empty()).unwrap();
        let mut buffer = vec![0; caps::MESSAGE_BYTES];
        assert!(matches!(receive(&b, &mut buffer, true), Err(SocketError::Lying(_))));
    }

    #[test]
    fn a_full_queue_means_later() {
        let (a, _b) = pair().unwrap();
        let message = vec![1; 32 * 1024];
        let error = loop {
            if let Err(error) = send(&a, &message, &[], false) {
                break error;
            }
        };
        assert!(error.is_later(), "{error}");
    }

    #[test]
    fn long_paths_and_other_files_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(120));
        assert!(matches!(listen(&long), Err(SocketError::PathTooLong { .. })));
        assert!(matches!(connect(&long), Err(SocketError::PathTooLong { .. })));
        let file = dir.path().join("sock");
        std::fs::write(&file, b"").unwrap();
        assert!(connect(&file).unwrap_err().to_string().contains("not a socket"));
    }

    #[test]
    fn a_socket_of_another_user_is_refused() {
        assert!(trusted(Path::new("/x"), 1000, 1000, None).is_ok());
        assert!(trusted(Path::new("/x"), 0, 1000, None).is_ok());
        assert!(trusted(Path::new("/x"), 1001, 1000, None).is_err());
        assert!(trusted(Path::new("/x"), 1001, 1000, Some(1001)).is_ok());
        assert!(trusted(Path::new("/x"), 1002, 1000, Some(1001)).is_err());
        let error = trusted(Path::new("/x"), 1000, 0, None).unwrap_err().to_string();
        assert_eq!(error, "'/x' belongs to user 1000, not to root (0)");
    }

    #[test]
    fn a_socket_is_stale_when_nobody_listens_and_nobody_elses_from_the_first_moment() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sock");
        let listener = listen(&path).unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        assert!(!is_stale(&path));
        drop(listener);
        assert!(is_stale(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_stale(&path), "it is not there");
    }

    #[test]
    fn a_stale_socket_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sock");
        drop(listen(&path).unwrap());
        let listener = listen(&path).unwrap();
        let client = connect(&path).unwrap();
        let server = accept(&listener).unwrap().unwrap();
        send(&client, b"x", &[], true).unwrap();
        assert_eq!(receive(&server, &mut [0; 8], true).unwrap().unwrap().bytes, 1);
    }
}
