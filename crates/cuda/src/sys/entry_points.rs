//! The one list of driver entry points.
//!
//! [`cuda_entry_points!`](crate::cuda_entry_points) and
//! [`nvml_entry_points!`](crate::nvml_entry_points) hand the list to a macro of the caller's, so
//! that the function table, the software driver's exports and the coverage checks can never
//! disagree. The name is the symbol that is looked up: versioned where the driver versions it.
//!
//! C enums are `u32` on both sides of the border, because a newer driver may return a number that
//! a closed Rust enum lacks.

/// Calls `$callback! { name(arg: Type, ...); ... }` with every entry point of `libcuda.so.1` that
/// Millpond uses. All of them return a [`Status`](crate::sys::Status).
#[macro_export]
macro_rules! cuda_entry_points {
    ($callback:ident) => {
        $callback! {
            // Driver and errors
            cuInit(flags: c_uint);
            cuDriverGetVersion(version: *mut c_int);
            cuGetErrorName(error: u32, name: *mut *const c_char);
            cuGetErrorString(error: u32, text: *mut *const c_char);
            cuGetProcAddress_v2(symbol: *const c_char, function: *mut *mut c_void, cuda_version: c_int, flags: u64, status: *mut u32);
            // Devices
            cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
            cuDeviceGetCount(count: *mut c_int);
            cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
            cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
            cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
            cuDeviceGetAttribute(value: *mut c_int, attribute: u32, device: CUdevice);
            cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: CUdevice);
            // Contexts
            cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
            cuDevicePrimaryCtxRelease_v2(device: CUdevice);
            cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
            cuCtxGetCurrent(context: *mut CUcontext);
            cuCtxSetCurrent(context: CUcontext);
            cuCtxPushCurrent_v2(context: CUcontext);
            cuCtxPopCurrent_v2(context: *mut CUcontext);
            cuCtxGetDevice(device: *mut CUdevice);
            cuCtxSynchronize();
            cuThreadExchangeStreamCaptureMode(mode: *mut u32);
            // Memory readings
            cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
            cuPointerGetAttribute(data: *mut c_void, attribute: u32, pointer: CUdeviceptr);
            // Virtual memory management
            cuMemAddressReserve(pointer: *mut CUdeviceptr, size: usize, alignment: usize, address: CUdeviceptr, flags: u64);
            cuMemAddressFree(pointer: CUdeviceptr, size: usize);
            cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64);
            cuMemRelease(handle: CUmemGenericAllocationHandle);
            cuMemMap(pointer: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64);
            cuMemUnmap(pointer: CUdeviceptr, size: usize);
            cuMemSetAccess(pointer: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
            cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, pointer: CUdeviceptr);
            cuMemExportToShareableHandle(shareable: *mut c_void, handle: CUmemGenericAllocationHandle, handle_type: u32, flags: u64);
            cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, os_handle: *mut c_void, handle_type: u32);
            cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: u32);
            cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle);
            cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, address: *mut c_void);
            // Linear and pinned memory
            cuMemAlloc_v2(pointer: *mut CUdeviceptr, size: usize);
            cuMemFree_v2(pointer: CUdeviceptr);
            cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, flags: c_uint);
            cuMemFreeHost(pointer: *mut c_void);
            cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: c_uint);
            cuMemHostUnregister(pointer: *mut c_void);
            cuMemGetAddressRange_v2(base: *mut CUdeviceptr, size: *mut usize, pointer: CUdeviceptr);
            // Memory and events between processes by legacy handles
            cuIpcGetMemHandle(handle: *mut CUipcMemHandle, pointer: CUdeviceptr);
            cuIpcOpenMemHandle_v2(pointer: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint);
            cuIpcCloseMemHandle(pointer: CUdeviceptr);
            cuIpcGetEventHandle(handle: *mut CUipcEventHandle, event: CUevent);
            cuIpcOpenEventHandle(event: *mut CUevent, handle: CUipcEventHandle);
            // Copies and memset
            cuMemcpyHtoD_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize);
            cuMemcpyDtoH_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize);
            cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize);
            cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream);
            cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream);
            cuMemsetD8_v2(dst: CUdeviceptr, value: c_uchar, count: usize);
            cuMemsetD8Async(dst: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
            cuMemsetD32_v2(dst: CUdeviceptr, value: c_uint, count: usize);
            cuMemsetD32Async(dst: CUdeviceptr, value: c_uint, count: usize, stream: CUstream);
            // Streams and events
            cuStreamCreate(stream: *mut CUstream, flags: c_uint);
            cuStreamDestroy_v2(stream: CUstream);
            cuStreamSynchronize(stream: CUstream);
            cuStreamQuery(stream: CUstream);
            cuStreamGetId(stream: CUstream, id: *mut u64);
            cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
            cuEventCreate(event: *mut CUevent, flags: c_uint);
            cuEventDestroy_v2(event: CUevent);
            cuEventRecord(event: CUevent, stream: CUstream);
            cuEventQuery(event: CUevent);
            cuEventSynchronize(event: CUevent);
            cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
            // Modules
            cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
            cuModuleUnload(module: CUmodule);
            cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
            cuLaunchKernel(function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: CUstream, params: *mut *mut c_void, extra: *mut *mut c_void);
            // Pitched and managed memory
            cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint);
            cuMemAllocManaged(pointer: *mut CUdeviceptr, size: usize, flags: c_uint);
            // Stream-ordered memory and pools
            cuMemAllocAsync(pointer: *mut CUdeviceptr, size: usize, stream: CUstream);
            cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, size: usize, pool: CUmemoryPool, stream: CUstream);
            cuMemFreeAsync(pointer: CUdeviceptr, stream: CUstream);
            cuMemPoolCreate(pool: *mut CUmemoryPool, props: *const CUmemPoolProps);
            cuMemPoolDestroy(pool: CUmemoryPool);
            cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize);
            cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void);
            cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: u32, value: *mut c_void);
            cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
            cuMemPoolGetAccess(flags: *mut u32, pool: CUmemoryPool, location: *mut CUmemLocation);
            cuMemPoolExportToShareableHandle(shareable: *mut c_void, pool: CUmemoryPool, handle_type: u32, flags: u64);
            cuMemPoolImportFromShareableHandle(pool: *mut CUmemoryPool, os_handle: *mut c_void, handle_type: u32, flags: u64);
            cuMemPoolExportPointer(data: *mut CUmemPoolPtrExportData, pointer: CUdeviceptr);
            cuMemPoolImportPointer(pointer: *mut CUdeviceptr, pool: CUmemoryPool, data: *mut CUmemPoolPtrExportData);
            cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice);
            cuDeviceGetMemPool(pool: *mut CUmemoryPool, device: CUdevice);
            cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool);
            // Capture, and graphs as holders of memory
            cuStreamBeginCapture_v2(stream: CUstream, mode: u32);
            cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
            cuStreamIsCapturing(stream: CUstream, status: *mut u32);
            cuStreamGetCaptureInfo_v2(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, count: *mut usize);
            cuGraphCreate(graph: *mut CUgraph, flags: c_uint);
            cuGraphDestroy(graph: CUgraph);
            cuGraphAddMemAllocNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
            cuGraphAddMemFreeNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, pointer: CUdeviceptr);
            cuGraphAddMemsetNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext);
            cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
            cuGraphNodeGetType(node: CUgraphNode, kind: *mut u32);
            cuGraphMemAllocNodeGetParams(node: CUgraphNode, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
            cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
            cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
            cuGraphExecDestroy(exec: CUgraphExec);
            cuDeviceGetGraphMemAttribute(device: CUdevice, attribute: u32, value: *mut c_void);
            cuDeviceSetGraphMemAttribute(device: CUdevice, attribute: u32, value: *mut c_void);
            cuDeviceGraphMemTrim(device: CUdevice);
        }
    };
}

/// Calls `$callback! { name(arg: Type, ...); ... }` with every entry point of
/// `libnvidia-ml.so.1` that Millpond uses.
#[macro_export]
macro_rules! nvml_entry_points {
    ($callback:ident) => {
        $callback! {
            nvmlInit_v2();
            nvmlShutdown();
            nvmlSystemGetDriverVersion(version: *mut c_char, len: c_uint);
            nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int);
            nvmlDeviceGetCount_v2(count: *mut c_uint);
            nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut NvmlDevice);
            nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut NvmlDevice);
            nvmlDeviceGetUUID(device: NvmlDevice, uuid: *mut c_char, len: c_uint);
            nvmlDeviceGetName(device: NvmlDevice, name: *mut c_char, len: c_uint);
            nvmlDeviceGetMemoryInfo(device: NvmlDevice, memory: *mut NvmlMemory);
            nvmlDeviceGetUtilizationRates(device: NvmlDevice, utilization: *mut NvmlUtilization);
            nvmlDeviceGetTemperature(device: NvmlDevice, sensor: c_uint, celsius: *mut c_uint);
            nvmlDeviceGetPowerUsage(device: NvmlDevice, milliwatts: *mut c_uint);
            nvmlDeviceGetEnforcedPowerLimit(device: NvmlDevice, milliwatts: *mut c_uint);
            nvmlDeviceGetFanSpeed(device: NvmlDevice, percent: *mut c_uint);
            nvmlDeviceGetComputeRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo);
        }
    };
}
