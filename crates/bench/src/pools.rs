//! What a worker measures of stream-ordered pools, in turns with the driver's own.

use std::time::{Duration, Instant};

use millpond::{Pond, PoolSpec};
use millpond_console::error::{CommandError, wrong};
use millpond_cuda::{Context, ContextGuard, Event, Stream, StreamBuffer};

use crate::caches::{BATCH, refused, timed};

/// Live blocks of the mixed sequence.
const LIVE: usize = 1000;
/// Sizes of the mixed sequence.
const SIZES: [u64; 8] = [512, 4 << 10, 64 << 10, 700 << 10, 1 << 20, 3 << 20, 20 << 20, 100 << 10];

/// Both sides, with pools that have what they need.
pub struct Sides<'a> {
    pond: &'a Pond,
    group: &'a str,
    bare: &'a Context,
}

impl<'a> Sides<'a> {
    pub fn new(pond: &'a Pond, group: &'a str, bare: &'a Context) -> Self {
        Self { pond, group, bare }
    }

    fn pool(&self) -> Result<millpond::StreamPool, CommandError> {
        Ok(self.pond.elastic(self.group)?.pool(PoolSpec::new("bench/pool"))?)
    }

    /// A block is taken and freed on one stream: own, raw.
    pub fn one_stream(&self, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
        let pool = self.pool()?;
        let stream = Stream::new(pool.context()).map_err(refused)?;
        let raw_stream = Stream::new(self.bare).map_err(refused)?;
        let bound = self.bare.bind().map_err(refused)?;
        let mut taken = Vec::new();
        drop(pool.alloc(bytes, &stream)?);
        let before = pool.stats();
        for round in 0..rounds + rounds / 10 {
            let own = timed(|| {
                drop(pool.alloc(bytes, &stream)?);
                Ok(())
            })?;
            let raw = timed(|| freed(StreamBuffer::new(&bound, &raw_stream, bytes)))?;
            if round >= rounds / 10 {
                taken.extend([own, raw]);
            }
        }
        if pool.stats().growths != before.growths {
            return Err(wrong("the pool grew: this measured something else"));
        }
        Ok(taken)
    }

    /// A block is freed on one stream and taken on another, which waits for the first: own, raw.
    pub fn two_streams(&self, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
        let pool = self.pool()?;
        let streams = [Stream::new(pool.context()), Stream::new(pool.context())];
        let [one, two] = streams;
        let (one, two) = (one.map_err(refused)?, two.map_err(refused)?);
        let bound = self.bare.bind().map_err(refused)?;
        let mut taken = Vec::new();
        for round in 0..rounds + rounds / 10 {
            let own = timed(|| {
                drop(pool.alloc(bytes, &one)?);
                drop(pool.alloc(bytes, &two)?);
                Ok(())
            })?;
            let event = Event::new(self.bare).map_err(refused)?;
            let raw = timed(|| {
                freed(StreamBuffer::new(&bound, &one, bytes))?;
                event.record(&one).map_err(refused)?;
                two.wait_event(&event).map_err(refused)?;
                freed(StreamBuffer::new(&bound, &two, bytes))
            })?;
            if round >= rounds / 10 {
                taken.extend([own, raw]);
            }
        }
        Ok(taken)
    }

    /// Any of many live blocks is freed and another size taken: own, raw, for each pair.
    pub fn mixed(&self, rounds: u32) -> Result<Vec<Duration>, CommandError> {
        let pool = self.pool()?;
        let stream = Stream::new(pool.context()).map_err(refused)?;
        let raw_stream = Stream::new(self.bare).map_err(refused)?;
        let bound = self.bare.bind().map_err(refused)?;
        let mut taken = Vec::new();
        let (mut own_live, mut raw_live) = (Vec::new(), Vec::new());
        for number in 0..LIVE {
            let bytes = SIZES[number % SIZES.len()];
            own_live.push(pool.alloc(bytes, &stream)?);
            raw_live.push(StreamBuffer::new(&bound, &raw_stream, bytes).map_err(refused)?);
        }
        let (mut own_seed, mut raw_seed) = (Sequence(1), Sequence(1));
        for round in 0..rounds + rounds / 10 {
            let start = Instant::now();
            for _ in 0..BATCH {
                let (place, bytes) = own_seed.next();
                drop(own_live.swap_remove(place));
                own_live.push(pool.alloc(bytes, &stream)?);
            }
            let own = start.elapsed() / BATCH;
            let raw = raw_side(&mut raw_live, &mut raw_seed, &bound, &raw_stream)?;
            if round >= rounds / 10 {
                taken.extend([own, raw]);
            }
        }
        for buffer in raw_live {
            buffer.free().map_err(refused)?;
        }
        Ok(taken)
    }
}

fn raw_side<'a>(
    live: &mut Vec<StreamBuffer<'a>>,
    seed: &mut Sequence,
    bound: &'a ContextGuard<'a>,
    stream: &'a Stream,
) -> Result<Duration, CommandError> {
    let start = Instant::now();
    for _ in 0..BATCH {
        let (place, bytes) = seed.next();
        live.swap_remove(place).free().map_err(refused)?;
        live.push(StreamBuffer::new(bound, stream, bytes).map_err(refused)?);
    }
    Ok(start.elapsed() / BATCH)
}

fn freed(buffer: Result<StreamBuffer<'_>, millpond_cuda::CudaError>) -> Result<(), CommandError> {
    buffer.map_err(refused)?.free().map_err(refused)
}

/// The same blocks and sizes for both sides.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> (usize, u64) {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = usize::try_from(self.0 >> 8 & 0xffff).unwrap_or(0);
        (number % LIVE, SIZES[number / LIVE % SIZES.len()])
    }
}
