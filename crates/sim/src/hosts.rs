//! Simulated hosts: processes that keep memory with legacy handles. They outlive the daemon that
//! started them, and end when nobody has the daemon's end of their channel any more.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::{Rc, Weak};

use millpond_host::channel::{FromHost, Holding, NO_EVENT, ToHost, Why};
use millpond_wire::record::Record;
use millpond_wire::{HostId, SlabId, TransportKind};

use crate::card::{Fd, Memory};
use crate::daemon::Daemon;
use crate::legacy::Handle;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::world::World;

/// Hosts have pids from here on.
const FIRST_HOST: u32 = 7000;

/// The socket pair of a host. What is in it stays there while the daemon is replaced.
#[derive(Debug)]
pub struct HostWire {
    pub to_host: VecDeque<Vec<u8>>,
    pub to_daemon: VecDeque<Vec<u8>>,
    /// The host has its end.
    pub host_open: bool,
}

/// The daemon's end, in whatever process: the channel has ended when there is none.
#[derive(Clone, Debug)]
pub struct HostEnd {
    pub wire: Rc<RefCell<HostWire>>,
    held: Rc<()>,
}

impl HostEnd {
    /// A channel that was just made.
    #[must_use]
    pub fn pair() -> Self {
        let wire =
            HostWire { to_host: VecDeque::new(), to_daemon: VecDeque::new(), host_open: true };
        Self { wire: Rc::new(RefCell::new(wire)), held: Rc::default() }
    }
}

#[derive(Debug)]
pub struct Host {
    pub id: HostId,
    pub pid: u32,
    pub alive: bool,
    wire: Rc<RefCell<HostWire>>,
    held: Weak<()>,
    is_started: bool,
    /// What the driver takes for the process itself.
    pub context: Option<Rc<Memory>>,
    pub slabs: BTreeMap<SlabId, (Handle, Rc<Memory>)>,
    is_sealed: bool,
    /// It was killed and dies any time now.
    pub doomed: bool,
    /// It does nothing more.
    hangs: bool,
}

impl Host {
    /// Whether it has something to read.
    #[must_use]
    pub fn may_take(&self) -> bool {
        !self.hangs && !self.wire.borrow().to_host.is_empty()
    }

    /// Whether nobody has the other end of its channel.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.held.strong_count() == 0
    }

    fn say(&self, said: &FromHost) {
        self.wire.borrow_mut().to_daemon.push_back(said.encode());
    }

    /// What NVML says about its context.
    fn context_bytes(&self) -> u64 {
        self.context.as_ref().map_or(0, |context| context.bytes)
    }

    fn report(&self, epoch: millpond_wire::Epoch) {
        let holding = |(slab, (handle, memory)): (&SlabId, &(Handle, Rc<Memory>))| Holding {
            slab: *slab,
            bytes: memory.bytes,
            memory: *handle,
            event: event_of(handle),
        };
        // In parts, so that a daemon dies between them.
        for held in self.slabs.iter().map(holding) {
            self.say(&FromHost::Holds { epoch, held: vec![held] });
        }
        let (sealed, context_bytes) = (self.is_sealed, self.context_bytes());
        self.say(&FromHost::HoldsEnd { epoch, sealed, context_bytes });
    }
}

/// The event that belongs to memory; one in two has one.
#[must_use]
pub fn event_of(handle: &Handle) -> Handle {
    if handle[4].is_multiple_of(2) { NO_EVENT } else { handle.map(|byte| byte ^ 0x55) }
}

impl World {
    /// Starts the hosts that the policy wants.
    pub(crate) fn host_news(&mut self) {
        loop {
            let Daemon::Running(running) = &mut self.daemon else { return };
            let Some(id) = running.ports.wanted_hosts.pop() else { return };
            if self.busy && self.rng.once_in(20) {
                self.tell(|pond, ports| pond.host_not_started(ports, id, "a fault"));
                continue;
            }
            let pid = FIRST_HOST + u32::try_from(self.hosts.len()).unwrap_or(0);
            let end = HostEnd::pair();
            running.ports.hosts.insert(id, end.clone());
            self.hosts.push(Host {
                id,
                pid,
                alive: true,
                wire: Rc::clone(&end.wire),
                held: Rc::downgrade(&end.held),
                is_started: false,
                context: None,
                slabs: BTreeMap::new(),
                is_sealed: false,
                doomed: false,
                hangs: self.busy && self.rng.once_in(25),
            });
            self.trace.say(|| format!("  host {pid} starts as {id}"));
            let channel = Fd::Host(end);
            self.tell(|pond, ports| {
                pond.host_started(ports, id, pid, Fd::Process(pid), &channel);
            });
        }
    }

    /// A host reads its next message.
    pub(crate) fn host_takes(&mut self, index: usize) -> Result<(), Violation> {
        let Some(bytes) = self.hosts[index].wire.borrow_mut().to_host.pop_front() else {
            return Ok(());
        };
        let message = ToHost::decode(&bytes)
            .map_err(|error| Violation::new("a host can read", error.to_string()))?;
        self.trace.say(|| format!("  {message:?}"));
        match message {
            ToHost::Start { .. } => self.start_host(index),
            ToHost::Hello { epoch } => {
                let host = &self.hosts[index];
                if host.is_started {
                    host.report(epoch);
                } else {
                    // The daemon that was to start it has died before.
                    host.say(&FromHost::Failed { text: "`Start` is missing".to_owned() });
                    self.end_host(index);
                }
            }
            ToHost::Allocate { slab, bytes, .. } => self.host_allocates(index, slab, bytes)?,
            ToHost::Free { slab } => self.host_frees(index, slab)?,
            ToHost::Stop => {
                self.check_unneeded(index)?;
                self.end_host(index);
            }
        }
        Ok(())
    }

    fn start_host(&mut self, index: usize) {
        let bytes = self.context_bytes;
        let context = (bytes > 0).then(|| self.card.make(TransportKind::Ipc, bytes));
        let fails = matches!(context, Some(None)) || self.busy && self.rng.once_in(25);
        let host = &mut self.hosts[index];
        if fails {
            host.say(&FromHost::Failed { text: "a fault".to_owned() });
            self.end_host(index);
            return;
        }
        host.context = context.flatten();
        host.is_started = true;
        host.say(&FromHost::Ready { context_bytes: host.context_bytes() });
    }

    fn host_allocates(&mut self, index: usize, slab: SlabId, bytes: u64) -> Result<(), Violation> {
        let is_full = |text: &str| (Why::OutOfMemory, text.to_owned());
        let fails = self.busy && self.rng.once_in(20);
        // Made, and freed again because something else failed.
        let freed = fails && self.rng.once_in(2);
        let host = &mut self.hosts[index];
        let mut made_before = host.slabs.values().filter(|(_, memory)| memory.bytes == bytes);
        let known = host.slabs.get(&slab).or_else(|| match self.mutation {
            Some(Mutation::HostMakesNothing) => made_before.next(),
            _ => None,
        });
        let made = match known.cloned() {
            Some((handle, memory)) => {
                host.slabs.insert(slab, (handle, memory));
                Ok(handle)
            }
            None if host.is_sealed => Err((Why::Sealed, "it has freed something".to_owned())),
            None if fails => {
                host.is_sealed |= freed && self.mutation != Some(Mutation::HostNotSealed);
                Err((Why::Driver, "a fault".to_owned()))
            }
            None => match self.card.make(TransportKind::Ipc, bytes) {
                None => Err(is_full("full")),
                Some(memory) => {
                    let handle = self.legacy.borrow_mut().share(host.pid, &memory)?;
                    host.slabs.insert(slab, (handle, memory));
                    Ok(handle)
                }
            },
        };
        host.say(&match made {
            Ok(memory) => FromHost::Allocated { slab, memory, event: event_of(&memory) },
            Err((why, text)) => FromHost::NotAllocated { slab, why, text },
        });
        Ok(())
    }

    /// What the driver promises nothing about is a free under somebody's mapping.
    fn host_frees(&mut self, index: usize, slab: SlabId) -> Result<(), Violation> {
        let freed = self.hosts[index].slabs.remove(&slab);
        if let Some((handle, memory)) = freed {
            let user = self.user_of_memory(memory.serial);
            ensure(user.is_none(), "a host frees nothing that is mapped", || {
                format!("slab {slab}, which pid {user:?} has")
            })?;
            self.check_unneeded_slab(slab)?;
            self.legacy.borrow_mut().free(&handle);
            self.hosts[index].is_sealed = self.mutation != Some(Mutation::HostNotSealed);
        }
        self.hosts[index].say(&FromHost::Freed { slab });
        Ok(())
    }

    /// Whoever has some memory mapped and lives.
    fn user_of_memory(&self, serial: usize) -> Option<u32> {
        let clients = self.clients.iter().filter(|client| client.alive);
        let client = clients.map(|client| (client.pid, &client.mappings)).find(|(_, mappings)| {
            let mut ranges = mappings.values().flat_map(|mapping| &mapping.ranges);
            ranges.any(|(_, memory)| memory.serial == serial)
        });
        let mut movers = self.movers.iter().filter(|mover| mover.alive);
        let mover = movers.find(|it| it.mapped.values().any(|memory| memory.serial == serial));
        client.map(|(pid, _)| pid).or(mover.map(|mover| mover.pid))
    }

    /// The pond has nothing that somebody was promised where it ends a host.
    fn check_unneeded(&self, index: usize) -> Result<(), Violation> {
        let slabs = self.hosts[index].slabs.keys();
        slabs.into_iter().try_for_each(|slab| self.check_unneeded_slab(*slab))
    }

    fn check_unneeded_slab(&self, slab: SlabId) -> Result<(), Violation> {
        let mut all = self.oracle.tensors.iter();
        let needed = all.find(|known| {
            known.place.is_some_and(|place| place.slab == slab)
                && self.oracle.must_exist(known, false)
        });
        ensure(needed.is_none(), "nobody ends what is needed", || format!("{needed:?}"))
    }

    /// A host notices that nobody has its channel, or dies because the pond has killed it.
    pub(crate) fn host_ends(&mut self, index: usize) -> Result<(), Violation> {
        self.check_unneeded(index)?;
        self.end_host(index);
        Ok(())
    }

    /// The process ends; what others have opened is theirs.
    pub(crate) fn end_host(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        let pid = host.pid;
        self.trace.say(|| format!("  host {pid} ends"));
        host.alive = false;
        host.context = None;
        host.slabs.clear();
        let mut wire = host.wire.borrow_mut();
        wire.host_open = false;
        wire.to_host.clear();
        drop(wire);
        self.legacy.borrow_mut().end(pid);
        self.gone.borrow_mut().insert(pid);
    }

    /// The daemon hears what a host has said, or that it has hung up.
    pub(crate) fn host_says(&mut self, id: HostId) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(end) = running.ports.hosts.get(&id).cloned() else { return Ok(()) };
        let said = end.wire.borrow_mut().to_daemon.pop_front();
        let Some(bytes) = said else {
            running.ports.hosts.remove(&id);
            return self.event(|pond, ports| pond.host_hung_up(ports, id));
        };
        let mut said = FromHost::decode(&bytes)
            .map_err(|error| Violation::new("the daemon can read", error.to_string()))?;
        if let (Some(Mutation::UnknownMemoryKept), FromHost::Holds { held, .. }) =
            (self.mutation, &mut said)
        {
            let records = running.pond.snapshot();
            let is_known = |slab: SlabId| {
                let is_its = |it: &Record| matches!(it, Record::SlabMade(it) if it.slab == slab);
                records.iter().any(is_its)
            };
            held.retain(|holding| is_known(holding.slab));
        }
        self.trace.say(|| format!("  {said:?}"));
        self.event(|pond, ports| pond.host_said(ports, id, said))
    }
}
