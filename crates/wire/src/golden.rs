//! The bytes of messages, records and manifests are those of the golden files.

#[path = "../../../tests/golden/check.rs"]
mod check;

use check::check;
use planus::Builder;

use crate::manifest::ManifestView;
use crate::message::{Reply, Request};
use crate::record::Record;
use crate::samples::{self, Sample};

/// The number of every golden message.
const NUMBER: u64 = 5;

fn named<T>(
    samples: &[Sample<T>],
    bytes: impl Fn(&T) -> Vec<u8>,
) -> impl Iterator<Item = (String, Vec<u8>)> {
    samples.iter().map(move |(name, sample)| ((*name).to_owned(), bytes(sample)))
}

#[test]
fn golden_requests() {
    let samples = samples::requests();
    let samples: Vec<Sample<Request>> =
        samples.into_iter().map(|(name, body)| (name, Request { number: NUMBER, body })).collect();
    let golden = check("requests", named(&samples, |it| it.encode(&mut Builder::new()).to_vec()));
    for (name, sample) in &samples {
        assert_eq!(Request::decode(&golden[*name]).unwrap(), *sample, "{name}");
    }
}

#[test]
fn golden_replies() {
    let samples = samples::replies();
    let samples: Vec<Sample<Reply>> =
        samples.into_iter().map(|(name, body)| (name, Reply { number: NUMBER, body })).collect();
    let golden = check("replies", named(&samples, |it| it.encode(&mut Builder::new()).to_vec()));
    for (name, sample) in &samples {
        assert_eq!(Reply::decode(&golden[*name]).unwrap(), *sample, "{name}");
    }
}

#[test]
fn golden_records() {
    let samples = samples::records();
    let golden = check("records", named(&samples, |it| it.encode(&mut Builder::new()).to_vec()));
    for (name, sample) in &samples {
        assert_eq!(Record::decode(&golden[*name]).unwrap(), *sample, "{name}");
    }
}

#[test]
fn golden_manifests() {
    let samples = samples::manifests();
    let golden = check("manifests", named(&samples, |it| it.encode()));
    for (name, sample) in &samples {
        let view = ManifestView::open(golden[*name].clone()).unwrap();
        assert_eq!(view.to_manifest().unwrap(), *sample, "{name}");
    }
}
