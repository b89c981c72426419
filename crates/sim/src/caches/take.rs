//! Growth of a cache: credit, memory, mapping, work.

use millpond_ledger::protocol;
use millpond_wire::message::RequestBody;

use super::line::What;
use super::{CacheProcess, Extent, FRAME_UNITS, Kernel, State};
use crate::ledger::GroupFile;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::world::World;

/// How far growth has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing was taken.
    Begun,
    /// It fell short, and this request waits.
    Waits(u64),
    /// The request was granted.
    Told,
    /// The ledger counts it.
    Paid,
    /// The driver has made it.
    Made,
    /// It is mapped, and nobody has paid: only where a rule is broken.
    Unpaid,
}

/// One thread's growth.
#[derive(Debug)]
pub(super) struct Commit {
    count: usize,
    handle: u64,
    pub frames: Vec<usize>,
    step: Step,
}

impl Commit {
    fn units(&self) -> u32 {
        u32::try_from(self.count as u64 * FRAME_UNITS).unwrap_or(u32::MAX)
    }
}

impl CacheProcess {
    /// Whether some growth waits for nobody.
    pub(super) fn may_advance(&self) -> bool {
        self.commits.iter().any(|commit| !matches!(commit.step, Step::Waits(_)))
    }

    /// Whether some growth is under way.
    pub fn grows(&self) -> bool {
        !self.commits.is_empty()
    }

    fn waits(&self) -> bool {
        self.commits.iter().any(|it| matches!(it.step, Step::Waits(_) | Step::Told))
    }

    /// A request was answered; true if it was granted.
    pub(super) fn told(&mut self, number: u64, granted: bool) {
        let at = self.commits.iter().position(|commit| commit.step == Step::Waits(number));
        match at.and_then(|at| self.commits.get_mut(at)) {
            Some(commit) if granted => commit.step = Step::Told,
            _ => {
                at.map(|at| self.commits.remove(at));
            }
        }
    }
}

impl World {
    /// Changes the file of a process's group, without any daemon.
    pub(super) fn in_ledger<T>(
        &mut self,
        at: usize,
        change: impl FnOnce(&mut GroupFile, &CacheProcess) -> T,
    ) -> Option<T> {
        let process = &self.caches[at];
        self.groups.borrow_mut().get_mut(&process.group).map(|file| change(file, process))
    }

    pub(super) fn begin_commit(&mut self, at: usize) {
        let process = &mut self.caches[at];
        if process.commits.len() < 2 && !process.closing {
            self.last_handle += 1;
            let count = 1 + self.rng.index(20);
            let handle = self.last_handle;
            process.commits.push(Commit { count, handle, frames: Vec::new(), step: Step::Begun });
        }
    }

    /// One growth goes one step further.
    pub(super) fn advance(&mut self, at: usize) -> Result<(), Violation> {
        let commits = &self.caches[at].commits;
        let ready: Vec<usize> = (0..commits.len())
            .filter(|which| !matches!(commits[*which].step, Step::Waits(_)))
            .collect();
        let Some(&which) = self.rng.pick(&ready) else { return Ok(()) };
        let commit = &self.caches[at].commits[which];
        let (pid, step, units) = (self.caches[at].pid, commit.step, commit.units());
        self.trace.say(|| format!("  pid {pid} grows by {units} units: {step:?}"));
        let late_credit = self.mutation == Some(Mutation::CreditAfterMap);
        match step {
            Step::Begun if late_credit => self.make(at, which, Step::Unpaid)?,
            Step::Begun => {
                if self.reserve(at, which)? {
                    self.caches[at].commits[which].step = Step::Paid;
                } else {
                    self.fall_short(at, which);
                }
            }
            Step::Waits(_) => {}
            Step::Told => self.take_assigned(at, which)?,
            Step::Paid => self.make(at, which, Step::Made)?,
            Step::Made => self.map(at, which),
            Step::Unpaid => {
                if self.reserve(at, which)? {
                    self.map(at, which);
                } else {
                    let commit = self.caches[at].commits.remove(which);
                    self.card.free_frames(&commit.frames);
                }
            }
        }
        Ok(())
    }

    fn reserve(&mut self, at: usize, which: usize) -> Result<bool, Violation> {
        let (now_ms, units) = (self.clock.get(), self.caches[at].commits[which].units());
        let taken = self.in_ledger(at, |file, it| file.reserve_in(it.slot, units, now_ms));
        let taken = taken == Some(true);
        if taken {
            self.check_grants()?;
            self.check_limit(&self.caches[at].group)?;
        }
        Ok(taken)
    }

    /// There is no credit: the daemon is asked, by one thread at a time.
    fn fall_short(&mut self, at: usize, which: usize) {
        let waits = self.caches[at].waits();
        if waits || !self.busy || self.rng.once_in(4) {
            self.caches[at].commits.remove(which);
            return;
        }
        let wait_ms = [0, 50, 500, 2000][self.rng.index(4)];
        let process = &mut self.caches[at];
        let bytes = u64::from(process.commits[which].units()) * millpond_ledger::UNIT;
        let body = RequestBody::CacheWant { cache: process.cache, bytes, wait_ms };
        let number = process.line.ask(body, What::Want);
        process.commits[which].step = Step::Waits(number);
    }

    /// What was assigned is taken, and not kept any longer.
    fn take_assigned(&mut self, at: usize, which: usize) -> Result<(), Violation> {
        let now_ms = self.clock.get();
        let promised = self.in_ledger(at, |file, it| {
            let slot = file.slot(it.slot)?;
            Some(slot.promised == Some(file.revision) && now_ms < slot.until_ms)
        });
        let taken = self.reserve(at, which)?;
        ensure(taken || promised != Some(Some(true)), "what was assigned can be taken", || {
            format!("{:?}", self.caches[at])
        })?;
        self.has_waited(at);
        if taken {
            self.caches[at].commits[which].step = Step::Paid;
        } else {
            self.caches[at].commits.remove(which);
        }
        Ok(())
    }

    /// It waits no longer: what is left of its credit is anybody's.
    pub(super) fn has_waited(&mut self, at: usize) {
        self.in_ledger(at, |file, it| {
            if let Some(slot) = file.slot_mut(it.slot) {
                slot.kept = 0;
                slot.promised = None;
            }
        });
    }

    pub(super) fn give_up_wait(&mut self, at: usize) {
        let process = &mut self.caches[at];
        let waits = |commit: &Commit| match commit.step {
            Step::Waits(number) => Some(number),
            _ => None,
        };
        let Some(number) = process.commits.iter().find_map(waits) else { return };
        process.commits.retain(|commit| waits(commit) != Some(number));
        process.line.give_up(number);
        process.gave_up = true;
        self.has_waited(at);
    }

    fn make(&mut self, at: usize, which: usize, then: Step) -> Result<(), Violation> {
        let commit = &mut self.caches[at].commits[which];
        let fails = self.busy && self.rng.once_in(20);
        let made = if fails { None } else { self.card.make_frames(commit.handle, commit.count) };
        match made {
            Some(frames) => {
                commit.frames = frames;
                commit.step = then;
                self.check_paid(at)
            }
            None => {
                let units = commit.units();
                let paid = commit.step == Step::Paid;
                self.caches[at].commits.remove(which);
                if paid {
                    self.in_ledger(at, |file, it| {
                        file.slot(it.slot).map(|slot| protocol::release(&slot.word, units))
                    });
                }
                Ok(())
            }
        }
    }

    fn map(&mut self, at: usize, which: usize) {
        let process = &mut self.caches[at];
        let Commit { handle, frames, .. } = process.commits.remove(which);
        process.extents.push(Extent { handle, frames, state: State::Used });
    }

    /// Queues work that writes some pages.
    pub(super) fn queue_work(&mut self, at: usize) {
        let process = &mut self.caches[at];
        let used: Vec<&Extent> =
            process.extents.iter().filter(|it| it.state == State::Used).collect();
        if let Some(extent) = self.rng.pick(&used) {
            let kernel = Kernel { handle: extent.handle, frames: extent.frames.clone() };
            process.kernels.push(kernel);
        }
    }

    /// Pages are needed no longer, or again: mappings that are there are used again.
    pub(super) fn idle_or_use(&mut self, at: usize) {
        let process = &mut self.caches[at];
        let mapped: Vec<usize> = (0..process.extents.len())
            .filter(|it| matches!(process.extents[*it].state, State::Used | State::Idle))
            .collect();
        let Some(&which) = self.rng.pick(&mapped) else { return };
        let extent = &mut process.extents[which];
        extent.state = if extent.state == State::Used { State::Idle } else { State::Used };
        self.say_idle(at);
    }

    /// Shows others what it can give back at once.
    pub(super) fn say_idle(&mut self, at: usize) {
        self.in_ledger(at, |file, process| {
            let idle = process.extents.iter().filter(|it| it.state == State::Idle);
            let idle = idle.map(Extent::units).sum();
            if let Some(slot) = file.slot_mut(process.slot) {
                slot.idle = idle;
            }
        });
    }
}
