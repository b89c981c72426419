//! Simulated movers: processes that outlive the daemon that started them, for a while.
//!
//! The file of a put is the tensor's own contents, so that what lands can be told from what other
//! tensors hold.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_mover::channel::{FromMover, ToMover, Why, Work};
use millpond_wire::{Backing, SlabId, Transport, TransportKind};

use crate::card::{Fd, Memory};
use crate::daemon::Daemon;
use crate::legacy::{SharedLegacy, pool_data};
use crate::mutation::Mutation;
use crate::oracle::{Place, Violation, ensure};
use crate::world::{GPU, Ghost, World};

/// Movers have pids from here on.
const FIRST_MOVER: u32 = 5000;

/// The socket pair between a daemon and its mover.
#[derive(Debug, Default)]
pub struct Wire {
    /// Encoded messages, with what came along.
    pub to_mover: VecDeque<(Vec<u8>, Option<Fd>)>,
    /// What the mover has said.
    pub to_daemon: VecDeque<(Vec<u8>, Option<Fd>)>,
    /// The daemon has its end.
    pub daemon_open: bool,
    /// The mover has its end.
    pub mover_open: bool,
}

/// Both ends see the same.
pub type SharedWire = Rc<RefCell<Wire>>;

/// Work that has not landed yet.
#[derive(Debug)]
pub struct Job {
    number: u64,
    pub tensor: usize,
    pub memory: Rc<Memory>,
    writes: bool,
    /// The mover has said that it failed, but it may still land.
    failed: bool,
}

#[derive(Debug)]
pub struct Mover {
    pub pid: u32,
    pub alive: bool,
    pub wire: SharedWire,
    pub mapped: BTreeMap<SlabId, Rc<Memory>>,
    /// Slabs that it could not map.
    unmapped: BTreeSet<SlabId>,
    /// Pools that it has made, and was not told to drop.
    pub pools: BTreeMap<SlabId, Rc<Memory>>,
    /// What it is doing.
    pub jobs: Vec<Job>,
    /// It was killed and dies any time now.
    pub doomed: bool,
    stops: bool,
}

impl Mover {
    /// Whether it has something to read, or the end of its channel to notice.
    #[must_use]
    pub fn may_take(&self) -> bool {
        let wire = self.wire.borrow();
        !wire.to_mover.is_empty() || !wire.daemon_open || self.stops
    }

    fn say(&self, said: &FromMover) {
        self.say_with(said, None);
    }

    fn say_with(&self, said: &FromMover, fd: Option<Fd>) {
        let mut wire = self.wire.borrow_mut();
        if wire.daemon_open {
            wire.to_daemon.push_back((said.encode(), fd));
        }
    }
}

impl World {
    /// Starts what the policy wants started, and ends whom it wants killed.
    pub(crate) fn mover_news(&mut self) -> Result<(), Violation> {
        loop {
            let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
            let killed = std::mem::take(&mut running.ports.killed);
            let wanted = running.ports.wanted_movers.pop();
            for pid in killed {
                let silent = self.caches.iter().position(|it| it.alive && it.pid == pid);
                let host = self.hosts.iter_mut().find(|host| host.pid == pid);
                match (silent, host) {
                    (Some(silent), _) => self.end_cache(silent),
                    (None, Some(host)) => host.doomed = true,
                    (None, None) => self.doom_mover(pid)?,
                }
            }
            if wanted.is_none() {
                return Ok(());
            }
            if self.busy && self.rng.once_in(12) {
                self.tell(|pond, ports| pond.mover_not_started(ports, GPU, "a fault"));
                continue;
            }
            // One that does nothing may still be on its way out.
            let works = |mover: &&Mover| mover.alive && !mover.jobs.is_empty();
            let before = self.movers.iter().find(works);
            ensure(before.is_none(), "one mover at a time", || format!("{before:?}"))?;
            let pid = FIRST_MOVER + u32::try_from(self.movers.len()).unwrap_or(0);
            let wire = Wire { daemon_open: true, mover_open: true, ..Wire::default() };
            let wire = Rc::new(RefCell::new(wire));
            let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
            running.ports.mover = Some(Rc::clone(&wire));
            let epoch = running.epoch;
            let start = ToMover::Start { epoch, device: GPU, threads: 0, block_bytes: 0, depth: 0 };
            wire.borrow_mut().to_mover.push_back((start.encode(), None));
            self.movers.push(Mover {
                pid,
                alive: true,
                wire,
                mapped: BTreeMap::new(),
                unmapped: BTreeSet::new(),
                pools: BTreeMap::new(),
                jobs: Vec::new(),
                doomed: false,
                stops: false,
            });
            self.trace.say(|| format!("  mover {pid} starts"));
            self.tell(|pond, ports| pond.mover_started(ports, GPU, pid, Fd::Process(pid)));
        }
    }

    fn doom_mover(&mut self, pid: u32) -> Result<(), Violation> {
        if let Some(mover) = self.movers.iter_mut().find(|mover| mover.pid == pid) {
            mover.doomed = true;
        }
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let gone = running.ports.watched.iter().find(|(_, watched)| **watched == pid);
        if let (Some(Mutation::MoverGoneWhenKilled), Some((client, _))) = (self.mutation, gone) {
            let client = *client;
            self.tell(|pond, ports| pond.process_gone(ports, client));
        }
        Ok(())
    }

    /// A mover reads its next message, or sees that its daemon is gone.
    pub(crate) fn mover_takes(&mut self, index: usize) -> Result<(), Violation> {
        let mover = &mut self.movers[index];
        let next = mover.wire.borrow_mut().to_mover.pop_front();
        let Some((bytes, fd)) = next else {
            // What was asked is finished first, unless its daemon is gone.
            if mover.jobs.is_empty() || !mover.stops {
                self.end_mover(index);
            }
            return Ok(());
        };
        let message = ToMover::decode(&bytes)
            .map_err(|error| Violation::new("a mover can read", error.to_string()))?;
        self.trace.say(|| format!("  {message:?}"));
        match (message, fd) {
            (ToMover::Start { .. }, _) => {
                let fails = self.busy && self.rng.once_in(20);
                let text = "a fault".to_owned();
                let ready = FromMover::Ready { context_bytes: 1 << 20 };
                mover.say(&if fails { FromMover::Failed { text } } else { ready });
                mover.stops |= fails;
            }
            (ToMover::Map { slab, bytes, backing }, fd) => {
                match opened(&self.legacy, &backing, bytes, fd.as_ref()) {
                    Ok(memory) => {
                        mover.mapped.insert(slab, memory);
                        mover.say(&FromMover::Mapped { slab });
                    }
                    Err(text) => {
                        mover.unmapped.insert(slab);
                        mover.say(&FromMover::MapFailed { slab, why: Why::Driver, text });
                    }
                }
            }
            (ToMover::Prove { slab, bytes, backing }, fd) => {
                if self.busy && self.rng.once_in(20) {
                    // It dies of it.
                    self.end_mover(index);
                    return Ok(());
                }
                let mut proved = opened(&self.legacy, &backing, bytes, fd.as_ref()).map(|_| ());
                if self.mutation == Some(Mutation::AdoptedWithoutProof) {
                    proved = Ok(());
                }
                mover.say(&match proved {
                    Ok(()) => FromMover::Proved { slab },
                    Err(text) => FromMover::NotProved { slab, why: Why::Driver, text },
                });
            }
            (ToMover::MakePool { slab, bytes }, None) => {
                let fails = self.busy && self.rng.once_in(20);
                match self.card.make(TransportKind::Mempool, bytes).filter(|_| !fails) {
                    Some(memory) => {
                        let data = pool_data(&memory);
                        mover.pools.insert(slab, Rc::clone(&memory));
                        mover.say_with(
                            &FromMover::PoolMade { slab, data },
                            Some(Fd::Memory(memory)),
                        );
                    }
                    None => {
                        let (out_of_memory, text) = (!fails, "no pool".to_owned());
                        mover.say(&FromMover::PoolFailed { slab, out_of_memory, text });
                    }
                }
            }
            (ToMover::DropPool { slab }, _) => drop(mover.pools.remove(&slab)),
            (ToMover::Unmap { slab }, _) => {
                mover.unmapped.remove(&slab);
                mover.mapped.remove(&slab);
                mover.say(&FromMover::Unmapped { slab });
            }
            (ToMover::Job(job), Some(Fd::Contents(tensor))) => {
                let (slab, offset, bytes, writes) = match &job.work {
                    &Work::Put { slab, offset, bytes, .. } => (slab, offset, bytes, true),
                    &Work::Get { slab, offset, bytes, .. } => (slab, offset, bytes, false),
                    other => return Err(Violation::new("a mover can read", format!("{other:?}"))),
                };
                if mover.unmapped.contains(&slab) {
                    let (why, text) = (Why::Range, "it is not mapped".to_owned());
                    mover.say(&FromMover::JobFailed { job: job.job, why, text });
                    return Ok(());
                }
                let Some(memory) = mover.mapped.get(&slab).cloned() else {
                    let detail = format!("{job:?} on what is not mapped");
                    return Err(Violation::new("a mover has what it needs", detail));
                };
                // Its creator may never have been told where it lies.
                self.oracle.learn(tensor, Place { slab, offset, bytes })?;
                let number = job.job;
                mover.jobs.push(Job { number, tensor, memory, writes, failed: false });
            }
            // A job may land before this is read, or as if it had not been: both happen.
            (ToMover::Cancel { .. }, _) => {}
            (ToMover::Stop, _) => mover.stops = true,
            (message, fd) => {
                let detail = format!("{message:?} with {fd:?}");
                return Err(Violation::new("a mover has what it needs", detail));
            }
        }
        Ok(())
    }

    /// A job lands, or its mover says that it cannot tell.
    pub(crate) fn mover_lands(&mut self, index: usize) -> Result<(), Violation> {
        let at = self.rng.index(self.movers[index].jobs.len());
        let fails = self.busy && self.rng.once_in(4);
        let mover = &mut self.movers[index];
        if fails && !mover.jobs[at].failed {
            mover.jobs[at].failed = true;
            let job = mover.jobs[at].number;
            let (why, text) = (Why::Driver, "a fault".to_owned());
            mover.say(&FromMover::JobFailed { job, why, text });
            return Ok(());
        }
        let job = mover.jobs.swap_remove(at);
        let who = format!("mover {}", mover.pid);
        if job.writes {
            self.oracle.write(job.tensor, &job.memory, &who)?;
        } else {
            self.oracle.read(job.tensor, &job.memory, true, &who)?;
        }
        if !job.failed {
            self.movers[index].say(&FromMover::Done { job: job.number, hashes: Vec::new() });
        }
        Ok(())
    }

    /// The daemon hears what its mover has said, or that it has hung up.
    pub(crate) fn mover_says(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(wire) = running.ports.mover.clone() else { return Ok(()) };
        let said = wire.borrow_mut().to_daemon.pop_front();
        let Some((bytes, fd)) = said else {
            wire.borrow_mut().daemon_open = false;
            running.ports.mover = None;
            return self.event(|pond, ports| pond.mover_hung_up(ports, GPU));
        };
        let said = FromMover::decode(&bytes)
            .map_err(|error| Violation::new("the daemon can read", error.to_string()))?;
        self.trace.say(|| format!("  {said:?}"));
        self.event(|pond, ports| pond.mover_said(ports, GPU, said, fd))
    }

    /// Everything that the mover has said is heard before anybody counts as gone.
    pub(crate) fn hear_mover(&mut self) -> Result<(), Violation> {
        loop {
            let Daemon::Running(running) = &self.daemon else { return Ok(()) };
            let Some(wire) = &running.ports.mover else { return Ok(()) };
            if wire.borrow().to_daemon.is_empty() && wire.borrow().mover_open {
                return Ok(());
            }
            self.mover_says()?;
        }
    }

    /// The process ends; what it was doing may still land where it had it mapped.
    pub(crate) fn end_mover(&mut self, index: usize) {
        let mover = &mut self.movers[index];
        let pid = mover.pid;
        self.trace.say(|| format!("  mover {pid} ends"));
        mover.alive = false;
        mover.mapped.clear();
        mover.pools.clear();
        self.gone.borrow_mut().insert(pid);
        let mut wire = mover.wire.borrow_mut();
        wire.mover_open = false;
        wire.to_mover.clear();
        drop(wire);
        let jobs = std::mem::take(&mut mover.jobs);
        let mapped: Vec<_> = jobs.iter().map(|job| (job.tensor, Rc::clone(&job.memory))).collect();
        let writes = jobs.into_iter().filter(|job| job.writes).map(|job| (job.tensor, job.memory));
        let writes: Vec<_> = writes.collect();
        if !mapped.is_empty() && self.busy && self.rng.once_in(2) {
            self.ghosts.push(Ghost { pid, writes, mapped });
        }
    }
}

/// Memory as the driver opens it, with the kind and size that it must have.
fn opened(
    legacy: &SharedLegacy,
    backing: &Backing,
    bytes: u64,
    fd: Option<&Fd>,
) -> Result<Rc<Memory>, String> {
    let found = match (&backing.transport, fd) {
        (Transport::Ipc(handle), None) => legacy.borrow().open(handle),
        (Transport::Vmm | Transport::Mempool(_), Some(Fd::Memory(memory))) => {
            Some(Rc::clone(memory))
        }
        _ => None,
    };
    let memory = found.ok_or("nothing is there")?;
    let is_its = !matches!(&backing.transport, Transport::Mempool(it) if *it != pool_data(&memory));
    let fits = memory.kind == backing.transport.kind() && memory.bytes == bytes && is_its;
    if fits { Ok(memory) } else { Err("it is something else".to_owned()) }
}
