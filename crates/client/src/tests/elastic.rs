//! Elastic caches in real (software) device memory and a real ledger, with a pond in a thread.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use millpond_cuda::{Driver, DriverChoice};
use millpond_elastic::ElasticError;
use millpond_ledger::{Book, BookSettings, Budget, Memory, Patience, UNIT};
use millpond_wire::message::{CacheGave, Gave, Pressure, Reply, ReplyBody, Request, RequestBody};
use millpond_wire::{CacheId, ErrorKind, Failure, GpuUuid, GroupName, Holder};
use tempfile::TempDir;

use crate::connection::lock;
use crate::testing::{Does, FakePond, eventually};
use crate::{CapChange, ElasticCache, Error, Offer, Pond, ReserveSpec, process};

const PAGE: u64 = 2 << 20;
const PATIENCE: Patience = Patience(Duration::from_secs(10));

/// A group whose members may hold ten pages, and a pond that says where it is.
struct Bench {
    pond: FakePond,
    group: TempDir,
    driver: Driver,
    device: GpuUuid,
    /// What the pond says on its own account, with the next ping.
    unasked: Arc<Mutex<Vec<ReplyBody>>>,
}

fn book(folder: &Path) -> Book {
    Book::open(&CString::new(folder.as_os_str().as_bytes()).unwrap()).unwrap()
}

fn set_limit(folder: &Path, pages: u64) {
    let units = pages * PAGE / UNIT;
    let change = |budget: &mut Budget| (budget.asked, budget.effective) = (units, units);
    book(folder).change(None, PATIENCE, change).unwrap();
}

impl Bench {
    fn new() -> Self {
        Self::with(|_, _, _| Does::Polite)
    }

    /// With a script for all but joining, which is told where the group is.
    fn with(script: impl Fn(&Path, usize, &Request) -> Does + Send + Sync + 'static) -> Self {
        let group = tempfile::tempdir().unwrap();
        let path = CString::new(group.path().as_os_str().as_bytes()).unwrap();
        let settings =
            BookSettings { name: b"serving", owner: None, everyone: false, memory: Memory::File };
        Book::create(&path, settings).unwrap();
        set_limit(group.path(), 10);
        let driver = Driver::open(DriverChoice::Soft, Some(&millpond_softgpu::PROVIDER)).unwrap();
        let device = GpuUuid(driver.devices().unwrap().remove(0).uuid().0);
        let unasked: Arc<Mutex<Vec<ReplyBody>>> = Arc::default();
        let (folder, says) = (group.path().to_owned(), Arc::clone(&unasked));
        let pond = FakePond::start(move |number, request| match &request.body {
            RequestBody::GroupJoin(_) => Does::Reply(joined(&folder)),
            RequestBody::Ping => {
                let said = std::mem::take(&mut *lock(&says)).into_iter();
                let mut replies: Vec<Reply> = said.map(|body| Reply { number: 0, body }).collect();
                replies.push(Reply { number: request.number, body: ReplyBody::Done });
                Does::Replies(replies)
            }
            _ => script(&folder, number, request),
        });
        Self { pond, group, driver, device, unasked }
    }

    fn connect(&self) -> Pond {
        self.pond.builder().driver(self.driver.clone()).connect().unwrap()
    }

    fn cache(&self, pond: &Pond, wait: Duration) -> ElasticCache {
        let spec = ReserveSpec::new(64 * PAGE).largest_handle(PAGE).device(self.device).wait(wait);
        pond.elastic("serving").unwrap().reserve("kv", spec).unwrap()
    }

    /// Asks a cache for pages, as the pond does.
    fn press(&self, pond: &Pond, cache: CacheId, ask: u64, pages: u64) {
        lock(&self.unasked).push(ReplyBody::Pressure(Box::new(Pressure {
            cache,
            ask,
            bytes: pages * PAGE,
            beyond_idle_bytes: pages * PAGE,
            wait_ms: 5_000,
            revision: 7,
            reason: "a test".to_owned(),
        })));
        pond.ping().unwrap();
    }

    /// Answers to a request, pages and outcome, once there are so many.
    fn answers(&self, ask: u64, count: usize) -> Vec<(u64, Gave)> {
        let mut found = Vec::new();
        eventually(|| {
            let seen = self.pond.seen();
            let gave = seen.iter().filter_map(|(_, body)| match body {
                RequestBody::CacheGave(gave) if gave.ask == ask => Some(*gave),
                _ => None,
            });
            found = gave.map(|CacheGave { bytes, outcome, .. }| (bytes / PAGE, outcome)).collect();
            found.len() >= count
        });
        found
    }

    /// What members hold by the ledger, in pages.
    fn charged(&self) -> u64 {
        book(self.group.path()).totals(self.device.0).unwrap().used * UNIT / PAGE
    }
}

fn joined(folder: &Path) -> ReplyBody {
    let name = GroupName::new("serving").unwrap();
    ReplyBody::GroupJoined { name, folder: folder.display().to_string(), anonymous: false }
}

fn opened(pond: &FakePond, connection: usize) -> Vec<CacheId> {
    let seen = pond.seen().into_iter();
    let of = seen.filter_map(|(number, body)| match body {
        RequestBody::CacheOpen(open) if number == connection => Some(open.cache),
        _ => None,
    });
    of.collect()
}

#[test]
fn a_cache_is_opened_again_over_every_new_connection_and_closed_once() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (cache, other) = (bench.cache(&pond, Duration::ZERO), bench.cache(&pond, Duration::ZERO));
    assert_eq!(opened(&bench.pond, 0), [cache.id(), other.id()]);
    cache.commit(3).unwrap();
    for connection in 1..4 {
        bench.pond.hang_up();
        let mut both = [cache.id(), other.id()];
        both.sort();
        eventually(|| {
            let mut again = opened(&bench.pond, connection);
            again.sort();
            again == both
        });
    }
    drop(other);
    assert_eq!((bench.charged(), cache.held_bytes()), (3, 3 * PAGE));
    drop(cache);
    assert_eq!(bench.charged(), 0);
    let is_close = |body: &RequestBody| matches!(body, RequestBody::CacheClose { .. });
    // The thread that opened them again may have had the last use of one.
    eventually(|| bench.pond.seen().iter().filter(|(_, body)| is_close(body)).count() == 2);
    // Nobody listens any more, so nobody comes back.
    bench.pond.hang_up();
    pond.ping().unwrap();
    assert_eq!(opened(&bench.pond, 4), []);
}

#[test]
fn pressure_is_applied_deferred_or_refused() {
    let bench = Bench::new();
    let pond = bench.connect();
    let cache = bench.cache(&pond, Duration::ZERO);
    cache.commit(8).unwrap();
    cache.uncommit_now(6..8).unwrap();
    bench.press(&pond, cache.id(), 1, 2);
    assert_eq!(bench.answers(1, 1), [(2, Gave::Applied)]);
    assert_eq!((bench.charged(), cache.held_bytes()), (6, 6 * PAGE));

    // Without a handler there is no more than that.
    cache.uncommit_now(5..6).unwrap();
    bench.press(&pond, cache.id(), 2, 2);
    assert_eq!(bench.answers(2, 1), [(1, Gave::Refused)]);

    // The handler is told what is missing beyond idle pages, and gives it.
    let (owner, asked) = (Arc::new(cache.clone()), Arc::new(Mutex::new(Vec::new())));
    let (giver, noted) = (Arc::downgrade(&owner), Arc::clone(&asked));
    cache.on_pressure(move |ask| {
        lock(&noted).push((ask.bytes / PAGE, ask.blocks, ask.revision, ask.reason.clone()));
        giver.upgrade().unwrap().uncommit_now(3..5).unwrap();
        Offer::Now
    });
    bench.press(&pond, cache.id(), 3, 2);
    assert_eq!(bench.answers(3, 1), [(2, Gave::Applied)]);
    assert_eq!(*lock(&asked), [(2, 2, 7, "a test".to_owned())]);

    // Something follows, without another request.
    cache.on_pressure(|_| Offer::Soon);
    bench.press(&pond, cache.id(), 4, 2);
    assert_eq!(bench.answers(4, 1), [(0, Gave::Deferred)]);
    cache.uncommit_now(2..3).unwrap();
    assert_eq!(bench.answers(4, 2), [(0, Gave::Deferred), (1, Gave::Deferred)]);
    cache.uncommit_now(1..2).unwrap();
    assert_eq!(bench.answers(4, 3)[2], (1, Gave::Applied));
    cache.on_pressure(|_| Offer::Nothing);
    bench.press(&pond, cache.id(), 5, 1);
    assert_eq!(bench.answers(5, 1), [(0, Gave::Refused)]);
    assert_eq!(bench.charged(), 1);
    // A cache that is gone is nobody's to ask.
    let id = cache.id();
    drop((cache, owner));
    bench.press(&pond, id, 6, 1);
    assert_eq!(bench.answers(6, 0), []);
}

fn shortage() -> ReplyBody {
    let mut failure = Failure::new(ErrorKind::GpuFull, "no room");
    failure.capacity_bytes = Some(10 * PAGE);
    failure.free_bytes = Some(PAGE);
    let holder =
        Holder { user: 5, bytes: 9 * PAGE, tensors: 0, cache: Some("'other'".into()), pid: None };
    failure.holders = vec![holder];
    ReplyBody::Failure(failure)
}

#[test]
fn a_wait_that_is_refused_says_who_holds_the_rest() {
    let bench = Bench::with(|_, _, request| match request.body {
        RequestBody::CacheWant { .. } => Does::Reply(shortage()),
        _ => Does::Polite,
    });
    let pond = bench.connect();
    let cache = bench.cache(&pond, Duration::from_secs(60));
    cache.commit(8).unwrap();
    let error = cache.commit(12).unwrap_err();
    let Error::Elastic(error) = error else { panic!("{error}") };
    let ElasticError::AfterFreeing { asked, limit, used, holders } = *error else {
        panic!("{error}")
    };
    assert_eq!((asked, limit, used), (4 * PAGE, 10 * PAGE, 8 * PAGE), "as the ledger has it");
    assert_eq!((holders[0].name.as_str(), holders[0].bytes), ("'other'", 9 * PAGE));
    let error = cache.commit(19).unwrap_err();
    assert!(matches!(&error, Error::Elastic(it) if matches!(**it, ElasticError::NeverFits { .. })));
    assert_eq!((bench.charged(), cache.committed_bytes()), (8, 8 * PAGE));
    let wants = bench.pond.seen();
    let wants = wants.iter().filter(|(_, body)| matches!(body, RequestBody::CacheWant { .. }));
    assert_eq!(wants.count(), 1, "what never fits is nobody's to give");
}

/// A daemon that was just started does not know the cache; what it assigns is in the ledger then.
#[test]
fn a_daemon_that_does_not_know_the_cache_yet_is_asked_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let bench = Bench::with(move |folder, _, request| match request.body {
        RequestBody::CacheWant { .. } => match counts.fetch_add(1, Ordering::AcqRel) {
            0..3 => Does::Reply(ReplyBody::Failure(Failure::new(ErrorKind::NotFound, "unknown"))),
            3 => Does::HangUp,
            _ => {
                set_limit(folder, 20);
                Does::Polite
            }
        },
        _ => Does::Polite,
    });
    let pond = bench.connect();
    let cache = bench.cache(&pond, Duration::from_secs(60));
    cache.commit(8).unwrap();
    cache.commit(12).unwrap();
    assert_eq!((asked.load(Ordering::Acquire), bench.charged()), (5, 12));
}

#[test]
fn without_a_pond_commits_go_on_within_the_limit() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (cache, patient) =
        (bench.cache(&pond, Duration::ZERO), bench.cache(&pond, Duration::from_millis(50)));
    let Bench { pond: fake, group, device, .. } = bench;
    let sock: PathBuf = millpond_wire::runtime_dir::socket(fake.folder());
    drop(fake);
    assert!(!sock.exists());
    for _ in 0..3 {
        cache.commit(10).unwrap();
        for cache in [&cache, &patient] {
            let error = cache.commit_range(20..21).unwrap_err();
            let short = |error: &Error| match error {
                Error::Elastic(error) => matches!(**error, ElasticError::AfterFreeing { .. }),
                _ => false,
            };
            assert!(short(&error), "{error}");
        }
        cache.uncommit_now(0..10).unwrap();
        cache.trim(10 * PAGE).unwrap();
    }
    patient.commit(10).unwrap();
    assert_eq!(book(group.path()).totals(device.0).unwrap().used * UNIT / PAGE, 10);
    drop((cache, patient));
    assert_eq!(book(group.path()).totals(device.0).unwrap().used, 0);
}

#[test]
fn a_forked_child_cannot_use_a_cache_and_its_end_gives_nothing_back() {
    let bench = Bench::new();
    let pond = bench.connect();
    let cache = bench.cache(&pond, Duration::ZERO);
    cache.commit(4).unwrap();
    // What runs on this thread from here on believes that it is the child.
    let child = process::pretend(u32::MAX);
    assert!(cache.commit(5).is_err());
    drop(cache);
    drop(child);
    pond.ping().unwrap();
    let is_close = |body: &RequestBody| matches!(body, RequestBody::CacheClose { .. });
    assert!(!bench.pond.seen().iter().any(|(_, body)| is_close(body)));
    assert_eq!(bench.charged(), 4, "the parent's");
}

#[test]
fn a_cap_holds_below_the_limit_of_the_group() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (cache, other) = (bench.cache(&pond, Duration::ZERO), bench.cache(&pond, Duration::ZERO));
    cache.commit(6).unwrap();
    let above = CapChange::Deferred { above_bytes: 2 * PAGE };
    assert_eq!(cache.set_cap(4 * PAGE, 2).unwrap(), above);
    assert_eq!(cache.set_cap(9 * PAGE, 1).unwrap(), CapChange::Stale { revision: 2 });
    let Err(Error::Elastic(error)) = cache.commit(7) else { panic!("it was committed") };
    assert!(matches!(*error, ElasticError::OverCap { .. }), "{error}");
    assert_eq!(Error::Elastic(error).kind(), ErrorKind::GpuFull);
    cache.uncommit_now(3..6).unwrap();
    assert_eq!(cache.set_cap(4 * PAGE, 2).unwrap(), CapChange::Applied);
    assert_eq!((cache.held_bytes(), bench.charged()), (4 * PAGE, 4));
    other.commit(6).unwrap();
}

#[test]
fn a_null_page_is_paid_for_once_and_until_the_last_page_is_gone() {
    let bench = Bench::new();
    let pond = bench.connect();
    let reserve = |name| {
        let spec = ReserveSpec::new(64 * PAGE).largest_handle(PAGE).device(bench.device);
        pond.elastic("serving").unwrap().reserve(name, spec.wait(Duration::ZERO).null_page(true))
    };
    let cache = reserve("kv").unwrap();
    assert_eq!((bench.charged(), cache.held_bytes()), (1, 0));
    cache.range().memset(0, 64 * PAGE, 5).unwrap();
    cache.commit(9).unwrap();
    assert!(cache.commit(10).is_err(), "the null page counts");
    let Err(Error::Elastic(error)) = reserve("other") else { panic!("it was reserved") };
    assert!(matches!(*error, ElasticError::AfterFreeing { .. }), "{error}");
    let table = {
        cache.uncommit_now(0..9).unwrap();
        cache.trim(u64::MAX).unwrap();
        cache.blocks().unwrap()
    };
    drop(cache);
    assert_eq!(bench.charged(), 1, "a table keeps the addresses, and what is under them");
    drop(table);
    assert_eq!(bench.charged(), 0);
}
