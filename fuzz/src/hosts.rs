//! Hosts as processes: what each keeps, and what it has not said yet.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use millpond_daemon::policy::Held;
use millpond_host::channel::{FromHost, Holding, NO_EVENT, ToHost, Why};
use millpond_wire::record::Record;
use millpond_wire::{HANDLE_BYTES, HostId, SlabId, Transport};

/// One process.
#[derive(Clone, Debug, Default)]
struct Process {
    pidfd: u64,
    /// This daemon has its channel, and nobody has hung up.
    speaks: bool,
    kept: BTreeMap<SlabId, Holding>,
    /// It has freed something.
    sealed: bool,
    /// Written, and not read by any daemon.
    unread: VecDeque<FromHost>,
}

/// All hosts that live.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// Those that were asked for.
    pub wanted: Vec<HostId>,
    living: BTreeMap<HostId, Process>,
    dead: BTreeMap<HostId, u64>,
}

impl Hosts {
    /// The daemon died. Who has a channel that the keeper holds goes on; the others end.
    pub fn after_death(&self, held: &HashMap<Held, u64>) -> Hosts {
        let (mut living, mut dead) = (BTreeMap::new(), self.dead.clone());
        for (id, process) in self.living.clone() {
            if held.contains_key(&Held::HostChannel(id)) {
                living.insert(id, Process { speaks: false, ..process });
            } else {
                dead.insert(id, process.pidfd);
            }
        }
        Hosts { wanted: Vec::new(), living, dead }
    }

    /// One of those that were asked for runs.
    pub fn started(&mut self, host: HostId, pidfd: u64) {
        let process = Process { pidfd, speaks: true, ..Process::default() };
        assert!(self.living.insert(host, process).is_none(), "{host} was started twice");
    }

    /// A daemon speaks to one of before.
    pub fn adopted(&mut self, host: HostId) {
        if let Some(process) = self.living.get_mut(&host) {
            assert!(!process.speaks, "{host} is spoken to already");
            process.speaks = true;
        }
    }

    /// Whether this is the pidfd of one.
    pub fn has(&self, pidfd: u64) -> bool {
        self.living.values().any(|process| process.pidfd == pidfd)
            || self.dead.values().any(|dead| *dead == pidfd)
    }

    /// It does what it is told; when it says so is another matter.
    pub fn tell(&mut self, host: HostId, message: ToHost) {
        let Some(process) = self.living.get_mut(&host).filter(|process| process.speaks) else {
            return;
        };
        match message {
            ToHost::Start { .. } => {
                process.unread.push_back(FromHost::Ready { context_bytes: 1 << 20 });
            }
            ToHost::Hello { epoch } => {
                let held = process.kept.values().cloned().collect();
                let end = FromHost::HoldsEnd { epoch, sealed: process.sealed, context_bytes: 0 };
                process.unread.extend([FromHost::Holds { epoch, held }, end]);
            }
            ToHost::Allocate { slab, .. } if process.sealed => {
                let (why, text) = (Why::Sealed, String::new());
                process.unread.push_back(FromHost::NotAllocated { slab, why, text });
            }
            ToHost::Allocate { slab, bytes, .. } => {
                let mut memory = [0; HANDLE_BYTES];
                memory[..16].copy_from_slice(slab.0.as_bytes());
                let event = NO_EVENT;
                process.kept.insert(slab, Holding { slab, bytes, memory, event });
                process.unread.push_back(FromHost::Allocated { slab, memory, event });
            }
            ToHost::Free { slab } => {
                process.kept.remove(&slab);
                process.sealed = true;
                process.unread.push_back(FromHost::Freed { slab });
            }
            ToHost::Stop => process.kept.clear(),
        }
    }

    /// One that lives.
    pub fn pick(&self, choice: usize) -> Option<HostId> {
        self.living.keys().nth(choice % self.living.len().max(1)).copied()
    }

    /// What one says next, unless it has hung up. It may have had no memory after all.
    pub fn next(&mut self, host: HostId, works: bool) -> Option<FromHost> {
        let process = self.living.get_mut(&host).filter(|process| process.speaks)?;
        match process.unread.pop_front()? {
            FromHost::Allocated { slab, .. } if !works => {
                process.kept.remove(&slab);
                let (why, text) = (Why::OutOfMemory, "no".to_owned());
                Some(FromHost::NotAllocated { slab, why, text })
            }
            said => Some(said),
        }
    }

    /// One that hangs up, if it has not.
    pub fn hangs_up(&mut self, host: HostId) -> bool {
        self.living.get_mut(&host).is_some_and(|process| std::mem::take(&mut process.speaks))
    }

    /// Its process is gone, with all that it kept.
    pub fn gone(&mut self, host: HostId) {
        if let Some(process) = self.living.remove(&host) {
            self.dead.insert(host, process.pidfd);
        }
    }

    /// Those that are gone.
    pub fn dead(&self) -> Vec<HostId> {
        self.dead.keys().copied().collect()
    }

    /// No host was told to free what the books still have.
    pub fn check(&self, books: &[Record]) {
        let mut seen = BTreeSet::new();
        for record in books {
            let Record::SlabMade(made) = record else { continue };
            let Some(home) = made.home.filter(|_| !made.backing.adopted) else { continue };
            let Transport::Ipc(handle) = made.backing.transport else {
                panic!("{made:?} has no handle");
            };
            assert!(seen.insert(handle), "two slabs are one memory");
            if let Some(process) = self.living.get(&HostId(home)) {
                assert!(process.kept.contains_key(&made.slab), "{made:?} was freed too early");
            }
        }
    }
}
