//! The functions for programs whose default stream is their thread's own.
//!
//! The real driver exports each function that can use a default stream twice. The second one's name
//! ends in `_ptsz` (it takes a stream) or `_ptds` (it has none), and there stream 0 means the
//! calling thread's own stream. `cuGetProcAddress` gives it out for the flag
//! `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`, under the same base name.

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use millpond_cuda::sys::{
    CUarray, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemLocation,
    CUmemoryPool, CUstream, Status,
};

use crate::engine::default_stream::with_own_stream;

/// Calls `$callback! { twin = function(arg: Type, ...); ... }` with every such pair.
#[macro_export]
macro_rules! twin_entry_points {
    ($callback:ident) => {
        $callback! {
            cuMemcpy_ptds = cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize);
            cuMemcpyAsync_ptsz = cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemcpyHtoD_v2_ptds = cuMemcpyHtoD_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize);
            cuMemcpyDtoH_v2_ptds = cuMemcpyDtoH_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize);
            cuMemcpyDtoD_v2_ptds = cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize);
            cuMemcpyHtoDAsync_v2_ptsz = cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream);
            cuMemcpyDtoHAsync_v2_ptsz = cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemcpyDtoDAsync_v2_ptsz = cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemcpyHtoA_v2_ptds = cuMemcpyHtoA_v2(to: CUarray, offset: usize, from: *const c_void, bytes: usize);
            cuMemcpyAtoH_v2_ptds = cuMemcpyAtoH_v2(to: *mut c_void, from: CUarray, offset: usize, bytes: usize);
            cuMemcpyDtoA_v2_ptds = cuMemcpyDtoA_v2(to: CUarray, offset: usize, from: CUdeviceptr, bytes: usize);
            cuMemcpyAtoD_v2_ptds = cuMemcpyAtoD_v2(to: CUdeviceptr, from: CUarray, offset: usize, bytes: usize);
            cuMemcpyAtoA_v2_ptds = cuMemcpyAtoA_v2(to: CUarray, to_offset: usize, from: CUarray, from_offset: usize, bytes: usize);
            cuMemcpyHtoAAsync_v2_ptsz = cuMemcpyHtoAAsync_v2(to: CUarray, offset: usize, from: *const c_void, bytes: usize, stream: CUstream);
            cuMemcpyAtoHAsync_v2_ptsz = cuMemcpyAtoHAsync_v2(to: *mut c_void, from: CUarray, offset: usize, bytes: usize, stream: CUstream);
            cuMemsetD8_v2_ptds = cuMemsetD8_v2(dst: CUdeviceptr, value: c_uchar, count: usize);
            cuMemsetD8Async_ptsz = cuMemsetD8Async(dst: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
            cuMemsetD16_v2_ptds = cuMemsetD16_v2(dst: CUdeviceptr, value: c_ushort, count: usize);
            cuMemsetD16Async_ptsz = cuMemsetD16Async(dst: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream);
            cuMemsetD32_v2_ptds = cuMemsetD32_v2(dst: CUdeviceptr, value: c_uint, count: usize);
            cuMemsetD32Async_ptsz = cuMemsetD32Async(dst: CUdeviceptr, value: c_uint, count: usize, stream: CUstream);
            cuStreamSynchronize_ptsz = cuStreamSynchronize(stream: CUstream);
            cuStreamQuery_ptsz = cuStreamQuery(stream: CUstream);
            cuStreamGetId_ptsz = cuStreamGetId(stream: CUstream, id: *mut u64);
            cuStreamWaitEvent_ptsz = cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
            cuEventRecord_ptsz = cuEventRecord(event: CUevent, stream: CUstream);
            cuMemAllocAsync_ptsz = cuMemAllocAsync(pointer: *mut CUdeviceptr, size: usize, stream: CUstream);
            cuMemAllocFromPoolAsync_ptsz = cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, size: usize, pool: CUmemoryPool, stream: CUstream);
            cuMemFreeAsync_ptsz = cuMemFreeAsync(pointer: CUdeviceptr, stream: CUstream);
            cuMemPrefetchAsync_v2_ptsz = cuMemPrefetchAsync_v2(pointer: CUdeviceptr, bytes: usize, location: u64, flags: c_uint, stream: CUstream);
            cuMemPrefetchBatchAsync_ptsz = cuMemPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream);
            cuMemDiscardBatchAsync_ptsz = cuMemDiscardBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, stream: CUstream);
            cuMemDiscardAndPrefetchBatchAsync_ptsz = cuMemDiscardAndPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream);
            cuStreamBeginCapture_v2_ptsz = cuStreamBeginCapture_v2(stream: CUstream, mode: u32);
            cuStreamEndCapture_ptsz = cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
            cuStreamIsCapturing_ptsz = cuStreamIsCapturing(stream: CUstream, status: *mut u32);
            cuStreamGetCaptureInfo_v2_ptsz = cuStreamGetCaptureInfo_v2(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, count: *mut usize);
            cuStreamGetCaptureInfo_v3_ptsz = cuStreamGetCaptureInfo_v3(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, edges: *mut *const c_void, count: *mut usize);
            cuGraphInstantiateWithParams_ptsz = cuGraphInstantiateWithParams(exec: *mut CUgraphExec, graph: CUgraph, params: *mut c_void);
            cuGraphUpload_ptsz = cuGraphUpload(exec: CUgraphExec, stream: CUstream);
            cuGraphLaunch_ptsz = cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
            cuLaunchKernel_ptsz = cuLaunchKernel(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: CUstream, params: *mut *mut c_void, extra: *mut *mut c_void);
        }
    };
}

macro_rules! twins {
    ($($twin:ident = $name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` with the thread's own stream as stream 0.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that CUDA documents for this call.
            pub unsafe extern "C" fn $twin($($arg: $type),*) -> Status {
                // SAFETY: as the caller promised.
                with_own_stream(|| unsafe { super::$name($($arg),*) })
            }
        )*
    };
}
twin_entry_points!(twins);
