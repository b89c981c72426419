//! Calls that wait: what was freed in stream order before may be back with the card after them.

use core::sync::atomic::Ordering;

use super::pending::{self, Waited};
use super::pool_registry::settle_all;
use crate::account;
use crate::driver::real;
use crate::state;
use crate::types::{Status, status};

/// After a moment of waiting: what was freed in stream order may be the card's again.
pub(super) fn waited(status: Status, done: impl FnOnce() -> Waited) -> Status {
    let Some(state) = state::get().filter(|_| status == status::SUCCESS) else { return status };
    let pending = state.pending_count.load(Ordering::Relaxed) != 0;
    let dirty = state.dirty.load(Ordering::Relaxed) != 0;
    if dirty || pending {
        let done = done();
        // One stream's end says nothing about the others', so only the whole wait clears the mark.
        if matches!(done, Waited::Device(_)) && account::device_count() == 1 {
            state.dirty.store(0, Ordering::Relaxed);
        }
        settle_all();
        if pending {
            pending::release(state, done);
        }
    }
    status
}

pub(crate) unsafe fn cuEventSynchronize(event: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    waited(unsafe { real::cuEventSynchronize(event) }, || Waited::Event)
}

pub(crate) unsafe fn cuCtxSynchronize() -> Status {
    // SAFETY: no conditions.
    let status = unsafe { real::cuCtxSynchronize() };
    waited(status, || account::current_device().map_or(Waited::Event, Waited::Device))
}

pub(crate) unsafe fn cuCtxSynchronize_v2(context: usize) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuCtxSynchronize_v2(context) };
    waited(status, || {
        let device = match context {
            0 => account::current_device(),
            _ if account::device_count() == 1 => Some(0),
            context => super::context_table::device_of(context),
        };
        device.map_or(Waited::Event, Waited::Device)
    })
}
