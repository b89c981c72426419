//! Bytes of blocks, through the addresses of a cache.

use std::ops::Range;

use millpond::ElasticCache;

use super::Said;
use crate::content;
use crate::tool::{trouble, wrong};

/// Writes every byte of these blocks in every segment.
pub(super) fn fill(cache: &ElasticCache, blocks: Range<u64>, seed: u64) -> Said {
    let bytes = cache.geometry().block_bytes();
    for (segment, block) in places(cache, blocks) {
        let offset = offset(cache, segment, block)?;
        let source = content::bytes(bytes, mixed(seed, segment, block));
        cache.range().copy_from_host(offset, &source).map_err(trouble)?;
    }
    Ok(String::new())
}

/// Compares every byte of these blocks in every segment.
pub(super) fn check(cache: &ElasticCache, blocks: Range<u64>, seed: u64) -> Said {
    let bytes = cache.geometry().block_bytes();
    let mut found = vec![0; usize::try_from(bytes).unwrap_or(0)];
    for (segment, block) in places(cache, blocks) {
        let offset = offset(cache, segment, block)?;
        cache.range().copy_to_host(offset, &mut found).map_err(trouble)?;
        if found != content::bytes(bytes, mixed(seed, segment, block)) {
            return Err(wrong(format!("block {block} of segment {segment} has other bytes")));
        }
    }
    Ok(String::new())
}

/// What a kernel over these blocks of the first segment sums up to.
pub(super) fn sum(cache: &ElasticCache, blocks: Range<u64>, seed: u64) -> u64 {
    let bytes = cache.geometry().block_bytes();
    let sums =
        blocks.map(|block| content::sum_of_words(&content::bytes(bytes, mixed(seed, 0, block))));
    sums.fold(0, u64::wrapping_add)
}

/// Where a block begins, from the first address of the cache.
pub(super) fn offset(
    cache: &ElasticCache,
    segment: u64,
    block: u64,
) -> Result<u64, crate::tool::Trouble> {
    let address = cache.address_of(segment, block);
    let address = address.ok_or_else(|| wrong(format!("there is no block {block}")))?;
    Ok(address.0 - cache.device_ptr().0)
}

fn places(cache: &ElasticCache, blocks: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let segments = cache.geometry().segments();
    blocks.flat_map(move |block| (0..segments).map(move |segment| (segment, block)))
}

/// Blocks and segments differ, whatever the seed.
fn mixed(seed: u64, segment: u64, block: u64) -> u64 {
    seed.wrapping_mul(1_000_003).wrapping_add(segment << 32).wrapping_add(block)
}
