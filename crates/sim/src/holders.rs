//! Processes without a connection, for which clients hold tensors; and what the journal says of holds.
//!
//! The count is kept from requests, one more or one less for each, and not from what records say: so
//! a request that counts twice is noticed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_daemon::policy::{HolderSeen, Ports};
use millpond_wire::record::{HoldRecord, HoldTold, HolderProcess, Record};
use millpond_wire::{TensorId, Token};

use crate::daemon::Daemon;
use crate::homes::is_there;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::ports::SimPorts;
use crate::rng::Rng;
use crate::settle::Books;
use crate::world::World;

/// Numbers of such processes, which nobody else has. Each is used again and again.
pub const PIDS: [u32; 2] = [60_000, 60_001];

pub type SharedHolders = Rc<RefCell<Holders>>;

/// Whether clients of a schedule hold tensors: of one in two. Drawn apart from everything else.
pub fn drawn(seed: u64) -> Option<Rng> {
    let mut rng = Rng::new(seed ^ 0x686f_6c64_696e_6773);
    rng.once_in(2).then_some(rng)
}

#[derive(Clone, Debug, Default)]
pub struct Holders {
    /// Those that run, and when they started.
    pub running: BTreeMap<u32, u64>,
    starts: u64,
    held: BTreeMap<TensorId, BTreeMap<Option<HolderProcess>, u64>>,
    done: BTreeSet<Token>,
    /// A rule that a record has broken.
    pub broken: Option<Violation>,
}

impl Holders {
    pub fn start(&mut self, pid: u32) {
        self.starts += 1;
        self.running.insert(pid, self.starts);
    }

    pub fn runs(&self, process: HolderProcess) -> bool {
        self.running.get(&process.pid).copied() == process.started
    }

    /// A record was written, by whichever daemon.
    pub fn record(&mut self, record: &Record) {
        let noted = match record {
            Record::TensorMade(made) => match made.hold {
                Some(token) => self.add(made.tensor, None, token),
                None => Ok(()),
            },
            Record::HoldChanged(HoldRecord { tensor, process, told, .. }) => match told {
                Some(HoldTold { token, answer: Some(_), .. }) => {
                    self.take(*tensor, *process, *token)
                }
                Some(HoldTold { token, .. }) => self.add(*tensor, *process, *token),
                None => self.ended(*tensor, *process),
            },
            Record::TensorDeleted(tensor)
            | Record::TensorPublished { replaced: Some(tensor), .. } => {
                if let Some(held) = self.held.get_mut(tensor) {
                    held.retain(|process, _| process.is_some_and(|it| it.started.is_some()));
                }
                Ok(())
            }
            Record::TensorFreed(tensor) => {
                let held = self.held.remove(tensor).unwrap_or_default();
                ensure(held.is_empty(), "what is held is not freed", || {
                    format!("{tensor}: {held:?}")
                })
            }
            _ => Ok(()),
        };
        if let Err(violation) = noted {
            self.broken.get_or_insert(violation);
        }
    }

    fn once(&mut self, token: Token) -> Result<(), Violation> {
        ensure(self.done.insert(token), "a hold happens once", || token.to_string())
    }

    fn add(
        &mut self,
        tensor: TensorId,
        process: Option<HolderProcess>,
        token: Token,
    ) -> Result<(), Violation> {
        self.once(token)?;
        *self.held.entry(tensor).or_default().entry(process).or_default() += 1;
        Ok(())
    }

    fn take(
        &mut self,
        tensor: TensorId,
        process: Option<HolderProcess>,
        token: Token,
    ) -> Result<(), Violation> {
        self.once(token)?;
        let held = self.held.entry(tensor).or_default();
        let count = held.get(&process).copied().unwrap_or(0);
        ensure(count > 0, "only what is held is given up", || format!("{tensor} {process:?}"))?;
        held.insert(process, count - 1);
        held.retain(|_, count| *count > 0);
        Ok(())
    }

    fn ended(&mut self, tensor: TensorId, process: Option<HolderProcess>) -> Result<(), Violation> {
        let lives = process.is_none_or(|process| self.runs(process));
        ensure(!lives, "a hold ends with its process", || format!("{tensor} {process:?}"))?;
        if let Some(held) = self.held.get_mut(&tensor) {
            held.remove(&process);
        }
        Ok(())
    }
}

impl SimPorts {
    /// What is written of a record.
    pub(crate) fn as_written(&self, record: &Record) -> Record {
        match (self.mutation, record) {
            (Some(Mutation::HoldTokenForgotten), Record::HoldChanged(hold)) => {
                Record::HoldChanged(HoldRecord { told: None, ..hold.clone() })
            }
            _ => record.clone(),
        }
    }

    pub(crate) fn see_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen {
        if !self.lives() {
            return HolderSeen::NoSuch;
        }
        let Some(now) = self.holders.borrow().running.get(&pid).copied() else {
            return HolderSeen::NoSuch;
        };
        let trusts = self.mutation == Some(Mutation::HolderNumberTrusted);
        if !trusts && started.is_some_and(|started| started != now) {
            return HolderSeen::NoSuch;
        }
        self.watched_holders.insert(HolderProcess { pid, started: Some(now) });
        HolderSeen::Watched(now)
    }
}

impl World {
    /// Holders that are gone, and whose daemon has not been told.
    pub(crate) fn gone_holders(&self) -> Vec<HolderProcess> {
        let Daemon::Running(running) = &self.daemon else { return Vec::new() };
        let holders = self.holders.borrow();
        let watched = running.ports.watched_holders.iter().copied();
        watched.filter(|process| !holders.runs(*process)).collect()
    }

    /// One ends; another may have its number at once, or later.
    pub(crate) fn holder_changes(&mut self, pid: u32) {
        let ended = self.holders.borrow_mut().running.remove(&pid).is_some();
        if !ended || self.rng.once_in(2) {
            self.holders.borrow_mut().start(pid);
        }
        let now = self.holders.borrow().running.get(&pid).copied();
        self.trace.say(|| format!("  holder {pid} is {now:?}"));
    }

    pub(crate) fn holder_gone(&mut self, process: HolderProcess) -> Result<(), Violation> {
        let unnoticed = self.mutation == Some(Mutation::HolderDeathUnnoticed);
        self.event(|pond, ports| match unnoticed {
            true => ports.unwatch_holder(process),
            false => pond.holder_gone(ports, process),
        })
    }

    /// What is held is what was asked for, and of living processes only.
    pub(crate) fn check_holds(&self, books: &Books) -> Result<(), Violation> {
        let holders = self.holders.borrow();
        for info in books.tensors.iter().filter(|info| info.holds.is_some()) {
            let held = holders.held.get(&info.tensor).cloned().unwrap_or_default();
            let detail = || format!("{info:?}, asked for {held:?}");
            let watched = held.keys().flatten().filter(|process| process.started.is_some());
            let dead = watched.copied().find(|process| !holders.runs(*process));
            ensure(dead.is_none(), "who is gone holds nothing", detail)?;
            let sum = held.values().sum();
            ensure(info.holds == Some(sum), "holds are what was asked for", detail)?;
            let unheld = is_there(info.state) && sum == 0;
            ensure(!unheld, "what nobody holds is deleted", detail)?;
        }
        for (tensor, held) in holders.held.iter().filter(|(_, held)| !held.is_empty()) {
            let there = books.tensors.iter().any(|info| info.tensor == *tensor);
            ensure(there, "what is held is there", || format!("{tensor}: {held:?}"))?;
        }
        Ok(())
    }
}
