//! `cuGetProcAddress` by version and flag, and the functions of the per-thread default stream.

use crate::alone::alone;
use crate::extra::{Extra, PAIRS, Twins, need};
use crate::support::{Gpu, driver, observe_text, read_word};
use millpond_cuda::sys::{CUgraph, CUgraphExec, CUstream, Status, constants};
use millpond_cuda::{Access, Stream, result};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::time::Duration;

const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

/// Long enough that nobody sees its end by accident.
const LONG: Duration = Duration::from_secs(2);

struct Answer {
    status: Status,
    address: *const c_void,
    found: u32,
}

fn ask(name: &str, version: i32, flags: u64) -> Answer {
    let name = CString::new(name).unwrap();
    let (mut address, mut found) = (null_mut(), 99);
    let ask = driver().table().cuGetProcAddress_v2;
    // SAFETY: the name ends in NUL and both out-pointers are valid for the call.
    let status = unsafe { ask(name.as_ptr(), &raw mut address, version, flags, &raw mut found) };
    Answer { status, address, found }
}

fn exported(name: &str) -> *const c_void {
    driver().symbol(name).map_or(null(), |address| address.as_ptr().cast_const())
}

/// A base name without what makes it another version.
fn base(name: &str) -> &str {
    let digits = name.trim_end_matches(|last: char| last.is_ascii_digit());
    digits.strip_suffix("_v").unwrap_or(name)
}

#[test]
fn the_version_chooses_the_function() {
    let _gpu = Gpu::take();
    let mut wrong = Vec::new();
    for (name, version, symbol) in [
        ("cuMemAlloc", 3_020, "cuMemAlloc_v2"),
        ("cuMemAlloc", 12_000, "cuMemAlloc_v2"),
        ("cuCtxCreate", 3_020, "cuCtxCreate_v2"),
        ("cuCtxCreate", 11_030, "cuCtxCreate_v2"),
        ("cuCtxCreate", 11_040, "cuCtxCreate_v3"),
        ("cuCtxCreate", 12_040, "cuCtxCreate_v3"),
        ("cuCtxCreate", 12_050, "cuCtxCreate_v4"),
        ("cuCtxGetDevice", 13_000, "cuCtxGetDevice_v2"),
        ("cuDevicePrimaryCtxReset", 11_000, "cuDevicePrimaryCtxReset_v2"),
        ("cuCtxGetDevice", 12_090, "cuCtxGetDevice"),
        ("cuGetProcAddress", 11_030, "cuGetProcAddress"),
        ("cuGetProcAddress", 11_080, "cuGetProcAddress"),
        ("cuGetProcAddress", 12_000, "cuGetProcAddress_v2"),
        ("cuIpcOpenMemHandle", 11_000, "cuIpcOpenMemHandle_v2"),
        ("cuMemCreate", 10_020, "cuMemCreate"),
        ("cuMemAllocAsync", 11_020, "cuMemAllocAsync"),
        ("cuMemPoolCreate", 11_020, "cuMemPoolCreate"),
        ("cuStreamBeginCapture", 10_010, "cuStreamBeginCapture_v2"),
        ("cuStreamGetCaptureInfo", 11_030, "cuStreamGetCaptureInfo_v2"),
        ("cuStreamGetCaptureInfo", 12_030, "cuStreamGetCaptureInfo_v3"),
        ("cuGraphAddMemAllocNode", 11_040, "cuGraphAddMemAllocNode"),
        ("cuGraphAddNode", 12_020, "cuGraphAddNode"),
        ("cuGraphAddNode", 12_030, "cuGraphAddNode_v2"),
        ("cuMemPrefetchAsync", 12_020, "cuMemPrefetchAsync_v2"),
    ] {
        if version > driver().version().0 {
            crate::support::skip(&format!("this driver is older than version {version}"));
            continue;
        }
        let answer = ask(name, version, 0);
        let found = (answer.status, answer.found) == (Status::SUCCESS, 0);
        if !found || answer.address.is_null() || answer.address != exported(symbol) {
            wrong.push((name, version, symbol, answer.status, answer.found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Since CUDA 12 `cuGraphInstantiate` is a function of three arguments, the last of them flags. An
/// H200 has it apart from `cuGraphInstantiateWithFlags`, which does the same.
#[test]
fn a_name_got_another_meaning() {
    /// The longer of the two signatures: a function of three arguments does not see the rest.
    type Instantiate =
        unsafe extern "C" fn(*mut CUgraphExec, CUgraph, *mut c_void, *mut c_void, usize) -> Status;
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let answer = ask("cuGraphInstantiate", 12_000, 0);
    assert_eq!((answer.status, answer.found), (Status::SUCCESS, 0));
    let ends = ["", "_v2", "WithFlags", "WithParams", "WithParams_ptsz"];
    let names = ends.map(|end| format!("cuGraphInstantiate{end}"));
    let same = names.iter().find(|name| exported(name) == answer.address);
    let same = same.map_or("none of the exported functions", |name| name);
    observe_text("cuGraphInstantiate for CUDA 12 is", same);
    let graph = result::graph::create(table).unwrap();
    let mut exec = null_mut();
    // SAFETY: the function takes these arguments or the first three of them; all handles are alive,
    // and destroyed once.
    unsafe {
        let instantiate = std::mem::transmute::<*const c_void, Instantiate>(answer.address);
        let made = instantiate(&raw mut exec, graph, null_mut(), null_mut(), 0);
        assert_eq!(made, Status::SUCCESS);
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
}

#[test]
fn what_is_not_there_is_told_apart_from_what_is_too_new() {
    let _gpu = Gpu::take();
    for (name, version, found) in [
        ("cuMillpond", 12_000, constants::PROC_ADDRESS_NOT_FOUND),
        ("cuMemAlloc_v2", 12_000, constants::PROC_ADDRESS_NOT_FOUND),
        ("", 12_000, constants::PROC_ADDRESS_NOT_FOUND),
        ("cuMemCreate", 10_010, constants::PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        ("cuMemAllocAsync", 11_010, constants::PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        ("cuGraphAddMemAllocNode", 11_030, constants::PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
        ("cuGetProcAddress", 11_020, constants::PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
    ] {
        let answer = ask(name, version, 0);
        assert_eq!((answer.status, answer.found), (Status::SUCCESS, found), "{name} {version}");
        assert!(answer.address.is_null());
    }
    let newer = driver().version().0 + 10;
    for (version, flags) in [(99_000, 0), (newer, 0), (12_000, 64)] {
        assert_eq!(ask("cuMemAlloc", version, flags).status, Status::INVALID_VALUE, "{version}");
    }
    // Both default streams at once.
    let both = ask("cuMemcpyHtoD", 12_000, LEGACY | PER_THREAD);
    assert_eq!((both.status, both.found), (Status::SUCCESS, 0));
    let own = both.address == exported("cuMemcpyHtoD_v2_ptds");
    observe_text("cuGetProcAddress with both flags finds the thread's own", own);
}

#[test]
fn the_function_of_cuda_11_takes_four_arguments() {
    let _gpu = Gpu::take();
    let first = need!(Extra::find(), cuGetProcAddress);
    let mut address = null_mut();
    // SAFETY: the names end in NUL and the out-pointer is valid for each call.
    unsafe {
        let found = first(c"cuMemAlloc".as_ptr(), &raw mut address, 11_030, 0);
        assert_eq!(found, Status::SUCCESS);
        assert_eq!(address.cast_const(), exported("cuMemAlloc_v2"));
        let found = first(c"cuEventRecord".as_ptr(), &raw mut address, 11_030, PER_THREAD);
        assert_eq!(found, Status::SUCCESS);
        assert_eq!(address.cast_const(), exported("cuEventRecord_ptsz"));
        address = null_mut();
        let unknown = first(c"cuMillpond".as_ptr(), &raw mut address, 11_030, 0);
        observe_text("cuGetProcAddress of CUDA 11 for an unknown name", unknown);
        assert!(unknown == Status::NOT_FOUND || address.is_null());
    }
}

#[test]
fn the_flag_chooses_the_twin() {
    let _gpu = Gpu::take();
    for (twin, name) in PAIRS {
        if exported(twin).is_null() {
            crate::support::skip(&format!("the driver exports no {twin}"));
            continue;
        }
        let version = driver().version().0;
        let (plain, legacy) = (ask(base(name), version, 0), ask(base(name), version, LEGACY));
        assert_eq!(plain.address, legacy.address, "{name}");
        let own = ask(base(name), version, PER_THREAD);
        assert_eq!((own.status, own.found), (Status::SUCCESS, 0), "{twin}");
        assert!(!own.address.is_null() && own.address != plain.address, "{twin}");
        if plain.address == exported(name) {
            assert_eq!(own.address, exported(twin), "{twin}");
        }
    }
    // What takes no default stream has one function only.
    let version = driver().version().0;
    let plain = ask("cuMemAlloc", version, 0).address;
    assert_eq!(ask("cuMemAlloc", version, PER_THREAD).address, plain);
}

#[test]
fn export_tables_of_nobody_are_refused() {
    let _gpu = Gpu::take();
    let table = need!(Extra::find(), cuGetExportTable);
    let id = millpond_cuda::sys::CUuuid { bytes: [0x6d; 16] };
    let mut address = null();
    // SAFETY: both pointers are valid for the call.
    let status = unsafe { table(&raw mut address, &raw const id) };
    assert_eq!(status, Status::INVALID_VALUE);
}

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let twins = Twins::find();
    let query_own = need!(twins, cuStreamQuery_ptsz);
    let wait_own = need!(twins, cuStreamSynchronize_ptsz);
    let query = gpu.driver.table().cuStreamQuery;
    let number = |number: usize| std::ptr::without_provenance_mut(number) as CUstream;
    let source = gpu.memory(gpu.unit());
    let target = gpu.map(&gpu.create(gpu.unit()), Access::ReadWrite);
    source.copy_from_host(0, &7_u64.to_le_bytes()).unwrap();
    let kernel = gpu.kernel();
    let _bound = context.bind().unwrap();
    // SAFETY: the default streams live as long as the context.
    unsafe {
        let own = Stream::from_raw(&context, number(2));
        kernel.touch(&own, &source, &target, LONG).unwrap();
        assert_eq!(query(number(2)), Status::NOT_READY);
        assert_eq!(query_own(number(0)), Status::NOT_READY, "0 is the thread's own");
        assert_eq!(query_own(number(2)), Status::NOT_READY);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _bound = context.bind().unwrap();
                assert_eq!(query_own(number(0)), Status::SUCCESS, "another thread's is idle");
                assert_eq!(query(number(2)), Status::SUCCESS);
                assert_eq!(wait_own(number(0)), Status::SUCCESS);
                assert_eq!(query(number(2)), Status::SUCCESS);
            });
        });
        assert_eq!(query_own(number(0)), Status::NOT_READY, "nobody waited for it");
        assert_eq!(wait_own(number(0)), Status::SUCCESS);
        assert_eq!(query_own(number(0)), Status::SUCCESS);
    }
    assert_eq!(read_word(&target), 7);
}

#[test]
fn the_legacy_stream_waits_for_the_threads_own() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let twins = Twins::find();
    let copy_own = need!(twins, cuMemcpyDtoH_v2_ptds);
    let fill_own = need!(twins, cuMemsetD8_v2_ptds);
    let record_own = need!(twins, cuEventRecord_ptsz);
    let memory = gpu.memory(gpu.unit());
    let target = gpu.memory(gpu.unit());
    let kernel = gpu.kernel();
    let _bound = context.bind().unwrap();
    let event = millpond_cuda::Event::new(&context).unwrap();
    memory.copy_from_host(0, &9_u64.to_le_bytes()).unwrap();
    // SAFETY: the default streams live as long as the context; the ranges are inside the mappings.
    unsafe {
        let own = Stream::from_raw(&context, std::ptr::without_provenance_mut(2));
        kernel.touch(&own, &memory, &target, Duration::from_millis(200)).unwrap();
        assert_eq!(record_own(event.raw(), null_mut()), Status::SUCCESS);
        // A copy of the legacy stream comes after it.
        assert_eq!(read_word(&target), 9);
        assert!(event.is_done().unwrap());
        assert_eq!(fill_own(memory.pointer().0, 0x11, 8), Status::SUCCESS);
        let mut word = [0_u8; 8];
        let copied = copy_own(word.as_mut_ptr().cast(), memory.pointer().0, 8);
        assert_eq!((copied, word), (Status::SUCCESS, [0x11; 8]));
    }
}
