//! What the event loop waits for.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use millpond_wire::record::HolderProcess;
use millpond_wire::{ClientId, GpuUuid, HostId};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};

use super::numbers::ByNumber;
use crate::policy::ConnId;

/// What a readable descriptor means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The keeper said something, or hung up.
    Channel,
    KeeperGone,
    Signal,
    /// The driver thread said something.
    Driver,
    /// The thread that keeps the groups said something.
    Book,
    LongReply,
    /// A mover said something, or hung up.
    Mover(GpuUuid),
    /// A host said something, or hung up.
    Host(HostId),
    /// The mover that is for no GPU yet is gone.
    SpareMover,
    Listener(usize),
    /// A client said something, or can be told something.
    Conn(ConnId),
    /// A client's process is gone.
    ClientGone(ClientId),
    /// A process that tensors are held for is gone.
    HolderGone(HolderProcess),
}

/// Descriptors and what they mean.
#[derive(Debug)]
pub struct Watcher {
    epoll: OwnedFd,
    sources: ByNumber<u64, Source>,
    next_token: u64,
}

impl Watcher {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, sources: ByNumber::default(), next_token: 1 })
    }

    /// What a token stands for.
    #[must_use]
    pub fn source(&self, token: u64) -> Option<Source> {
        self.sources.get(&token).copied()
    }

    /// Watches a descriptor for reading.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, fd: impl AsFd, source: Source) -> io::Result<u64> {
        let token = self.next_token;
        self.next_token += 1;
        epoll::add(&self.epoll, fd, EventData::new_u64(token), EventFlags::IN)?;
        self.sources.insert(token, source);
        Ok(token)
    }

    /// What is watched means something else from now on.
    pub fn rename(&mut self, token: u64, source: Source) {
        self.sources.insert(token, source);
    }

    /// Watches for (readable, writable) from now on.
    pub fn change(&self, fd: impl AsFd, token: u64, wants: (bool, bool)) {
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, wants.0);
        flags.set(EventFlags::OUT, wants.1);
        let _ = epoll::modify(&self.epoll, fd, EventData::new_u64(token), flags);
    }

    /// Watches no longer. The description may be open elsewhere, so closing is not enough.
    pub fn remove(&mut self, fd: impl AsFd, token: u64) {
        self.sources.remove(&token);
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Waits, and puts the tokens of what happened into `tokens`.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, events: &mut Vec<Event>, timeout: Option<&Timespec>) -> io::Result<()> {
        events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}
