//! Memory between processes by legacy handles; events and external memory are refused.

use std::ffi::{c_char, c_uint, c_void};

use millpond_cuda::sys::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, Status};

use super::{Out, entries};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag there is.
const LAZY_PEER_ACCESS: c_uint = 1;

entries! {
    fn cuIpcGetMemHandle(handle: *mut CUipcMemHandle, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        let handle = unsafe { Out::new(handle)? };
        let bytes = engine.export_legacy(pointer)?;
        handle.set(CUipcMemHandle { reserved: bytes.map(|byte| c_char::from_ne_bytes([byte])) });
        Ok(())
    }

    fn cuIpcOpenMemHandle_v2(pointer: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if flags & !LAZY_PEER_ACCESS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let bytes = handle.reserved.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()));
        pointer.set(engine.open_legacy(&bytes)?);
        Ok(())
    }

    fn cuIpcCloseMemHandle(pointer: CUdeviceptr) |engine| { engine.close_legacy(pointer) }

    fn cuIpcGetEventHandle(_handle: *mut CUipcEventHandle, _event: CUevent) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuIpcOpenEventHandle(_event: *mut CUevent, _handle: CUipcEventHandle) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuImportExternalMemory(_memory: *mut *mut c_void, _descriptor: *const c_void) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuExternalMemoryGetMappedBuffer(_pointer: *mut CUdeviceptr, _memory: *mut c_void, _descriptor: *const c_void) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuDestroyExternalMemory(_memory: *mut c_void) |_engine| { Err(Status::NOT_SUPPORTED) }
}
