//! A stream-ordered pool whose memory a group of the pond pays for.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use millpond_cuda::{Context, MappedRange, Stream};
use millpond_elastic::{Block, GraphMemory, PoolSnapshot, PoolStats};
use millpond_wire::{GpuUuid, GroupName};

use super::cache::ElasticCache;
use super::pool_ground::PoolGround;
use super::spec::ReserveSpec;
use super::{Elastic, in_group};
use crate::{Error, Pond, Result};

/// A pool reserves so many times the memory of its card: addresses cost nothing, and many make room for
/// large blocks between small ones.
const ADDRESSES: u64 = 4;

/// A page of the driver.
const GRANULE: u64 = 2 << 20;

/// Memory of a pool for work of one stream. Dropping it frees it there.
pub type PoolBlock = Block<PoolGround>;

/// The memory of a captured graph: [`StreamPool::graph_memory`].
pub type PoolGraphMemory = GraphMemory<PoolGround>;

/// What a pool is to be like.
#[derive(Clone, Debug)]
pub struct PoolSpec {
    name: String,
    device: Option<GpuUuid>,
    addresses: Option<u64>,
    /// Of the cache underneath, whose size is known when there is a card.
    cache: ReserveSpec,
}

impl PoolSpec {
    /// A pool on the pond's first GPU. People and the pond call it by this name.
    pub fn new(name: impl Into<String>) -> Self {
        let cache = ReserveSpec::new(0);
        Self { name: name.into(), device: None, addresses: None, cache }
    }

    /// The GPU.
    #[must_use]
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.device = Some(device);
        self
    }

    /// How many bytes of addresses it has; four times the card's memory by default. A block is never
    /// larger than seven eighths of them.
    #[must_use]
    pub fn addresses(mut self, bytes: u64) -> Self {
        self.addresses = Some(bytes);
        self
    }

    /// What other caches of the group leave this pool.
    #[must_use]
    pub fn min(self, bytes: u64) -> Self {
        Self { cache: self.cache.min(bytes), ..self }
    }

    /// Its part of what is above everybody's `min`, when caches compete. 1 by default.
    #[must_use]
    pub fn weight(self, weight: u32) -> Self {
        Self { cache: self.cache.weight(weight), ..self }
    }

    /// How long an allocation waits for others to give way: a second by default.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { cache: self.cache.wait(wait), ..self }
    }
}

/// Blocks of device memory in the order of streams, on the budget of a group. Cheap to clone; all
/// threads may use all clones.
///
/// ```no_run
/// use millpond::cuda::Stream;
/// use millpond::{Pond, StreamPool};
///
/// # fn main() -> Result<(), millpond::Error> {
/// let pond = Pond::connect()?;
/// let pool = StreamPool::new(&pond, pond.device_at(0)?)?;
/// let (stream, other) = (Stream::new(pool.context())?, Stream::new(pool.context())?);
/// let block = pool.alloc(64 << 20, &stream)?;
/// block.record_stream(&other); // work of that stream uses it too
/// drop(block); // free for the next request of `stream` at once
/// println!("{}", pool.stats());
/// pool.snapshot_svg("pool.svg")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StreamPool {
    engine: millpond_elastic::StreamPool<PoolGround>,
}

impl StreamPool {
    /// A pool on the account of this program: of its own group where it runs in one, and else of a
    /// group without a limit that the pond makes for it. [`Elastic::pool`] has a group of your choice.
    ///
    /// # Errors
    /// What the pond and the driver answer.
    pub fn new(pond: &Pond, gpu: GpuUuid) -> Result<Self> {
        let name = crate::program::own().unwrap_or_else(|| "program".to_owned());
        in_group(pond, None)?.pool(PoolSpec::new(format!("{name}/pool")).device(gpu))
    }

    pub(super) fn reserve(elastic: &Elastic, spec: PoolSpec) -> Result<Self> {
        let (pond, core) = (&elastic.pond, elastic.pond.core());
        core.cuda.prepare(spec.device)?;
        let device = match spec.device {
            Some(device) => device,
            None => pond.device_at(0)?,
        };
        let addresses = match spec.addresses {
            Some(bytes) => bytes,
            None => core.cuda.context(device)?.memory_info()?.total_bytes.saturating_mul(ADDRESSES),
        };
        let addresses = addresses.max(1).checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX);
        let cache = elastic.reserve(&spec.name, spec.cache.of_bytes(addresses).device(device))?;
        let engine = millpond_elastic::StreamPool::new(PoolGround::new(cache.clone())?);
        let weak = engine.downgrade();
        cache.reclaim_with(move |bytes| {
            let Some(engine) = weak.upgrade() else { return 0 };
            if let Err(error) = engine.trim(bytes, false) {
                tracing::warn!(%error, "a pool could not give pages back");
                return 0;
            }
            let stats = engine.stats();
            stats.free_bytes - stats.clean_bytes
        });
        Ok(Self { engine })
    }

    /// A block that work of the stream may use from now on. Its contents are undefined, and its address
    /// is a multiple of 512.
    ///
    /// # Errors
    /// [`Error::Pool`]: no memory after gaps were searched, work was waited for, pages were given back and
    /// others were asked; a stream of another context; what the driver answers.
    pub fn alloc(&self, bytes: u64, stream: &Stream) -> Result<PoolBlock> {
        Ok(self.engine.alloc(bytes, stream)?)
    }

    /// The memory of the capture that the stream is in; `None` if it is in none. Keep it as long as the
    /// graph: until then what was used in the capture is used for nothing else.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn graph_memory(&self, stream: &Stream) -> Result<Option<PoolGraphMemory>> {
        Ok(self.engine.graph_memory(stream)?)
    }

    /// Gives memory that no block uses back to the group, until so many bytes are back. With `wait` the
    /// whole device is waited for where that helps, which breaks captures. Answers how many bytes are back.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn trim(&self, bytes: u64, wait: bool) -> Result<u64> {
        Ok(self.engine.trim(bytes, wait)?)
    }

    /// Everything that can be counted.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.engine.stats()
    }

    /// Has the peaks of the statistics begin anew.
    pub fn reset_peaks(&self) {
        self.engine.reset_peaks();
    }

    /// All blocks and gaps at this moment, by address.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        self.engine.snapshot()
    }

    /// Draws all blocks and gaps to scale.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn snapshot_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        write(path.as_ref(), &self.snapshot().to_svg())
    }

    /// Writes all blocks and gaps as JSON.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn snapshot_json(&self, path: impl AsRef<Path>) -> Result<()> {
        write(path.as_ref(), &self.snapshot().to_json())
    }

    /// The group that pays.
    #[must_use]
    pub fn group(&self) -> &GroupName {
        self.cache().group()
    }

    /// Its GPU.
    #[must_use]
    pub fn device(&self) -> GpuUuid {
        self.cache().device()
    }

    /// The context whose streams may use its blocks.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.cache().context()
    }

    /// The addresses, for checked copies to and from blocks by their offset.
    #[must_use]
    pub fn range(&self) -> &MappedRange {
        self.cache().range()
    }

    fn cache(&self) -> &ElasticCache {
        self.engine.ground().cache()
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|error| Error::in_file(format!("'{}' cannot be written", path.display()), &error))
}

impl fmt::Debug for StreamPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPool")
            .field("group", self.group())
            .field("device", &self.device())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
