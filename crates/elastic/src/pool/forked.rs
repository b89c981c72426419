//! What a forked child does with the pool of its parent: nothing.

use super::{Block, Ground, PoolError, Shared, StreamPool};
use crate::elastic_error::ElasticError;
use crate::pages::PageError;
use crate::pool::ground::Patience;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A card that counts its calls and has room for everything.
#[derive(Clone, Default)]
struct Counts(Arc<AtomicU64>);

impl Counts {
    fn call<E>(&self) -> Result<(), E> {
        self.0.fetch_add(1, Relaxed);
        Ok(())
    }
}

impl Ground for Counts {
    type Stream = u64;
    type Mark = ();

    fn base(&self) -> u64 {
        0
    }

    fn granule(&self) -> u64 {
        2 << 20
    }

    fn bytes(&self) -> u64 {
        1 << 30
    }

    fn commit(&self, _bytes: Range<u64>, _patience: Patience) -> Result<(), ElasticError> {
        self.call()
    }

    fn uncommit(&self, _bytes: Range<u64>) -> Result<(), ElasticError> {
        self.call()
    }

    fn trim(&self, bytes: u64) -> Result<u64, ElasticError> {
        self.call().map(|()| bytes)
    }

    fn settle(&self) -> Result<(), PageError> {
        self.call()
    }

    fn handle(&self, stream: &u64) -> u64 {
        *stream
    }

    fn id(&self, stream: &u64) -> Result<u64, PageError> {
        self.call().map(|()| *stream)
    }

    fn lasts(&self, _stream: &u64) -> bool {
        true
    }

    fn capture(&self, _stream: &u64) -> Result<Option<u64>, PageError> {
        self.call().map(|()| None)
    }

    fn record(&self, _stream: &u64, _again: Option<()>) -> Result<(), PageError> {
        self.call()
    }

    fn is_passed(&self, _mark: &()) -> Result<bool, PageError> {
        self.call().map(|()| true)
    }

    fn finish(&self, _mark: &()) -> Result<(), PageError> {
        self.call()
    }

    fn wait(&self, _stream: &u64, _mark: &()) -> Result<(), PageError> {
        self.call()
    }
}

#[test]
fn in_a_forked_child_blocks_and_pool_call_nothing() {
    let counts = Counts::default();
    let parent: StreamPool<Counts> = StreamPool::new(counts.clone());
    let mut shared: Shared<Counts, _> = Arc::into_inner(parent.shared).unwrap();
    let taken: Vec<_> = (1..4).map(|stream| shared.alloc(4 << 20, &stream).unwrap()).collect();
    // A fork changes nothing but the number of the process.
    shared.process = 1;
    let shared = Arc::new(shared);
    let pool = StreamPool { shared: Arc::clone(&shared) };
    let calls = counts.0.load(Relaxed);
    let stats = pool.stats();
    let other = PoolError::OtherProcess { made_in: 1 };
    assert_eq!(pool.alloc(512, &1).map(drop), Err(other.clone()));
    assert_eq!(pool.trim(u64::MAX, true), Err(other));
    for taken in taken {
        let block = Block::new(Arc::clone(&shared), taken, 1);
        block.record_stream(&9);
        drop(block);
    }
    assert_eq!(pool.stats(), stats, "the book is as the parent left it");
    drop((pool, shared));
    assert_eq!(counts.0.load(Relaxed), calls);
}
