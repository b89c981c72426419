//! Virtual memory management: create, share, reserve, map, open.

use std::ffi::{c_int, c_void};
use std::os::fd::IntoRawFd;

use millpond_cuda::sys::{
    CUdeviceptr, CUmemAccessDesc, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemLocation,
    Status,
};

use super::{Out, entries};
use crate::engine::Engine;
use crate::engine::address::Access;
use crate::engine::board::{Device, GRANULARITY};
use crate::engine::location::Location;
use crate::engine::physical::{HANDLE_TYPE_FD, Origin};
use crate::engine::system::{to_u64, to_usize};
use std::sync::Arc;

const DEVICE: u32 = 1;
const PINNED: u32 = 1;
/// `CU_MEM_HANDLE_TYPE_FABRIC`, and the two of another operating system.
const HANDLE_TYPE_FABRIC: u32 = 8;
const HANDLE_TYPES_WINDOWS: u32 = 2 | 4;

#[repr(C)]
#[derive(Clone, Copy)]
struct RawProp {
    kind: u32,
    handle_types: u32,
    location: Location,
    win32: *mut c_void,
    compression: u8,
    rdma: u8,
    usage: u16,
    reserved: [u8; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawAccess {
    pub(super) location: Location,
    pub(super) flags: u32,
}

const _: () = assert!(size_of::<Location>() == size_of::<CUmemLocation>());
const _: () = assert!(size_of::<RawProp>() == size_of::<CUmemAllocationProp>());
const _: () = assert!(align_of::<RawProp>() == align_of::<CUmemAllocationProp>());
const _: () = assert!(size_of::<RawAccess>() == size_of::<CUmemAccessDesc>());

/// # Safety
/// The pointer is null or valid for reading one `T`, for which any bytes are a value.
pub(super) unsafe fn read<T: Copy>(pointer: *const T) -> Result<T, Status> {
    if pointer.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and valid as the caller promised.
    Ok(unsafe { pointer.read_unaligned() })
}

fn device_of(engine: &'static Engine, prop: &RawProp) -> Result<&'static Arc<Device>, Status> {
    if prop.kind != PINNED || prop.location.kind != DEVICE {
        return Err(Status::INVALID_VALUE);
    }
    if prop.handle_types & HANDLE_TYPES_WINDOWS != 0 {
        return Err(Status::INVALID_VALUE);
    }
    engine.device(prop.location.id)
}

/// The access that a C flag means.
pub(super) fn access_of(flags: u32) -> Result<Access, Status> {
    match flags {
        0 => Ok(Access::None),
        1 => Ok(Access::Read),
        3 => Ok(Access::ReadWrite),
        _ => Err(Status::INVALID_VALUE),
    }
}

pub(super) fn device_index(engine: &Engine, location: Location) -> Result<usize, Status> {
    let device = engine.device(location.id).ok().filter(|_| location.kind == DEVICE);
    device.map(|device| device.index).ok_or(Status::INVALID_VALUE)
}

entries! {
    fn cuMemAddressReserve(pointer: *mut CUdeviceptr, size: usize, alignment: usize, address: CUdeviceptr, flags: u64) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        pointer.set(engine.space.reserve(to_u64(size), to_u64(alignment), address)?);
        Ok(())
    }

    fn cuMemAddressFree(pointer: CUdeviceptr, size: usize) |engine| { engine.space.free(pointer, to_u64(size)) }

    fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64) |engine| {
        // SAFETY: as the caller promised; any bytes are a RawProp.
        let (handle, prop) = unsafe { (Out::new(handle)?, read(prop.cast::<RawProp>())?) };
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let device = device_of(engine, &prop)?;
        if prop.handle_types & HANDLE_TYPE_FABRIC != 0 {
            return Err(Status::NOT_PERMITTED);
        }
        handle.set(engine.handles.create(device, to_u64(size), prop.handle_types)?);
        Ok(())
    }

    fn cuMemRelease(handle: CUmemGenericAllocationHandle) |engine| { engine.handles.release(handle) }

    fn cuMemMap(pointer: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) |engine| {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        engine.space.map(pointer, to_u64(size), to_u64(offset), engine.handles.get(handle)?)
    }

    fn cuMemUnmap(pointer: CUdeviceptr, size: usize) |engine| { engine.space.unmap(pointer, to_u64(size)) }

    fn cuMemSetAccess(pointer: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize) |engine| {
        if desc.is_null() || count == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut wanted = Vec::with_capacity(count.min(16));
        for index in 0..count {
            // SAFETY: the program passes `count` of them; any bytes are a RawAccess.
            let one = unsafe { read(desc.cast::<RawAccess>().wrapping_add(index))? };
            wanted.push((device_index(engine, one.location)?, access_of(one.flags)?));
        }
        for (device, access) in wanted {
            engine.space.set_access(pointer, to_u64(size), device, access)?;
        }
        Ok(())
    }

    fn cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised; any bytes are a Location.
        let (flags, location) = unsafe { (Out::new(flags)?, read(location.cast::<Location>())?) };
        let access = device_index(engine, location).and_then(|device| engine.space.access(pointer, device));
        flags.set(match access {
            Ok(Access::None) | Err(_) => 0,
            Ok(Access::Read) => 1,
            Ok(Access::ReadWrite) => 3,
        });
        access.map(drop)
    }

    fn cuMemExportToShareableHandle(shareable: *mut c_void, handle: CUmemGenericAllocationHandle, handle_type: u32, flags: u64) |engine| {
        // SAFETY: as the caller promised: for this handle type the pointer is one to an int.
        let shareable = unsafe { Out::new(shareable.cast::<c_int>())? };
        if handle_type != HANDLE_TYPE_FD || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        shareable.set(engine.handles.export(handle)?.into_raw_fd());
        Ok(())
    }

    fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, os_handle: *mut c_void, handle_type: u32) |engine| {
        // SAFETY: as the caller promised.
        let handle = unsafe { Out::new(handle)? };
        if handle_type != HANDLE_TYPE_FD {
            return Err(Status::INVALID_VALUE);
        }
        let fd = c_int::try_from(os_handle.addr()).map_err(|_| Status::UNKNOWN)?;
        handle.set(engine.handles.import(&engine.visible, fd)?);
        Ok(())
    }

    fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: u32) |_engine| {
        // SAFETY: as the caller promised; any bytes are a RawProp.
        let (granularity, prop) = unsafe { (Out::new(granularity)?, read(prop.cast::<RawProp>())?) };
        if option > 1 || prop.kind != PINNED || prop.location.kind != DEVICE {
            return Err(Status::INVALID_VALUE);
        }
        granularity.set(to_usize(GRANULARITY));
        Ok(())
    }

    fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) |engine| {
        // SAFETY: as the caller promised; both types have the same layout.
        let prop = unsafe { Out::new(prop.cast::<RawProp>())? };
        let allocation = engine.handles.get(handle)?;
        let id = engine.ordinal(&allocation.device)?;
        let handle_types = if let Origin::Created(types) = allocation.origin { types } else { 0 };
        prop.set(RawProp {
            kind: PINNED,
            handle_types,
            location: Location { kind: DEVICE, id },
            win32: std::ptr::null_mut(),
            compression: 0,
            rdma: 0,
            usage: 0,
            reserved: [0; 4],
        });
        Ok(())
    }

    fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, address: *mut c_void) |engine| {
        // SAFETY: as the caller promised.
        let handle = unsafe { Out::new(handle)? };
        let found = engine.space.pointer(to_u64(address.addr())).ok_or(Status::INVALID_VALUE)?;
        handle.set(engine.handles.retain(&found.allocation)?);
        Ok(())
    }
}
