//! Memory of this process that it has announced, with what owns it here.

use std::any::Any;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_cuda::{Context, DevicePtr, share};

use crate::process;

/// One allocation. When the last user is gone, so is what owned it.
pub(crate) struct Kept {
    context: Context,
    base: DevicePtr,
    bytes: u64,
    owner: u32,
    /// The pond pays for it, and not the limit that this process may have.
    handed_over: AtomicBool,
    keep: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Kept {
    pub(crate) fn new(
        context: Context,
        base: DevicePtr,
        bytes: u64,
        keep: Box<dyn Any + Send>,
    ) -> Self {
        let handed_over = AtomicBool::new(false);
        let (owner, keep) = (process::current(), Mutex::new(Some(keep)));
        Self { context, base, bytes, owner, handed_over, keep }
    }

    /// The pond is charged with it: what a limit charges this process with ends, so that nobody pays
    /// twice.
    pub(super) fn hand_over(&self) {
        if share::hand_over(self.base, self.bytes) {
            self.handed_over.store(true, Ordering::Release);
        }
    }

    /// The pond is charged with it no more. What is still there is charged to this process again.
    pub(super) fn take_back(&self) {
        if self.handed_over.swap(false, Ordering::AcqRel) && self.owner == process::current() {
            let _ = share::take_back(self.base, self.bytes);
        }
    }

    /// The context that the memory was made in.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Where the allocation begins.
    pub(crate) fn base(&self) -> DevicePtr {
        self.base
    }

    /// The whole allocation.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A forked copy owns nothing, and must not free it.
        if self.owner != process::current()
            && let Ok(keep) = self.keep.get_mut()
        {
            std::mem::forget(keep.take());
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("base", &self.base)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
