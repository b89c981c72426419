//! What tests of the pool do again and again.

use crate::model::{Card, Stream};
use millpond_elastic::{Block, PoolError, StreamPool};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

pub type Pool = StreamPool<Card>;

/// A card with room for so many granules, and a pool on it.
pub fn pool(limit: u64) -> (Card, Pool) {
    let card = Card::new(400, limit);
    (card.clone(), Pool::new(card))
}

/// The same with streams of somebody else's, which the pool cannot keep.
pub fn pool_of_others(limit: u64) -> (Card, Pool) {
    let mut card = Card::new(400, limit);
    card.lasting = false;
    (card.clone(), Pool::new(card))
}

/// Work of the block's own stream.
pub fn work(card: &Card, block: &Block<Card>) {
    work_on(card, block, block.stream());
}

/// Work of any stream on a block.
pub fn work_on(card: &Card, block: &Block<Card>, stream: &Stream) {
    card.work(stream, block.offset()..block.offset() + block.bytes(), block.serial());
}

/// A block that its stream works on.
pub fn busy(
    card: &Card,
    pool: &Pool,
    bytes: u64,
    stream: &Stream,
) -> Result<Block<Card>, PoolError> {
    let block = pool.alloc(bytes, stream)?;
    work(card, &block);
    Ok(block)
}

/// All work is done, all memory is given back, and no promise was broken.
#[track_caller]
pub fn assert_all_returned(card: &Card, pool: &Pool) {
    pool.trim(u64::MAX, true).unwrap();
    let stats = pool.stats();
    assert_eq!((stats.held_bytes, stats.blocks, stats.gaps), (0, 0, 0), "{stats:?}");
    assert_eq!(card.committed_bytes(), 0);
    assert_eq!(card.faults(), Vec::<String>::new());
}
