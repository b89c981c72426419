//! What cannot be, with an error that names it.

use crate::card::{PAGE, assert_no_error, on_card, pool};
use candle_core::{DType, Device};
use candle_cuda_vmm::{PhysicalMemoryHandle, SharedMemoryPool, VirtualMemoryPool, VmmError};

#[test]
fn a_device_without_cuda_is_an_error() {
    let errors = [
        VirtualMemoryPool::new(PAGE, PAGE, Device::Cpu).map(drop).unwrap_err(),
        SharedMemoryPool::new(PAGE, Device::Cpu).map(drop).unwrap_err(),
        PhysicalMemoryHandle::new(PAGE, &Device::Cpu).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, VmmError::NotCuda(name) if name == "the CPU"), "{error}");
    }
}

#[test]
fn a_tensor_that_cannot_be_there_is_an_error_that_names_it() {
    on_card("a_tensor_that_cannot_be_there_is_an_error_that_names_it", |device| {
        let mut pool = pool(device, 8);
        pool.deallocate(5 * PAGE, 2 * PAGE).unwrap();
        let refused = |offset, shape: &[usize], dtype| {
            pool.tensor(offset, shape, dtype).map(drop).unwrap_err()
        };
        let error = refused(4 * PAGE, &[2 * PAGE], DType::U8);
        let VmmError::NotMapped { offset, size: PAGE } = error else { panic!("{error}") };
        assert_eq!(offset, 5 * PAGE);
        let error = refused(6 * PAGE + 8, &[1], DType::F64);
        let VmmError::NotMapped { offset, size: PAGE } = error else { panic!("{error}") };
        assert_eq!(offset, 6 * PAGE);
        for (offset, count) in [(8 * PAGE, 1), (7 * PAGE, PAGE / 4 + 1), (usize::MAX - 3, 4)] {
            let error = refused(offset, &[count], DType::F32);
            let VmmError::InvalidOffset { offset: found, size, capacity } = error else {
                panic!("{error}")
            };
            assert_eq!((found, size, capacity), (offset, 4 * count, 8 * PAGE));
        }
        let error = refused(2, &[4], DType::F32);
        assert!(matches!(error, VmmError::MisalignedTensor { offset: 2, size: 4, .. }), "{error}");
        let error = refused(0, &[1 << 40, 1 << 40], DType::F32);
        assert!(matches!(error, VmmError::OversizedTensor { .. }), "{error}");
        let error = refused(0, &[3, 0], DType::F32);
        assert!(matches!(error, VmmError::EmptyTensor { .. }), "{error}");
        let error = refused(0, &[8], DType::F4);
        assert!(matches!(error, VmmError::NoWholeBytes { dtype: DType::F4 }), "{error}");
        let whole = pool.tensor(7 * PAGE, PAGE / 4, DType::F32).unwrap();
        drop(whole);
        pool.deallocate(0, 5 * PAGE).unwrap();
        assert_no_error(device);
    });
}

#[test]
fn wrong_parts_of_a_pool_are_the_errors_of_the_engine() {
    on_card("wrong_parts_of_a_pool_are_the_errors_of_the_engine", |device| {
        let mut pool = pool(device, 2);
        for (offset, size) in [(0, 0), (2 * PAGE, 1), (usize::MAX, 2), (2, usize::MAX)] {
            let error = pool.deallocate(offset, size).unwrap_err();
            assert!(matches!(error, VmmError::InvalidOffset { .. }), "{error}");
        }
        let error = pool.allocate(0, 1).unwrap_err();
        assert!(matches!(error, VmmError::AlreadyMapped { offset: 0, size: PAGE }), "{error}");
        let new = |capacity, page| VirtualMemoryPool::new(capacity, page, device.clone());
        assert!(matches!(new(PAGE, 3), Err(VmmError::InvalidPageSize(3))));
        assert!(matches!(new(0, PAGE), Err(VmmError::InvalidAlignment { actual: 0, .. })));
        assert_eq!(new(PAGE + 1, PAGE).unwrap().capacity(), 2 * PAGE);
    });
}
