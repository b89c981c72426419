//! Gets that need no message, and those that only look so.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_cuda::{Allocation, Driver, DriverChoice};
use millpond_wire::message::{Life, ReplyBody, RequestBody};
use millpond_wire::{GpuUuid, LeaseId};

use crate::testing::{self, Does, FakePond, info, welcome};
use crate::{GetOptions, Pond, TensorInfo};

const SECOND: Duration = Duration::from_secs(5);

struct Bench {
    pond: FakePond,
    driver: Driver,
    page: File,
}

impl Bench {
    fn new(life: Life, with_page: bool) -> Self {
        Self::with(DriverChoice::Soft, life, with_page)
    }

    fn with(driver: DriverChoice, life: Life, with_page: bool) -> Self {
        let driver = Driver::open(driver, Some(&millpond_softgpu::PROVIDER)).unwrap();
        let device = driver.devices().unwrap().remove(0);
        let slab = Allocation::create(&device, 2 << 20).unwrap().export().unwrap();
        let device = GpuUuid(device.uuid().0);
        let tensor = TensorInfo { device, offset: 4096, life, ..info("acts/x") };
        let page = testing::page();
        let shown: OwnedFd = page.as_fd().try_clone_to_owned().unwrap();
        let pond = FakePond::start(move |_, request| match &request.body {
            RequestBody::Hello(_) if with_page => {
                let ReplyBody::Welcome(mut welcome) = welcome(1) else { unreachable!() };
                welcome.page_slots = 512;
                Does::ReplyWith(ReplyBody::Welcome(welcome), vec![shown.try_clone().unwrap()])
            }
            RequestBody::TensorGet(get) => {
                let grant = crate::testing::grant(tensor.clone(), get.lease, get.mode);
                Does::ReplyWith(grant, vec![slab.try_clone().unwrap()])
            }
            _ => Does::Polite,
        });
        Self { pond, driver, page }
    }

    fn connect(&self) -> Pond {
        let pond = self.pond.builder().driver(self.driver.clone()).connect().unwrap();
        pond.ping().unwrap();
        pond
    }

    /// Something happens to this name.
    fn change(&self, name: &str) {
        testing::change(&self.page, name);
    }

    fn gets(&self) -> usize {
        let seen = self.pond.seen();
        seen.iter().filter(|(_, body)| matches!(body, RequestBody::TensorGet(_))).count()
    }

    fn released(&self) -> Vec<LeaseId> {
        let leases = self.pond.seen().into_iter().filter_map(|(_, body)| match body {
            RequestBody::LeaseRelease { leases } => Some(leases),
            _ => None,
        });
        leases.flatten().collect()
    }
}

#[test]
fn what_is_mapped_and_unchanged_needs_no_message_and_shares_its_lease() {
    let bench = Bench::new(Life::default(), true);
    let pond = bench.connect();
    let first = pond.get("acts/x").unwrap();
    let second = pond.get("acts/x").unwrap();
    let third = pond.clone().get_with("acts/x", GetOptions::read_only().wait(SECOND)).unwrap();
    assert_eq!(bench.gets(), 1);
    assert_eq!((first.id(), first.device_ptr()), (second.id(), third.device_ptr()));
    drop((first, second));
    assert!(pond.flush(SECOND).unwrap());
    assert!(bench.released().is_empty(), "one of them is still there");
    third.to_vec().unwrap();
    drop(third);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(bench.released(), [LeaseId(1)]);
    let again = pond.get("acts/x").unwrap();
    assert_eq!(bench.gets(), 2, "nothing was held any more");
    drop(again);
}

#[test]
fn a_change_another_mode_and_another_name_are_asked_for() {
    let bench = Bench::new(Life::default(), true);
    let pond = bench.connect();
    let held = pond.get("acts/x").unwrap();
    let _writable = pond.get_with("acts/x", GetOptions::read_write()).unwrap();
    assert_eq!(bench.gets(), 2);
    let _other = pond.get("public/acts/x").unwrap();
    let _by_id = pond.get(&held).unwrap();
    assert_eq!(bench.gets(), 4, "the pond says what a name means");
    for name in ["acts/x", "public/acts/x", "~7/acts/x"] {
        let before = bench.gets();
        bench.change(name);
        let _fresh = pond.get("acts/x").unwrap();
        assert_eq!(bench.gets(), before + 1);
        let _same = pond.get("acts/x").unwrap();
        assert_eq!(bench.gets(), before + 1);
    }
}

#[test]
fn another_connection_is_asked_again() {
    let bench = Bench::new(Life::default(), true);
    let pond = bench.connect();
    let _held = pond.get("acts/x").unwrap();
    bench.pond.hang_up();
    bench
        .pond
        .wait_for(|connection, body| connection == 1 && matches!(body, RequestBody::Claim(_)));
    pond.ping().unwrap();
    let _asked = pond.get("acts/x").unwrap();
    assert_eq!(bench.gets(), 2);
}

#[test]
fn counted_gets_and_ponds_without_a_page_are_always_asked() {
    let counted = Life { accesses: Some(5), ..Life::default() };
    for bench in [Bench::new(counted, true), Bench::new(Life::default(), false)] {
        let pond = bench.connect();
        let held: Vec<_> = (0..3).map(|_| pond.get("acts/x").unwrap()).collect();
        assert_eq!(bench.gets(), 3);
        drop(held);
    }
}

#[test]
fn threads_share_what_one_of_them_has() {
    let bench = Arc::new(Bench::new(Life::default(), true));
    let pond = bench.connect();
    let held = pond.get("acts/x").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    assert_eq!(pond.get("acts/x").unwrap().device_ptr(), held.device_ptr());
                }
            });
        }
    });
    assert_eq!(bench.gets(), 1);
    drop(held);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(bench.released(), [LeaseId(1)]);
}

/// `cargo test --release -p millpond -- --ignored --nocapture how_long`. The software driver asks the
/// kernel in which process it is with each call, and that is most of what is shown with it: 340 to 565 ns
/// on a busy machine, 98 to 114 with a `getpid` that remembers. A card's driver need not ask.
#[test]
#[ignore = "a measurement"]
fn how_long_a_get_without_a_message_takes() {
    const TIMES: u32 = 1_000_000;
    let bench = Bench::with(DriverChoice::from_env(), Life::default(), true);
    let pond = bench.connect();
    let _held = pond.get("acts/x").unwrap();
    let begun = Instant::now();
    for _ in 0..TIMES {
        drop(pond.get("acts/x").unwrap());
    }
    let each = begun.elapsed() / TIMES;
    assert_eq!(bench.gets(), 1);
    let shown = format!("{} ns for each get\n", each.as_nanos());
    std::fs::write("/dev/stderr", shown).unwrap();
}
