//! Legacy handles: a process and an address in it. A handle opens whatever lies there, as long as the
//! process lives, so that an old one could open what was made later.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use millpond_wire::{HANDLE_BYTES, TensorId};

use crate::card::Memory;
use crate::oracle::{Violation, ensure};

/// What a process hands out.
pub type Handle = [u8; HANDLE_BYTES];

/// Memory of living processes that others can open.
#[derive(Debug, Default)]
pub struct Legacy {
    there: BTreeMap<(u32, u32), Rc<Memory>>,
    /// What each handle was given out for.
    given: BTreeMap<(u32, u32), usize>,
    /// The tensor that each handle of the pond's own memory was granted for.
    granted: BTreeMap<(u32, u32), TensorId>,
}

/// All processes see the same.
pub type SharedLegacy = Rc<RefCell<Legacy>>;

impl Legacy {
    /// Memory of a process gets the first address that is free, and a handle.
    ///
    /// # Errors
    /// If the handle was given out before, for something else.
    pub fn share(&mut self, pid: u32, memory: &Rc<Memory>) -> Result<Handle, Violation> {
        let taken = |at: &u32| self.there.contains_key(&(pid, *at));
        let place = (pid, (0..).find(|at| !taken(at)).unwrap_or(u32::MAX));
        self.share_at(place, memory)
    }

    fn share_at(&mut self, place: (u32, u32), memory: &Rc<Memory>) -> Result<Handle, Violation> {
        let before = *self.given.entry(place).or_insert(memory.serial);
        ensure(before == memory.serial, "an old handle opens nothing else", || {
            format!("{place:?} was memory {before} and is {}", memory.serial)
        })?;
        self.there.insert(place, Rc::clone(memory));
        Ok(handle(place))
    }

    /// A handle is granted for a tensor.
    ///
    /// # Errors
    /// If it was granted for another one: whoever has it would see that one.
    pub fn grant(&mut self, handle: &Handle, tensor: TensorId) -> Result<(), Violation> {
        let first = *self.granted.entry(place(handle)).or_insert(tensor);
        ensure(first == tensor, "an old handle opens nothing else", || {
            format!("{:?} was granted for {first} and is for {tensor}", place(handle))
        })
    }

    /// The same at an address that nothing ever had.
    ///
    /// # Errors
    /// As [`Legacy::share`].
    pub fn share_anew(&mut self, pid: u32, memory: &Rc<Memory>) -> Result<Handle, Violation> {
        let last = self.given.range((pid, 0)..=(pid, u32::MAX)).next_back();
        let place = (pid, last.map_or(0, |((_, at), _)| at + 1));
        self.share_at(place, memory)
    }

    /// What a handle opens.
    #[must_use]
    pub fn open(&self, handle: &Handle) -> Option<Rc<Memory>> {
        self.there.get(&place(handle)).map(Rc::clone)
    }

    /// A process has given memory back.
    pub fn free(&mut self, handle: &Handle) {
        self.there.remove(&place(handle));
    }

    /// A process is gone, with all addresses in it.
    pub fn end(&mut self, pid: u32) {
        self.there.retain(|(its, _), _| *its != pid);
    }
}

fn handle((pid, at): (u32, u32)) -> Handle {
    let mut handle = [7; HANDLE_BYTES];
    handle[..4].copy_from_slice(&pid.to_le_bytes());
    handle[4..8].copy_from_slice(&at.to_le_bytes());
    handle
}

fn place(handle: &Handle) -> (u32, u32) {
    let number = |at: usize| {
        handle[at..].first_chunk().map_or(0, |bytes: &[u8; 4]| u32::from_le_bytes(*bytes))
    };
    (number(0), number(4))
}

/// The process that a handle belongs to.
#[must_use]
pub fn home_of(handle: &Handle) -> u32 {
    place(handle).0
}

/// A handle that opens nothing.
#[must_use]
pub fn of_nobody() -> Handle {
    handle((u32::MAX, 0))
}

/// The exported pointer of a memory pool.
#[must_use]
pub fn pool_data(memory: &Memory) -> Handle {
    let mut data = [9; HANDLE_BYTES];
    data[..8].copy_from_slice(&(memory.serial as u64).to_le_bytes());
    data
}
