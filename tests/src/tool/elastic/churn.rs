//! A cache at work, at random and without a pause: commits, writes, checks, kernels, uncommits.
//!
//! Options are those of a cache (`spec.rs`), and:
//!
//! ```text
//! threads=N     that grow and shrink the same range
//! table=1       blocks are taken from the table and given back, instead of by their numbers
//! keeps=1       it gives nothing but idle pages under pressure
//! ```
//!
//! A commit that is refused for want of memory is as good as one that succeeds. Any other error, and
//! any wrong byte, ends the work and is reported.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use millpond::{BlockTable, ElasticCache, Offer, Pond, PressureAsk};
use millpond_cuda::{Event, Stream, TouchKernel};

use super::bytes::offset;
use super::item::{Item, MARK};
use super::{Said, lock, of_cache, spec};
use crate::tool::{Trouble, trouble, wrong};
use crate::{Chance, content};

/// Blocks that are committed together: not a divisor of a row, so that neighbours share rows.
const RUN: u64 = 3;
const KERNEL_US: u64 = 3_000;

/// Work in threads of its own until it is stopped.
pub(super) struct Churning {
    work: Arc<Work>,
    threads: Vec<JoinHandle<()>>,
}

struct Work {
    cache: ElasticCache,
    table: Option<BlockTable>,
    limited: bool,
    /// Runs of blocks that nobody has.
    free: Mutex<Vec<u64>>,
    items: Mutex<Vec<Item>>,
    /// Unique among the processes and caches of a test.
    tag: u64,
    made: AtomicU64,
    stop: AtomicBool,
    rounds: AtomicU64,
    refused: AtomicU64,
    trouble: Mutex<Option<Trouble>>,
}

/// Where a thread has kernels run.
struct Lane {
    stream: Stream,
    kernel: TouchKernel,
    event: Event,
    /// A block of its own, for sums.
    scratch: u64,
    /// What the running kernel must come to, where nobody may change what it reads; and the run of
    /// blocks that is free when it has ended.
    running: Option<(Option<u64>, Option<u64>)>,
}

impl Churning {
    pub fn start(
        pond: &Pond,
        group: &str,
        name: &str,
        seed: u64,
        options: &[&str],
    ) -> Result<Self, Trouble> {
        let group = pond.elastic(group).map_err(trouble)?;
        let (spec, broken) = spec::read(options)?;
        let cache = group.reserve(name, spec).map_err(of_cache)?;
        if broken.is_some() {
            cache.break_rule(broken);
        }
        let table = match spec::value(options, "table") {
            Some(_) => Some(cache.blocks().map_err(of_cache)?),
            None => None,
        };
        let mut tag = content::hash(format!("{} {name}", std::process::id()).as_bytes());
        tag.truncate(16);
        let free = (0..cache.geometry().blocks() / RUN).collect();
        let work = Arc::new(Work {
            cache,
            table,
            limited: group.is_limited(),
            free: Mutex::new(free),
            items: Mutex::default(),
            tag: u64::from_str_radix(&tag, 16).unwrap_or(seed),
            made: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            rounds: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            trouble: Mutex::default(),
        });
        if spec::value(options, "keeps").is_none() {
            let weak = Arc::downgrade(&work);
            work.cache.on_pressure(move |ask| pressed(&weak, ask));
        }
        let threads = spec::number_of(options, "threads")?.unwrap_or(1);
        let threads = (0..threads).map(|thread| {
            let work = Arc::clone(&work);
            let mut chance = Chance(seed.wrapping_add(thread << 32));
            std::thread::spawn(move || {
                if let Err(trouble) = work.go_on(&mut chance) {
                    lock(&work.trouble).get_or_insert(trouble);
                }
            })
        });
        let threads = threads.collect();
        Ok(Self { work, threads })
    }

    /// How many rounds there were, or what has ended them.
    pub fn rounds(&self) -> Said {
        match &*lock(&self.work.trouble) {
            Some(trouble) => Err(trouble.clone()),
            None => Ok(self.work.rounds.load(Ordering::Acquire).to_string()),
        }
    }

    /// How many rounds there were, and how many refusals; an error if something was wrong.
    pub fn stop(self) -> Said {
        self.work.stop.store(true, Ordering::Release);
        for thread in self.threads {
            thread.join().map_err(|_| wrong("a thread panicked"))?;
        }
        let work = self.work;
        let failed = lock(&work.trouble).take();
        let rounds = work.rounds.load(Ordering::Acquire);
        if let Some((kind, message)) = failed {
            return Err((kind, format!("{message} (after {rounds} rounds)")));
        }
        while let Some(item) = work.pop(0) {
            work.release(&item, None)?;
        }
        Ok(format!("{rounds} {}", work.refused.load(Ordering::Acquire)))
    }
}

/// Gives what is asked for, while others work.
fn pressed(work: &Weak<Work>, ask: &PressureAsk) -> Offer {
    let Some(work) = work.upgrade() else { return Offer::Nothing };
    while work.cache.idle_bytes() < ask.bytes {
        let Some(item) = work.pop(0) else { break };
        if let Err(trouble) = work.release(&item, None) {
            lock(&work.trouble).get_or_insert(trouble);
            break;
        }
    }
    Offer::Now
}

impl Work {
    fn go_on(&self, chance: &mut Chance) -> Result<(), Trouble> {
        let context = self.cache.context();
        let mut lane = None;
        while !self.stop.load(Ordering::Acquire) && lock(&self.trouble).is_none() {
            let Some(lane) = &mut lane else {
                // Nothing can be done without a place for sums, which may take its time.
                if let Some(item) = self.take(chance)? {
                    lane = Some(Lane {
                        stream: Stream::new(context).map_err(trouble)?,
                        kernel: TouchKernel::load(context).map_err(trouble)?,
                        event: Event::new(context).map_err(trouble)?,
                        scratch: *item.blocks.first().ok_or_else(|| wrong("no blocks"))?,
                        running: None,
                    });
                }
                continue;
            };
            self.step(lane, chance)?;
            self.rounds.fetch_add(1, Ordering::AcqRel);
        }
        lane.map_or(Ok(()), |mut lane| self.land(&mut lane))
    }

    fn step(&self, lane: &mut Lane, chance: &mut Chance) -> Result<(), Trouble> {
        match chance.below(10) {
            0..=4 => match self.take(chance)? {
                Some(item) => {
                    item.write(&self.cache)?;
                    lock(&self.items).push(item);
                }
                None if chance.below(2) == 0 => {
                    if let Some(item) = self.pop(chance.below(u64::MAX)) {
                        self.release(&item, None)?;
                    }
                }
                None => {}
            },
            5 | 6 => {
                if let Some(item) = self.pop(chance.below(u64::MAX)) {
                    item.check(&self.cache)?;
                    lock(&self.items).push(item);
                }
            }
            7 => {
                if let Some(item) = self.pop(chance.below(u64::MAX)) {
                    self.release(&item, None)?;
                }
            }
            8 => {
                if let Some(item) = self.pop(chance.below(u64::MAX)) {
                    self.land(lane)?;
                    self.release(&item, Some((lane, chance)))?;
                }
            }
            _ => {
                let bytes = chance.below(4) * self.cache.geometry().row_bytes();
                self.cache.trim(bytes).map_err(of_cache)?;
            }
        }
        Ok(())
    }

    /// An item, in whose place there is none any more.
    fn pop(&self, which: u64) -> Option<Item> {
        let mut items = lock(&self.items);
        let count = u64::try_from(items.len()).ok().filter(|count| *count > 0)?;
        Some(items.swap_remove(usize::try_from(which % count).ok()?))
    }

    /// Blocks that nobody had; `None` if there is no memory for them.
    fn take(&self, chance: &mut Chance) -> Result<Option<Item>, Trouble> {
        let blocks: Result<Vec<u64>, Trouble> = match &self.table {
            Some(table) => {
                let count = usize::try_from(1 + chance.below(2 * RUN)).unwrap_or(1);
                let taken = table.take(count).map_err(of_cache);
                taken.map(|blocks| blocks.into_iter().map(u64::from).collect())
            }
            None => {
                let mut free = lock(&self.free);
                let (count, place) = (free.len(), chance.index(free.len()));
                if count == 0 {
                    return Ok(None);
                }
                let run = free.swap_remove(place);
                drop(free);
                let blocks = run * RUN..(run + 1) * RUN;
                let committed = self.cache.commit_range(blocks.clone());
                if committed.is_err() {
                    lock(&self.free).push(run);
                }
                committed.map(|()| blocks.collect()).map_err(of_cache)
            }
        };
        match blocks {
            Ok(blocks) => {
                let made = self.made.fetch_add(1, Ordering::AcqRel);
                let seed = self.tag.wrapping_add(made.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                Ok(Some(Item { blocks, seed }))
            }
            Err((kind, _)) if self.is_refusal(&kind) => {
                self.refused.fetch_add(1, Ordering::AcqRel);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    fn is_refusal(&self, kind: &str) -> bool {
        let known = ["after_freeing", "over_budget", "never_fits"].contains(&kind);
        // There the driver itself refuses.
        known || (self.limited && kind == "card_full")
    }

    /// Checks an item and gives its blocks back, under a kernel that still reads them or without.
    fn release(&self, item: &Item, under: Option<(&mut Lane, &mut Chance)>) -> Result<(), Trouble> {
        item.check(&self.cache)?;
        let run = item.blocks.first().map(|block| block / RUN).filter(|_| self.table.is_none());
        let event = match under {
            None => None,
            Some((lane, chance)) => {
                self.launch(lane, chance, item, run)?;
                Some(lane.event.clone())
            }
        };
        match &self.table {
            Some(table) => {
                let blocks = item.blocks.iter().filter_map(|block| u32::try_from(*block).ok());
                table.give(&blocks.collect::<Vec<_>>(), event).map_err(of_cache)
            }
            None => {
                let first = item.blocks.first().copied().unwrap_or(0);
                let blocks = first..first + RUN;
                match &event {
                    Some(event) => self.cache.uncommit(blocks, event).map_err(of_cache)?,
                    None => self.cache.uncommit_now(blocks).map_err(of_cache)?,
                }
                if event.is_none() {
                    lock(&self.free).extend(run);
                }
                Ok(())
            }
        }
    }

    fn launch(
        &self,
        lane: &mut Lane,
        chance: &mut Chance,
        item: &Item,
        run: Option<u64>,
    ) -> Result<(), Trouble> {
        let segment = chance.below(self.cache.geometry().segments());
        let block = item.blocks[chance.index(item.blocks.len())];
        let part = offset(&self.cache, segment, block)?;
        let target = offset(&self.cache, 0, lane.scratch)?;
        let duration = Duration::from_micros(chance.below(KERNEL_US));
        lane.kernel
            .touch_range(&lane.stream, self.cache.range(), part..part + MARK, target, duration)
            .map_err(trouble)?;
        lane.event.record(&lane.stream).map_err(trouble)?;
        // The table may hand the block out again at once, for work behind this.
        let sum = run.map(|_| content::sum_of_words(&item.mark(segment, block)));
        lane.running = Some((sum, run));
        Ok(())
    }

    /// Waits for the kernel, and compares what it has read.
    fn land(&self, lane: &mut Lane) -> Result<(), Trouble> {
        let Some((sum, run)) = lane.running.take() else { return Ok(()) };
        lane.stream.synchronize().map_err(trouble)?;
        // The engine may ask the old event until it has seen it passed.
        lane.event = Event::new(self.cache.context()).map_err(trouble)?;
        lock(&self.free).extend(run);
        let Some(right) = sum else { return Ok(()) };
        let mut found = [0; 8];
        let target = offset(&self.cache, 0, lane.scratch)?;
        self.cache.range().copy_to_host(target, &mut found).map_err(trouble)?;
        let found = u64::from_le_bytes(found);
        match found == right {
            true => Ok(()),
            false => Err(wrong(format!("a kernel summed up to {found}, not {right}"))),
        }
    }
}
