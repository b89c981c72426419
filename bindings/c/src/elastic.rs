//! Elastic caches.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond::cuda::Event;
use millpond::{CapChange, Elastic, ElasticCache, Offer, PressureAsk, ReserveSpec};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, Text, call, required, reserved, value, waiting, write};
use crate::failure::Failure;
use crate::objects::{CACHES, ELASTICS, PONDS, PREPARED};
use crate::pond::millpond_pond;
use crate::prepared::millpond_prepared;
use crate::result::ResultNumber;
use crate::stream::Foreign;
use crate::table::Kind;
use crate::text::{kept, millpond_text};
use crate::uuid::millpond_uuid;
use crate::words::{OfferNumber, millpond_offer};

/// The caches and pools of one group, in this process.
pub struct millpond_elastic {
    _private: [u8; 0],
}

/// A range of addresses of this process that never moves, with pages that come and go. What is not committed must not
/// be touched: a kernel that does so faults, and the context is lost.
pub struct millpond_cache {
    _private: [u8; 0],
}

/// What a handle of a cache names.
#[derive(Clone)]
pub(crate) struct Reserved {
    pub(crate) cache: Arc<ElasticCache>,
    pid: u32,
}

impl Reserved {
    /// The cache of a handle, which must be this process's.
    pub(crate) fn of(handle: *const millpond_cache) -> Answer<Arc<ElasticCache>> {
        let reserved = CACHES.get(handle)?;
        if reserved.pid == process_number() {
            Ok(reserved.cache)
        } else {
            Err(Failure::Forked { what: Kind::Cache })
        }
    }
}

/// What a cache is to be like. Begin with a struct of zeroes; set `bytes`, or `blocks` and `block_bytes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_cache_spec {
    /// Bytes of addresses in all, whose blocks are its granules; zero where `blocks` says it.
    pub bytes: u64,
    /// How many blocks; zero where `bytes` says it.
    pub blocks: u64,
    /// Bytes of a block in every segment.
    pub block_bytes: u64,
    /// Equal parts, for example the keys and the values of each layer; a commit of blocks commits them in every one.
    /// Zero: 1.
    pub segments: u64,
    /// Bytes of a page: 2 MiB, 16 MiB or 64 MiB. Zero: 2 MiB.
    pub granule_bytes: u64,
    /// The largest handle that growth uses. Zero: 64 MiB.
    pub largest_handle_bytes: u64,
    /// What other caches of the group leave this one.
    pub min_bytes: u64,
    /// How long a commit waits for others to give way. Zero: a second; MILLPOND_NO_WAIT: not at all.
    pub wait_ms: u64,
    /// With fewer bytes idle than this, pages are made ahead, until `ahead_high_bytes` are. Zero: never.
    pub ahead_low_bytes: u64,
    /// See `ahead_low_bytes`.
    pub ahead_high_bytes: u64,
    /// On which GPU; all zero for the pond's first one.
    pub gpu: millpond_uuid,
    /// Its part of what is above everybody's `min_bytes`, when caches compete. Zero: 1.
    pub weight: u32,
    /// 1: one page, which costs a granule of the budget, is under everything that is not committed, and may be read and
    /// written; what is read there is undefined. Zero: nothing is.
    pub null_page: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 6],
}

/// For `wait_ms` of a cache or a pool: no wait at all.
pub const MILLPOND_NO_WAIT: u64 = u64::MAX - 1;

/// A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_cache_info {
    /// How the pond knows it.
    pub id: millpond_uuid,
    /// UUID of its GPU.
    pub gpu: millpond_uuid,
    /// The first address. It never changes.
    pub data: *mut c_void,
    /// Bytes of addresses; they cost no memory.
    pub reserved_bytes: u64,
    /// Bytes of rows with a committed block.
    pub committed_bytes: u64,
    /// Bytes of rows without one that somebody has prepared.
    pub prepared_bytes: u64,
    /// Bytes that nobody uses beside some that are used: they cannot be given back.
    pub wasted_bytes: u64,
    /// Bytes that nobody uses and that can be given back.
    pub idle_bytes: u64,
    /// What the driver refused to take back.
    pub quarantined_bytes: u64,
    /// All that the driver has given.
    pub held_bytes: u64,
    /// How many blocks there are.
    pub blocks: u64,
    /// Blocks that are committed or taken.
    pub committed_blocks: u64,
    /// Bytes of a block in every segment.
    pub block_bytes: u64,
    /// How many segments.
    pub segments: u64,
    /// Bytes of a segment's addresses.
    pub segment_bytes: u64,
    /// Bytes of a page.
    pub granule_bytes: u64,
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

/// What a cache is asked for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_pressure {
    /// How much is wanted beyond the pages that were idle.
    pub bytes: u64,
    /// The same in blocks, each of which is in every segment.
    pub blocks: u64,
    /// For how long it helps.
    pub wait_ms: u64,
    /// Counts changes of the group's limits.
    pub revision: u64,
    /// For whom, and why; valid during the call.
    pub reason: *const std::ffi::c_char,
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

/// Is called when pages are wanted back beyond the idle ones: it uncommits what the program can do without, and
/// answers MILLPOND_OFFER_… In a thread of this library, one at a time; it may call this library. Neither a C++
/// exception nor longjmp() may leave it.
pub type millpond_pressure_handler =
    Option<extern "C" fn(ask: &millpond_pressure, user_data: *mut c_void) -> OfferNumber>;

impl millpond_cache_spec {
    fn read(&self) -> Answer<ReserveSpec> {
        reserved(&self.reserved, "millpond_cache_spec")?;
        let null_page = match self.null_page {
            0 => false,
            1 => true,
            other => return Err(Failure::invalid(format!("`null_page` is 0 or 1, not {other}"))),
        };
        let mut spec = match (self.bytes, self.blocks) {
            (0, 0) => {
                return Err(Failure::invalid(
                    "a cache needs `bytes`, or `blocks` and `block_bytes`",
                ));
            }
            (bytes, 0) => ReserveSpec::new(bytes),
            (0, blocks) => ReserveSpec::of_blocks(blocks, self.block_bytes),
            _ => return Err(Failure::invalid("a cache has `bytes` or `blocks`, not both")),
        };
        if self.segments != 0 {
            spec = spec.segments(self.segments);
        }
        if self.granule_bytes != 0 {
            spec = spec.granule(self.granule_bytes);
        }
        if self.largest_handle_bytes != 0 {
            spec = spec.largest_handle(self.largest_handle_bytes);
        }
        if let Some(gpu) = self.gpu.gpu() {
            spec = spec.device(gpu);
        }
        if self.ahead_low_bytes != 0 {
            spec = spec.ahead(self.ahead_low_bytes, self.ahead_high_bytes);
        }
        if let Some(wait) = patience(self.wait_ms) {
            spec = spec.wait(wait);
        }
        let spec = spec.null_page(null_page);
        Ok(spec.min(self.min_bytes).weight(if self.weight == 0 { 1 } else { self.weight }))
    }
}

/// How long others are waited for; `None` for the default.
pub(crate) fn patience(wait_ms: u64) -> Option<Duration> {
    match wait_ms {
        0 => None,
        MILLPOND_NO_WAIT => Some(Duration::ZERO),
        other => Some(crate::pond::wait(other)),
    }
}

/// The group whose limit caches and pools share; `millpond group set NAME --limit SIZE` makes one. A program that
/// runs under `millpond run` has caches in its own group only. Free it with millpond_elastic_free().
///
/// Threads: any. Fork: a group of the parent is of no use to the child, which opens it anew.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_elastic_open(
    pond: *const millpond_pond,
    group: Text,
    elastic: Out<'_, *mut millpond_elastic>,
) -> ResultNumber {
    waiting(|| {
        let out = required(elastic, "elastic")?;
        let group = group.required("group")?;
        out.write(ELASTICS.insert(Arc::new(PONDS.get(pond)?.elastic(group)?))?);
        Ok(())
    })
}

/// The group's name, and whether this program's own limit pays because it runs in the group. Free the text with
/// millpond_text_free(). `limited` may be NULL.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_elastic_group(
    elastic: *const millpond_elastic,
    limited: Out<'_, u32>,
    name: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    call(|| {
        let out = required(name, "name")?;
        let elastic = ELASTICS.get(elastic)?;
        out.write(kept(&elastic.group().to_string())?);
        write(limited, elastic.is_limited().into());
        Ok(())
    })
}

/// Frees a group; its caches and pools stay. NULL is nothing.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_elastic_free(elastic: *mut millpond_elastic) -> ResultNumber {
    call(|| ELASTICS.free(elastic))
}

pub(crate) type Group = Arc<Elastic>;

/// Reserves addresses for a cache. Costs no memory of the card; the process gets a CUDA context, if it has none. Free
/// it with millpond_cache_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used CUDA:
/// MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_reserve(
    elastic: *const millpond_elastic,
    name: Text,
    spec: Option<&millpond_cache_spec>,
    cache: Out<'_, *mut millpond_cache>,
) -> ResultNumber {
    waiting(|| {
        let out = required(cache, "cache")?;
        let elastic = ELASTICS.get(elastic)?;
        let (name, spec) = (name.required("name")?, required(spec, "spec")?.read()?);
        let cache = Arc::new(elastic.reserve(name, spec)?);
        out.write(CACHES.insert(Reserved { cache, pid: process_number() })?);
        Ok(())
    })
}

/// Makes the first `blocks` blocks of each segment usable. What is usable already stays so. MILLPOND_GPU_FULL if it
/// never fits, or not now, with who holds the rest in the message.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_commit(cache: *const millpond_cache, blocks: u64) -> ResultNumber {
    waiting(|| Ok(Reserved::of(cache)?.commit(blocks)?))
}

fn blocks(first: u64, count: u64) -> Answer<Range<u64>> {
    let end = first.checked_add(count);
    end.map(|end| first..end).ok_or_else(|| Failure::invalid("the blocks have no end"))
}

/// Makes `count` blocks usable from `first` on that are not committed yet.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_commit_range(
    cache: *const millpond_cache,
    first: u64,
    count: u64,
) -> ResultNumber {
    waiting(|| Ok(Reserved::of(cache)?.commit_range(blocks(first, count)?)?))
}

/// Makes everything ready for blocks, so that millpond_prepared_commit() cannot fail: for ranks that commit all
/// together or not at all. Free it with millpond_prepared_free().
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_prepare(
    cache: *const millpond_cache,
    first: u64,
    count: u64,
    prepared: Out<'_, *mut millpond_prepared>,
) -> ResultNumber {
    waiting(|| {
        let out = required(prepared, "prepared")?;
        let made = Reserved::of(cache)?.prepare(blocks(first, count)?)?;
        out.write(PREPARED.insert(crate::prepared::keep(made))?);
        Ok(())
    })
}

/// Ends the use of `count` blocks from `first` on. Their pages stay mapped for the next commit and are given back
/// when somebody needs them, but never before the device has done what `stream` has queued so far; NULL is the legacy
/// default stream.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_uncommit_after(
    cache: *const millpond_cache,
    first: u64,
    count: u64,
    stream: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let cache = Reserved::of(cache)?;
        let after = mark(&cache, stream)?;
        Ok(cache.uncommit(blocks(first, count)?, &after)?)
    })
}

pub(crate) fn mark(cache: &ElasticCache, stream: *mut c_void) -> Answer<Event> {
    let event = Event::new(cache.context()).map_err(millpond::Error::from)?;
    event.record(&Foreign::of(cache.context(), stream)).map_err(millpond::Error::from)?;
    Ok(event)
}

/// As millpond_cache_uncommit_after(), without a stream: before a page is unmapped the whole device is waited for.
/// Work that uses the blocks must have been submitted before this call.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_uncommit(
    cache: *const millpond_cache,
    first: u64,
    count: u64,
) -> ResultNumber {
    waiting(|| Ok(Reserved::of(cache)?.uncommit_now(blocks(first, count)?)?))
}

/// Ends the use of blocks with the step that is being prepared: they stay committed until millpond_cache_step() says
/// that all work of the step is submitted.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_uncommit_at_step(
    cache: *const millpond_cache,
    first: u64,
    count: u64,
) -> ResultNumber {
    call(|| {
        Reserved::of(cache)?.uncommit_at_step(blocks(first, count)?);
        Ok(())
    })
}

/// All work of a step is submitted to `stream`, and done when the device has passed what it has queued so far; NULL
/// is the legacy default stream.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_step(
    cache: *const millpond_cache,
    stream: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let cache = Reserved::of(cache)?;
        let end = mark(&cache, stream)?;
        Ok(cache.step(&end)?)
    })
}

/// As millpond_cache_step(), without a stream: before a page is unmapped the whole device is waited for.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_step_now(cache: *const millpond_cache) -> ResultNumber {
    waiting(|| Ok(Reserved::of(cache)?.step_now()?))
}

/// Gives idle pages back to the group: at least `bytes` bytes, if there are so many. `given`, what was given back,
/// may be NULL.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_trim(
    cache: *const millpond_cache,
    bytes: u64,
    given: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        write(given, Reserved::of(cache)?.trim(bytes)?);
        Ok(())
    })
}

/// Sets what the cache may hold of the group's budget; UINT64_MAX is no cap. Idle pages above the cap go back at once,
/// others when no block uses them; growth above it is MILLPOND_GPU_FULL. Revisions begin with 1 and grow with each change.
/// `above`, what is still to go, and `in_force`, the revision in force, may be NULL: where `in_force` is not `revision`,
/// the cap was stale and has changed nothing.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_set_cap(
    cache: *const millpond_cache,
    bytes: u64,
    revision: u64,
    above: Out<'_, u64>,
    in_force: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let (still, newest) = match Reserved::of(cache)?.set_cap(bytes, revision)? {
            CapChange::Applied => (0, revision),
            CapChange::Deferred { above_bytes } => (above_bytes, revision),
            CapChange::Stale { revision } => (0, revision),
        };
        write(above, still);
        write(in_force, newest);
        Ok(())
    })
}

/// Where a block of a segment begins; NULL for one that does not exist, and for a handle that is no cache of this
/// process.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_address(
    cache: *const millpond_cache,
    segment: u64,
    block: u64,
) -> *mut c_void {
    value(std::ptr::null_mut(), || {
        let cache = Reserved::of(cache)?;
        let address = cache.address_of(segment, block);
        let address = address.ok_or_else(|| {
            Failure::invalid(format!("there is no block {block} in a segment {segment}"))
        })?;
        Ok(std::ptr::with_exposed_provenance_mut(usize::try_from(address.0).unwrap_or(0)))
    })
}

/// What the cache is and has at this moment.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_get_info(
    cache: *const millpond_cache,
    info: Out<'_, millpond_cache_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        let cache = Reserved::of(cache)?;
        let (stats, geometry) = (cache.stats(), cache.geometry());
        let address = usize::try_from(cache.device_ptr().0).unwrap_or(0);
        out.write(millpond_cache_info {
            id: millpond_uuid { bytes: *cache.id().0.as_bytes() },
            gpu: cache.device().into(),
            data: std::ptr::with_exposed_provenance_mut(address),
            reserved_bytes: stats.reserved_bytes,
            committed_bytes: stats.committed_bytes,
            prepared_bytes: stats.prepared_bytes,
            wasted_bytes: stats.wasted_bytes,
            idle_bytes: stats.idle_bytes,
            quarantined_bytes: stats.quarantined_bytes,
            held_bytes: stats.held_bytes,
            blocks: geometry.blocks(),
            committed_blocks: stats.committed_blocks,
            block_bytes: geometry.block_bytes(),
            segments: geometry.segments(),
            segment_bytes: geometry.segment_bytes(),
            granule_bytes: geometry.granule(),
            reserved: [0; 8],
        });
        Ok(())
    })
}

/// The CUDA context that the cache is for, a `CUcontext`; NULL for a handle that is no cache of this process.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_context(cache: *const millpond_cache) -> *mut c_void {
    value(std::ptr::null_mut(), || Ok(Reserved::of(cache)?.context().raw().cast()))
}

/// Whoever is asked when pages are wanted back.
#[derive(Clone, Copy)]
struct Handler {
    handler: extern "C" fn(&millpond_pressure, *mut c_void) -> OfferNumber,
    user_data: *mut c_void,
}

// SAFETY: the header says that the function is called in a thread of this library, with the pointer that came along.
unsafe impl Send for Handler {}
// SAFETY: as above; one call at a time.
unsafe impl Sync for Handler {}

impl Handler {
    fn ask(&self, ask: &PressureAsk) -> Offer {
        let reason = crate::failure::c_string(&ask.reason);
        let left = ask.until.saturating_duration_since(Instant::now());
        let told = millpond_pressure {
            bytes: ask.bytes,
            blocks: ask.blocks,
            wait_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            revision: ask.revision,
            reason: reason.as_ptr(),
            reserved: [0; 4],
        };
        match (self.handler)(&told, self.user_data) {
            offer if offer == millpond_offer::MILLPOND_OFFER_NOW as u32 => Offer::Now,
            offer if offer == millpond_offer::MILLPOND_OFFER_SOON as u32 => Offer::Soon,
            _ => Offer::Nothing,
        }
    }
}

/// Has `handler` called when pages are wanted back beyond the idle ones, with `user_data`, until the cache is freed
/// and a call that is under way has returned; NULL ends that.
///
/// Threads: any. Fork: a cache of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_on_pressure(
    cache: *const millpond_cache,
    handler: millpond_pressure_handler,
    user_data: *mut c_void,
) -> ResultNumber {
    call(|| {
        let cache = Reserved::of(cache)?;
        match handler {
            Some(handler) => {
                let handler = Handler { handler, user_data };
                cache.on_pressure(move |ask| handler.ask(ask));
            }
            None => cache.on_pressure(|_| Offer::Nothing),
        }
        Ok(())
    })
}

/// Frees a cache: everything is given back. Work that uses it must be done. NULL is nothing.
///
/// Threads: any. Fork: a cache of the parent is freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_cache_free(cache: *mut millpond_cache) -> ResultNumber {
    waiting(|| CACHES.free(cache))
}
