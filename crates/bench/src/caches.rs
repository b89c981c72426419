//! What a worker measures of elastic caches, in turns with the bare driver.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use millpond::{BlockTable, ElasticCache, Offer, Pond, ReserveSpec};
use millpond_console::error::{CommandError, failed, wrong};
use millpond_cuda::{Context, CudaError, Event, Stream, StreamBuffer};
use millpond_trial::worker::{Tools, context};
use serde::{Deserialize, Serialize};

use crate::bare::{Bare, Layout};
use crate::pools::Sides;

/// Calls in one sample of what takes less time than reading the clock.
pub const BATCH: u32 = 1000;
/// Time of a step of decoding, in which pages are made ahead.
const STEP: Duration = Duration::from_millis(2);

/// How the caches of a row are divided.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    pub group: String,
    pub device: String,
    pub segments: u64,
    pub block_bytes: u64,
    /// Blocks of one page.
    pub page_blocks: u32,
    pub pages: u32,
}

/// What a worker does with caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheWork {
    /// Take and give a block: own, raw.
    Warm {
        shape: Shape,
        rounds: u32,
    },
    /// Grow from nothing, in handles of one size: own, raw.
    Cold {
        group: String,
        device: String,
        bytes: u64,
        handle_bytes: u64,
        rounds: u32,
    },
    /// Grow page by page, with pages made ahead: a take and a give for each page.
    Ahead {
        shape: Shape,
        rounds: u32,
    },
    /// Take and give a page's worth of blocks that were there before: both together.
    Again {
        shape: Shape,
        rounds: u32,
    },
    /// Grow page by page without: take, raw make, give to the driver, raw end.
    Pages {
        shape: Shape,
        rounds: u32,
    },
    /// Take and free blocks of a pool: own, raw.
    Pool {
        group: String,
        device: String,
        work: PoolWork,
        rounds: u32,
    },
    /// Have a cache that stays until it is closed; `gives` answers whoever asks for its pages.
    Open {
        group: String,
        bytes: u64,
        handle_bytes: u64,
        gives: bool,
    },
    /// Commit all of it, and say how long that took.
    Commit,
    /// Stop using it; its pages stay.
    Idle,
    /// Give all pages back.
    Empty,
    /// The bare driver's part of a move: the end of as many handles, and new ones.
    MoveRaw {
        device: String,
        bytes: u64,
        handle_bytes: u64,
    },
    Close,
}

/// What a worker does with a pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolWork {
    /// On one stream.
    One { bytes: u64 },
    /// On two streams in turns.
    Two { bytes: u64 },
    /// Many sizes at once.
    Mixed,
}

/// The cache that a worker keeps between orders.
#[derive(Default)]
pub struct Caches(Option<Kept>);

struct Kept {
    cache: ElasticCache,
    stream: Stream,
    event: Event,
    /// The handler's way to the cache, which would keep itself alive otherwise.
    reach: Arc<Mutex<Option<ElasticCache>>>,
}

impl Caches {
    /// Does what was ordered, and says how long each part took.
    pub fn work(
        &mut self,
        tools: &mut Tools,
        work: CacheWork,
    ) -> Result<Vec<Duration>, CommandError> {
        match work {
            CacheWork::Warm { shape, rounds } => {
                let bare = context(&tools.device(&shape.device)?)?;
                warm(tools.pond()?, &bare, &shape, rounds)
            }
            CacheWork::Cold { group, device, bytes, handle_bytes, rounds } => {
                let bare = context(&tools.device(&device)?)?;
                cold(tools.pond()?, &bare, &group, (bytes, handle_bytes), rounds)
            }
            CacheWork::Ahead { shape, rounds } => ahead(tools.pond()?, &shape, rounds),
            CacheWork::Again { shape, rounds } => again(tools.pond()?, &shape, rounds),
            CacheWork::Pages { shape, rounds } => {
                let bare = context(&tools.device(&shape.device)?)?;
                pages(tools.pond()?, &bare, &shape, rounds)
            }
            CacheWork::Pool { group, device, work, rounds } => {
                let bare = context(&tools.device(&device)?)?;
                let sides = Sides::new(tools.pond()?, &group, &bare);
                match work {
                    PoolWork::One { bytes } => sides.one_stream(bytes, rounds),
                    PoolWork::Two { bytes } => sides.two_streams(bytes, rounds),
                    PoolWork::Mixed => sides.mixed(rounds),
                }
            }
            CacheWork::MoveRaw { device, bytes, handle_bytes } => {
                let bare = context(&tools.device(&device)?)?;
                let layout = Layout { segments: 1, bytes, handle_bytes };
                let mut bare = Bare::reserve(&bare, layout)?;
                bare.make()?;
                let ended = bare.end()?;
                Ok(vec![ended + bare.make()?])
            }
            CacheWork::Open { group, bytes, handle_bytes, gives } => {
                self.0 = Some(Kept::open(tools.pond()?, &group, (bytes, handle_bytes), gives)?);
                Ok(Vec::new())
            }
            CacheWork::Commit => self.kept()?.commit(),
            CacheWork::Idle => self.kept()?.idle(),
            CacheWork::Empty => self.kept()?.empty(),
            CacheWork::Close => {
                if let Some(kept) = self.0.take() {
                    lock(&kept.reach).take();
                }
                Ok(Vec::new())
            }
        }
    }

    fn kept(&self) -> Result<&Kept, CommandError> {
        self.0.as_ref().ok_or_else(|| wrong("the worker has no cache"))
    }
}

impl Kept {
    fn open(
        pond: &Pond,
        group: &str,
        (bytes, handle_bytes): (u64, u64),
        gives: bool,
    ) -> Result<Self, CommandError> {
        let cache = pond.elastic(group)?.reserve("bench/moved", spec(bytes, handle_bytes))?;
        let stream = Stream::new(cache.context()).map_err(refused)?;
        let event = Event::new(cache.context()).map_err(refused)?;
        let reach = Arc::new(Mutex::new(None));
        if gives {
            *lock(&reach) = Some(cache.clone());
            let (reach, event) = (Arc::clone(&reach), event.clone());
            cache.on_pressure(move |ask| {
                let Some(cache) = lock(&reach).clone() else { return Offer::Nothing };
                let end = cache.geometry().blocks();
                let blocks = end.saturating_sub(ask.blocks)..end;
                match cache.uncommit(blocks, &event) {
                    Ok(()) => Offer::Now,
                    Err(_) => Offer::Nothing,
                }
            });
        }
        Ok(Self { cache, stream, event, reach })
    }

    fn all(&self) -> Range<u64> {
        0..self.cache.geometry().blocks()
    }

    fn commit(&self) -> Result<Vec<Duration>, CommandError> {
        let start = Instant::now();
        self.cache.commit(self.all().end)?;
        Ok(vec![start.elapsed()])
    }

    fn idle(&self) -> Result<Vec<Duration>, CommandError> {
        self.event.record(&self.stream).map_err(refused)?;
        self.cache.uncommit(self.all(), &self.event)?;
        Ok(Vec::new())
    }

    fn empty(&self) -> Result<Vec<Duration>, CommandError> {
        self.idle()?;
        self.stream.synchronize().map_err(refused)?;
        let all = self.cache.geometry().bytes();
        match self.cache.trim(all)? == all {
            true => Ok(Vec::new()),
            false => Err(wrong("a cache did not give all of its pages back")),
        }
    }
}

/// A cache with handles of one size, each of them a block.
fn spec(bytes: u64, handle_bytes: u64) -> ReserveSpec {
    ReserveSpec::new(bytes).granule(handle_bytes).largest_handle(handle_bytes)
}

fn of_shape(shape: &Shape) -> ReserveSpec {
    let blocks = u64::from(shape.page_blocks) * u64::from(shape.pages);
    ReserveSpec::of_blocks(blocks, shape.block_bytes).segments(shape.segments)
}

pub fn refused(error: CudaError) -> CommandError {
    failed("the bare driver", error)
}

fn bad(error: millpond::ElasticError) -> CommandError {
    millpond::Error::from(error).into()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Half of all blocks are taken, every other one, so that the table has to look for a free one.
fn warm(
    pond: &Pond,
    bare: &Context,
    shape: &Shape,
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let cache = pond.elastic(&shape.group)?.reserve("bench/warm", of_shape(shape))?;
    let table = cache.blocks()?;
    let all = table.take(count(shape.page_blocks * shape.pages)).map_err(bad)?;
    let half: Vec<u32> = all.iter().copied().filter(|block| block % 2 == 1).collect();
    table.give(&half, None).map_err(bad)?;
    let stream = Stream::new(bare).map_err(refused)?;
    let bound = bare.bind().map_err(refused)?;
    let bytes = shape.block_bytes * shape.segments;
    let mut taken = Vec::with_capacity(count(2 * rounds));
    let mut list = Vec::with_capacity(1);
    let calls = cache.stats().calls;
    for round in 0..rounds + rounds / 10 {
        let own = timed(|| {
            table.take_into(1, &mut list).map_err(bad)?;
            table.give(&list, None).map_err(bad)?;
            list.clear();
            Ok(())
        })?;
        let raw = timed(|| {
            StreamBuffer::new(&bound, &stream, bytes).map_err(refused)?.free().map_err(refused)
        })?;
        if round >= rounds / 10 {
            taken.extend([own, raw]);
        }
    }
    no_calls(&cache, calls)?;
    Ok(taken)
}

/// The time of one call, as the mean of a batch.
pub fn timed(mut call: impl FnMut() -> Result<(), CommandError>) -> Result<Duration, CommandError> {
    let start = Instant::now();
    for _ in 0..BATCH {
        call()?;
    }
    Ok(start.elapsed() / BATCH)
}

fn no_calls(
    cache: &ElasticCache,
    before: millpond::engine::CallCounts,
) -> Result<(), CommandError> {
    match cache.stats().calls == before {
        true => Ok(()),
        false => Err(wrong("the driver was called: this measured something else")),
    }
}

/// Both sides begin with addresses and without memory.
fn cold(
    pond: &Pond,
    bare: &Context,
    group: &str,
    (bytes, handle_bytes): (u64, u64),
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let cache = pond.elastic(group)?.reserve("bench/cold", spec(bytes, handle_bytes))?;
    let blocks = cache.geometry().blocks();
    let mut raw_side = Bare::reserve(bare, Layout { segments: 1, bytes, handle_bytes })?;
    let mut taken = Vec::new();
    let own = || -> Result<Duration, CommandError> {
        let start = Instant::now();
        cache.commit(blocks)?;
        let time = start.elapsed();
        cache.uncommit_now(0..blocks)?;
        give_back(&cache)?;
        Ok(time)
    };
    let mut raw = || -> Result<Duration, CommandError> {
        let time = raw_side.make()?;
        raw_side.end()?;
        Ok(time)
    };
    for round in 0..rounds + 2 {
        let both = match round % 2 {
            0 => [own()?, raw()?],
            _ => {
                let raw = raw()?;
                [own()?, raw]
            }
        };
        if round >= 2 {
            taken.extend(both);
        }
    }
    Ok(taken)
}

fn give_back(cache: &ElasticCache) -> Result<Duration, CommandError> {
    // Gives up what was uncommitted without an event as well.
    cache.context().synchronize().map_err(refused)?;
    let start = Instant::now();
    cache.trim(cache.geometry().bytes())?;
    let time = start.elapsed();
    match cache.held_bytes() {
        0 => Ok(time),
        _ => Err(wrong("a cache did not give all of its pages back")),
    }
}

/// One page in each step, while pages are made ahead; the first step begins when they are there.
fn ahead(pond: &Pond, shape: &Shape, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let row_bytes = shape.segments * shape.block_bytes * u64::from(shape.page_blocks);
    let high = u64::from(shape.pages).min(16);
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let spec = of_shape(shape).ahead(high / 2 * row_bytes, high * row_bytes);
        let cache = pond.elastic(&shape.group)?.reserve("bench/ahead", spec)?;
        let table = cache.blocks()?;
        let ready = u64::from(shape.page_blocks) * high;
        millpond_trial::until("pages made ahead", || {
            Ok((table.ready_blocks() >= ready).then_some(()))
        })?;
        let mut pages: Vec<Vec<u32>> = Vec::new();
        let mut takes = Vec::new();
        for _ in 0..shape.pages {
            let mut blocks = Vec::with_capacity(count(shape.page_blocks));
            work_for(STEP);
            let start = Instant::now();
            table.take_into(count(shape.page_blocks), &mut blocks).map_err(bad)?;
            takes.push(start.elapsed());
            pages.push(blocks);
        }
        for (take, blocks) in takes.into_iter().zip(&pages) {
            let start = Instant::now();
            table.give(blocks, None).map_err(bad)?;
            taken.extend([take, start.elapsed()]);
        }
    }
    Ok(taken)
}

/// The thread of an engine does not sleep: it is about the next step.
fn work_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn again(pond: &Pond, shape: &Shape, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let cache = pond.elastic(&shape.group)?.reserve("bench/again", of_shape(shape))?;
    let table = cache.blocks()?;
    let mut list = table.take(count(shape.page_blocks)).map_err(bad)?;
    table.give(&list, None).map_err(bad)?;
    let calls = cache.stats().calls;
    let mut taken = Vec::new();
    for round in 0..rounds + rounds / 10 {
        list.clear();
        let start = Instant::now();
        table.take_into(count(shape.page_blocks), &mut list).map_err(bad)?;
        table.give(&list, None).map_err(bad)?;
        let time = start.elapsed();
        if round >= rounds / 10 {
            taken.push(time);
        }
    }
    no_calls(&cache, calls)?;
    Ok(taken)
}

/// Nothing is there before a page is taken, and nothing afterwards.
fn pages(
    pond: &Pond,
    bare: &Context,
    shape: &Shape,
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let cache = pond.elastic(&shape.group)?.reserve("bench/pages", of_shape(shape))?;
    let table: BlockTable = cache.blocks()?;
    let granule = cache.geometry().granule();
    let layout =
        Layout { segments: shape.segments, bytes: granule * shape.segments, handle_bytes: granule };
    let mut raw = Bare::reserve(bare, layout)?;
    let mut taken = Vec::new();
    let mut list = Vec::with_capacity(count(shape.page_blocks));
    for round in 0..rounds + 2 {
        list.clear();
        let start = Instant::now();
        table.take_into(count(shape.page_blocks), &mut list).map_err(bad)?;
        let take = start.elapsed();
        table.give(&list, None).map_err(bad)?;
        let trim = give_back(&cache)?;
        let made = raw.make()?;
        let ended = raw.end()?;
        if round >= 2 {
            taken.extend([take, made, trim, ended]);
        }
    }
    Ok(taken)
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
