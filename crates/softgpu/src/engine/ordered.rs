//! Stream-ordered memory: what a program allocates and frees in the order of a stream's work, from
//! pools or, while the stream captures, as nodes of its graph.

use std::sync::Arc;

use millpond_cuda::sys::Status;

use super::Engine;
use super::address::Access;
use super::fence::{Fence, Spot};
use super::graph::Work;
use super::job::Job;
use super::location::Home;
use super::physical::Allocation;
use super::pool::Pool;

/// Adversarial mode writes over freed blocks up to this size.
const SCRIBBLE_BYTES: u64 = 16 << 20;

const SCRIBBLE: u8 = 0xdb;

/// Rows of pitched memory begin at multiples of this.
const PITCH: u64 = 512;

impl Engine {
    pub fn allocate_ordered(
        &self,
        bytes: u64,
        pool: Option<Arc<Pool>>,
        stream: u64,
    ) -> Result<u64, Status> {
        let (context, lane) = self.lane(stream)?;
        if bytes == 0 {
            return Ok(0);
        }
        let pool = match pool {
            Some(pool) => pool,
            None => self.pools.current_of(&context.device, Pool::place_of(&context.device)),
        };
        if let Some(tip) = self.captures.tip(lane, &context)? {
            if pool.settings.home != Home::Device {
                return Err(Status::NOT_SUPPORTED);
            }
            let device = pool.device.index;
            let (node, at) = self.graphs.add_alloc(&tip.graph, bytes, device, &tip.after)?;
            self.captures.advance(lane, node);
            return Ok(at);
        }
        self.captures.refuse_unsafe_call()?;
        pool.allocate(bytes, Spot { queue: &context.queue, lane })
    }

    /// `cuMemFreeAsync`, of memory of any kind.
    pub fn free_ordered(&self, at: u64, stream: u64) -> Result<(), Status> {
        let (context, lane) = self.lane(stream)?;
        if let Some(tip) = self.captures.tip(lane, &context)? {
            let device = self.graphs.device_of(at).ok_or(Status::INVALID_VALUE)?;
            let node = self.graphs.add(&tip.graph, Work::Free { at, device }, &tip.after)?;
            self.captures.advance(lane, node);
            return Ok(());
        }
        self.captures.refuse_unsafe_call()?;
        if at == 0 {
            return Ok(());
        }
        if let Some((pool, bytes)) = self.pools.owner_of(at) {
            let writable = pool.access(context.device.index) == Ok(Access::ReadWrite);
            let job = if self.board.config.adversarial && writable && bytes <= SCRIBBLE_BYTES {
                Job::Fill { to: at, pattern: vec![SCRIBBLE], bytes }
            } else {
                Job::Nothing
            };
            let place = context.queue.submit(lane, job)?;
            return pool.free(at, Some(Fence::new(&context.queue, place)));
        }
        if let Some(device) = self.graphs.device_of(at) {
            let place = context.queue.submit(lane, Job::Nothing)?;
            let fence = Fence::new(&context.queue, place);
            return self.graphs.memory(device)?.end(at, Some(fence));
        }
        if let Some(start) = self.shared_pools.take(at) {
            return context.queue.submit(lane, Job::ReleaseOwn(start)).map(drop);
        }
        if self.space.linear_context(at).is_some() {
            return context.queue.submit(lane, Job::FreeLinear(at)).map(drop);
        }
        Err(Status::INVALID_VALUE)
    }

    /// `cuMemFree` of stream-ordered memory, which waits for nothing; `None` for other addresses.
    pub fn free_unordered(&self, at: u64) -> Option<Result<(), Status>> {
        if let Some(freed) = self.pools.free(at) {
            return Some(freed);
        }
        if let Some(start) = self.shared_pools.take(at) {
            self.space.release_own(start);
            return Some(Ok(()));
        }
        let device = self.graphs.device_of(at)?;
        Some(self.graphs.memory(device).and_then(|memory| memory.end(at, None)))
    }

    /// Writes work down when its stream captures; gives it back when it is to be done.
    pub fn capture(&self, stream: u64, job: Job) -> Result<Option<Job>, Status> {
        let (context, lane) = self.lane(stream)?;
        match self.captures.tip(lane, &context)? {
            None => Ok(Some(job)),
            Some(tip) => {
                let node = self.graphs.add(&tip.graph, Work::Job(job), &tip.after)?;
                self.captures.advance(lane, node);
                Ok(None)
            }
        }
    }

    /// `cuMemAllocPitch`: the address and the bytes from row to row.
    pub fn allocate_pitched(&self, width: u64, height: u64) -> Result<(u64, u64), Status> {
        let pitch = width.checked_next_multiple_of(PITCH).ok_or(Status::OUT_OF_MEMORY)?;
        let bytes = pitch.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?;
        Ok((self.allocate_linear(bytes)?, pitch))
    }

    /// `cuMemAllocManaged`: counted in full from the start, and the host may touch it.
    pub fn allocate_managed(&self, bytes: u64) -> Result<u64, Status> {
        let context = self.contexts.current()?;
        let pages = bytes.checked_next_multiple_of(4096).ok_or(Status::OUT_OF_MEMORY)?;
        let allocation = Allocation::create_managed(&context.device, pages)?;
        self.space.map_linear(bytes, Arc::new(allocation), context.id)
    }
}
