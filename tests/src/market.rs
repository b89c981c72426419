//! Caches that share a limit, each in a process of its own.
//!
//! Sizes are in [`unit()`]s, so that one test holds on a card and on the software driver.

use millpond::{CacheInfo, EventKind, Events, GroupDevice, GroupLimit, GroupName, GroupSet};
use millpond_softgpu::meter::Meter;

use crate::{Options, PATIENCE, TestPond, Worker, eventually_equal, is_soft};

const MIB: u64 = 1 << 20;

/// The name of the group.
pub const GROUP: &str = "serving";

/// The measure of all sizes here, and the size of a block: on a card, some of them are more than a
/// reading may be wrong by.
#[must_use]
pub fn unit() -> u64 {
    if is_soft() { 2 * MIB } else { 32 * MIB }
}

/// A pond with a group whose limit caches share.
#[derive(Debug)]
pub struct Market {
    pub pond: TestPond,
    events: std::sync::Mutex<Events>,
    base: u64,
}

impl Market {
    /// With a limit of so many units.
    ///
    /// # Panics
    /// If there is no such pond.
    #[must_use]
    pub fn new(units: u64) -> Self {
        Self::with(Options::giving_back(), units)
    }

    /// The same with other options.
    ///
    /// # Panics
    /// If there is no such pond.
    #[must_use]
    pub fn with(options: Options, units: u64) -> Self {
        let pond = TestPond::start(options);
        let events = pond.control().events(0).unwrap();
        let base = pond.physical();
        let market = Self { pond, events: events.into(), base };
        market.limit(units);
        market
    }

    /// Sets the limit.
    ///
    /// # Panics
    /// If that is refused.
    pub fn limit(&self, units: u64) {
        let limit = Some(GroupLimit::Bytes(units * unit()));
        self.set(GroupSet { limit, create: true, ..GroupSet::of(name()) });
    }

    /// Changes the group.
    ///
    /// # Panics
    /// If that is refused.
    pub fn set(&self, set: GroupSet) {
        self.pond.control().set_group(set).unwrap();
    }

    /// A process with one cache of 64 units of addresses, each a block.
    #[must_use]
    pub fn cache(&self, name: &str, options: &str) -> Worker {
        let mut worker = self.pond.worker();
        self.open(&mut worker, name, options);
        worker
    }

    /// One more cache in a process.
    pub fn open(&self, worker: &mut Worker, name: &str, options: &str) {
        worker.ask(&line(name, options));
    }

    /// The group on its card.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn account(&self) -> GroupDevice {
        self.pond.control().group(name()).unwrap().info.devices.remove(0)
    }

    /// What caches hold together, in units, by the ledger.
    pub fn charged(&self) -> u64 {
        self.account().process_bytes / unit()
    }

    /// A cache, as the pond lists it.
    ///
    /// # Panics
    /// If it is not listed.
    #[track_caller]
    pub fn info(&self, cache: &str) -> CacheInfo {
        let caches = self.pond.control().caches(None).unwrap();
        let found = caches.into_iter().find(|info| info.name.as_str() == cache);
        found.unwrap_or_else(|| panic!("no cache '{cache}' is listed"))
    }

    /// The names of all caches, in order.
    ///
    /// # Panics
    /// If the pond does not answer.
    pub fn names(&self) -> Vec<String> {
        let caches = self.pond.control().caches(Some(name())).unwrap();
        let mut names: Vec<String> = caches.iter().map(|info| info.name.to_string()).collect();
        names.sort();
        names
    }

    /// Waits for an event whose text has all of these words; what came before is not seen again.
    ///
    /// # Panics
    /// If it does not come.
    #[track_caller]
    pub fn hears(&self, kind: EventKind, words: &[&str]) -> String {
        let mut events = self.events.lock().unwrap();
        let mut others = Vec::new();
        loop {
            let Some(event) = events.next_timeout(PATIENCE).unwrap() else {
                panic!("no {kind:?} with {words:?}, but {others:#?}");
            };
            if event.kind == kind && words.iter().all(|word| event.text.contains(word)) {
                return event.text;
            }
            others.push((event.kind, event.text));
        }
    }

    /// Waits until the driver counts so many units more than before there were caches. Contexts
    /// cost nothing on the software driver; on a card nothing is asked while there are some.
    #[track_caller]
    pub fn assert_held(&self, what: &str, units: u64) {
        eventually_equal(what, &units, || self.charged());
        if is_soft() {
            self.pond.assert_physical(what, self.base + units * unit());
        }
    }

    /// Waits until nothing is left of caches, on a card too: their processes are gone, and so are
    /// the contexts.
    #[track_caller]
    pub fn assert_gone(&self, what: &str) {
        eventually_equal(what, &0, || self.charged());
        self.pond.assert_physical(what, self.base);
    }

    /// What the driver counted before there were caches.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The software driver's own count.
    ///
    /// # Panics
    /// If it is not the driver.
    #[must_use]
    pub fn meter(&self) -> Meter {
        Meter::open(&self.pond.path("soft"), 0).unwrap()
    }
}

/// The command that opens a cache of 64 units of addresses.
#[must_use]
pub fn line(cache: &str, options: &str) -> String {
    let unit = unit();
    format!("cache open {GROUP} {cache} blocks=64 block={unit} handle={unit} {options}")
}

/// The group, as requests name it.
///
/// # Panics
/// Never.
#[must_use]
pub fn name() -> GroupName {
    GroupName::new(GROUP).unwrap()
}
