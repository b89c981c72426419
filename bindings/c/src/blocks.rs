//! The blocks of a cache one by one.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{BlockTable, ElasticCache};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, call, required, waiting, write};
use crate::elastic::{Reserved, mark, millpond_cache};
use crate::failure::Failure;
use crate::objects::BLOCKS;
use crate::result::ResultNumber;
use crate::table::Kind;
use crate::tensor_data::array;

/// Hands out the blocks of a cache one by one; pages follow the blocks.
pub struct millpond_blocks {
    _private: [u8; 0],
}

/// What a handle of blocks names.
pub(crate) struct Handed {
    table: Mutex<Option<BlockTable>>,
    cache: Arc<ElasticCache>,
    pid: u32,
}

impl Drop for Handed {
    fn drop(&mut self) {
        if self.pid != process_number() {
            // In a forked child they are the parent's.
            let table = self.table.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(table.take());
        }
    }
}

impl Handed {
    fn of(handle: *const millpond_blocks) -> Answer<Arc<Self>> {
        let handed = BLOCKS.get(handle)?;
        if handed.pid == process_number() {
            Ok(handed)
        } else {
            Err(Failure::Forked { what: Kind::Blocks })
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<BlockTable>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&BlockTable) -> Answer<T>) -> Answer<T> {
        match &*self.lock() {
            Some(table) => work(table),
            None => Err(Failure::Forked { what: Kind::Blocks }),
        }
    }
}

/// The table that hands out the blocks of a cache. There is one at a time, and no block may be committed by its
/// number. Free it with millpond_blocks_free().
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_blocks_open(
    cache: *const millpond_cache,
    blocks: Out<'_, *mut millpond_blocks>,
) -> ResultNumber {
    call(|| {
        let out = required(blocks, "blocks")?;
        let cache = Reserved::of(cache)?;
        let table = Mutex::new(Some(cache.blocks()?));
        out.write(BLOCKS.insert(Arc::new(Handed { table, cache, pid: process_number() }))?);
        Ok(())
    })
}

/// Takes `count` blocks, or none: their numbers go to `numbers`, which has room for as many.
///
/// Threads: any. Fork: blocks of the parent are refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_blocks_take(
    blocks: *const millpond_blocks,
    count: usize,
    numbers: *mut u32,
) -> ResultNumber {
    waiting(|| {
        let handed = Handed::of(blocks)?;
        if numbers.is_null() {
            return Err(Failure::Null { what: "numbers" });
        }
        let taken = handed.with(|table| Ok(table.take(count).map_err(millpond::Error::from)?))?;
        // SAFETY: there are as many as were asked for at most, and the header demands room for these.
        unsafe { numbers.copy_from_nonoverlapping(taken.as_ptr(), taken.len().min(count)) };
        Ok(())
    })
}

/// Gives `count` blocks back. Work that `stream` has queued so far may use them until it is done; NULL is the legacy
/// default stream. If one of them was not taken, or is named twice, none is given back.
///
/// Threads: any. Fork: blocks of the parent are refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_blocks_give(
    blocks: *const millpond_blocks,
    numbers: *const u32,
    count: usize,
    stream: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let handed = Handed::of(blocks)?;
        // SAFETY: the header demands that so many are readable there.
        let numbers = unsafe { array(numbers, count, "numbers")? };
        let after = mark(&handed.cache, stream)?;
        handed.with(|table| Ok(table.give(numbers, Some(after)).map_err(millpond::Error::from)?))
    })
}

/// How many blocks nobody has taken, and how many of them can be taken without a call of the driver. Either output
/// may be NULL.
///
/// Threads: any. Fork: blocks of the parent are refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_blocks_count(
    blocks: *const millpond_blocks,
    free: Out<'_, u64>,
    ready: Out<'_, u64>,
) -> ResultNumber {
    call(|| {
        Handed::of(blocks)?.with(|table| {
            write(free, table.free_blocks());
            write(ready, table.ready_blocks());
            Ok(())
        })
    })
}

/// Frees the table: all blocks are given back, as if work on them were done when the device is idle. NULL is nothing.
///
/// Threads: any. Fork: blocks of the parent are freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_blocks_free(blocks: *mut millpond_blocks) -> ResultNumber {
    waiting(|| BLOCKS.free(blocks))
}
