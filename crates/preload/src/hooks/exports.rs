//! Exported descriptors: one that is kept open keeps memory whose handles are all released.
//!
//! An export holds its object like a mapping does. Closing a descriptor is no call of the driver's,
//! so it is noticed later: when the object is released or unmapped, and before memory is refused.
//! A descriptor is taken for the same as long as its number is open on the same file. All of a card's
//! exports are open on one file, so a number that is used again can keep a charge too long, never
//! end it too early. What a program passes on and closes is charged to whoever imports it.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use super::physical::{drop_holder, hold, object_of};
use super::written;
use crate::driver::real;
use crate::state::{self, State};
use crate::types::{Status, status};

const DESCRIPTOR: u32 = 1;

/// The file that a descriptor is open on, as one number; `None` when it is closed.
fn file_of(fd: c_int) -> Option<u64> {
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the struct has room, and errno is the program's and stays.
    let (known, found) = unsafe {
        let errno = *libc::__errno_location();
        let known = libc::fstat(fd, found.as_mut_ptr()) == 0;
        *libc::__errno_location() = errno;
        (known, found.assume_init())
    };
    known.then(|| found.st_ino.rotate_left(24) ^ found.st_dev ^ found.st_rdev.rotate_left(40))
}

fn note(state: &State, place: usize, fd: c_int) {
    let (Some(object), Some(file)) = (state.objects.get(place), file_of(fd)) else { return };
    // Filled before it can be found.
    const FILLING: usize = usize::MAX;
    for export in &state.exports {
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if export.object.load(Ordering::Relaxed) == 0
            && export.object.compare_exchange(0, FILLING, order.0, order.1).is_ok()
        {
            if !hold(object) {
                export.object.store(0, Ordering::Release);
                return;
            }
            object.exports.fetch_add(1, Ordering::AcqRel);
            state.export_count.fetch_add(1, Ordering::AcqRel);
            export.fd.store(fd.unsigned_abs(), Ordering::Relaxed);
            export.file.store(file, Ordering::Relaxed);
            export.object.store(place + 1, Ordering::Release);
            return;
        }
    }
    crate::message::say(
        crate::message::Level::Warn,
        format_args!("too many exported handles to remember; one that is kept is not counted"),
    );
}

/// Lets go of the exports of an object that were closed.
pub(crate) fn look_again(state: &State, place: usize) {
    if state.objects.get(place).is_some_and(|object| object.exports.load(Ordering::Acquire) > 0) {
        drop_closed(state, |found| found == place + 1);
    }
}

/// Lets go of every export that was closed; whether there was one.
#[cold]
pub(crate) fn look_at_all() -> bool {
    state::get().is_some_and(|state| {
        state.export_count.load(Ordering::Acquire) > 0 && drop_closed(state, |found| found != 0)
    })
}

fn drop_closed(state: &State, wanted: impl Fn(usize) -> bool) -> bool {
    let mut dropped = false;
    for export in &state.exports {
        let found = export.object.load(Ordering::Acquire);
        if found == 0 || found == usize::MAX || !wanted(found) {
            continue;
        }
        let fd = c_int::try_from(export.fd.load(Ordering::Relaxed)).unwrap_or(-1);
        if file_of(fd) == Some(export.file.load(Ordering::Relaxed)) {
            continue;
        }
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        if export.object.compare_exchange(found, 0, order.0, order.1).is_ok() {
            state.export_count.fetch_sub(1, Ordering::AcqRel);
            if let Some(object) = state.objects.get(found - 1) {
                object.exports.fetch_sub(1, Ordering::AcqRel);
            }
            drop_holder(state, found - 1);
            dropped = true;
        }
    }
    dropped
}

pub(crate) unsafe fn cuMemExportToShareableHandle(
    shareable: *mut c_void,
    handle: u64,
    kind: u32,
    flags: u64,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuMemExportToShareableHandle(shareable, handle, kind, flags) };
    if status == status::SUCCESS
        && kind == DESCRIPTOR
        && let Some(state) = state::get()
        && let Some(place) = object_of(state, handle)
    {
        // SAFETY: for this kind the driver has written a descriptor.
        note(state, place, unsafe { written(shareable.cast::<c_int>()) });
    }
    status
}
