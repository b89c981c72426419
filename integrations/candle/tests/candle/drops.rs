//! Tensors, clones, views, threads and pools, dropped in every order.

use crate::card::{
    NOISE_BYTES, PAGE, assert_no_error, context, free, on_card, on_card_with_stream, pool, write,
};
use candle_core::{DType, Device, Tensor};
use candle_cuda_vmm::VmmError;
use std::cell::RefCell;
use std::process::Command;
use std::sync::OnceLock;

fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| u8::try_from((at * 7 + seed) % 251).unwrap()).collect()
}

#[test]
fn a_tensor_is_the_memory_of_its_pool() {
    on_card("a_tensor_is_the_memory_of_its_pool", |device| {
        let pool = pool(device, 4);
        let first = pool.tensor(0, 3 * PAGE, DType::U8).unwrap();
        write(&first, bytes(1, 3 * PAGE));
        let across = pool.tensor(PAGE - 100, (2, 100), DType::U8).unwrap();
        let expected = &bytes(1, 3 * PAGE)[PAGE - 100..PAGE + 100];
        assert_eq!(across.flatten_all().unwrap().to_vec1::<u8>().unwrap(), expected);
        write(&across, bytes(9, 200));
        let part = first.narrow(0, PAGE, 100).unwrap();
        assert_eq!(part.to_vec1::<u8>().unwrap(), bytes(9, 200)[100..]);
    });
}

#[test]
fn every_type_of_whole_bytes_has_tensors() {
    on_card("every_type_of_whole_bytes_has_tensors", |device| {
        let pool = pool(device, 1);
        write(&pool.tensor(0, PAGE, DType::U8).unwrap(), vec![0; PAGE]);
        for dtype in [
            DType::U8,
            DType::U32,
            DType::I16,
            DType::I32,
            DType::I64,
            DType::BF16,
            DType::F16,
            DType::F32,
            DType::F64,
            DType::F8E4M3,
            DType::F8E8M0,
        ] {
            let tensor = pool.tensor(64, (3, 5), dtype).unwrap();
            assert_eq!((tensor.dtype(), tensor.dims()), (dtype, &[3, 5][..]));
            assert!(tensor.device().same_device(device) && tensor.is_contiguous());
        }
        let scalar = pool.tensor(8, (), DType::F64).unwrap();
        assert!(scalar.to_scalar::<f64>().unwrap().abs() < f64::MIN_POSITIVE);
    });
}

#[test]
fn a_part_under_a_tensor_is_not_deallocated() {
    on_card("a_part_under_a_tensor_is_not_deallocated", |device| {
        let mut pool = pool(device, 8);
        let tensor = pool.tensor(2 * PAGE + 4, 4, DType::F32).unwrap();
        for (offset, size) in [(0, 8 * PAGE), (2 * PAGE, PAGE), (3 * PAGE - 1, 1), (PAGE, PAGE + 1)]
        {
            let error = pool.deallocate(offset, size).unwrap_err();
            let VmmError::InUse { tensor_offset, tensor_size: 16, .. } = error else {
                panic!("{error}")
            };
            assert_eq!(tensor_offset, 2 * PAGE + 4);
        }
        assert_eq!(pool.stats().mapped_pages, 8, "nothing was freed");
        pool.deallocate(0, 2 * PAGE).unwrap();
        pool.deallocate(3 * PAGE, PAGE).unwrap();
        drop(tensor);
        pool.deallocate(2 * PAGE, PAGE).unwrap();
        assert_eq!(pool.physical_memory_usage(), 4 * PAGE);
        assert_no_error(device);
    });
}

#[test]
fn the_last_clone_or_view_of_a_tensor_is_what_counts() {
    on_card("the_last_clone_or_view_of_a_tensor_is_what_counts", |device| {
        let mut pool = pool(device, 1);
        for last in 0..5 {
            let tensor = pool.tensor(0, (64, 64), DType::F32).unwrap();
            let mut alive = vec![
                tensor.clone(),
                tensor.narrow(0, 3, 4).unwrap(),
                tensor.t().unwrap(),
                tensor.reshape((32, 128)).unwrap().i_row(),
                tensor,
            ];
            let kept = alive.swap_remove(last);
            for tensor in alive {
                drop(tensor);
                assert!(matches!(pool.deallocate(0, 1), Err(VmmError::InUse { .. })));
            }
            drop(kept);
            pool.deallocate(0, 1).unwrap();
            pool.allocate(0, 1).unwrap();
            assert_no_error(device);
        }
    });
}

trait Row {
    fn i_row(&self) -> Tensor;
}

impl Row for Tensor {
    fn i_row(&self) -> Tensor {
        self.get(1).unwrap()
    }
}

#[test]
fn a_copy_is_memory_of_candle_and_holds_nothing() {
    on_card("a_copy_is_memory_of_candle_and_holds_nothing", |device| {
        let mut pool = pool(device, 1);
        let tensor = pool.tensor(0, 1000, DType::U8).unwrap();
        write(&tensor, bytes(3, 1000));
        let copy = tensor.copy().unwrap();
        drop(tensor);
        pool.deallocate(0, PAGE).unwrap();
        drop(pool);
        assert_eq!(copy.to_vec1::<u8>().unwrap(), bytes(3, 1000));
    });
}

#[test]
fn a_tensor_outlives_its_pool_and_its_pages_go_with_it() {
    on_card("a_tensor_outlives_its_pool_and_its_pages_go_with_it", |device| {
        let pages = 128;
        let before = free(device);
        let pool = pool(device, pages);
        let tensor = pool.tensor(PAGE, PAGE, DType::U8).unwrap();
        write(&tensor, bytes(5, PAGE));
        let other = pool.tensor(0, 10, DType::U8).unwrap();
        drop(pool);
        assert!(free(device) + pages * PAGE <= before + NOISE_BYTES, "the pages are still there");
        drop(other);
        assert_eq!(tensor.to_vec1::<u8>().unwrap(), bytes(5, PAGE));
        let view = tensor.narrow(0, 7, 9).unwrap();
        drop(tensor);
        assert_eq!(view.to_vec1::<u8>().unwrap(), bytes(5, PAGE)[7..16]);
        let held = free(device);
        drop(view);
        assert!(free(device) + NOISE_BYTES >= held + pages * PAGE, "the pages are given back");
        assert_no_error(device);
    });
}

#[test]
fn which_of_two_tensors_at_one_place_is_gone_is_known() {
    on_card("which_of_two_tensors_at_one_place_is_gone_is_known", |device| {
        let mut pool = pool(device, 4);
        let long = pool.tensor(0, 4 * PAGE, DType::U8).unwrap();
        let short = pool.tensor(0, PAGE, DType::U8).unwrap();
        assert!(pool.deallocate(2 * PAGE, PAGE).is_err());
        drop(long);
        pool.deallocate(2 * PAGE, 2 * PAGE).unwrap();
        assert!(pool.deallocate(0, PAGE).is_err());
        pool.allocate(2 * PAGE, PAGE).unwrap();
        let long = pool.tensor(0, 3 * PAGE, DType::U8).unwrap();
        drop(short);
        assert!(pool.deallocate(2 * PAGE, PAGE).is_err());
        drop(long);
        pool.deallocate(0, 3 * PAGE).unwrap();
        assert_no_error(device);
    });
}

#[test]
fn a_device_with_a_stream_of_its_own_drops_as_well() {
    on_card_with_stream("a_device_with_a_stream_of_its_own_drops_as_well", |device| {
        let mut pool = pool(device, 4);
        let long = pool.tensor(0, 4 * PAGE, DType::U8).unwrap();
        write(&long, bytes(2, 4 * PAGE));
        let short = pool.tensor(0, 100, DType::U8).unwrap();
        assert_eq!(short.to_vec1::<u8>().unwrap(), bytes(2, 100));
        drop(long);
        assert!(pool.deallocate(3 * PAGE, PAGE).is_err(), "as long as the place is in use");
        drop(short);
        pool.deallocate(0, 4 * PAGE).unwrap();
        assert_no_error(device);
        pool.allocate(0, PAGE).unwrap();
        let last = pool.tensor(0, 100, DType::U8).unwrap();
        drop(pool);
        assert_eq!(last.to_vec1::<u8>().unwrap().len(), 100);
    });
}

#[test]
fn any_thread_may_drop_the_last_of_a_tensor() {
    on_card("any_thread_may_drop_the_last_of_a_tensor", |device| {
        let mut pool = pool(device, 8);
        for _ in 0..50 {
            let tensors: Vec<Tensor> =
                (0..8).map(|page| pool.tensor(page * PAGE, 256, DType::F32).unwrap()).collect();
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let mut mine: Vec<Tensor> =
                        tensors.iter().map(|tensor| tensor.narrow(0, thread, 8).unwrap()).collect();
                    scope.spawn(move || {
                        while !mine.is_empty() {
                            drop(mine.swap_remove(thread % mine.len()));
                        }
                    });
                }
                drop(tensors);
            });
            pool.deallocate(0, 8 * PAGE).unwrap();
            pool.allocate(0, 8 * PAGE).unwrap();
        }
        let last = pool.tensor(0, 16, DType::F32).unwrap();
        drop(pool);
        std::thread::spawn(move || drop(last)).join().unwrap();
        assert_no_error(device);
    });
}

#[test]
fn everything_of_a_device_may_be_dropped_before_a_tensor() {
    on_card("everything_of_a_device_may_be_dropped_before_a_tensor", |_| {
        let own = Device::new_cuda(0).unwrap();
        let pool = pool(&own, 1);
        let tensor = pool.tensor(0, 100, DType::U8).unwrap();
        write(&tensor, bytes(4, 100));
        drop(pool);
        drop(own);
        assert_eq!(tensor.to_vec1::<u8>().unwrap(), bytes(4, 100));
    });
}

#[test]
fn memory_of_candle_is_freed_as_before() {
    on_card("memory_of_candle_is_freed_as_before", |device| {
        let pool = pool(device, 1);
        let _held = pool.tensor(0, 100, DType::U8).unwrap();
        let (count, each) = (64, 32 << 20);
        let before = free(device);
        for _ in 0..count {
            drop(Tensor::zeros(each, DType::U8, device).unwrap());
            context(device).check_err().unwrap();
        }
        let kept = before.saturating_sub(free(device));
        assert!(kept < count * each / 4, "{kept} bytes of {count} tensors are not freed");
    });
}

/// Tensors that are dropped at the very end, or never.
fn end_with_tensors() {
    thread_local! {
        static LAST: RefCell<Vec<Tensor>> = const { RefCell::new(Vec::new()) };
    }
    static NEVER: OnceLock<Tensor> = OnceLock::new();
    let device = Device::new_cuda(0).unwrap();
    let pool = pool(&device, 4);
    let tensors = [0, 1].map(|page| pool.tensor(page * PAGE, 100, DType::U8).unwrap());
    LAST.with_borrow_mut(|last| last.extend(tensors));
    let pages = pool.tensor(2 * PAGE, 100, DType::U8).unwrap();
    assert!(NEVER.set(pages).is_ok());
    println!("ends with {} tensors", LAST.with_borrow(Vec::len));
    std::process::exit(0);
}

#[test]
fn a_process_may_end_with_tensors() {
    const AGAIN: &str = "MILLPOND_CANDLE_ENDS";
    const NAME: &str = "drops::a_process_may_end_with_tensors";
    if std::env::var_os(AGAIN).is_some() {
        end_with_tensors();
    }
    on_card(NAME, |_| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture", "--test-threads=1"]).env(AGAIN, "yes");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("ends with 2 tensors"), "{said}{error}");
    });
}
