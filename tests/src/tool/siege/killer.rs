//! Picks victims and moments, kills, and waits until the pond is whole again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use millpond::Status;

use super::crew::Crew;
use super::report::Tally;
use super::rng::Rng;
use super::role::{self, Role};
use super::step::Step;
use crate::{Process, TestPond, eventually};

/// The keeper answers so many quick deaths of daemons at once and then slows down; a new keeper
/// counts from the beginning. Staying below keeps the siege from measuring that pause.
const DAEMONS_IN_A_ROW: usize = 15;

/// Kills what the bag says.
#[derive(Debug)]
pub(super) struct Killer<'a> {
    pub(super) pond: &'a TestPond,
    pub(super) crew: Crew<'a>,
    pub(super) rng: Rng,
    pub(super) bag: Vec<Role>,
    /// Daemons that were killed since the last keeper.
    pub(super) daemons: usize,
    pub(super) tally: Arc<Mutex<Tally>>,
    pub(super) status: Status,
}

impl Killer<'_> {
    /// So many kills of these roles, or fewer if the time is over before.
    pub(super) fn kill(&mut self, roles: &[Role], kills: usize, until: Option<Instant>) {
        self.bag = role::bag(roles, kills, &mut self.rng);
        while until.is_none_or(|until| Instant::now() < until)
            && let Some(mut role) = self.bag.pop()
        {
            if role == Role::Daemon && self.daemons >= DAEMONS_IN_A_ROW {
                role = self.swap_for_keeper(role);
            }
            match role {
                Role::Daemon => self.daemons += 1,
                Role::Keeper => self.daemons = 0,
                Role::Worker | Role::Mover => {}
            }
            if role == Role::Mover {
                self.mover();
            } else {
                self.once(role);
            }
        }
    }

    fn swap_for_keeper(&mut self, role: Role) -> Role {
        match self.bag.iter_mut().rev().find(|other| **other == Role::Keeper) {
            Some(other) => std::mem::replace(other, role),
            None => role,
        }
    }

    /// One kill, or a burst of them.
    fn once(&mut self, role: Role) {
        let (slot, way) = self.moment();
        let mut slots = Vec::new();
        let mut core = None;
        if role == Role::Worker {
            slots.push(slot.unwrap_or_else(|| self.rng.index(self.crew.len())));
        } else {
            core = Some(role);
        }
        if self.rng.below(6) == 0 {
            self.burst(&mut slots);
        }
        let stopped = self.rng.below(5) == 0;
        let way = if stopped { "stopped first" } else { way };
        let way = if slots.len() + usize::from(core.is_some()) > 1 { "burst" } else { way };
        let victim = core.map(|role| match role {
            Role::Keeper => Process::open(self.status.keeper_pid),
            _ => Process::open(self.status.daemon_pid),
        });
        let victim = victim.map(|process| process.expect("keeper and daemon live"));
        if stopped {
            slots.iter().for_each(|slot| self.crew.stop(*slot));
            victim.iter().for_each(Process::stop);
            std::thread::sleep(Duration::from_millis(self.rng.within(2..40)));
        }
        let at = |slot: usize| self.crew.last_step(slot);
        let steps: Vec<Option<Step>> = slots.iter().map(|slot| at(*slot)).collect();
        let core_step = slot.or(Some(0)).and_then(at);
        victim.iter().for_each(Process::kill);
        slots.iter().for_each(|slot| self.crew.kill(*slot));
        let start = Instant::now();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        steps.into_iter().for_each(|step| tally.killed(Role::Worker, step, way));
        if let Some(role) = core {
            tally.killed(role, core_step, way);
        }
        drop(tally);
        if let Some(role) = core {
            self.recover(role, start);
        }
        for slot in slots {
            self.crew.replace(slot);
        }
    }

    /// The mover of the moment, in the middle of some work if there is any.
    fn mover(&mut self) {
        let mut slot = None;
        let (mover, pid) = eventually("a mover", || {
            slot = self.crew.await_step(Step::moves, Duration::from_millis(400));
            let pid = self.pond.control().status().ok()?.movers.first()?.pid;
            Some((Process::open(pid).ok()?, pid))
        });
        std::thread::sleep(Duration::from_micros(self.rng.below(4000)));
        let stopped = self.rng.below(5) == 0;
        if stopped {
            mover.stop();
            std::thread::sleep(Duration::from_millis(self.rng.within(2..40)));
        }
        mover.kill();
        let start = Instant::now();
        let at = slot.and_then(|slot| self.crew.last_step(slot));
        let way = if stopped { "stopped first" } else { "at a step" };
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.killed(Role::Mover, at, way);
        drop(tally);
        let now = eventually("a daemon without the dead mover", || {
            let status = self.pond.control().status().ok()?;
            status.movers.iter().all(|mover| mover.pid != pid).then_some(status)
        });
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.recovered(Role::Mover, start.elapsed());
        if (now.epoch, now.keeper_pid) != (self.status.epoch, self.status.keeper_pid) {
            tally.violations.push("a mover's death was somebody else's".to_owned());
        }
    }

    /// Waits for a moment worth a kill: any time, or when a client has just said what it does.
    fn moment(&mut self) -> (Option<usize>, &'static str) {
        if self.rng.below(3) == 0 {
            std::thread::sleep(Duration::from_micros(self.rng.below(30_000)));
            return (None, "any time");
        }
        let step = Step::ALL[self.rng.index(Step::ALL.len())];
        let slot = self.crew.await_step(|said| said == step, Duration::from_millis(400));
        let micros = [0, 0, 100, 300, 1000, 3000][self.rng.index(6)];
        std::thread::sleep(Duration::from_micros(self.rng.below(micros + 1)));
        (slot, if slot.is_some() { "at a step" } else { "any time" })
    }

    /// More workers at the same moment, taken from the bag.
    fn burst(&mut self, slots: &mut Vec<usize>) {
        for _ in 0..self.rng.within(1..4) {
            let slot = self.rng.index(self.crew.len());
            let place = self.bag.iter().rposition(|role| *role == Role::Worker);
            if let Some(place) = place.filter(|_| !slots.contains(&slot)) {
                self.bag.remove(place);
                slots.push(slot);
            }
        }
    }

    /// Waits until the next one has taken over: the other must not be killed before.
    fn recover(&mut self, role: Role, start: Instant) {
        let before = self.status.clone();
        self.status = eventually("the next daemon or keeper", || {
            let status = self.pond.control().status().ok()?;
            let replaced = match role {
                Role::Keeper => status.keeper_pid != before.keeper_pid,
                _ => status.epoch > before.epoch,
            };
            replaced.then_some(status)
        });
        let took = start.elapsed();
        self.pond.reap();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.recovered(role, took);
        let (was, is) = (&before, &self.status);
        let other = match role {
            Role::Keeper => was.epoch == is.epoch && was.daemon_pid == is.daemon_pid,
            _ => was.keeper_pid == is.keeper_pid,
        };
        if !other {
            tally.violations.push(format!("the other one of {role} died too: {was:?}, {is:?}"));
        }
        if self.status.lost_tensors != 0 {
            tally.violations.push(format!("{} tensors are lost", self.status.lost_tensors));
        }
    }
}
