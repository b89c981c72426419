//! Stream capture: what is written down, and what breaks it.

use crate::alone::alone;
use crate::support::{Gpu, MIB, observe, refused, status};
use millpond_cuda::sys::{CUstream, CudaTable, Status, constants};
use millpond_cuda::{Context, CudaError, Event, MemoryPool, Stream, result};
use std::ptr;

fn begin(table: &CudaTable, stream: &Stream, mode: u32) {
    // SAFETY: the stream is alive.
    unsafe { result::graph::begin_capture(table, stream.raw(), mode) }.unwrap();
}

/// Ends a capture and throws its graph away.
fn end(table: &CudaTable, stream: CUstream) -> Result<usize, CudaError> {
    // SAFETY: the stream is alive, and the graph is ours.
    unsafe {
        let graph = result::graph::end_capture(table, stream)?;
        let count = result::graph::nodes(table, graph)?.len();
        result::graph::destroy(table, graph)?;
        Ok(count)
    }
}

fn capture_status(table: &CudaTable, stream: &Stream) -> u32 {
    // SAFETY: the stream is alive.
    unsafe { result::graph::is_capturing(table, stream.raw()) }.unwrap()
}

/// A call that is refused while a stream captures in global mode, and breaks the capture.
#[track_caller]
fn breaks(gpu: &Gpu, what: &str, call: impl FnOnce(&Stream, &Context) -> Result<(), CudaError>) {
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    begin(table, &stream, constants::CAPTURE_GLOBAL);
    assert_eq!(status(call(&stream, &context)), Status::STREAM_CAPTURE_UNSUPPORTED, "{what}");
    assert_eq!(capture_status(table, &stream), constants::CAPTURE_STATUS_INVALIDATED, "{what}");
    let ended = status(end(table, stream.raw()));
    assert_eq!(ended, Status::STREAM_CAPTURE_INVALIDATED, "{what}");
    assert_eq!(capture_status(table, &stream), constants::CAPTURE_STATUS_NONE, "{what}");
}

#[test]
fn work_is_written_down_and_not_done() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let (memory, kernel) = (gpu.memory(gpu.unit()), gpu.kernel());
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    assert_eq!(capture_status(table, &stream), constants::CAPTURE_STATUS_NONE);
    begin(table, &stream, constants::CAPTURE_GLOBAL);
    // SAFETY: the stream is alive, and only this thread uses it.
    let info = unsafe { result::graph::capture_info(table, stream.raw()) }.unwrap();
    assert_eq!((info.status, info.dependencies.len()), (constants::CAPTURE_STATUS_ACTIVE, 0));
    assert!(!info.graph.is_null());
    stream.memset(&memory, 0, 4096, 77).unwrap();
    kernel.touch(&stream, &memory, &memory, std::time::Duration::ZERO).unwrap();
    // SAFETY: as above.
    let later = unsafe { result::graph::capture_info(table, stream.raw()) }.unwrap();
    assert_eq!((later.id, later.graph, later.dependencies.len()), (info.id, info.graph, 1));
    assert_eq!(end(table, stream.raw()), Ok(2));
    stream.synchronize().unwrap();
    assert_eq!(crate::support::read_word(&memory), 0, "nothing ran");
}

#[test]
fn calls_that_could_wait_break_a_global_capture() {
    alone!();
    let gpu = Gpu::take();
    let table = gpu.driver.table();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    breaks(&gpu, "cuMemAlloc", |_, _| result::linear::alloc(table, 4096).map(drop));
    breaks(&gpu, "reading a pool", |_, _| pool.reserved_bytes().map(drop));
    breaks(&gpu, "trimming a pool", |_, _| pool.trim(0));
    breaks(&gpu, "waiting for the stream", |stream, _| stream.synchronize());
    breaks(&gpu, "asking about the stream", |stream, _| stream.is_idle().map(drop));
    breaks(&gpu, "waiting for the context", |_, context| context.synchronize());
    breaks(&gpu, "memory of another stream", |_, context| {
        let other = Stream::new(context)?;
        pool.alloc(MIB, &other).map(drop)
    });
}

#[test]
fn readings_leave_a_capture_alone() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let memory = gpu.memory(gpu.unit());
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let (table, device) = (gpu.driver.table(), gpu.device.raw());
    let _bound = context.bind().unwrap();
    begin(table, &stream, constants::CAPTURE_GLOBAL);
    gpu.free_bytes();
    let attribute = constants::GRAPH_RESERVED_CURRENT;
    result::graph::memory_attribute(table, device, attribute).unwrap();
    result::graph::trim(table, device).unwrap();
    result::pool::current_of(table, device).unwrap();
    result::pointer::memory_type(table, memory.pointer().0).unwrap();
    drop(gpu.create(gpu.unit()));
    {
        let _relaxed = gpu.driver.relax_capture().unwrap();
        pool.reserved_bytes().unwrap();
        pool.trim(0).unwrap();
        let address = result::linear::alloc(table, 4096).unwrap();
        // SAFETY: allocated above, and nothing uses it.
        unsafe { result::linear::free(table, address) }.unwrap();
    }
    assert_eq!(capture_status(table, &stream), constants::CAPTURE_STATUS_ACTIVE);
    assert_eq!(end(table, stream.raw()), Ok(0));
}

#[test]
fn a_thread_that_is_relaxed_may_wait_for_the_device() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (captured, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let mark = Event::new(&context).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    mark.record(&other).unwrap();
    begin(table, &captured, constants::CAPTURE_GLOBAL);
    // SAFETY: the stream is alive, and only this thread uses it.
    let info = unsafe { result::graph::capture_info(table, captured.raw()) }.unwrap();
    assert_eq!(captured.capture(), Ok(Some(info.id)));
    assert_eq!(other.capture(), Ok(None));
    other.id().unwrap();
    {
        let _relaxed = gpu.driver.relax_capture().unwrap();
        mark.synchronize().unwrap();
        assert_eq!(mark.is_done(), Ok(true));
        assert_eq!(other.is_idle(), Ok(true));
    }
    assert_eq!(capture_status(table, &captured), constants::CAPTURE_STATUS_ACTIVE);
    let relaxed = gpu.driver.relax_capture().unwrap();
    let waited = context.synchronize();
    observe("waiting for the context, relaxed", &waited);
    observe("the capture after that", &captured.capture());
    drop(relaxed);
    observe("its end", &end(table, captured.raw()));
    context.synchronize().unwrap();
}

#[test]
fn the_number_of_a_stream_is_not_asked_for_in_its_capture() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    let number = stream.id().unwrap();
    begin(table, &stream, constants::CAPTURE_GLOBAL);
    assert_eq!(stream.id(), Ok(number), "it is known from before");
    assert_eq!(capture_status(table, &stream), constants::CAPTURE_STATUS_ACTIVE);
    // SAFETY: the stream is alive.
    let asked = unsafe { result::stream::id(table, stream.raw()) };
    assert_eq!(status(asked), Status::STREAM_CAPTURE_UNSUPPORTED);
    assert_eq!(status(end(table, stream.raw())), Status::STREAM_CAPTURE_INVALIDATED);
}

#[test]
fn modes_say_whose_calls_break_a_capture() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    let elsewhere = || std::thread::scope(|s| s.spawn(|| pool.reserved_bytes()).join().unwrap());

    begin(table, &stream, constants::CAPTURE_THREAD_LOCAL);
    elsewhere().unwrap();
    assert_eq!(end(table, stream.raw()), Ok(0));

    begin(table, &stream, constants::CAPTURE_RELAXED);
    elsewhere().unwrap();
    pool.reserved_bytes().unwrap();
    assert_eq!(end(table, stream.raw()), Ok(0));

    begin(table, &stream, constants::CAPTURE_GLOBAL);
    assert_eq!(status(elsewhere()), Status::STREAM_CAPTURE_UNSUPPORTED);
    assert_eq!(status(end(table, stream.raw())), Status::STREAM_CAPTURE_INVALIDATED);
}

#[test]
fn captures_begin_and_end_once_and_in_their_thread() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    let mode = constants::CAPTURE_THREAD_LOCAL;
    assert_eq!(status(end(table, stream.raw())), Status::ILLEGAL_STATE, "not begun");
    // SAFETY: the null stream needs no more than a context; the other one is alive.
    unsafe {
        refused("the legacy stream", result::graph::begin_capture(table, ptr::null_mut(), mode));
        let mode_9 = result::graph::begin_capture(table, stream.raw(), 9);
        observe("a capture of mode 9", &mode_9);
        if mode_9.is_ok() {
            end(table, stream.raw()).unwrap();
        }
    }
    begin(table, &stream, mode);
    // SAFETY: the stream is alive.
    let twice = unsafe { result::graph::begin_capture(table, stream.raw(), mode) };
    assert_eq!(status(twice), Status::ILLEGAL_STATE, "begun twice");
    let other = std::thread::scope(|scope| {
        let ended = scope.spawn(|| {
            let _bound = context.bind().unwrap();
            end(table, stream.raw())
        });
        status(ended.join().unwrap())
    });
    assert_eq!(other, Status::STREAM_CAPTURE_WRONG_THREAD);
    let own = end(table, stream.raw());
    assert_eq!(status(own), Status::ILLEGAL_STATE, "that ended it");
}

#[test]
fn events_carry_a_capture_to_other_streams() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (there, back) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    let memory = gpu.memory(gpu.unit());
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    let spread = || {
        begin(table, &first, constants::CAPTURE_GLOBAL);
        first.memset(&memory, 0, 16, 1).unwrap();
        there.record(&first).unwrap();
        second.wait_event(&there).unwrap();
        assert_eq!(capture_status(table, &second), constants::CAPTURE_STATUS_ACTIVE);
        second.memset(&memory, 16, 16, 2).unwrap();
    };
    spread();
    refused("the end in the second stream", end(table, second.raw()));
    observe("the end in the first stream after that", &end(table, first.raw()));
    assert_eq!(capture_status(table, &second), constants::CAPTURE_STATUS_NONE);

    spread();
    assert_eq!(status(end(table, first.raw())), Status::STREAM_CAPTURE_UNJOINED);
    assert_eq!(capture_status(table, &second), constants::CAPTURE_STATUS_NONE);

    spread();
    back.record(&second).unwrap();
    first.wait_event(&back).unwrap();
    first.memset(&memory, 0, 32, 3).unwrap();
    assert_eq!(end(table, first.raw()), Ok(3));

    spread();
    refused("waiting for an event of a capture", there.synchronize());
    refused("the end after that", end(table, first.raw()));
    context.synchronize().unwrap();
}

#[test]
fn other_memory_cannot_be_freed_by_a_capture() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    let pointer = pool.alloc(MIB, &stream).unwrap();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    begin(table, &stream, constants::CAPTURE_GLOBAL);
    // SAFETY: refused; freed once below.
    unsafe {
        let freed = result::pool::free_async(table, pointer.0, stream.raw());
        observe("pool memory freed in a capture", &freed);
        observe("the end after that", &end(table, stream.raw()));
        if freed.is_err() {
            result::pool::free_async(table, pointer.0, stream.raw()).unwrap();
        }
    }
    stream.synchronize().unwrap();
}

#[test]
fn a_capture_ends_with_the_stream_that_it_began_in() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let table = gpu.driver.table();
    let _bound = context.bind().unwrap();
    let allocates = || {
        let address = result::linear::alloc(table, 4096)?;
        // SAFETY: allocated above, and nothing uses it.
        unsafe { result::linear::free(table, address) }
    };
    for mode in [constants::CAPTURE_GLOBAL, constants::CAPTURE_THREAD_LOCAL] {
        let stream = Stream::new(&context).unwrap();
        begin(table, &stream, mode);
        drop(stream);
        allocates().unwrap();
        let broken = Stream::new(&context).unwrap();
        begin(table, &broken, mode);
        assert_eq!(status(allocates()), Status::STREAM_CAPTURE_UNSUPPORTED);
        drop(broken);
        allocates().unwrap();
    }
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let there = Event::new(&context).unwrap();
    begin(table, &first, constants::CAPTURE_GLOBAL);
    there.record(&first).unwrap();
    second.wait_event(&there).unwrap();
    drop(first);
    assert_eq!(capture_status(table, &second), constants::CAPTURE_STATUS_NONE);
    second.synchronize().unwrap();
    allocates().unwrap();
}
