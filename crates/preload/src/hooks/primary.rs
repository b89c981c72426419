//! The primary context of a device: made for the first who holds it, gone with the last.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use millpond_ledger::Column;

use super::context_charge::{charge_primary, make};
use super::context_table::{end, find, forget, note, work_ended};
use super::pool_registry::{graphs_charged, settle_all, settle_graphs};
use super::written;
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state::{self, CHARGED, Device};
use crate::types::{Status, status};

/// While it lives, no other thread makes or ends this device's primary context. Threads that need one
/// at once would otherwise each reserve its size, and one of them be refused for nothing.
pub(super) struct Alone(&'static Device);

impl Alone {
    pub(super) fn with(device: &'static Device) -> Self {
        let order = (Ordering::Acquire, Ordering::Relaxed);
        while device.primary_busy.compare_exchange(0, 1, order.0, order.1).is_err() {
            // Making one takes a tenth of a second.
            let nap = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
            // SAFETY: the pointer is to a time; nobody wants what is left of it.
            unsafe {
                let errno = *libc::__errno_location();
                libc::nanosleep(&raw const nap, core::ptr::null_mut());
                *libc::__errno_location() = errno;
            }
        }
        Self(device)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.primary_busy.store(0, Ordering::Release);
    }
}

/// Holds a device's primary context once more; the first one makes it, or the first after a reset.
pub(super) fn hold_primary(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    if ordinal >= account::device_count() {
        return call();
    }
    let _alone = Alone::with(device);
    let status = if device.primary_charge.load(Ordering::Acquire) & CHARGED != 0 {
        call()
    } else if primary_is_active(ordinal) == Some(true) {
        // Somebody made it without a hooked call: it is there, and this takes no more.
        let status = call();
        if status == status::SUCCESS
            && let Some(account) = Account::of(ordinal)
        {
            charge_primary(account, device);
        }
        status
    } else {
        let (status, units) = make(ordinal, call);
        if status == status::SUCCESS {
            device.primary_charge.store(CHARGED | u64::from(units), Ordering::Release);
        }
        status
    };
    if status == status::SUCCESS {
        device.primary.fetch_add(1, Ordering::AcqRel);
    }
    status
}

pub(crate) unsafe fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) -> Status {
    hold_primary(device, || {
        // SAFETY: the caller's arguments, unchanged.
        let status = unsafe { real::cuDevicePrimaryCtxRetain(context, device) };
        if status == status::SUCCESS
            && let Some(state) = state::get()
        {
            // Its charge is the device's, so it is noted without one.
            // SAFETY: the call has succeeded.
            let primary = unsafe { written(context) };
            if find(state, primary).is_none() {
                note(primary, device, 0);
            }
            if let Some(known) = account::device_state(device) {
                known.primary_context.store(primary, Ordering::Release);
            }
        }
        status
    })
}

/// The primary context is gone, by its last release or by a reset. The caller is alone.
fn primary_gone(ordinal: c_int, device: &Device) {
    let word = device.primary_charge.swap(0, Ordering::AcqRel);
    let units = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
    if let Some(state) = state::get() {
        end(state, device.primary_context.swap(0, Ordering::AcqRel));
    }
    if let Some(account) = Account::of(ordinal) {
        account.release(units);
        account.add_column(Column::Contexts, -i64::from(units));
        if graphs_charged(ordinal) != 0 {
            settle_graphs(account, 0, true);
        }
    }
    if let Some(state) = state::get() {
        work_ended(state, ordinal);
    }
}

/// Whether the driver has the primary context; `None` when it does not say.
pub(super) fn primary_is_active(ordinal: c_int) -> Option<bool> {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: pointers to values of the right types.
    let status =
        unsafe { others::cuDevicePrimaryCtxGetState(ordinal, &raw mut flags, &raw mut active) };
    (status == status::SUCCESS).then_some(active != 0)
}

/// Lets go of a device's primary context. Whether that was its end is the driver's to say: it counts
/// holders that came by no hooked call.
pub(super) fn drop_primary(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    let _alone = Alone::with(device);
    let status = call();
    if status == status::SUCCESS {
        let less = |count: u32| Some(count.saturating_sub(1));
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let last = device.primary.fetch_update(order.0, order.1, less).is_ok_and(|held| held <= 1);
        if !primary_is_active(ordinal).unwrap_or(!last) {
            primary_gone(ordinal, device);
        }
    }
    status
}

/// A reset ends the context and its memory; who held it holds it still, and the next who asks for it
/// makes it anew.
pub(super) fn reset(ordinal: c_int, call: impl FnOnce() -> Status) -> Status {
    let Some(device) = account::device_state(ordinal) else { return call() };
    let _alone = Alone::with(device);
    let status = call();
    if status != status::SUCCESS {
        return status;
    }
    let held = device.primary.load(Ordering::Acquire) > 0;
    if primary_is_active(ordinal).unwrap_or(held) {
        if let Some(state) = state::get() {
            let primary = device.primary_context.load(Ordering::Acquire);
            let number = find(state, primary).map_or(0, |found| found.0);
            forget(number);
        }
        settle_all();
    } else {
        primary_gone(ordinal, device);
    }
    status
}
