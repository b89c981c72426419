//! Memory that this process has from somebody else's hands: what it is, and how to share it.

use super::context::Context;
use super::device::Device;
use super::driver::Driver;
use super::mapping::Access;
use super::pointer::DevicePtr;
use super::uuid::DeviceUuid;
use crate::error::CudaError;
use crate::sys::{AllocationProperties, Status, constants, global_symbol};
use crate::{result, to_usize};
use std::ffi::{CStr, c_int};
use std::os::fd::OwnedFd;

/// The size of the allocation that [`try_fabric`] asks for: the smallest there is on every card.
const FABRIC_BYTES: u64 = 2 << 20;

/// Where the memory at an address comes from, which says how it can be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// `cuMemAlloc` of this process: by [`export_linear`].
    Linear,
    /// `cuMemCreate` and `cuMemMap`.
    Virtual {
        /// Whether it was made to be exported as a descriptor: by [`export_virtual`].
        exportable: bool,
    },
    /// A memory pool: by [`export_pool_pointer`], if the pool was made for that.
    Pool,
    /// `cuMemAllocManaged`.
    Managed,
    /// Host memory that the driver knows.
    Host,
    /// Device memory of none of these kinds, such as what another process exported.
    Unknown,
}

/// What an address of this process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// Where it comes from.
    pub kind: MemoryKind,
    /// First address of the allocation. Of mapped memory that of the handle, or of the whole
    /// reservation: a card has told both.
    pub base: DevicePtr,
    /// Its size.
    pub bytes: u64,
    /// The device that it is on; the first one for memory of the host.
    pub device: DeviceUuid,
    /// What that device may do with it; `None` when nothing.
    pub access: Option<Access>,
}

impl MemoryRange {
    /// Asks the driver about the memory around an address. Borrows the primary context where the thread
    /// has none and the answer needs one.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an address that the driver does not know.
    pub fn of(driver: &Driver, pointer: DevicePtr) -> Result<Self, CudaError> {
        driver.init()?;
        let (table, at) = (driver.table(), pointer.0);
        let memory_type = result::pointer::memory_type(table, at)?;
        let ordinal = result::pointer::device_ordinal(table, at).unwrap_or(0).max(0);
        let kind = kind_of(driver, pointer, memory_type)?;
        let access = match kind {
            MemoryKind::Virtual { .. } => match result::mem::access(table, at, ordinal)? {
                constants::ACCESS_READ => Some(Access::ReadOnly),
                constants::ACCESS_READ_WRITE => Some(Access::ReadWrite),
                _ => None,
            },
            _ => Some(Access::ReadWrite),
        };
        let (base, bytes) = match kind {
            // The attributes tell the whole reservation, which may have many handles.
            MemoryKind::Virtual { .. } => {
                let context = current_or_primary(driver, pointer)?;
                let _bound = context.bind()?;
                result::pointer::address_range(table, at)?
            }
            _ => {
                (result::pointer::range_start(table, at)?, result::pointer::range_bytes(table, at)?)
            }
        };
        Ok(Self {
            kind,
            base: DevicePtr(base),
            bytes: bytes as u64,
            device: Device::new(driver, ordinal)?.uuid(),
            access,
        })
    }
}

fn kind_of(driver: &Driver, pointer: DevicePtr, memory_type: u32) -> Result<MemoryKind, CudaError> {
    let (table, at) = (driver.table(), pointer.0);
    if result::pointer::is_managed(table, at)? {
        return Ok(MemoryKind::Managed);
    }
    if memory_type == constants::MEMORY_TYPE_HOST {
        return Ok(MemoryKind::Host);
    }
    if !result::pointer::pool(table, at)?.is_null() {
        return Ok(MemoryKind::Pool);
    }
    // Nothing but mapped memory has a handle to retain.
    match result::mem::retain(table, at) {
        Ok(handle) => {
            let types = result::pointer::handle_types(table, at);
            // SAFETY: gives back the reference that was just taken.
            unsafe { result::mem::release(table, handle) }?;
            let exportable = types? & u64::from(constants::HANDLE_POSIX_FD) != 0;
            return Ok(MemoryKind::Virtual { exportable });
        }
        Err(error) if error.status == Status::INVALID_VALUE => {}
        Err(error) => return Err(error),
    }
    let linear = result::pointer::is_legacy_ipc(table, at)?;
    Ok(if linear { MemoryKind::Linear } else { MemoryKind::Unknown })
}

/// Device memory that somebody else in this process owns, for example a tensor of PyTorch's.
///
/// Nothing keeps it: who frees it while it is used through this value does what is as wrong as
/// freeing it under a kernel. The driver refuses copies to addresses that it does not know any more.
#[derive(Clone, Debug)]
pub struct ForeignMemory {
    context: Context,
    pointer: DevicePtr,
    bytes: u64,
}

impl ForeignMemory {
    /// Takes note of memory, after asking the driver whether it is there.
    ///
    /// # Errors
    /// `INVALID_VALUE` for addresses that are not one piece of memory that the driver knows.
    pub fn find(context: &Context, pointer: DevicePtr, bytes: u64) -> Result<Self, CudaError> {
        let around = MemoryRange::of(context.driver(), pointer)?;
        let offset = pointer.0.saturating_sub(around.base.0);
        if offset.checked_add(bytes).is_none_or(|end| end > around.bytes) {
            let detail =
                format!("{bytes} bytes at {pointer} of {} at {}", around.bytes, around.base);
            return Err(CudaError::refused("ForeignMemory::find", detail));
        }
        Ok(Self { context: context.clone(), pointer, bytes })
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that copies run in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// A descriptor of the memory that is mapped at an address, which keeps it alive.
///
/// # Errors
/// `INVALID_VALUE` for other memory than [`MemoryKind::Virtual`], for what cannot be exported, and
/// for what was imported: only its creator can export it.
pub fn export_virtual(driver: &Driver, pointer: DevicePtr) -> Result<OwnedFd, CudaError> {
    let table = driver.table();
    let handle = result::mem::retain(table, pointer.0)?;
    // SAFETY: the handle is alive: we hold a reference, which is given back once.
    unsafe {
        let fd = result::mem::export(table, handle);
        result::mem::release(table, handle)?;
        fd
    }
}

/// What another process needs to import the allocation of a pool that begins at an address: the
/// pool's descriptor, and the name of the allocation in it.
///
/// # Errors
/// `INVALID_VALUE` for memory of no pool, of one that was not made to be exported, and of one that
/// was imported.
pub fn export_pool_pointer(
    driver: &Driver,
    pointer: DevicePtr,
) -> Result<(OwnedFd, [u8; 64]), CudaError> {
    let table = driver.table();
    let pool = result::pointer::pool(table, pointer.0)?;
    if pool.is_null() {
        let detail = format!("address {pointer} is no memory of a pool");
        return Err(CudaError::refused("export_pool_pointer", detail));
    }
    // SAFETY: the driver has just named the pool, which lives as long as memory of it; it checks
    // the address.
    unsafe {
        let fd = result::pool::export_fd(table, pool)?;
        Ok((fd, result::pool::export_pointer(table, pointer.0)?.reserved))
    }
}

/// The legacy handle of memory of `cuMemAlloc`. A thread without a context borrows the primary one of
/// the memory's device.
///
/// # Errors
/// `INVALID_VALUE` for any other memory.
pub fn export_linear(driver: &Driver, base: DevicePtr) -> Result<[u8; 64], CudaError> {
    let context = current_or_primary(driver, base)?;
    let _bound = context.bind()?;
    result::ipc::memory_handle(driver.table(), base.0)
}

/// The thread's context, or the primary one of the device that an address is on.
fn current_or_primary(driver: &Driver, at: DevicePtr) -> Result<Context, CudaError> {
    match Context::current(driver)? {
        Some(context) => Ok(context),
        None => {
            let ordinal = result::pointer::device_ordinal(driver.table(), at.0)?;
            Context::primary(&Device::new(driver, ordinal.max(0))?)
        }
    }
}

/// Somebody else pays for memory that this process has made: where a preloaded library keeps a limit,
/// its charge ends. `false` where there is no such library, or it has not charged this memory.
#[must_use]
pub fn hand_over(pointer: DevicePtr, bytes: u64) -> bool {
    tell_library(c"millpond_hand_over", pointer, bytes)
}

/// Nobody else pays for that memory any more: where a preloaded library keeps a limit, it is charged
/// again. `false` where there is no such library, or the memory is not there any more.
#[must_use]
pub fn take_back(pointer: DevicePtr, bytes: u64) -> bool {
    tell_library(c"millpond_take_back", pointer, bytes)
}

fn tell_library(name: &CStr, pointer: DevicePtr, bytes: u64) -> bool {
    let function = global_symbol(name);
    if function.is_null() {
        return false;
    }
    // SAFETY: only the preloaded library exports these names, with this signature, and it is never
    // unloaded; it follows no pointer, and knows addresses of memory that is gone.
    let answer = unsafe {
        let function: extern "C" fn(u64, u64) -> c_int = std::mem::transmute(function);
        function(pointer.0, bytes)
    };
    answer == 0
}

/// Whether memory with a fabric handle can be made: makes some and gives it back. That a device has
/// [`DeviceAttribute::FABRIC_HANDLES`](super::DeviceAttribute::FABRIC_HANDLES) says too little.
///
/// # Errors
/// `NOT_PERMITTED` without access to an IMEX channel, `NOT_SUPPORTED` where there is no fabric.
pub fn try_fabric(device: &Device) -> Result<(), CudaError> {
    let table = device.driver().table();
    let mut properties = AllocationProperties::exportable(device.ordinal());
    properties.handle_types = constants::HANDLE_FABRIC;
    let handle = result::mem::create(table, to_usize(FABRIC_BYTES), &properties)?;
    // SAFETY: gives back the reference that was just made.
    unsafe { result::mem::release(table, handle) }
}
