//! The page and the picture say what the committed result says, and that is what the program says
//! today.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use millpond_traces::arrivals::Pattern;
use millpond_traces::cell::{Place, Row};
use millpond_traces::picture;
use millpond_traces::report::Report;
use millpond_traces::sweep::Sweep;
use millpond_traces::way::Way;

const RESULT: &str = include_str!("../../../benchmarks/results/simulation-2026-11-18-worth.json");
const PAGE: &str = include_str!("../../../docs/elastic.md");
const PICTURE: &str = include_str!("../../../docs/elastic-worth.svg");

fn report() -> Report {
    Report::read(RESULT).unwrap()
}

fn bursty(report: &Report) -> impl Iterator<Item = Place> {
    let is_shown = |place: &Place| place.pattern == Pattern::Bursty && place.models > 1;
    report.places().into_iter().filter(is_shown)
}

/// The cheapest places, with all of their seeds.
#[test]
fn a_new_run_gives_the_numbers_that_were_committed() {
    let report = report();
    for (models, load, pattern) in [(8, 10, Pattern::Bursty), (8, 10, Pattern::Steady)] {
        let sweep = Sweep {
            models: vec![models],
            loads: vec![load],
            patterns: vec![pattern],
            seed: report.seed.unwrap(),
            seeds: report.seeds,
            seconds: report.seconds,
        };
        for row in Row::of(&sweep.run().unwrap()) {
            assert_eq!(Some(&row), report.row(row.place, row.way), "write the results anew");
        }
    }
}

#[test]
fn the_page_shows_rows_of_the_result_and_all_bursts() {
    let table = report().markdown();
    let section = PAGE.split("\n## What it is worth\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| ---");
    let shown: Vec<&str> = section.lines().filter(is_row).collect();
    for line in &shown {
        assert!(table.lines().any(|row| row == *line), "not in the result: {line}");
    }
    for place in bursty(&report()) {
        let begin = format!("| {}, {} % |", place.models, place.load_percent);
        assert!(shown.iter().any(|line| line.starts_with(&begin)), "not on the page: {begin}");
    }
}

#[test]
fn the_picture_is_the_one_of_the_result() {
    let drawn = picture::draw(&report());
    assert!(drawn == PICTURE, "millpond-traces simulate … --svg docs/elastic-worth.svg draws it");
}

#[test]
fn nothing_is_faster_than_the_ideal_on_average_where_requests_come_in_bursts() {
    let report = report();
    for place in bursty(&report) {
        let mean = |way| report.row(place, way).unwrap().first_token_us.mean;
        for way in Way::ALL {
            assert!(mean(way) >= mean(Way::Oracle), "{place:?} {way:?}");
        }
    }
}

/// What the page says in words.
#[test]
fn the_claims_of_the_page_are_in_the_result() {
    let report = report();
    let gain = |place: Place, way: Way| {
        let mean = |way| report.row(place, way).unwrap().first_token_us.mean as f64;
        mean(Way::StaticEqual).min(mean(Way::StaticByLoad)) / mean(way)
    };
    let best = bursty(&report).map(|place| gain(place, Way::Elastic)).fold(0.0, f64::max);
    assert!(best > 28.0, "{best}");
    for place in report.places() {
        if place.models == 1 {
            assert!((0.95..1.05).contains(&gain(place, Way::Elastic)), "{place:?}");
        }
        // Where memory is short all the time, little can be gained, and something lost.
        if place.pattern == Pattern::Steady && place.load_percent == 100 {
            assert!(gain(place, Way::Elastic) < 1.05, "{place:?}");
        }
    }
}
