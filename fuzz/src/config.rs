//! Settings: the file that people write, the JSON that keeper and daemon hand on, and the machine's
//! file of limits, which the preloaded library reads.

use std::ffi::OsString;
use std::path::Path;

use millpond_keeper::config::Config;
use millpond_preload::parse_config_file;

use crate::memory;

/// A TOML document keeps a table of about a kilobyte for each dot of a key.
const NODES: usize = 2048;

/// The first byte of an input that is a file of limits.
pub const LIMITS: u8 = b'y';

/// The first byte says which of the three.
pub fn check(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    memory::within(data, NODES, || {
        if *kind == LIMITS {
            limits(rest);
        } else if kind & 1 == 0 {
            let Ok(config) = Config::from_json(rest) else { return };
            same_again(&config);
        } else if let Ok(text) = std::str::from_utf8(rest) {
            let environment =
                |name: &str| (name.len() < 4).then(|| OsString::from(format!("{name}{name}")));
            let mut config = Config::default();
            match config.read_file(Path::new("config.toml"), text, &environment) {
                Ok(()) => same_again(&config),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    });
}

fn same_again(config: &Config) {
    let json = config.to_json().expect("settings from text are text");
    assert_eq!(&Config::from_json(&json).expect("what was written can be read"), config);
}

/// What is read does not depend on lines without content, and a refusal names a line of the file.
fn limits(file: &[u8]) {
    match parse_config_file(file) {
        Ok(stated) => {
            let commented = [b"# limits\n\n".as_slice(), file].concat();
            let again = parse_config_file(&commented).expect("a comment states nothing");
            assert_eq!(again.memory_limit, stated.memory_limit);
            assert_eq!(again.device_name, stated.device_name);
        }
        Err(refused) => {
            let lines = file.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(usize::try_from(refused.line).is_ok_and(|line| (1..=lines).contains(&line)));
            assert!(!refused.problem.to_string().is_empty());
        }
    }
}
