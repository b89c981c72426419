//! Threads under a checker of interleavings: the lock is the checker's, and every call of the card is a
//! place where others may go on.

use crate::model::{Card, Stream};
use crate::support::MIB;
use millpond_elastic::{Block, Book, Ground, Monitor, PoolMutation, StreamPool};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

/// The lock of a pool, as the checker has it.
pub struct Checked<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T: Send> Monitor<T> for Checked<T> {
    fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Condvar::new() }
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.value.lock().unwrap())
    }

    fn wait_while(&self, mut condition: impl FnMut(&mut T) -> bool) {
        let mut value = self.value.lock().unwrap();
        while condition(&mut value) {
            value = self.changed.wait(value).unwrap();
        }
    }

    fn notify(&self) {
        self.changed.notify_all();
    }
}

type Lock = Checked<Book<<Card as Ground>::Mark>>;
type Pool = StreamPool<Card, Lock>;
type Blocks = Vec<Block<Card, Lock>>;

/// Sizes of both sides, so that gaps are cut, joined and given back.
const SIZES: [u64; 4] = [512, MIB / 2, 2 * MIB, 4 * MIB];

struct World {
    card: Card,
    pool: Pool,
    /// A stream that all threads use.
    common: Stream,
}

impl World {
    fn new(limit: u64, mutation: Option<PoolMutation>) -> Arc<Self> {
        let card = Card::with_pause(200, limit, thread::yield_now);
        let pool = Pool::new(card.clone());
        pool.break_rule(mutation);
        let common = card.stream();
        Arc::new(Self { card, pool, common })
    }

    fn work(&self, block: &Block<Card, Lock>, stream: &Stream) {
        self.card.work(stream, block.offset()..block.offset() + block.bytes(), block.serial());
    }

    fn live(&self) {
        let (mut own, mut blocks) = (self.card.stream(), Blocks::new());
        for _ in 0..7 {
            let stream = if thread_rng().gen_bool(0.3) { &self.common } else { &own };
            match thread_rng().gen_range(0..12) {
                0..5 => {
                    let bytes = SIZES[thread_rng().gen_range(0..SIZES.len())];
                    if let Ok(block) = self.pool.alloc(bytes, stream) {
                        self.work(&block, stream);
                        blocks.push(block);
                    }
                }
                5..8 if !blocks.is_empty() => {
                    let index = thread_rng().gen_range(0..blocks.len());
                    let block = blocks.swap_remove(index);
                    if thread_rng().gen_bool(0.4) && *block.stream() != *stream {
                        self.card.order(block.stream(), stream);
                        block.record_stream(stream);
                        self.work(&block, stream);
                    }
                }
                8 => {
                    let bytes = thread_rng().gen_range(1..8) * MIB;
                    self.pool.trim(bytes, thread_rng().gen_bool(0.5)).unwrap();
                }
                9 => own = self.card.stream(),
                _ => _ = self.card.step(stream.id),
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.card.faults(), Vec::<String>::new());
    }

    fn end(&self) {
        self.check();
        self.pool.trim(u64::MAX, true).unwrap();
        let stats = self.pool.stats();
        assert_eq!((stats.held_bytes, stats.blocks, stats.gaps), (0, 0, 0), "{stats:?}");
        assert_eq!(self.card.committed_bytes(), 0);
        self.check();
    }
}

pub fn lives(mutation: Option<PoolMutation>) {
    let world = World::new(6, mutation);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.live())
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.end();
}

/// Two threads free blocks that a common stream used, and a third stream takes what was freed there.
pub fn two_who_free(mutation: Option<PoolMutation>) {
    let world = World::new(8, mutation);
    let threads = [MIB / 2, 4 * MIB].map(|bytes| {
        let world = Arc::clone(&world);
        thread::spawn(move || {
            let own = world.card.stream();
            let stream = if bytes < MIB { &world.common } else { &own };
            let block = world.pool.alloc(bytes, stream).unwrap();
            world.work(&block, stream);
            if *stream == own {
                block.record_stream(&world.common);
            }
            drop(block);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.card.state().limit = world.card.committed_bytes() / crate::model::GRANULE;
    let third = world.card.stream();
    if let Ok(block) = world.pool.alloc(MIB / 2, &third) {
        world.work(&block, &third);
        world.card.run(&third);
    }
    world.end();
}

/// A thread asks about the marks of a stream while its lane is given to another.
pub fn lanes_change_hands(mutation: Option<PoolMutation>) {
    let world = World::new(12, mutation);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                for _ in 0..3 {
                    let stream = world.card.stream();
                    for bytes in [2 * MIB, 2 * MIB, MIB / 2] {
                        let block = world.pool.alloc(bytes, &stream).unwrap();
                        world.work(&block, &stream);
                        if thread_rng().gen_bool(0.5) {
                            world.card.step(stream.id);
                        }
                    }
                    world.pool.trim(2 * MIB, thread_rng().gen_bool(0.3)).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    world.end();
}

#[test]
fn in_no_order_of_threads_is_memory_in_use_twice_or_lost() {
    shuttle::check_random(|| lives(None), 1_500);
    shuttle::check_pct(|| lives(None), 1_500, 3);
}

#[test]
fn in_no_order_of_threads_does_a_mark_cover_what_was_freed_after_it() {
    shuttle::check_random(|| two_who_free(None), 1_000);
    shuttle::check_pct(|| two_who_free(None), 1_000, 3);
}

#[test]
fn in_no_order_of_threads_is_a_lane_taken_for_the_one_before_it() {
    shuttle::check_random(|| lanes_change_hands(None), 500);
    shuttle::check_pct(|| lanes_change_hands(None), 500, 3);
}
