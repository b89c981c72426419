//! Pools on more than one device.

use crate::{CARDS, GIB, MIB, PAGE, card, on_cards};
use candle_cuda_vmm::{Device, SharedMemoryPool, VirtualMemoryPool};

/// The devices that are there; a test that needs a second one says so where it is missing.
fn cards(name: &str, least: usize) -> Option<usize> {
    let count = (0..16).take_while(|number| Device::new_cuda(*number).is_ok()).count();
    if count < least {
        println!("SKIPPED: {name}: {count} of {least} devices are there");
    }
    (count >= least).then_some(count)
}

fn pool_on(number: usize) -> VirtualMemoryPool {
    VirtualMemoryPool::new(128 * MIB, PAGE, card(number)).unwrap()
}

#[test]
fn devices_are_counted_by_opening_them() {
    on_cards("on_cards::devices_are_counted_by_opening_them", || {
        let soft = std::env::var_os("MILLPOND_DRIVER").is_some_and(|driver| driver == "soft");
        let count = cards("devices_are_counted_by_opening_them", 1).unwrap();
        assert!(count == CARDS || !soft, "{count} devices");
    });
}

#[test]
fn the_first_device_has_a_pool() {
    on_cards("on_cards::the_first_device_has_a_pool", || {
        assert_eq!(pool_on(0).capacity(), 128 * MIB);
    });
}

#[test]
fn the_second_device_has_a_pool() {
    on_cards("on_cards::the_second_device_has_a_pool", || {
        if cards("the_second_device_has_a_pool", 2).is_some() {
            assert_eq!(pool_on(1).capacity(), 128 * MIB);
        }
    });
}

#[test]
fn pools_of_two_devices_count_apart() {
    on_cards("on_cards::pools_of_two_devices_count_apart", || {
        if cards("pools_of_two_devices_count_apart", 2).is_none() {
            return;
        }
        let (mut first, mut second) = (pool_on(0), pool_on(1));
        first.allocate(0, 2 * PAGE).unwrap();
        second.allocate(0, 4 * PAGE).unwrap();
        let held = [&first, &second].map(VirtualMemoryPool::physical_memory_usage);
        assert_eq!(held, [2 * PAGE, 4 * PAGE]);
    });
}

#[test]
fn a_pool_lies_on_the_device_of_its_number() {
    on_cards("on_cards::a_pool_lies_on_the_device_of_its_number", || {
        for number in 0..cards("a_pool_lies_on_the_device_of_its_number", 1).unwrap().min(4) {
            let pool = pool_on(number);
            let device = pool.cache().driver().range().context().device().ordinal();
            assert_eq!(usize::try_from(device).unwrap(), number);
        }
    });
}

#[test]
fn threads_allocate_on_two_devices_at_once() {
    on_cards("on_cards::threads_allocate_on_two_devices_at_once", || {
        if cards("threads_allocate_on_two_devices_at_once", 2).is_none() {
            return;
        }
        let held = std::thread::scope(|scope| {
            let grow = |number| {
                let mut pool = pool_on(number);
                for part in 0..10 {
                    pool.allocate(2 * part * PAGE, 2 * PAGE).unwrap();
                }
                pool.physical_memory_usage()
            };
            [0, 1].map(|number| scope.spawn(move || grow(number))).map(|one| one.join().unwrap())
        });
        assert_eq!(held, [20 * PAGE; 2]);
    });
}

#[test]
fn shared_pools_of_two_devices_count_apart() {
    on_cards("on_cards::shared_pools_of_two_devices_count_apart", || {
        if cards("shared_pools_of_two_devices_count_apart", 2).is_none() {
            return;
        }
        let pools = [0, 1].map(|number| {
            let mut pool = SharedMemoryPool::new(16 * GIB, card(number)).unwrap();
            pool.register_model("model", 32 * GIB).unwrap();
            pool.allocate_for_model("model", (number + 1) * 16 * MIB).unwrap();
            pool
        });
        let stats = pools.each_ref().map(SharedMemoryPool::global_stats);
        assert_eq!(stats.each_ref().map(|one| one.physical_usage), [16 * MIB, 32 * MIB]);
        assert_eq!(stats.map(|one| one.num_models), [1, 1]);
    });
}

#[test]
fn every_device_has_a_pool_at_the_same_time() {
    on_cards("on_cards::every_device_has_a_pool_at_the_same_time", || {
        let count = cards("every_device_has_a_pool_at_the_same_time", 1).unwrap();
        let pools: Vec<_> = (0..count)
            .map(|number| {
                let mut pool = pool_on(number);
                pool.allocate(0, 2 * PAGE).unwrap();
                pool
            })
            .collect();
        assert!(pools.iter().all(|pool| pool.physical_memory_usage() == 2 * PAGE));
    });
}

#[test]
fn a_pool_stays_on_its_device() {
    on_cards("on_cards::a_pool_stays_on_its_device", || {
        if cards("a_pool_stays_on_its_device", 2).is_none() {
            return;
        }
        let mut pool = pool_on(1);
        for part in 0..5 {
            pool.allocate(2 * part * PAGE, 2 * PAGE).unwrap();
        }
        assert_eq!(pool.physical_memory_usage(), 10 * PAGE);
        assert_eq!(pool.cache().driver().range().context().device().ordinal(), 1);
    });
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    on_cards("on_cards::a_device_that_is_not_there_is_an_error", || {
        let count = cards("a_device_that_is_not_there_is_an_error", 1).unwrap();
        assert!(Device::new_cuda(count + 10).is_err());
    });
}
