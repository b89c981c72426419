//! Pools between processes: a descriptor for the pool, 64 bytes for an allocation in it.

use super::context::Context;
use super::pointer::DevicePtr;
use super::pool::MemoryPool;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use crate::sys::CUmemPoolPtrExportData;
use std::os::fd::{BorrowedFd, OwnedFd};

/// A pool that can be exported, with one allocation.
///
/// Its descriptor alone keeps the memory: also when this process is killed before anybody has
/// imported it. A pool takes memory from the device in steps of 32 MiB.
#[derive(Debug)]
pub struct SharedPool {
    context: Context,
    pool: MemoryPool,
    stream: Stream,
    pointer: DevicePtr,
    bytes: u64,
}

impl SharedPool {
    /// Makes a pool and allocates from it.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `NOT_SUPPORTED` where there are no pools.
    pub fn make(context: &Context, bytes: u64) -> Result<Self, CudaError> {
        let pool = MemoryPool::exportable(context.device())?;
        let stream = Stream::new(context)?;
        let pointer = pool.alloc(bytes, &stream)?;
        let made = Self { context: context.clone(), pool, stream, pointer, bytes };
        made.stream.synchronize()?;
        Ok(made)
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Size, as asked for.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that its work runs in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The pool itself.
    #[must_use]
    pub fn pool(&self) -> &MemoryPool {
        &self.pool
    }

    /// What another process needs to import the allocation: the pool's descriptor, and the name of
    /// the allocation in it.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn export(&self) -> Result<(OwnedFd, [u8; 64]), CudaError> {
        let table = self.context.table();
        let _bound = self.context.bind()?;
        // SAFETY: the pool is alive, and so is its allocation.
        unsafe {
            let fd = result::pool::export_fd(table, self.pool.raw())?;
            Ok((fd, result::pool::export_pointer(table, self.pointer.0)?.reserved))
        }
    }
}

impl Drop for SharedPool {
    fn drop(&mut self) {
        let table = self.context.table();
        // SAFETY: we own the memory and free it once; the stream is alive.
        let freed = self.context.bind().and_then(|_bound| unsafe {
            result::pool::free_async(table, self.pointer.0, self.stream.raw())
        });
        report_drop(freed.and_then(|()| self.stream.synchronize()));
    }
}

/// An allocation of another process's pool.
///
/// It stays when the other process frees it or dies. Import each allocation once in a process: the
/// driver gives the same address again.
#[derive(Debug)]
pub struct PoolMemory {
    context: Context,
    /// Destroyed after the memory was released.
    _pool: MemoryPool,
    pointer: DevicePtr,
    bytes: u64,
    /// False once it was released.
    held: bool,
}

impl PoolMemory {
    /// Imports what [`SharedPool::export`] gave. The fd stays the caller's.
    ///
    /// # Errors
    /// What the driver answers to an fd that is no pool, or to data of another one.
    pub fn import(
        context: &Context,
        fd: BorrowedFd<'_>,
        data: &[u8; 64],
    ) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let table = context.table();
        let pool = MemoryPool::import(context.device(), fd)?;
        let data = CUmemPoolPtrExportData { reserved: *data };
        // SAFETY: the pool is alive and was imported; the driver refuses data of another one.
        let pointer = DevicePtr(unsafe { result::pool::import_pointer(table, pool.raw(), data) }?);
        let mut memory =
            Self { context: context.clone(), _pool: pool, pointer, bytes: 0, held: true };
        memory.bytes = result::pointer::address_range(table, pointer.0)?.1 as u64;
        Ok(memory)
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Size of the allocation.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that copies run in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Gives the memory back, after the work that uses it.
    ///
    /// # Errors
    /// What the driver answers; it is not tried again.
    pub fn release(mut self) -> Result<(), CudaError> {
        self.release_once()
    }

    /// As [`PoolMemory::release`], but what the driver refuses to take back is handed back: it is
    /// still there.
    ///
    /// # Errors
    /// What the driver answers, with the memory.
    pub fn release_or_keep(mut self) -> Result<(), (Self, CudaError)> {
        match self.release_once() {
            Ok(()) => Ok(()),
            Err(error) => {
                self.held = true;
                Err((self, error))
            }
        }
    }

    fn release_once(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.held) {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        // A pool's memory is freed without waiting for the streams that use it: wait for them here.
        result::context::synchronize(self.context.table())?;
        // SAFETY: we own the memory, `held` lets this happen once, and no work uses it any more.
        unsafe { result::linear::free(self.context.table(), self.pointer.0) }
    }
}

impl Drop for PoolMemory {
    fn drop(&mut self) {
        report_drop(self.release_once());
    }
}
