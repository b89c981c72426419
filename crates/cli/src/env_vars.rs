//! The one table of environment variables, for `millpond help environment`, the man page and
//! `millpond doctor`.

use millpond_keeper::config::KEYS;

#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub name: &'static str,
    /// What it does, with its values and what holds without it.
    pub meaning: &'static str,
}

pub const LOG: &str = "MILLPOND_LOG";
/// How it is logged.
pub const LOG_FORMAT: &str = "MILLPOND_LOG_FORMAT";

/// Where the library for limits is.
pub const PRELOAD: &str = "MILLPOND_PRELOAD";
/// The folder of the group that a program is counted in.
pub const LEDGER: &str = "MILLPOND_LEDGER";
/// The limit of a program that no pond looks after.
pub const MEMORY_LIMIT: &str = "MILLPOND_MEMORY_LIMIT";
/// The group of such a program.
pub const GROUP: &str = "MILLPOND_GROUP";

/// The program that starts a companion.
pub const BIN: &str = "MILLPOND_BIN";

const OWN: &[Variable] = &[
    Variable {
        name: millpond_keeper::config::CONFIG_VARIABLE,
        meaning: "The configuration file of `serve`, as with `--config`",
    },
    Variable {
        name: PRELOAD,
        meaning: "The library that `run` loads into programs; by default the one that the pond \
                  names, else the one beside this program, in ../lib/millpond or in \
                  /usr/lib/millpond",
    },
    Variable {
        name: "HF_HUB_CACHE",
        meaning: "Where `load NAME hf:ORG/NAME` looks for downloaded repositories; without it `hub` \
                  in HF_HOME, else ~/.cache/huggingface/hub",
    },
    Variable {
        name: "HF_HOME",
        meaning: "Hugging Face's folder; its `hub` is looked at where HF_HUB_CACHE is not set",
    },
    Variable {
        name: BIN,
        meaning: "Set for companion programs: the path of the `millpond` program that started them",
    },
    Variable {
        name: millpond_console::companions::URL_VARIABLE,
        meaning: "Where Redis is, for `redis` and `ls --all-nodes`; several with commas",
    },
    Variable {
        name: millpond_console::companions::PREFIX_VARIABLE,
        meaning: "What every key in Redis begins with, as with `redis --prefix`",
    },
    Variable { name: "NO_COLOR", meaning: "Not empty: no colour, unless `--color always`" },
];

/// Every variable that Millpond reads: its own, the settings of `serve`, those of the library in
/// limited programs, the software driver's.
pub fn table() -> Vec<(&'static str, String)> {
    let own = OWN.iter().map(|variable| (variable.name, variable.meaning.to_owned()));
    let settings = KEYS.iter().map(|key| {
        let text = match key.default {
            "" => key.doc.to_owned(),
            default => format!("{}; without it {default}", key.doc),
        };
        (key.environment, text)
    });
    let soft = millpond_softgpu::ENVIRONMENT.iter().map(|variable| {
        let text = format!(
            "Software driver: {}; {}; without it {}",
            variable.meaning, variable.values, variable.default
        );
        (variable.name, text)
    });
    let limits = millpond_preload::ENVIRONMENT.iter().map(|variable| {
        (variable.name, format!("In limited programs: {}; {}", variable.meaning, variable.values))
    });
    settings.chain(own).chain(limits).chain(soft).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_reads_what_run_sets() {
        for name in [LEDGER, MEMORY_LIMIT, GROUP] {
            assert!(millpond_preload::ENVIRONMENT.iter().any(|known| known.name == name), "{name}");
        }
    }

    /// The page has the same table, and says who reads what.
    #[test]
    fn the_page_about_limits_has_every_variable_of_the_library() {
        let page = include_str!("../../../docs/limits.md");
        for variable in millpond_preload::ENVIRONMENT {
            assert!(page.contains(&format!("| `{}` |", variable.name)), "{}", variable.name);
        }
        assert!(page.contains(&format!("| `{PRELOAD}` |")));
        let rows = page.lines().filter(|line| line.contains("| not read: "));
        let not_read = millpond_preload::NOT_READ.iter();
        let expected = not_read.map(|it| format!("| `{}` | not read: {} |", it.name, it.reason));
        assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn the_page_about_limits_lists_sizes_that_are_refused() {
        let page = include_str!("../../../docs/limits.md");
        let table = page.split("### Sizes that are refused").nth(1).unwrap();
        let rows =
            table.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split(" | ").next());
        let sizes: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        assert!(sizes.len() > 10, "{sizes:?}");
        for size in sizes {
            assert!(millpond_ledger::parse_size(size.as_bytes()).is_err(), "{size}");
        }
    }
}
