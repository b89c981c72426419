//! Graphs that allocate: addresses from the start, memory from the launch to the trim.

use crate::alone::alone;
use crate::extra::Extra;
use crate::support::{Gpu, MIB, invalid, observe, observe_text, read, refused, skip, status};
use millpond_cuda::sys::{AllocNodeParameters, CUgraph, CUgraphExec, CudaTable, Status, constants};
use millpond_cuda::{Access, Allocation, FillGraph, MappedRange, Mapping, Stream, result};
use std::time::Duration;

const BYTES: usize = 20 << 20;

/// `CUgraphNodeParams` with the content of an allocation node.
#[repr(C)]
struct NodeParameters {
    kind: u32,
    reserved: [i32; 3],
    content: AllocNodeParameters,
    rest: [u64; 15],
}

const _: () = assert!(size_of::<NodeParameters>() == 256);

/// Bytes that graphs have from the device.
fn reserved(gpu: &Gpu) -> u64 {
    let (table, device) = (gpu.driver.table(), gpu.device.raw());
    result::graph::memory_attribute(table, device, constants::GRAPH_RESERVED_CURRENT).unwrap()
}

fn trim(gpu: &Gpu) {
    result::graph::trim(gpu.driver.table(), gpu.device.raw()).unwrap();
}

/// A captured graph: allocates, fills, copies a page to the target, and frees or not.
fn captured(
    gpu: &Gpu,
    stream: &Stream,
    target: &Mapping,
    value: u8,
    frees: bool,
) -> (CUgraph, u64) {
    let table = gpu.driver.table();
    let raw = stream.raw();
    // SAFETY: the stream is alive; the nodes use memory of the graph and a mapping that stays.
    unsafe {
        result::graph::begin_capture(table, raw, constants::CAPTURE_GLOBAL).unwrap();
        let pointer = result::pool::alloc_async(table, BYTES, raw).unwrap();
        result::copy::fill_u8_async(table, pointer, value, BYTES, raw).unwrap();
        let to = target.pointer().0;
        result::copy::device_to_device_async(table, to, pointer, 4096, raw).unwrap();
        if frees {
            result::pool::free_async(table, pointer, raw).unwrap();
        }
        (result::graph::end_capture(table, raw).unwrap(), pointer)
    }
}

fn instantiate(table: &CudaTable, graph: CUgraph, flags: u64) -> CUgraphExec {
    // SAFETY: the graph is alive.
    unsafe { result::graph::instantiate(table, graph, flags) }.unwrap()
}

#[test]
fn a_captured_allocation_takes_memory_at_its_launch() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let target = gpu.memory(gpu.unit());
    trim(&gpu);
    let before = gpu.free_bytes();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let (graph, _) = captured(&gpu, &stream, &target, 33, true);
    // SAFETY: graph and nodes are alive.
    let kinds: Vec<u32> = unsafe {
        let nodes = result::graph::nodes(table, graph).unwrap();
        let kind = |node: &_| result::graph::node_type(table, *node).unwrap();
        nodes.iter().map(kind).collect()
    };
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [
            constants::NODE_MEMCPY,
            constants::NODE_MEMSET,
            constants::NODE_MEM_ALLOC,
            constants::NODE_MEM_FREE
        ],
        "{kinds:?}"
    );
    let exec = instantiate(table, graph, 0);
    assert_eq!(reserved(&gpu), 0, "nothing was launched");

    for _ in 0..3 {
        // SAFETY: all handles are alive.
        unsafe { result::graph::launch(table, exec, stream.raw()) }.unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(read(&target)[..4096], [33; 4096]);
    let size = reserved(&gpu);
    observe_text("reserved by a graph for 20 MiB", size);
    assert!((20 * MIB..=32 * MIB).contains(&size));
    gpu.assert_taken(before, size);

    // SAFETY: neither is used any more.
    unsafe {
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    assert_eq!(reserved(&gpu), size, "it stays with the driver");
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
    gpu.assert_freed(before);
}

#[test]
fn two_graphs_share_memory_one_after_the_other() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (one, two) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    trim(&gpu);
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let (graph_one, _) = captured(&gpu, &first, &one, 1, true);
    let (graph_two, _) = captured(&gpu, &second, &two, 2, true);
    let execs = [instantiate(table, graph_one, 0), instantiate(table, graph_two, 0)];
    // SAFETY: all handles are alive, and destroyed once.
    unsafe {
        for _ in 0..3 {
            result::graph::launch(table, execs[0], first.raw()).unwrap();
            result::graph::launch(table, execs[1], second.raw()).unwrap();
        }
        context.synchronize().unwrap();
        assert_eq!((read(&one)[0], read(&two)[0]), (1, 2));
        observe_text("reserved for two graphs of 20 MiB", reserved(&gpu));
        assert!(reserved(&gpu) <= 64 * MIB);
        for exec in execs {
            result::graph::destroy_exec(table, exec).unwrap();
        }
        result::graph::destroy(table, graph_one).unwrap();
        result::graph::destroy(table, graph_two).unwrap();
    }
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
}

#[test]
fn an_allocation_that_outlives_its_launch() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let target = gpu.memory(gpu.unit());
    trim(&gpu);
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let (graph, pointer) = captured(&gpu, &stream, &target, 4, false);
    let exec = instantiate(table, graph, 0);
    // SAFETY: all handles are alive; the memory is freed once for each launch.
    unsafe {
        result::graph::launch(table, exec, stream.raw()).unwrap();
        let again = result::graph::launch(table, exec, stream.raw());
        assert_eq!(status(again), Status::INVALID_VALUE, "it is still allocated");
        stream.synchronize().unwrap();
        trim(&gpu);
        assert!(reserved(&gpu) >= 20 * MIB, "in use");
        let mut byte = [0_u8];
        result::copy::device_to_host(table, byte.as_mut_ptr().cast(), pointer, 1).unwrap();
        assert_eq!(byte, [4]);
        result::pool::free_async(table, pointer, stream.raw()).unwrap();
        result::graph::launch(table, exec, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::linear::free(table, pointer).unwrap();
        result::graph::destroy_exec(table, exec).unwrap();

        let exec = instantiate(table, graph, constants::INSTANTIATE_AUTO_FREE);
        result::graph::launch(table, exec, stream.raw()).unwrap();
        result::graph::launch(table, exec, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::pool::free_async(table, pointer, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
}

#[test]
fn a_graph_made_of_nodes() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let target = gpu.memory(gpu.unit());
    trim(&gpu);
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = result::graph::create(table).unwrap();
    let mut parameters = AllocNodeParameters::of_device(gpu.device.ordinal(), BYTES);
    // SAFETY: all handles are alive, and destroyed once.
    unsafe {
        let alloc = result::graph::add_alloc(table, graph, &[], &mut parameters).unwrap();
        let address = parameters.address;
        assert_ne!(address, 0);
        let known = result::graph::alloc_parameters(table, alloc).unwrap();
        assert_eq!((known.address, known.bytes), (address, BYTES));
        assert_eq!(known.pool.location_id, gpu.device.ordinal());
        let fill = |after: &[_], to: u64, value| {
            result::graph::add_fill(table, graph, after, (to, 4096), value, context.raw()).unwrap()
        };
        let own = fill(&[alloc], address, 1);
        let other = fill(&[own], target.pointer().0, 8);
        refused("the parameters of a fill", result::graph::alloc_parameters(table, other));
        let free = result::graph::add_free(table, graph, &[own], address).unwrap();
        assert_eq!(result::graph::node_type(table, free), Ok(constants::NODE_MEM_FREE));
        assert_eq!(result::graph::nodes(table, graph).unwrap().len(), 4);
        let exec = instantiate(table, graph, 0);
        observe("a second executable graph", &result::graph::instantiate(table, graph, 0));
        result::graph::launch(table, exec, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(read(&target)[..4096], [8; 4096]);
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
}

#[test]
fn nodes_that_cannot_be() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = result::graph::create(table).unwrap();
    let ordinal = gpu.device.ordinal();
    // SAFETY: all handles are alive, and destroyed once.
    unsafe {
        let mut nothing = AllocNodeParameters::of_device(ordinal, 0);
        observe("a node of no bytes", &result::graph::add_alloc(table, graph, &[], &mut nothing));
        let mut nowhere = AllocNodeParameters::of_device(99, BYTES);
        invalid("device 99", result::graph::add_alloc(table, graph, &[], &mut nowhere));
        refused("a free of nothing", result::graph::add_free(table, graph, &[], 0x1000));
        result::graph::destroy(table, graph).unwrap();
    }
    let (device, high) = (gpu.device.raw(), constants::GRAPH_RESERVED_HIGH);
    result::graph::set_memory_attribute(table, device, high, 0).unwrap();
    let current = constants::GRAPH_RESERVED_CURRENT;
    refused("a set reading", result::graph::set_memory_attribute(table, device, current, 0));
    refused("attribute 99", result::graph::memory_attribute(table, device, 99));
}

/// An H200 takes all the memory that there is before it refuses, and the process has it until its
/// end, whatever it trims.
#[test]
fn a_graph_that_does_not_fit() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = result::graph::create(table).unwrap();
    let bytes = usize::try_from(gpu.device.total_bytes()).unwrap() * 2;
    let mut parameters = AllocNodeParameters::of_device(gpu.device.ordinal(), bytes);
    // SAFETY: all handles are alive, and destroyed once.
    unsafe {
        // A driver may notice at any of the three calls.
        let added = result::graph::add_alloc(table, graph, &[], &mut parameters);
        let exec = added.and_then(|_| result::graph::instantiate(table, graph, 0));
        let launched = exec.and_then(|exec| {
            let launched = result::graph::launch(table, exec, stream.raw());
            result::graph::destroy_exec(table, exec)?;
            launched
        });
        refused("a graph of twice the card", launched);
        result::graph::destroy(table, graph).unwrap();
    }
    let kept = reserved(&gpu);
    trim(&gpu);
    let trimmed = reserved(&gpu);
    observe_text("reserved by a refused graph, and after a trim", format!("{kept}, {trimmed}"));
}

#[test]
fn a_node_of_a_kind_that_is_named() {
    alone!();
    let gpu = Gpu::take();
    let Some(add) = Extra::find().cuGraphAddNode else {
        skip("cuGraphAddNode: this driver is older than CUDA 12.2");
        return;
    };
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    trim(&gpu);
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = result::graph::create(table).unwrap();
    let mut alloc = NodeParameters {
        kind: constants::NODE_MEM_ALLOC,
        reserved: [0; 3],
        content: AllocNodeParameters::of_device(gpu.device.ordinal(), BYTES),
        rest: [0; 15],
    };
    let mut node = std::ptr::null_mut();
    // SAFETY: all handles are alive, and the parameters have the size and the layout that the
    // driver expects.
    unsafe {
        let params = std::ptr::from_mut(&mut alloc).cast();
        let added = add(&raw mut node, graph, std::ptr::null(), 0, params);
        assert_eq!(added, Status::SUCCESS);
        assert_eq!(result::graph::node_type(table, node), Ok(constants::NODE_MEM_ALLOC));
        let address = alloc.content.address;
        assert_ne!(address, 0);
        let exec = instantiate(table, graph, 0);
        result::graph::launch(table, exec, stream.raw()).unwrap();
        assert!(reserved(&gpu) >= 20 * MIB);
        result::pool::free_async(table, address, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
}

#[test]
fn a_graph_of_fills_runs_as_often_as_it_is_launched() {
    alone!();
    let gpu = Gpu::take();
    let (context, unit) = (gpu.context(), gpu.unit());
    let range = MappedRange::reserve(&context, 4 * unit, 0).unwrap();
    let page = Allocation::create_private(&gpu.device, unit).unwrap();
    range.map(unit, &[&page], Access::ReadWrite).unwrap();
    let stream = Stream::new(&context).unwrap();
    let first_bytes = || {
        stream.synchronize().unwrap();
        let mut found = [0; 3];
        range.copy_to_host(unit + 4095, &mut found).unwrap();
        found
    };
    stream.memset_range(&range, unit, unit, 1).unwrap();
    FillGraph::begin(&stream).unwrap();
    stream.memset_range(&range, unit, 4096, 2).unwrap();
    stream.memset_range(&range, unit + 4097, 4096, 3).unwrap();
    let mut graph = FillGraph::end(&stream).unwrap();
    assert_eq!(first_bytes(), [1, 1, 1], "nothing ran");
    for _ in 0..2 {
        graph.launch(&stream).unwrap();
        assert_eq!(first_bytes(), [2, 1, 3]);
        stream.memset_range(&range, unit, 8192, 1).unwrap();
    }
    invalid("a fill past the mapped part", stream.memset_range(&range, unit, unit + 1, 0));
    FillGraph::begin(&stream).unwrap();
    gpu.kernel().touch_range(&stream, &range, unit..unit + 64, unit, Duration::ZERO).unwrap();
    invalid("a graph with a kernel", FillGraph::end(&stream));
    assert_eq!(stream.capture(), Ok(None));
    // The last fill is done before its memory goes.
    stream.synchronize().unwrap();
}
