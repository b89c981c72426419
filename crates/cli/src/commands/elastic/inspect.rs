//! `millpond elastic inspect`.

use millpond::CacheInfo;
use millpond_view as view;

use super::find;
use crate::args::{ElasticInspectArgs, Global};
use crate::error::Outcome;
use crate::printer::{Printer, Tone};
use crate::{pond, units, users};

/// Prints everything about one cache.
pub fn run(args: &ElasticInspectArgs, global: &Global, printer: &Printer) -> Outcome {
    let caches = pond::connect(global)?.caches(args.group.clone())?;
    let info = find::meant(&caches, &args.cache, args.group.as_ref())?;
    if printer.is_json() {
        return printer.json(&view::Cache::from(&info));
    }
    if printer.is_quiet() {
        return printer.line(info.cache);
    }
    for (name, value) in facts(&info) {
        let name = printer.paint(Tone::Dim, format!("{name:<10}"));
        printer.line(format_args!("{name} {value}"))?;
    }
    Ok(())
}

fn facts(info: &CacheInfo) -> Vec<(&'static str, String)> {
    let cache = view::Cache::from(info);
    let exact = |bytes: u64| format!("{} ({} bytes)", units::bytes(bytes), units::thousands(bytes));
    let some = |bytes: u64| if bytes == 0 { "-".to_owned() } else { exact(bytes) };
    let segments = units::count(cache.segments.into(), "segment");
    let each = units::bytes(cache.reserved_bytes / u64::from(cache.segments.max(1)));
    let program = crate::shown::printable(&cache.program);
    vec![
        ("name", cache.name.to_string()),
        ("id", cache.cache.to_string()),
        ("group", cache.group.to_string()),
        ("process", format!("{program} (pid {})", view::pid_text(cache.pid))),
        ("owner", format!("{} ({})", users::name(cache.user), cache.user)),
        ("device", cache.device.to_string()),
        ("reserved", format!("{}, {segments} of {each}", exact(cache.reserved_bytes))),
        ("page", exact(cache.granule_bytes)),
        ("held", exact(cache.held_bytes)),
        ("committed", exact(cache.committed_bytes)),
        ("idle", exact(cache.idle_bytes)),
        ("min", exact(cache.min_bytes)),
        ("weight", cache.weight.to_string()),
        ("waits for", some(cache.wanted_bytes)),
        ("asked for", some(cache.asked_bytes)),
        ("has given", some(cache.given_bytes)),
        ("has got", some(cache.got_bytes)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::elastic::samples::cache;

    #[test]
    fn a_cache_is_told_whole_and_a_hostile_program_is_harmless() {
        let info = CacheInfo {
            program: "engine\u{1b}[2J.py".into(),
            wanted_bytes: 512 << 20,
            ..cache("llama-7b/kv", 7)
        };
        let text = facts(&info)
            .iter()
            .fold(String::new(), |text, (name, value)| text + name + " " + value + "\n");
        for part in [
            "name llama-7b/kv\n",
            "group serving\n",
            "process engine\\u{1b}[2J.py (pid 7)\n",
            "reserved 64 GiB (68,719,476,736 bytes), 64 segments of 1 GiB\n",
            "page 2 MiB (2,097,152 bytes)\n",
            "held 5 GiB",
            "committed 4 GiB",
            "idle 1 GiB",
            "weight 3\n",
            "waits for 512 MiB",
            "asked for -\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
