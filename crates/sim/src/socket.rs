//! Simulated sockets: a queue for each direction, and ends that close.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::card::Fd;

/// One connection between a client and a daemon.
#[derive(Debug)]
pub struct Socket {
    /// Who connected: what the kernel says.
    pub pid: u32,
    /// Requests, with what comes along.
    pub to_daemon: VecDeque<(Vec<u8>, Option<Fd>)>,
    /// Replies, with what came along.
    pub to_client: VecDeque<(Vec<u8>, Vec<Fd>)>,
    /// The client has its end.
    pub client_open: bool,
    /// The daemon has its end, or will have: the connection waits in the listener.
    pub daemon_open: bool,
}

/// Both ends see the same.
pub type SharedSocket = Rc<RefCell<Socket>>;

impl Socket {
    /// A connection that was just made.
    #[must_use]
    pub fn connected(pid: u32) -> SharedSocket {
        Rc::new(RefCell::new(Self {
            pid,
            to_daemon: VecDeque::new(),
            to_client: VecDeque::new(),
            client_open: true,
            daemon_open: true,
        }))
    }

    /// The client closes: what it did not read is lost, what it sent can be read.
    pub fn close_client(&mut self) {
        self.client_open = false;
        self.to_client.clear();
    }

    /// The daemon closes or dies.
    pub fn close_daemon(&mut self) {
        self.daemon_open = false;
        self.to_daemon.clear();
    }
}

/// The socket pair between a daemon and a keeper; only what the daemon sends matters.
#[derive(Debug)]
pub struct Channel {
    /// Encoded messages, with their descriptors.
    pub to_keeper: VecDeque<(Vec<u8>, Vec<Fd>)>,
    pub keeper_open: bool,
}

/// Both ends see the same.
pub type SharedChannel = Rc<RefCell<Channel>>;

impl Channel {
    #[must_use]
    pub fn pair() -> SharedChannel {
        Rc::new(RefCell::new(Self { to_keeper: VecDeque::new(), keeper_open: true }))
    }
}
