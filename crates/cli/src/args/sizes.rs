//! A size means the same wherever one can be written: every place reads the same table.

use clap::Parser;
use millpond_keeper::config::{Config, ConfigOverrides};
use millpond_wire::message::GroupLimit;

use super::{Cli, Command, GroupCommand, LimitArg};
use crate::size::{ByteSize, Size};

/// Texts and their bytes.
const SIZES: [(&str, u64); 22] = [
    ("1", 1),
    ("17", 17),
    ("4096B", 4096),
    ("2147483648byte", 2 << 30),
    ("2147483648 bytes", 2 << 30),
    ("1K", 1 << 10),
    ("1kb", 1 << 10),
    ("0.1K", 102),
    ("512M", 512 << 20),
    ("512m", 512 << 20),
    ("512MiB", 512 << 20),
    ("512 mib", 512 << 20),
    ("1.25M", 1_310_720),
    ("8G", 8 << 30),
    ("8g", 8 << 30),
    ("8GB", 8 << 30),
    ("8Gi", 8 << 30),
    (" 8 GiB ", 8 << 30),
    ("2.5GB", 5 << 29),
    ("1Ti", 1 << 40),
    ("2PB", 2 << 50),
    ("8589934592", 8 << 30),
];

/// Texts that are no size anywhere, and a part of what is said about them.
const NO_SIZES: [(&str, &str); 14] = [
    ("G", "not a size"),
    ("ten", "not a size"),
    (".5G", "not a size"),
    ("5.G", "not a size"),
    ("1.2.3G", "not a size"),
    ("+1G", "not a size"),
    ("8X", "unknown unit"),
    ("8 Gigs", "unknown unit"),
    ("8GG", "unknown unit"),
    ("1e9", "unknown unit"),
    ("8Gbytes", "unknown unit"),
    ("(1024 * 1024 * 1024 * 10)", "not a size"),
    ("1.5B", "fraction"),
    ("99999999999T", "larger"),
];

/// What one place makes of a text: its bytes, or what it says.
type Reader = fn(&str) -> Result<u64, String>;

const READERS: [(&str, Reader); 8] = [
    ("the ledger and the preloaded library", |text| {
        let size = millpond_ledger::parse_size(text.as_bytes());
        size.map(|size| size.of(0)).map_err(|error| format!("'{text}' is {error}"))
    }),
    ("a size", |text| text.parse().map(|size: ByteSize| size.0).map_err(|error| error.to_string())),
    ("a limit", |text| {
        text.parse().map(|size: Size| size.on_card(0)).map_err(|error| error.to_string())
    }),
    ("a setting", |text| {
        let flags = ConfigOverrides { recycle_bytes: Some(text.to_owned()), ..Default::default() };
        let config = Config::load_from(Some("/dev/null".as_ref()), &|_| None, &flags);
        config.map(|config| config.recycle_bytes.0).map_err(|error| error.to_string())
    }),
    ("the capacity", |text| {
        let flags = ConfigOverrides { capacity: Some(text.to_owned()), ..Default::default() };
        let config = Config::load_from(Some("/dev/null".as_ref()), &|_| None, &flags);
        config.map(|config| config.capacity.of(u64::MAX)).map_err(|error| error.to_string())
    }),
    ("the software driver", |text| {
        let value = |name: &str| match name {
            "MILLPOND_SOFT_DIR" => Some("/x".into()),
            "MILLPOND_SOFT_CONTEXT_BYTES" => Some(text.into()),
            _ => None,
        };
        let config = millpond_softgpu::Config::read(value);
        config.map(|config| config.context_bytes).map_err(|error| error.to_string())
    }),
    ("run --limit", |text| match parse(&["run", "--limit", text, "true"])? {
        Command::Run(args) => Ok(args.limit.unwrap().on_card(0)),
        other => panic!("{other:?}"),
    }),
    ("group set --limit", |text| match parse(&["group", "set", "g", "--limit", text])? {
        Command::Group(GroupCommand::Set(args)) => match args.limit {
            Some(LimitArg::Size(size)) => match size.limit() {
                GroupLimit::Bytes(bytes) => Ok(bytes),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }),
];

fn parse(words: &[&str]) -> Result<Command, String> {
    let words = ["millpond"].iter().chain(words);
    Cli::try_parse_from(words).map(|cli| cli.command).map_err(|error| error.to_string())
}

#[test]
fn a_size_means_the_same_everywhere() {
    for (place, read) in READERS {
        for (text, bytes) in SIZES {
            assert_eq!(read(text), Ok(bytes), "{place}: '{text}'");
        }
    }
}

#[test]
fn what_is_no_size_is_none_anywhere_and_is_named() {
    for (place, read) in READERS {
        for (text, part) in NO_SIZES {
            let said = read(text).unwrap_err();
            assert!(said.contains(text) && said.contains(part), "{place}: '{text}': {said}");
        }
    }
}
