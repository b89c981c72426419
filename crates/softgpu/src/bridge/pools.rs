//! Stream-ordered memory and memory pools.

use std::ffi::{c_int, c_void};
use std::os::fd::IntoRawFd;
use std::sync::Arc;

use millpond_cuda::sys::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemPoolPtrExportData,
    CUmemoryPool, CUstream, PoolProperties, Status, constants,
};

use super::memory::{RawAccess, access_of, device_index, read};
use super::{Out, entries, number, opaque};
use crate::engine::Engine;
use crate::engine::address::Access;
use crate::engine::board::Device;
use crate::engine::location::{Home, Location};
use crate::engine::physical::HANDLE_TYPE_FD;
use crate::engine::pool::{Pool, PoolSettings};
use crate::engine::pools::Place;
use crate::engine::system::to_u64;

/// The device of an allocation node with these properties.
pub(super) fn device_of_node(
    engine: &'static Engine,
    props: &PoolProperties,
) -> Result<&'static Arc<Device>, Status> {
    match pool_of(engine, props)? {
        (device, PoolSettings { home: Home::Device, .. }) => Ok(device),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// What a pool with these properties is made as, and the device that counts its memory.
fn pool_of(
    engine: &'static Engine,
    props: &PoolProperties,
) -> Result<(&'static Arc<Device>, PoolSettings), Status> {
    let asked = Location { kind: props.location_kind, id: props.location_id };
    let (device, (home, location)) = place(engine, asked, props.kind)?;
    let exportable = match home {
        Home::Device => HANDLE_TYPE_FD,
        Home::Host if location.kind == constants::LOCATION_HOST_NUMA => HANDLE_TYPE_FD,
        Home::Host | Home::Managed => 0,
    };
    if props.handle_types & !exportable != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let (max_bytes, handle_types) = (to_u64(props.max_bytes), props.handle_types);
    Ok((
        device,
        PoolSettings { max_bytes, handle_types, home, location, ..PoolSettings::default() },
    ))
}

/// The place that a location and a kind of memory name, and the device that counts its memory.
fn place(
    engine: &'static Engine,
    location: Location,
    kind: u32,
) -> Result<(&'static Arc<Device>, Place), Status> {
    let first = || engine.visible.first().copied().ok_or(Status::INVALID_VALUE);
    // A device that is not there is a wrong value of the properties, not a wrong device.
    let named = || engine.device(location.id).map_err(|_| Status::INVALID_VALUE);
    let is_device = location.kind == constants::LOCATION_DEVICE;
    let is_node = location.kind != constants::LOCATION_HOST_NUMA || location.id >= 0;
    match kind {
        constants::ALLOCATION_PINNED if is_device => {
            named().map(|device| (device, Pool::place_of(device)))
        }
        constants::ALLOCATION_PINNED if location.is_host() && is_node => {
            Ok((first()?, (Home::Host, location)))
        }
        constants::ALLOCATION_MANAGED if is_device => {
            named().map(|device| (device, (Home::Managed, location)))
        }
        constants::ALLOCATION_MANAGED
            if location.kind == constants::LOCATION_NONE || location.is_host() && is_node =>
        {
            Ok((first()?, (Home::Managed, location)))
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

entries! {
    fn cuMemAllocAsync(pointer: *mut CUdeviceptr, size: usize, stream: CUstream) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        pointer.set(engine.allocate_ordered(to_u64(size), None, number(stream))?);
        Ok(())
    }

    fn cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, size: usize, pool: CUmemoryPool, stream: CUstream) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        let pool = engine.pools.find(number(pool))?;
        pointer.set(engine.allocate_ordered(to_u64(size), Some(pool), number(stream))?);
        Ok(())
    }

    fn cuMemFreeAsync(pointer: CUdeviceptr, stream: CUstream) |engine| {
        engine.free_ordered(pointer, number(stream))
    }

    fn cuMemPoolCreate(pool: *mut CUmemoryPool, props: *const CUmemPoolProps) |engine| {
        // SAFETY: as the caller promised; any bytes are a PoolProperties.
        let (pool, props) = unsafe { (Out::new(pool)?, read(props.cast::<PoolProperties>())?) };
        let (device, settings) = pool_of(engine, &props)?;
        pool.set(opaque(engine.pools.create(device, settings)));
        Ok(())
    }

    fn cuMemPoolDestroy(pool: CUmemoryPool) |engine| {
        if engine.shared_pools.close(number(pool)) {
            return Ok(());
        }
        engine.pools.destroy(number(pool))?;
        engine.shared_pools.forget(number(pool));
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) |engine| {
        engine.captures.refuse_unsafe_call()?;
        engine.pools.find(number(pool))?.trim(to_u64(keep));
        Ok(())
    }

    fn cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void) |engine| {
        engine.captures.refuse_unsafe_call()?;
        let pool = engine.pools.find(number(pool))?;
        let mut state = pool.state();
        // SAFETY: as the caller promised: a value of the attribute's type, or null.
        let flag = || unsafe { read(value.cast::<c_int>()) }.map(|value| value != 0);
        // SAFETY: as above.
        let bytes = || unsafe { read(value.cast::<u64>()) };
        match attribute {
            constants::POOL_REUSE_EVENTS => state.reuse.events = flag()?,
            constants::POOL_REUSE_OPPORTUNISTIC => state.reuse.opportunistic = flag()?,
            constants::POOL_REUSE_INTERNAL => state.reuse.internal = flag()?,
            constants::POOL_RELEASE_THRESHOLD => state.threshold = bytes()?,
            // High-water marks can only be reset.
            constants::POOL_RESERVED_HIGH if bytes()? == 0 => state.reserved.reset(),
            constants::POOL_USED_HIGH if bytes()? == 0 => state.used.reset(),
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void) |engine| {
        engine.captures.refuse_unsafe_call()?;
        let pool = engine.pools.find(number(pool))?;
        let state = pool.state();
        // SAFETY: as the caller promised: room for a value of the attribute's type, or null.
        let flag = |set: bool| unsafe { Out::new(value.cast::<c_int>()) }.map(|out| out.set(c_int::from(set)));
        // SAFETY: as above.
        let bytes = |bytes: u64| unsafe { Out::new(value.cast::<u64>()) }.map(|out| out.set(bytes));
        match attribute {
            constants::POOL_REUSE_EVENTS => flag(state.reuse.events),
            constants::POOL_REUSE_OPPORTUNISTIC => flag(state.reuse.opportunistic),
            constants::POOL_REUSE_INTERNAL => flag(state.reuse.internal),
            constants::POOL_RELEASE_THRESHOLD => bytes(state.threshold),
            constants::POOL_RESERVED_CURRENT => bytes(state.reserved.current),
            constants::POOL_RESERVED_HIGH => bytes(state.reserved.high),
            constants::POOL_USED_CURRENT => bytes(state.used.current),
            constants::POOL_USED_HIGH => bytes(state.used.high),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) |engine| {
        let imported = engine.shared_pools.is_imported(number(pool));
        let pool = if imported { None } else { Some(engine.pools.find(number(pool))?) };
        let mut wanted = Vec::new();
        for index in 0..count {
            // SAFETY: as the caller promised: `count` descriptors, for which any bytes are a value.
            let entry = unsafe { read(map.cast::<RawAccess>().wrapping_add(index))? };
            let device = device_index(engine, entry.location)?;
            let access = access_of(entry.flags)?;
            if imported && access != Access::ReadWrite {
                return Err(Status::NOT_SUPPORTED);
            }
            let is_own = |pool: &Arc<Pool>| pool.settings.home == Home::Device && pool.device.index == device;
            let own = pool.as_ref().is_some_and(is_own);
            if own && access != Access::ReadWrite {
                return Err(Status::INVALID_VALUE);
            }
            wanted.push((device, access));
        }
        // What is imported is open to its device from the start.
        let Some(pool) = pool else { return Ok(()) };
        wanted.into_iter().try_for_each(|(device, access)| pool.set_access(device, access))
    }

    fn cuMemPoolGetAccess(flags: *mut u32, pool: CUmemoryPool, location: *mut CUmemLocation) |engine| {
        let pool = engine.pools.find(number(pool))?;
        // SAFETY: as the caller promised; any bytes are a Location.
        let (flags, location) = unsafe { (Out::new(flags)?, read(location.cast::<Location>())?) };
        let access = if location.is_host() && pool.settings.home.is_open_to_host() {
            Access::ReadWrite
        } else {
            pool.access(device_index(engine, location)?)?
        };
        flags.set(match access {
            Access::None => 0,
            Access::Read => 1,
            Access::ReadWrite => 3,
        });
        Ok(())
    }

    fn cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let pool = unsafe { Out::new(pool)? };
        let device = engine.device(device)?;
        pool.set(opaque(engine.pools.default_of(device, Pool::place_of(device)).id));
        Ok(())
    }

    fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let pool = unsafe { Out::new(pool)? };
        let device = engine.device(device)?;
        pool.set(opaque(engine.pools.current_of(device, Pool::place_of(device)).id));
        Ok(())
    }

    fn cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) |engine| {
        engine.pools.set_current(Pool::place_of(engine.device(device)?), number(pool))
    }

    fn cuMemGetDefaultMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: u32) |engine| {
        // SAFETY: as the caller promised; any bytes are a Location.
        let (pool, location) = unsafe { (Out::new(pool)?, read(location.cast::<Location>())?) };
        let (device, place) = place(engine, location, kind)?;
        pool.set(opaque(engine.pools.default_of(device, place).id));
        Ok(())
    }

    fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: u32) |engine| {
        // SAFETY: as the caller promised; any bytes are a Location.
        let (pool, location) = unsafe { (Out::new(pool)?, read(location.cast::<Location>())?) };
        let (device, place) = place(engine, location, kind)?;
        pool.set(opaque(engine.pools.current_of(device, place).id));
        Ok(())
    }

    fn cuMemSetMemPool(location: *mut CUmemLocation, kind: u32, pool: CUmemoryPool) |engine| {
        // SAFETY: as the caller promised; any bytes are a Location.
        let location = unsafe { read(location.cast::<Location>())? };
        let (_, place) = place(engine, location, kind)?;
        engine.pools.set_current(place, number(pool))
    }

    fn cuMemPoolExportToShareableHandle(shareable: *mut c_void, pool: CUmemoryPool, handle_type: u32, flags: u64) |engine| {
        // SAFETY: as the caller promised: for this handle type the pointer is one to an int.
        let shareable = unsafe { Out::new(shareable.cast::<c_int>())? };
        if handle_type != HANDLE_TYPE_FD || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        shareable.set(engine.export_pool(number(pool))?.into_raw_fd());
        Ok(())
    }

    fn cuMemPoolImportFromShareableHandle(pool: *mut CUmemoryPool, os_handle: *mut c_void, handle_type: u32, flags: u64) |engine| {
        // SAFETY: as the caller promised.
        let pool = unsafe { Out::new(pool)? };
        if handle_type != HANDLE_TYPE_FD || flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let fd = c_int::try_from(os_handle.addr()).map_err(|_| Status::INVALID_VALUE)?;
        pool.set(opaque(engine.import_pool(fd)?));
        Ok(())
    }

    fn cuMemPoolExportPointer(data: *mut CUmemPoolPtrExportData, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        let data = unsafe { Out::new(data)? };
        data.set(CUmemPoolPtrExportData { reserved: engine.export_pointer(pointer)? });
        Ok(())
    }

    fn cuMemPoolImportPointer(pointer: *mut CUdeviceptr, pool: CUmemoryPool, data: *mut CUmemPoolPtrExportData) |engine| {
        // SAFETY: as the caller promised.
        let (pointer, data) = unsafe { (Out::new(pointer)?, read(data.cast_const())?) };
        pointer.set(engine.import_pointer(number(pool), &data.reserved)?);
        Ok(())
    }
}
