//! Processes that have elastic caches: they take credit, make pages, use them, and give them back
//! when they are asked, with or without a daemon. Each of these is a step of its own, and anybody
//! may be killed between two.

mod checks;
mod give;
mod line;
mod take;

use std::rc::Rc;

use millpond_ledger::{SlotIndex, SlotKind, UNIT};
use millpond_wire::message::{CacheOpen, CacheSlot, GroupLimit};
use millpond_wire::{CacheId, ClientId, GroupName, TensorName};

use crate::card::FRAME;
use crate::ledger::{GRACE_MS, GroupFile};
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::rng::Rng;
use crate::shelf::units;
use crate::world::{GPU, World};

use give::Asked;
use line::Line;
use take::Commit;

/// They have pids from here on.
const FIRST_CACHE: u32 = 3_000_000;
/// At a time.
const PROCESSES: usize = 4;
/// In one schedule.
const EVER: usize = 10;
/// Whose processes they are.
const USER: u32 = 1;
const MIB: u64 = 1 << 20;
/// What a frame costs.
const FRAME_UNITS: u64 = FRAME / UNIT;

/// Where memory of a cache is on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Committed.
    Used,
    /// Mapped, and nobody needs it; work that was queued before may still run.
    Idle,
    /// The driver has it no longer under the cache's addresses.
    Unmapped,
    /// The driver has it back, and the ledger does not know yet.
    Freed,
    /// The ledger has the credit back, and the driver has not the memory: only where a rule is broken.
    Unpaid,
}

/// Memory under a cache: one handle.
#[derive(Debug)]
struct Extent {
    handle: u64,
    frames: Vec<usize>,
    state: State,
}

impl Extent {
    fn units(&self) -> u64 {
        self.frames.len() as u64 * FRAME_UNITS
    }
}

/// Work on a handle that has not run yet.
#[derive(Debug)]
struct Kernel {
    handle: u64,
    frames: Vec<usize>,
}

/// What a process had when it ended, until the driver has it back.
#[derive(Debug)]
pub struct Leaving {
    frames: Vec<usize>,
    ended_ms: u64,
}

/// A process with one cache.
#[derive(Debug)]
pub struct CacheProcess {
    /// As the kernel knows it.
    pub pid: u32,
    pub alive: bool,
    cache: CacheId,
    group: GroupName,
    slot: SlotIndex,
    kind: SlotKind,
    min_bytes: u64,
    weight: u32,
    extents: Vec<Extent>,
    kernels: Vec<Kernel>,
    /// Growth under way, one for each thread.
    commits: Vec<Commit>,
    /// What it was asked to give back.
    asks: Vec<Asked>,
    line: Line,
    /// It has waited for something and then no longer wanted it.
    gave_up: bool,
    /// It gives everything back and ends.
    closing: bool,
}

impl CacheProcess {
    /// As the pond knows it.
    #[must_use]
    pub fn client(&self) -> ClientId {
        self.line.client()
    }

    /// Whether it has no connection and may make one.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.line.is_down()
    }

    #[must_use]
    pub fn may_send(&self) -> bool {
        self.line.may_send()
    }

    #[must_use]
    pub fn may_read(&self) -> bool {
        self.line.may_read()
    }

    /// Whether something is under way that waits for nobody.
    #[must_use]
    pub fn may_act(&self, mutation: Option<Mutation>) -> bool {
        self.may_advance() || self.may_give(mutation)
    }

    /// Whether the device works for it.
    #[must_use]
    pub fn works(&self) -> bool {
        !self.kernels.is_empty()
    }

    /// Whether something is under way.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.grows() || self.line.has_calls()
    }

    /// What it does and waits for, without the times, which are those of this run.
    #[must_use]
    pub fn what_it_does(&self) -> String {
        format!("pid {} has {:?} under way", self.pid, self.commits)
    }

    fn runs_on(&self, handle: u64) -> bool {
        self.kernels.iter().any(|kernel| kernel.handle == handle)
    }

    fn opening(&self) -> Option<CacheOpen> {
        let index = u32::try_from(self.slot.get()).ok()?;
        let slot = CacheSlot { index, serial: self.slot.serial() };
        Some(CacheOpen {
            cache: self.cache,
            group: self.group.clone(),
            name: TensorName::new(format!("kv{}", self.pid)).ok()?,
            device: GPU,
            slot: (self.kind == SlotKind::Cache).then_some(slot),
            reserved_bytes: 1 << 30,
            granule_bytes: FRAME,
            segments: 1,
            min_bytes: self.min_bytes,
            weight: self.weight,
        })
    }
}

/// Whether a schedule has caches. Drawn apart from everything else: the other schedules stay what
/// they were.
pub fn drawn(seed: u64) -> Option<Rng> {
    let mut rng = Rng::new(seed ^ 0x656c_6173_7469_6300);
    rng.once_in(2).then_some(rng)
}

impl World {
    /// A group that an earlier daemon has made.
    pub(crate) fn make_cached_group(&mut self, mut rng: Rng) {
        let Ok(name) = GroupName::new("a") else { return };
        let limits = [34, 66, 100, 160].map(|mib| units(GroupLimit::Bytes(mib * MIB)));
        let limit = rng.pick(&limits).copied().unwrap_or(0);
        let mut file = GroupFile::made_for(None);
        file.overtakes = self.mutation == Some(Mutation::WaiterOvertaken);
        file.ends_silent = rng.once_in(3);
        file.change(|budget| (budget.asked, budget.effective) = (limit, limit));
        self.groups.borrow_mut().insert(name, file);
    }

    /// Whether one more may start.
    #[must_use]
    pub(crate) fn wants_cache(&self) -> bool {
        let living = self.caches.iter().filter(|it| it.alive).count();
        let groups = self.groups.borrow();
        let named = groups.values().any(|file| file.runner.is_none());
        self.busy && named && living < PROCESSES && self.caches.len() < EVER
    }

    pub(crate) fn start_cache(&mut self) {
        let groups = Rc::clone(&self.groups);
        let mut groups = groups.borrow_mut();
        let named = groups.iter().filter(|(_, file)| file.runner.is_none());
        let named: Vec<GroupName> = named.map(|(name, _)| name.clone()).collect();
        let rng = &mut self.rng;
        let Some(group) = rng.pick(&named).cloned() else { return };
        let Some(file) = groups.get_mut(&group) else { return };
        let pid = FIRST_CACHE + u32::try_from(self.caches.len()).unwrap_or(0);
        let kind = if rng.once_in(4) { SlotKind::Process } else { SlotKind::Cache };
        let slot = file.attach_as(pid, kind);
        let cache = CacheId(rng.id());
        let mins = [0, 0, 8 * MIB, 24 * MIB];
        let min_bytes = rng.pick(&mins).copied().unwrap_or(0);
        let weight = 1 + u32::from(rng.once_in(3));
        let line = Line::new(ClientId(rng.id()), Rc::clone(&self.clock));
        self.trace.say(|| format!("  pid {pid} has cache {cache} in {group}, {slot:?} {kind:?}"));
        self.caches.push(CacheProcess {
            pid,
            alive: true,
            cache,
            group,
            slot,
            kind,
            min_bytes,
            weight,
            extents: Vec::new(),
            kernels: Vec::new(),
            commits: Vec::new(),
            asks: Vec::new(),
            line,
            gave_up: false,
            closing: false,
        });
    }

    /// Does one thing of its own accord, or goes on with something.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(crate) fn cache_acts(&mut self, at: usize) -> Result<(), Violation> {
        if !self.busy || !self.rng.once_in(3) {
            let advances = self.caches[at].may_advance();
            let gives = self.caches[at].may_give(self.mutation);
            match (advances, gives) {
                (true, true) if self.rng.once_in(2) => return self.advance(at),
                (_, true) => return self.give(at),
                (true, false) => return self.advance(at),
                (false, false) => {}
            }
        }
        if !self.busy {
            return Ok(());
        }
        match self.rng.below(20) {
            0..=8 => self.begin_commit(at),
            9..=11 => self.queue_work(at),
            12..=14 => self.idle_or_use(at),
            15 => self.trim_one(at),
            16 => self.look_at_pages(at)?,
            17 => self.give_up_wait(at),
            18 if self.rng.once_in(3) => self.cache_hangs_up(at),
            19 if self.rng.once_in(4) => self.caches[at].closing = true,
            _ => {}
        }
        Ok(())
    }

    /// Work on pages runs.
    ///
    /// # Errors
    /// The pages are not its own any more.
    pub(crate) fn cache_kernel(&mut self, at: usize) -> Result<(), Violation> {
        let process = &mut self.caches[at];
        let kernel = process.kernels.swap_remove(self.rng.index(process.kernels.len()));
        for frame in kernel.frames {
            let owner = self.card.frames[frame].handle;
            let detail = || format!("work of pid {} on frame {frame}", process.pid);
            match owner {
                Some(owner) if owner == kernel.handle => {}
                Some(_) => return Err(Violation::new("no page has two owners", detail())),
                None => {
                    let rule = "pages go back after the work on them";
                    return Err(Violation::new(rule, detail()));
                }
            }
            self.card.frames[frame].word = kernel.handle;
        }
        Ok(())
    }

    /// Kills one of them.
    pub(crate) fn kill_some_cache(&mut self) {
        let living: Vec<usize> =
            (0..self.caches.len()).filter(|at| self.caches[*at].alive).collect();
        if let Some(&process) = self.rng.pick(&living) {
            self.end_cache(process);
        }
    }

    /// Ends a process: nothing is called.
    pub(crate) fn end_cache(&mut self, at: usize) {
        let ended_ms = self.clock.get();
        let process = &mut self.caches[at];
        let pid = process.pid;
        self.trace.say(|| format!("KILL pid {pid}, which has a cache"));
        process.alive = false;
        process.line.close();
        process.kernels.clear();
        process.asks.clear();
        let mut frames: Vec<usize> =
            process.commits.drain(..).flat_map(|commit| commit.frames).collect();
        let physical = |extent: &Extent| extent.state != State::Freed;
        let extents = process.extents.drain(..).filter(physical);
        frames.extend(extents.flat_map(|extent| extent.frames));
        self.leaving.push(Leaving { frames, ended_ms });
        if let Some(file) = self.groups.borrow_mut().get_mut(&process.group) {
            file.ended(pid, ended_ms);
        }
        self.gone.borrow_mut().insert(pid);
    }

    /// The driver has back what a process had that has ended.
    pub(crate) fn driver_frees(&mut self, at: usize) {
        let leaving = self.leaving.remove(at);
        self.card.free_frames(&leaving.frames);
    }

    /// By the end of the grace the driver has everything back.
    pub(crate) fn free_leaving(&mut self) {
        let now_ms = self.clock.get();
        let over = |it: &mut Leaving| now_ms.saturating_sub(it.ended_ms) >= GRACE_MS;
        for leaving in self.leaving.extract_if(.., over) {
            self.card.free_frames(&leaving.frames);
        }
    }
}
