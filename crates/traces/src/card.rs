//! A modelled card: calls that take as long as an H200 took for them, on a clock that nobody waits
//! for.

use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_elastic::{PageDriver, PageError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What calls cost for one handle of a size, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    /// Of handles up to this size.
    bytes: u64,
    create: u64,
    map: u64,
    /// `cuMemSetAccess` for the first handle of a run, and for each further one.
    access: [u64; 2],
    /// `cuMemUnmap` likewise.
    unmap: [u64; 2],
    release: u64,
}

/// Medians of an H200 with driver 580.159, one process.
const COSTS: [Cost; 3] = [
    Cost {
        bytes: 2 << 20,
        create: 12_700,
        map: 1_000,
        access: [31_000, 23_700],
        unmap: [19_000, 17_500],
        release: 10_000,
    },
    Cost {
        bytes: 16 << 20,
        create: 9_200,
        map: 800,
        access: [24_000; 2],
        unmap: [18_000; 2],
        release: 14_000,
    },
    Cost {
        bytes: u64::MAX,
        create: 12_700,
        map: 700,
        access: [24_000; 2],
        unmap: [20_000; 2],
        release: 26_000,
    },
];

/// A range of addresses on a card. Clones are the same range.
#[derive(Clone, Debug)]
pub struct Card {
    state: Arc<Mutex<State>>,
    /// Sizes of handles by offset.
    mapped: Arc<Mutex<BTreeMap<u64, u64>>>,
    is_free: bool,
}

#[derive(Debug)]
struct State {
    capacity: u64,
    used: u64,
    /// What calls have cost since somebody asked.
    spent: u64,
}

/// Memory of the card.
#[derive(Debug)]
pub struct Handle {
    bytes: u64,
}

impl Card {
    /// A card with so much memory.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let state = Arc::new(Mutex::new(State { capacity, used: 0, spent: 0 }));
        Self { state, mapped: Arc::default(), is_free: false }
    }

    /// Another range of addresses on the same card.
    #[must_use]
    pub fn range(&self) -> Self {
        Self { mapped: Arc::default(), ..self.clone() }
    }

    /// The same, with calls that cost nothing.
    #[must_use]
    pub fn without_costs(capacity: u64) -> Self {
        Self { is_free: true, ..Self::new(capacity) }
    }

    /// What calls have cost since this was asked last.
    #[must_use]
    pub fn spent(&self) -> Duration {
        Duration::from_nanos(std::mem::take(&mut self.state().spent))
    }

    /// Adds time that is not the driver's.
    pub fn spend(&self, time: Duration) {
        self.cost(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// What was made and not given back.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.state().used
    }

    fn cost(&self, nanos: u64) {
        if !self.is_free {
            self.state().spent += nanos;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cost_of(bytes: u64) -> &'static Cost {
    COSTS.iter().find(|cost| bytes <= cost.bytes).unwrap_or(&COSTS[2])
}

fn refused(call: &'static str, status: Status) -> PageError {
    CudaError { call, status, detail: None }.into()
}

impl PageDriver for Card {
    type Handle = Handle;
    /// Blocks are given back after their last token was read, so all work is over then.
    type Fence = ();

    fn base(&self) -> u64 {
        1 << 40
    }

    fn create(&self, bytes: u64) -> Result<Handle, PageError> {
        self.cost(cost_of(bytes).create);
        let mut state = self.state();
        if state.used + bytes > state.capacity {
            return Err(refused("cuMemCreate", Status::OUT_OF_MEMORY));
        }
        state.used += bytes;
        Ok(Handle { bytes })
    }

    fn release(&self, handle: Handle) -> Result<(), PageError> {
        self.cost(cost_of(handle.bytes).release);
        self.state().used -= handle.bytes;
        Ok(())
    }

    fn map(&self, offset: u64, handles: &[&Handle]) -> Result<(), PageError> {
        let (mut mapped, mut at) = (lock(&self.mapped), offset);
        for (place, handle) in handles.iter().enumerate() {
            let cost = cost_of(handle.bytes);
            self.cost(cost.map + cost.access[place.min(1)]);
            mapped.insert(at, handle.bytes);
            at += handle.bytes;
        }
        Ok(())
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        let mut mapped = lock(&self.mapped);
        let run = mapped.range(offset..offset + bytes);
        let run: Vec<(u64, u64)> = run.map(|(at, bytes)| (*at, *bytes)).collect();
        if run.iter().map(|(_, bytes)| bytes).sum::<u64>() != bytes {
            return Err(refused("cuMemUnmap", Status::INVALID_VALUE));
        }
        for (place, (at, bytes)) in run.iter().enumerate() {
            self.cost(cost_of(*bytes).unmap[place.min(1)]);
            mapped.remove(at);
        }
        Ok(())
    }

    fn is_passed(&self, (): &()) -> Result<bool, PageError> {
        Ok(true)
    }

    fn settle(&self) -> Result<(), PageError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gigabyte_costs_what_it_cost_on_the_card() {
        let card = Card::new(1 << 30);
        let grow = |handle_bytes: u64| {
            let count = (1 << 30) / handle_bytes;
            let handles: Vec<Handle> =
                (0..count).map(|_| card.create(handle_bytes).unwrap()).collect();
            card.map(0, &handles.iter().collect::<Vec<_>>()).unwrap();
            let time = card.spent();
            assert!(card.create(1).unwrap_err().is_out_of_memory());
            card.unmap(0, 1 << 30).unwrap();
            handles.into_iter().for_each(|handle| card.release(handle).unwrap());
            assert_eq!(card.used_bytes(), 0);
            let _ = card.spent();
            time.as_micros()
        };
        // Measured with a cache, on another day: 15.8, 1.86 and 0.55 ms.
        assert_eq!([2, 16, 64].map(|mib| grow(mib << 20)), [19_156, 2_176, 598]);
    }
}
