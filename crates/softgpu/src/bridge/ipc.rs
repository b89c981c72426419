//! Memory and events between processes by legacy handles; external memory is refused.

use std::ffi::{c_char, c_uint, c_void};

use millpond_cuda::sys::{
    CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, Status, constants,
};

use super::{Out, entries, number, opaque};
use crate::engine::ipc::HANDLE_BYTES;

fn to_c(bytes: [u8; HANDLE_BYTES]) -> [c_char; HANDLE_BYTES] {
    bytes.map(|byte| c_char::from_ne_bytes([byte]))
}

fn from_c(bytes: [c_char; HANDLE_BYTES]) -> [u8; HANDLE_BYTES] {
    bytes.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()))
}

entries! {
    fn cuIpcGetMemHandle(handle: *mut CUipcMemHandle, pointer: CUdeviceptr) |engine| {
        // SAFETY: as the caller promised.
        let handle = unsafe { Out::new(handle)? };
        let bytes = engine.export_legacy(pointer)?;
        handle.set(CUipcMemHandle { reserved: to_c(bytes) });
        Ok(())
    }

    fn cuIpcOpenMemHandle_v2(pointer: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint) |engine| {
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if flags & !constants::IPC_LAZY_PEER_ACCESS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        pointer.set(engine.open_legacy(&from_c(handle.reserved))?);
        Ok(())
    }

    fn cuIpcCloseMemHandle(pointer: CUdeviceptr) |engine| { engine.close_legacy(pointer) }

    fn cuIpcGetEventHandle(handle: *mut CUipcEventHandle, event: CUevent) |engine| {
        // SAFETY: as the caller promised.
        let handle = unsafe { Out::new(handle)? };
        handle.set(CUipcEventHandle { reserved: to_c(engine.export_event(number(event))?) });
        Ok(())
    }

    fn cuIpcOpenEventHandle(event: *mut CUevent, handle: CUipcEventHandle) |engine| {
        // SAFETY: as the caller promised.
        let event = unsafe { Out::new(event)? };
        event.set(opaque(engine.open_event(&from_c(handle.reserved))?));
        Ok(())
    }

    fn cuImportExternalMemory(_memory: *mut *mut c_void, _descriptor: *const c_void) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuExternalMemoryGetMappedBuffer(_pointer: *mut CUdeviceptr, _memory: *mut c_void, _descriptor: *const c_void) |_engine| { Err(Status::NOT_SUPPORTED) }

    fn cuDestroyExternalMemory(_memory: *mut c_void) |_engine| { Err(Status::NOT_SUPPORTED) }
}
