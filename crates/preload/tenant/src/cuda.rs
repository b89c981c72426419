//! The driver's functions, found by name when they are first needed.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]
#![allow(clippy::too_many_arguments, reason = "and their arguments")]

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

/// `CUDA_ERROR_NOT_FOUND`: also said of a function that the driver does not have.
pub const NOT_FOUND: u32 = 500;

/// A call that failed.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub code: u32,
    pub call: &'static str,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error {} {}", self.code, self.call)
    }
}

/// A handle of the driver's: a pointer that only it understands.
pub type Handle = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    pub kind: c_uint,
    pub id: c_int,
}

impl Location {
    pub fn device(id: c_int) -> Self {
        Self { kind: 1, id }
    }
}

/// What another process opens.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpcHandle {
    pub bytes: [u8; 64],
}

#[repr(C)]
pub struct AllocationProp {
    pub kind: c_uint,
    pub handle_types: c_uint,
    pub location: Location,
    pub security: Handle,
    pub flags: [u8; 8],
}

#[repr(C)]
pub struct AccessDesc {
    pub location: Location,
    pub flags: c_uint,
}

#[repr(C)]
pub struct PoolProps {
    pub kind: c_uint,
    pub handle_types: c_uint,
    pub location: Location,
    pub security: Handle,
    pub max_size: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}

impl PoolProps {
    /// An ordinary pool on a device.
    pub fn on(device: c_int) -> Self {
        Self {
            kind: 1,
            handle_types: 0,
            location: Location::device(device),
            security: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }
}

#[repr(C)]
pub struct AllocNodeParams {
    pub pool: PoolProps,
    pub access: *const AccessDesc,
    pub access_count: usize,
    pub bytes: usize,
    pub pointer: u64,
}

#[repr(C)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

impl ArrayDescriptor {
    /// Rows of 256 KiB of four floats, as many as the bytes need.
    pub fn of(bytes: usize) -> Self {
        let height = bytes.div_ceil(16384 * 16).max(1);
        Self { width: 16384, height, depth: 0, format: 0x20, channels: 4, flags: 0 }
    }
}

type Resolver = unsafe extern "C" fn(*const c_char, *mut Handle, c_int, u64, *mut c_int) -> u32;

/// The opened library and how names are looked up in it.
pub struct Library {
    library: libloading::Library,
    resolver: Option<Resolver>,
}

impl Library {
    fn open(by_proc_address: bool) -> Result<Self, Fault> {
        // SAFETY: the driver's library is meant to be loaded into any program.
        let library = unsafe { libloading::Library::new("libcuda.so.1") }
            .map_err(|_| Fault { code: NOT_FOUND, call: "libcuda.so.1" })?;
        let mut opened = Self { library, resolver: None };
        if by_proc_address {
            let address = opened.find("cuGetProcAddress_v2", "cuGetProcAddress");
            if address.is_null() {
                return Err(Fault { code: NOT_FOUND, call: "cuGetProcAddress_v2" });
            }
            // SAFETY: CUDA documents this signature for the name.
            opened.resolver = Some(unsafe { std::mem::transmute::<Handle, Resolver>(address) });
        }
        Ok(opened)
    }

    fn find(&self, symbol: &str, base: &str) -> Handle {
        let Some(resolver) = self.resolver else {
            // SAFETY: only the address is taken.
            let found = unsafe { self.library.get::<Handle>(symbol) };
            return found.map_or(std::ptr::null_mut(), |found| *found);
        };
        let Ok(name) = CString::new(base) else { return std::ptr::null_mut() };
        let (mut found, mut status) = (std::ptr::null_mut(), 0);
        // SAFETY: the name is a C string, and both answers have room.
        let code = unsafe { resolver(name.as_ptr(), &raw mut found, 12_080, 0, &raw mut status) };
        if code == 0 { found } else { std::ptr::null_mut() }
    }
}

/// Makes [`Cuda`] with a method for each function; each method looks its function up once.
macro_rules! functions {
    ($($name:ident: $symbol:literal = $base:literal($($arg:ident: $type:ty),*);)*) => {
        pub struct Cuda {
            library: Library,
            $($name: Cell<Handle>,)*
        }

        impl Cuda {
            /// Opens the driver's library.
            pub fn open(by_proc_address: bool) -> Result<Self, Fault> {
                let library = Library::open(by_proc_address)?;
                Ok(Self { library, $($name: Cell::new(std::ptr::null_mut()),)* })
            }

            $(
                /// The function of that name.
                ///
                /// # Safety
                /// Every pointer is valid in the way that CUDA documents for this call.
                pub unsafe fn $name(&self, $($arg: $type),*) -> Result<(), Fault> {
                    let mut address = self.$name.get();
                    if address.is_null() {
                        address = self.library.find($symbol, $base);
                        self.$name.set(address);
                    }
                    if address.is_null() {
                        return Err(Fault { code: NOT_FOUND, call: $base });
                    }
                    // SAFETY: CUDA documents this signature for the name.
                    let function = unsafe {
                        std::mem::transmute::<Handle, unsafe extern "C" fn($($type),*) -> u32>(address)
                    };
                    // SAFETY: as the caller promised.
                    match unsafe { function($($arg),*) } {
                        0 => Ok(()),
                        code => Err(Fault { code, call: $base }),
                    }
                }
            )*
        }
    };
}

functions! {
    cuInit: "cuInit" = "cuInit"(flags: c_uint);
    cuDeviceGet: "cuDeviceGet" = "cuDeviceGet"(device: *mut c_int, ordinal: c_int);
    cuDeviceGetUuid: "cuDeviceGetUuid_v2" = "cuDeviceGetUuid"(uuid: *mut [u8; 16], device: c_int);
    cuDeviceTotalMem: "cuDeviceTotalMem_v2" = "cuDeviceTotalMem"(bytes: *mut usize, device: c_int);
    cuDevicePrimaryCtxRetain: "cuDevicePrimaryCtxRetain" = "cuDevicePrimaryCtxRetain"(context: *mut Handle, device: c_int);
    cuCtxSetCurrent: "cuCtxSetCurrent" = "cuCtxSetCurrent"(context: Handle);
    cuCtxCreate: "cuCtxCreate_v2" = "cuCtxCreate"(context: *mut Handle, flags: c_uint, device: c_int);
    cuCtxDestroy: "cuCtxDestroy_v2" = "cuCtxDestroy"(context: Handle);
    cuCtxSynchronize: "cuCtxSynchronize" = "cuCtxSynchronize"();
    cuCtxSetLimit: "cuCtxSetLimit" = "cuCtxSetLimit"(limit: c_uint, value: usize);
    cuMemGetInfo: "cuMemGetInfo_v2" = "cuMemGetInfo"(free: *mut usize, total: *mut usize);
    cuMemAlloc: "cuMemAlloc_v2" = "cuMemAlloc"(pointer: *mut u64, bytes: usize);
    cuMemAllocPitch: "cuMemAllocPitch_v2" = "cuMemAllocPitch"(pointer: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    cuMemAllocManaged: "cuMemAllocManaged" = "cuMemAllocManaged"(pointer: *mut u64, bytes: usize, flags: c_uint);
    cuMemFree: "cuMemFree_v2" = "cuMemFree"(pointer: u64);
    cuMemAllocAsync: "cuMemAllocAsync" = "cuMemAllocAsync"(pointer: *mut u64, bytes: usize, stream: Handle);
    cuMemAllocFromPoolAsync: "cuMemAllocFromPoolAsync" = "cuMemAllocFromPoolAsync"(pointer: *mut u64, bytes: usize, pool: Handle, stream: Handle);
    cuMemFreeAsync: "cuMemFreeAsync" = "cuMemFreeAsync"(pointer: u64, stream: Handle);
    cuMemPoolCreate: "cuMemPoolCreate" = "cuMemPoolCreate"(pool: *mut Handle, props: *const PoolProps);
    cuMemPoolSetAttribute: "cuMemPoolSetAttribute" = "cuMemPoolSetAttribute"(pool: Handle, attribute: c_uint, value: *mut c_void);
    cuMemPoolTrimTo: "cuMemPoolTrimTo" = "cuMemPoolTrimTo"(pool: Handle, keep: usize);
    cuDeviceGetDefaultMemPool: "cuDeviceGetDefaultMemPool" = "cuDeviceGetDefaultMemPool"(pool: *mut Handle, device: c_int);
    cuDeviceGraphMemTrim: "cuDeviceGraphMemTrim" = "cuDeviceGraphMemTrim"(device: c_int);
    cuMemGetAllocationGranularity: "cuMemGetAllocationGranularity" = "cuMemGetAllocationGranularity"(bytes: *mut usize, prop: *const AllocationProp, option: c_uint);
    cuMemCreate: "cuMemCreate" = "cuMemCreate"(handle: *mut u64, bytes: usize, prop: *const AllocationProp, flags: u64);
    cuMemRelease: "cuMemRelease" = "cuMemRelease"(handle: u64);
    cuMemAddressReserve: "cuMemAddressReserve" = "cuMemAddressReserve"(pointer: *mut u64, bytes: usize, alignment: usize, at: u64, flags: u64);
    cuMemAddressFree: "cuMemAddressFree" = "cuMemAddressFree"(pointer: u64, bytes: usize);
    cuMemMap: "cuMemMap" = "cuMemMap"(pointer: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
    cuMemUnmap: "cuMemUnmap" = "cuMemUnmap"(pointer: u64, bytes: usize);
    cuMemSetAccess: "cuMemSetAccess" = "cuMemSetAccess"(pointer: u64, bytes: usize, access: *const AccessDesc, count: usize);
    cuIpcGetMemHandle: "cuIpcGetMemHandle" = "cuIpcGetMemHandle"(handle: *mut IpcHandle, pointer: u64);
    cuIpcOpenMemHandle: "cuIpcOpenMemHandle_v2" = "cuIpcOpenMemHandle"(pointer: *mut u64, handle: IpcHandle, flags: c_uint);
    cuIpcCloseMemHandle: "cuIpcCloseMemHandle" = "cuIpcCloseMemHandle"(pointer: u64);
    cuArray3DCreate: "cuArray3DCreate_v2" = "cuArray3DCreate"(array: *mut Handle, descriptor: *const ArrayDescriptor);
    cuArrayDestroy: "cuArrayDestroy" = "cuArrayDestroy"(array: Handle);
    cuMipmappedArrayCreate: "cuMipmappedArrayCreate" = "cuMipmappedArrayCreate"(array: *mut Handle, descriptor: *const ArrayDescriptor, levels: c_uint);
    cuMipmappedArrayDestroy: "cuMipmappedArrayDestroy" = "cuMipmappedArrayDestroy"(array: Handle);
    cuStreamCreate: "cuStreamCreate" = "cuStreamCreate"(stream: *mut Handle, flags: c_uint);
    cuStreamSynchronize: "cuStreamSynchronize" = "cuStreamSynchronize"(stream: Handle);
    cuGraphCreate: "cuGraphCreate" = "cuGraphCreate"(graph: *mut Handle, flags: c_uint);
    cuGraphAddMemAllocNode: "cuGraphAddMemAllocNode" = "cuGraphAddMemAllocNode"(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *mut AllocNodeParams);
    cuGraphInstantiate: "cuGraphInstantiateWithFlags" = "cuGraphInstantiateWithFlags"(exec: *mut Handle, graph: Handle, flags: u64);
    cuGraphLaunch: "cuGraphLaunch" = "cuGraphLaunch"(exec: Handle, stream: Handle);
    cuGraphExecDestroy: "cuGraphExecDestroy" = "cuGraphExecDestroy"(exec: Handle);
    cuGraphDestroy: "cuGraphDestroy" = "cuGraphDestroy"(graph: Handle);
    cuStreamBeginCapture: "cuStreamBeginCapture_v2" = "cuStreamBeginCapture"(stream: Handle, mode: c_uint);
    cuStreamEndCapture: "cuStreamEndCapture" = "cuStreamEndCapture"(stream: Handle, graph: *mut Handle);
    cuModuleLoadData: "cuModuleLoadData" = "cuModuleLoadData"(module: *mut Handle, image: *const c_void);
    cuModuleGetFunction: "cuModuleGetFunction" = "cuModuleGetFunction"(function: *mut Handle, module: Handle, name: *const c_char);
    cuLaunchKernel: "cuLaunchKernel" = "cuLaunchKernel"(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, params: *mut Handle, extra: *mut Handle);
}
