//! A card that knows everything that happens to it, and writes down what must not.

use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_elastic::{
    Cache, Credit, Geometry, Marks, PageDriver, PageError, Short, Verdict, Why,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub const MIB: u64 = 1 << 20;
pub const GRANULE: u64 = 2 * MIB;

/// One card with one range of addresses, and who pays for it. Clones are the same card.
#[derive(Clone, Default)]
pub struct Card {
    state: Arc<Mutex<State>>,
    gate: Arc<Gate>,
}

#[derive(Default)]
pub struct State {
    pub capacity: u64,
    pub used: u64,
    /// Credit that was taken and not given back.
    pub paid: u64,
    pub limit: u64,
    /// What the payer was told last.
    pub idle: u64,
    next: u64,
    /// Memory by handle: one byte stands for the contents of each granule.
    memory: BTreeMap<u64, Vec<u8>>,
    /// Size and handle by offset.
    mapped: BTreeMap<u64, (u64, u64)>,
    /// Running work by fence: the offsets that it uses.
    work: BTreeMap<u64, Vec<Range<u64>>>,
    /// Calls until one fails; `None` for never.
    pub fail_in: Option<u64>,
    pub calls: u64,
    /// What should never have happened.
    pub faults: Vec<String>,
}

/// Holds the next create or unmap until it is opened.
#[derive(Default)]
struct Gate {
    closed: Mutex<(bool, bool)>,
    changed: Condvar,
}

pub struct Handle {
    id: u64,
    bytes: u64,
}

/// A cache on the card.
pub type ModelCache = Cache<Card, Card>;

pub fn cache(card: &Card, geometry: Geometry, marks: Marks) -> ModelCache {
    Cache::new(card.clone(), card.clone(), geometry, marks)
}

impl Card {
    /// A card that has room for everything, and credit as well.
    pub fn new() -> Self {
        Self::with_room(1 << 40, 1 << 40)
    }

    pub fn with_room(capacity: u64, limit: u64) -> Self {
        let card = Self::default();
        card.state().capacity = capacity;
        card.state().limit = limit;
        card
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is held, and what is paid for.
    pub fn used_and_paid(&self) -> (u64, u64) {
        let state = self.state();
        (state.used, state.paid)
    }

    /// What is paid for, and what of it the payer believes to be idle.
    pub fn paid_and_idle(&self) -> (u64, u64) {
        let state = self.state();
        (state.paid, state.idle)
    }

    pub fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }

    /// Starts work on some offsets and answers its fence.
    pub fn submit(&self, offsets: Vec<Range<u64>>) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let fence = state.next;
        for range in &offsets {
            if !state.is_mapped(range) {
                state.faults.push(format!("work on {range:?}, which is not mapped"));
            }
        }
        state.work.insert(fence, offsets);
        fence
    }

    /// Starts work on one span.
    pub fn submit_one(&self, offsets: Range<u64>) -> u64 {
        self.submit(std::iter::once(offsets).collect())
    }

    pub fn finish(&self, fence: u64) {
        self.state().work.remove(&fence);
    }

    /// The oldest fence of running work.
    pub fn oldest(&self) -> Option<u64> {
        self.state().work.keys().next().copied()
    }

    /// Writes the contents of the granule at an offset.
    pub fn write(&self, offset: u64, value: u8) {
        if let Some(place) = self.state().byte(offset) {
            *place = value;
        }
    }

    pub fn read(&self, offset: u64) -> Option<u8> {
        self.state().byte(offset).copied()
    }

    pub fn mapped_bytes(&self) -> u64 {
        self.state().mapped.values().map(|(bytes, _)| bytes).sum()
    }

    /// The next create or unmap waits until the gate is opened.
    pub fn close_gate(&self) {
        *self.gate.closed.lock().unwrap() = (true, false);
    }

    /// Waits until somebody stands at the gate.
    pub fn wait_at_gate(&self) {
        let closed = self.gate.closed.lock().unwrap();
        drop(self.gate.changed.wait_while(closed, |(_, waits)| !*waits).unwrap());
    }

    pub fn open_gate(&self) {
        self.gate.closed.lock().unwrap().0 = false;
        self.gate.changed.notify_all();
    }

    fn pass_gate(&self) {
        let mut closed = self.gate.closed.lock().unwrap();
        if closed.0 && !closed.1 {
            closed.1 = true;
            self.gate.changed.notify_all();
            drop(self.gate.changed.wait_while(closed, |(closed, _)| *closed).unwrap());
        }
    }
}

impl State {
    fn is_mapped(&self, range: &Range<u64>) -> bool {
        (range.start..range.end)
            .step_by(usize::try_from(GRANULE).unwrap())
            .all(|offset| self.at(offset).is_some())
    }

    /// Where an offset lies: its handle, and which granule of it.
    fn at(&self, offset: u64) -> Option<(u64, usize)> {
        let (start, (bytes, id)) = self.mapped.range(..=offset).next_back()?;
        let granule = usize::try_from((offset - start) / GRANULE).unwrap();
        (offset < start + bytes).then_some((*id, granule))
    }

    fn byte(&mut self, offset: u64) -> Option<&mut u8> {
        let (id, granule) = self.at(offset)?;
        self.memory.get_mut(&id)?.get_mut(granule)
    }

    fn call(&mut self, name: &'static str) -> Result<(), PageError> {
        self.calls += 1;
        match &mut self.fail_in {
            Some(0) => {
                self.fail_in = None;
                Err(error(name, Status::INVALID_VALUE))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

pub fn error(call: &'static str, status: Status) -> PageError {
    CudaError { call, status, detail: None }.into()
}

impl PageDriver for Card {
    type Handle = Handle;
    type Fence = u64;

    fn base(&self) -> u64 {
        1 << 40
    }

    fn create(&self, bytes: u64) -> Result<Handle, PageError> {
        self.pass_gate();
        let mut state = self.state();
        state.call("create")?;
        if state.used + bytes > state.capacity {
            return Err(error("create", Status::OUT_OF_MEMORY));
        }
        state.used += bytes;
        if state.used > state.paid {
            let (used, paid) = (state.used, state.paid);
            state.faults.push(format!("{used} bytes are made, {paid} are paid"));
        }
        state.next += 1;
        let id = state.next;
        let granules = usize::try_from(bytes / GRANULE).unwrap();
        state.memory.insert(id, vec![0; granules]);
        Ok(Handle { id, bytes })
    }

    fn release(&self, handle: Handle) -> Result<(), PageError> {
        let mut state = self.state();
        state.call("release")?;
        if state.mapped.values().any(|(_, id)| *id == handle.id) {
            state.faults.push(format!("handle {} is released while it is mapped", handle.id));
        }
        state.memory.remove(&handle.id);
        state.used -= handle.bytes;
        Ok(())
    }

    fn map(&self, offset: u64, handles: &[&Handle]) -> Result<(), PageError> {
        let mut state = self.state();
        state.call("map")?;
        let mut at = offset;
        for handle in handles {
            let end = at + handle.bytes;
            let occupied = state
                .mapped
                .range(..end)
                .next_back()
                .is_some_and(|(one, (size, _))| one + size > at);
            if occupied {
                state.faults.push(format!("offset {at} is mapped twice"));
                return Err(error("map", Status::INVALID_VALUE));
            }
            state.mapped.insert(at, (handle.bytes, handle.id));
            at = end;
        }
        Ok(())
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        self.pass_gate();
        let mut state = self.state();
        state.call("unmap")?;
        let end = offset + bytes;
        let run: Vec<_> =
            state.mapped.range(offset..end).map(|(at, (size, _))| (*at, *size)).collect();
        let is_whole =
            run.iter().try_fold(offset, |next, (at, size)| (*at == next).then_some(at + size));
        if is_whole != Some(end) {
            state.faults.push(format!("{bytes} bytes at {offset} are not a run of handles"));
            return Err(error("unmap", Status::INVALID_VALUE));
        }
        let used = |one: &Range<u64>| one.start < end && offset < one.end;
        if state.work.values().flatten().any(used) {
            state.faults.push(format!("{bytes} bytes at {offset} are unmapped under running work"));
        }
        state.mapped.retain(|at, _| !(offset..end).contains(at));
        Ok(())
    }

    fn is_passed(&self, fence: &u64) -> Result<bool, PageError> {
        Ok(!self.state().work.contains_key(fence))
    }

    fn settle(&self) -> Result<(), PageError> {
        self.state().work.clear();
        Ok(())
    }
}

impl Credit for Card {
    fn take(&self, bytes: u64, _why: Why) -> Result<(), Short> {
        let mut state = self.state();
        if state.paid + bytes > state.limit {
            let (asked, limit, used) = (bytes, state.limit, state.paid);
            let verdict = if bytes > limit { Verdict::Never } else { Verdict::AfterFreeing };
            return Err(Short { asked, limit, used, holders: Vec::new(), verdict });
        }
        state.paid += bytes;
        Ok(())
    }

    fn give(&self, bytes: u64) {
        let mut state = self.state();
        let left = state.paid.checked_sub(bytes).filter(|left| *left >= state.used);
        if left.is_none() {
            let (used, paid) = (state.used, state.paid);
            state.faults.push(format!("{bytes} of {paid} are given back while {used} are held"));
        }
        state.paid = state.paid.saturating_sub(bytes);
    }

    fn idle(&self, bytes: u64) {
        self.state().idle = bytes;
    }
}
