//! Functions that a driver has under several names, or of which only the real function differs: one
//! list of their arguments, what is done around the call, and their names.
//!
//! `call` is the real function of the same name with the caller's own arguments. A name that ends in
//! `_ptsz` means the thread's own default stream by stream 0.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::pending::{Stream, Waited};
use super::{captures, contexts, graphs, imports, physical, pools, primary, waits};
use crate::driver::real;
use crate::types::{ArrayMapInfo, IpcHandle, Status};

macro_rules! forwards {
    ($($args:tt |$call:ident $(, $flag:ident)?| $body:expr => $($name:ident $(= $value:literal)?),+;)*) => {
        $(forwards! { @group $args [$call $($flag)?] ($body) [$($name $($value)?),+] })*
    };
    (@group $args:tt $call:tt $body:tt [$($name:ident $($value:literal)?),+]) => {
        $(forwards! { @one $name [$($value)?] $args $call $body })+
    };
    (@one $name:ident [$($value:literal)?] ($($arg:ident: $type:ty),*) [$call:ident $($flag:ident)?] ($body:expr)) => {
        #[allow(unused_unsafe, reason = "some bodies have no conditions")]
        pub(crate) unsafe fn $name($($arg: $type),*) -> Status {
            // SAFETY: the caller's arguments, unchanged.
            let $call = move || unsafe { real::$name($($arg),*) };
            $(let $flag = $value;)?
            // SAFETY: as the caller promised.
            unsafe { $body }
        }
    };
}

forwards! {
    (pointer: *mut u64, bytes: usize, stream: usize) |call, per_thread|
        pools::allocate_current(pointer, bytes, stream, per_thread, call)
        => cuMemAllocAsync = false, cuMemAllocAsync_ptsz = true;
    (pointer: *mut u64, bytes: usize, pool: usize, stream: usize) |call, per_thread|
        pools::allocate_from(pointer, bytes, pool, stream, per_thread, call)
        => cuMemAllocFromPoolAsync = false, cuMemAllocFromPoolAsync_ptsz = true;
    (pointer: u64, stream: usize) |call, per_thread|
        pools::free_async(pointer, stream, per_thread, call)
        => cuMemFreeAsync = false, cuMemFreeAsync_ptsz = true;

    (stream: usize) |call, per_thread|
        waits::waited(call(), || Waited::Stream(Stream::of(stream, per_thread)))
        => cuStreamSynchronize = false, cuStreamSynchronize_ptsz = true;
    (stream: usize) |call| captures::destroy(stream, call) => cuStreamDestroy, cuStreamDestroy_v2;
    (stream: usize) |call, per_thread| captures::begin((stream, per_thread), call)
        => cuStreamBeginCapture = false, cuStreamBeginCapture_ptsz = true;
    (stream: usize, mode: u32) |call, per_thread| captures::begin((stream, per_thread), call)
        => cuStreamBeginCapture_v2 = false, cuStreamBeginCapture_v2_ptsz = true;
    (stream: usize, graph: usize, before: *const usize, edges: *const c_void, count: usize, mode: u32)
        |call, per_thread| captures::begin((stream, per_thread), call)
        => cuStreamBeginCaptureToGraph = false, cuStreamBeginCaptureToGraph_ptsz = true;
    (stream: usize, mode: u32, graph: usize, callback: usize, data: *mut c_void)
        |call, per_thread| captures::begin((stream, per_thread), call)
        => cuStreamBeginRecaptureToGraph = false, cuStreamBeginRecaptureToGraph_ptsz = true;
    (stream: usize, graph: *mut usize) |call, per_thread| captures::end((stream, per_thread), call)
        => cuStreamEndCapture = false, cuStreamEndCapture_ptsz = true;

    (exec: *mut usize, graph: usize, node: *mut usize, log: *mut c_char, bytes: usize) |call|
        graphs::instantiate(exec, graph, false, call)
        => cuGraphInstantiate, cuGraphInstantiate_v2;
    (exec: *mut usize, graph: usize, flags: u64) |call|
        graphs::instantiate(exec, graph, false, call)
        => cuGraphInstantiateWithFlags;
    (exec: *mut usize, graph: usize, parameters: *mut c_void) |call|
        graphs::instantiate(exec, graph, graphs::uploads(parameters), call)
        => cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz;
    (exec: usize, stream: usize) |call| graphs::launch(exec, call)
        => cuGraphUpload, cuGraphUpload_ptsz, cuGraphLaunch, cuGraphLaunch_ptsz;

    (device: c_int) |call| primary::drop_primary(device, call)
        => cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2;
    (device: c_int) |call| primary::reset(device, call)
        => cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2;
    (context: *mut usize, flags: c_uint, device: c_int) |call|
        contexts::create(context, device, call)
        => cuCtxCreate, cuCtxCreate_v2, cuGLCtxCreate, cuGLCtxCreate_v2;
    (context: *mut usize, affinity: *mut c_void, count: c_int, flags: c_uint, device: c_int) |call|
        contexts::create(context, device, call)
        => cuCtxCreate_v3;
    (context: *mut usize, parameters: *mut c_void, flags: c_uint, device: c_int) |call|
        contexts::create(context, device, call)
        => cuCtxCreate_v4;
    (context: *mut usize, flags: c_uint, device: c_int, display: u32, lookup: *mut c_void) |call|
        contexts::create(context, device, call)
        => cuVDPAUCtxCreate, cuVDPAUCtxCreate_v2;
    (context: usize) |call| contexts::destroy(context, call) => cuCtxDestroy, cuCtxDestroy_v2;

    (list: *mut ArrayMapInfo, count: c_uint, stream: usize) |call|
        physical::map_arrays(list, count, call)
        => cuMemMapArrayAsync, cuMemMapArrayAsync_ptsz;
    (pointer: *mut u64, handle: IpcHandle, flags: c_uint) |call|
        imports::open(pointer, &handle, call)
        => cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2;
}
