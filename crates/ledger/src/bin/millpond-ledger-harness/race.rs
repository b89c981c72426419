//! Random interleavings of real processes, with kills.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use millpond_ledger::protocol::{Protocol, Sound};
use millpond_ledger::{Book, BookSettings, Member, Memory, Patience, Refused};

use crate::driver::{self, CELLS, Driver};
use crate::{GPU, Random, c, twins};

const PATIENT: Patience = Patience(Duration::from_secs(30));

struct Plan {
    processes: usize,
    ms: u64,
    limit: u64,
    seed: u64,
    twin: String,
    memory: Memory,
    /// The longest time between two kills, in milliseconds.
    pause: u64,
}

impl Plan {
    fn read(words: &[&str]) -> Self {
        let mut plan = Self {
            processes: 8,
            ms: 2000,
            limit: 1000,
            seed: 1,
            twin: "sound".into(),
            memory: Memory::Segment,
            pause: 4,
        };
        for word in words {
            let (key, value) = word.split_once('=').expect("key=value");
            match key {
                "processes" => plan.processes = value.parse().unwrap(),
                "ms" => plan.ms = value.parse().unwrap(),
                "limit" => plan.limit = value.parse().unwrap(),
                "seed" => plan.seed = value.parse().unwrap(),
                "pause" => plan.pause = value.parse().unwrap(),
                "twin" => plan.twin = value.into(),
                "memory" => plan.memory = memory(value),
                _ => panic!("unknown setting {key}"),
            }
        }
        assert!(plan.processes <= CELLS);
        plan
    }
}

pub fn memory(word: &str) -> Memory {
    if word == "file" { Memory::File } else { Memory::Segment }
}

/// Runs a race and writes one line of JSON; exit status 1 when the limit did not hold or ledger and
/// driver disagree at the end.
pub fn run(folder: &str, words: &[&str]) {
    let plan = Plan::read(words);
    let settings =
        BookSettings { name: b"race", owner: None, everyone: false, memory: plan.memory };
    let book = Book::create(&c(folder), settings).unwrap();
    book.change(None, PATIENT, |budget| {
        (budget.asked, budget.effective) = (plan.limit, plan.limit);
    })
    .unwrap();
    let mut random = Random(plan.seed | 1);
    let mut racers: Vec<Child> =
        (0..plan.processes).map(|cell| spawn(folder, cell, &plan, &mut random)).collect();
    let end = Instant::now() + Duration::from_millis(plan.ms);
    let (mut kills, mut stops) = (0, 0);
    while Instant::now() < end {
        std::thread::sleep(Duration::from_micros(random.below(plan.pause * 1000)));
        let cell = usize::try_from(random.below(u64::try_from(plan.processes).unwrap())).unwrap();
        let racer = racers.get_mut(cell).unwrap();
        if random.below(4) == 0 {
            signal(racer, libc::SIGSTOP);
            std::thread::sleep(Duration::from_micros(random.below(2000)));
            signal(racer, libc::SIGCONT);
            stops += 1;
        } else {
            racer.kill().unwrap();
            // Not waited for yet: it stays a zombie, and the others must cope with that.
            let next = spawn(folder, cell, &plan, &mut random);
            let mut old = std::mem::replace(racer, next);
            old.wait().unwrap();
            kills += 1;
        }
        if driver::result(folder).violations > 0 {
            break;
        }
    }
    // The middle of things: everybody stopped, ledger and driver compared.
    for racer in &racers {
        signal(racer, libc::SIGSTOP);
    }
    let during = driver::result(folder).held;
    for racer in &mut racers {
        signal(racer, libc::SIGCONT);
        racer.kill().unwrap();
        racer.wait().unwrap();
    }
    // All are gone; the grace is waited for, and no longer.
    let end = Instant::now() + Duration::from_secs(10);
    let mut slots = 1;
    while slots > 0 && Instant::now() < end {
        book.reap(PATIENT).unwrap();
        slots = 0;
        book.members(|_| slots += 1).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let totals = book.totals(GPU).unwrap();
    let result = driver::result(folder);
    let agree = totals.used == result.held && totals.credit == 0;
    println!(
        "{{\"twin\":\"{}\",\"operations\":{},\"kills\":{kills},\"stops\":{stops},\
         \"limit\":{},\"held_at_the_end\":{during},\"worst\":{},\"violations\":{},\"agree\":{agree}}}",
        plan.twin, result.operations, plan.limit, result.worst, result.violations
    );
    std::process::exit(i32::from(result.violations > 0 || !agree));
}

fn spawn(folder: &str, cell: usize, plan: &Plan, random: &mut Random) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["racer", folder, &cell.to_string(), &random.below(1 << 40).to_string(), &plan.twin])
        .env("RACE_LIMIT", plan.limit.to_string())
        .spawn()
        .unwrap()
}

fn signal(racer: &Child, signal: i32) {
    // SAFETY: a child of ours that was not waited for.
    unsafe { libc::kill(i32::try_from(racer.id()).unwrap(), signal) };
}

/// One process of a race; ends only when it is killed.
pub fn racer(folder: &str, cell: usize, seed: u64, twin: &str) {
    match twin {
        "sound" => go::<Sound>(folder, cell, seed),
        "hasty" => go::<twins::Hasty>(folder, cell, seed),
        "slow-sound" => go::<twins::SlowSound>(folder, cell, seed),
        "no-lock" => go::<twins::NoLock>(folder, cell, seed),
        "check-then-add" => go::<twins::CheckThenAdd>(folder, cell, seed),
        _ => panic!("unknown twin {twin}"),
    }
}

fn go<P: Protocol>(folder: &str, cell: usize, seed: u64) {
    let limit: u64 = std::env::var("RACE_LIMIT").unwrap().parse().unwrap();
    let driver = Driver::start(folder, cell, limit);
    let member = Member::<P>::attach_as(&c(folder)).unwrap();
    let device = member.device(GPU).unwrap();
    let mut random = Random(seed | 1);
    let mut held: Vec<u32> = Vec::new();
    loop {
        let give_back = random.below(100) < 45 || held.len() > 8;
        if give_back && !held.is_empty() {
            let which = usize::try_from(random.below(u64::try_from(held.len()).unwrap())).unwrap();
            let units = held.swap_remove(which);
            driver.free(units);
            member.release(device, units);
        } else {
            let units = 1 + u32::try_from(random.below(limit / 4)).unwrap();
            match member.reserve(device, units) {
                Ok(()) => {
                    driver.allocate(units);
                    held.push(units);
                }
                Err(Refused::Limit) => {}
                Err(Refused::Broken(error)) => panic!("{error}"),
            }
        }
    }
}
