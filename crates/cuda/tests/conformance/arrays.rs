//! Arrays and mipmaps, as memory that takes room.

use crate::alone::alone;
use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, is_soft, observe_text};
use millpond_cuda::sys::{Array3dDescriptor, ArrayDescriptor, ArrayMemoryRequirements, Status};
use std::ptr::null_mut;

const UNSIGNED_INT8: u32 = 1;
const FLOAT: u32 = 0x20;
const LAYERED: u32 = 1;
const DEFERRED_MAPPING: u32 = 0x80;

#[test]
fn an_array_takes_its_bytes_and_gives_them_back() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let create = need!(extra, cuArrayCreate_v2);
    let destroy = need!(extra, cuArrayDestroy);
    let describe = need!(extra, cuArrayGetDescriptor_v2);
    let before = gpu.free_bytes();
    let wanted = ArrayDescriptor { width: 2048, height: 2048, format: FLOAT, channels: 4 };
    let (mut array, mut told) = (null_mut(), ArrayDescriptor::default());
    // SAFETY: all pointers are valid for the calls, and nothing uses the array.
    unsafe {
        assert_eq!(create(&raw mut array, &raw const wanted), Status::SUCCESS);
        gpu.assert_taken(before, 64 * MIB);
        assert_eq!(describe(&raw mut told, array), Status::SUCCESS);
        assert_eq!(told, wanted);
        assert_eq!(destroy(array), Status::SUCCESS);
    }
    gpu.assert_freed(before);
}

#[test]
fn arrays_of_three_dimensions_and_of_layers() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let create = need!(extra, cuArray3DCreate_v2);
    let destroy = need!(extra, cuArrayDestroy);
    let describe = need!(extra, cuArray3DGetDescriptor_v2);
    let before = gpu.free_bytes();
    let plain = Array3dDescriptor {
        width: 256,
        height: 256,
        depth: 256,
        format: FLOAT,
        channels: 1,
        flags: 0,
    };
    let layers =
        Array3dDescriptor { depth: 64, height: 1024, width: 1024, flags: LAYERED, ..plain };
    // A dimension that is not there counts once, not as nothing.
    let row = Array3dDescriptor { width: 65_536, height: 0, depth: 0, ..plain };
    for (wanted, bytes) in [(plain, 64 * MIB), (layers, 256 * MIB), (row, MIB / 4)] {
        let (mut array, mut told) = (null_mut(), Array3dDescriptor::default());
        // SAFETY: all pointers are valid for the calls, and nothing uses the array.
        unsafe {
            assert_eq!(create(&raw mut array, &raw const wanted), Status::SUCCESS, "{wanted:?}");
            let taken = before.saturating_sub(gpu.free_bytes());
            observe_text("bytes of an array", format!("{taken} for {bytes}"));
            if bytes >= MIB {
                gpu.assert_taken(before, bytes);
            }
            assert_eq!(describe(&raw mut told, array), Status::SUCCESS);
            assert_eq!(
                (told.width, told.height, told.depth),
                (wanted.width, wanted.height, wanted.depth)
            );
            assert_eq!((told.format, told.channels), (wanted.format, wanted.channels));
            assert_eq!(destroy(array), Status::SUCCESS);
        }
        gpu.assert_freed(before);
    }
}

#[test]
fn a_mipmap_takes_all_its_levels() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let create = need!(extra, cuMipmappedArrayCreate);
    let destroy = need!(extra, cuMipmappedArrayDestroy);
    let level_of = need!(extra, cuMipmappedArrayGetLevel);
    let describe = need!(extra, cuArrayGetDescriptor_v2);
    let before = gpu.free_bytes();
    let wanted = Array3dDescriptor {
        width: 4096,
        height: 4096,
        depth: 0,
        format: FLOAT,
        channels: 1,
        flags: 0,
    };
    let (mut mipmap, mut level) = (null_mut(), null_mut());
    let mut told = ArrayDescriptor::default();
    // SAFETY: all pointers are valid for the calls, and nothing uses the mipmap.
    unsafe {
        assert_eq!(create(&raw mut mipmap, &raw const wanted, 99), Status::SUCCESS);
        // All levels of a square are a third more than the first.
        gpu.assert_taken(before, 85 * MIB);
        assert_eq!(level_of(&raw mut level, mipmap, 2), Status::SUCCESS);
        assert_eq!(describe(&raw mut told, level), Status::SUCCESS);
        assert_eq!((told.width, told.height), (1024, 1024));
        let beyond = level_of(&raw mut level, mipmap, 13);
        observe_text("cuMipmappedArrayGetLevel beyond the last", beyond);
        assert_ne!(beyond, Status::SUCCESS);
        assert_eq!(destroy(mipmap), Status::SUCCESS);
    }
    gpu.assert_freed(before);
}

#[test]
fn an_array_without_memory_says_what_it_needs() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let create = need!(extra, cuArray3DCreate_v2);
    let destroy = need!(extra, cuArrayDestroy);
    let requirements = need!(extra, cuArrayGetMemoryRequirements);
    let before = gpu.free_bytes();
    let mut wanted = Array3dDescriptor {
        width: 4096,
        height: 4096,
        depth: 0,
        format: FLOAT,
        channels: 1,
        flags: DEFERRED_MAPPING,
    };
    let (mut array, mut needs) = (null_mut(), ArrayMemoryRequirements::default());
    // SAFETY: all pointers are valid for the calls, and nothing uses the arrays.
    unsafe {
        let made = create(&raw mut array, &raw const wanted);
        observe_text("cuArray3DCreate with deferred mapping", made);
        if made != Status::SUCCESS {
            return crate::support::skip("this card makes no arrays with deferred mapping");
        }
        gpu.assert_taken(before, 0);
        let device = gpu.device.raw();
        assert_eq!(requirements(&raw mut needs, array, device), Status::SUCCESS);
        observe_text("requirements of 64 MiB", format!("{} / {}", needs.size, needs.alignment));
        assert!(needs.size >= 64 << 20 && needs.alignment.is_power_of_two());
        assert_eq!(destroy(array), Status::SUCCESS);

        wanted.flags = 0;
        assert_eq!(create(&raw mut array, &raw const wanted), Status::SUCCESS);
        let refused = requirements(&raw mut needs, array, device);
        assert_eq!(refused, Status::INVALID_VALUE, "it has its memory already");
        assert_eq!(destroy(array), Status::SUCCESS);
    }
    gpu.assert_freed(before);
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let create = need!(extra, cuArrayCreate_v2);
    let create_3d = need!(extra, cuArray3DCreate_v2);
    let good = ArrayDescriptor { width: 64, height: 64, format: UNSIGNED_INT8, channels: 1 };
    let mut array = null_mut();
    // SAFETY: all pointers are valid for the calls.
    unsafe {
        for (what, bad) in [
            ("no width", ArrayDescriptor { width: 0, ..good }),
            ("three channels", ArrayDescriptor { channels: 3, ..good }),
            ("no channels", ArrayDescriptor { channels: 0, ..good }),
            ("an unknown format", ArrayDescriptor { format: 0x7777, ..good }),
            ("too wide", ArrayDescriptor { width: 1 << 40, ..good }),
        ] {
            let status = create(&raw mut array, &raw const bad);
            observe_text(&format!("cuArrayCreate with {what}"), status);
            assert_ne!(status, Status::SUCCESS, "{what}");
        }
        // Within the limits of a shape, and more than any card has: 8 TiB.
        let layers = 2048;
        let large = Array3dDescriptor {
            width: 32_768,
            height: 32_768,
            depth: layers,
            format: FLOAT,
            channels: 1,
            flags: LAYERED,
        };
        let refused = create_3d(&raw mut array, &raw const large);
        observe_text("cuArray3DCreate of 8 TiB", refused);
        assert_ne!(refused, Status::SUCCESS);
        assert!(!is_soft() || refused == Status::OUT_OF_MEMORY);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut array = null_mut();
            // SAFETY: all pointers are valid for the call.
            let status = unsafe { create(&raw mut array, &raw const good) };
            assert_eq!(status, Status::INVALID_CONTEXT);
        });
    });
}
