//! Blocks that somebody has, with bytes in them that nobody else writes.

use millpond::ElasticCache;

use super::bytes::offset;
use crate::content;
use crate::tool::{Trouble, trouble, wrong};

/// What is written at either end of a block: a page that was mixed up shows there.
pub(super) const MARK: u64 = 1024;

/// Some blocks, and what is in them.
#[derive(Debug)]
pub(super) struct Item {
    pub blocks: Vec<u64>,
    /// No other item of any process has it.
    pub seed: u64,
}

impl Item {
    /// Writes the marks.
    pub fn write(&self, cache: &ElasticCache) -> Result<(), Trouble> {
        self.marks(cache, |place, mark| cache.range().copy_from_host(place, mark).map_err(trouble))
    }

    /// Compares the marks.
    pub fn check(&self, cache: &ElasticCache) -> Result<(), Trouble> {
        self.marks(cache, |place, mark| {
            let mut found = vec![0; mark.len()];
            cache.range().copy_to_host(place, &mut found).map_err(trouble)?;
            match found == mark {
                true => Ok(()),
                false => Err(wrong(format!("other bytes at offset {place} of {self:?}"))),
            }
        })
    }

    /// The mark at the beginning of a block.
    pub fn mark(&self, segment: u64, block: u64) -> Vec<u8> {
        content::bytes(MARK, self.seed ^ (segment << 48) ^ (block << 20))
    }

    fn marks(
        &self,
        cache: &ElasticCache,
        mut with: impl FnMut(u64, &[u8]) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let geometry = cache.geometry();
        for block in &self.blocks {
            for segment in 0..geometry.segments() {
                let (place, mark) = (offset(cache, segment, *block)?, self.mark(segment, *block));
                with(place, &mark)?;
                with(place + geometry.block_bytes() - MARK, &mark)?;
            }
        }
        Ok(())
    }
}
