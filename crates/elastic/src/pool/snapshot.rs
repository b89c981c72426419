//! A pool as it lies in memory, for people and for programs.

use super::book::{Book, State};
use super::lanes::{CLEAN, Key};
use super::stats::PoolStats;
use std::fmt::Write as _;

/// All blocks and gaps of a pool at one moment, by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolSnapshot {
    /// The pool's first address.
    pub base: u64,
    /// What was counted at that moment.
    pub stats: PoolStats,
    /// Blocks and gaps.
    pub parts: Vec<PoolPart>,
}

/// A block or a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPart {
    /// Its offset from the pool's first address.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub kind: PartKind,
}

/// What a part of a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A block in use.
    Block {
        /// What was asked for.
        asked: u64,
        /// The number of its stream; of its capture for a block of a graph.
        stream: u64,
        /// Whether it is a block of a graph.
        of_graph: bool,
    },
    /// A gap that every stream may have.
    Clean,
    /// A gap that one stream may have at once.
    Freed {
        /// The number of the stream, or of the capture.
        stream: u64,
        /// Whether it is a gap of a graph.
        of_graph: bool,
    },
    /// A freed block that waits for another stream.
    Waiting,
}

impl PartKind {
    /// The word for it in data.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Block { .. } => "block",
            Self::Clean => "clean",
            Self::Freed { .. } => "freed",
            Self::Waiting => "waiting",
        }
    }
}

impl PoolSnapshot {
    pub(crate) fn of<M>(book: &Book<M>, base: u64) -> Self {
        let stream = |lane| match book.lanes.get(lane).key {
            Key::Stream(id) => (id, false),
            Key::Capture { capture, .. } => (capture, true),
            Key::Clean | Key::Unknown => (0, false),
        };
        let part = |state: &State| match state {
            State::Used(used) => {
                let (stream, of_graph) = stream(used.lane);
                Some(PartKind::Block { asked: used.asked, stream, of_graph })
            }
            State::Gap { lane: CLEAN, .. } => Some(PartKind::Clean),
            State::Gap { lane, .. } => {
                let (stream, of_graph) = stream(*lane);
                Some(PartKind::Freed { stream, of_graph })
            }
            State::Waiting { .. } => Some(PartKind::Waiting),
            State::End => None,
        };
        let parts = book.stretches.iter().filter_map(|(_, stretch)| {
            let kind = part(&stretch.state)?;
            Some(PoolPart { offset: stretch.start, bytes: stretch.bytes, kind })
        });
        Self { base, stats: book.stats(), parts: parts.collect() }
    }

    /// The snapshot as JSON. Addresses are texts, because many readers know no 64-bit numbers.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        // Writing to a text cannot fail.
        let _ = self.write_json(&mut json);
        json
    }

    fn write_json(&self, json: &mut String) -> std::fmt::Result {
        let stats = &self.stats;
        write!(json, "{{\"base\": \"{:#x}\", \"stats\": {{", self.base)?;
        for (number, (name, value)) in stats.fields().into_iter().enumerate() {
            write!(json, "{}\"{name}\": {value}", if number == 0 { "" } else { ", " })?;
        }
        write!(json, ", \"fragmentation\": {:.4}}}, \"parts\": [", stats.fragmentation())?;
        for (number, part) in self.parts.iter().enumerate() {
            json.push_str(if number == 0 { "\n" } else { ",\n" });
            let PoolPart { offset, bytes, kind } = part;
            write!(
                json,
                "  {{\"offset\": {offset}, \"bytes\": {bytes}, \"kind\": \"{}\"",
                kind.name()
            )?;
            if let PartKind::Block { asked, .. } = kind {
                write!(json, ", \"asked\": {asked}")?;
            }
            if let PartKind::Block { stream, of_graph, .. } | PartKind::Freed { stream, of_graph } =
                kind
            {
                let word = if *of_graph { "capture" } else { "stream" };
                write!(json, ", \"{word}\": \"{stream}\"")?;
            }
            json.push('}');
        }
        json.push_str("\n]}\n");
        Ok(())
    }
}
