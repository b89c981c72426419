//! What the driver says that pools and graphs hold, and whether a stream is being captured.
//!
//! During a capture such a question would break the capture, unless this thread's mode is relaxed for
//! its length. No synchronisation, no system call.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use millpond_ledger::units_for;

use crate::driver::others;
use crate::state::State;
use crate::types::status;

const RESERVED_NOW: u32 = 5;
const GRAPH_RESERVED_NOW: u32 = 2;
const MODE_RELAXED: u32 = 2;

/// While it lives, questions about pools do not break this thread's captures.
pub(super) struct Relaxed(Option<u32>);

impl Relaxed {
    pub(super) fn new(state: &State) -> Self {
        if state.captures.load(Ordering::Relaxed) == 0 {
            return Self(None);
        }
        let mut mode = MODE_RELAXED;
        // SAFETY: the pointer is to a mode, which the call exchanges.
        let status = unsafe { others::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        Self((status == status::SUCCESS).then_some(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        if let Some(mut mode) = self.0 {
            // SAFETY: as above.
            unsafe { others::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        }
    }
}

/// Whether a stream is being captured: then its allocations become a graph's.
#[inline]
pub(crate) fn is_capturing(state: &State, stream: usize, per_thread: bool) -> bool {
    state.captures.load(Ordering::Relaxed) != 0 && ask_whether_capturing(stream, per_thread)
}

#[cold]
fn ask_whether_capturing(stream: usize, per_thread: bool) -> bool {
    let mut capturing = 0;
    // SAFETY: the pointer is to a status; the stream is the caller's.
    let status = unsafe {
        if per_thread {
            others::cuStreamIsCapturing_ptsz(stream, &raw mut capturing)
        } else {
            others::cuStreamIsCapturing(stream, &raw mut capturing)
        }
    };
    status == status::SUCCESS && capturing != 0
}

/// What a pool holds, in units.
#[inline]
pub(super) fn pool_units(state: &State, pool: usize) -> Option<u32> {
    if state.captures.load(Ordering::Relaxed) == 0 {
        return ask_pool(pool);
    }
    pool_units_in_captures(state, pool)
}

#[cold]
fn pool_units_in_captures(state: &State, pool: usize) -> Option<u32> {
    let _relaxed = Relaxed::new(state);
    ask_pool(pool)
}

#[inline]
fn ask_pool(pool: usize) -> Option<u32> {
    let mut bytes = 0_u64;
    // SAFETY: the pointer is to a number of 64 bits, as this attribute wants.
    let status = unsafe { others::cuMemPoolGetAttribute(pool, RESERVED_NOW, &raw mut bytes) };
    (status == status::SUCCESS).then(|| units_for(bytes))
}

/// What graphs hold on a device, in units.
pub(super) fn graph_units(ordinal: c_int) -> Option<u32> {
    let mut bytes = 0_u64;
    // SAFETY: the pointer is to a number of 64 bits, as this attribute wants.
    let status = unsafe {
        others::cuDeviceGetGraphMemAttribute(ordinal, GRAPH_RESERVED_NOW, &raw mut bytes)
    };
    (status == status::SUCCESS).then(|| units_for(bytes))
}
