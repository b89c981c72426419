//! One cache, as a program uses it.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use millpond_cuda::{Context, Event, MappedRange};
use millpond_elastic::{Ahead, Cache, CapChange, CudaPages, Geometry, Stats};
use millpond_wire::message::{CacheOpen, ReplyBody, RequestBody};
use millpond_wire::{CacheId, GpuUuid, GroupName, TensorName};

use super::credit::GroupCredit;
use super::giving::{Offer, PressureAsk};
use super::pages::GroupPages;
use super::spec::ReserveSpec;
use super::waiter::Waiter;
use super::{Elastic, Registry};
use crate::answer::not_an_answer;
use crate::connection::lock;
use crate::link::{Ask, Link};
use crate::{DevicePtr, Error, Pond, Result, process};

type Engine = Cache<GroupPages, Arc<GroupCredit>>;

/// The table that hands out the blocks of a cache one by one, and has pages follow them.
pub type BlockTable = millpond_elastic::BlockTable<GroupPages, Arc<GroupCredit>>;
/// Blocks that are ready, and committed or given up together with those of other ranks.
pub type Prepared = millpond_elastic::Prepared<GroupPages, Arc<GroupCredit>>;

/// Gives up what a pool over the cache does not use: so many bytes, if there are. Answers how many may
/// follow when work is done.
type Reclaim = Box<dyn Fn(u64) -> u64 + Send + Sync>;

type Handler = Arc<dyn Fn(&PressureAsk) -> Offer + Send + Sync>;

/// A saying of the end that the pond does not take within this time is not waited for.
const CLOSING: Duration = Duration::from_secs(2);

/// A range of addresses of this process that never moves, with pages that come and go. Cheap to
/// clone; all threads may use all clones. With the last one everything is given back.
///
/// What is not committed must not be touched: a kernel that does so faults, and the context is lost. A
/// [null page](ReserveSpec::null_page) makes it harmless.
#[derive(Clone)]
pub struct ElasticCache {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    open: CacheOpen,
    engine: Option<Engine>,
    ahead: Option<Ahead>,
    credit: Arc<GroupCredit>,
    context: Context,
    link: Arc<Link>,
    registry: Arc<Registry>,
    handler: Mutex<Option<Handler>>,
    reclaim: OnceLock<Reclaim>,
    /// Blocks that are uncommitted with the next step.
    at_step: Mutex<Vec<Range<u64>>>,
    pid: u32,
    // The connection lives as long as the cache does.
    _pond: Pond,
}

impl ElasticCache {
    pub(super) fn reserve(elastic: &Elastic, name: &str, spec: ReserveSpec) -> Result<Self> {
        let name = TensorName::new(name)?;
        let geometry = spec.geometry()?;
        let (pond, core) = (elastic.pond.clone(), elastic.pond.core());
        core.cuda.prepare(spec.device)?;
        let device = match spec.device {
            Some(device) => device,
            None => pond.device_at(0)?,
        };
        let context = core.cuda.context(device)?;
        let id = CacheId::random();
        let turns = match elastic.limited {
            true => Arc::clone(&core.elastic.turns),
            false => Arc::default(),
        };
        let (wait, link) = (spec.wait, Arc::clone(&core.link));
        let waiter = Arc::new(Waiter { link: Arc::clone(&link), cache: id, wait, turns });
        let ledger = elastic.ledger()?;
        let folder = (!elastic.limited).then_some(ledger.as_c_str());
        let credit = Arc::new(GroupCredit::new(folder, device, Arc::clone(&waiter))?);
        let open = CacheOpen {
            cache: id,
            group: elastic.group.clone(),
            name,
            device,
            slot: credit.slot(),
            reserved_bytes: geometry.bytes(),
            granule_bytes: geometry.granule(),
            segments: u32::try_from(geometry.segments()).unwrap_or(u32::MAX),
            min_bytes: spec.min_bytes,
            weight: spec.weight,
        };
        let waiter = elastic.limited.then_some(waiter);
        let pages = match spec.null_page {
            true => GroupPages::with_null_page(&context, &geometry, waiter, &credit)?,
            false => GroupPages::new(CudaPages::reserve(&context, &geometry)?, waiter),
        };
        let marks = match elastic.limited {
            // What the driver refuses there is waited for, and nobody waits for pages made ahead.
            true => millpond_elastic::Marks::NONE,
            false => spec.marks(&geometry),
        };
        let engine = Engine::new(pages, Arc::clone(&credit), geometry, marks);
        let ahead = match marks == millpond_elastic::Marks::NONE {
            true => None,
            false => Some(Ahead::start(&engine).map_err(|error| {
                Error::system("starting the thread that makes pages ahead", error)
            })?),
        };
        let shared = Shared {
            open,
            engine: Some(engine),
            ahead,
            credit,
            context,
            link,
            registry: Arc::clone(&core.elastic),
            handler: Mutex::new(None),
            reclaim: OnceLock::new(),
            at_step: Mutex::new(Vec::new()),
            pid: process::current(),
            _pond: pond.clone(),
        };
        let shared = Arc::new(shared);
        shared.open()?;
        shared.registry.add(&shared.link, &shared)?;
        Ok(Self { shared })
    }

    pub(super) fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The name that it was reserved with.
    #[must_use]
    pub fn name(&self) -> &TensorName {
        &self.shared.open.name
    }

    /// How the pond knows it.
    #[must_use]
    pub fn id(&self) -> CacheId {
        self.shared.id()
    }

    /// The group that pays.
    #[must_use]
    pub fn group(&self) -> &GroupName {
        &self.shared.open.group
    }

    /// Its GPU.
    #[must_use]
    pub fn device(&self) -> GpuUuid {
        self.shared.open.device
    }

    /// The context that its addresses are for.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// How it is divided.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.shared.geometry()
    }

    /// The first address. It never changes.
    #[must_use]
    pub fn device_ptr(&self) -> DevicePtr {
        DevicePtr(self.engine().base())
    }

    /// Where a block of a segment begins; `None` for one that does not exist.
    #[must_use]
    pub fn address_of(&self, segment: u64, block: u64) -> Option<DevicePtr> {
        self.engine().address_of(segment, block).map(DevicePtr)
    }

    /// The addresses, for checked copies to and from what is committed.
    #[must_use]
    pub fn range(&self) -> &MappedRange {
        self.engine().driver().pages().range()
    }

    /// Makes the first `blocks` blocks of each segment usable. What is usable already stays so.
    ///
    /// # Errors
    /// [`Error::Elastic`]: it never fits, it fits after freeing, the group is over its budget, or the
    /// card is full, with who holds the rest. Nothing has changed then.
    pub fn commit(&self, blocks: u64) -> Result<()> {
        Ok(self.engine().commit(blocks)?)
    }

    /// Makes blocks usable that are not committed yet.
    ///
    /// # Errors
    /// As for [`ElasticCache::commit`]; a block that is committed already.
    pub fn commit_range(&self, blocks: Range<u64>) -> Result<()> {
        Ok(self.engine().commit_range(blocks)?)
    }

    /// Makes everything ready for blocks, so that the commit cannot fail: for ranks that commit all
    /// together or not at all. Dropping what this returns gives the blocks up.
    ///
    /// # Errors
    /// As for [`ElasticCache::commit_range`].
    pub fn prepare(&self, blocks: Range<u64>) -> Result<Prepared> {
        Ok(self.engine().prepare(blocks)?)
    }

    /// Commits blocks of several caches of this process, all or none.
    ///
    /// # Errors
    /// As for [`ElasticCache::commit_range`]; then nothing is committed in any of them.
    pub fn commit_all(wanted: &[(&ElasticCache, Range<u64>)]) -> Result<()> {
        let engines: Vec<(&Engine, Range<u64>)> =
            wanted.iter().map(|(cache, blocks)| (cache.engine(), blocks.clone())).collect();
        Ok(Engine::commit_all(&engines)?)
    }

    /// Ends the use of blocks. Their pages stay mapped for the next commit, and are given back when
    /// somebody needs them, but never before the device has passed the event.
    ///
    /// # Errors
    /// Blocks that are not committed: then none is uncommitted.
    pub fn uncommit(&self, blocks: Range<u64>, after: &Event) -> Result<()> {
        Ok(self.engine().uncommit(blocks, Some(after.clone()))?)
    }

    /// As [`ElasticCache::uncommit`], without an event: before a page is unmapped the whole device is
    /// waited for. Work that uses the blocks must have been submitted before this call.
    ///
    /// # Errors
    /// As for [`ElasticCache::uncommit`].
    pub fn uncommit_now(&self, blocks: Range<u64>) -> Result<()> {
        Ok(self.engine().uncommit(blocks, None)?)
    }

    /// Ends the use of blocks with the step that is being prepared: they stay committed until
    /// [`ElasticCache::step`] says that all work of the step is submitted.
    pub fn uncommit_at_step(&self, blocks: Range<u64>) {
        lock(&self.shared.at_step).push(blocks);
    }

    /// All work of a step is submitted, and done when the device has passed the event.
    ///
    /// # Errors
    /// The first of the blocks that could not be uncommitted; the others are.
    pub fn step(&self, end: &Event) -> Result<()> {
        self.end_step(Some(end))
    }

    /// As [`ElasticCache::step`], without an event: before a page is unmapped the whole device is
    /// waited for.
    ///
    /// # Errors
    /// As for [`ElasticCache::step`].
    pub fn step_now(&self) -> Result<()> {
        self.end_step(None)
    }

    fn end_step(&self, end: Option<&Event>) -> Result<()> {
        let mut failed = Ok(());
        for blocks in std::mem::take(&mut *lock(&self.shared.at_step)) {
            let done = self.engine().uncommit(blocks, end.cloned()).map_err(Error::from);
            failed = failed.and(done);
        }
        failed
    }

    /// The table that hands out blocks one by one; pages follow the blocks.
    ///
    /// # Errors
    /// There is one already, or blocks are committed by their numbers.
    pub fn blocks(&self) -> Result<BlockTable> {
        Ok(self.engine().blocks()?)
    }

    /// Has `handler` called when pages are wanted back beyond the idle ones: it uncommits what it can
    /// do without ([`PressureAsk::cache`] is the cache), and says so. The call comes from a thread of its
    /// own, one at a time.
    pub fn on_pressure(&self, handler: impl Fn(&PressureAsk) -> Offer + Send + Sync + 'static) {
        *lock(&self.shared.handler) = Some(Arc::new(handler));
    }

    /// Gives idle pages back to the group: at least so many bytes, if there are so many. Returns what
    /// was given back.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn trim(&self, bytes: u64) -> Result<u64> {
        let trimmed = self.engine().trim(bytes)?;
        self.shared.surrender();
        Ok(trimmed.bytes)
    }

    /// Sets what the cache may hold of the group's budget. Idle pages above the cap go back at once, others
    /// when no block uses them. Growth above the cap waits for the cache's own idle pages, and is refused
    /// without them. `u64::MAX` is no cap.
    ///
    /// Revisions begin with 1 and grow with each change: a cap with an older one is
    /// [`CapChange::Stale`]. A repeat of the cap in force says how much is still above it.
    ///
    /// # Errors
    /// What the driver answers. The cap is in force.
    pub fn set_cap(&self, bytes: u64, revision: u64) -> Result<CapChange> {
        let change = self.engine().set_cap(bytes, revision)?;
        self.shared.surrender();
        Ok(change)
    }

    /// What rows with committed blocks take.
    #[must_use]
    pub fn committed_bytes(&self) -> u64 {
        self.engine().committed_bytes()
    }

    /// What the cache takes of the card, the idle pages included.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.engine().held_bytes()
    }

    /// What it could give back.
    #[must_use]
    pub fn idle_bytes(&self) -> u64 {
        self.engine().idle_bytes()
    }

    /// Everything that can be counted.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.engine().stats()
    }

    /// Breaks a rule of the engine, for tests that must notice.
    #[doc(hidden)]
    pub fn break_rule(&self, mutation: Option<millpond_elastic::Mutation>) {
        self.engine().break_rule(mutation);
    }

    pub(super) fn engine(&self) -> &Engine {
        self.shared.engine()
    }

    /// What was given back is others' to have at once.
    pub(super) fn surrender(&self) {
        self.shared.surrender();
    }

    /// Has this called before idle pages are given back, so that there are some.
    pub(super) fn reclaim_with(&self, reclaim: impl Fn(u64) -> u64 + Send + Sync + 'static) {
        // A cache is made for one pool, which says so once.
        let _ = self.shared.reclaim.set(Box::new(reclaim));
    }
}

impl Shared {
    pub(super) fn id(&self) -> CacheId {
        self.open.cache
    }

    pub(super) fn name(&self) -> &TensorName {
        &self.open.name
    }

    pub(super) fn geometry(&self) -> &Geometry {
        self.engine().geometry()
    }

    #[expect(clippy::expect_used, reason = "only drop takes it")]
    fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("a cache has its pages until it is dropped")
    }

    /// Tells the pond of the cache.
    pub(super) fn open(&self) -> Result<()> {
        const WHAT: &str = "the opening of a cache";
        let body = RequestBody::CacheOpen(Box::new(self.open.clone()));
        match self.link.ask(WHAT, body)?.body {
            ReplyBody::Done => Ok(()),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    pub(super) fn surrender(&self) {
        self.credit.surrender();
    }

    /// Gives idle pages back: how many bytes, and how many follow when work is done.
    pub(super) fn trim(&self, bytes: u64) -> (u64, u64) {
        if let Some(reclaim) = self.reclaim.get() {
            let held = self.engine().held_bytes();
            let follow = reclaim(bytes);
            // The pool has given back what it could, down to the driver.
            let given = held.saturating_sub(self.engine().held_bytes());
            if given >= bytes {
                return (given, 0);
            }
            let (more, deferred) = self.trim_idle(bytes - given);
            let lacks = (bytes - given).saturating_sub(more);
            return (given + more, (deferred + follow).min(lacks));
        }
        self.trim_idle(bytes)
    }

    fn trim_idle(&self, bytes: u64) -> (u64, u64) {
        match self.engine().trim(bytes) {
            Ok(trimmed) => (trimmed.bytes, trimmed.deferred_bytes),
            Err(error) => {
                tracing::warn!(%error, cache = self.name().as_str(), "no page could be given back");
                (0, 0)
            }
        }
    }

    /// What the program offers.
    pub(super) fn offer(&self, ask: &PressureAsk) -> Offer {
        let handler = lock(&self.handler).clone();
        handler.map_or(Offer::Nothing, |handler| handler(ask))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.pid != process::current() {
            // The memory, the slot and the connection are those of the process that was forked.
            std::mem::forget((self.engine.take(), self.ahead.take()));
            return;
        }
        self.registry.remove(&self.link, self.id());
        drop(self.ahead.take());
        drop(self.engine.take());
        self.surrender();
        if self.link.lock().session.is_up() {
            let ask = Ask {
                what: "the end of a cache",
                body: RequestBody::CacheClose { cache: self.id() },
                lease: None,
                deadline: Instant::now().checked_add(CLOSING),
                waits_until: None,
            };
            if let Err(error) = self.link.call(ask, None) {
                tracing::debug!(%error, "the pond was not told of the end of a cache");
            }
        }
    }
}

impl fmt::Debug for ElasticCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElasticCache").field("open", &self.open).finish_non_exhaustive()
    }
}
