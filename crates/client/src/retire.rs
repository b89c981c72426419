//! The end of leases: nothing is unmapped under running work.
//!
//! Dropping a tensor, or the last view of a version, puts its lease on the list of its context. That list's thread waits until the
//! device has done all that was submitted before, unmaps the slabs that nobody uses any more, and
//! then tells the pond. One thread per context, so that a context that is busy for long delays
//! only its own leases.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use millpond_client_core::{Backoff, Retiring};
use millpond_wire::LeaseId;

use crate::connection::lock;
use crate::model::Arena;
use crate::slab_map::{DeviceSide, SlabMap, SlabMapping};
use crate::{Error, Result};

/// Pauses before something that failed is tried again.
const PAUSE: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));

/// Tells the pond that leases have ended.
pub(crate) type Release = Arc<dyn Fn(&[LeaseId]) -> Result<()> + Send + Sync>;

/// A lease that its holder has let go of.
type Item<D> = (LeaseId, ToUnmap<D>);

/// What is mapped because of a lease.
pub(crate) enum ToUnmap<D: DeviceSide> {
    /// A tensor's slab, together with other tensors of it.
    Slab(Arc<SlabMapping<D>>),
    /// A version's slabs.
    Arena(Box<Arena<D>>),
    /// Nothing any more.
    Nothing,
}

/// How many leases are on their way.
#[derive(Debug, Default)]
struct Outstanding {
    count: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Outstanding {
    fn done(&self, count: usize) {
        self.count.fetch_sub(count, Ordering::AcqRel);
        let _held = lock(&self.lock);
        self.changed.notify_all();
    }
}

/// The leases of one context that are to end.
pub(crate) struct RetireList<D: DeviceSide> {
    context: D::Context,
    device: Arc<D>,
    slabs: Arc<SlabMap<D>>,
    release: Release,
    state: Mutex<ListState<D>>,
    wake: Condvar,
    outstanding: Arc<Outstanding>,
}

struct ListState<D: DeviceSide> {
    items: Vec<Item<D>>,
    ending: bool,
    /// There is a thread. It begins with the first lease that ends: an attach does not wait for it.
    started: bool,
}

impl<D: DeviceSide> RetireList<D> {
    pub(crate) fn context(&self) -> &D::Context {
        &self.context
    }

    /// Puts a lease on the list. Never blocks, never calls the driver or the pond.
    pub(crate) fn push(self: &Arc<Self>, lease: LeaseId, mapped: ToUnmap<D>) {
        self.outstanding.count.fetch_add(1, Ordering::AcqRel);
        lock(&self.state).items.push((lease, mapped));
        self.work();
    }

    /// Wakes the thread, or starts it where there are leases and none. Where it cannot be started,
    /// the leases stay until the next one ends, or somebody waits for them.
    fn work(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.started || state.items.is_empty() {
            self.wake.notify_one();
            return;
        }
        let mut worker = Worker { list: Arc::clone(self), retiring: Retiring::default() };
        let thread = thread::Builder::new().name("millpond-retire".to_owned());
        match thread.spawn(move || worker.run()) {
            Ok(_) => state.started = true,
            Err(error) => tracing::warn!(%error, "leases stay: no thread can be started"),
        }
    }

    /// Sleeps until there are items, the end comes, or the pause is over; then takes what is there.
    fn take(&self, pause: Option<Duration>) -> (Vec<Item<D>>, bool) {
        let mut state = lock(&self.state);
        let idle = |state: &mut ListState<D>| state.items.is_empty() && !state.ending;
        state = match pause {
            // What is tried again is not hurried by what comes in.
            Some(pause) => {
                let waited = self.wake.wait_timeout_while(state, pause, |_| true);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.wake.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner),
        };
        (std::mem::take(&mut state.items), state.ending)
    }
}

impl<D: DeviceSide> fmt::Debug for RetireList<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetireList").field("context", &self.context).finish_non_exhaustive()
    }
}

/// All retire lists of a pond in this process.
pub(crate) struct Retire<D: DeviceSide> {
    device: Arc<D>,
    slabs: Arc<SlabMap<D>>,
    release: Release,
    lists: Mutex<Vec<Arc<RetireList<D>>>>,
    outstanding: Arc<Outstanding>,
}

impl<D: DeviceSide> Retire<D> {
    pub(crate) fn new(device: Arc<D>, slabs: Arc<SlabMap<D>>, release: Release) -> Self {
        let (lists, outstanding) = (Mutex::default(), Arc::default());
        Self { device, slabs, release, lists, outstanding }
    }

    /// The list of a context.
    pub(crate) fn list(&self, context: &D::Context) -> Arc<RetireList<D>> {
        let mut lists = lock(&self.lists);
        if let Some(list) = lists.iter().find(|list| list.context == *context) {
            return Arc::clone(list);
        }
        let list = Arc::new(RetireList {
            context: context.clone(),
            device: Arc::clone(&self.device),
            slabs: Arc::clone(&self.slabs),
            release: Arc::clone(&self.release),
            state: Mutex::new(ListState { items: Vec::new(), ending: false, started: false }),
            wake: Condvar::new(),
            outstanding: Arc::clone(&self.outstanding),
        });
        lists.push(Arc::clone(&list));
        list
    }

    /// Waits until no lease is on its way any more; false if the time was over before, or the call
    /// was cancelled.
    pub(crate) fn flush(&self, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        lock(&self.lists).iter().for_each(RetireList::work);
        let outstanding = &self.outstanding;
        let mut held = lock(&outstanding.lock);
        while outstanding.count.load(Ordering::Acquire) > 0 {
            let left = crate::connection::remaining(deadline).unwrap_or(Duration::MAX);
            if left.is_zero() {
                return false;
            }
            let slice = crate::cancel::slice(Some(left)).unwrap_or(left);
            let waited = outstanding.changed.wait_timeout(held, slice);
            drop(waited.unwrap_or_else(PoisonError::into_inner).0);
            // Without the lock: whoever is asked may take its time.
            if crate::cancel::check().is_err() {
                return false;
            }
            held = lock(&outstanding.lock);
        }
        true
    }

    /// No tensor is left: each thread ends when its list is done.
    pub(crate) fn end(&self) {
        for list in lock(&self.lists).iter() {
            lock(&list.state).ending = true;
            list.work();
        }
    }
}

/// The thread of one list.
struct Worker<D: DeviceSide> {
    list: Arc<RetireList<D>>,
    retiring: Retiring<ToUnmap<D>>,
}

impl<D: DeviceSide> Worker<D> {
    fn run(&mut self) {
        let (mut backoff, mut pause) = (PAUSE, None);
        loop {
            let (items, ending) = self.list.take(pause);
            for (lease, mapped) in items {
                self.retiring.push(lease, mapped);
            }
            let went_well = self.settle() & self.tell();
            if went_well {
                backoff.reset();
                pause = None;
                if ending {
                    return;
                }
            } else {
                pause = Some(backoff.pause());
            }
        }
    }

    /// Waits for the device and unmaps; false if that is to be tried again.
    fn settle(&mut self) -> bool {
        if self.retiring.in_use() == 0 {
            return true;
        }
        let (device, context) = (&self.list.device, &self.list.context);
        let waited = if self.retiring.is_lost() {
            Err(None)
        } else {
            device.undisturbing(|| device.synchronize(context)).map_err(Some)
        };
        match waited {
            Ok(()) => {
                for (lease, mapped) in self.retiring.work_ended() {
                    self.unmap(lease, mapped);
                }
                true
            }
            Err(Some(error)) if !error.is_sticky() => {
                tracing::debug!(%error, "the device cannot be waited for now");
                false
            }
            Err(error) => {
                if let Some(error) = error {
                    let leases = self.retiring.in_use();
                    tracing::warn!(%error, leases, "a context is lost; its tensors stay mapped until the process ends");
                }
                // The mappings stay: dropping the last use of one forgets it.
                let given_up = self.retiring.context_lost();
                self.list.outstanding.done(given_up.len());
                true
            }
        }
    }

    fn unmap(&mut self, lease: LeaseId, mapped: ToUnmap<D>) {
        let (device, slabs) = (&self.list.device, &self.list.slabs);
        let unmap = || match mapped {
            ToUnmap::Slab(slab) => slabs.let_go(slab),
            ToUnmap::Arena(arena) => arena.unmap(device),
            ToUnmap::Nothing => Ok(()),
        };
        match device.undisturbing(unmap) {
            Ok(()) => self.retiring.unmapped(lease),
            Err(error) => {
                // What may still be mapped must stay leased.
                tracing::warn!(%error, %lease, "a slab stays mapped until the process ends");
                self.list.outstanding.done(1);
            }
        }
    }

    /// Tells the pond; false if that is to be tried again.
    fn tell(&mut self) -> bool {
        let leases = self.retiring.to_release();
        if leases.is_empty() {
            return true;
        }
        match (self.list.release)(leases) {
            Ok(()) | Err(Error::Closed) => {
                self.list.outstanding.done(self.retiring.released());
                true
            }
            Err(error) => {
                tracing::debug!(%error, "the pond is told later that leases have ended");
                false
            }
        }
    }
}
