//! Modules, functions, launches.

use crate::error::CudaError;
use crate::sys::{CUfunction, CUmodule, CUstream, CudaTable};
use std::ffi::{CStr, c_void};
use std::ptr;

/// `cuModuleLoadData` of PTX text, compiled for the current context's device.
///
/// # Errors
/// `INVALID_PTX`, `INVALID_IMAGE`, `UNSUPPORTED_PTX_VERSION`.
pub fn load_ptx(table: &CudaTable, ptx: &CStr) -> Result<CUmodule, CudaError> {
    let mut module = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call, and PTX text ends with NUL.
    unsafe { call!(table, cuModuleLoadData(&raw mut module, ptx.as_ptr().cast::<c_void>())) }?;
    Ok(module)
}

/// `cuModuleUnload`.
///
/// # Errors
/// Errors of earlier work.
///
/// # Safety
/// The caller owns the module; no kernel of it runs or will be launched.
pub unsafe fn unload(table: &CudaTable, module: CUmodule) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the module.
    unsafe { call!(table, cuModuleUnload(module)) }
}

/// `cuModuleGetFunction`.
///
/// # Errors
/// `NOT_FOUND`.
///
/// # Safety
/// `module` is alive.
pub unsafe fn function(
    table: &CudaTable,
    module: CUmodule,
    name: &CStr,
) -> Result<CUfunction, CudaError> {
    let mut function = ptr::null_mut();
    // SAFETY: out-pointer and name are valid for the call; the caller vouches for the module.
    unsafe { call!(table, cuModuleGetFunction(&raw mut function, module, name.as_ptr())) }
        .map_err(|error| error.with_detail(format!("function {name:?}")))?;
    Ok(function)
}

/// `cuLaunchKernel`.
///
/// # Errors
/// `INVALID_VALUE` for impossible dimensions, and errors of earlier work.
///
/// # Safety
/// `function` is alive, `stream` is null or alive, `parameters` points to one valid value per
/// parameter of the kernel, and all that the kernel touches stays valid until it has ended.
pub unsafe fn launch(
    table: &CudaTable,
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: CUstream,
    parameters: &mut [*mut c_void],
) -> Result<(), CudaError> {
    let [grid_x, grid_y, grid_z] = grid;
    let [block_x, block_y, block_z] = block;
    // SAFETY: the caller vouches for handles, parameters and the kernel's memory.
    unsafe {
        call!(
            table,
            cuLaunchKernel(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                stream,
                parameters.as_mut_ptr(),
                ptr::null_mut()
            )
        )
    }
}
