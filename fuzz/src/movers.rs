//! Movers as processes: what each was told, and what it may still write.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use millpond_daemon::policy::Held;
use millpond_mover::channel::{FromMover, Job, Pieces, ToMover, Why, Work};
use millpond_wire::record::Record;
use millpond_wire::{ClientId, Piece, SlabId};

/// Bytes of a slab, from and to.
type Range = (SlabId, u64, u64);

/// One process.
#[derive(Clone, Debug)]
struct Process {
    pidfd: u64,
    /// As the policy calls it.
    client: Option<ClientId>,
    mapped: BTreeSet<SlabId>,
    /// Jobs that have not ended, and the bytes that they touch.
    jobs: BTreeMap<u64, Vec<Range>>,
    /// Pools to be made and memory to be proved, with whether it is a pool.
    asked: Vec<(SlabId, bool)>,
}

/// All movers that live. The last one may be this daemon's.
#[derive(Clone, Debug, Default)]
pub struct Movers {
    /// One was asked for.
    pub wanted: bool,
    /// The last one is this daemon's, and its channel lasts.
    pub speaks: bool,
    is_ours: bool,
    killed_others: bool,
    living: Vec<Process>,
    /// Those that are gone, as the policy called them, with their pidfds.
    dead: BTreeMap<ClientId, u64>,
}

impl Movers {
    /// The daemon died: its mover goes with it, unless it has work, and that is on record.
    pub fn after_death(&self, held: &HashMap<Held, u64>) -> Movers {
        let mut living = self.living.clone();
        living.retain(|process| {
            let client = process.client.expect("it is watched");
            let recorded = held.contains_key(&Held::Client(client));
            assert!(recorded || process.jobs.is_empty(), "the next daemon knows who still writes");
            recorded
        });
        Movers { living, dead: self.dead.clone(), ..Movers::default() }
    }

    /// Another one is asked for.
    pub fn start(&mut self) {
        assert!(!self.wanted, "two movers for one GPU");
        assert!(self.living.is_empty(), "the one before is not gone: {:?}", self.living);
        self.wanted = true;
    }

    /// It runs.
    pub fn started(&mut self, pidfd: u64) {
        let (mapped, jobs, asked) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        self.living.push(Process { pidfd, client: None, mapped, jobs, asked });
        (self.speaks, self.is_ours) = (true, true);
    }

    /// The policy gave a process a name, if it is one of these.
    pub fn watched(&mut self, client: ClientId, pidfd: u64) {
        if let Some(process) = self.living.iter_mut().find(|process| process.pidfd == pidfd) {
            process.client = Some(client);
        }
    }

    /// When it goes is another matter.
    pub fn kill(&mut self, pidfd: u64) {
        let lives = self.living.iter().any(|process| process.pidfd == pidfd);
        // Whose end could not be recorded is killed once more, which nobody feels.
        self.killed_others |= !lives && !self.dead.values().any(|dead| *dead == pidfd);
    }

    /// The policy tells this daemon's mover something.
    pub fn tell(&mut self, message: ToMover, fd: Option<u64>) {
        if !self.is_ours && matches!(message, ToMover::DropPool { .. }) {
            return; // The pool has gone with the mover that made it.
        }
        assert!(self.is_ours, "nobody hears {message:?}");
        let process = self.living.last_mut().expect("a mover");
        assert_eq!(usize::from(fd.is_some()), message.descriptors(), "{message:?}");
        match message {
            ToMover::Map { slab, .. } => assert!(process.mapped.insert(slab), "mapped twice"),
            ToMover::Unmap { slab } => {
                assert!(process.mapped.remove(&slab), "unmapped what was not mapped");
                let used = process.jobs.values().flatten().any(|range| range.0 == slab);
                assert!(!used, "unmapped under a job");
            }
            ToMover::Job(Job { job, work, .. }) => {
                let ranges = ranges(work);
                let all = ranges.iter().all(|range| process.mapped.contains(&range.0));
                assert!(all, "a job on a slab that is not mapped");
                assert!(process.jobs.insert(job, ranges).is_none(), "a job's number again");
            }
            ToMover::Cancel { job } => {
                assert!(process.jobs.contains_key(&job), "cancelled what it does not have");
            }
            ToMover::Prove { slab, .. } => process.asked.push((slab, false)),
            ToMover::MakePool { slab, .. } => process.asked.push((slab, true)),
            ToMover::DropPool { .. } | ToMover::Start { .. } | ToMover::Stop => {}
        }
    }

    /// What it says is true: it ends jobs that it says have ended.
    pub fn says(&mut self, said: &FromMover) {
        let (FromMover::Done { job, .. } | FromMover::JobFailed { job, .. }) = said else { return };
        if !matches!(said, FromMover::JobFailed { why: Why::Driver, .. })
            && let Some(process) = self.living.last_mut()
        {
            process.jobs.remove(job);
        }
    }

    /// What this daemon's mover was asked first: a pool, or to prove memory.
    pub fn asked(&mut self) -> Option<(SlabId, bool)> {
        let process = self.living.last_mut().filter(|_| self.is_ours)?;
        (!process.asked.is_empty()).then(|| process.asked.remove(0))
    }

    /// One of its jobs, or a number that none has.
    pub fn job(&self, choice: usize) -> u64 {
        let jobs = self.living.last().filter(|_| self.is_ours).map(|process| &process.jobs);
        let jobs: Vec<u64> = jobs.into_iter().flat_map(|jobs| jobs.keys().copied()).collect();
        jobs.get(choice % jobs.len().max(1)).copied().unwrap_or(0)
    }

    /// One that lives, and whether it is this daemon's.
    pub fn pick(&self, choice: usize) -> Option<(ClientId, bool)> {
        let at = choice % self.living.len().max(1);
        let client = self.living.get(at)?.client.expect("it is watched");
        Some((client, self.is_ours && at + 1 == self.living.len()))
    }

    /// Its process is gone, and writes nothing any more.
    pub fn gone(&mut self, client: ClientId) {
        let ours = self.is_ours && self.living.last().is_some_and(|it| it.client == Some(client));
        self.is_ours &= !ours;
        if let Some(process) = self.living.iter().find(|it| it.client == Some(client)) {
            self.dead.insert(client, process.pidfd);
        }
        self.living.retain(|process| process.client != Some(client));
    }

    /// Those that are gone.
    pub fn dead(&self) -> Vec<ClientId> {
        self.dead.keys().copied().collect()
    }

    /// Only movers are killed, and nobody else can get bytes that one may still read or write.
    pub fn check(&self, books: &[Record]) {
        assert!(!self.killed_others, "no mover was killed");
        for range in self.living.iter().flat_map(|process| process.jobs.values().flatten()) {
            let covers = |record: &Record| match record {
                Record::TensorMade(made) => {
                    made.slab == range.0
                        && made.offset <= range.1
                        && range.2 <= made.offset + made.bytes
                }
                _ => false,
            };
            assert!(books.iter().any(covers), "{range:?} was freed under a mover");
        }
    }
}

fn ranges(work: Work) -> Vec<Range> {
    match work {
        Work::Put { slab, offset, bytes, .. }
        | Work::Get { slab, offset, bytes, .. }
        | Work::Zero { slab, offset, bytes } => vec![(slab, offset, offset + bytes)],
        Work::Copy { slab, offset, bytes, from, from_offset } => {
            vec![(slab, offset, offset + bytes), (from, from_offset, from_offset + bytes)]
        }
        Work::Pieces(pieces) if !pieces.kind.touches_slab() => Vec::new(),
        Work::Pieces(Pieces { slab, base, pieces, .. }) => {
            let range = |piece: Piece| {
                let start = base + piece.offset;
                (slab, start, start + piece.bytes)
            };
            pieces.into_iter().map(range).collect()
        }
    }
}
