//! Stream capture, and graphs as far as they hold memory.

use std::ffi::{c_uint, c_void};

use millpond_cuda::sys::{
    AllocNodeParameters, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice,
    CUdeviceptr, CUgraph, CUgraphExec, CUgraphNode, CUstream, PoolProperties, Status, constants,
};

use super::memory::read;
use super::pools::device_of_node;
use super::{Out, entries, number, opaque};
use crate::engine::Engine;
use crate::engine::fence::Spot;
use crate::engine::graph::Work;
use crate::engine::job::Job;
use crate::engine::queue::LEGACY;
use crate::engine::system::{to_u64, to_usize};

const NODE_EMPTY: u32 = 5;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_*`: auto free, upload, device launch, node priority.
const INSTANTIATE_FLAGS: u64 = 15;
/// Where in a `CUgraphNodeParams` the parameters of its kind are.
const NODE_PARAMS_AT: usize = 16;
/// Uploads at once, which only `cuGraphInstantiateWithParams` can.
const UPLOAD: u64 = 2;
/// Graphs launched from the device itself do not exist here.
const DEVICE_LAUNCH: u64 = 4;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RawInstantiate {
    flags: u64,
    upload: CUstream,
    error_node: CUgraphNode,
    result: u32,
}

/// The numbers of the nodes that a new one comes after.
///
/// # Safety
/// The list has `count` nodes, or is null and `count` is 0.
unsafe fn nodes_of(list: *const CUgraphNode, count: usize) -> Result<Vec<u64>, Status> {
    if count > 0 && list.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller promised.
    Ok((0..count).map(|index| number(unsafe { list.add(index).read() })).collect())
}

/// Writes what is known about a capturing stream to those out-parameters that are not null.
///
/// # Safety
/// Each pointer is null or valid for writing.
unsafe fn put_info(
    engine: &'static Engine,
    stream: CUstream,
    status: *mut u32,
    id: *mut u64,
    graph: *mut CUgraph,
    (dependencies, count): (*mut *const CUgraphNode, *mut usize),
) -> Result<(), Status> {
    let (context, lane) = engine.lane(number(stream))?;
    // SAFETY: as the caller promised.
    let status = unsafe { Out::new(status)? };
    let Some(info) = engine.captures.info(lane, &context)? else {
        status.set(constants::CAPTURE_STATUS_NONE);
        return Ok(());
    };
    status.set(if info.broken {
        constants::CAPTURE_STATUS_INVALIDATED
    } else {
        constants::CAPTURE_STATUS_ACTIVE
    });
    // SAFETY: as the caller promised.
    unsafe {
        if let Ok(id) = Out::new(id) {
            id.set(info.id);
        }
        if let Ok(graph) = Out::new(graph) {
            graph.set(opaque(info.graph));
        }
        if let Ok(dependencies) = Out::new(dependencies) {
            // A node's number has the size of a pointer.
            dependencies.set(info.after.0.cast());
        }
        if let Ok(count) = Out::new(count) {
            count.set(info.after.1);
        }
    }
    Ok(())
}

/// Adds an allocation node and writes its address to the parameters.
///
/// # Safety
/// The parameters are null or valid for reading and writing.
unsafe fn add_alloc(
    engine: &'static Engine,
    graph: CUgraph,
    after: &[u64],
    params: *mut AllocNodeParameters,
) -> Result<u64, Status> {
    // SAFETY: as the caller promised; any bytes are an AllocNodeParameters.
    let mut wanted = unsafe { read(params.cast_const())? };
    let device = device_of_node(engine, &wanted.pool)?.index;
    let graph = engine.graphs.find(number(graph))?;
    if wanted.bytes == 0 || wanted.pool.handle_types != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let (id, at) = engine.graphs.add_alloc(&graph, to_u64(wanted.bytes), device, after)?;
    wanted.address = at;
    // SAFETY: as the caller promised.
    unsafe { Out::new(params)? }.set(wanted);
    Ok(id)
}

fn add_free(
    engine: &'static Engine,
    graph: CUgraph,
    after: &[u64],
    at: u64,
) -> Result<u64, Status> {
    let graph = engine.graphs.find(number(graph))?;
    let device = engine.graphs.device_of(at).ok_or(Status::INVALID_VALUE)?;
    engine.graphs.add(&graph, Work::Free { at, device }, after)
}

/// Adds a node of the kind that a `CUgraphNodeParams` says: one that allocates or frees.
///
/// # Safety
/// The parameters are null or valid for reading and writing.
unsafe fn add_any(
    engine: &'static Engine,
    graph: CUgraph,
    after: &[u64],
    params: *mut u8,
) -> Result<u64, Status> {
    // SAFETY: as the caller promised; the kind is the first number.
    let kind = unsafe { read(params.cast::<u32>().cast_const())? };
    let content = params.wrapping_add(NODE_PARAMS_AT);
    match kind {
        // SAFETY: as the caller promised, for this kind.
        constants::NODE_MEM_ALLOC => unsafe { add_alloc(engine, graph, after, content.cast()) },
        constants::NODE_MEM_FREE => {
            // SAFETY: as the caller promised, for this kind.
            add_free(engine, graph, after, unsafe { read(content.cast::<u64>().cast_const())? })
        }
        _ => Err(Status::NOT_SUPPORTED),
    }
}

fn instantiate(engine: &'static Engine, graph: CUgraph, flags: u64) -> Result<u64, Status> {
    if flags & !INSTANTIATE_FLAGS != 0 {
        return Err(Status::INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        return Err(Status::NOT_SUPPORTED);
    }
    engine.graphs.instantiate(number(graph), flags & constants::INSTANTIATE_AUTO_FREE != 0)
}

entries! {
    fn cuStreamBeginCapture_v2(stream: CUstream, mode: u32) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        if mode > constants::CAPTURE_RELAXED {
            return Err(Status::INVALID_VALUE);
        }
        if lane == LEGACY {
            return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
        }
        let graph = engine.graphs.create();
        let id = graph.id;
        engine.captures.begin(lane, &context, mode, graph).inspect_err(|_| {
            let _ = engine.graphs.destroy(id);
        })
    }

    fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) |engine| {
        let (_, lane) = engine.lane(number(stream))?;
        // SAFETY: as the caller promised.
        let out = unsafe { Out::new(graph)? };
        let (graph, answer) = engine.captures.end(lane)?;
        if answer.is_err() {
            let _ = engine.graphs.destroy(graph.id);
        }
        out.set(if answer.is_ok() { opaque(graph.id) } else { std::ptr::null_mut() });
        answer
    }

    fn cuStreamIsCapturing(stream: CUstream, status: *mut u32) |engine| {
        let none = std::ptr::null_mut();
        // SAFETY: as the caller promised; the others are null.
        unsafe { put_info(engine, stream, status, std::ptr::null_mut(), std::ptr::null_mut(), (none, std::ptr::null_mut())) }
    }

    fn cuStreamGetCaptureInfo_v2(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, count: *mut usize) |engine| {
        // SAFETY: as the caller promised.
        unsafe { put_info(engine, stream, status, id, graph, (dependencies, count)) }
    }

    fn cuStreamGetCaptureInfo_v3(stream: CUstream, status: *mut u32, id: *mut u64, graph: *mut CUgraph, dependencies: *mut *const CUgraphNode, edges: *mut *const c_void, count: *mut usize) |engine| {
        // SAFETY: as the caller promised.
        if let Ok(edges) = unsafe { Out::new(edges) } {
            // All edges are of the ordinary kind.
            edges.set(std::ptr::null());
        }
        // SAFETY: as the caller promised.
        unsafe { put_info(engine, stream, status, id, graph, (dependencies, count)) }
    }

    fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint) |engine| {
        // SAFETY: as the caller promised.
        let graph = unsafe { Out::new(graph)? };
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        graph.set(opaque(engine.graphs.create().id));
        Ok(())
    }

    fn cuGraphDestroy(graph: CUgraph) |engine| { engine.graphs.destroy(number(graph)) }

    fn cuGraphAddMemAllocNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) |engine| {
        // SAFETY: as the caller promised.
        let (node, after) = unsafe { (Out::new(node)?, nodes_of(dependencies, count)?) };
        // SAFETY: as the caller promised; both types have the same layout.
        node.set(opaque(unsafe { add_alloc(engine, graph, &after, params.cast())? }));
        Ok(())
    }

    fn cuGraphAddMemFreeNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        let (node, after) = unsafe { (Out::new(node)?, nodes_of(dependencies, count)?) };
        node.set(opaque(add_free(engine, graph, &after, pointer)?));
        Ok(())
    }

    fn cuGraphAddNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *mut c_void) |engine| {
        // SAFETY: as the caller promised.
        let (node, after) = unsafe { (Out::new(node)?, nodes_of(dependencies, count)?) };
        // SAFETY: as the caller promised.
        node.set(opaque(unsafe { add_any(engine, graph, &after, params.cast())? }));
        Ok(())
    }

    fn cuGraphAddNode_v2(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, edges: *const c_void, count: usize, params: *mut c_void) |engine| {
        // SAFETY: as the caller promised.
        let (node, after) = unsafe { (Out::new(node)?, nodes_of(dependencies, count)?) };
        if !edges.is_null() && count > 0 {
            // Edges of other kinds than "after it" are for kernels.
            return Err(Status::NOT_SUPPORTED);
        }
        // SAFETY: as the caller promised.
        node.set(opaque(unsafe { add_any(engine, graph, &after, params.cast())? }));
        Ok(())
    }

    fn cuGraphAddMemsetNode(node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext) |engine| {
        // SAFETY: as the caller promised.
        let (node, after, fill) = unsafe { (Out::new(node)?, nodes_of(dependencies, count)?, read(params)?) };
        let graph = engine.graphs.find(number(graph))?;
        engine.contexts.find(number(context))?.check()?;
        let width = usize::try_from(fill.elementSize).map_err(|_| Status::INVALID_VALUE)?;
        let pattern = fill.value.to_le_bytes().get(..width).map(<[u8]>::to_vec);
        let pattern = pattern.filter(|_| [1, 2, 4].contains(&width)).ok_or(Status::INVALID_VALUE)?;
        let row = to_u64(fill.width).checked_mul(to_u64(width)).ok_or(Status::INVALID_VALUE)?;
        if fill.height != 1 && to_u64(fill.pitch) != row {
            return Err(Status::NOT_SUPPORTED);
        }
        let bytes = row.checked_mul(to_u64(fill.height)).filter(|bytes| *bytes > 0).ok_or(Status::INVALID_VALUE)?;
        let job = Job::Fill { to: fill.dst, pattern, bytes };
        node.set(opaque(engine.graphs.add(&graph, Work::Job(job), &after)?));
        Ok(())
    }

    fn cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) |engine| {
        // SAFETY: as the caller promised.
        let room = unsafe { read(count.cast_const())? };
        let graph = engine.graphs.find(number(graph))?;
        let known: Vec<u64> = graph.nodes().iter().map(|node| node.id).collect();
        // SAFETY: as the caller promised.
        let count = unsafe { Out::new(count)? };
        if nodes.is_null() {
            count.set(known.len());
            return Ok(());
        }
        for index in 0..room {
            let node = known.get(index).map_or(std::ptr::null_mut(), |node| opaque(*node));
            // SAFETY: as the caller promised: there is room for so many.
            unsafe { Out::new(nodes.add(index))? }.set(node);
        }
        count.set(known.len().min(room));
        Ok(())
    }

    fn cuGraphNodeGetType(node: CUgraphNode, kind: *mut u32) |engine| {
        // SAFETY: as the caller promised.
        let kind = unsafe { Out::new(kind)? };
        kind.set(match engine.graphs.node(number(node))?.work {
            Work::Alloc { .. } => constants::NODE_MEM_ALLOC,
            Work::Free { .. } => constants::NODE_MEM_FREE,
            Work::Job(Job::Copy { .. }) => constants::NODE_MEMCPY,
            Work::Job(Job::Fill { .. }) => constants::NODE_MEMSET,
            Work::Job(Job::Touch { .. } | Job::Nothing) => constants::NODE_KERNEL,
            Work::Job(_) => NODE_EMPTY,
        });
        Ok(())
    }

    fn cuGraphMemAllocNodeGetParams(node: CUgraphNode, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) |engine| {
        // SAFETY: as the caller promised; both types have the same layout.
        let params = unsafe { Out::new(params.cast::<AllocNodeParameters>())? };
        let Work::Alloc { at, bytes, device } = engine.graphs.node(number(node))?.work else {
            return Err(Status::INVALID_VALUE);
        };
        let ordinal = i32::try_from(device).map_err(|_| Status::INVALID_DEVICE)?;
        params.set(AllocNodeParameters {
            pool: PoolProperties::of_device(ordinal),
            access: std::ptr::null(),
            access_count: 0,
            bytes: to_usize(bytes),
            address: at,
        });
        Ok(())
    }

    fn cuGraphMemFreeNodeGetParams(node: CUgraphNode, pointer: *mut CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        let Work::Free { at, .. } = engine.graphs.node(number(node))?.work else {
            return Err(Status::INVALID_VALUE);
        };
        pointer.set(at);
        Ok(())
    }

    fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: u64) |engine| {
        // SAFETY: as the caller promised.
        let exec = unsafe { Out::new(exec)? };
        if flags & UPLOAD != 0 {
            return Err(Status::INVALID_VALUE);
        }
        exec.set(opaque(instantiate(engine, graph, flags)?));
        Ok(())
    }

    fn cuGraphInstantiateWithParams(exec: *mut CUgraphExec, graph: CUgraph, params: *mut c_void) |engine| {
        let params = params.cast::<RawInstantiate>();
        // SAFETY: as the caller promised; any bytes are a RawInstantiate.
        let (exec, mut wanted) = unsafe { (Out::new(exec)?, read(params)?) };
        if wanted.flags & UPLOAD != 0 {
            engine.lane(number(wanted.upload))?;
        }
        let made = instantiate(engine, graph, wanted.flags).and_then(|made| {
            if wanted.flags & UPLOAD != 0 && let Err(status) = engine.graphs.upload(made) {
                engine.graphs.destroy_exec(made)?;
                return Err(status);
            }
            Ok(made)
        });
        (wanted.error_node, wanted.result) = (std::ptr::null_mut(), u32::from(made.is_err()));
        // SAFETY: as the caller promised: the driver may write to it.
        unsafe { Out::new(params)? }.set(wanted);
        exec.set(opaque(made?));
        Ok(())
    }

    fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) |engine| {
        engine.lane(number(stream))?;
        engine.graphs.upload(number(exec))
    }

    fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        // A graph inside of a graph: there are no such nodes here.
        engine.captures.refuse_stream(lane, &context)?;
        engine.graphs.launch(number(exec), Spot { queue: &context.queue, lane })
    }

    fn cuGraphExecDestroy(exec: CUgraphExec) |engine| { engine.graphs.destroy_exec(number(exec)) }

    fn cuDeviceGetGraphMemAttribute(device: CUdevice, attribute: u32, value: *mut c_void) |engine| {
        let state = engine.graphs.memory(engine.device(device)?.index)?.state();
        // SAFETY: as the caller promised: all attributes have 64 bits.
        let value = unsafe { Out::new(value.cast::<u64>())? };
        value.set(match attribute {
            // The card counts what is reserved as used.
            constants::GRAPH_USED_CURRENT | constants::GRAPH_RESERVED_CURRENT => state.reserved.current,
            constants::GRAPH_USED_HIGH | constants::GRAPH_RESERVED_HIGH => state.reserved.high,
            _ => return Err(Status::INVALID_VALUE),
        });
        Ok(())
    }

    fn cuDeviceSetGraphMemAttribute(device: CUdevice, attribute: u32, value: *mut c_void) |engine| {
        let mut state = engine.graphs.memory(engine.device(device)?.index)?.state();
        // SAFETY: as the caller promised: all attributes have 64 bits.
        let value = unsafe { read(value.cast::<u64>())? };
        match attribute {
            constants::GRAPH_USED_HIGH | constants::GRAPH_RESERVED_HIGH if value == 0 => state.reserved.reset(),
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuDeviceGraphMemTrim(device: CUdevice) |engine| {
        engine.graphs.memory(engine.device(device)?.index)?.trim();
        Ok(())
    }
}
