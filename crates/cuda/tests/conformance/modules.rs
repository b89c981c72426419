//! Modules, functions and the touch kernel.

use crate::support::{Gpu, invalid, pattern, read, read_word, refused, status, sum_of_words};
use millpond_cuda::sys::Status;
use millpond_cuda::{LaunchConfig, Module, Stream, TouchKernel};
use std::time::Duration;

const OTHER_PTX: &std::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.visible .entry other()
{
    ret;
}
";

#[test]
fn garbage_is_not_a_module() {
    let gpu = Gpu::take();
    let context = gpu.context();
    refused("cuModuleLoadData of garbage", Module::load_ptx(&context, c"this is no code"));
    refused("cuModuleLoadData of nothing", Module::load_ptx(&context, c""));
    assert_eq!(context.synchronize(), Ok(()), "the context is not lost");
}

#[test]
fn functions_are_found_by_name() {
    let gpu = Gpu::take();
    let module = Module::load_ptx(&gpu.context(), OTHER_PTX).unwrap();
    assert!(module.function(c"other").is_ok());
    assert_eq!(status(module.function(c"millpond_touch")), Status::NOT_FOUND);
    assert_eq!(status(module.function(c"no_such_function")), Status::NOT_FOUND);
}

#[test]
fn the_touch_kernel_sums_words() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let (source, target) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let bytes = pattern(source.bytes(), 30);
    source.copy_from_host(0, &bytes).unwrap();
    let kernel = gpu.kernel();
    let stream = Stream::new(&context).unwrap();
    for len in [0, 8, 16, 20, 2048, 2056, 4_000, 1 << 20, bytes.len()] {
        target.memset(0, 64, 0xff).unwrap();
        // SAFETY: both ranges lie in mappings that outlive the wait below.
        unsafe {
            kernel.launch(
                &stream,
                source.pointer(),
                len as u64,
                target.pointer(),
                target.bytes(),
                Duration::ZERO,
            )
        }
        .unwrap();
        stream.synchronize().unwrap();
        assert_eq!(read_word(&target), sum_of_words(&bytes[..len]), "{len} bytes");
        assert_eq!(read(&target)[8..64], [0xff; 56], "only 8 bytes are written");
    }
}

#[test]
fn the_touch_kernel_may_sum_into_its_source() {
    let gpu = Gpu::take();
    let memory = gpu.memory(gpu.unit());
    let bytes = pattern(memory.bytes(), 31);
    memory.copy_from_host(0, &bytes).unwrap();
    let stream = Stream::new(&gpu.context()).unwrap();
    gpu.kernel().touch(&stream, &memory, &memory, Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(read_word(&memory), sum_of_words(&bytes));
}

#[test]
fn a_kernel_can_be_loaded_again_and_again() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let memory = gpu.memory(gpu.unit());
    let stream = Stream::new(&context).unwrap();
    for _ in 0..3 {
        let kernel = TouchKernel::load(&context).unwrap();
        kernel.touch(&stream, &memory, &memory, Duration::ZERO).unwrap();
        stream.synchronize().unwrap();
    }
    assert_eq!(read_word(&memory), 0);
}

#[test]
fn impossible_launches_are_refused() {
    let gpu = Gpu::take();
    let (source, target) = (gpu.memory(gpu.unit()), gpu.memory(gpu.unit()));
    let bytes = pattern(64, 32);
    source.copy_from_host(0, &bytes).unwrap();
    let kernel = gpu.kernel();
    let stream = Stream::new(&gpu.context()).unwrap();
    let launch = |grid, block| {
        let config = LaunchConfig { grid, block, shared_bytes: 0 };
        let mut values = [source.pointer().0, 64, target.pointer().0, target.bytes(), 0];
        let mut parameters = values.each_mut().map(|value| std::ptr::from_mut(value).cast());
        // SAFETY: the five parameters of the kernel; both mappings outlive the wait below.
        unsafe { kernel.function().launch(&stream, config, &mut parameters) }
    };
    invalid("cuLaunchKernel with 2048 threads in a block", launch([1; 3], [2048, 1, 1]));
    invalid("cuLaunchKernel with an empty grid", launch([0, 1, 1], [1; 3]));
    invalid("cuLaunchKernel with an empty block", launch([1; 3], [1, 0, 1]));
    launch([1; 3], [1; 3]).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(read_word(&target), sum_of_words(&bytes));
}
