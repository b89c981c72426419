//! Many caches at work under one limit, at random, with kills: the limit holds at every instant, no byte is wrong,
//! nothing is left.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use millpond_tests::market::{GROUP, unit};
use millpond_tests::{
    Chance, Market, Options, PATIENCE, Process, Worker, eventually, eventually_equal, is_soft, say,
};

/// The limit, in units.
const LIMIT: u64 = 32;
const MEMBERS: usize = 4;
const KILLS: u64 = 12;
/// Rounds after which a broken rule would have been noticed.
const ENOUGH: u64 = 300;

/// A process that works with two caches: one by block numbers, one by a table.
struct Member {
    worker: Worker,
    number: u64,
}

impl Member {
    fn start(market: &Market, number: u64, seed: u64) -> Self {
        let mut worker = market.pond.worker();
        for (how, more) in [("ranges", "threads=2"), ("table", "table=1 segments=2")] {
            let block = unit() / 4;
            worker.ask(&format!(
                "cache churn {GROUP} {how}-{number} {seed} blocks=120 block={block} handle={} wait_ms=50 {more}",
                unit()
            ));
        }
        Self { worker, number }
    }

    /// Ends its work; how many rounds and refusals there were.
    fn stop(&mut self, seed: u64) -> (u64, u64) {
        let mut sum = (0, 0);
        for how in ["ranges", "table"] {
            let said = self.worker.try_ask(&format!("cache churn-stop {how}-{}", self.number));
            let said = said.unwrap_or_else(|error| panic!("seed {seed}, {how}: {error}"));
            let (rounds, refused) = said.split_once(' ').unwrap();
            sum.0 += rounds.parse::<u64>().unwrap();
            sum.1 += refused.parse::<u64>().unwrap();
        }
        sum
    }
}

/// Ends the looking also when this thread panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks at the group all the time. A daemon that has just died does not answer.
fn watch(market: &Market, stop: &AtomicBool) -> u64 {
    let (mut most, mut looks) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let Ok(group) = market.pond.control().group(millpond_tests::market::name()) else {
            continue;
        };
        let device = &group.info.devices[0];
        most = most.max(device.process_bytes);
        assert!(device.process_bytes <= LIMIT * unit(), "{device:?}");
        looks += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(looks > 0);
    most
}

fn storm(seed: u64) {
    let market = Market::new(LIMIT);
    let mut chance = Chance(seed);
    let mut members: Vec<Member> = (0..MEMBERS)
        .map(|number| Member::start(&market, u64::try_from(number).unwrap(), chance.below(1 << 40)))
        .collect();
    let meter = is_soft().then(|| market.meter());
    let stop = AtomicBool::new(false);
    let (mut next, mut ended) = (u64::try_from(MEMBERS).unwrap(), (0, 0));
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&market, &stop));
        let _stop = Stop(&stop);
        for _ in 0..KILLS {
            std::thread::sleep(Duration::from_millis(chance.below(250)));
            match chance.below(4) {
                0 => drop(market.pond.kill_daemon()),
                1 => drop(market.pond.kill_keeper()),
                _ => {
                    let victim = members.swap_remove(chance.index(members.len()));
                    victim.worker.kill();
                    members.push(Member::start(&market, next, chance.below(1 << 40)));
                    next += 1;
                }
            }
        }
        for member in &mut members {
            let (rounds, refused) = member.stop(seed);
            ended = (ended.0 + rounds, ended.1 + refused);
        }
        stop.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    let peak = meter.as_ref().map_or(0, |meter| meter.peak().unwrap());
    say(&format!(
        "seed {seed}: {} rounds, {} refused, at most {most} charged and {peak} held of {} and {}",
        ended.0,
        ended.1,
        LIMIT * unit(),
        market.base()
    ));
    assert!(peak <= market.base() + LIMIT * unit(), "seed {seed}: {peak}");
    assert!(ended.0 > 0 && ended.1 > 0, "seed {seed} tests nothing: {ended:?}");
    eventually_equal("caches", &Vec::new(), || market.names());
    market.assert_held("everybody has stopped", 0);
    drop(members);
    market.assert_gone("everybody is gone");
}

#[test]
fn no_interleaving_with_kills_passes_the_limit_or_leaves_anything() {
    let base = std::env::var("MILLPOND_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in base.map_or(1..=3, |seed: u64| seed..=seed) {
        storm(seed);
    }
}

#[test]
fn two_threads_grow_and_shrink_one_range() {
    let market = Market::new(LIMIT);
    let mut neighbour = market.cache("neighbour", "wait_ms=50");
    neighbour.ask("cache offer neighbour all");
    let mut member = Member::start(&market, 0, 7);
    // The neighbour comes and goes.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        let _ = neighbour.try_ask("cache commit neighbour 8");
        let _ = neighbour.try_ask("cache uncommit neighbour 0 4");
    }
    eventually("some rounds", || {
        let rounds: u64 = member.worker.ask("cache churn-rounds ranges-0").parse().unwrap();
        (rounds > 100).then_some(())
    });
    let (rounds, refused) = member.stop(7);
    say(&format!("{rounds} rounds, {refused} refused"));
    neighbour.ask("cache close neighbour");
    market.assert_held("everything is given back", 0);
}

/// One cache that works under pressure with a rule of the engine broken; what it reports.
fn broken(options: Options, rule: &str) -> Result<String, String> {
    let market = Market::with(options, 12);
    let mut hungry = market.cache("hungry", "wait_ms=100");
    hungry.ask("cache offer hungry all");
    let mut worker = market.pond.worker();
    let block = unit() / 4;
    worker.ask(&format!(
        "cache churn {GROUP} broken 3 blocks=120 block={block} handle={} wait_ms=100 threads=2 {rule}",
        unit()
    ));
    eventually("an end", || {
        let _ = hungry.try_ask("cache commit hungry 8");
        let _ = hungry.try_ask("cache uncommit hungry 0 8");
        let rounds = worker.try_ask("cache churn-rounds broken");
        rounds.map_or(Some(()), |rounds| (rounds.parse::<u64>().unwrap() > ENOUGH).then_some(()))
    });
    let said = worker.try_ask("cache churn-stop broken");
    // A lost context gives nothing back; the end of its process does.
    let end = Process::open(worker.pid()).unwrap();
    worker.kill();
    assert!(end.wait(PATIENCE));
    hungry.ask("cache close hungry");
    market.assert_held("everybody is gone", 0);
    said
}

fn adversarial() -> Options {
    let options = Options::giving_back().soft();
    options.worker_env("MILLPOND_SOFT_ADVERSARIAL", "1").worker_env("MILLPOND_SOFT_STRICT", "1")
}

/// That a page was gone, or another one's, and nothing else.
fn is_caught(rule: &str, signs: &[&str]) {
    let error = broken(adversarial(), rule).unwrap_err();
    say(&format!("{rule}: {error}"));
    assert!(signs.iter().any(|sign| error.contains(sign)), "{rule}: {error}");
}

/// The same work notices that pages go under running kernels.
#[test]
fn an_unmap_before_its_fence_is_caught() {
    is_caught("break=no-fence", &["ILLEGAL_ADDRESS", "summed up"]);
}

#[test]
fn pages_that_are_given_back_in_use_are_caught() {
    let signs = ["ILLEGAL_ADDRESS", "summed up", "not mapped", "other bytes"];
    is_caught("break=trim-in-use", &signs);
}

/// The control: with all rules kept the same work finds nothing.
#[test]
fn rules_that_are_kept_are_not_caught() {
    let said = broken(adversarial(), "").unwrap();
    say(&said);
}
