//! Redis made to say again what the pond says.
//!
//! Every tensor is compared with its hash, some hundreds at a time, and what differs is written. Then
//! the names of the index are looked at, and hashes whose tensor is gone are taken away. What others
//! wrote into a hash of this node is overwritten by that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::{ErrorKind, TensorState};
use tracing::info;

use crate::answer::{Code, Fields, Refusal};
use crate::core::{Core, Halt, Write};
use crate::keys;
use crate::store::{Call, Failed, Got, Gotten, Lost, Store};
use crate::truth::{Happened, Tensor, Truth};

/// Hashes that are compared at once.
const CHUNK: usize = 256;

/// What a repair did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    pub written: usize,
    pub removed: usize,
    /// Names whose key is a living node's, or another application's.
    pub others: usize,
}

impl<T: Truth, S: Store> Core<T, S> {
    /// Compares everything, and writes what differs.
    pub fn repair(&mut self) -> Result<Repaired, Halt> {
        loop {
            self.repair_due = false;
            let done = self.repair_once()?;
            if !self.repair_due {
                if done.written + done.removed > 0 {
                    info!("repaired: {} written, {} removed", done.written, done.removed);
                }
                return Ok(done);
            }
        }
    }

    fn repair_once(&mut self) -> Result<Repaired, Halt> {
        let mut done = Repaired::default();
        self.look()?;
        let Ok(all) = self.ask(|truth| truth.list(""))? else {
            // Refused for now, not for good.
            self.repair_due = true;
            self.wait_for_pond()?;
            return Ok(done);
        };
        self.ghosts =
            all.iter().filter(|it| is_ghost(it)).filter_map(|it| it.name.clone()).collect();
        let truth = shown(all);
        let mut lives = BTreeMap::new();
        for chunk in truth.chunks(CHUNK) {
            let names: Vec<String> =
                chunk.iter().filter_map(|tensor| tensor.name.clone()).collect();
            let mut calls: Vec<Call> = names.iter().cloned().map(Call::Fields).collect();
            calls.push(Call::Index(names));
            let gotten = self.all(&calls)?;
            for (tensor, got) in chunk.iter().zip(gotten) {
                let Some(name) = tensor.name.clone() else { continue };
                let fields = self.fields(tensor)?;
                match self.differs(&name, &fields, got, &mut lives)? {
                    Differs::No => {}
                    Differs::Yes => {
                        done.written += 1;
                        self.write(name, Write::Show(fields));
                    }
                    Differs::Foreign => done.others += 1,
                    Differs::Abandoned => {
                        done.written += 1;
                        self.one(Call::Project { name, fields, force: true })?;
                    }
                }
            }
            self.flush(None)?;
        }
        done.removed = self.remove_others_than(&truth)?;
        Ok(done)
    }

    /// Takes away what the index names and the pond does not have.
    fn remove_others_than(&mut self, truth: &[Tensor]) -> Result<usize, Halt> {
        let (mut removed, mut cursor) = (0, 0);
        loop {
            let node = self.keys.node().to_owned();
            let Got::Page(next, names) = self.one(Call::Names { node, cursor })? else { break };
            let is_there = |name: &String| {
                truth.binary_search_by(|tensor| tensor.name.as_ref().cmp(&Some(name))).is_ok()
            };
            let gone: BTreeSet<String> = names.into_iter().filter(|name| !is_there(name)).collect();
            removed += gone.len();
            for name in gone {
                self.write(name, Write::Hide);
            }
            self.flush(None)?;
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        Ok(removed)
    }

    fn differs(
        &mut self,
        name: &str,
        fields: &Fields,
        got: Result<Got, Failed>,
        lives: &mut BTreeMap<String, bool>,
    ) -> Result<Differs, Halt> {
        let values = match got {
            Ok(Got::Values(values)) => values,
            Ok(Got::Owner(_)) => {
                let foreign = self.foreign(name);
                self.stranger(&foreign.message);
                return Ok(Differs::Foreign);
            }
            _ => return Ok(Differs::Yes),
        };
        if fields.is_shown_by(&values) {
            return Ok(Differs::No);
        }
        let Some(node) = shown_as(&values, "node") else { return Ok(Differs::Yes) };
        if node == self.keys.node() {
            return Ok(Differs::Yes);
        }
        let alive = match lives.get(&node) {
            Some(alive) => *alive,
            None => self.lives(&node)?,
        };
        lives.insert(node, alive);
        Ok(if alive { Differs::Foreign } else { Differs::Abandoned })
    }

    /// All of the calls, whatever becomes of each.
    fn all(&mut self, calls: &[Call]) -> Result<Gotten, Halt> {
        loop {
            match self.store.call(calls) {
                Ok(gotten) => {
                    let later = gotten.iter().find_map(|got| match got {
                        Err(Failed::Later(why)) => Some(why.clone()),
                        _ => None,
                    });
                    match later {
                        Some(why) => self.wait_for_redis(&why)?,
                        None => return Ok(gotten),
                    }
                }
                Err(Lost(why)) => self.reconnect(&why)?,
            }
        }
    }

    /// Shows what happened in the pond.
    pub fn happened(&mut self, what: Happened) -> Result<(), Halt> {
        match what {
            Happened::Everything => self.repair_due = true,
            Happened::Made(id) if self.was_mine(id) => {}
            Happened::Made(id) => match self.ask(|truth| truth.inspect_id(id))? {
                Ok(tensor) => self.show(&tensor)?,
                Err(refusal) => self.repair_due |= !is_absence(&refusal),
            },
            Happened::Ended(_, None) => {}
            Happened::Ended(id, Some(name)) => match self.ask(|truth| truth.inspect_id(id))? {
                Ok(tensor) => self.show(&tensor)?,
                Err(_) => self.refresh(&name)?,
            },
        }
        Ok(())
    }

    fn show(&mut self, tensor: &Tensor) -> Result<(), Halt> {
        let Some(name) = tensor.name.clone().filter(|name| keys::is_shown(name)) else {
            return Ok(());
        };
        if is_gone(tensor) {
            if is_ghost(tensor) {
                self.ghosts.insert(name.clone());
            }
            return self.refresh(&name);
        }
        let fields = self.fields(tensor)?;
        self.one(Call::Index(vec![name.clone()]))?;
        self.write(name, Write::Show(fields));
        Ok(())
    }

    /// Shows what a name means now, whatever an answer said: that may be the answer of a repeat, and old.
    pub fn refresh(&mut self, name: &str) -> Result<(), Halt> {
        let write = match self.found(name)? {
            Found::Unknown => {
                self.repair_due = true;
                return Ok(());
            }
            Found::Nothing => Write::Hide,
            Found::Tensor(tensor) => {
                if is_gone(&tensor) {
                    self.one(Call::Index(vec![name.to_owned()]))?;
                }
                Write::Show(self.fields(&tensor)?)
            }
        };
        self.write(name.to_owned(), write);
        Ok(())
    }

    /// The tensor that has a name now; or the last that had it and that a process has still.
    fn found(&mut self, name: &str) -> Result<Found, Halt> {
        match self.ask(|truth| truth.inspect(name))? {
            Ok(tensor) => return Ok(Found::Tensor(tensor)),
            Err(refusal) if !is_absence(&refusal) => return Ok(Found::Unknown),
            Err(_) => {}
        }
        if !self.ghosts.contains(name) {
            return Ok(Found::Nothing);
        }
        let Ok(mut all) = self.ask(|truth| truth.list(name))? else { return Ok(Found::Unknown) };
        all.retain(|tensor| tensor.name.as_deref() == Some(name));
        Ok(match shown(all).pop() {
            Some(tensor) => Found::Tensor(tensor),
            None => {
                self.ghosts.remove(name);
                Found::Nothing
            }
        })
    }
}

/// What the pond says about a name.
enum Found {
    Tensor(Tensor),
    Nothing,
    /// It could not say.
    Unknown,
}

fn is_absence(refusal: &Refusal) -> bool {
    refusal.code == Code::Kind(ErrorKind::NotFound)
}

enum Differs {
    No,
    Yes,
    /// A living node's, or another application's.
    Foreign,
    /// A node's that does not live, or that never was.
    Abandoned,
}

/// A field of a hash that was read.
fn shown_as(values: &[Option<Vec<u8>>], field: &str) -> Option<String> {
    let place = crate::answer::FIELDS.iter().position(|each| *each == field)?;
    String::from_utf8(values.get(place)?.clone()?).ok()
}

/// What has a hash, in the order of names, one for each name.
fn shown(mut all: Vec<Tensor>) -> Vec<Tensor> {
    all.retain(|tensor| tensor.name.as_deref().is_some_and(keys::is_shown) && !is_over(tensor));
    // Of several with one name the one that can be had comes first, then the newest; the others go.
    all.sort_unstable_by(|one, other| {
        let key = |tensor: &Tensor| (is_gone(tensor), Reverse(tensor.created_unix_ms), tensor.id);
        one.name.cmp(&other.name).then_with(|| key(one).cmp(&key(other)))
    });
    all.dedup_by(|later, first| later.name == first.name);
    all
}

/// Whether its name is free: what is left of it is for those who have it.
fn is_gone(tensor: &Tensor) -> bool {
    matches!(tensor.state, TensorState::Deleted | TensorState::Orphan)
}

/// Whether it is shown although its name is free.
fn is_ghost(tensor: &Tensor) -> bool {
    is_gone(tensor) && !is_over(tensor)
}

/// Whether nobody can have it any more: deleted, and held by no process.
fn is_over(tensor: &Tensor) -> bool {
    tensor.state == TensorState::Deleted && tensor.holds.unwrap_or(0) == 0
}

#[cfg(test)]
mod tests;
