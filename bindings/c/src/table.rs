//! The objects behind handles.
//!
//! A handle is a key of 64 bits: eight for the kind, 24 for the slot, 32 for the generation of what is in
//! the slot. A generation is used once and begins at a number that each process and each copy of the
//! library chooses by chance; a slot whose generations are used up is not used again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::Failure;

/// Threads begin at different shards, so that they do not wait for each other.
const SHARDS: usize = 8;
const SHARD_BITS: u32 = 3;
const SLOT_BITS: u32 = 24;
/// More handles of one kind than any program has at a time; a leak is noticed here.
const SLOTS_PER_SHARD: usize = 1 << (SLOT_BITS - SHARD_BITS);
/// No address that a program can have begins so: one that is dereferenced is a fault at once.
const MARK: u64 = 0xA0;

/// What a handle names. The numbers are part of the handle only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Pond,
    Tensor,
    Text,
    Status,
    Cancel,
    Model,
    Staging,
    Cache,
    Events,
    Group,
    Pool,
    Handle,
    Prepared,
    Blocks,
}

impl Kind {
    const ALL: [Kind; 14] = [
        Kind::Pond,
        Kind::Tensor,
        Kind::Text,
        Kind::Status,
        Kind::Cancel,
        Kind::Model,
        Kind::Staging,
        Kind::Cache,
        Kind::Events,
        Kind::Group,
        Kind::Pool,
        Kind::Handle,
        Kind::Prepared,
        Kind::Blocks,
    ];

    /// The type in the header.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Pond => "millpond_pond",
            Kind::Tensor => "millpond_tensor",
            Kind::Text => "millpond_text",
            Kind::Status => "millpond_status",
            Kind::Cancel => "millpond_cancel",
            Kind::Model => "millpond_model",
            Kind::Staging => "millpond_staging",
            Kind::Cache => "millpond_cache",
            Kind::Events => "millpond_events",
            Kind::Group => "millpond_elastic",
            Kind::Pool => "millpond_pool",
            Kind::Handle => "millpond_handle",
            Kind::Prepared => "millpond_prepared",
            Kind::Blocks => "millpond_blocks",
        }
    }

    fn of(key: u64) -> Option<Kind> {
        let number = (key >> 56).checked_sub(MARK)?;
        Self::ALL.into_iter().find(|kind| u64::from(*kind as u8) == number)
    }
}

struct Slot<T> {
    generation: u32,
    object: Option<T>,
}

struct Shard<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
}

/// The objects of one kind. `T` is cheap to clone: a call works on a clone, so that a free by another
/// thread ends nothing under it.
pub(crate) struct Table<T> {
    kind: Kind,
    shards: [Mutex<Shard<T>>; SHARDS],
}

/// The shard of this thread. Every thread has a stack of its own, far from others': an address on it tells threads
/// apart, and needs no thread-local, which takes longer in a shared library.
fn own_shard() -> usize {
    let here = 0_u8;
    let stack = (&raw const here).addr() >> 20;
    (stack ^ stack >> 3 ^ stack >> 6) % SHARDS
}

/// Where the generations of this process and this copy of the library begin and, one round later, end.
fn first_generation() -> u32 {
    static FIRST: OnceLock<u32> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let bytes = RandomState::new().hash_one(1_u8).to_le_bytes();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    })
}

impl<T: Clone> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            shards: [const { Mutex::new(Shard { slots: Vec::new(), free: Vec::new() }) }; SHARDS],
        }
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Shard<T>> {
        self.shards[shard % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an object; what is returned names it.
    pub(crate) fn insert(&self, object: T) -> Result<u64, Failure> {
        let number = own_shard();
        let mut shard = self.lock(number);
        let slot = match shard.free.pop() {
            Some(slot) => slot,
            None if shard.slots.len() < SLOTS_PER_SHARD => {
                shard.slots.push(Slot { generation: first_generation(), object: None });
                shard.slots.len() - 1
            }
            None => return Err(Failure::too_many_handles(self.kind)),
        };
        let place = &mut shard.slots[slot];
        place.object = Some(object);
        let slot = (slot << SHARD_BITS | number) as u64;
        Ok((MARK + u64::from(self.kind as u8)) << 56 | slot << 32 | u64::from(place.generation))
    }

    fn place(&self, key: u64) -> Option<(usize, usize, u32)> {
        if key >> 56 != MARK + u64::from(self.kind as u8) {
            return None;
        }
        let slot = usize::try_from(key >> 32 & ((1 << SLOT_BITS) - 1)).ok()?;
        let generation = u32::try_from(key & u64::from(u32::MAX)).ok()?;
        Some((slot % SHARDS, slot >> SHARD_BITS, generation))
    }

    /// The object of a handle.
    pub(crate) fn get(&self, key: u64) -> Result<T, Failure> {
        let found = self.place(key).and_then(|(shard, slot, generation)| {
            let shard = self.lock(shard);
            let slot = shard.slots.get(slot).filter(|slot| slot.generation == generation)?;
            slot.object.clone()
        });
        found.ok_or_else(|| self.refusal(key))
    }

    /// Takes the object out: its handle is of no use from now on.
    pub(crate) fn remove(&self, key: u64) -> Result<T, Failure> {
        let found = self.place(key).and_then(|(shard, at, generation)| {
            let mut shard = self.lock(shard);
            let slot = shard.slots.get_mut(at).filter(|slot| slot.generation == generation)?;
            let object = slot.object.take()?;
            slot.generation = slot.generation.wrapping_add(1);
            if slot.generation != first_generation() {
                shard.free.push(at);
            }
            Some(object)
        });
        found.ok_or_else(|| self.refusal(key))
    }

    fn refusal(&self, key: u64) -> Failure {
        if key == 0 {
            return Failure::Null { what: self.kind.name() };
        }
        Failure::Handle { wanted: self.kind, is: Kind::of(key), key }
    }

    /// Holds the table still while the process forks.
    pub(crate) fn hold(&'static self, held: &mut Vec<Box<dyn std::any::Any>>)
    where
        T: Send + 'static,
    {
        for shard in 0..SHARDS {
            held.push(Box::new(self.lock(shard)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_good_until_it_is_removed_and_never_again() {
        let table = Table::new(Kind::Tensor);
        let key = table.insert(7).unwrap();
        assert_eq!(table.get(key).unwrap(), 7);
        assert_eq!(table.remove(key).unwrap(), 7);
        for _ in 0..1000 {
            assert!(matches!(table.get(key), Err(Failure::Handle { .. })));
            assert!(matches!(table.remove(key), Err(Failure::Handle { .. })));
            let other = table.insert(8).unwrap();
            assert_ne!(other, key);
            assert_eq!(table.remove(other).unwrap(), 8);
        }
    }

    #[test]
    fn what_is_no_key_of_the_kind_is_refused_and_says_what_it_is() {
        let (tensors, ponds) = (Table::new(Kind::Tensor), Table::new(Kind::Pond));
        let tensor = tensors.insert(1).unwrap();
        let pond = ponds.insert(2).unwrap();
        let wrong = |result: Result<i32, Failure>| result.unwrap_err().message();
        assert!(wrong(ponds.get(tensor)).contains("a millpond_tensor, not a millpond_pond"));
        assert!(wrong(tensors.get(pond)).contains("a millpond_pond, not a millpond_tensor"));
        for foreign in [1, 4096, u64::MAX, 0x7fff_1234_5678, tensor ^ (1 << 40), tensor ^ 1] {
            assert!(tensors.get(foreign).is_err(), "{foreign:x}");
        }
        assert!(matches!(tensors.get(0), Err(Failure::Null { .. })));
    }

    #[test]
    fn threads_insert_and_remove_at_once() {
        static TABLE: Table<usize> = Table::new(Kind::Text);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let keys: Vec<_> =
                        (0..500).map(|at| TABLE.insert(thread * 1000 + at).unwrap()).collect();
                    for (at, key) in keys.into_iter().enumerate() {
                        assert_eq!(TABLE.remove(key).unwrap(), thread * 1000 + at);
                    }
                });
            }
        });
    }
}
