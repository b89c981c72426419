//! A client that says whatever it likes: for messages that no honest client sends.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use millpond_wire::message::{Hello, Reply, ReplyBody, Request, RequestBody, VERSION};
use millpond_wire::socket::{self, SocketError};
use millpond_wire::{ClientId, caps, runtime_dir};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::SendFlags;

use crate::PATIENCE;

#[derive(Debug)]
pub struct Raw {
    socket: OwnedFd,
}

impl Raw {
    /// Connects to the pond in a folder, and says nothing.
    ///
    /// # Panics
    /// If nobody is there.
    #[must_use]
    pub fn connect(folder: &Path) -> Self {
        Self { socket: socket::connect(&runtime_dir::socket(folder)).unwrap() }
    }

    /// The same at the operator's socket.
    ///
    /// # Panics
    /// If nobody is there.
    #[must_use]
    pub fn connect_admin(folder: &Path) -> Self {
        Self { socket: socket::connect(&folder.join(runtime_dir::ADMIN_SOCKET)).unwrap() }
    }

    /// The same at the socket of those who only watch.
    ///
    /// # Panics
    /// If nobody is there.
    #[must_use]
    pub fn connect_watch(folder: &Path) -> Self {
        Self { socket: socket::connect(&runtime_dir::watch_socket(folder)).unwrap() }
    }

    /// Bytes that were sent and that the daemon has not read.
    ///
    /// # Panics
    /// If the system cannot say.
    #[must_use]
    pub fn unread(&self) -> usize {
        millpond_wire::fd::unread_by_peer(&self.socket).unwrap()
    }

    /// Sends bytes of any length, and returns whether they went out.
    #[must_use]
    pub fn send_bytes(&self, bytes: &[u8]) -> bool {
        rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL).is_ok()
    }

    /// The same without waiting: false also when the other side's queue is full.
    #[must_use]
    pub fn try_send_bytes(&self, bytes: &[u8]) -> bool {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        rustix::net::send(&self.socket, bytes, flags).is_ok()
    }

    /// Sends bytes and descriptors.
    ///
    /// # Panics
    /// If they do not go out.
    pub fn send_fds(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        socket::send(&self.socket, bytes, fds, true).unwrap();
    }

    /// Sends a request.
    ///
    /// # Panics
    /// If it does not go out.
    pub fn send(&self, number: u64, body: RequestBody) {
        assert!(self.send_bytes(&encoded(number, body)));
    }

    /// What comes next; `None` at the end of the connection.
    ///
    /// # Panics
    /// If nothing comes at all.
    #[must_use]
    pub fn receive(&self) -> Option<(Reply, Vec<OwnedFd>)> {
        let timeout = Timespec::try_from(PATIENCE).unwrap();
        let mut polled = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        assert_eq!(poll(&mut polled, Some(&timeout)), Ok(1), "nothing came");
        let mut buffer = vec![0; caps::MESSAGE_BYTES];
        match socket::receive(&self.socket, &mut buffer, true) {
            Ok(received) => {
                let received = received.unwrap();
                Some((Reply::decode(&buffer[..received.bytes]).unwrap(), received.fds))
            }
            Err(SocketError::HungUp) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Says hello.
    ///
    /// # Panics
    /// If it is not answered.
    #[must_use]
    pub fn hello(&self, version: u16) -> ReplyBody {
        self.send(1, hello(version, ClientId::random()));
        self.receive().expect("an answer to the hello").0.body
    }

    /// Says hello as it should be said.
    ///
    /// # Panics
    /// If it is not welcome.
    pub fn be_welcome(&self) {
        let answer = self.hello(VERSION);
        assert!(matches!(answer, ReplyBody::Welcome(_)), "{answer:?}");
    }

    /// Whether the daemon has ended the connection; answers before that are passed over.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        while self.receive().is_some() {}
        true
    }
}

#[must_use]
pub fn hello(version: u16, client: ClientId) -> RequestBody {
    let program = "raw".to_owned();
    let (claims, proof) = (false, None);
    RequestBody::Hello(Hello { version, capabilities: 0, client, program, claims, proof })
}

#[must_use]
pub fn encoded(number: u64, body: RequestBody) -> Vec<u8> {
    let mut builder = planus::Builder::new();
    Request { number, body }.encode(&mut builder).to_vec()
}
