//! Stream-ordered pools.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{PoolBlock, PoolSpec, StreamPool};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, Text, call, flag, required, reserved, value, waiting, write};
use crate::elastic::{millpond_elastic, patience};
use crate::failure::Failure;
use crate::objects::{ELASTICS, PONDS, POOLS};
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::stream::Foreign;
use crate::table::Kind;
use crate::uuid::millpond_uuid;

/// A stream-ordered pool on the budget of a group: memory for the work of streams, freed and used again in their
/// order.
pub struct millpond_pool {
    _private: [u8; 0],
}

pub(crate) type Kept = Arc<Blocks>;

/// What a handle of a pool names: the pool, and what it has handed out, by address.
pub(crate) struct Blocks {
    pool: Option<StreamPool>,
    taken: Mutex<HashMap<u64, PoolBlock>>,
    pid: u32,
}

impl Drop for Blocks {
    fn drop(&mut self) {
        if self.pid != process_number() {
            // In a forked child all of it is the parent's.
            let taken = self.taken.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget((self.pool.take(), std::mem::take(taken)));
        }
    }
}

impl Blocks {
    fn keep(pool: StreamPool) -> Answer<*mut millpond_pool> {
        POOLS.insert(Arc::new(Self {
            pool: Some(pool),
            taken: Mutex::default(),
            pid: process_number(),
        }))
    }

    fn of(handle: *const millpond_pool) -> Answer<Kept> {
        let blocks = POOLS.get(handle)?;
        if blocks.pid == process_number() {
            Ok(blocks)
        } else {
            Err(Failure::Forked { what: Kind::Pool })
        }
    }

    fn pool(&self) -> Answer<&StreamPool> {
        self.pool.as_ref().ok_or(Failure::Forked { what: Kind::Pool })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, PoolBlock>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a pool is to be like. Begin with a struct of zeroes; set `name`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_pool_spec {
    /// What people and the pond call it.
    pub name: Text,
    /// On which GPU; all zero for the pond's first one.
    pub gpu: millpond_uuid,
    /// Bytes of addresses; zero for four times the card's memory.
    pub address_bytes: u64,
    /// What other caches of the group leave it.
    pub min_bytes: u64,
    /// How long an allocation waits for others to give way. Zero: a second; MILLPOND_NO_WAIT: not at all.
    pub wait_ms: u64,
    /// Its part of what is above everybody's `min_bytes`, when caches compete. Zero: 1.
    pub weight: u32,
    /// Must be zero.
    pub reserved_flags: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 6],
}

/// A pool at one moment. Bytes are those of blocks unless said.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_pool_info {
    /// UUID of its GPU.
    pub gpu: millpond_uuid,
    /// In blocks that are in use.
    pub in_use_bytes: u64,
    /// What was asked for; blocks are a little larger.
    pub asked_bytes: u64,
    /// In gaps and in freed blocks that other streams have not passed yet.
    pub free_bytes: u64,
    /// What the pool holds of the card: blocks in use and free bytes.
    pub held_bytes: u64,
    /// The most that was in use.
    pub peak_in_use_bytes: u64,
    /// The most that was held.
    pub peak_held_bytes: u64,
    /// The largest gap.
    pub largest_gap_bytes: u64,
    /// Blocks that are in use.
    pub blocks: u64,
    /// Blocks that were handed out so far.
    pub allocations: u64,
    /// Requests that found no memory.
    pub refused: u64,
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

/// A pool on the account of this program: of its own group where it runs in one, and else of a group without a limit.
/// Free it with millpond_pool_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used CUDA:
/// MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_open(
    pond: *const millpond_pond,
    gpu: Option<&millpond_uuid>,
    pool: Out<'_, *mut millpond_pool>,
) -> ResultNumber {
    waiting(|| {
        let out = required(pool, "pool")?;
        let pond = PONDS.get(pond)?;
        let gpu = match required(gpu, "gpu")?.gpu() {
            Some(gpu) => gpu,
            None => pond.device_at(0)?,
        };
        out.write(Blocks::keep(StreamPool::new(&pond, gpu)?)?);
        Ok(())
    })
}

/// A pool on the budget of a group. Free it with millpond_pool_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used CUDA:
/// MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_reserve(
    elastic: *const millpond_elastic,
    spec: Option<&millpond_pool_spec>,
    pool: Out<'_, *mut millpond_pool>,
) -> ResultNumber {
    waiting(|| {
        let out = required(pool, "pool")?;
        let elastic = ELASTICS.get(elastic)?;
        let given = required(spec, "spec")?;
        reserved(&given.reserved, "millpond_pool_spec")?;
        reserved(&[given.reserved_flags.into()], "millpond_pool_spec")?;
        let mut spec = PoolSpec::new(given.name.required("name")?)
            .min(given.min_bytes)
            .weight(if given.weight == 0 { 1 } else { given.weight });
        if let Some(gpu) = given.gpu.gpu() {
            spec = spec.device(gpu);
        }
        if given.address_bytes != 0 {
            spec = spec.addresses(given.address_bytes);
        }
        if let Some(wait) = patience(given.wait_ms) {
            spec = spec.wait(wait);
        }
        out.write(Blocks::keep(elastic.pool(spec)?)?);
        Ok(())
    })
}

/// A block that work of `stream` may use from now on; its contents are undefined and its address is a multiple of
/// 512. NULL is the legacy default stream, which lives as long as the CUDA context; any other stream must live until
/// the block is freed. MILLPOND_GPU_FULL if there is no memory after everything was tried.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_alloc(
    pool: *const millpond_pool,
    bytes: u64,
    stream: *mut c_void,
    data: Out<'_, *mut c_void>,
) -> ResultNumber {
    waiting(|| {
        let out = required(data, "data")?;
        let blocks = Blocks::of(pool)?;
        let pool = blocks.pool()?;
        let block = pool.alloc(bytes, &Foreign::of(pool.context(), stream))?;
        let address = block.address();
        blocks.lock().insert(address, block);
        let address = usize::try_from(address).unwrap_or(0);
        out.write(std::ptr::with_exposed_provenance_mut(address));
        Ok(())
    })
}

/// Frees a block: later work of `stream` may use its memory at once, work of others when that is done. NULL as `data`
/// is nothing.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_free_block(
    pool: *const millpond_pool,
    data: *mut c_void,
    stream: *mut c_void,
) -> ResultNumber {
    call(|| {
        if data.is_null() {
            return Ok(());
        }
        let blocks = Blocks::of(pool)?;
        let block = blocks.lock().remove(&(data.addr() as u64));
        let block = block.ok_or_else(|| no_block(data))?;
        block.free_on(&Foreign::of(blocks.pool()?.context(), stream));
        Ok(())
    })
}

fn no_block(data: *mut c_void) -> Failure {
    Failure::invalid(format!("{data:p} is no block of this pool, or it was freed"))
}

/// Says that work of another stream uses a block too: its memory is free when that is done as well.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_record_stream(
    pool: *const millpond_pool,
    data: *mut c_void,
    stream: *mut c_void,
) -> ResultNumber {
    call(|| {
        let blocks = Blocks::of(pool)?;
        let stream = Foreign::of(blocks.pool()?.context(), stream);
        let taken = blocks.lock();
        taken.get(&(data.addr() as u64)).ok_or_else(|| no_block(data))?.record_stream(&stream);
        Ok(())
    })
}

/// Gives memory that no block uses back: at least `bytes` bytes, if there are so many. With `wait` 1 the whole device
/// is waited for where that helps. `given` may be NULL.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_trim(
    pool: *const millpond_pool,
    bytes: u64,
    wait: u32,
    given: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let wait = flag(wait, "wait")?;
        write(given, Blocks::of(pool)?.pool()?.trim(bytes, wait)?);
        Ok(())
    })
}

/// What the pool has at this moment. With `reset_peaks` 1 the peaks begin anew afterwards.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_get_info(
    pool: *const millpond_pool,
    reset_peaks: u32,
    info: Out<'_, millpond_pool_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        let reset = flag(reset_peaks, "reset_peaks")?;
        let blocks = Blocks::of(pool)?;
        let pool = blocks.pool()?;
        let stats = pool.stats();
        if reset {
            pool.reset_peaks();
        }
        out.write(millpond_pool_info {
            gpu: pool.device().into(),
            in_use_bytes: stats.in_use_bytes,
            asked_bytes: stats.asked_bytes,
            free_bytes: stats.free_bytes,
            held_bytes: stats.held_bytes,
            peak_in_use_bytes: stats.peak_in_use_bytes,
            peak_held_bytes: stats.peak_held_bytes,
            largest_gap_bytes: stats.largest_gap_bytes,
            blocks: stats.blocks,
            allocations: stats.allocations,
            refused: stats.refused,
            reserved: [0; 8],
        });
        Ok(())
    })
}

/// The CUDA context that the pool is for, a `CUcontext`; NULL for a handle that is no pool of this process.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_context(pool: *const millpond_pool) -> *mut c_void {
    value(std::ptr::null_mut(), || Ok(Blocks::of(pool)?.pool()?.context().raw().cast()))
}

/// Draws all blocks and gaps to scale into an SVG file, or writes them as JSON where the path ends in `.json`.
///
/// Threads: any. Fork: a pool of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_snapshot(pool: *const millpond_pool, path: Text) -> ResultNumber {
    waiting(|| {
        let path = path.required("path")?;
        let blocks = Blocks::of(pool)?;
        match path.ends_with(".json") {
            true => Ok(blocks.pool()?.snapshot_json(path)?),
            false => Ok(blocks.pool()?.snapshot_svg(path)?),
        }
    })
}

/// Frees a pool with all of its blocks. Work that uses them must have been submitted. NULL is nothing.
///
/// Threads: any. Fork: a pool of the parent is freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pool_free(pool: *mut millpond_pool) -> ResultNumber {
    waiting(|| POOLS.free(pool))
}
