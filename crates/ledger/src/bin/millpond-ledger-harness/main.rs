//! Real processes over a real ledger, for tests only: nothing of the product uses this program.
//!
//! - `race`: processes reserve and release at random over a driver that counts, and are killed and
//!   stopped at random; says whether the driver ever held more than the limit
//! - `steps`: kills a process at every system call of attach, reserve and release
//! - `puppet`: one process that does what it reads from its standard input

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test's program")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it speaks to the test")]

mod driver;
mod puppet;
mod race;
mod steps;
mod twins;

use std::ffi::CString;

/// The GPU of every test here.
const GPU: [u8; 16] = [7; 16];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["race", folder, rest @ ..] => race::run(folder, rest),
        ["racer", folder, cell, seed, twin] => {
            race::racer(folder, cell.parse().unwrap(), seed.parse().unwrap(), twin);
        }
        ["steps", folder, after, memory] => {
            steps::run(folder, after.parse().unwrap(), race::memory(memory));
        }
        ["puppet", folder] => puppet::run(folder),
        _ => {
            eprintln!(
                "usage: race FOLDER [processes=8] [ms=2000] [limit=1000] [seed=1] \
                 [pause=4] \
                 [twin=sound|hasty|slow-sound|no-lock|check-then-add] [memory=segment|file]\n\
                 steps FOLDER AFTER segment|file\npuppet FOLDER"
            );
            std::process::exit(2);
        }
    }
}

fn c(path: &str) -> CString {
    CString::new(path).unwrap()
}

/// A small generator of numbers: the same seed, the same run, as far as the kernel agrees.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
