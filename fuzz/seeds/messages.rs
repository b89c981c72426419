//! Messages of every kind.

use millpond_wire::message::{Reply, Request};
use millpond_wire::samples;
use planus::Builder;

use crate::Folder;

pub fn requests(folder: &Folder) {
    for (seed, body) in samples::requests() {
        folder.seed(seed, Request { number: 5, body }.encode(&mut Builder::new()));
    }
}

pub fn replies(folder: &Folder) {
    for (seed, body) in samples::replies() {
        folder.seed(seed, Reply { number: 5, body }.encode(&mut Builder::new()));
    }
}

/// The channels' samples are the golden files: the tests of keeper, mover and host encode them.
pub fn keeper_channel(folder: &Folder) {
    golden(folder, include_str!("../../tests/golden/keeper-channel.hex"));
}

pub fn mover_channel(folder: &Folder) {
    golden(folder, include_str!("../../tests/golden/to-mover.hex"));
    golden(folder, include_str!("../../tests/golden/from-mover.hex"));
}

pub fn host_channel(folder: &Folder) {
    golden(folder, include_str!("../../tests/golden/to-host.hex"));
    golden(folder, include_str!("../../tests/golden/from-host.hex"));
}

/// A line for each sample, its name and its bytes.
fn golden(folder: &Folder, text: &str) {
    for line in text.lines() {
        let (seed, digits) = line.split_once(' ').expect("a name and bytes");
        let bytes: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits"))
            .collect();
        folder.seed(seed, &bytes);
    }
}
