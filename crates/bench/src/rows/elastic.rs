//! Elastic caches: memory that comes and goes under addresses that stay, beside the bare driver.

use std::time::Duration;

use millpond::{GroupLimit, GroupSet, Pond};
use millpond_console::error::{CommandError, failed, wrong};
use millpond_trial::protocol::Order;
use millpond_trial::{TrialPond, Worker};
use millpond_view::units;

use super::{Rows, TURNS, elastic_book, pool};
use crate::caches::{BATCH, CacheWork, Shape};
use crate::ground::Ground;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::Samples;

pub const NAMES: &[&str] = &[
    "elastic/warm-block",
    "elastic/cold-1g",
    "elastic/cold-1g-16m",
    "elastic/cold-1g-2m",
    "elastic/move-1g",
    "elastic/move-1g-asked",
    "elastic/kv-page",
    "elastic/kv-page-again",
    "elastic/kv-page-cold",
    "elastic/kv-page-free",
    "elastic/kv-page-trim",
    elastic_book::NAME,
    pool::NAMES[0],
    pool::NAMES[1],
    pool::NAMES[2],
    pool::NAMES[3],
];

const MIB: u64 = 1 << 20;
/// The handles that a gigabyte is moved in.
const LARGE: u64 = 64 * MIB;
/// A group with room for everything but moves, and one that is full when a cache is.
pub(super) const ROOMY: &str = "bench-roomy";
const TIGHT: &str = "bench-tight";

const RAW_GROWTH: &str = "cuMemCreate, cuMemMap of the same handles, one cuMemSetAccess";
const RAW_PAGE: &str = "cuMemCreate, cuMemMap, cuMemSetAccess of 32 handles";
const RAW_END: &str = "cuMemUnmap and cuMemRelease of 32 handles";
const RAW_MOVE: &str = "the end of as many handles with the bare driver, and new ones";

/// 16 layers, each with keys and values, in pages of 2 MiB. A block has 16 tokens of 8 heads of 128
/// numbers of 16 bits.
fn layers(ground: &Ground, pages: u32) -> Shape {
    let block_bytes = 16 * 8 * 128 * 2;
    Shape {
        group: ROOMY.to_owned(),
        device: ground.card.device.clone(),
        segments: 32,
        block_bytes,
        page_blocks: 64,
        pages,
    }
}

/// All of it in a pond of its own, because its groups are made and filled.
pub fn run(ground: &Ground) -> Rows {
    let (trial, _) = ground.pond()?;
    let pond = trial.connect("bench")?;
    let card = Card { ground, trial: &trial, pond: &pond, device: device_of(&trial)? };
    // A gigabyte is what is judged. Without a GPU nothing is, and pages are slow to make.
    let bytes = if ground.card.soft { 2 * LARGE } else { 1 << 30 };
    set_limit(&pond, ROOMY, ground.card.total_bytes / 2)?;
    set_limit(&pond, TIGHT, bytes)?;
    let mut rows = vec![warm(&card)?];
    for (name, handle_bytes) in NAMES[1..4].iter().zip([LARGE, 16 * MIB, 2 * MIB]) {
        rows.push(cold(&card, name, bytes, handle_bytes)?);
    }
    rows.extend(moves(&card, bytes)?);
    rows.extend(pages(&card)?);
    rows.push(elastic_book::row()?);
    rows.extend(pool::run(&card)?);
    pond.close()?;
    Ok(rows)
}

/// Where it is measured.
pub(super) struct Card<'a> {
    ground: &'a Ground,
    trial: &'a TrialPond,
    pond: &'a Pond,
    pub(super) device: String,
}

impl Card<'_> {
    pub(super) fn soft(&self) -> bool {
        self.ground.card.soft
    }

    /// A quick look at a GPU has enough rounds to judge by.
    pub(super) fn rounds(&self, full: u32) -> u32 {
        if self.soft() { self.ground.count(10, 2) } else { self.ground.count(full, full.min(20)) }
    }

    pub(super) fn worker(&self) -> Result<Worker, CommandError> {
        self.trial.worker("bench cache")
    }

    fn layers(&self, pages: u32) -> Shape {
        Shape { device: self.device.clone(), ..layers(self.ground, pages) }
    }
}

/// The software driver's devices are named after the folder of their pond.
fn device_of(trial: &TrialPond) -> Result<String, CommandError> {
    let mut worker = trial.worker("bench meter")?;
    let card = worker.open_card()?;
    worker.end()?;
    Ok(card.device)
}

fn set_limit(pond: &Pond, group: &str, bytes: u64) -> Result<(), CommandError> {
    let name = group.parse().map_err(|error| failed("naming a group", error))?;
    let limit = Some(GroupLimit::Bytes(bytes));
    pond.set_group(GroupSet { limit, create: true, ..GroupSet::of(name) })?;
    Ok(())
}

pub(super) fn order(work: CacheWork) -> Order {
    Order::from(Measure::Cache(work))
}

/// Times that come in turns, apart.
pub(super) fn apart<const N: usize>(times: &[Duration]) -> [Samples; N] {
    std::array::from_fn(|kind| Samples::new(times.iter().skip(kind).step_by(N).copied().collect()))
}

fn warm(card: &Card<'_>) -> Result<RowJson, CommandError> {
    let pages = if card.soft() { 1 } else { 8 };
    let rounds = card.ground.count(100, 10);
    let mut worker = card.worker()?;
    let mut times = Vec::new();
    for _ in 0..card.ground.count(TURNS, 1) {
        let work = CacheWork::Warm { shape: card.layers(pages), rounds };
        times.extend(worker.times(&order(work))?);
    }
    worker.end()?;
    let [own, raw] = apart(&times);
    let what = format!("take and give of a block, mean of {}", units::thousands(BATCH.into()));
    let goal = Goal { value: Some(1.0), ..Goal::default() };
    Ok(RowJson::times(NAMES[0], what, &own)
        .beside("cuMemAllocAsync and cuMemFreeAsync from a warm pool", &raw)
        .goal(goal, card.soft()))
}

fn cold(
    card: &Card<'_>,
    name: &'static str,
    bytes: u64,
    handle_bytes: u64,
) -> Result<RowJson, CommandError> {
    let mut worker = card.worker()?;
    let work = CacheWork::Cold {
        group: ROOMY.to_owned(),
        device: card.device.clone(),
        bytes,
        handle_bytes,
        rounds: card.rounds(40),
    };
    let [own, raw] = apart(&worker.times(&order(work))?);
    worker.end()?;
    let what =
        format!("{} from nothing, handles of {}", units::bytes(bytes), units::bytes(handle_bytes));
    let ratio = (handle_bytes == LARGE).then_some(1.2);
    let goal = Goal { ratio, gpu_only: true, ..Goal::default() };
    Ok(RowJson::times(name, what, &own).beside(RAW_GROWTH, &raw).goal(goal, card.soft()))
}

/// Two processes whose group has room for one of them.
fn moves(card: &Card<'_>, bytes: u64) -> Rows {
    let rounds = card.rounds(50);
    let mut pair = [card.worker()?, card.worker()?];
    let raw_work =
        || CacheWork::MoveRaw { device: card.device.clone(), bytes, handle_bytes: LARGE };
    let (mut raw, mut idle, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    open(&mut pair, bytes, false)?;
    pair[0].times(&order(CacheWork::Commit))?;
    // To and fro; the first turns do not count.
    for round in 0..rounds + 2 {
        let [from, to] = &mut pair;
        let bare = to.times(&order(raw_work()))?;
        from.times(&order(CacheWork::Idle))?;
        let moved = to.times(&order(CacheWork::Commit))?;
        if round >= 2 {
            raw.extend(bare);
            idle.extend(moved);
        }
        pair.swap(0, 1);
    }
    check_moved(card.pond, bytes, rounds)?;
    close(&mut pair)?;
    open(&mut pair, bytes, true)?;
    for round in 0..rounds + 2 {
        let [from, to] = &mut pair;
        from.times(&order(CacheWork::Commit))?;
        let moved = to.times(&order(CacheWork::Commit))?;
        to.times(&order(CacheWork::Empty))?;
        if round >= 2 {
            asked.extend(moved);
        }
    }
    check_moved(card.pond, bytes, rounds)?;
    close(&mut pair)?;
    for worker in pair {
        worker.end()?;
    }
    let [raw, idle, asked] = [raw, idle, asked].map(Samples::new);
    let goal = Goal { value: Some(5_000.0), gpu_only: true, ..Goal::default() };
    let row = |name, what: &str, samples| {
        let what = format!("{} to another process, {what}", units::bytes(bytes));
        RowJson::times(name, what, samples).beside(RAW_MOVE, &raw).goal(goal, card.soft())
    };
    Ok(vec![
        row(NAMES[4], "idle pages", &idle),
        row(NAMES[5], "pages that its handler gives", &asked),
    ])
}

fn open(pair: &mut [Worker; 2], bytes: u64, gives: bool) -> Result<(), CommandError> {
    let mut gives = gives;
    for worker in pair {
        let group = TIGHT.to_owned();
        worker.times(&order(CacheWork::Open { group, bytes, handle_bytes: LARGE, gives }))?;
        gives = false;
    }
    Ok(())
}

fn close(pair: &mut [Worker; 2]) -> Result<(), CommandError> {
    pair.iter_mut().try_for_each(|worker| worker.times(&order(CacheWork::Close)).map(drop))
}

/// Every turn must have taken the pages from the other process.
fn check_moved(pond: &Pond, bytes: u64, rounds: u32) -> Result<(), CommandError> {
    let caches = pond.caches(None)?;
    let given: u64 = caches.iter().map(|cache| cache.given_bytes).sum();
    match given >= bytes * u64::from(rounds) {
        true => Ok(()),
        false => Err(wrong("pages were there already: no move was measured")),
    }
}

/// The layout that kvcached was measured with: one page of all layers.
fn pages(card: &Card<'_>) -> Rows {
    let ground = card.ground;
    let pages = if card.soft() { ground.count(8, 2) } else { 32 };
    let mut worker = card.worker()?;
    let (mut grown, mut bare, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ground.count(TURNS, 1) {
        let shape = || card.layers(pages);
        let work = CacheWork::Ahead { shape: shape(), rounds: 1 };
        grown.extend(worker.times(&order(work))?);
        let rounds = ground.count(200, 50);
        again.extend(worker.times(&order(CacheWork::Again { shape: shape(), rounds }))?);
        let rounds = card.rounds(10);
        bare.extend(worker.times(&order(CacheWork::Pages { shape: shape(), rounds }))?);
    }
    worker.end()?;
    let [ahead, free] = apart(&grown);
    let [cold, raw, trim, raw_end] = apart(&bare);
    let [again] = apart(&again);
    // A tenth of kvcached's median on the same kind of machine: 19 us.
    let goal = Goal { value: Some(1.9), gpu_only: true, ..Goal::default() };
    let soft = card.soft();
    Ok(vec![
        RowJson::times(NAMES[6], "a page of 16 layers, made ahead: its 64 blocks", &ahead)
            .beside(RAW_PAGE, &raw)
            .goal(goal, soft),
        RowJson::times(NAMES[7], "take and give of such blocks, pages there", &again)
            .beside(RAW_PAGE, &raw),
        RowJson::times(NAMES[8], "such a page, from nothing", &cold).beside(RAW_PAGE, &raw),
        RowJson::times(NAMES[9], "its blocks are given, the page stays", &free)
            .beside(RAW_END, &raw_end),
        RowJson::times(NAMES[10], "such a page is given to the driver", &trim)
            .beside(RAW_END, &raw_end),
    ])
}
