//! `/etc/vcuda/config.yaml`: what it means to limited programs, and what to write where they refuse it.

mod yaml;

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use millpond_ledger::{Size, parse_size};
use millpond_preload::{CONFIG_FILE_BYTES, CONFIG_FILE_NAME, ConfigFile, parse_config_file};
use rustix::fs::OFlags;

use crate::units;
use yaml::{Meaning, meaning};

/// What the library in limited programs makes of the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Reading {
    NoFile,
    /// It states this: a limit, a name for GPUs or both.
    Understood {
        limit: Option<String>,
        text: String,
    },
    /// It is refused: no program gets memory.
    Refused {
        why: String,
        advice: String,
    },
}

/// Reads the machine's file.
pub fn read() -> Reading {
    read_at(Path::new(CONFIG_FILE_NAME))
}

fn read_at(path: &Path) -> Reading {
    let mut bytes = Vec::new();
    // As the library does: a pipe is not waited for, and one byte more shows a file that is too long.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(path);
    let most = CONFIG_FILE_BYTES as u64 + 1;
    let why = match file.and_then(|file| file.take(most).read_to_end(&mut bytes)) {
        Ok(len) if len <= CONFIG_FILE_BYTES => return of(&bytes),
        Ok(_) => format!("it has more than {CONFIG_FILE_BYTES} bytes"),
        Err(error) if is_missing(&error) && fs::symlink_metadata(path).is_err() => {
            return Reading::NoFile;
        }
        Err(error) => error.to_string(),
    };
    let why = format!("{} cannot be read: {why}", path.display());
    Reading::Refused { why, advice: "make it readable for all users, or remove it".to_owned() }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn of(file: &[u8]) -> Reading {
    let refused = match parse_config_file(file) {
        Ok(found) => {
            let limit = found.memory_limit.map(shown);
            return Reading::Understood { text: summary(&found, limit.as_deref()), limit };
        }
        Err(refused) => refused,
    };
    let (line, problem) = (refused.line, refused.problem);
    let text = String::from_utf8_lossy(refused.text).escape_debug().take(64).collect::<String>();
    let why = format!("{CONFIG_FILE_NAME}:{line}: '{text}': {problem}");
    match meaning(file) {
        Ok(meaning) if meaning == Meaning::default() => Reading::Refused {
            why: format!("{why}; as YAML it states nothing that is known"),
            advice: "write `memory_limit: 10G`, or remove the file".to_owned(),
        },
        Ok(meaning) => match plainly(&meaning) {
            Some(lines) => Reading::Refused {
                why: format!("{why}; as YAML it means {lines}"),
                advice: format!("write it as {lines}"),
            },
            None => Reading::Refused { why, advice: "write `memory_limit: 10G`".to_owned() },
        },
        Err(error) => Reading::Refused {
            why: format!("{why}; as YAML: {error}"),
            advice: "write `memory_limit: 10G` in a line of its own".to_owned(),
        },
    }
}

/// The lines that say the same to the library, if it understands any.
fn plainly(meaning: &Meaning) -> Option<String> {
    let limit = meaning.memory_limit.as_ref().map(|text| {
        let memory_limit = Some(parse_size(text.as_bytes()).ok()?);
        plain_line("memory_limit", text.trim(), &ConfigFile { memory_limit, device_name: None })
    });
    let name = meaning.device_name.as_ref().map(|text| {
        let device_name = Some(text.as_bytes());
        plain_line("device_name", text, &ConfigFile { memory_limit: None, device_name })
    });
    let lines: Option<Vec<String>> = [limit, name].into_iter().flatten().collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join(" and "))
}

fn plain_line(key: &str, text: &str, states: &ConfigFile<'_>) -> Option<String> {
    let forms = [format!("{key}: {text}"), format!("{key}: \"{text}\"")];
    let found = forms.iter().find(|line| parse_config_file(line.as_bytes()) == Ok(*states))?;
    Some(format!("`{found}`"))
}

fn summary(found: &ConfigFile<'_>, limit: Option<&str>) -> String {
    let limit = limit.map(|limit| format!("no program has more than {limit} of a GPU"));
    let name = found
        .device_name
        .map(|name| format!("every GPU is called '{}'", String::from_utf8_lossy(name)));
    [limit, name].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn shown(size: Size) -> String {
    match size {
        Size::Bytes(bytes) => units::bytes(bytes),
        Size::Permille(part) => format!("{}.{} %", part / 10, part % 10),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::Value;

    use super::*;

    /// Files with PyYAML's verdict.
    const TABLE: &str = include_str!("../../../../tests/limits/config_files.json");

    fn table() -> Vec<(Vec<u8>, Value)> {
        let rows: Vec<Value> = serde_json::from_str(TABLE).unwrap();
        let bytes = |text: &str| text.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
        let row = |row: &Value| (bytes(row["text"].as_str().unwrap()), row["verdict"].clone());
        rows.iter().map(row).collect()
    }

    /// The values that PyYAML has for one of the keys.
    fn values<'a>(verdict: &'a Value, keys: &[&str]) -> Vec<&'a Value> {
        keys.iter().filter_map(|key| verdict.get(key)).collect()
    }

    /// A size as PyYAML has it: a number is bytes.
    fn size(value: &Value) -> Option<Size> {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        parse_size(text.as_bytes()).ok()
    }

    #[test]
    fn the_table_is_what_pyyaml_says() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/limits/config_files.py");
        let Ok(yaml) = Command::new("/usr/bin/python3").args(["-c", "import yaml"]).output() else {
            return skip();
        };
        if !yaml.status.success() {
            return skip();
        }
        let said = Command::new("/usr/bin/python3").args(["-B", script, "--check"]).output();
        assert!(said.as_ref().unwrap().status.success(), "{said:?}");
    }

    #[allow(clippy::print_stdout, reason = "a skip says so")]
    fn skip() {
        println!("SKIPPED: Debian's python3-yaml is not installed");
    }

    #[test]
    fn the_library_reads_a_file_as_yaml_does_or_refuses_it() {
        let (mut understood, mut refused) = (0, 0);
        for (file, verdict) in table() {
            let shown = String::from_utf8_lossy(&file).into_owned();
            let Ok(found) = parse_config_file(&file) else {
                refused += 1;
                continue;
            };
            understood += 1;
            assert!(verdict["typed"].is_object(), "no mapping to PyYAML: {shown:?} {verdict}");
            let limits = values(&verdict["typed"], &millpond_preload::LIMIT_KEYS);
            let names = values(&verdict["texts"], &millpond_preload::NAME_KEYS);
            assert!(limits.len() < 2 && names.len() < 2, "{shown:?}");
            let limit = limits.first().map(|limit| size(limit).expect("no size"));
            assert_eq!(found.memory_limit, limit, "{shown:?}");
            let name = found.device_name.map(|name| std::str::from_utf8(name).unwrap());
            assert_eq!(name, names.first().and_then(|name| name.as_str()), "{shown:?}");
        }
        assert!(understood >= 20 && refused >= 40, "{understood} understood, {refused} refused");
    }

    /// Line ends that YAML 1.2 has no more, and a list of mappings that is merged in.
    const DIFFER: [&str; 4] = [
        "# \u{2028}memory_limit: 1g\n",
        "# \u{85}memory_limit: 1g\n",
        "device_name: x # \u{2028}memory_limit: 1g\n",
        "<<: [{memory_limit: 1g}]\n",
    ];

    #[test]
    fn the_advice_is_never_another_limit_than_pyyaml_reads() {
        let mut compared = 0;
        for (file, verdict) in table() {
            let shown = String::from_utf8_lossy(&file).into_owned();
            let (texts, typed) = (&verdict["texts"], &verdict["typed"]);
            // PyYAML merges in its typed reading alone.
            let read = if shown.contains("<<") { typed } else { texts };
            if let (Ok(found), true) = (meaning(&file), read.is_object()) {
                let limits = values(read, &millpond_preload::LIMIT_KEYS);
                let limit = limits.first().and_then(|limit| limit.as_str());
                let is_equal = limits.len() < 2 && found.memory_limit.as_deref() == limit;
                assert_ne!(is_equal, DIFFER.contains(&&*shown), "{shown:?}: {found:?}, {verdict}");
                compared += 1;
            }
        }
        assert!(compared > 80, "{compared}");
    }

    /// One letter more, less or other, everywhere in every file that is understood.
    #[test]
    fn a_file_that_is_nearly_plain_is_read_as_yaml_does_or_refused() {
        const LETTERS: &[u8] = b"\0\t\n\r !\"#%&'*+,-.:0179<>?@G[\\]`abegmxy{|}~\x7f\xa0\xc2\xef";
        let understood = table().into_iter().map(|row| row.0);
        let understood =
            understood.filter(|file| parse_config_file(file).is_ok() && file.len() < 80);
        let (mut count, mut accepted) = (0_u32, 0_u32);
        for file in understood {
            for at in 0..=file.len() {
                let (before, after) = file.split_at(at);
                let without = after.get(1..).unwrap_or(b"");
                let more = LETTERS.iter().flat_map(|letter| {
                    [after, without].map(|after| [before, &[*letter], after].concat())
                });
                for changed in more.chain([[before, without].concat()]) {
                    count += 1;
                    let Ok(found) = parse_config_file(&changed) else { continue };
                    accepted += 1;
                    let read = meaning(&changed).map(|read| {
                        let limit = read.memory_limit.as_ref();
                        let limit = limit.and_then(|text| parse_size(text.as_bytes()).ok());
                        (limit, read.device_name)
                    });
                    let name =
                        found.device_name.map(|name| String::from_utf8_lossy(name).into_owned());
                    let shown = String::from_utf8_lossy(&changed);
                    assert_eq!(read, Ok((found.memory_limit, name)), "{shown:?}");
                }
            }
        }
        assert!(count > 50_000 && accepted > 5_000, "{count} files, {accepted} understood");
    }

    #[test]
    fn a_file_that_is_refused_comes_with_the_line_to_write() {
        let advice = |file: &str| match of(file.as_bytes()) {
            Reading::Refused { why, advice } => (why, advice),
            other => panic!("{other:?}"),
        };
        for file in [
            "{memory_limit: 1g}",
            "{\"memory_limit\": \"1g\"}",
            "\u{feff}memory_limit: 1g\n",
            "memory_limit:\n  1g\n",
            "memory_limit: |\n  1g\n",
            "base: &b {memory_limit: 1g}\n<<: *b\n",
        ] {
            let (why, advice) = advice(file);
            assert!(why.starts_with("/etc/vcuda/config.yaml:"), "{why}");
            assert!(why.contains("as YAML it means `memory_limit: 1g`"), "{why}");
            assert_eq!(advice, "write it as `memory_limit: 1g`");
        }
        assert_eq!(advice("").1, "write `memory_limit: 10G`, or remove the file");
        assert!(advice("memory_limit: lots").0.contains("not a size"));
        assert!(advice("{memory_limit: 1g, memory_limit: 2g}").0.contains("more than once"));
        let both = advice("{memory_limit: 010, device_name: 'a: b'}").1;
        assert_eq!(both, "write it as `memory_limit: \"010\"` and `device_name: \"a: b\"`");
        // No line is advice that says something else.
        assert_eq!(advice("{device_name: 'a #b'}").1, "write it as `device_name: \"a #b\"`");
        let two = advice("device_name: |-\n  x\n  memory_limit: 1g\n");
        assert_eq!(two.1, "write `memory_limit: 10G`");
    }

    #[test]
    fn what_the_file_states_is_summed_up() {
        let Reading::Understood { limit, text } = of(b"memory_limit: 1g\ndevice_name: Tiny\n")
        else {
            panic!()
        };
        assert_eq!(limit.as_deref(), Some("1 GiB"));
        assert_eq!(text, "no program has more than 1 GiB of a GPU; every GPU is called 'Tiny'");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("long"), "#".repeat(CONFIG_FILE_BYTES + 1)).unwrap();
        std::os::unix::fs::symlink("nowhere", path("link")).unwrap();
        assert_eq!(read_at(&path("none")), Reading::NoFile);
        for name in ["", "long", "link"] {
            assert!(matches!(read_at(&path(name)), Reading::Refused { .. }), "{name}");
        }
    }
}
