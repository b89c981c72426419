//! Ending calls from outside.

use std::cell::{Cell, RefCell};

use millpond::Cancel;

use crate::border::{Answer, Out, call, required, value};
use crate::failure::Failure;
use crate::objects::CANCELS;
use crate::result::ResultNumber;

/// Ends calls of other threads: see millpond_cancel_use().
pub struct millpond_cancel {
    _private: [u8; 0],
}

thread_local! {
    static CURRENT: RefCell<Option<Cancel>> = const { RefCell::new(None) };
    static USED: Cell<bool> = const { Cell::new(false) };
}

/// Runs work that the thread's cancel ends, if it has one.
pub(crate) fn scoped<T>(work: impl FnOnce() -> Answer<T>) -> Answer<T> {
    if !USED.try_with(Cell::get).unwrap_or(false) {
        return work();
    }
    let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
    match current {
        // Work that waits for nothing would not look.
        Some(cancel) if cancel.is_cancelled() => Err(Failure::Cancelled),
        Some(cancel) => cancel.scope(work),
        None => work(),
    }
}

/// Makes a cancel. Free it with millpond_cancel_free().
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cancel_new(cancel: Out<'_, *mut millpond_cancel>) -> ResultNumber {
    call(|| {
        let out = required(cancel, "cancel")?;
        out.write(CANCELS.insert(Cancel::new())?);
        Ok(())
    })
}

/// Ends every call that runs under this cancel, and every later one: each answers MILLPOND_CANCELLED within about a
/// tenth of a second. There is no way back; make another one.
///
/// Threads: any, at any time. Not in a signal handler. Fork: works in the child, for calls of the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cancel_set(cancel: *const millpond_cancel) -> ResultNumber {
    call(|| {
        CANCELS.get(cancel)?.cancel();
        Ok(())
    })
}

/// Whether a cancel is set: 1 or 0. Zero for a handle that is no cancel.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cancel_is_set(cancel: *const millpond_cancel) -> u32 {
    value(0, || Ok(CANCELS.get(cancel)?.is_cancelled().into()))
}

/// Has this thread's calls end when `cancel` is set; NULL ends that. Calls that wait for nobody do not look at it.
///
/// Threads: for the calling thread only. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cancel_use(cancel: *const millpond_cancel) -> ResultNumber {
    call(|| {
        let wanted = if cancel.is_null() { None } else { Some(CANCELS.get(cancel)?) };
        use_here(wanted);
        Ok(())
    })
}

fn use_here(cancel: Option<Cancel>) {
    let _ = USED.try_with(|used| used.set(cancel.is_some()));
    let _ = CURRENT.try_with(|current| current.replace(cancel));
}

/// Frees a cancel. Threads that use it go on doing so. NULL is nothing.
///
/// Threads: any; the handle is of no use afterwards. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cancel_free(cancel: *mut millpond_cancel) -> ResultNumber {
    call(|| CANCELS.free(cancel))
}

/// Runs work that `stop` inside of it can end as well.
pub(crate) fn stoppable<T>(work: impl FnOnce(&Cancel) -> Answer<T>) -> Answer<T> {
    let cancel = Cancel::new();
    let inner = cancel.clone();
    cancel.scope(|| work(&inner))
}
