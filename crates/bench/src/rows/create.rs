//! Tensors of 2 MiB from a slab that their owner had before, without any driver call.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, TensorSpec};
use millpond_wire::TensorId;

use super::{Rows, TURNS};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::{self, Samples};
use crate::socket::{self, Floor};
use millpond_console::error::{CommandError, wrong};
use millpond_trial::protocol::Order;

pub const NAMES: &[&str] = &["create/one", "create/mapped", "create/threads"];

const BYTES: u64 = 2 << 20;
const THREADS: usize = 4;
/// Tensors of one thread in one round; all of them together fill eight slabs, which are kept.
const EACH: u32 = 64;

/// One after the other, mapped as well, and by four threads at once.
pub fn run(bench: &mut Bench) -> Rows {
    let rounds = bench.ground.count(10_000, 500);
    let batches = bench.ground.count(100, 3);
    let soft = bench.ground.card.soft;
    // Makes the slabs, and gives them back to be used again.
    batch(&bench.pond)?;
    let (_, slabs) = bench.room()?;
    let floors: Vec<Floor> = (0..THREADS).map(|_| Floor::start()).collect::<Result<_, _>>()?;
    let (mut raw, mut one, mut mapped) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        raw.extend(samples::measure(rounds / TURNS, || floors[0].round_trip())?);
        one.extend(one_by_one(&bench.pond, rounds / TURNS)?);
        let order = Measure::Create { bytes: BYTES, rounds: rounds / TURNS / 10 };
        mapped.extend(bench.worker.times(&Order::from(order))?);
    }
    let (mut raw_threads, mut threads) = (Vec::new(), Vec::new());
    for _ in 0..batches {
        raw_threads.push(raw_batch(&floors)?);
        threads.push(batch(&bench.pond)?);
    }
    let [raw, one, mapped, raw_threads, threads] =
        [raw, one, mapped, raw_threads, threads].map(Samples::new);
    if bench.room()?.1 != slabs {
        return Err(wrong("slabs were made or dropped: this measured the driver"));
    }
    let goal = Goal { value: Some(20_000.0), ..Goal::default() };
    Ok(vec![
        RowJson::rates(NAMES[0], "create of 2 MiB, recycled slab", &one)
            .beside(socket::WHAT, &raw)
            .goal(goal, soft),
        RowJson::rates(NAMES[1], "the same, mapped for writing", &mapped)
            .beside(socket::WHAT, &raw),
        RowJson::rates(NAMES[2], "the same by 4 threads of one client", &threads)
            .beside("the same datagrams by 4 threads to 4 processes", &raw_threads)
            .goal(goal, soft),
    ])
}

fn make(pond: &Pond) -> Result<TensorId, millpond::Error> {
    Ok(pond.reserve(TensorSpec::unnamed(Dtype::U8, [BYTES]))?.tensor)
}

/// The delete is not measured.
fn one_by_one(pond: &Pond, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let made = make(pond)?;
        taken.push(start.elapsed());
        pond.delete(made)?;
    }
    Ok(taken)
}

/// The time for each tensor, when all threads make theirs at once.
fn batch(pond: &Pond) -> Result<Duration, CommandError> {
    let (time, made) = at_once(|_| {
        let made: Result<Vec<_>, _> = (0..EACH).map(|_| make(pond)).collect();
        Ok(made?)
    })?;
    for tensor in made.into_iter().flatten() {
        pond.delete(tensor)?;
    }
    Ok(time)
}

fn raw_batch(floors: &[Floor]) -> Result<Duration, CommandError> {
    let turn = |index: usize| (0..EACH).try_for_each(|_| floors[index].round_trip());
    Ok(at_once(turn)?.0)
}

/// Has all threads do their work at the same time: the time for one piece of it, from the start
/// of the first to the end of the last.
fn at_once<T: Send>(
    work: impl Fn(usize) -> Result<T, CommandError> + Sync,
) -> Result<(Duration, Vec<T>), CommandError> {
    let barrier = Barrier::new(THREADS);
    let turn = |index| {
        barrier.wait();
        let start = Instant::now();
        let done = work(index)?;
        Ok((start, Instant::now(), done))
    };
    let done: Result<Vec<_>, CommandError> = thread::scope(|scope| {
        let turn = &turn;
        let threads: Vec<_> = (0..THREADS).map(|index| scope.spawn(move || turn(index))).collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|end| end.unwrap_or_else(|_| Err(wrong("a thread panicked")))).collect()
    });
    let done = done?;
    let first = done.iter().map(|(start, _, _)| *start).min();
    let last = done.iter().map(|(_, end, _)| *end).max();
    let time = first.zip(last).map(|(first, last)| last.duration_since(first)).unwrap_or_default();
    let pieces = EACH * u32::try_from(THREADS).unwrap_or(1);
    Ok((time / pieces, done.into_iter().map(|(_, _, done)| done).collect()))
}
