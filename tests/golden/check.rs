//! Compares encoded samples with the golden file of their format: one line for each, its name and
//! its bytes. `scripts/generate --golden` writes the files anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Compares, and returns what the file has, to be decoded.
pub(crate) fn check(
    format: &str,
    samples: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> BTreeMap<String, Vec<u8>> {
    let samples: BTreeMap<String, Vec<u8>> = samples.into_iter().collect();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden"));
    let path = folder.join(format!("{format}.hex"));
    if std::env::var_os("MILLPOND_BLESS").is_some() {
        let text: String = samples.iter().map(|(name, bytes)| line(name, bytes)).collect();
        std::fs::write(&path, text).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let golden: BTreeMap<String, Vec<u8>> = text.lines().map(read).collect();
    for (name, bytes) in &samples {
        let expected = golden.get(name).map(|bytes| line(name, bytes));
        assert_eq!(
            Some(line(name, bytes)),
            expected,
            "{format} has changed; if that is meant, run scripts/generate --golden"
        );
    }
    assert_eq!(golden.len(), samples.len(), "{format}: a golden sample is not written any more");
    golden
}

fn line(name: &str, bytes: &[u8]) -> String {
    let mut line = format!("{name} ");
    for byte in bytes {
        let _ = write!(line, "{byte:02x}");
    }
    line.push('\n');
    line
}

fn read(line: &str) -> (String, Vec<u8>) {
    let (name, hex) = line.split_once(' ').unwrap();
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap());
    (name.to_owned(), bytes.collect())
}
