//! Initialisation, devices, error names, symbol look-up.

use crate::child::{Child, Peer};
use crate::support::{Gpu, driver, observe, observe_text, status};
use millpond_cuda::sys::Status;
use millpond_cuda::{DeviceAttribute, DeviceUuid, DriverVersion, result};

#[test]
fn calls_before_init_are_refused() {
    let _gpu = Gpu::take();
    let child = Child::spawn("before_init");
    child.peer.expect(&format!("{}", Status::NOT_INITIALIZED));
    child.finish();
}

pub fn before_init(peer: &Peer) {
    let driver = driver();
    assert!(driver.version() >= DriverVersion(11_000), "the version needs no initialisation");
    peer.send(&status(result::device::count(driver.table())).to_string());
}

#[test]
fn devices_describe_themselves() {
    let gpu = Gpu::take();
    let devices = gpu.driver.devices().unwrap();
    for (index, device) in devices.iter().enumerate() {
        assert!(!device.name().is_empty());
        assert!(device.total_bytes() > 0);
        assert_eq!(usize::try_from(device.ordinal()), Ok(index));
        assert!(devices[..index].iter().all(|other| other.uuid() != device.uuid()));
        let bus = device.pci_bus_id().unwrap();
        assert_eq!(bus.matches(':').count(), 2, "{bus}");
    }
}

#[test]
fn ordinals_out_of_range_are_refused() {
    let gpu = Gpu::take();
    let table = gpu.driver.table();
    let count = result::device::count(table).unwrap();
    assert_eq!(status(result::device::get(table, count)), Status::INVALID_DEVICE);
    assert_eq!(status(result::device::get(table, -1)), Status::INVALID_DEVICE);
}

#[test]
fn a_device_is_found_by_uuid() {
    let gpu = Gpu::take();
    let text = gpu.device.uuid().to_string();
    let found = gpu.driver.device_by_uuid(text.parse().unwrap()).unwrap();
    assert_eq!(found.ordinal(), gpu.device.ordinal());
    assert_eq!(status(gpu.driver.device_by_uuid(DeviceUuid([9; 16]))), Status::NO_DEVICE);
}

#[test]
fn attributes() {
    let gpu = Gpu::take();
    for attribute in [
        DeviceAttribute::VIRTUAL_MEMORY,
        DeviceAttribute::POSIX_FD_HANDLES,
        DeviceAttribute::UNIFIED_ADDRESSING,
    ] {
        assert_eq!(gpu.device.attribute(attribute), Ok(1), "{attribute:?}");
    }
    assert!(gpu.device.attribute(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR).unwrap() >= 7);
    assert!(gpu.device.attribute(DeviceAttribute::MULTIPROCESSORS).unwrap() > 0);
    let unknown = gpu.device.attribute(DeviceAttribute(100_000));
    assert_eq!(status(unknown), Status::INVALID_VALUE);
}

#[test]
fn errors_have_the_names_that_we_know() {
    let gpu = Gpu::take();
    for known in Status::KNOWN {
        assert_eq!(gpu.driver.error_name(*known).as_deref(), Ok(known.name().unwrap()));
        assert!(!gpu.driver.error_text(*known).unwrap().is_empty());
    }
    assert_eq!(status(gpu.driver.error_name(Status(12_345))), Status::INVALID_VALUE);
    assert_eq!(status(gpu.driver.error_text(Status(12_345))), Status::INVALID_VALUE);
}

#[test]
fn symbols_are_found_by_version() {
    let gpu = Gpu::take();
    let version = gpu.driver.version();
    for symbol in [c"cuMemCreate", c"cuMemMap", c"cuInit", c"cuMemGetInfo", c"cuStreamCreate"] {
        let found = gpu.driver.proc_address(symbol, version).unwrap();
        assert!(found.is_some(), "{symbol:?}");
    }
    for symbol in [c"cuMillpond", c"", c"printf"] {
        assert_eq!(gpu.driver.proc_address(symbol, version).unwrap(), None, "{symbol:?}");
    }
    // Virtual memory management came with CUDA 10.2.
    assert_eq!(gpu.driver.proc_address(c"cuMemCreate", DriverVersion(9_000)).unwrap(), None);
}

#[test]
fn a_symbol_that_was_found_works() {
    let gpu = Gpu::take();
    let found = gpu.driver.proc_address(c"cuDriverGetVersion", gpu.driver.version()).unwrap();
    let address = found.unwrap().as_ptr();
    let same = std::ptr::eq(address, gpu.driver.table().cuDriverGetVersion as *const _);
    observe_text("cuGetProcAddress gives the exported address of cuDriverGetVersion", same);
    // SAFETY: the driver says that this is `cuDriverGetVersion`.
    let function = unsafe {
        std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn(*mut i32) -> Status>(
            address,
        )
    };
    let mut version = 0;
    // SAFETY: the out-pointer is valid for the call.
    assert_eq!(unsafe { function(&raw mut version) }, Status::SUCCESS);
    assert_eq!(DriverVersion(version), gpu.driver.version());
}

#[test]
fn capture_modes_are_exchanged() {
    let gpu = Gpu::take();
    // A thread of its own has the mode that threads start with.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let outer = gpu.driver.relax_capture().unwrap();
            assert_eq!(outer.previous(), 0, "threads start in the global mode");
            let inner = gpu.driver.relax_capture().unwrap();
            assert_eq!(inner.previous(), 2);
            drop(inner);
            drop(outer);
            assert_eq!(gpu.driver.relax_capture().unwrap().previous(), 0);
            let wrong = result::driver::exchange_capture_mode(gpu.driver.table(), 77);
            observe("cuThreadExchangeStreamCaptureMode with mode 77", &wrong);
        });
    });
}
