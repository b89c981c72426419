//! Streams, events, ordering, asynchronous work.

use crate::support::{Gpu, pattern, read, read_word, status, sum_of_words};
use millpond_cuda::sys::Status;
use millpond_cuda::{Event, Stream, TouchKernel};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Long enough to be seen running, also on a busy machine.
const LONG: Duration = Duration::from_millis(300);

/// What is left of [`LONG`] when clocks of host and device are compared.
const NEARLY_LONG: Duration = Duration::from_millis(290);

#[test]
fn an_idle_stream_is_done() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let event = Event::new(&context).unwrap();
    assert_eq!(stream.is_idle(), Ok(true));
    assert_eq!(event.is_done(), Ok(true), "an event that was never recorded");
    event.synchronize().unwrap();
    event.record(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(event.is_done(), Ok(true));
}

#[test]
fn running_work_is_not_ready() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let (source, target) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let bytes = pattern(source.bytes(), 10);
    source.copy_from_host(0, &bytes).unwrap();
    let kernel = gpu.kernel();
    let stream = Stream::new(&context).unwrap();
    let (before, after) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());

    let start = Instant::now();
    before.record(&stream).unwrap();
    kernel.touch(&stream, &source, &target, LONG).unwrap();
    after.record(&stream).unwrap();
    assert_eq!(stream.is_idle(), Ok(false));
    assert_eq!(after.is_done(), Ok(false));
    before.synchronize().unwrap();
    assert_eq!(before.is_done(), Ok(true));
    assert_eq!(after.is_done(), Ok(false));
    after.synchronize().unwrap();
    assert!(start.elapsed() >= NEARLY_LONG);
    assert_eq!(after.is_done(), Ok(true));
    assert_eq!(stream.is_idle(), Ok(true));
    assert_eq!(read_word(&target), sum_of_words(&bytes));
}

#[test]
fn events_measure_time() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let kernel = gpu.kernel();
    let stream = Stream::new(&context).unwrap();
    let start = Event::with_timing(&context).unwrap();
    let end = Event::with_timing(&context).unwrap();
    start.record(&stream).unwrap();
    kernel.touch(&stream, &memory, &memory, LONG).unwrap();
    end.record(&stream).unwrap();
    assert_eq!(status(end.elapsed_since(&start)), Status::NOT_READY);
    end.synchronize().unwrap();
    let elapsed = end.elapsed_since(&start).unwrap();
    assert!((NEARLY_LONG..LONG * 10).contains(&elapsed), "{elapsed:?}");

    let no_clock = Event::new(&context).unwrap();
    no_clock.record(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(status(no_clock.elapsed_since(&start)), Status::INVALID_HANDLE);
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let unit = gpu.unit();
    let (source, sum, copy) = (gpu.memory(unit), gpu.memory(unit), gpu.memory(unit));
    let bytes = pattern(unit, 11);
    source.copy_from_host(0, &bytes).unwrap();
    let kernel = gpu.kernel();
    let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let done = Event::new(&context).unwrap();
    kernel.touch(&first, &source, &sum, LONG).unwrap();
    done.record(&first).unwrap();
    second.wait_event(&done).unwrap();
    second.copy(&copy, 0, &sum, 0, 8).unwrap();
    assert_eq!(second.is_idle(), Ok(false));
    second.synchronize().unwrap();
    assert_eq!(read_word(&copy), sum_of_words(&bytes));
}

#[test]
fn streams_do_not_wait_for_each_other_otherwise() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let (busy_memory, memory) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let kernel = gpu.kernel();
    let (busy, free) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    kernel.touch(&busy, &busy_memory, &busy_memory, 3 * LONG).unwrap();
    free.memset(&memory, 0, 4096, 1).unwrap();
    free.synchronize().unwrap();
    assert_eq!(busy.is_idle(), Ok(false), "the other stream's work is still running");
    busy.synchronize().unwrap();
}

#[test]
fn work_of_one_stream_is_ordered() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let unit = gpu.unit();
    let (first, second) = (gpu.memory(unit), gpu.memory(unit));
    let stream = Stream::new(&context).unwrap();
    for value in 1..=20 {
        stream.memset(&first, 0, unit, value).unwrap();
        stream.copy(&second, 0, &first, 0, unit).unwrap();
    }
    stream.memset(&first, 0, unit / 2, 99).unwrap();
    stream.synchronize().unwrap();
    assert!(read(&second).iter().all(|byte| *byte == 20));
    let half = usize::try_from(unit / 2).unwrap();
    let bytes = read(&first);
    assert!(bytes[..half].iter().all(|byte| *byte == 99));
    assert!(bytes[half..].iter().all(|byte| *byte == 20));
}

#[test]
fn the_context_waits_for_all_streams() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let kernel = gpu.kernel();
    let streams: Vec<_> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
    for stream in &streams {
        kernel.touch(stream, &memory, &memory, LONG).unwrap();
    }
    context.synchronize().unwrap();
    for stream in &streams {
        assert_eq!(stream.is_idle(), Ok(true));
    }
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let (source, target) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let bytes = pattern(source.bytes(), 12);
    source.copy_from_host(0, &bytes).unwrap();
    let kernel: TouchKernel = gpu.kernel();
    let stream = Stream::new(&context).unwrap();
    kernel.touch(&stream, &source, &target, LONG).unwrap();
    drop(stream);
    context.synchronize().unwrap();
    assert_eq!(read_word(&target), sum_of_words(&bytes));
}

#[test]
fn the_legacy_stream_needs_no_making() {
    let gpu = Gpu::take();
    let memory = gpu.memory(gpu.unit());
    let stream = Stream::legacy(&gpu.context());
    stream.memset(&memory, 0, 64, 5).unwrap();
    let event = Event::new(&gpu.context()).unwrap();
    event.record(&stream).unwrap();
    event.synchronize().unwrap();
    assert_eq!(stream.is_idle(), Ok(true));
    assert_eq!(read(&memory)[..65][63..], [5, 0]);
}

#[test]
fn streams_of_many_threads() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let unit = gpu.unit();
    std::thread::scope(|scope| {
        for value in 1..=4_u8 {
            let memory = gpu.memory(unit);
            let context = &context;
            scope.spawn(move || {
                let stream = Stream::new(context).unwrap();
                stream.memset(&memory, 0, unit, value).unwrap();
                stream.synchronize().unwrap();
                assert!(read(&memory).iter().all(|byte| *byte == value));
            });
        }
    });
}

#[test]
fn queued_work_is_checked() {
    let gpu = Gpu::take();
    let memory = gpu.memory(gpu.unit());
    let end = memory.bytes();
    let stream = Stream::new(&gpu.context()).unwrap();
    assert_eq!(status(stream.memset(&memory, end, 1, 0)), Status::INVALID_VALUE);
    assert_eq!(status(stream.copy(&memory, 0, &memory, 1, end)), Status::INVALID_VALUE);
    assert_eq!(status(stream.copy(&memory, 1, &memory, 0, end)), Status::INVALID_VALUE);
}

#[test]
fn a_stream_has_a_number_that_no_other_stream_ever_has() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let mut numbers = HashSet::new();
    let mut handles = HashSet::new();
    let legacy = Stream::legacy(&context).id().unwrap();
    assert!(numbers.insert(legacy));
    // SAFETY: 1 is the legacy stream of every context.
    let named = unsafe { Stream::from_raw(&context, std::ptr::without_provenance_mut(1)) };
    assert_eq!(named.id().unwrap(), legacy, "the same stream by another handle");
    let first = Stream::new(&context).unwrap();
    assert!(numbers.insert(first.id().unwrap()));
    assert_eq!(first.clone().id(), first.id());
    for _ in 0..64 {
        let stream = Stream::new(&context).unwrap();
        handles.insert(stream.raw());
        assert!(numbers.insert(stream.id().unwrap()), "a number was given twice");
    }
    assert!(handles.len() < 64, "handles of destroyed streams are given to new ones");
    assert_eq!(first.capture(), Ok(None));
}

#[test]
fn clones_of_a_stream_are_one_stream() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let stream = Stream::new(&context).unwrap();
    let clone = stream.clone();
    drop(stream);
    clone.memset(&memory, 0, 4096, 7).unwrap();
    clone.synchronize().unwrap();
    assert_eq!(read(&memory)[4095], 7);
}
