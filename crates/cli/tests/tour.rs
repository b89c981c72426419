//! The README's tour, typed as it stands there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::path::Path;
use std::process::Command;

use common::{Place, Ran};

/// What a newcomer types.
fn typed() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let tour = page.split("\n## Ten-minute tour\n").nth(1).unwrap();
    let tour = tour.split("\n## ").next().unwrap();
    let blocks = tour.split("\n```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    blocks.flat_map(str::lines).map(|line| line.to_owned() + "\n").collect()
}

/// Stops the pond that the tour has started, also where the tour broke off.
struct Ends<'a>(&'a Place);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.run(&["stop"]);
    }
}

#[test]
fn every_command_of_the_tour_works_as_it_is_printed() {
    let (place, script) = (Place::new(), typed());
    assert!(script.lines().count() > 12, "{script}");
    let _ends = Ends(&place);
    let program = Path::new(env!("CARGO_BIN_EXE_millpond")).parent().unwrap();
    let mut command: Command = place.shell("bash");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    command.args(["-e", "-x", "-c", &script]).current_dir(place.path()).env("PATH", path);
    command.env("MILLPOND_LOG_FILE", place.path().join("log"));
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for said in ["acts/x", "weights/w0", "copy.bin", "epoch 3"] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert_eq!(place.run(&["status"]).code, Some(15), "the last line stops the pond");
}
