//! A part of a pool as a tensor.

use crate::error::{Result, VmmError};
use crate::virtual_memory::VirtualMemoryPool;
use crate::{frees, index, shape};
use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::cuda_backend::cudarc::driver::CudaStream;
use candle_core::op::BackpropOp;
use candle_core::{CudaDevice, CudaStorage, DType, Shape, Storage, Tensor};
use std::sync::{Arc, Weak};

/// The driver's names for its streams that nobody makes or destroys: none, the legacy one and that
/// of each thread.
const STREAMS_OF_THE_DRIVER: std::ops::RangeInclusive<usize> = 0..=2;

/// A tensor over allocated pages of a pool. It keeps them after the pool is dropped.
///
/// # Errors
/// A tensor that cannot be there: its type, shape or offset, a place outside of the pool, a page that
/// is not allocated. Calls to free that do not arrive here. What the driver answers.
pub(crate) fn over(
    pool: &VirtualMemoryPool,
    device: &CudaDevice,
    offset: usize,
    shape: Shape,
    dtype: DType,
) -> Result<Tensor> {
    let bytes = shape::bytes(offset, &shape, dtype)?;
    check_allocated(pool, offset, bytes)?;
    frees::check_linked()?;
    let address = (pool.base_address() + offset) as u64;
    let pages = pool.cache().clone();
    let (stream, mark) = stream_of(device)?;
    let slice = slice(&stream, address, shape.elem_count(), dtype)?;
    // Nothing can drop the slice before this, and nothing that follows can fail.
    frees::enter(address, bytes as u64, mark, pages);
    let storage = CudaStorage { slice, device: device.clone() };
    Ok(Tensor::from_storage(Storage::Cuda(storage), shape, BackpropOp::none(), false))
}

/// Refuses a part whose pages a tensor stands on; the part is widened to whole pages.
pub(crate) fn check_unused(pool: &VirtualMemoryPool, offset: usize, size: usize) -> Result<()> {
    let (page, base) = (pool.page_size(), pool.base_address());
    // A part that is not in the pool is the pool's to refuse.
    let Some(end) = offset.checked_add(size).filter(|end| size > 0 && *end <= pool.capacity())
    else {
        return Ok(());
    };
    let pages = offset / page * page..end.div_ceil(page) * page;
    let addresses = (base + pages.start) as u64..(base + pages.end) as u64;
    match frees::first_tensor_in(&addresses) {
        None => Ok(()),
        Some(tensor) => Err(VmmError::InUse {
            offset,
            size,
            // A tensor in the pages of a pool is in the pool.
            tensor_offset: index(tensor.start) - base,
            tensor_size: index(tensor.end - tensor.start),
        }),
    }
}

fn check_allocated(pool: &VirtualMemoryPool, offset: usize, size: usize) -> Result<()> {
    let (page, capacity) = (pool.page_size(), pool.capacity());
    if offset.checked_add(size).is_none_or(|end| end > capacity) {
        return Err(VmmError::InvalidOffset { offset, size, capacity });
    }
    if pool.is_mapped(offset, size) {
        return Ok(());
    }
    let first = offset / page * page;
    let missing = (first..offset + size).step_by(page).find(|&at| !pool.is_mapped(at, 1));
    Err(VmmError::NotMapped { offset: missing.unwrap_or(first), size: page })
}

/// The device's stream, for one tensor alone where that is possible: then it is the tensor's mark.
fn stream_of(device: &CudaDevice) -> Result<(Arc<CudaStream>, Option<Weak<CudaStream>>)> {
    let stream = device.cuda_stream();
    let context = stream.context();
    // An error that was kept for the next call is answered here; what follows would panic.
    context.bind_to_thread().map_err(|error| VmmError::cuda(error.to_string()))?;
    if !STREAMS_OF_THE_DRIVER.contains(&stream.cu_stream().addr()) {
        return Ok((stream, None));
    }
    // SAFETY: a stream of the driver itself lives as long as the context, which the value keeps. Its
    // work is ordered as that of the device's own stream, because it is the same.
    let stream = unsafe { context.wrap_borrowed_stream(stream.cu_stream()) };
    let mark = Arc::downgrade(&stream);
    Ok((stream, Some(mark)))
}

fn slice(
    stream: &Arc<CudaStream>,
    address: u64,
    count: usize,
    dtype: DType,
) -> Result<CudaStorageSlice> {
    macro_rules! of {
        ($($name:ident),*) => {
            match dtype {
                $(
                    // SAFETY: the caller has found so many elements at this address, aligned for
                    // them, and keeps their pages. Any bits are an element. What frees the slice
                    // is in `frees`, and leaves the memory alone.
                    DType::$name => CudaStorageSlice::$name(unsafe {
                        stream.upgrade_device_ptr(address, count)
                    }),
                )*
                _ => return Err(VmmError::NoWholeBytes { dtype }),
            }
        };
    }
    Ok(of!(U8, U32, I16, I32, I64, BF16, F16, F32, F64, F8E4M3, F8E8M0))
}
