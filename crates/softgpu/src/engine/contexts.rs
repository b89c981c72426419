//! Contexts: the primary one of each device, those that a program makes, and each thread's stack.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::address::AddressSpace;
use super::board::Device;
use super::ids;
use super::job::Site;
use super::physical::Allocation;
use super::queue::Queue;
use super::registry::CreateError;

#[derive(Debug)]
pub struct Context {
    /// The number by which the program knows it.
    pub id: u64,
    pub device: Arc<Device>,
    pub queue: Arc<Queue>,
    /// `CU_CTX_*`, as the program set them.
    pub flags: AtomicU32,
    /// `CU_LIMIT_*`, as the program set them.
    pub limits: Limits,
    /// Memory that is not at any address, by the number of its owner: it goes with the context.
    memory: Mutex<HashMap<u64, Allocation>>,
    alive: AtomicBool,
}

impl Context {
    /// Keeps memory until it is taken out again or the context ends.
    pub fn keep(&self, owner: u64, allocation: Allocation) {
        self.memory().insert(owner, allocation);
    }

    /// Frees what was kept for an owner.
    pub fn free(&self, owner: u64) {
        // Freeing takes long: after the lock.
        let gone = self.memory().remove(&owner);
        drop(gone);
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<u64, Allocation>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error when the context has ended or was lost.
    pub fn check(&self) -> Result<(), Status> {
        if !self.alive.load(Ordering::Acquire) {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        self.queue.fault().map_or(Ok(()), Err)
    }
}

/// The sizes that `cuCtxSetLimit` keeps. Nothing here depends on them.
#[derive(Debug)]
pub struct Limits([AtomicU64; LIMITS.len()]);

/// `CU_LIMIT_*` that can be asked for, and what they are at first.
const LIMITS: [(u32, u64); 6] =
    [(0, 1 << 10), (1, 1 << 20), (2, 8 << 20), (4, 2048), (5, 64), (6, 0)];

/// `CU_LIMIT_*` that exist, but not here, end before this number.
const LIMITS_END: u32 = 10;

impl Default for Limits {
    fn default() -> Self {
        Self(LIMITS.map(|(_, first)| AtomicU64::new(first)))
    }
}

impl Limits {
    /// The place of one limit.
    pub fn find(&self, limit: u32) -> Result<&AtomicU64, Status> {
        let known = LIMITS.iter().zip(&self.0).find(|((number, _), _)| *number == limit);
        let missing =
            if limit < LIMITS_END { Status::UNSUPPORTED_LIMIT } else { Status::INVALID_VALUE };
        known.map(|(_, place)| place).ok_or(missing)
    }
}

/// One way to wait at most, and no flag that CUDA does not have.
fn check_flags(flags: u32) -> Result<(), Status> {
    const WAITING: u32 = 7;
    const ALL: u32 = 0xff;
    let one_way = (flags & WAITING).count_ones() <= 1;
    if flags & !ALL == 0 && one_way { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

#[derive(Debug, Default)]
struct Primary {
    id: u64,
    retained: u64,
    /// False before the first retain and after a reset, also while it is retained.
    open: bool,
    flags: u32,
    lost: Option<Status>,
}

/// All contexts of this process.
#[derive(Debug)]
pub struct Contexts {
    space: Arc<AddressSpace>,
    adversarial: bool,
    bytes: u64,
    table: RwLock<HashMap<u64, Arc<Context>>>,
    /// Contexts of the program's own that have ended, oldest first. They are still known, so that who
    /// names one is told what it is.
    ended: Mutex<VecDeque<u64>>,
    primaries: Mutex<Vec<Primary>>,
}

/// So many ended contexts are known; older ones are contexts of nobody.
const ENDED: usize = 1024;

thread_local! {
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Contexts {
    pub fn new(space: Arc<AddressSpace>, adversarial: bool, bytes: u64, devices: usize) -> Self {
        let primaries =
            (0..devices).map(|_| Primary { id: ids::next(), ..Primary::default() }).collect();
        Self {
            space,
            adversarial,
            bytes,
            table: RwLock::default(),
            ended: Mutex::default(),
            primaries: Mutex::new(primaries),
        }
    }

    fn primaries(&self) -> MutexGuard<'_, Vec<Primary>> {
        self.primaries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, id: u64, device: &Arc<Device>, flags: u32) -> Result<(), Status> {
        device.registry.charge_context(self.bytes).map_err(|error| match error {
            CreateError::Full => Status::OUT_OF_MEMORY,
            CreateError::System(_) => Status::OPERATING_SYSTEM,
        })?;
        let site = Site { space: Arc::clone(&self.space), device: device.index };
        let context = Context {
            id,
            device: Arc::clone(device),
            queue: Queue::new(site, self.adversarial),
            flags: AtomicU32::new(flags),
            limits: Limits::default(),
            memory: Mutex::default(),
            alive: AtomicBool::new(true),
        };
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(context));
        Ok(())
    }

    /// Ends a context: its work is finished, its memory freed. Answers the fault that lost it.
    fn end(&self, id: u64) -> Option<Status> {
        let context = self.find(id).ok()?;
        let fault = context.queue.wait_all().err();
        // Of two threads that end it, one gives its bytes back.
        if context.alive.swap(false, Ordering::AcqRel) {
            context.queue.close_all();
            self.space.unmap_context(id);
            let kept = std::mem::take(&mut *context.memory());
            drop(kept);
            // A failure leaves the bytes charged until the process ends.
            let _ = context.device.registry.return_context(self.bytes);
        }
        fault
    }

    pub fn retain_primary(&self, device: &Arc<Device>) -> Result<u64, Status> {
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        if let Some(lost) = primary.lost {
            return Err(lost);
        }
        if !primary.open {
            self.open(primary.id, device, primary.flags)?;
            primary.open = true;
        }
        primary.retained += 1;
        Ok(primary.id)
    }

    pub fn release_primary(&self, device: &Arc<Device>) -> Result<(), Status> {
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        primary.retained = primary.retained.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        if primary.retained == 0 && std::mem::take(&mut primary.open) {
            // As on the card: a lost context stays lost for the process, also when made anew.
            primary.lost = primary.lost.or(self.end(primary.id));
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`: ends the context for all who retain it. They must still release it.
    pub fn reset_primary(&self, device: &Arc<Device>) -> Result<(), Status> {
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        if std::mem::take(&mut primary.open) {
            primary.lost = primary.lost.or(self.end(primary.id));
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxSetFlags`, for the context of now and all later ones.
    pub fn set_primary_flags(&self, device: &Arc<Device>, flags: u32) -> Result<(), Status> {
        check_flags(flags)?;
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        primary.flags = flags;
        if primary.open {
            self.find(primary.id)?.flags.store(flags, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The flags of a device's primary context, and whether it is active.
    pub fn primary_state(&self, device: &Arc<Device>) -> (u32, bool) {
        let primaries = self.primaries();
        primaries.get(device.index).map_or((0, false), |primary| (primary.flags, primary.open))
    }

    /// `cuCtxCreate`: a context of the program's own, made current.
    pub fn create(&self, device: &Arc<Device>, flags: u32) -> Result<u64, Status> {
        check_flags(flags)?;
        let id = ids::next();
        self.open(id, device, flags)?;
        self.push(id)?;
        Ok(id)
    }

    /// `cuCtxDestroy`; it leaves the stack of this thread when it is on top.
    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        if self.primaries().iter().any(|primary| primary.id == id) {
            return Err(Status::INVALID_CONTEXT);
        }
        if self.find(id)?.check() == Err(Status::CONTEXT_IS_DESTROYED) {
            return Err(Status::INVALID_CONTEXT);
        }
        self.end(id);
        self.forget_some(id);
        STACK.with_borrow_mut(|stack| {
            if stack.last() == Some(&id) {
                stack.pop();
            }
        });
        Ok(())
    }

    /// Notes one that has ended, and forgets the oldest of many.
    fn forget_some(&self, id: u64) {
        let oldest = {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            if !ended.contains(&id) {
                ended.push_back(id);
            }
            if ended.len() > ENDED { ended.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            self.table.write().unwrap_or_else(PoisonError::into_inner).remove(&oldest);
        }
    }

    /// A context by its number, ended or not.
    pub fn find(&self, id: u64) -> Result<Arc<Context>, Status> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(&id).cloned().ok_or(Status::INVALID_CONTEXT)
    }

    /// The number of this thread's current context.
    pub fn current_id(&self) -> Option<u64> {
        STACK.with_borrow(|stack| stack.last().copied())
    }

    /// This thread's current context, ended or not.
    pub fn current_any(&self) -> Result<Arc<Context>, Status> {
        self.find(self.current_id().ok_or(Status::INVALID_CONTEXT)?)
    }

    /// This thread's current context, which must be usable.
    pub fn current(&self) -> Result<Arc<Context>, Status> {
        let context = self.current_any()?;
        context.check()?;
        Ok(context)
    }

    /// `cuCtxSetCurrent`: replaces the top of the stack, or takes it away.
    pub fn set_current(&self, id: Option<u64>) -> Result<(), Status> {
        if let Some(id) = id {
            self.find(id)?;
        }
        STACK.with_borrow_mut(|stack| {
            stack.pop();
            stack.extend(id);
        });
        Ok(())
    }

    pub fn push(&self, id: u64) -> Result<(), Status> {
        self.find(id)?;
        STACK.with_borrow_mut(|stack| stack.push(id));
        Ok(())
    }

    pub fn pop(&self) -> Result<u64, Status> {
        STACK.with_borrow_mut(Vec::pop).ok_or(Status::INVALID_CONTEXT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::test_device;
    use super::*;

    #[test]
    fn ended_contexts_are_known_for_a_while() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let device = Arc::new(test_device(folder.path(), 64 << 20));
        let contexts = Contexts::new(Arc::new(AddressSpace::new(true)), false, 0, 1);
        let primary = contexts.retain_primary(&device).unwrap();
        let first = contexts.create(&device, 0).unwrap();
        contexts.destroy(first).unwrap();
        assert_eq!(contexts.find(first).unwrap().check(), Err(Status::CONTEXT_IS_DESTROYED));
        assert_eq!(contexts.destroy(first), Err(Status::INVALID_CONTEXT));
        for _ in 0..2 * ENDED {
            let id = contexts.create(&device, 0).unwrap();
            contexts.destroy(id).unwrap();
        }
        assert!(contexts.find(first).is_err() && contexts.find(primary).is_ok());
        let table = contexts.table.read().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(table.len(), ENDED + 1);
    }
}
