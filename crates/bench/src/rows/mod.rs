//! What is measured, one file for each subject.

mod attach;
mod connections;
mod create;
mod crowd;
mod death;
mod elastic;
mod elastic_book;
mod fresh;
mod get;
mod listing;
mod memory;
mod moves;
mod pool;
mod recovery;
mod requests;
mod transport;

pub use transport::BATCH;

use millpond::{Dtype, Pond, TensorSpec};

use super::ground::{Bench, Ground};
use crate::json::RowJson;
use millpond_console::error::CommandError;

/// Where a subject is measured.
pub enum Run {
    /// In a pond that is there, which is as before afterwards.
    Pond(fn(&mut Bench) -> Rows),
    /// In ponds of its own, where something is killed or many things are made.
    Own(fn(&Ground) -> Rows),
}

/// What a subject gives.
pub type Rows = Result<Vec<RowJson>, CommandError>;

/// One subject, with the names of all rows that it may give.
pub struct Subject {
    /// Each begins with the subject's own name.
    pub names: &'static [&'static str],
    /// How it is measured.
    pub run: Run,
}

impl Subject {
    /// What it is called.
    pub fn group(&self) -> &'static str {
        self.names.first().map_or("", |name| group(name))
    }
}

/// The subject of a row.
pub fn group(name: &str) -> &str {
    name.split_once('/').map_or(name, |(group, _)| group)
}

/// Everything, in the order in which it is shown.
pub const SUBJECTS: &[Subject] = &[
    // First: of a pond that has done nothing yet.
    Subject { names: memory::NAMES, run: Run::Pond(memory::run) },
    Subject { names: requests::NAMES, run: Run::Pond(requests::run) },
    Subject { names: create::NAMES, run: Run::Pond(create::run) },
    Subject { names: get::NAMES, run: Run::Pond(get::run) },
    Subject { names: attach::NAMES, run: Run::Pond(attach::run) },
    Subject { names: transport::NAMES, run: Run::Pond(transport::run) },
    Subject { names: moves::NAMES, run: Run::Pond(moves::run) },
    Subject { names: listing::NAMES, run: Run::Pond(listing::run) },
    Subject { names: death::NAMES, run: Run::Pond(death::run) },
    Subject { names: elastic::NAMES, run: Run::Own(elastic::run) },
    Subject { names: recovery::NAMES, run: Run::Own(recovery::run) },
    Subject { names: crowd::NAMES, run: Run::Own(crowd::run) },
    Subject { names: connections::NAMES, run: Run::Own(connections::run) },
];

/// Turns that the things to be compared take: the machine may get faster or slower meanwhile.
const TURNS: u32 = 10;

/// Bytes that are ready at once, in memory that nobody has used.
fn ready(name: &str, bytes: u64) -> TensorSpec {
    TensorSpec::new(name, Dtype::U8, [bytes]).zero(true)
}

/// Tensors of 1 KiB with numbers for names.
fn reserve_many(pond: &Pond, folder: &str, count: u32) -> Result<(), CommandError> {
    for number in 0..count {
        pond.reserve(ready(&format!("{folder}/{number:06}"), 1024))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_in_groups_and_there_once() {
        let all: Vec<&str> = SUBJECTS.iter().flat_map(|subject| subject.names).copied().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for subject in SUBJECTS {
            assert!(subject.names.iter().all(|name| group(name) == subject.group()));
        }
    }
}
