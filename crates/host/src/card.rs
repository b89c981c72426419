//! The GPU of a host.

use std::cell::RefCell;

use millpond_cuda::sys::Status;
use millpond_cuda::{Context, CudaError, DeviceUuid, Driver, IpcEvent, LinearMemory, Nvml};
use millpond_wire::GpuUuid;

use crate::channel::{Handle, NO_EVENT, SLAB_UNIT_BYTES};
use crate::error::HostError;
use crate::memory::{Handles, Memory, NotMade};

/// A GPU with a context, and what the next allocation needs, made while nobody waited.
pub(crate) struct Card {
    context: Context,
    spare_event: RefCell<Option<(IpcEvent, Handle)>>,
    /// The smallest slab, which most are. It counts as part of the context: whoever pays for the host pays for it.
    spare_block: RefCell<Option<(Block, Handles)>>,
}

/// Memory, and the event by which its users tell each other what they have queued.
pub(crate) struct Block {
    memory: LinearMemory,
    // Kept: without its maker nobody could open it any more.
    _event: Option<IpcEvent>,
}

impl Card {
    /// Makes the context, and says how much memory this process uses by then.
    pub(crate) fn open(driver: &Driver, device: GpuUuid) -> Result<(Card, u64), HostError> {
        let device = driver.device_by_uuid(DeviceUuid(device.0))?;
        let context = Context::primary(&device)?;
        let card =
            Card { context, spare_event: RefCell::default(), spare_block: RefCell::default() };
        card.prepare();
        let context_bytes = own_bytes(driver, device.uuid()).unwrap_or(0);
        Ok((card, context_bytes))
    }

    fn make(&self, bytes: u64) -> Result<(Block, Handles), NotMade> {
        let memory = LinearMemory::alloc(&self.context, bytes)
            .map_err(|error| NotMade { error, freed: false })?;
        match self.finish(&memory) {
            Ok((event, handles)) => Ok((Block { memory, _event: event }, handles)),
            // The memory is dropped here.
            Err(error) => Err(NotMade { error, freed: true }),
        }
    }

    /// What memory gets before others may have it.
    fn finish(&self, memory: &LinearMemory) -> Result<(Option<IpcEvent>, Handles), CudaError> {
        let spare = self.spare_event.borrow_mut().take();
        let (event, event_handle) = match spare.map_or_else(|| self.event(), Ok) {
            Ok((event, handle)) => (Some(event), handle),
            // Its users wait for their work themselves then.
            Err(error) if error.status == Status::NOT_SUPPORTED => (None, NO_EVENT),
            Err(error) => return Err(error),
        };
        Ok((event, Handles { memory: memory.ipc_handle()?, event: event_handle }))
    }

    /// An event. Whoever waits for it before its first record does not wait.
    fn event(&self) -> Result<(IpcEvent, Handle), CudaError> {
        let event = IpcEvent::new(&self.context)?;
        let handle = event.handle()?;
        Ok((event, handle))
    }
}

impl Memory for Card {
    type Block = Block;

    fn allocate(&self, bytes: u64, zero: bool) -> Result<(Block, Handles), NotMade> {
        let spare = match bytes {
            SLAB_UNIT_BYTES => self.spare_block.borrow_mut().take(),
            _ => None,
        };
        let (block, handles) = spare.map_or_else(|| self.make(bytes), Ok)?;
        if zero {
            // The memory is dropped where it cannot be written.
            block.memory.fill(0).map_err(|error| NotMade { error, freed: true })?;
        }
        Ok((block, handles))
    }

    fn prepare(&self) {
        // What cannot be made is tried again when it is needed, and says then what is wrong. Nobody has a
        // handle of a block that was given up here.
        if self.spare_block.borrow().is_none() {
            let block = self.make(SLAB_UNIT_BYTES).ok();
            *self.spare_block.borrow_mut() = block;
        }
        if self.spare_event.borrow().is_none() {
            let event = self.event().ok();
            *self.spare_event.borrow_mut() = event;
        }
    }

    fn free(&self, block: Block) -> Result<(), CudaError> {
        block.memory.free()
    }
}

/// What NVML says that this process uses. It does not find itself in another pid namespace than the
/// driver's.
fn own_bytes(driver: &Driver, device: DeviceUuid) -> Option<u64> {
    let processes = Nvml::open(driver).ok()?.device(device).ok()?.processes().ok()?;
    let own = processes.iter().find(|process| process.pid == std::process::id());
    own.and_then(|process| process.used_bytes)
}
