//! Launches of graphs: what an upload takes before them, and in which order they run.

use crate::alone::alone;
use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, is_soft, observe_text, read_word};
use millpond_cuda::sys::{AllocNodeParameters, CUgraph, CUgraphNode, CUstream, Status, constants};
use millpond_cuda::{Stream, result};
use std::ptr::null_mut;
use std::time::Duration;

const BYTES: usize = 20 << 20;
const UPLOAD: u64 = 2;

#[repr(C)]
struct InstantiateParameters {
    flags: u64,
    upload: CUstream,
    error_node: CUgraphNode,
    result: u32,
}

/// Bytes that graphs have from the device.
fn reserved(gpu: &Gpu) -> u64 {
    let (table, device) = (gpu.driver.table(), gpu.device.raw());
    result::graph::memory_attribute(table, device, constants::GRAPH_RESERVED_CURRENT).unwrap()
}

fn trim(gpu: &Gpu) {
    result::graph::trim(gpu.driver.table(), gpu.device.raw()).unwrap();
}

/// A graph that has two blocks at once.
fn two_blocks(gpu: &Gpu) -> CUgraph {
    let table = gpu.driver.table();
    let graph = result::graph::create(table).unwrap();
    let mut first = AllocNodeParameters::of_device(gpu.device.ordinal(), BYTES);
    let mut second = AllocNodeParameters::of_device(gpu.device.ordinal(), BYTES);
    // SAFETY: all handles are alive.
    unsafe {
        let one = result::graph::add_alloc(table, graph, &[], &mut first).unwrap();
        let two = result::graph::add_alloc(table, graph, &[one], &mut second).unwrap();
        result::graph::add_free(table, graph, &[two], first.address).unwrap();
        result::graph::add_free(table, graph, &[two], second.address).unwrap();
    }
    graph
}

#[test]
fn an_upload_takes_what_the_launch_needs() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let upload = need!(Extra::find(), cuGraphUpload);
    let stream = Stream::new(&context).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = two_blocks(&gpu);
    // SAFETY: all handles are alive, and destroyed once.
    unsafe {
        let exec = result::graph::instantiate(table, graph, 0).unwrap();
        assert_eq!(reserved(&gpu), 0);
        assert_eq!(upload(exec, stream.raw()), Status::SUCCESS);
        stream.synchronize().unwrap();
        let size = reserved(&gpu);
        observe_text("reserved by an upload for two blocks of 20 MiB", size);
        assert!((40 * MIB..=64 * MIB).contains(&size));
        result::graph::launch(table, exec, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(reserved(&gpu), size, "the launch finds it");
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    trim(&gpu);
    assert_eq!(reserved(&gpu), 0);
}

#[test]
fn an_instantiation_can_upload() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let instantiate = need!(Extra::find(), cuGraphInstantiateWithParams);
    let stream = Stream::new(&context).unwrap();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let graph = two_blocks(&gpu);
    let mut exec = null_mut();
    let mut wanted = InstantiateParameters {
        flags: UPLOAD,
        upload: stream.raw(),
        error_node: null_mut(),
        result: 99,
    };
    // SAFETY: all handles are alive, and destroyed once; the parameters have the driver's layout.
    unsafe {
        let without_stream = result::graph::instantiate(table, graph, UPLOAD);
        let status = without_stream.as_ref().err().map_or(Status::SUCCESS, |error| error.status);
        observe_text("an upload asked for by flags alone", status);
        if let Ok(exec) = without_stream {
            result::graph::destroy_exec(table, exec).unwrap();
        }
        trim(&gpu);
        let made = instantiate(&raw mut exec, graph, (&raw mut wanted).cast());
        assert_eq!((made, wanted.result), (Status::SUCCESS, 0));
        stream.synchronize().unwrap();
        let size = reserved(&gpu);
        observe_text("reserved by an instantiation that uploads", size);
        assert!(size >= 40 * MIB || !is_soft());
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
}

/// Only one launch of an executable graph runs at a time, whatever the streams.
#[test]
fn launches_of_one_graph_follow_each_other() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (source, target) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    source.copy_from_host(0, &5_u64.to_le_bytes()).unwrap();
    let kernel = gpu.kernel();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    // SAFETY: all handles are alive, and destroyed once; the mappings stay until the end.
    unsafe {
        result::graph::begin_capture(table, first.raw(), constants::CAPTURE_GLOBAL).unwrap();
        kernel.touch(&first, &source, &target, Duration::ZERO).unwrap();
        let graph = result::graph::end_capture(table, first.raw()).unwrap();
        let exec = result::graph::instantiate(table, graph, 0).unwrap();
        // The first launch is late, and the second has nothing to wait for but the first.
        kernel.touch(&first, &source, &source, Duration::from_millis(500)).unwrap();
        result::graph::launch(table, exec, first.raw()).unwrap();
        result::graph::launch(table, exec, second.raw()).unwrap();
        second.synchronize().unwrap();
        assert_eq!(first.is_idle(), Ok(true), "the second came after the first");
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
    assert_eq!(read_word(&target), 5);
}
