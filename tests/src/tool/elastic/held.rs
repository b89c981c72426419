//! A cache that a process has opened, and what it does with it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use millpond::{BlockTable, ElasticCache, Offer, PressureAsk};
use millpond_cuda::{Event, Stream, TouchKernel};

use super::{Open, Said, bytes, lock, of_cache};
use crate::tool::{Trouble, trouble, wrong};

/// Cheap to clone: whoever works with one holds no lock meanwhile.
#[derive(Clone)]
pub(super) struct Held {
    name: String,
    pub cache: ElasticCache,
    table: Arc<Mutex<Option<BlockTable>>>,
    /// Blocks that were committed by their numbers.
    committed: Arc<Mutex<BTreeSet<u64>>>,
}

/// A kernel that reads blocks which are uncommitted already.
pub(super) struct Running {
    stream: Stream,
    _kernel: TouchKernel,
    blocks: Range<u64>,
}

impl Held {
    pub fn new(name: &str, cache: ElasticCache) -> Self {
        Self { name: name.to_owned(), cache, table: Arc::default(), committed: Arc::default() }
    }

    /// These blocks were committed.
    pub fn note(&self, blocks: Range<u64>) {
        lock(&self.committed).extend(blocks);
    }

    pub fn commit(&self, count: u64) -> Said {
        self.cache.commit(count).map_err(of_cache)?;
        self.note(0..count);
        Ok(String::new())
    }

    pub fn commit_range(&self, blocks: Range<u64>) -> Said {
        self.cache.commit_range(blocks.clone()).map_err(of_cache)?;
        self.note(blocks);
        Ok(String::new())
    }

    pub fn uncommit(&self, blocks: Range<u64>) -> Said {
        self.cache.uncommit_now(blocks.clone()).map_err(of_cache)?;
        lock(&self.committed).retain(|block| !blocks.contains(block));
        Ok(String::new())
    }

    pub fn take(&self, count: u64) -> Said {
        let mut table = lock(&self.table);
        if table.is_none() {
            *table = Some(self.cache.blocks().map_err(of_cache)?);
        }
        let Some(table) = &*table else { return Ok(String::new()) };
        let count = usize::try_from(count).map_err(|_| wrong("too many"))?;
        let blocks = table.take(count).map_err(of_cache)?;
        Ok(blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
    }

    pub fn give(&self, blocks: &[&str]) -> Said {
        let blocks: Result<Vec<u32>, _> = blocks.iter().map(|id| id.parse()).collect();
        let blocks = blocks.map_err(|_| wrong("not a block"))?;
        let table = lock(&self.table);
        let table = table.as_ref().ok_or_else(|| wrong("nothing is taken"))?;
        table.give(&blocks, None).map_err(of_cache)?;
        Ok(String::new())
    }

    /// Starts a kernel over blocks and uncommits them behind it. Its sum goes to the first block,
    /// which must be committed and another one.
    pub fn launch(&self, blocks: Range<u64>, duration: Duration) -> Result<Running, Trouble> {
        let context = self.cache.context();
        let kernel = TouchKernel::load(context).map_err(trouble)?;
        let stream = Stream::new(context).map_err(trouble)?;
        let event = Event::new(context).map_err(trouble)?;
        let bytes = self.cache.geometry().block_bytes();
        let start = bytes::offset(&self.cache, 0, blocks.start)?;
        let part = start..start + (blocks.end - blocks.start) * bytes;
        kernel.touch_range(&stream, self.cache.range(), part, 0, duration).map_err(trouble)?;
        event.record(&stream).map_err(trouble)?;
        self.cache.uncommit(blocks.clone(), &event).map_err(of_cache)?;
        lock(&self.committed).retain(|block| !blocks.contains(block));
        Ok(Running { stream, _kernel: kernel, blocks })
    }

    /// How it answers when pages are wanted back.
    pub fn offer(&self, open: &Open, how: &str) -> Said {
        let (open, name) = (Arc::downgrade(open), self.name.clone());
        let give: fn(&Held, &PressureAsk) -> Offer = match how {
            "all" => Held::give_highest,
            "nothing" => |_, _| Offer::Nothing,
            "soon" => |_, _| Offer::Soon,
            "never" => |_, _| loop {
                std::thread::park();
            },
            _ => return Err(wrong(format!("'{how}' is no offer"))),
        };
        self.cache.on_pressure(move |ask| {
            let open = open.upgrade();
            let held = open.and_then(|open| lock(&open).get(&name).cloned());
            held.map_or(Offer::Nothing, |held| give(&held, ask))
        });
        Ok(String::new())
    }

    /// Uncommits from the end until enough is idle: a handle is given back whole.
    fn give_highest(&self, ask: &PressureAsk) -> Offer {
        while self.cache.idle_bytes() < ask.bytes {
            let Some(block) = lock(&self.committed).pop_last() else { break };
            if self.cache.uncommit_now(block..block + 1).is_err() {
                break;
            }
        }
        Offer::Now
    }
}

impl Running {
    /// Waits for the kernel, and compares what it has read.
    pub fn end(self, cache: &ElasticCache, seed: u64) -> Said {
        self.stream.synchronize().map_err(trouble)?;
        let mut found = [0; 8];
        cache.range().copy_to_host(0, &mut found).map_err(trouble)?;
        let (found, right) = (u64::from_le_bytes(found), bytes::sum(cache, self.blocks, seed));
        match found == right {
            true => Ok(String::new()),
            false => Err(wrong(format!("the kernel summed up to {found}, not {right}"))),
        }
    }
}
