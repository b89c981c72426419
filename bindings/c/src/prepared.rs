//! Blocks that are ready to be committed.

use std::sync::{Arc, Mutex, PoisonError};

use millpond::Prepared;
use millpond_wire::fd::process_number;

use crate::border::call;
use crate::failure::Failure;
use crate::objects::PREPARED;
use crate::result::ResultNumber;
use crate::table::Kind;

/// Blocks of a cache that can be committed without fail, from millpond_cache_prepare().
pub struct millpond_prepared {
    _private: [u8; 0],
}

/// What a handle of prepared blocks names.
pub(crate) struct Ready {
    blocks: Mutex<Option<Prepared>>,
    pid: u32,
}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.pid != process_number() {
            // In a forked child they are the parent's.
            let blocks = self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(blocks.take());
        }
    }
}

pub(crate) fn keep(blocks: Prepared) -> Arc<Ready> {
    Arc::new(Ready { blocks: Mutex::new(Some(blocks)), pid: process_number() })
}

/// Commits the blocks, and frees the handle.
///
/// Threads: any. Fork: blocks of the parent are refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_prepared_commit(prepared: *mut millpond_prepared) -> ResultNumber {
    call(|| {
        let ready = PREPARED.get(prepared)?;
        if ready.pid != process_number() {
            return Err(Failure::Forked { what: Kind::Prepared });
        }
        PREPARED.take(prepared)?;
        let blocks = ready.blocks.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(blocks) = blocks {
            blocks.commit();
        }
        Ok(())
    })
}

/// Gives the pages up; they are idle afterwards. NULL is nothing.
///
/// Threads: any. Fork: blocks of the parent are freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_prepared_free(prepared: *mut millpond_prepared) -> ResultNumber {
    call(|| PREPARED.free(prepared))
}
