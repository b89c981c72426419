//! Contexts: the primary one of each device, those that a program makes, and each thread's stack.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::address::AddressSpace;
use super::board::Device;
use super::ids;
use super::job::Site;
use super::queue::Queue;
use super::registry::CreateError;

/// One context.
#[derive(Debug)]
pub struct Context {
    /// The number by which the program knows it.
    pub id: u64,
    /// Its device.
    pub device: Arc<Device>,
    /// Its streams' work.
    pub queue: Arc<Queue>,
    alive: AtomicBool,
}

impl Context {
    /// An error when the context has ended or was lost.
    pub fn check(&self) -> Result<(), Status> {
        if !self.alive.load(Ordering::Acquire) {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        self.queue.fault().map_or(Ok(()), Err)
    }
}

#[derive(Debug, Default)]
struct Primary {
    id: u64,
    retained: u64,
    lost: Option<Status>,
}

/// All contexts of this process.
#[derive(Debug)]
pub struct Contexts {
    space: Arc<AddressSpace>,
    adversarial: bool,
    bytes: u64,
    table: RwLock<HashMap<u64, Arc<Context>>>,
    primaries: Mutex<Vec<Primary>>,
    charged: Mutex<Vec<usize>>,
}

thread_local! {
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Contexts {
    /// None yet.
    pub fn new(space: Arc<AddressSpace>, adversarial: bool, bytes: u64, devices: usize) -> Self {
        let primaries =
            (0..devices).map(|_| Primary { id: ids::next(), ..Primary::default() }).collect();
        Self {
            space,
            adversarial,
            bytes,
            table: RwLock::default(),
            primaries: Mutex::new(primaries),
            charged: Mutex::default(),
        }
    }

    fn primaries(&self) -> MutexGuard<'_, Vec<Primary>> {
        self.primaries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, id: u64, device: &Arc<Device>) -> Result<(), Status> {
        let mut charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner);
        if !charged.contains(&device.index) {
            device.registry.charge_context(self.bytes).map_err(|error| match error {
                CreateError::Full => Status::OUT_OF_MEMORY,
                CreateError::System(_) => Status::OPERATING_SYSTEM,
            })?;
            charged.push(device.index);
        }
        let site = Site { space: Arc::clone(&self.space), device: device.index };
        let context = Context {
            id,
            device: Arc::clone(device),
            queue: Queue::new(site, self.adversarial),
            alive: AtomicBool::new(true),
        };
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(context));
        Ok(())
    }

    /// Ends a context: its work is finished, its linear memory freed. Answers the fault that lost it.
    fn end(&self, id: u64) -> Option<Status> {
        let context = self.find(id).ok()?;
        let fault = context.queue.wait_all().err();
        context.alive.store(false, Ordering::Release);
        context.queue.close_all();
        self.space.unmap_context(id);
        fault
    }

    /// `cuDevicePrimaryCtxRetain`.
    pub fn retain_primary(&self, device: &Arc<Device>) -> Result<u64, Status> {
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        if let Some(lost) = primary.lost {
            return Err(lost);
        }
        if primary.retained == 0 {
            self.open(primary.id, device)?;
        }
        primary.retained += 1;
        Ok(primary.id)
    }

    /// `cuDevicePrimaryCtxRelease`.
    pub fn release_primary(&self, device: &Arc<Device>) -> Result<(), Status> {
        let mut primaries = self.primaries();
        let primary = primaries.get_mut(device.index).ok_or(Status::INVALID_DEVICE)?;
        primary.retained = primary.retained.checked_sub(1).ok_or(Status::INVALID_CONTEXT)?;
        if primary.retained == 0 {
            // As on the card: a lost context stays lost for the process, also when made anew.
            primary.lost = self.end(primary.id);
        }
        Ok(())
    }

    /// Whether a device's primary context is active.
    pub fn primary_is_active(&self, device: &Arc<Device>) -> bool {
        self.primaries().get(device.index).is_some_and(|primary| primary.retained > 0)
    }

    /// `cuCtxCreate`: a context of the program's own, made current.
    pub fn create(&self, device: &Arc<Device>) -> Result<u64, Status> {
        let id = ids::next();
        self.open(id, device)?;
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
        STACK.with_borrow_mut(|stack| {
            if stack.last() == Some(&id) {
                stack.pop();
            }
        });
        Ok(())
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

    /// `cuCtxPushCurrent`.
    pub fn push(&self, id: u64) -> Result<(), Status> {
        self.find(id)?;
        STACK.with_borrow_mut(|stack| stack.push(id));
        Ok(())
    }

    /// `cuCtxPopCurrent`.
    pub fn pop(&self) -> Result<u64, Status> {
        STACK.with_borrow_mut(Vec::pop).ok_or(Status::INVALID_CONTEXT)
    }
}
