//! The CUDA version that brought each function: what `cuGetProcAddress` chooses by.
//!
//! The names are the exported ones, of every family that the software driver has a part of. The
//! versions are those of NVIDIA's own table of types (`cudaTypedefs.h`).

use std::ffi::c_int;

#[rustfmt::skip]
const INTRODUCED: &[(c_int, &str)] = &[
    (2_000, "\
        cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayDestroy cuArrayGetDescriptor \
        cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxGetDevice cuCtxPopCurrent \
        cuCtxPushCurrent cuCtxSynchronize cuDeviceComputeCapability cuDeviceGet \
        cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetName cuDeviceGetProperties \
        cuDeviceTotalMem cuEventCreate cuEventDestroy cuEventElapsedTime cuEventQuery \
        cuEventRecord cuEventSynchronize cuInit cuMemAlloc cuMemAllocHost cuMemAllocPitch \
        cuMemFree cuMemFreeHost cuMemGetAddressRange cuMemGetInfo cuMemcpy2D cuMemcpy2DAsync \
        cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH \
        cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA \
        cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 \
        cuMemsetD2D8 cuMemsetD32 cuMemsetD8 cuModuleGetFunction cuModuleLoad cuModuleLoadData \
        cuModuleLoadFatBinary cuModuleUnload cuStreamCreate cuStreamDestroy cuStreamQuery \
        cuStreamSynchronize"),
    (2_010, "\
        cuModuleLoadDataEx"),
    (2_020, "\
        cuDriverGetVersion cuMemHostAlloc cuMemHostGetDevicePointer"),
    (2_030, "\
        cuMemHostGetFlags"),
    (3_000, "\
        cuGetExportTable cuMemcpyDtoDAsync"),
    (3_010, "\
        cuCtxGetLimit cuCtxSetLimit"),
    (3_020, "\
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayGetDescriptor_v2 \
        cuCtxCreate_v2 cuCtxGetApiVersion cuDeviceTotalMem_v2 cuMemAllocHost_v2 \
        cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2 \
        cuMemHostGetDevicePointer_v2 cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 \
        cuMemcpy3DAsync_v2 cuMemcpy3D_v2 cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 \
        cuMemcpyAtoH_v2 cuMemcpyDtoA_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 \
        cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 \
        cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 cuMemsetD2D16Async \
        cuMemsetD2D16_v2 cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8Async cuMemsetD2D8_v2 \
        cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2 cuStreamWaitEvent"),
    (4_000, "\
        cuCtxDestroy_v2 cuCtxGetCurrent cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxSetCurrent \
        cuDeviceCanAccessPeer cuEventDestroy_v2 cuLaunchKernel cuMemHostRegister \
        cuMemHostUnregister cuMemcpy cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpyAsync \
        cuMemcpyPeer cuMemcpyPeerAsync cuPointerGetAttribute cuStreamDestroy_v2"),
    (4_010, "\
        cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuIpcCloseMemHandle cuIpcGetEventHandle \
        cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle"),
    (5_000, "\
        cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel"),
    (5_050, "\
        cuCtxGetStreamPriorityRange cuStreamCreateWithPriority cuStreamGetFlags"),
    (6_000, "\
        cuGetErrorName cuGetErrorString cuMemAllocManaged cuPointerSetAttribute"),
    (6_050, "\
        cuMemHostRegister_v2"),
    (7_000, "\
        cuCtxGetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease \
        cuDevicePrimaryCtxReset cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags \
        cuPointerGetAttributes"),
    (8_000, "\
        cuDeviceGetP2PAttribute cuMemAdvise cuMemPrefetchAsync cuMemRangeGetAttribute \
        cuMemRangeGetAttributes"),
    (9_020, "\
        cuDeviceGetUuid cuStreamGetCtx"),
    (10_000, "\
        cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer \
        cuExternalMemoryGetMappedMipmappedArray cuGraphAddChildGraphNode cuGraphAddDependencies \
        cuGraphAddEmptyNode cuGraphAddKernelNode cuGraphAddMemcpyNode cuGraphAddMemsetNode \
        cuGraphClone cuGraphCreate cuGraphDestroy cuGraphDestroyNode cuGraphExecDestroy \
        cuGraphGetEdges cuGraphGetNodes cuGraphGetRootNodes cuGraphInstantiate cuGraphLaunch \
        cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams \
        cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies \
        cuGraphNodeGetDependentNodes cuGraphNodeGetType cuImportExternalMemory cuLaunchHostFunc \
        cuStreamBeginCapture cuStreamEndCapture cuStreamIsCapturing"),
    (10_010, "\
        cuStreamBeginCapture_v2 cuStreamGetCaptureInfo cuThreadExchangeStreamCaptureMode"),
    (10_020, "\
        cuGraphExecUpdate cuMemAddressFree cuMemAddressReserve cuMemCreate \
        cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity \
        cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap \
        cuMemRelease cuMemSetAccess cuMemUnmap"),
    (11_000, "\
        cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2 \
        cuGraphInstantiate_v2 cuIpcOpenMemHandle_v2 cuMemRetainAllocationHandle"),
    (11_010, "\
        cuEventRecordWithFlags cuGraphUpload cuMemMapArrayAsync"),
    (11_020, "\
        cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool cuMemAllocAsync \
        cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy \
        cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess \
        cuMemPoolGetAttribute cuMemPoolImportFromShareableHandle cuMemPoolImportPointer \
        cuMemPoolSetAccess cuMemPoolSetAttribute cuMemPoolTrimTo"),
    (11_030, "\
        cuGetProcAddress cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies"),
    (11_040, "\
        cuCtxCreate_v3 cuDeviceGetGraphMemAttribute cuDeviceGetUuid_v2 cuDeviceGraphMemTrim \
        cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode cuGraphAddMemFreeNode \
        cuGraphInstantiateWithFlags cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams"),
    (11_060, "\
        cuArrayGetMemoryRequirements cuGraphNodeGetEnabled cuLaunchKernelEx \
        cuMipmappedArrayGetMemoryRequirements"),
    (11_070, "\
        cuMemGetHandleForAddressRange"),
    (12_000, "\
        cuCtxGetId cuGetProcAddress_v2 cuGraphAddKernelNode_v2 cuGraphExecGetFlags \
        cuGraphExecUpdate_v2 cuGraphInstantiateWithParams cuStreamGetId"),
    (12_010, "\
        cuCtxSetFlags"),
    (12_020, "\
        cuGraphAddNode cuMemAdvise_v2 cuMemPrefetchAsync_v2"),
    (12_030, "\
        cuGraphAddDependencies_v2 cuGraphAddNode_v2 cuGraphGetEdges_v2 \
        cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 \
        cuStreamBeginCaptureToGraph cuStreamGetCaptureInfo_v3 \
        cuStreamUpdateCaptureDependencies_v2"),
    (12_040, "\
        cuModuleGetFunctionCount"),
    (12_050, "\
        cuCtxCreate_v4 cuStreamGetCtx_v2"),
    (12_080, "\
        cuEventElapsedTime_v2 cuMemcpy3DBatchAsync cuMemcpyBatchAsync"),
    (13_000, "\
        cuCtxGetDevice_v2 cuCtxSynchronize_v2 cuMemGetDefaultMemPool cuMemGetMemPool \
        cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemPrefetchBatchAsync cuMemSetMemPool cuMemcpy3DBatchAsync_v2 cuMemcpyBatchAsync_v2"),
];

/// The CUDA version that brought an exported function, `None` for one that the table lacks.
pub fn introduced(symbol: &str) -> Option<c_int> {
    let has = |names: &str| names.split_ascii_whitespace().any(|name| name == symbol);
    INTRODUCED.iter().find(|(_, names)| has(names)).map(|(version, _)| *version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_versions() {
        assert_eq!(introduced("cuCtxCreate_v4"), Some(12_050));
        assert_eq!(introduced("cuGetProcAddress"), Some(11_030));
        assert_eq!(introduced("cuMemAlloc_v2"), Some(3_020));
        assert_eq!(introduced("cuNothing"), None);
    }

    #[test]
    fn no_function_has_two_versions() {
        let mut names: Vec<&str> =
            INTRODUCED.iter().flat_map(|(_, names)| names.split_ascii_whitespace()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
