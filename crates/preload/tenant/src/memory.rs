//! The kinds of memory: how each is taken and given back.

use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;

use crate::cuda::{
    AccessDesc, AllocNodeParams, AllocationProp, ArrayDescriptor, Cuda, Fault, Handle, IpcHandle,
    Location, PoolProps,
};

const INVALID_VALUE: u32 = 1;
/// Rows of pitched memory.
const ROW: usize = 64 << 10;
const RELEASE_THRESHOLD: c_uint = 4;

/// Memory that is held.
#[derive(Debug)]
pub enum Held {
    /// By `cuMemAlloc`, `cuMemAllocPitch`, `cuMemAllocManaged`.
    Pointer(u64),
    Async(u64),
    /// A handle of `cuMemCreate`.
    Physical(u64),
    Mapped {
        handle: u64,
        pointer: u64,
        bytes: usize,
    },
    Array(Handle),
    Mipmap(Handle),
    /// A graph that was launched, and what it took and did not free.
    Graph {
        graph: Handle,
        exec: Handle,
        pointer: u64,
    },
    Context(Handle),
    /// Another process's, opened by its handle.
    Opened(u64),
}

/// The driver with what memory needs beside it.
pub struct Memory {
    pub cuda: Cuda,
    pub device: c_int,
    /// The primary context, when there is one.
    pub context: Handle,
    /// Where asynchronous work goes.
    pub stream: Handle,
    /// A pool of this program's own, made when it is first needed.
    pool: Handle,
    default_pool: Handle,
}

impl Memory {
    pub fn new(cuda: Cuda, device: c_int, context: Handle, stream: Handle) -> Self {
        Self { cuda, device, context, stream, pool: null_mut(), default_pool: null_mut() }
    }

    fn pool(&mut self) -> Result<Handle, Fault> {
        if self.pool.is_null() {
            let props = PoolProps::on(self.device);
            // SAFETY: the properties are whole, and the answer has room.
            unsafe { self.cuda.cuMemPoolCreate(&raw mut self.pool, &raw const props)? };
        }
        Ok(self.pool)
    }

    fn default_pool(&mut self) -> Result<Handle, Fault> {
        if self.default_pool.is_null() {
            let pool = &raw mut self.default_pool;
            // SAFETY: the answer has room.
            unsafe { self.cuda.cuDeviceGetDefaultMemPool(pool, self.device)? };
        }
        Ok(self.default_pool)
    }

    pub fn take(&mut self, kind: &str, bytes: usize) -> Result<Held, Fault> {
        let mut pointer = 0;
        let out = &raw mut pointer;
        match kind {
            // SAFETY: the answer has room.
            "linear" => unsafe { self.cuda.cuMemAlloc(out, bytes) }?,
            "pitch" => {
                let (mut pitch, rows) = (0, bytes.div_ceil(ROW));
                // SAFETY: both answers have room.
                unsafe { self.cuda.cuMemAllocPitch(out, &raw mut pitch, ROW, rows, 16) }?;
            }
            // SAFETY: the answer has room. 1 is memory that every stream may use.
            "managed" => unsafe { self.cuda.cuMemAllocManaged(out, bytes, 1) }?,
            "async" => {
                // SAFETY: the answer has room, and the stream is ours.
                unsafe { self.cuda.cuMemAllocAsync(out, bytes, self.stream) }?;
                return Ok(Held::Async(pointer));
            }
            "pool" => {
                let pool = self.pool()?;
                // SAFETY: the answer has room, and stream and pool are ours.
                unsafe { self.cuda.cuMemAllocFromPoolAsync(out, bytes, pool, self.stream) }?;
                return Ok(Held::Async(pointer));
            }
            "vmm" => return self.take_mapped(bytes),
            "handle" => return self.create(bytes).map(|made| Held::Physical(made.0)),
            "array" => {
                let (mut array, shape) = (null_mut(), ArrayDescriptor::of(bytes));
                // SAFETY: the descriptor is whole, and the answer has room.
                unsafe { self.cuda.cuArray3DCreate(&raw mut array, &raw const shape) }?;
                return Ok(Held::Array(array));
            }
            "mipmap" => {
                let (mut array, shape) = (null_mut(), ArrayDescriptor::of(bytes));
                // SAFETY: the descriptor is whole, and the answer has room.
                unsafe { self.cuda.cuMipmappedArrayCreate(&raw mut array, &raw const shape, 1) }?;
                return Ok(Held::Mipmap(array));
            }
            "graph" => return self.take_by_graph(bytes),
            "context" => {
                let mut context = null_mut();
                // SAFETY: the answer has room.
                unsafe { self.cuda.cuCtxCreate(&raw mut context, 0, self.device) }?;
                // SAFETY: the context that was current before is alive, or null.
                unsafe { self.cuda.cuCtxSetCurrent(self.context) }?;
                return Ok(Held::Context(context));
            }
            _ => return Err(Fault { code: INVALID_VALUE, call: "kind" }),
        }
        Ok(Held::Pointer(pointer))
    }

    fn create(&self, bytes: usize) -> Result<(u64, usize), Fault> {
        let prop = AllocationProp {
            kind: 1,
            handle_types: 1,
            location: Location::device(self.device),
            security: null_mut(),
            flags: [0; 8],
        };
        let (mut granularity, mut handle) = (0, 0);
        let (answer, prop) = (&raw mut granularity, &raw const prop);
        // SAFETY: the properties are whole, and the answer has room.
        unsafe { self.cuda.cuMemGetAllocationGranularity(answer, prop, 0) }?;
        let bytes = bytes.next_multiple_of(granularity.max(1));
        // SAFETY: as above.
        unsafe { self.cuda.cuMemCreate(&raw mut handle, bytes, prop, 0) }?;
        Ok((handle, bytes))
    }

    fn take_mapped(&self, bytes: usize) -> Result<Held, Fault> {
        let (handle, bytes) = self.create(bytes)?;
        let mut pointer = 0;
        let access = AccessDesc { location: Location::device(self.device), flags: 3 };
        // SAFETY: the answer has room; the range is reserved for this handle alone.
        unsafe {
            self.cuda.cuMemAddressReserve(&raw mut pointer, bytes, 0, 0, 0)?;
            self.cuda.cuMemMap(pointer, bytes, 0, handle, 0)?;
            self.cuda.cuMemSetAccess(pointer, bytes, &raw const access, 1)?;
        }
        Ok(Held::Mapped { handle, pointer, bytes })
    }

    fn take_by_graph(&self, bytes: usize) -> Result<Held, Fault> {
        let (mut graph, mut exec) = (null_mut(), null_mut());
        let mut node = null_mut();
        let mut params = AllocNodeParams {
            pool: PoolProps::on(self.device),
            access: std::ptr::null(),
            access_count: 0,
            bytes,
            pointer: 0,
        };
        let cuda = &self.cuda;
        // SAFETY: the graph and its nodes are ours; every answer has room.
        unsafe {
            cuda.cuGraphCreate(&raw mut graph, 0)?;
            let none = std::ptr::null();
            let made = cuda
                .cuGraphAddMemAllocNode(&raw mut node, graph, none, 0, &raw mut params)
                .and_then(|()| cuda.cuGraphInstantiate(&raw mut exec, graph, 0))
                .and_then(|()| cuda.cuGraphLaunch(exec, self.stream))
                .and_then(|()| cuda.cuStreamSynchronize(self.stream));
            if let Err(fault) = made {
                let _ = if exec.is_null() { Ok(()) } else { cuda.cuGraphExecDestroy(exec) };
                let _ = cuda.cuGraphDestroy(graph);
                return Err(fault);
            }
        }
        Ok(Held::Graph { graph, exec, pointer: params.pointer })
    }

    /// The handle of linear memory, for another process.
    pub fn export(&self, held: &Held) -> Result<IpcHandle, Fault> {
        let Held::Pointer(pointer) = held else {
            return Err(Fault { code: INVALID_VALUE, call: "kind" });
        };
        let mut handle = IpcHandle { bytes: [0; 64] };
        // SAFETY: the answer has room, and the memory is ours.
        unsafe { self.cuda.cuIpcGetMemHandle(&raw mut handle, *pointer) }?;
        Ok(handle)
    }

    /// Opens another process's memory.
    pub fn open(&self, handle: IpcHandle) -> Result<Held, Fault> {
        let mut pointer = 0;
        // SAFETY: the answer has room. 1 is the only flag, and must be set.
        unsafe { self.cuda.cuIpcOpenMemHandle(&raw mut pointer, handle, 1) }?;
        Ok(Held::Opened(pointer))
    }

    pub fn give(&self, held: Held) -> Result<(), Fault> {
        let cuda = &self.cuda;
        // SAFETY: everything was made by this program and is given back once.
        unsafe {
            match held {
                Held::Pointer(pointer) => cuda.cuMemFree(pointer),
                Held::Async(pointer) => cuda.cuMemFreeAsync(pointer, self.stream),
                Held::Physical(handle) => cuda.cuMemRelease(handle),
                Held::Mapped { handle, pointer, bytes } => cuda
                    .cuMemUnmap(pointer, bytes)
                    .and_then(|()| cuda.cuMemAddressFree(pointer, bytes))
                    .and_then(|()| cuda.cuMemRelease(handle)),
                Held::Array(array) => cuda.cuArrayDestroy(array),
                Held::Mipmap(array) => cuda.cuMipmappedArrayDestroy(array),
                Held::Graph { graph, exec, pointer } => cuda
                    .cuMemFreeAsync(pointer, self.stream)
                    .and_then(|()| cuda.cuStreamSynchronize(self.stream))
                    .and_then(|()| cuda.cuGraphExecDestroy(exec))
                    .and_then(|()| cuda.cuGraphDestroy(graph))
                    .and_then(|()| cuda.cuDeviceGraphMemTrim(self.device)),
                Held::Context(context) => cuda.cuCtxDestroy(context),
                Held::Opened(pointer) => cuda.cuIpcCloseMemHandle(pointer),
            }
        }
    }

    /// Waits for everything, so that what was freed in order is free.
    pub fn sync(&self) -> Result<(), Fault> {
        // SAFETY: the stream is ours.
        unsafe {
            self.cuda.cuStreamSynchronize(self.stream)?;
            self.cuda.cuCtxSynchronize()
        }
    }

    /// Gives back what pools and graphs keep for later.
    pub fn trim(&mut self) -> Result<(), Fault> {
        self.sync()?;
        let default = self.default_pool()?;
        // SAFETY: both pools are alive.
        unsafe {
            self.cuda.cuMemPoolTrimTo(default, 0)?;
            if !self.pool.is_null() {
                self.cuda.cuMemPoolTrimTo(self.pool, 0)?;
            }
            self.cuda.cuDeviceGraphMemTrim(self.device)
        }
    }

    /// Keeps what is freed in the pools, so that the next request finds it there.
    pub fn keep(&mut self) -> Result<(), Fault> {
        let pools = [self.default_pool()?, self.pool()?];
        for pool in pools {
            let mut all = u64::MAX;
            let value = (&raw mut all).cast();
            // SAFETY: the attribute is a number of 64 bits.
            unsafe { self.cuda.cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, value)? };
        }
        Ok(())
    }
}
