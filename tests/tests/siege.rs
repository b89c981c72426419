//! A small siege, and that a siege can fail. The large one is a step of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::process::Command;
use std::time::Duration;

use millpond_tests::{Said, binaries};

const PATIENCE: Duration = Duration::from_secs(200);

fn siege(options: &[&str]) -> Said {
    let mut command = Command::new(binaries::pondtool());
    command.env("MILLPOND_BIN", binaries::millpond()).arg("siege").args(options).arg("--json");
    Said::by(&mut command, PATIENCE)
}

#[test]
fn twenty_kills_of_every_kind_harm_nobody() {
    let said = siege(&["--kills", "20", "--clients", "4"]).json();
    assert_eq!(said["kills_total"], 20, "{said}");
    assert!(said["kills"].as_object().unwrap().len() == 4, "{said}");
    assert!(said["reads_verified"].as_u64().unwrap() > 0, "{said}");
    assert_eq!((&said["wrong_reads"], &said["lost_tensors"]), (&0.into(), &0.into()), "{said}");
}

#[test]
fn wrong_bytes_are_found() {
    let said = siege(&["--kills", "10", "--clients", "4", "--seed", "5", "--sabotage"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("VIOLATION") && said.stderr.contains("--seed 5"), "{said:?}");
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(report["wrong_reads"].as_u64().unwrap() > 0, "{report}");
}
