//! What `fork` must not break: no table is locked by a thread that the child does not have.

use std::any::Any;
use std::cell::RefCell;
use std::sync::OnceLock;

use crate::objects;

thread_local! {
    /// The locks of all tables, while this thread forks.
    static HELD: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn before() {
    let _ = HELD.try_with(|held| {
        if let Ok(mut held) = held.try_borrow_mut() {
            objects::hold_all(&mut held);
        }
    });
}

extern "C" fn after() {
    let _ = HELD.try_with(|held| {
        if let Ok(mut held) = held.try_borrow_mut() {
            held.clear();
        }
    });
}

/// Has forks noticed from now on.
pub(crate) fn watch() {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // SAFETY: the handlers are functions of this library, which is never unloaded; they lock and unlock, and
        // neither unwind nor allocate in the child.
        let _ = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
}
