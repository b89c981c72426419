//! Settings: the file that people write, and the JSON that keeper and daemon hand on.

use std::ffi::OsString;
use std::path::Path;

use millpond_keeper::config::Config;

use crate::memory;

/// A TOML document keeps a table of about a kilobyte for each dot of a key.
const NODES: usize = 2048;

/// The first byte says which of the two.
pub fn check(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    memory::within(data, NODES, || {
        if kind & 1 == 0 {
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
