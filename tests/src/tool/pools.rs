//! What a `pondtool` process does with stream-ordered pools.
//!
//! ```text
//! pool open NAME GROUP [WAIT_MS]     says the group; GROUP `-` is the program's own account
//! pool alloc NAME BLOCK BYTES STREAM says the block's offset
//! pool share NAME BLOCK STREAM       work of that stream uses it too
//! pool free NAME BLOCK
//! pool fill NAME BLOCK VALUE         on the block's stream; check NAME BLOCK VALUE compares
//! pool trim NAME BYTES               waits for the device; says what was given back
//! pool stats NAME                    bytes in use, free and held
//! pool draw NAME FILE                the picture; pool write NAME FILE is the JSON
//! pool close NAME                    blocks that are in use keep what is theirs
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use millpond::cuda::Stream;
use millpond::{Pond, PoolBlock, PoolSpec, StreamPool};

use super::{Trouble, trouble, wrong};

type Said = Result<String, Trouble>;

/// A pool, its streams and its blocks.
struct Open {
    pool: StreamPool,
    streams: BTreeMap<String, Stream>,
}

/// What one process has of pools.
#[derive(Default)]
pub(crate) struct Pools {
    // Blocks are dropped first, as in tidy programs.
    blocks: BTreeMap<(String, String), PoolBlock>,
    open: BTreeMap<String, Open>,
}

impl Pools {
    /// Does what the words say.
    pub(crate) fn run(&mut self, pond: &Pond, words: &[&str]) -> Said {
        match *words {
            ["open", name, group] => self.make(pond, name, group, None),
            ["open", name, group, wait] => self.make(pond, name, group, Some(number(wait)?)),
            ["alloc", name, block, bytes, stream] => {
                let open = self.open.get_mut(name).ok_or_else(|| nothing(name))?;
                let stream = open.stream(stream)?;
                let made = open.pool.alloc(number(bytes)?, &stream).map_err(trouble)?;
                let offset = made.offset().to_string();
                self.blocks.insert((name.to_owned(), block.to_owned()), made);
                Ok(offset)
            }
            ["share", name, block, stream] => {
                let stream =
                    self.open.get_mut(name).ok_or_else(|| nothing(name))?.stream(stream)?;
                self.block(name, block)?.record_stream(&stream);
                Ok(String::new())
            }
            ["free", name, block] => {
                let removed = self.blocks.remove(&(name.to_owned(), block.to_owned()));
                removed.map(|_| String::new()).ok_or_else(|| nothing(block))
            }
            ["fill", name, block, value] => {
                let (offset, bytes) = self.place(name, block)?;
                let value = u8::try_from(number(value)?).map_err(|_| wrong("a byte, please"))?;
                self.pool(name)?.range().memset(offset, bytes, value).map_err(trouble)?;
                Ok(String::new())
            }
            ["check", name, block, value] => {
                let (offset, bytes) = self.place(name, block)?;
                let mut found = vec![0; usize::try_from(bytes).unwrap_or(0)];
                self.pool(name)?.range().copy_to_host(offset, &mut found).map_err(trouble)?;
                let value = number(value)?;
                match found.iter().all(|byte| u64::from(*byte) == value) {
                    true => Ok(String::new()),
                    false => Err(wrong(format!("block {block} has other bytes than {value}"))),
                }
            }
            ["trim", name, bytes] => {
                let given = self.pool(name)?.trim(number(bytes)?, true).map_err(trouble)?;
                Ok(given.to_string())
            }
            ["stats", name] => {
                let stats = self.pool(name)?.stats();
                Ok(format!("{} {} {}", stats.in_use_bytes, stats.free_bytes, stats.held_bytes))
            }
            ["draw", name, file] => {
                self.pool(name)?.snapshot_svg(file).map(|()| String::new()).map_err(trouble)
            }
            ["write", name, file] => {
                self.pool(name)?.snapshot_json(file).map(|()| String::new()).map_err(trouble)
            }
            ["close", name] => {
                let removed = self.open.remove(name);
                removed.map(|_| String::new()).ok_or_else(|| nothing(name))
            }
            _ => Err(wrong(format!("'pool {}' is no command", words.join(" ")))),
        }
    }

    /// Gives everything back, as a tidy program does.
    pub(crate) fn end(&mut self) {
        self.blocks.clear();
        self.open.clear();
    }

    fn make(&mut self, pond: &Pond, name: &str, group: &str, wait_ms: Option<u64>) -> Said {
        let pool = if group == "-" {
            StreamPool::new(pond, pond.device_at(0).map_err(trouble)?)
        } else {
            let mut spec = PoolSpec::new(name);
            if let Some(wait) = wait_ms {
                spec = spec.wait(Duration::from_millis(wait));
            }
            pond.elastic(group).and_then(|group| group.pool(spec))
        };
        let pool = pool.map_err(trouble)?;
        let said = pool.group().to_string();
        self.open.insert(name.to_owned(), Open { pool, streams: BTreeMap::new() });
        Ok(said)
    }

    fn pool(&self, name: &str) -> Result<&StreamPool, Trouble> {
        self.open.get(name).map(|open| &open.pool).ok_or_else(|| nothing(name))
    }

    fn block(&mut self, name: &str, block: &str) -> Result<&mut PoolBlock, Trouble> {
        let key = (name.to_owned(), block.to_owned());
        self.blocks.get_mut(&key).ok_or_else(|| nothing(block))
    }

    fn place(&mut self, name: &str, block: &str) -> Result<(u64, u64), Trouble> {
        let block = self.block(name, block)?;
        Ok((block.offset(), block.bytes()))
    }
}

impl Open {
    fn stream(&mut self, name: &str) -> Result<Stream, Trouble> {
        if let Some(stream) = self.streams.get(name) {
            return Ok(stream.clone());
        }
        let stream = Stream::new(self.pool.context()).map_err(trouble)?;
        self.streams.insert(name.to_owned(), stream.clone());
        Ok(stream)
    }
}

fn nothing(name: &str) -> Trouble {
    wrong(format!("there is no '{name}'"))
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is not a number")))
}
