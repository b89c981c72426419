//! `millpond elastic ls`.

use millpond::CacheInfo;
use millpond_view as view;

use super::none;
use crate::args::{ElasticLsArgs, Global};
use crate::commands::group::short;
use crate::error::Outcome;
use crate::printer::Printer;
use crate::shown::wrap;
use crate::table::{Side, Table};
use crate::{pond, units};

/// Prints caches, those of one group together.
pub fn run(args: &ElasticLsArgs, global: &Global, printer: &Printer) -> Outcome {
    let mut caches = pond::connect(global)?.caches(args.group.clone())?;
    caches.sort_by(|a, b| (&a.group, &a.name, a.pid).cmp(&(&b.group, &b.name, b.pid)));
    if printer.is_json() {
        return printer.json(&view::Caches::from(caches.as_slice()));
    }
    if printer.is_quiet() {
        return words(&caches).iter().try_for_each(|word| printer.line(word));
    }
    printer.table(&table(&caches, args.no_trunc))?;
    if caches.is_empty() {
        let text = none(args.group.as_ref());
        let lines = printer.width().map_or(vec![text.clone()], |width| wrap(&text, width));
        printer.note(lines.join("\n"));
    }
    Ok(())
}

/// The words that `inspect` takes: names, or identities where several caches have the same name.
fn words(caches: &[CacheInfo]) -> Vec<String> {
    let word = |cache: &CacheInfo| {
        let same = caches.iter().filter(|other| other.name == cache.name).count();
        if same == 1 { cache.name.to_string() } else { cache.cache.to_string() }
    };
    caches.iter().map(word).collect()
}

fn table(caches: &[CacheInfo], no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("NAME", Side::Left),
        ("GROUP", Side::Left),
        ("GPU", Side::Left),
        ("PID", Side::Right),
        ("PROGRAM", Side::Left),
        ("RESERVED", Side::Right),
        ("COMMITTED", Side::Right),
        ("IDLE", Side::Right),
        ("MIN", Side::Right),
        ("WEIGHT", Side::Right),
        ("WAITS", Side::Right),
    ])
    .dispensable(&["WEIGHT", "MIN", "GPU", "PROGRAM", "WAITS"])
    .no_trunc(no_trunc);
    for info in caches {
        let cache = view::Cache::from(info);
        let waits = Some(cache.wanted_bytes).filter(|bytes| *bytes > 0);
        table.row(vec![
            cache.name.to_string(),
            cache.group.to_string(),
            short(info.device, no_trunc),
            view::pid_text(cache.pid),
            cache.program,
            units::bytes(cache.reserved_bytes),
            units::bytes(cache.committed_bytes),
            units::bytes(cache.idle_bytes),
            units::bytes(cache.min_bytes),
            cache.weight.to_string(),
            waits.map_or("-".to_owned(), units::bytes),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::elastic::samples::cache;

    #[test]
    fn a_cache_is_a_line_with_what_it_reserves_holds_and_waits_for() {
        let waiting = CacheInfo { wanted_bytes: 512 << 20, ..cache("gpt2/kv", 8) };
        let text = table(&[cache("llama-7b/kv", 7), waiting], false).render();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        for part in ["llama-7b/kv", "serving", "GPU-01010101", "engine.py", "64 GiB", "4 GiB"] {
            assert!(lines[1].contains(part), "{part} in {text}");
        }
        assert!(lines[1].ends_with('-') && lines[2].ends_with("512 MiB"), "{text}");
    }

    #[test]
    fn a_narrow_table_keeps_the_name_and_the_bytes() {
        let long = cache("serving/llama-3-70b-instruct/layers/kv", 4_194_304);
        let waiting = CacheInfo { wanted_bytes: 1 << 30, ..long.clone() };
        for caches in [[long], [waiting]] {
            let text = table(&caches, false).render_within(80);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            for column in ["NAME", "GROUP", "PID", "RESERVED", "COMMITTED", "IDLE"] {
                assert!(text.contains(column), "{column} in {text}");
            }
            assert!(text.contains("layers/kv") && !text.contains("WEIGHT"), "{text}");
        }
    }

    #[test]
    fn a_name_that_two_caches_have_is_no_word_for_either() {
        let caches = [cache("kv", 7), cache("kv", 8), cache("other", 9)];
        let ids = [caches[0].cache.to_string(), caches[1].cache.to_string()];
        assert_eq!(words(&caches), [ids[0].as_str(), ids[1].as_str(), "other"]);
    }
}
