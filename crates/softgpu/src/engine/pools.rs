//! The pools of this process: each device's default, those of the program, and which is current.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_cuda::sys::Status;

use super::address::AddressSpace;
use super::board::Device;
use super::fence::Fence;
use super::pool::{Pool, PoolSettings};
use super::queue::{Position, Queue};

#[derive(Debug)]
struct Tables {
    pools: BTreeMap<u64, Arc<Pool>>,
    defaults: Vec<Arc<Pool>>,
    current: Vec<Arc<Pool>>,
}

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
    /// The default pools alone, which are empty.
    pub fn new(devices: &[Arc<Device>], space: &Arc<AddressSpace>, step: u64) -> Self {
        let settings = PoolSettings { step, ..PoolSettings::default() };
        let defaults: Vec<Arc<Pool>> =
            devices.iter().map(|device| Arc::new(Pool::new(device, space, settings))).collect();
        let pools = defaults.iter().map(|pool| (pool.id, Arc::clone(pool))).collect();
        let tables = Tables { pools, current: defaults.clone(), defaults };
        Self { space: Arc::clone(space), step, tables: RwLock::new(tables) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn create(&self, device: &Arc<Device>, max_bytes: u64, handle_types: u32) -> u64 {
        let settings = PoolSettings { max_bytes, handle_types, step: self.step };
        let pool = Arc::new(Pool::new(device, &self.space, settings));
        let id = pool.id;
        self.write().pools.insert(id, pool);
        id
    }

    /// A pool by its number.
    pub fn find(&self, id: u64) -> Result<Arc<Pool>, Status> {
        self.read().find(id)
    }

    /// `cuMemPoolDestroy`: a device whose pool it was goes back to its default.
    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        let mut tables = self.write();
        let pool = tables.find(id)?;
        if tables.defaults.iter().any(|default| default.id == id) {
            return Err(Status::INVALID_VALUE);
        }
        let default = tables.defaults.get(pool.device.index).cloned();
        if let (Some(current), Some(default)) = (tables.current.get_mut(pool.device.index), default)
            && current.id == id
        {
            *current = default;
        }
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

    pub fn default_of(&self, device: usize) -> Result<Arc<Pool>, Status> {
        self.read().defaults.get(device).cloned().ok_or(Status::INVALID_DEVICE)
    }

    pub fn current_of(&self, device: usize) -> Result<Arc<Pool>, Status> {
        self.read().current.get(device).cloned().ok_or(Status::INVALID_DEVICE)
    }

    pub fn set_current(&self, device: usize, id: u64) -> Result<(), Status> {
        let mut tables = self.write();
        let pool = tables.find(id)?;
        if pool.device.index != device {
            return Err(Status::INVALID_DEVICE);
        }
        *tables.current.get_mut(device).ok_or(Status::INVALID_DEVICE)? = pool;
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
        let pools = Pools::new(std::slice::from_ref(&device), &space, 2 << 20);
        for _ in 0..5_000 {
            let id = pools.create(&device, 0, 0);
            let begin = std::sync::Barrier::new(3);
            let destroyed = std::thread::scope(|scope| {
                let destroy = || {
                    begin.wait();
                    pools.destroy(id).is_ok()
                };
                let threads = (scope.spawn(destroy), scope.spawn(destroy));
                begin.wait();
                let _ = pools.set_current(0, id);
                [threads.0.join().unwrap(), threads.1.join().unwrap()]
            });
            assert_eq!(destroyed.into_iter().filter(|destroyed| *destroyed).count(), 1);
            assert!(!pools.current_of(0).unwrap().is_destroyed());
        }
    }
}
