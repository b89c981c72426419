//! Linear device memory, pinned host memory, and questions about pointers.

use std::ffi::{c_int, c_uint, c_void};

use millpond_cuda::sys::{CUcontext, CUdeviceptr, CUmemoryPool, Status, constants};

use super::{Out, entries, host_address, opaque};
use crate::engine::Engine;
use crate::engine::address::{Access, PointerInfo};
use crate::engine::location::Home;
use crate::engine::physical::{HANDLE_TYPE_FD, Origin};
use crate::engine::system::{to_u64, to_usize};

/// `CU_MEMHOSTALLOC_*`: portable, device map, write combined.
const HOST_ALLOC_FLAGS: c_uint = 7;
/// `CU_MEMHOSTREGISTER_*`: portable, device map, I/O memory, read-only.
const HOST_REGISTER_FLAGS: c_uint = 15;

/// What a card says is the device of memory that it does not know.
const NO_DEVICE: c_int = -2;

fn allocate_host(
    engine: &'static Engine,
    pointer: *mut *mut c_void,
    size: usize,
) -> Result<(), Status> {
    engine.contexts.current()?;
    // SAFETY: the callers below were promised a pointer that is null or valid for writing.
    let pointer = unsafe { Out::new(pointer)? };
    pointer.set(if size == 0 { std::ptr::null_mut() } else { engine.host.allocate(size)?.cast() });
    Ok(())
}

/// An attribute of memory that the device has.
///
/// # Safety
/// `data` is valid for writing the attribute's type.
unsafe fn device_attribute(
    data: *mut c_void,
    attribute: u32,
    at: u64,
    info: &PointerInfo,
) -> Result<(), Status> {
    let engine = crate::engine::engine()?;
    let device = engine.ordinal(&info.allocation.device)?;
    let types = match info.allocation.origin {
        Origin::Created(types) => types & HANDLE_TYPE_FD,
        Origin::Own => engine.pools.around(at).map_or(0, |(pool, ..)| pool.settings.handle_types),
        _ => 0,
    };
    let access = || match engine.space.access(at, info.allocation.device.index) {
        Ok(Access::ReadWrite) => constants::ACCESS_READ_WRITE,
        Ok(Access::Read) => constants::ACCESS_READ,
        Ok(Access::None) | Err(_) => constants::ACCESS_NONE,
    };
    let legacy = info.allocation.origin == Origin::Linear;
    let home = info.allocation.home;
    let managed = home == Home::Managed;
    // SAFETY: every arm writes the type that CUDA documents for the attribute, as the caller promised.
    unsafe {
        match attribute {
            1 => Out::new(data.cast::<CUcontext>())?.set(opaque(info.context.unwrap_or(0))),
            2 => Out::new(data.cast::<c_uint>())?.set(if home == Home::Host { 1 } else { 2 }),
            3 => Out::new(data.cast::<CUdeviceptr>())?.set(at),
            7 => Out::new(data.cast::<u64>())?.set(info.allocation.handle),
            4 if home.is_open_to_host() => Out::new(data.cast::<*mut c_void>())?.set(opaque(at)),
            8 => Out::new(data.cast::<u8>())?.set(u8::from(managed)),
            9 => Out::new(data.cast::<c_int>())?.set(device),
            10 => Out::new(data.cast::<u8>())?.set(u8::from(legacy)),
            11 => Out::new(data.cast::<CUdeviceptr>())?.set(info.start),
            12 => Out::new(data.cast::<usize>())?.set(to_usize(info.bytes)),
            13 => Out::new(data.cast::<u8>())?.set(1),
            14 => Out::new(data.cast::<u64>())?.set(u64::from(types)),
            16 => Out::new(data.cast::<u32>())?.set(u32::try_from(access()).unwrap_or(0)),
            5 | 6 | 15 | 17..=21 => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

/// An attribute of pinned host memory.
///
/// # Safety
/// `data` is valid for writing the attribute's type.
unsafe fn host_attribute(
    data: *mut c_void,
    attribute: u32,
    at: u64,
    start: usize,
    bytes: usize,
) -> Result<(), Status> {
    // SAFETY: every arm writes the type that CUDA documents for the attribute, as the caller promised.
    unsafe {
        match attribute {
            2 => Out::new(data.cast::<c_uint>())?.set(1),
            3 => Out::new(data.cast::<CUdeviceptr>())?.set(at),
            4 => Out::new(data.cast::<*mut c_void>())?.set(opaque(at)),
            8 => Out::new(data.cast::<u8>())?.set(0),
            9 => Out::new(data.cast::<c_int>())?.set(0),
            11 => Out::new(data.cast::<CUdeviceptr>())?.set(to_u64(start)),
            12 => Out::new(data.cast::<usize>())?.set(bytes),
            13 => Out::new(data.cast::<u8>())?.set(1),
            1 | 5..=7 | 10 | 14..=21 => return Err(Status::NOT_SUPPORTED),
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

/// What is known about an address. Of the driver's own memory only what is allocated counts.
pub(super) fn known(engine: &'static Engine, at: u64) -> Option<PointerInfo> {
    let info = engine.space.pointer(at)?;
    let (start, bytes) = match info.allocation.origin {
        Origin::Own => {
            let pooled = engine.pools.around(at).map(|(_, start, bytes)| (start, bytes));
            pooled.or_else(|| engine.graphs.around(at))?
        }
        Origin::Legacy if info.context.is_none() => engine.shared_pools.around(at)?,
        _ => return Some(info),
    };
    Some(PointerInfo { start, bytes, ..info })
}

/// One attribute of an address.
///
/// # Safety
/// `data` is null or valid for writing the attribute's type.
unsafe fn attribute_of(
    engine: &'static Engine,
    data: *mut c_void,
    attribute: u32,
    pointer: u64,
) -> Result<(), Status> {
    if let Some(info) = known(engine, pointer) {
        if attribute == constants::POINTER_POOL {
            let own = engine.pools.around(pointer).map(|(pool, ..)| pool.id);
            let pool = own.or_else(|| engine.shared_pools.pool_around(pointer)).unwrap_or(0);
            // SAFETY: as the caller promised: for this attribute the pointer is one to a pool.
            unsafe { Out::new(data.cast::<CUmemoryPool>())? }.set(opaque(pool));
            return Ok(());
        }
        // SAFETY: as the caller promised.
        return unsafe { device_attribute(data, attribute, pointer, &info) };
    }
    match engine.host.containing(to_usize(pointer)) {
        // SAFETY: as the caller promised.
        Some((start, bytes)) => unsafe { host_attribute(data, attribute, pointer, start, bytes) },
        None => Err(Status::INVALID_VALUE),
    }
}

/// What a list of attributes says about memory that the driver does not know: mostly zeroes, and no error.
///
/// # Safety
/// `data` is null or valid for writing the attribute's type.
unsafe fn no_attribute(data: *mut c_void, attribute: u32) -> Result<(), Status> {
    // SAFETY: every arm writes the type that CUDA documents for the attribute, as the caller promised.
    unsafe {
        match attribute {
            2 | 6 | 16 => Out::new(data.cast::<c_uint>())?.set(0),
            9 => Out::new(data.cast::<c_int>())?.set(NO_DEVICE),
            8 | 10 | 13 => Out::new(data.cast::<u8>())?.set(0),
            1 | 3 | 4 | 7 | 14 | 17 => Out::new(data.cast::<u64>())?.set(0),
            // The card writes no range where there is none.
            11 | 12 => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

entries! {
    fn cuMemAlloc_v2(pointer: *mut CUdeviceptr, size: usize) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        pointer.set(engine.allocate_linear(to_u64(size))?);
        Ok(())
    }

    fn cuMemFree_v2(pointer: CUdeviceptr) |engine| { engine.free_linear(pointer) }

    fn cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, flags: c_uint) |engine| {
        engine.contexts.current()?;
        if flags & !HOST_ALLOC_FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        allocate_host(engine, pointer, size)
    }

    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, size: usize) |engine| { allocate_host(engine, pointer, size) }

    fn cuMemFreeHost(pointer: *mut c_void) |engine| { engine.free_host(host_address(pointer)) }

    fn cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: c_uint) |engine| {
        engine.contexts.current()?;
        if flags & !HOST_REGISTER_FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        engine.host.register(host_address(pointer), size)
    }

    fn cuMemHostUnregister(pointer: *mut c_void) |engine| {
        engine.contexts.current()?;
        engine.host.unregister(host_address(pointer))
    }

    fn cuMemHostGetDevicePointer_v2(pointer: *mut CUdeviceptr, host: *mut c_void, flags: c_uint) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if flags != 0 || engine.host.containing(host_address(host)).is_none() {
            return Err(Status::INVALID_VALUE);
        }
        pointer.set(to_u64(host.addr()));
        Ok(())
    }

    fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, pointer: CUdeviceptr) |engine| {
        engine.contexts.current()?;
        let (start, bytes) = match known(engine, pointer) {
            Some(info) => (info.start, to_usize(info.bytes)),
            None => {
                let pinned = engine.host.containing(to_usize(pointer)).ok_or(Status::NOT_FOUND)?;
                (to_u64(pinned.0), pinned.1)
            }
        };
        // SAFETY: as the caller promised; either may be null.
        unsafe {
            if let Ok(base) = Out::new(base) {
                base.set(start);
            }
            if let Ok(size) = Out::new(size) {
                size.set(bytes);
            }
        }
        Ok(())
    }

    fn cuPointerGetAttribute(data: *mut c_void, attribute: u32, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        unsafe { attribute_of(engine, data, attribute, pointer) }
    }

    fn cuPointerGetAttributes(count: c_uint, attributes: *const u32, data: *mut *mut c_void, pointer: CUdeviceptr) |engine| {
        if count == 0 || attributes.is_null() || data.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let is_known = known(engine, pointer).is_some()
            || engine.host.containing(to_usize(pointer)).is_some();
        for place in 0..to_usize(u64::from(count)) {
            // SAFETY: not null, and arrays of `count`, as the caller promised; C programs may align badly.
            let (attribute, data) = unsafe {
                (attributes.add(place).read_unaligned(), data.add(place).read_unaligned())
            };
            // SAFETY: each pointer is for a value of its attribute's type, as the caller promised.
            unsafe {
                if is_known {
                    attribute_of(engine, data, attribute, pointer)?;
                } else {
                    no_attribute(data, attribute)?;
                }
            }
        }
        Ok(())
    }
}
