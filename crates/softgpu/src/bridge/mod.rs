//! The C functions: argument checks, and no panic crosses into C.
//!
//! The lists of `millpond_cuda` say which functions there are. The tables below are made from them,
//! so a function of the list that is missing here does not compile. What is not in any list does not
//! exist: `dlsym` and `cuGetProcAddress` do not find it.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

mod arrays;
mod contexts;
mod copies;
mod devices;
mod driver;
mod graphs;
mod ipc;
mod linear;
mod lookup;
mod managed;
mod memory;
mod modules;
mod nvml;
mod nvml_processes;
mod pools;
mod streams;
mod twins;
mod versions;

pub use arrays::*;
pub use contexts::*;
pub use copies::*;
pub use devices::*;
pub use driver::*;
pub use graphs::*;
pub use ipc::*;
pub use linear::*;
pub use managed::*;
pub use memory::*;
pub use modules::*;
pub use nvml::*;
pub use nvml_processes::*;
pub use pools::*;
pub use streams::*;
pub use twins::*;

pub use lookup::{announce_exports, cuda_symbol, full_name, nvml_symbol};

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use millpond_cuda::sys::{NvmlStatus, Status};

use crate::engine::system::{to_u64, to_usize};
use crate::engine::{Engine, engine};
use crate::faults;

/// Calls `$callback!` with the entry points that the software driver has beyond the one list, in the
/// same form: what ordinary programs of the driver API ask for.
#[macro_export]
macro_rules! extra_entry_points {
    ($callback:ident) => {
        $callback! {
            cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, cuda_version: c_int, flags: u64);
            cuGetExportTable(table: *mut *const c_void, id: *const CUuuid);
            cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice);
            cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: CUdevice);
            cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);
            cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint);
            cuDevicePrimaryCtxReset_v2(device: CUdevice);
            cuCtxCreate_v2(context: *mut CUcontext, flags: c_uint, device: CUdevice);
            cuCtxCreate_v3(context: *mut CUcontext, affinities: *mut c_void, count: c_int, flags: c_uint, device: CUdevice);
            cuCtxCreate_v4(context: *mut CUcontext, params: *mut c_void, flags: c_uint, device: CUdevice);
            cuCtxDestroy_v2(context: CUcontext);
            cuCtxGetDevice_v2(device: *mut CUdevice, context: CUcontext);
            cuCtxSynchronize_v2(context: CUcontext);
            cuCtxGetApiVersion(context: CUcontext, version: *mut c_uint);
            cuCtxGetId(context: CUcontext, id: *mut u64);
            cuCtxGetFlags(flags: *mut c_uint);
            cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
            cuCtxGetLimit(value: *mut usize, limit: u32);
            cuCtxSetLimit(limit: u32, value: usize);
            cuMemAllocHost_v2(pointer: *mut *mut c_void, size: usize);
            cuMemHostGetDevicePointer_v2(pointer: *mut CUdeviceptr, host: *mut c_void, flags: c_uint);
            cuImportExternalMemory(memory: *mut *mut c_void, descriptor: *const c_void);
            cuExternalMemoryGetMappedBuffer(pointer: *mut CUdeviceptr, memory: *mut c_void, descriptor: *const c_void);
            cuDestroyExternalMemory(memory: *mut c_void);
            cuArrayCreate_v2(array: *mut CUarray, descriptor: *const ArrayDescriptor);
            cuArray3DCreate_v2(array: *mut CUarray, descriptor: *const Array3dDescriptor);
            cuArrayDestroy(array: CUarray);
            cuArrayGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: CUarray);
            cuArray3DGetDescriptor_v2(descriptor: *mut Array3dDescriptor, array: CUarray);
            cuArrayGetMemoryRequirements(out: *mut ArrayMemoryRequirements, array: CUarray, device: CUdevice);
            cuMipmappedArrayCreate(mipmap: *mut CUmipmappedArray, descriptor: *const Array3dDescriptor, levels: c_uint);
            cuMipmappedArrayDestroy(mipmap: CUmipmappedArray);
            cuMipmappedArrayGetLevel(array: *mut CUarray, mipmap: CUmipmappedArray, level: c_uint);
            cuMipmappedArrayGetMemoryRequirements(out: *mut ArrayMemoryRequirements, mipmap: CUmipmappedArray, device: CUdevice);
            cuMemcpyHtoA_v2(to: CUarray, offset: usize, from: *const c_void, bytes: usize);
            cuMemcpyAtoH_v2(to: *mut c_void, from: CUarray, offset: usize, bytes: usize);
            cuMemcpyDtoA_v2(to: CUarray, offset: usize, from: CUdeviceptr, bytes: usize);
            cuMemcpyAtoD_v2(to: CUdeviceptr, from: CUarray, offset: usize, bytes: usize);
            cuMemcpyAtoA_v2(to: CUarray, to_offset: usize, from: CUarray, from_offset: usize, bytes: usize);
            cuMemcpyHtoAAsync_v2(to: CUarray, offset: usize, from: *const c_void, bytes: usize, stream: CUstream);
            cuMemcpyAtoHAsync_v2(to: *mut c_void, from: CUarray, offset: usize, bytes: usize, stream: CUstream);
            cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize);
            cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemsetD16_v2(dst: CUdeviceptr, value: c_ushort, count: usize);
            cuMemsetD16Async(dst: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream);
            cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
            cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
            cuPointerGetAttributes(count: c_uint, attributes: *const u32, data: *mut *mut c_void, pointer: CUdeviceptr);
            // Managed memory, pools, graphs
            cuMemPrefetchAsync_v2(pointer: CUdeviceptr, bytes: usize, location: u64, flags: c_uint, stream: CUstream);
            cuMemPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream);
            cuMemDiscardBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, stream: CUstream);
            cuMemDiscardAndPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream);
            cuMemRangeGetAttribute(data: *mut c_void, bytes: usize, attribute: u32, pointer: CUdeviceptr, count: usize);
            cuMemAdvise_v2(pointer: CUdeviceptr, bytes: usize, advice: u32, location: u64);
            cuStreamGetCaptureInfo_v3(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, edges: *mut *const c_void, count: *mut usize);
            cuGraphMemFreeNodeGetParams(node: CUgraphNode, pointer: *mut CUdeviceptr);
            cuGraphInstantiateWithParams(exec: *mut CUgraphExec, graph: CUgraph, params: *mut c_void);
            cuGraphUpload(exec: CUgraphExec, stream: CUstream);
            cuGraphAddNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *mut c_void);
            cuGraphAddNode_v2(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, edges: *const c_void, count: usize, params: *mut c_void);
            cuMemGetDefaultMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: u32);
            cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: u32);
            cuMemSetMemPool(location: *mut CUmemLocation, kind: u32, pool: CUmemoryPool);
        }
    };
}

/// Calls `$callback! { alias = symbol(arg: Type, ...); ... }` with the unversioned names under which
/// programs ask for a function. (The real driver's unversioned names are CUDA 3's functions.)
#[macro_export]
macro_rules! alias_entry_points {
    ($callback:ident) => {
        $callback! {
            cuDeviceTotalMem = cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
            cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2(device: CUdevice);
            cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint);
            cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2(device: CUdevice);
            cuCtxCreate = cuCtxCreate_v2(context: *mut CUcontext, flags: c_uint, device: CUdevice);
            cuCtxDestroy = cuCtxDestroy_v2(context: CUcontext);
            cuCtxPushCurrent = cuCtxPushCurrent_v2(context: CUcontext);
            cuCtxPopCurrent = cuCtxPopCurrent_v2(context: *mut CUcontext);
            cuMemGetInfo = cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
            cuMemAlloc = cuMemAlloc_v2(pointer: *mut CUdeviceptr, size: usize);
            cuMemFree = cuMemFree_v2(pointer: CUdeviceptr);
            cuMemAllocPitch = cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint);
            cuMemAllocHost = cuMemAllocHost_v2(pointer: *mut *mut c_void, size: usize);
            cuMemHostGetDevicePointer = cuMemHostGetDevicePointer_v2(pointer: *mut CUdeviceptr, host: *mut c_void, flags: c_uint);
            cuMemHostRegister = cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: c_uint);
            cuMemGetAddressRange = cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, pointer: CUdeviceptr);
            cuIpcOpenMemHandle = cuIpcOpenMemHandle_v2(pointer: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint);
            cuArrayCreate = cuArrayCreate_v2(array: *mut CUarray, descriptor: *const ArrayDescriptor);
            cuArray3DCreate = cuArray3DCreate_v2(array: *mut CUarray, descriptor: *const Array3dDescriptor);
            cuArrayGetDescriptor = cuArrayGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: CUarray);
            cuArray3DGetDescriptor = cuArray3DGetDescriptor_v2(descriptor: *mut Array3dDescriptor, array: CUarray);
            cuMemcpyHtoD = cuMemcpyHtoD_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize);
            cuMemcpyDtoH = cuMemcpyDtoH_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize);
            cuMemcpyDtoD = cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize);
            cuMemcpyHtoDAsync = cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream);
            cuMemcpyDtoHAsync = cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemcpyDtoDAsync = cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemsetD8 = cuMemsetD8_v2(dst: CUdeviceptr, value: c_uchar, count: usize);
            cuMemsetD16 = cuMemsetD16_v2(dst: CUdeviceptr, value: c_ushort, count: usize);
            cuMemsetD32 = cuMemsetD32_v2(dst: CUdeviceptr, value: c_uint, count: usize);
            cuStreamDestroy = cuStreamDestroy_v2(stream: CUstream);
            cuEventDestroy = cuEventDestroy_v2(event: CUevent);
        }
    };
}

/// Calls `$callback!` with NVML's entry points beyond the one list, in the same form.
#[macro_export]
macro_rules! nvml_extra_entry_points {
    ($callback:ident) => {
        $callback! {
            nvmlInitWithFlags(flags: c_uint);
            nvmlDeviceGetIndex(device: NvmlDevice, index: *mut c_uint);
            nvmlDeviceGetHandleByPciBusId_v2(id: *const c_char, device: *mut NvmlDevice);
            nvmlDeviceGetPciInfo_v3(device: NvmlDevice, pci: *mut NvmlPciInfo);
            nvmlDeviceGetMemoryInfo_v2(device: NvmlDevice, memory: *mut NvmlMemoryV2);
            nvmlDeviceGetComputeRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1);
            nvmlDeviceGetComputeRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
            nvmlDeviceGetGraphicsRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1);
            nvmlDeviceGetGraphicsRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
            nvmlDeviceGetGraphicsRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
            nvmlDeviceGetMPSComputeRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1);
            nvmlDeviceGetMPSComputeRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
            nvmlDeviceGetMPSComputeRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
            nvmlInternalGetExportTable(table: *mut *const c_void, id: *const c_void);
        }
    };
}

/// The same for NVML.
#[macro_export]
macro_rules! nvml_alias_entry_points {
    ($callback:ident) => {
        $callback! {
            nvmlInit = nvmlInit_v2();
            nvmlSystemGetCudaDriverVersion = nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int);
            nvmlDeviceGetCount = nvmlDeviceGetCount_v2(count: *mut c_uint);
            nvmlDeviceGetHandleByIndex = nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut NvmlDevice);
        }
    };
}

/// Runs a call's body and turns its result, or its panic, into a status.
fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => Status::UNKNOWN,
    }
}

/// A call that needs `cuInit`.
fn call(name: &'static str, body: impl FnOnce(&'static Engine) -> Result<(), Status>) -> Status {
    guard(|| {
        let engine = engine()?;
        faults::meet(name)?;
        body(engine)
    })
}

/// The same for NVML's codes.
fn nvml_call(name: &'static str, body: impl FnOnce() -> Result<(), NvmlStatus>) -> NvmlStatus {
    let guarded = || {
        faults::meet(name).map_err(|status| NvmlStatus(status.0))?;
        body()
    };
    match catch_unwind(AssertUnwindSafe(guarded)) {
        Ok(Ok(())) => NvmlStatus::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => NvmlStatus::UNKNOWN,
    }
}

/// Makes C functions from bodies that get the engine.
macro_rules! entries {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) |$engine:ident| $body:block)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, as CUDA documents it.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that CUDA documents for this call.
            pub unsafe extern "C" fn $name($($arg: $type),*) -> millpond_cuda::sys::Status {
                super::call(stringify!($name), |$engine| $body)
            }
        )*
    };
}
use entries;

/// An out-parameter that is not null.
struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Safety
    /// The pointer is null or valid for writing one `T` until [`Out::set`].
    unsafe fn new(pointer: *mut T) -> Result<Self, Status> {
        NonNull::new(pointer).map(Self).ok_or(Status::INVALID_VALUE)
    }

    fn set(self, value: T) {
        // SAFETY: valid for writing, as `new` was promised; C programs may align badly.
        unsafe { self.0.as_ptr().write_unaligned(value) };
    }
}

/// The number behind an opaque pointer of the program.
fn number<T>(pointer: *mut T) -> u64 {
    to_u64(pointer.addr())
}

/// A number as an opaque pointer of the program.
fn opaque<T>(number: u64) -> *mut T {
    std::ptr::without_provenance_mut(to_usize(number))
}

/// The address of the program's memory, for the kernel to copy from or to.
fn host_address(pointer: *const c_void) -> usize {
    pointer.expose_provenance()
}

/// Copies a text with its NUL into a C buffer; `false` when it does not fit.
///
/// # Safety
/// The buffer is valid for writing `len` bytes.
unsafe fn put_text(text: &str, buffer: *mut std::ffi::c_char, len: usize) -> bool {
    if text.len() >= len {
        return false;
    }
    // SAFETY: `len` is more than the text, and the buffer has it, as the caller promised.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
        buffer.add(text.len()).write(0);
    }
    true
}
