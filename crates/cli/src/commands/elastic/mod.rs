//! `millpond elastic …`.

mod find;
mod inspect;
mod list;

use millpond::GroupName;

use crate::args::{ElasticCommand, Global};
use crate::error::Outcome;
use crate::printer::Printer;

/// Does what the command line says.
pub fn run(command: &ElasticCommand, global: &Global, printer: &Printer) -> Outcome {
    match command {
        ElasticCommand::Ls(args) => list::run(args, global, printer),
        ElasticCommand::Inspect(args) => inspect::run(args, global, printer),
    }
}

/// What is said where there is no cache: how a program opens one.
fn none(group: Option<&GroupName>) -> String {
    let (place, name) = match group {
        Some(group) => (format!(" in group '{group}'"), group.bare()),
        None => (String::new(), "serving"),
    };
    format!(
        "no caches{place}; `millpond.elastic(\"{name}\").reserve(...)` opens one, see docs/elastic.md"
    )
}

#[cfg(test)]
pub mod samples {
    use millpond::{CacheId, CacheInfo, GpuUuid};

    /// A cache of this process that holds 5 GiB, one of them idle.
    pub fn cache(name: &str, pid: u32) -> CacheInfo {
        CacheInfo {
            cache: CacheId::random(),
            name: name.parse().unwrap(),
            group: "serving".parse().unwrap(),
            device: GpuUuid([1; 16]),
            pid,
            program: "engine.py".into(),
            user: crate::users::me(),
            reserved_bytes: 64 << 30,
            held_bytes: 5 << 30,
            idle_bytes: 1 << 30,
            granule_bytes: 2 << 20,
            segments: 64,
            min_bytes: 2 << 30,
            weight: 3,
            wanted_bytes: 0,
            asked_bytes: 0,
            given_bytes: 0,
            got_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_none_the_way_to_one_is_told() {
        let anywhere = none(None);
        assert_eq!(
            anywhere,
            "no caches; `millpond.elastic(\"serving\").reserve(...)` opens one, see docs/elastic.md"
        );
        let own: GroupName = "~1000/train".parse().unwrap();
        let text = none(Some(&own));
        assert!(text.starts_with("no caches in group '~1000/train'; "), "{text}");
        assert!(text.contains("elastic(\"train\")"), "{text}");
    }
}
