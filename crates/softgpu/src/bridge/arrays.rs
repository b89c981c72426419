//! Arrays and mipmaps: made, described and destroyed. Copies to and from them are refused.

use std::ffi::{c_uint, c_void};

use millpond_cuda::sys::{
    Array3dDescriptor, ArrayDescriptor, ArrayMemoryRequirements, CUarray, CUdevice, CUdeviceptr,
    CUmipmappedArray, CUstream, Status,
};

use super::{Out, entries, number, opaque};
use crate::engine::Engine;
use crate::engine::arrays::{ALIGNMENT, Shape};
use crate::engine::system::{to_u64, to_usize};

/// # Safety
/// The pointer is null or valid for reading one descriptor.
unsafe fn shape_of(descriptor: *const Array3dDescriptor) -> Result<Shape, Status> {
    if descriptor.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: not null, and valid as the caller promised; any bytes are a descriptor.
    let descriptor = unsafe { descriptor.read_unaligned() };
    Ok(Shape {
        width: to_u64(descriptor.width),
        height: to_u64(descriptor.height),
        depth: to_u64(descriptor.depth),
        format: descriptor.format,
        channels: descriptor.channels,
        flags: descriptor.flags,
    })
}

fn requirements(
    engine: &Engine,
    requirements: *mut ArrayMemoryRequirements,
    array: u64,
    mipmap: bool,
    device: CUdevice,
) -> Result<(), Status> {
    engine.device(device)?;
    // SAFETY: the callers below were promised a pointer that is null or valid for writing.
    let requirements = unsafe { Out::new(requirements)? };
    requirements.set(ArrayMemoryRequirements {
        size: to_usize(engine.arrays.requirements(array, mipmap)?),
        alignment: to_usize(ALIGNMENT),
        reserved: [0; 4],
    });
    Ok(())
}

entries! {
    fn cuArrayCreate_v2(array: *mut CUarray, descriptor: *const ArrayDescriptor) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let array = unsafe { Out::new(array)? };
        if descriptor.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, and valid for reading as the caller promised; any bytes are a descriptor.
        let descriptor = unsafe { descriptor.read_unaligned() };
        let shape = Shape {
            width: to_u64(descriptor.width),
            height: to_u64(descriptor.height),
            depth: 0,
            format: descriptor.format,
            channels: descriptor.channels,
            flags: 0,
        };
        array.set(opaque(engine.arrays.create(context, shape)?));
        Ok(())
    }

    fn cuArray3DCreate_v2(array: *mut CUarray, descriptor: *const Array3dDescriptor) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let (array, shape) = unsafe { (Out::new(array)?, shape_of(descriptor)?) };
        array.set(opaque(engine.arrays.create(context, shape)?));
        Ok(())
    }

    fn cuArrayDestroy(array: CUarray) |engine| { engine.arrays.destroy(number(array), false) }

    fn cuArrayGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: CUarray) |engine| {
        // SAFETY: as the caller promised.
        let descriptor = unsafe { Out::new(descriptor)? };
        let shape = engine.arrays.shape(number(array))?;
        descriptor.set(ArrayDescriptor {
            width: to_usize(shape.width),
            height: to_usize(shape.height),
            format: shape.format,
            channels: shape.channels,
        });
        Ok(())
    }

    fn cuArray3DGetDescriptor_v2(descriptor: *mut Array3dDescriptor, array: CUarray) |engine| {
        // SAFETY: as the caller promised.
        let descriptor = unsafe { Out::new(descriptor)? };
        let shape = engine.arrays.shape(number(array))?;
        descriptor.set(Array3dDescriptor {
            width: to_usize(shape.width),
            height: to_usize(shape.height),
            depth: to_usize(shape.depth),
            format: shape.format,
            channels: shape.channels,
            flags: shape.flags,
        });
        Ok(())
    }

    fn cuArrayGetMemoryRequirements(out: *mut ArrayMemoryRequirements, array: CUarray, device: CUdevice) |engine| {
        requirements(engine, out, number(array), false, device)
    }

    fn cuMipmappedArrayCreate(mipmap: *mut CUmipmappedArray, descriptor: *const Array3dDescriptor, levels: c_uint) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let (mipmap, shape) = unsafe { (Out::new(mipmap)?, shape_of(descriptor)?) };
        mipmap.set(opaque(engine.arrays.create_mipmap(context, shape, levels)?));
        Ok(())
    }

    fn cuMipmappedArrayDestroy(mipmap: CUmipmappedArray) |engine| { engine.arrays.destroy(number(mipmap), true) }

    fn cuMipmappedArrayGetLevel(array: *mut CUarray, mipmap: CUmipmappedArray, level: c_uint) |engine| {
        // SAFETY: as the caller promised.
        let array = unsafe { Out::new(array)? };
        array.set(opaque(engine.arrays.level(number(mipmap), level)?));
        Ok(())
    }

    fn cuMipmappedArrayGetMemoryRequirements(out: *mut ArrayMemoryRequirements, mipmap: CUmipmappedArray, device: CUdevice) |engine| {
        requirements(engine, out, number(mipmap), true, device)
    }

    fn cuMemcpyHtoA_v2(_to: CUarray, _offset: usize, _from: *const c_void, _bytes: usize) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyAtoH_v2(_to: *mut c_void, _from: CUarray, _offset: usize, _bytes: usize) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyDtoA_v2(_to: CUarray, _offset: usize, _from: CUdeviceptr, _bytes: usize) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyAtoD_v2(_to: CUdeviceptr, _from: CUarray, _offset: usize, _bytes: usize) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyAtoA_v2(_to: CUarray, _to_offset: usize, _from: CUarray, _from_offset: usize, _bytes: usize) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyHtoAAsync_v2(_to: CUarray, _offset: usize, _from: *const c_void, _bytes: usize, _stream: CUstream) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuMemcpyAtoHAsync_v2(_to: *mut c_void, _from: CUarray, _offset: usize, _bytes: usize, _stream: CUstream) |_engine| { Err(Status::NOT_SUPPORTED) }
}
