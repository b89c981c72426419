//! What a host holds, and what it answers.

use std::collections::BTreeMap;

use millpond_cuda::CudaError;
use millpond_wire::{GpuUuid, SlabId};

use crate::channel::{FromHost, HOLDINGS_PER_MESSAGE, Holding, SLAB_UNIT_BYTES, ToHost, Why};
use crate::error::HostError;
use crate::memory::{Handles, Memory, NotMade};

/// The owner of all slabs of a host.
pub(crate) struct Owner<M: Memory> {
    device: GpuUuid,
    memory: M,
    context_bytes: u64,
    slabs: BTreeMap<SlabId, Held<M::Block>>,
    /// Whether something was freed: old handles would open whatever is allocated next.
    sealed: bool,
}

struct Held<Block> {
    block: Block,
    bytes: u64,
    handles: Handles,
}

impl<M: Memory> Owner<M> {
    pub(crate) fn new(device: GpuUuid, memory: M, context_bytes: u64) -> Owner<M> {
        Owner { device, memory, context_bytes, slabs: BTreeMap::new(), sealed: false }
    }

    /// Nobody waits at the moment. One that allocates nothing any more needs nothing.
    pub(crate) fn prepare(&self) {
        if !self.sealed {
            self.memory.prepare();
        }
    }

    pub(crate) fn ready(&self) -> FromHost {
        FromHost::Ready { context_bytes: self.context_bytes }
    }

    /// Does what a message asks and says what to answer, in this order; `None` is the end.
    ///
    /// # Errors
    /// [`HostError::Lost`].
    pub(crate) fn answer(&mut self, message: &ToHost) -> Result<Option<Vec<FromHost>>, HostError> {
        let answer = match *message {
            ToHost::Start { device } => self.started_again(device),
            ToHost::Hello { epoch } => {
                let held: Vec<Holding> = self.slabs.iter().map(holding).collect();
                let parts = held.chunks(HOLDINGS_PER_MESSAGE);
                let parts = parts.map(|part| FromHost::Holds { epoch, held: part.to_vec() });
                let (sealed, context_bytes) = (self.sealed, self.context_bytes);
                let end = FromHost::HoldsEnd { epoch, sealed, context_bytes };
                return Ok(Some(parts.chain([end]).collect()));
            }
            ToHost::Allocate { slab, bytes, zero } => self.allocate(slab, bytes, zero)?,
            ToHost::Free { slab } => self.free(slab)?,
            ToHost::Stop => return Ok(None),
        };
        Ok(Some(vec![answer]))
    }

    fn started_again(&self, device: GpuUuid) -> FromHost {
        if device == self.device {
            return self.ready();
        }
        let text = format!("this host is for GPU {}, not for {device}", self.device);
        FromHost::Failed { text }
    }

    fn allocate(&mut self, slab: SlabId, bytes: u64, zero: bool) -> Result<FromHost, HostError> {
        let no = |why, text| Ok(FromHost::NotAllocated { slab, why, text });
        if let Some(held) = self.slabs.get(&slab) {
            if held.bytes != bytes {
                let text = format!("slab {slab} has {} bytes, not {bytes}", held.bytes);
                return no(Why::Exists, text);
            }
            return Ok(allocated(slab, held.handles));
        }
        if self.sealed {
            let text = "this host has freed memory and allocates nothing any more".to_owned();
            return no(Why::Sealed, text);
        }
        if bytes == 0 || !bytes.is_multiple_of(SLAB_UNIT_BYTES) {
            let text = format!("slab {slab} cannot have {bytes} bytes: whole 2 MiB, at least one");
            return no(Why::Size, text);
        }
        match self.memory.allocate(bytes, zero) {
            Ok((block, handles)) => {
                self.slabs.insert(slab, Held { block, bytes, handles });
                Ok(allocated(slab, handles))
            }
            Err(NotMade { error, .. }) if error.is_sticky() => Err(self.lost(error)),
            Err(NotMade { error, freed }) => {
                // Nobody has its handle; but freed is freed.
                self.sealed |= freed;
                let out = error.is_out_of_memory();
                no(if out { Why::OutOfMemory } else { Why::Driver }, error.to_string())
            }
        }
    }

    fn free(&mut self, slab: SlabId) -> Result<FromHost, HostError> {
        if let Some(held) = self.slabs.remove(&slab) {
            self.sealed = true;
            match self.memory.free(held.block) {
                Ok(()) => {}
                Err(error) if error.is_sticky() => return Err(self.lost(error)),
                // If it is still there, it goes with this host, which takes no more memory.
                Err(error) => tracing::error!("slab {slab} is not given back: {error}"),
            }
        }
        Ok(FromHost::Freed { slab })
    }

    fn lost(&self, source: CudaError) -> HostError {
        HostError::Lost { slabs: self.slabs.len(), source }
    }
}

fn allocated(slab: SlabId, Handles { memory, event }: Handles) -> FromHost {
    FromHost::Allocated { slab, memory, event }
}

fn holding<Block>((slab, held): (&SlabId, &Held<Block>)) -> Holding {
    let Handles { memory, event } = held.handles;
    Holding { slab: *slab, bytes: held.bytes, memory, event }
}
