//! The pools of this process: the default of each location, those of the program, and which is
//! current.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_cuda::sys::Status;

use super::address::AddressSpace;
use super::board::Device;
use super::fence::Fence;
use super::location::{Home, Location};
use super::pool::{Pool, PoolSettings};
use super::queue::{Position, Queue};

#[derive(Debug, Default)]
struct Tables {
    pools: BTreeMap<u64, Arc<Pool>>,
    defaults: BTreeMap<Place, Arc<Pool>>,
    current: BTreeMap<Place, Arc<Pool>>,
}

/// What has a default pool and a current one.
pub type Place = (Home, Location);

impl Tables {
    fn find(&self, id: u64) -> Result<Arc<Pool>, Status> {
        let pool = self.pools.get(&id).filter(|pool| !pool.is_destroyed());
        pool.cloned().ok_or(Status::INVALID_VALUE)
    }
}

#[derive(Debug)]
pub struct Pools {
    space: Arc<AddressSpace>,
    step: u64,
    tables: RwLock<Tables>,
}

impl Pools {
    pub fn new(space: &Arc<AddressSpace>, step: u64) -> Self {
        Self { space: Arc::clone(space), step, tables: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a pool, whose growth step is this process's.
    pub fn create(&self, device: &Arc<Device>, settings: PoolSettings) -> u64 {
        let settings = PoolSettings { step: self.step, ..settings };
        let pool = Arc::new(Pool::new(device, &self.space, settings));
        let id = pool.id;
        self.write().pools.insert(id, pool);
        id
    }

    /// A pool by its number.
    pub fn find(&self, id: u64) -> Result<Arc<Pool>, Status> {
        self.read().find(id)
    }

    /// `cuMemPoolDestroy`: a place whose pool it was goes back to its default.
    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        let mut tables = self.write();
        let pool = tables.find(id)?;
        if tables.defaults.values().any(|default| default.id == id) {
            return Err(Status::INVALID_VALUE);
        }
        tables.current.retain(|_, current| current.id != id);
        // Under the lock: nobody makes it a device's pool from here on.
        pool.destroy();
        drop(tables);
        self.bury();
        Ok(())
    }

    /// Lets go of destroyed pools that hold nothing any more.
    fn bury(&self) {
        let any = self.read().pools.values().any(|pool| pool.is_destroyed());
        if any {
            self.write().pools.retain(|_, pool| !pool.is_over());
        }
    }

    /// The default pool of a place, which is made when it is asked for first.
    pub fn default_of(&self, device: &Arc<Device>, place: Place) -> Arc<Pool> {
        if let Some(pool) = self.read().defaults.get(&place) {
            return Arc::clone(pool);
        }
        let mut tables = self.write();
        let Tables { pools, defaults, .. } = &mut *tables;
        let pool = defaults.entry(place).or_insert_with(|| {
            let (home, location) = place;
            let settings =
                PoolSettings { step: self.step, home, location, ..PoolSettings::default() };
            Arc::new(Pool::new(device, &self.space, settings))
        });
        pools.insert(pool.id, Arc::clone(pool));
        Arc::clone(pool)
    }

    pub fn current_of(&self, device: &Arc<Device>, place: Place) -> Arc<Pool> {
        let chosen = self.read().current.get(&place).cloned();
        chosen.unwrap_or_else(|| self.default_of(device, place))
    }

    pub fn set_current(&self, place: Place, id: u64) -> Result<(), Status> {
        let mut tables = self.write();
        let pool = tables.find(id)?;
        if pool.belongs_to() != place {
            return Err(Status::INVALID_DEVICE);
        }
        tables.current.insert(place, pool);
        Ok(())
    }

    /// The pool that has an allocation starting at an address, with its size.
    pub fn owner_of(&self, at: u64) -> Option<(Arc<Pool>, u64)> {
        let tables = self.read();
        tables
            .pools
            .values()
            .find_map(|pool| pool.size_at(at).map(|bytes| (Arc::clone(pool), bytes)))
    }

    /// The pool and the allocation around an address.
    pub fn around(&self, at: u64) -> Option<(Arc<Pool>, u64, u64)> {
        let tables = self.read();
        tables
            .pools
            .values()
            .find_map(|pool| pool.around(at).map(|(start, bytes)| (Arc::clone(pool), start, bytes)))
    }

    /// Called when the program has waited for a place in a stream: memory that was freed before it
    /// and is over the thresholds goes back.
    pub fn waited_for(&self, queue: &Arc<Queue>, position: Position) {
        self.relax(|fence| fence.is_up_to(queue, position));
    }

    /// The same for all streams of a context.
    pub fn waited_for_all(&self, queue: &Arc<Queue>) {
        self.relax(|fence| fence.is_of(queue) && fence.passed());
    }

    fn relax(&self, waited: impl Fn(&Fence) -> bool) {
        for pool in self.read().pools.values() {
            pool.relax(&waited);
        }
        self.bury();
    }

    /// `cuMemFree` of an allocation: at once.
    pub fn free(&self, at: u64) -> Option<Result<(), Status>> {
        let (pool, _) = self.owner_of(at)?;
        let freed = pool.free(at, None);
        self.bury();
        Some(freed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::test_device;
    use super::*;

    #[test]
    fn a_pool_that_is_destroyed_is_nobodys() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let device = Arc::new(test_device(folder.path(), 64 << 20));
        let space = Arc::new(AddressSpace::new(true));
        let pools = Pools::new(&space, 2 << 20);
        let place = Pool::place_of(&device);
        for _ in 0..5_000 {
            let (home, location) = place;
            let settings = PoolSettings { home, location, ..PoolSettings::default() };
            let id = pools.create(&device, settings);
            let begin = std::sync::Barrier::new(3);
            let destroyed = std::thread::scope(|scope| {
                let destroy = || {
                    begin.wait();
                    pools.destroy(id).is_ok()
                };
                let threads = (scope.spawn(destroy), scope.spawn(destroy));
                begin.wait();
                let _ = pools.set_current(place, id);
                [threads.0.join().unwrap(), threads.1.join().unwrap()]
            });
            assert_eq!(destroyed.into_iter().filter(|destroyed| *destroyed).count(), 1);
            assert!(!pools.current_of(&device, place).is_destroyed());
        }
    }
}
