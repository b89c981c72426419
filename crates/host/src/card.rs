//! The GPU of a host.

use std::cell::RefCell;

use millpond_cuda::sys::Status;
use millpond_cuda::{Context, CudaError, DeviceUuid, Driver, IpcEvent, LinearMemory, Nvml};
use millpond_wire::GpuUuid;

use crate::channel::{Handle, NO_EVENT};
use crate::error::HostError;
use crate::memory::{Handles, Memory, NotMade};

/// A GPU with a context.
pub(crate) struct Card {
    context: Context,
    /// An event for the next allocation, made while nobody waited.
    spare: RefCell<Option<(IpcEvent, Handle)>>,
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
        let context_bytes = own_bytes(driver, device.uuid()).unwrap_or(0);
        Ok((Card { context, spare: RefCell::default() }, context_bytes))
    }

    /// What memory gets before others may have it.
    fn finish(
        &self,
        memory: &LinearMemory,
        zero: bool,
    ) -> Result<(Option<IpcEvent>, Handles), CudaError> {
        if zero {
            memory.fill(0)?;
        }
        let spare = self.spare.borrow_mut().take();
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
        let memory = LinearMemory::alloc(&self.context, bytes)
            .map_err(|error| NotMade { error, freed: false })?;
        match self.finish(&memory, zero) {
            Ok((event, handles)) => Ok((Block { memory, _event: event }, handles)),
            // The memory is dropped here.
            Err(error) => Err(NotMade { error, freed: true }),
        }
    }

    fn prepare(&self) {
        let mut spare = self.spare.borrow_mut();
        if spare.is_none() {
            // What cannot be made is tried again when it is needed, and says then what is wrong.
            *spare = self.event().ok();
        }
    }

    fn free(&self, block: Block) -> Result<(), CudaError> {
        block.memory.free()
    }
}

/// What this process uses of a GPU, if anybody says.
fn own_bytes(driver: &Driver, device: DeviceUuid) -> Option<u64> {
    Nvml::open(driver).ok()?.device(device).ok()?.own_bytes()
}
