//! The one list of entry points that are hooked.
//!
//! Names, table, exports and coverage are made from it, so they cannot disagree. Each line has the
//! action's class, the exported name, and the signature. C enums and results are `u32`, handles are
//! `usize`, because nothing here looks behind them.
//!
//! Spellings that differ in ABI have a line each and are never mixed: the driver's own answer says
//! which one a program gets.

/// Calls `$callback! { class name(arg: Type, ...); ... }` with every hooked entry point.
#[macro_export]
macro_rules! hooked_entry_points {
    ($callback:ident) => {
        $callback! {
            // How programs find the rest.
            resolver cuGetProcAddress(symbol: *const c_char, function: *mut usize, version: c_int, flags: u64);
            resolver cuGetProcAddress_v2(symbol: *const c_char, function: *mut usize, version: c_int, flags: u64, status: *mut u32);
            // Linear memory. The names without a version are CUDA 3's, with 32-bit sizes and addresses.
            reserve cuMemAlloc(pointer: usize, bytes: u64);
            reserve cuMemAllocPitch(pointer: usize, pitch: usize, width: u64, height: u64, element: c_uint);
            reserve cuMemAlloc_v2(pointer: *mut u64, bytes: usize);
            reserve cuMemAllocPitch_v2(pointer: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint);
            reserve cuMemAllocManaged(pointer: *mut u64, bytes: usize, flags: c_uint);
            free cuMemFree_v2(pointer: u64);
            // Stream-ordered memory and pools.
            reserve cuMemAllocAsync(pointer: *mut u64, bytes: usize, stream: usize);
            reserve cuMemAllocAsync_ptsz(pointer: *mut u64, bytes: usize, stream: usize);
            reserve cuMemAllocFromPoolAsync(pointer: *mut u64, bytes: usize, pool: usize, stream: usize);
            reserve cuMemAllocFromPoolAsync_ptsz(pointer: *mut u64, bytes: usize, pool: usize, stream: usize);
            free cuMemFreeAsync(pointer: u64, stream: usize);
            free cuMemFreeAsync_ptsz(pointer: u64, stream: usize);
            track cuMemPoolCreate(pool: *mut usize, properties: *const PoolProperties);
            free cuMemPoolDestroy(pool: usize);
            free cuMemPoolTrimTo(pool: usize, keep: usize);
            track cuDeviceSetMemPool(device: c_int, pool: usize);
            track cuMemSetMemPool(location: *const Location, kind: u32, pool: usize);
            track cuDeviceGetDefaultMemPool(pool: *mut usize, device: c_int);
            track cuDeviceGetMemPool(pool: *mut usize, device: c_int);
            track cuMemGetDefaultMemPool(pool: *mut usize, location: *mut Location, kind: u32);
            track cuMemGetMemPool(pool: *mut usize, location: *mut Location, kind: u32);
            track cuMemPoolImportFromShareableHandle(pool: *mut usize, handle: *mut c_void, kind: u32, flags: u64);
            reserve cuMemPoolImportPointer(pointer: *mut u64, pool: usize, data: *mut c_void);
            // Virtual memory management.
            reserve cuMemCreate(handle: *mut u64, bytes: usize, properties: *const AllocationProperties, flags: u64);
            free cuMemRelease(handle: u64);
            track cuMemRetainAllocationHandle(handle: *mut u64, address: *mut c_void);
            track cuMemMap(pointer: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
            free cuMemUnmap(pointer: u64, bytes: usize);
            track cuMemMapArrayAsync(list: *mut ArrayMapInfo, count: c_uint, stream: usize);
            track cuMemMapArrayAsync_ptsz(list: *mut ArrayMapInfo, count: c_uint, stream: usize);
            track cuMulticastBindMem(multicast: u64, multicast_offset: usize, handle: u64, offset: usize, bytes: usize, flags: u64);
            track cuMulticastBindMem_v2(multicast: u64, device: c_int, multicast_offset: usize, handle: u64, offset: usize, bytes: usize, flags: u64);
            track cuMulticastBindAddr_v2(multicast: u64, device: c_int, multicast_offset: usize, pointer: u64, bytes: usize, flags: u64);
            track cuMulticastBindAddr(multicast: u64, multicast_offset: usize, pointer: u64, bytes: usize, flags: u64);
            free cuMulticastUnbind(multicast: u64, device: c_int, offset: usize, bytes: usize);
            track cuMemExportToShareableHandle(shareable: *mut c_void, handle: u64, kind: u32, flags: u64);
            // Imports.
            reserve cuMemImportFromShareableHandle(handle: *mut u64, os_handle: *mut c_void, kind: u32);
            track cuIpcGetMemHandle(handle: *mut IpcHandle, pointer: u64);
            reserve cuIpcOpenMemHandle(pointer: *mut u64, handle: IpcHandle, flags: c_uint);
            reserve cuIpcOpenMemHandle_v2(pointer: *mut u64, handle: IpcHandle, flags: c_uint);
            free cuIpcCloseMemHandle(pointer: u64);
            reserve cuImportExternalMemory(memory: *mut usize, description: *const ExternalMemory);
            free cuDestroyExternalMemory(memory: usize);
            // Arrays. The creators without a version are CUDA 3's, with 32-bit extents.
            reserve cuArrayCreate(array: *mut usize, description: *const ArrayDescription32);
            reserve cuArray3DCreate(array: *mut usize, description: *const Array3DDescription32);
            reserve cuArrayCreate_v2(array: *mut usize, description: *const ArrayDescription);
            reserve cuArray3DCreate_v2(array: *mut usize, description: *const Array3DDescription);
            reserve cuMipmappedArrayCreate(array: *mut usize, description: *const Array3DDescription, levels: c_uint);
            free cuArrayDestroy(array: usize);
            free cuMipmappedArrayDestroy(array: usize);
            // Graphs that allocate.
            track cuGraphAddMemAllocNode(node: *mut usize, graph: usize, before: *const usize, count: usize, parameters: *mut c_void);
            track cuGraphAddNode(node: *mut usize, graph: usize, before: *const usize, count: usize, parameters: *mut c_void);
            track cuGraphAddNode_v2(node: *mut usize, graph: usize, before: *const usize, edges: *const c_void, count: usize, parameters: *mut c_void);
            track cuStreamBeginCapture(stream: usize);
            track cuStreamBeginCapture_ptsz(stream: usize);
            track cuStreamBeginCapture_v2(stream: usize, mode: u32);
            track cuStreamBeginCapture_v2_ptsz(stream: usize, mode: u32);
            track cuStreamBeginCaptureToGraph(stream: usize, graph: usize, before: *const usize, edges: *const c_void, count: usize, mode: u32);
            track cuStreamBeginCaptureToGraph_ptsz(stream: usize, graph: usize, before: *const usize, edges: *const c_void, count: usize, mode: u32);
            track cuStreamBeginRecaptureToGraph(stream: usize, mode: u32, graph: usize, callback: usize, data: *mut c_void);
            track cuStreamBeginRecaptureToGraph_ptsz(stream: usize, mode: u32, graph: usize, callback: usize, data: *mut c_void);
            track cuStreamEndCapture(stream: usize, graph: *mut usize);
            track cuStreamEndCapture_ptsz(stream: usize, graph: *mut usize);
            track cuStreamDestroy(stream: usize);
            track cuStreamDestroy_v2(stream: usize);
            reserve cuGraphInstantiate(exec: *mut usize, graph: usize, node: *mut usize, log: *mut c_char, bytes: usize);
            reserve cuGraphInstantiate_v2(exec: *mut usize, graph: usize, node: *mut usize, log: *mut c_char, bytes: usize);
            reserve cuGraphInstantiateWithFlags(exec: *mut usize, graph: usize, flags: u64);
            reserve cuGraphInstantiateWithParams(exec: *mut usize, graph: usize, parameters: *mut c_void);
            reserve cuGraphInstantiateWithParams_ptsz(exec: *mut usize, graph: usize, parameters: *mut c_void);
            reserve cuGraphUpload(exec: usize, stream: usize);
            reserve cuGraphUpload_ptsz(exec: usize, stream: usize);
            reserve cuGraphLaunch(exec: usize, stream: usize);
            reserve cuGraphLaunch_ptsz(exec: usize, stream: usize);
            free cuGraphExecDestroy(exec: usize);
            free cuDeviceGraphMemTrim(device: c_int);
            // Contexts.
            context cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int);
            context cuDevicePrimaryCtxRelease(device: c_int);
            context cuDevicePrimaryCtxRelease_v2(device: c_int);
            context cuDevicePrimaryCtxReset(device: c_int);
            context cuDevicePrimaryCtxReset_v2(device: c_int);
            context cuCtxCreate(context: *mut usize, flags: c_uint, device: c_int);
            context cuCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int);
            context cuCtxCreate_v3(context: *mut usize, affinity: *mut c_void, count: c_int, flags: c_uint, device: c_int);
            context cuCtxCreate_v4(context: *mut usize, parameters: *mut c_void, flags: c_uint, device: c_int);
            context cuCtxDestroy(context: usize);
            context cuCtxDestroy_v2(context: usize);
            context cuCtxAttach(context: *mut usize, flags: c_uint);
            context cuCtxDetach(context: usize);
            context cuGLCtxCreate(context: *mut usize, flags: c_uint, device: c_int);
            context cuGLCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int);
            context cuVDPAUCtxCreate(context: *mut usize, flags: c_uint, device: c_int, display: u32, lookup: *mut c_void);
            context cuVDPAUCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int, display: u32, lookup: *mut c_void);
            context cuGreenCtxCreate(context: *mut usize, description: usize, device: c_int, flags: c_uint);
            context cuGreenCtxDestroy(context: usize);
            context cuCtxSetLimit(limit: u32, value: usize);
            // Moments at which pools give memory back.
            sync cuStreamSynchronize(stream: usize);
            sync cuStreamSynchronize_ptsz(stream: usize);
            sync cuEventSynchronize(event: usize);
            sync cuCtxSynchronize();
            sync cuCtxSynchronize_v2(context: usize);
            // Answers about memory.
            query cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
            query cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
            query cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int);
            query nvmlDeviceGetMemoryInfo(device: usize, memory: *mut NvmlMemory);
            query nvmlDeviceGetMemoryInfo_v2(device: usize, memory: *mut NvmlMemoryV2);
            query nvmlDeviceGetName(device: usize, name: *mut c_char, len: c_uint);
        }
    };
}

/// Calls `$callback! { class name(arg: Type, ...); ... }` with the entry points that the hooks call
/// and do not replace.
macro_rules! called_entry_points {
    ($callback:ident) => {
        $callback! {
            call cuCtxGetDevice(device: *mut c_int);
            call cuCtxGetCurrent(context: *mut usize);
            call cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
            call cuDeviceGetCount(count: *mut c_int);
            call cuDeviceGetUuid(uuid: *mut [u8; 16], device: c_int);
            call cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int);
            call cuDeviceGetAttribute(value: *mut c_int, attribute: u32, device: c_int);
            call cuThreadExchangeStreamCaptureMode(mode: *mut u32);
            call cuArrayGetMemoryRequirements(requirements: *mut MemoryRequirements, array: usize, device: c_int);
            call cuMipmappedArrayGetMemoryRequirements(requirements: *mut MemoryRequirements, array: usize, device: c_int);
            call cuDeviceGetGraphMemAttribute(device: c_int, attribute: u32, value: *mut u64);
            call cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, pointer: u64);
            call cuMemGetAllocationPropertiesFromHandle(properties: *mut AllocationProperties, handle: u64);
            call cuMemPoolGetAttribute(pool: usize, attribute: u32, value: *mut u64);
            call cuMemPoolSetAttribute(pool: usize, attribute: u32, value: *mut u64);
            call cuStreamGetCtx(stream: usize, context: *mut usize);
            call cuStreamGetDevice(stream: usize, device: *mut c_int);
            call cuStreamIsCapturing(stream: usize, status: *mut u32);
            call cuStreamIsCapturing_ptsz(stream: usize, status: *mut u32);
            call cuGraphGetNodes(graph: usize, nodes: *mut usize, count: *mut usize);
            call cuGraphNodeGetType(node: usize, kind: *mut u32);
            call cuGraphChildGraphNodeGetGraph(node: usize, graph: *mut usize);
            call cuGraphMemAllocNodeGetParams(node: usize, parameters: *mut AllocationNode);
            call nvmlInit_v2();
            call nvmlShutdown();
            call nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut usize);
            call nvmlDeviceGetUUID(device: usize, uuid: *mut c_char, len: c_uint);
            call nvmlDeviceGetComputeRunningProcesses_v3(device: usize, count: *mut c_uint, infos: *mut NvmlProcess);
        }
    };
}
pub(crate) use called_entry_points;
