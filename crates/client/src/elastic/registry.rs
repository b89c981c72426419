//! The caches of this process, and the thread that hears what the pond wants of them.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use millpond_wire::CacheId;

use super::cache::Shared;
use super::giving::Giving;
use crate::connection::lock;
use crate::line::Listener;
use crate::link::Link;
use crate::{Error, Result};

/// All caches of one process in one pond.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    caches: Mutex<BTreeMap<CacheId, Weak<Shared>>>,
    /// In a program that is limited itself all caches are paid for by its one slot, and wait in turn.
    pub(super) turns: Arc<Mutex<()>>,
}

impl Registry {
    /// Adds a cache. The first one starts the thread.
    pub(super) fn add(self: &Arc<Self>, link: &Arc<Link>, cache: &Arc<Shared>) -> Result<()> {
        let mut caches = lock(&self.caches);
        if caches.is_empty() {
            let (tell, told) = channel();
            let giving = Giving::new(Arc::clone(self), Arc::clone(link));
            thread::Builder::new()
                .name("millpond-elastic".to_owned())
                .spawn(move || giving.serve(&told))
                .map_err(|error| Error::system("starting the thread of caches", error))?;
            link.lock().listen(Listener::Caches, Some(tell));
        }
        caches.insert(cache.id(), Arc::downgrade(cache));
        drop(caches);
        link.start_watch()?;
        link.lock().wake_watch();
        Ok(())
    }

    /// Removes a cache. With the last one the thread ends.
    pub(super) fn remove(&self, link: &Link, cache: CacheId) {
        let mut caches = lock(&self.caches);
        if caches.remove(&cache).is_some() && caches.is_empty() {
            link.lock().listen(Listener::Caches, None);
        }
    }

    pub(super) fn find(&self, cache: CacheId) -> Option<Arc<Shared>> {
        lock(&self.caches).get(&cache)?.upgrade()
    }

    pub(super) fn all(&self) -> Vec<Arc<Shared>> {
        lock(&self.caches).values().filter_map(Weak::upgrade).collect()
    }
}
