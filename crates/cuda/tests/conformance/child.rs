//! Other processes: this executable, run again with a role.
//!
//! A child's standard input is one end of a socket pair. Messages are text with file descriptors;
//! a child that panics hangs up, which the parent's next `expect` reports.

use crate::support::{Gpu, driver, process_ended};
use millpond_cuda::{Allocation, Driver};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

const ROLE_VARIABLE: &str = "MILLPOND_CONFORMANCE_ROLE";

/// A child that says nothing for so long hangs.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(60);

/// What a child does with its end of the socket.
type Role = fn(&Peer);

/// Every role, by name.
const ROLES: &[(&str, Role)] = &[
    ("before_init", crate::devices::before_init),
    ("primary_state", crate::contexts::primary_state),
    ("reset_primary", crate::own_contexts::reset_primary),
    ("ipc_export", crate::ipc::ipc_export),
    ("ipc_open", crate::ipc::ipc_open),
    ("ipc_reuse", crate::ipc::ipc_reuse),
    ("order_events", crate::shared_events::order_events),
    ("make_event", crate::shared_events::make_event),
    ("look_at_foreign", crate::addresses::look_at_foreign),
    ("make_shared_pool", crate::shared_pools::make_shared_pool),
    ("create_without_context", crate::processes::create_without_context),
    ("create_and_fill", crate::processes::create_and_fill),
    ("import_and_export", crate::processes::import_and_export),
    ("hold_without_cuda", crate::processes::hold_without_cuda),
    ("hold_mapped", crate::processes::hold_mapped),
    ("hold_pools", crate::pools::hold_pools),
    ("import_pool", crate::shared_pools::import_pool),
    ("write_read_only", crate::faults::write_read_only),
    ("read_unmapped", crate::faults::read_unmapped),
    ("unmap_under_kernel", crate::faults::unmap_under_kernel),
    ("unmap_after_copy", crate::faults::unmap_after_copy),
    ("copy_unmapped", crate::faults::copy_unmapped),
    ("copy_without_access", crate::faults::copy_without_access),
    ("release_twice", crate::faults::release_twice),
    ("map_across_the_end", crate::faults::map_across_the_end),
    ("free_while_mapped", crate::faults::free_while_mapped),
];

/// Does nothing in an ordinary run; in a child it is the whole program.
#[test]
fn child_entry() {
    let Some(name) = std::env::var_os(ROLE_VARIABLE) else { return };
    let (_, role) = ROLES.iter().find(|(known, _)| name == *known).unwrap();
    let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    role(&Peer { socket });
}

pub fn is_child() -> bool {
    std::env::var_os(ROLE_VARIABLE).is_some()
}

/// The other end of a socket pair.
pub struct Peer {
    socket: OwnedFd,
}

impl Peer {
    /// Two ends of one socket pair.
    pub fn pair() -> (Self, Self) {
        let flags = SocketFlags::CLOEXEC;
        let (one, two) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        (Self { socket: one }, Self { socket: two })
    }

    pub fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.socket)
    }

    pub fn send(&self, text: &str) {
        self.send_with(text, &[]);
    }

    pub fn send_with(&self, text: &str, fds: &[BorrowedFd<'_>]) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(fds.is_empty() || control.push(SendAncillaryMessage::ScmRights(fds)));
        let parts = [IoSlice::new(text.as_bytes())];
        sendmsg(&self.socket, &parts, &mut control, SendFlags::NOSIGNAL).unwrap();
    }

    /// The next message; panics when the other side has hung up.
    #[track_caller]
    pub fn receive(&self) -> (String, Vec<OwnedFd>) {
        let mut bytes = [0; 1024];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let message =
            recvmsg(&self.socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
        assert!(message.bytes > 0, "the other process hung up");
        let fds = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
            _ => Vec::new(),
        });
        let fds = fds.collect();
        (String::from_utf8(bytes[..message.bytes].to_vec()).unwrap(), fds)
    }

    /// The next message, which must be this text.
    #[track_caller]
    pub fn expect(&self, text: &str) -> Vec<OwnedFd> {
        let (received, fds) = self.receive();
        assert_eq!(received, text);
        fds
    }

    /// The next message, which must be this text and carry one fd.
    #[track_caller]
    pub fn expect_fd(&self, text: &str) -> OwnedFd {
        let mut fds = self.expect(text);
        assert_eq!(fds.len(), 1);
        fds.remove(0)
    }

    /// Waits until the other side hangs up, for a child that is to be killed.
    pub fn wait_for_the_end(&self) {
        let mut byte = [0];
        let mut control = RecvAncillaryBuffer::new(&mut []);
        let parts = &mut [IoSliceMut::new(&mut byte)];
        drop(recvmsg(&self.socket, parts, &mut control, RecvFlags::empty()));
    }
}

/// A running child; killed when dropped.
pub struct Child {
    pub peer: Peer,
    process: std::process::Child,
    reader: Option<JoinHandle<Vec<String>>>,
}

impl Child {
    pub fn spawn(role: &str) -> Self {
        assert!(ROLES.iter().any(|(name, _)| *name == role), "no role {role}");
        // The software driver's folder is chosen with the driver, and inherited.
        let _: Driver = driver();
        let (ours, theirs) = Peer::pair();
        let timeout = rustix::net::sockopt::Timeout::Recv;
        rustix::net::sockopt::set_socket_timeout(&ours.socket, timeout, Some(RECEIVE_TIMEOUT))
            .unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::child_entry", "--nocapture", "--test-threads=1"])
            .env(ROLE_VARIABLE, role)
            .env_remove(crate::alone::VARIABLE)
            .stdin(Stdio::from(theirs.socket))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let reader = process.stdout.take().map(crate::alone::repeat);
        Self { peer: ours, process, reader }
    }

    /// The process is gone: all that it observed is said before the test goes on.
    fn ended(&mut self) {
        process_ended();
        drop(self.reader.take().map(JoinHandle::join));
    }

    /// Ends the child with SIGKILL and waits until it is gone.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.ended();
    }

    /// Waits for a child that ends by itself, without a panic.
    #[track_caller]
    pub fn finish(mut self) {
        let status = self.process.wait().unwrap();
        self.ended();
        assert!(status.success(), "the child ended with {status}");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        self.ended();
    }
}

/// Imports memory that a peer sent.
#[track_caller]
pub fn import(gpu: &Gpu, fd: &OwnedFd, bytes: u64) -> Allocation {
    Allocation::import(&gpu.driver, fd.as_fd(), bytes).unwrap()
}
