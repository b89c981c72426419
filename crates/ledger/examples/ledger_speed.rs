//! What a reserve/release pair costs, beside the least that any ledger could cost: one uncontended
//! pair of compare-and-swaps, measured in the same run.
//!
//! `cargo run --release -p millpond-ledger --example ledger_speed` writes one JSON object. Times are
//! nanoseconds of processor time for one pair, the median and the worst of the processes: with more
//! processes than cores, wall time would count the others' turns. What takes the lock and what attaches
//! is the median of wall times.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for measuring")]

use std::ffi::CString;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use millpond_ledger::{Book, BookSettings, Member, Memory, Patience};

const GPU: [u8; 16] = [7; 16];
const PATIENT: Patience = Patience(Duration::from_secs(10));
const UNITS: u32 = 512;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => parent(),
        [folder, pairs] => child(folder, pairs.parse().unwrap()),
        _ => std::process::exit(2),
    }
}

fn parent() {
    let mut kinds = Vec::new();
    for (name, memory) in [("segment", Memory::Segment), ("file", Memory::File)] {
        let folder = format!("/dev/shm/millpond-ledger-speed-{}", std::process::id());
        let path = CString::new(folder.clone()).unwrap();
        let settings = BookSettings { name: b"speed", owner: None, everyone: false, memory };
        let book = Book::create(&path, settings).unwrap();
        book.change(None, PATIENT, |budget| {
            (budget.asked, budget.effective) = (10 << 18, 10 << 18);
        })
        .unwrap();
        let runs: Vec<String> = [1, 2, 8].map(|count| run(&folder, count, memory)).to_vec();
        let slow = slow_path(&path, &book);
        let attach = attach(&path);
        std::fs::remove_dir_all(&folder).unwrap();
        kinds.push(format!(
            "\"{name}\":{{\"processes\":{{{}}},\"with_the_lock_ns\":{slow:.0},\
             \"attach_among_500_ns\":{attach:.0}}}",
            runs.join(",")
        ));
    }
    println!(
        "{{\"what\":\"ledger reserve/release pair\",\"unit\":\"ns of processor time\",\
         \"cores\":{},\"floor_ns\":{:.2},{}}}",
        std::thread::available_parallelism().unwrap(),
        floor(),
        kinds.join(",")
    );
}

/// Attaching while 500 others are there.
fn attach(path: &CString) -> f64 {
    let mut members: Vec<Member> = (0..500).map(|_| Member::attach(path).unwrap()).collect();
    median((0..200).map(|_| {
        let begin = Instant::now();
        members.push(Member::attach(path).unwrap());
        begin.elapsed()
    }))
}

/// A reserve that has to ask for credit, because an operator takes it back every time.
fn slow_path(path: &CString, book: &Book) -> f64 {
    let member = Member::attach(path).unwrap();
    let device = member.device(GPU).unwrap();
    median((0..20_000).map(|_| {
        book.take_back(GPU, PATIENT).unwrap();
        let begin = Instant::now();
        member.reserve(device, UNITS).unwrap();
        let time = begin.elapsed();
        member.release(device, UNITS);
        time
    }))
}

fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times.get(times.len() / 2).unwrap().as_secs_f64() * 1e9
}

/// All start together: a child says that it is ready, and goes when its input ends.
fn run(folder: &str, count: usize, memory: Memory) -> String {
    let all = if memory == Memory::File { 200_000 } else { 20_000_000 };
    let pairs = all / if count > 2 { 4 } else { 1 };
    let mut children: Vec<_> = (0..count)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args([folder, &pairs.to_string()])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut children {
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    }
    for child in &mut children {
        drop(child.stdin.take());
    }
    let mut times: Vec<f64> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let middle = times.get(count / 2).unwrap();
    let worst = times.last().unwrap();
    format!("\"{count}\":{{\"median_ns\":{middle:.2},\"worst_ns\":{worst:.2}}}")
}

fn child(folder: &str, pairs: u32) {
    let member = Member::attach(&CString::new(folder).unwrap()).unwrap();
    let device = member.device(GPU).unwrap();
    std::io::stdout().write_all(b"r").unwrap();
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    member.reserve(device, UNITS).unwrap();
    let begin = processor_time();
    for _ in 0..pairs {
        member.reserve(device, UNITS).unwrap();
        member.release(device, UNITS);
    }
    println!("{}", (processor_time() - begin) * 1e9 / f64::from(pairs));
}

fn floor() -> f64 {
    let word = AtomicU64::new(0);
    let pairs = 20_000_000_u32;
    let begin = processor_time();
    for turn in 0..u64::from(pairs) {
        let word = std::hint::black_box(&word);
        let _ = word.compare_exchange(turn, turn + 2, Ordering::AcqRel, Ordering::Acquire);
        let _ = word.compare_exchange(turn + 2, turn + 1, Ordering::AcqRel, Ordering::Acquire);
    }
    (processor_time() - begin) * 1e9 / f64::from(pairs)
}

fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    let nanos = i32::try_from(time.tv_nsec).unwrap();
    f64::from(i32::try_from(time.tv_sec).unwrap()) + f64::from(nanos) / 1e9
}
