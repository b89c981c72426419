//! Kernels.

use super::context::Context;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use crate::sys::{CUfunction, CUmodule};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// Compiled device code. Cheap to clone; its functions keep it loaded.
#[derive(Clone, Debug)]
pub struct Module {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    context: Context,
    raw: CUmodule,
}

// SAFETY: a module is a handle that any thread may use; the driver locks inside.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// An entry point of a module.
#[derive(Clone, Debug)]
pub struct Function {
    module: Module,
    raw: CUfunction,
}

// SAFETY: a function is a handle that any thread may use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl Module {
    /// Compiles PTX text for the context's device and loads it.
    ///
    /// # Errors
    /// `INVALID_PTX` and its relatives.
    pub fn load_ptx(context: &Context, ptx: &CStr) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let raw = result::module::load_ptx(context.table(), ptx)?;
        Ok(Self { inner: Arc::new(Inner { context: context.clone(), raw }) })
    }

    /// Finds an entry point.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub fn function(&self, name: &CStr) -> Result<Function, CudaError> {
        let _bound = self.inner.context.bind()?;
        let table = self.inner.context.table();
        // SAFETY: the module is loaded.
        let raw = unsafe { result::module::function(table, self.inner.raw, name) }?;
        Ok(Function { module: self.clone(), raw })
    }
}

impl Function {
    /// Queues a launch. `parameters` holds the address of each parameter's value; the values are
    /// copied before this returns.
    ///
    /// # Errors
    /// `INVALID_VALUE` for impossible dimensions, and errors of earlier work.
    ///
    /// # Safety
    /// There is one valid address per parameter of the kernel, and all memory that the kernel
    /// touches stays valid until it has ended. This value must live until then as well, because
    /// its module must stay loaded.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        config: LaunchConfig,
        parameters: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let _bound = stream.context().bind()?;
        let LaunchConfig { grid, block, shared_bytes } = config;
        let (table, raw) = (self.module.inner.context.table(), self.raw);
        // SAFETY: function and stream are alive; the caller vouches for the rest.
        unsafe {
            result::module::launch(table, raw, grid, block, shared_bytes, stream.raw(), parameters)
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Ok(_bound) = self.context.bind() else { return };
        // SAFETY: no function is left; the driver waits for kernels that still run.
        report_drop(unsafe { result::module::unload(self.context.table(), self.raw) });
    }
}
