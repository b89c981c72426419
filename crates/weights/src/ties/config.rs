//! What the `config.json` beside a file says about ties.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::checkpoint::open_regular;

const NAME: &str = "config.json";
const KEY: &str = "tie_word_embeddings";
/// Where a model of several kinds of input has the part with the words.
const INNER: &str = "/text_config/tie_word_embeddings";
/// Most have a few kilobytes; one with a label for each of many thousand classes has less than this.
const MOST_BYTES: u64 = 4 << 20;

/// The answers of each folder, read once.
#[derive(Default)]
pub(super) struct Configs(HashMap<PathBuf, bool>);

impl Configs {
    /// Whether the model of this file is said to be tied. One that is missing, is no JSON or cannot be
    /// read says nothing, and a load needs none.
    pub(super) fn tied(&mut self, file: &Path) -> bool {
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(known) = self.0.get(folder) {
            return *known;
        }
        let tied = read(&folder.join(NAME)).is_some_and(|config| says_tied(&config));
        self.0.insert(folder.to_owned(), tied);
        tied
    }
}

fn read(path: &PathBuf) -> Option<Value> {
    let mut text = Vec::new();
    open_regular(path).ok()??.take(MOST_BYTES + 1).read_to_end(&mut text).ok()?;
    if text.len() as u64 > MOST_BYTES {
        return None;
    }
    serde_json::from_slice(&text).ok()
}

fn says_tied(config: &Value) -> bool {
    let said = config.get(KEY).or_else(|| config.pointer(INNER));
    said.and_then(Value::as_bool).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_tied() {
        for (text, tied) in [
            (r#"{"tie_word_embeddings": true}"#, true),
            (r#"{"tie_word_embeddings": false}"#, false),
            (r#"{"tie_word_embeddings": "true"}"#, false),
            (r#"{"tie_word_embeddings": null}"#, false),
            (r#"{"model_type": "llama"}"#, false),
            (r#"{"text_config": {"tie_word_embeddings": true}}"#, true),
            (
                r#"{"tie_word_embeddings": false, "text_config": {"tie_word_embeddings": true}}"#,
                false,
            ),
            (r#"["tie_word_embeddings"]"#, false),
        ] {
            assert_eq!(says_tied(&serde_json::from_str(text).unwrap()), tied, "{text}");
        }
    }

    #[test]
    fn a_config_that_is_no_config_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.safetensors");
        let config = folder.path().join(NAME);
        let tied = || Configs::default().tied(&file);
        assert!(!tied());
        std::fs::write(&config, "{").unwrap();
        assert!(!tied());
        let mut long = br#"{"tie_word_embeddings": true}"#.to_vec();
        std::fs::write(&config, &long).unwrap();
        assert!(tied());
        long.resize(usize::try_from(MOST_BYTES).unwrap() + 1, b' ');
        std::fs::write(&config, &long).unwrap();
        assert!(!tied());
        std::fs::remove_file(&config).unwrap();
        std::fs::create_dir(&config).unwrap();
        assert!(!tied());
    }
}
