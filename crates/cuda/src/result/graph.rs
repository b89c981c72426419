//! Stream capture, and graphs as far as they hold memory.

use crate::error::CudaError;
use crate::sys::{
    AllocNodeParameters, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUgraph,
    CUgraphExec, CUgraphNode, CUstream, CudaTable, constants,
};
use std::ptr;

/// What `cuStreamGetCaptureInfo` says about a capturing stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureInfo {
    /// `constants::CAPTURE_STATUS_*`.
    pub status: u32,
    /// A number of its own for each capture.
    pub id: u64,
    /// The graph so far, which belongs to the capture.
    pub graph: CUgraph,
    /// What the next node will come after.
    pub dependencies: Vec<CUgraphNode>,
}

/// `cuStreamBeginCapture`.
///
/// # Errors
/// `STREAM_CAPTURE_UNSUPPORTED` for the legacy stream, `ILLEGAL_STATE` when it captures already.
///
/// # Safety
/// `stream` is alive.
pub unsafe fn begin_capture(
    table: &CudaTable,
    stream: CUstream,
    mode: u32,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the stream.
    unsafe { call!(table, cuStreamBeginCapture_v2(stream, mode)) }
}

/// `cuStreamEndCapture`: the graph, which the caller owns.
///
/// # Errors
/// `STREAM_CAPTURE_INVALIDATED` when a call broke the capture, `ILLEGAL_STATE` when there is none.
///
/// # Safety
/// `stream` is alive.
pub unsafe fn end_capture(table: &CudaTable, stream: CUstream) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the stream.
    unsafe { call!(table, cuStreamEndCapture(stream, &raw mut graph)) }?;
    Ok(graph)
}

/// `cuStreamIsCapturing`: `constants::CAPTURE_STATUS_*`.
///
/// # Errors
/// `STREAM_CAPTURE_IMPLICIT` for the legacy stream while a blocking one captures.
///
/// # Safety
/// `stream` is null or alive.
pub unsafe fn is_capturing(table: &CudaTable, stream: CUstream) -> Result<u32, CudaError> {
    let mut status = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the stream.
    unsafe { call!(table, cuStreamIsCapturing(stream, &raw mut status)) }?;
    Ok(status)
}

/// `cuStreamGetCaptureInfo` (version 2), the number of the capture alone; `None` where there is none.
///
/// # Errors
/// As [`is_capturing`].
///
/// # Safety
/// `stream` is null or alive.
pub unsafe fn capture_id(table: &CudaTable, stream: CUstream) -> Result<Option<u64>, CudaError> {
    let (mut status, mut id) = (0, 0);
    let (graph, nodes, count) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: the first two out-pointers are valid for the call, and the driver takes null for the
    // others; the caller vouches for the stream.
    unsafe {
        call!(
            table,
            cuStreamGetCaptureInfo_v2(stream, &raw mut status, &raw mut id, graph, nodes, count)
        )
    }?;
    Ok((status != constants::CAPTURE_STATUS_NONE).then_some(id))
}

/// `cuStreamGetCaptureInfo` (version 2).
///
/// # Errors
/// As [`is_capturing`].
///
/// # Safety
/// `stream` is null or alive, and no other thread uses it meanwhile.
pub unsafe fn capture_info(table: &CudaTable, stream: CUstream) -> Result<CaptureInfo, CudaError> {
    let (mut status, mut id, mut graph) = (0, 0, ptr::null_mut());
    let (mut nodes, mut count): (*const CUgraphNode, _) = (ptr::null(), 0);
    // SAFETY: all out-pointers are valid for the call; the caller vouches for the stream.
    unsafe {
        call!(
            table,
            cuStreamGetCaptureInfo_v2(
                stream,
                &raw mut status,
                &raw mut id,
                &raw mut graph,
                &raw mut nodes,
                &raw mut count
            )
        )
    }?;
    let dependencies = if nodes.is_null() || count == 0 {
        Vec::new()
    } else {
        // SAFETY: the driver says that so many nodes lie there until the stream is used again.
        unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()
    };
    Ok(CaptureInfo { status, id, graph, dependencies })
}

/// `cuGraphCreate`: an empty graph.
///
/// # Errors
/// `OUT_OF_MEMORY`.
pub fn create(table: &CudaTable) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuGraphCreate(&raw mut graph, 0)) }?;
    Ok(graph)
}

/// `cuGraphDestroy`.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// The caller owns the graph and uses it and its nodes no more.
pub unsafe fn destroy(table: &CudaTable, graph: CUgraph) -> Result<(), CudaError> {
    // SAFETY: the caller owns the graph.
    unsafe { call!(table, cuGraphDestroy(graph)) }
}

/// `cuGraphAddMemAllocNode`: the node; the address is in `parameters`.
///
/// # Errors
/// `INVALID_VALUE`, `OUT_OF_MEMORY`.
///
/// # Safety
/// `graph` and `after` are alive.
pub unsafe fn add_alloc(
    table: &CudaTable,
    graph: CUgraph,
    after: &[CUgraphNode],
    parameters: &mut AllocNodeParameters,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    let (list, raw) = (after.as_ptr(), parameters.as_raw_mut());
    // SAFETY: all pointers are valid for the call; the caller vouches for the handles.
    unsafe { call!(table, cuGraphAddMemAllocNode(&raw mut node, graph, list, after.len(), raw)) }?;
    Ok(node)
}

/// `cuGraphAddMemFreeNode`.
///
/// # Errors
/// `INVALID_VALUE` for an address that no allocation node has.
///
/// # Safety
/// `graph` and `after` are alive.
pub unsafe fn add_free(
    table: &CudaTable,
    graph: CUgraph,
    after: &[CUgraphNode],
    address: CUdeviceptr,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    let list = after.as_ptr();
    // SAFETY: all pointers are valid for the call; the caller vouches for the handles.
    unsafe {
        call!(table, cuGraphAddMemFreeNode(&raw mut node, graph, list, after.len(), address))
    }?;
    Ok(node)
}

/// `cuGraphAddMemsetNode` of one row of bytes.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// All handles are alive, and the range is valid when the graph runs.
pub unsafe fn add_fill(
    table: &CudaTable,
    graph: CUgraph,
    after: &[CUgraphNode],
    (address, bytes): (CUdeviceptr, usize),
    value: u8,
    context: CUcontext,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    let parameters = CUDA_MEMSET_NODE_PARAMS {
        dst: address,
        pitch: bytes,
        value: u32::from(value),
        elementSize: 1,
        width: bytes,
        height: 1,
    };
    let (list, count) = (after.as_ptr(), after.len());
    // SAFETY: all pointers are valid for the call; the caller vouches for the handles.
    unsafe {
        call!(
            table,
            cuGraphAddMemsetNode(&raw mut node, graph, list, count, &raw const parameters, context)
        )
    }?;
    Ok(node)
}

/// `cuGraphGetNodes`: all nodes.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `graph` is alive and nobody changes it meanwhile.
pub unsafe fn nodes(table: &CudaTable, graph: CUgraph) -> Result<Vec<CUgraphNode>, CudaError> {
    let mut count = 0;
    // SAFETY: without a list the call only counts; the caller vouches for the graph.
    unsafe { call!(table, cuGraphGetNodes(graph, ptr::null_mut(), &raw mut count)) }?;
    let mut nodes = vec![ptr::null_mut(); count];
    if count > 0 {
        // SAFETY: the list has room for as many nodes as `count` says.
        unsafe { call!(table, cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count)) }?;
    }
    nodes.truncate(count);
    Ok(nodes)
}

/// `cuGraphNodeGetType`: `constants::NODE_*`.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `node` is alive.
pub unsafe fn node_type(table: &CudaTable, node: CUgraphNode) -> Result<u32, CudaError> {
    let mut kind = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the node.
    unsafe { call!(table, cuGraphNodeGetType(node, &raw mut kind)) }?;
    Ok(kind)
}

/// `cuGraphMemAllocNodeGetParams`.
///
/// # Errors
/// `INVALID_VALUE` for a node of another type.
///
/// # Safety
/// `node` is alive.
pub unsafe fn alloc_parameters(
    table: &CudaTable,
    node: CUgraphNode,
) -> Result<AllocNodeParameters, CudaError> {
    let mut parameters = AllocNodeParameters::of_device(0, 0);
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the node.
    unsafe { call!(table, cuGraphMemAllocNodeGetParams(node, parameters.as_raw_mut())) }?;
    Ok(parameters)
}

/// `cuGraphInstantiateWithFlags`.
///
/// # Errors
/// `INVALID_VALUE`, `OUT_OF_MEMORY`; a graph with allocation nodes has at most one at a time.
///
/// # Safety
/// `graph` is alive.
pub unsafe fn instantiate(
    table: &CudaTable,
    graph: CUgraph,
    flags: u64,
) -> Result<CUgraphExec, CudaError> {
    let mut exec = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the graph.
    unsafe { call!(table, cuGraphInstantiateWithFlags(&raw mut exec, graph, flags)) }?;
    Ok(exec)
}

/// `cuGraphLaunch`: this is where allocation nodes get their memory.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_VALUE` while an allocation of an earlier launch is not freed.
///
/// # Safety
/// `exec` is alive, `stream` is null or alive, and what the nodes touch stays valid meanwhile.
pub unsafe fn launch(
    table: &CudaTable,
    exec: CUgraphExec,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the handles and the nodes.
    unsafe { call!(table, cuGraphLaunch(exec, stream)) }
}

/// `cuGraphExecDestroy`: the memory of its nodes stays reserved until [`trim`].
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// The caller owns it and uses it no more.
pub unsafe fn destroy_exec(table: &CudaTable, exec: CUgraphExec) -> Result<(), CudaError> {
    // SAFETY: the caller owns the executable graph.
    unsafe { call!(table, cuGraphExecDestroy(exec)) }
}

/// `cuDeviceGetGraphMemAttribute`: `constants::GRAPH_*`.
///
/// # Errors
/// `INVALID_DEVICE`, `INVALID_VALUE`.
pub fn memory_attribute(
    table: &CudaTable,
    device: CUdevice,
    attribute: u32,
) -> Result<u64, CudaError> {
    let mut value = 0_u64;
    let out = (&raw mut value).cast();
    // SAFETY: all attributes of this call have 64 bits.
    unsafe { call!(table, cuDeviceGetGraphMemAttribute(device, attribute, out)) }?;
    Ok(value)
}

/// `cuDeviceSetGraphMemAttribute`: only the high-water marks, and only to 0.
///
/// # Errors
/// `INVALID_DEVICE`, `INVALID_VALUE`.
pub fn set_memory_attribute(
    table: &CudaTable,
    device: CUdevice,
    attribute: u32,
    mut value: u64,
) -> Result<(), CudaError> {
    let from = (&raw mut value).cast();
    // SAFETY: all attributes of this call have 64 bits.
    unsafe { call!(table, cuDeviceSetGraphMemAttribute(device, attribute, from)) }
}

/// `cuDeviceGraphMemTrim`: gives memory of graphs that is not in use back to the device.
///
/// # Errors
/// `INVALID_DEVICE`.
pub fn trim(table: &CudaTable, device: CUdevice) -> Result<(), CudaError> {
    // SAFETY: no pointers.
    unsafe { call!(table, cuDeviceGraphMemTrim(device)) }
}
