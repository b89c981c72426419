//! What the management library says.

use std::ffi::{CString, c_char, c_uint, c_void};

use crate::cuda::{Fault, NOT_FOUND};

#[repr(C)]
#[derive(Default)]
struct MemoryInfo {
    total: u64,
    free: u64,
    used: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    pid: c_uint,
    used: u64,
    instances: [c_uint; 2],
}

/// The opened library with the device's handle.
pub struct Nvml {
    library: libloading::Library,
    device: *mut c_void,
}

macro_rules! call {
    ($library:expr, $name:literal($($arg:expr => $type:ty),*)) => {{
        // SAFETY: the signature is the one that NVML documents for the name.
        let found = unsafe { $library.get::<unsafe extern "C" fn($($type),*) -> u32>($name) };
        match found {
            // SAFETY: every answer has room.
            Ok(function) => match unsafe { function($($arg),*) } {
                0 => Ok(()),
                code => Err(Fault { code, call: $name }),
            },
            Err(_) => Err(Fault { code: NOT_FOUND, call: $name }),
        }
    }};
}

impl Nvml {
    /// Opens the library for a device of that UUID: its numbers are not CUDA's.
    pub fn open(uuid: [u8; 16]) -> Result<Self, Fault> {
        // SAFETY: the library is meant to be loaded into any program.
        let library = unsafe { libloading::Library::new("libnvidia-ml.so.1") }
            .map_err(|_| Fault { code: NOT_FOUND, call: "libnvidia-ml.so.1" })?;
        call!(library, "nvmlInit_v2"())?;
        let name =
            CString::new(spelled(uuid)).map_err(|_| Fault { code: NOT_FOUND, call: "uuid" })?;
        let mut device = std::ptr::null_mut();
        call!(library, "nvmlDeviceGetHandleByUUID"(
            name.as_ptr() => *const c_char, &raw mut device => *mut *mut c_void))?;
        Ok(Self { library, device })
    }

    /// Total, free and used bytes of the device.
    pub fn memory(&self) -> Result<[u64; 3], Fault> {
        let mut info = MemoryInfo::default();
        call!(self.library, "nvmlDeviceGetMemoryInfo"(
            self.device => *mut c_void, &raw mut info => *mut MemoryInfo))?;
        Ok([info.total, info.free, info.used])
    }

    /// Bytes of this process, 0 when it is not listed.
    pub fn own(&self) -> Result<u64, Fault> {
        let mut list = [ProcessInfo::default(); 1024];
        let mut count = 1024;
        call!(self.library, "nvmlDeviceGetComputeRunningProcesses_v3"(
            self.device => *mut c_void,
            &raw mut count => *mut c_uint,
            list.as_mut_ptr() => *mut ProcessInfo))?;
        let me = std::process::id();
        let count = usize::try_from(count).unwrap_or(0).min(list.len());
        Ok(list[..count].iter().find(|process| process.pid == me).map_or(0, |found| found.used))
    }

    pub fn name(&self) -> Result<String, Fault> {
        let mut text = [0_u8; 96];
        call!(self.library, "nvmlDeviceGetName"(
            self.device => *mut c_void,
            text.as_mut_ptr().cast() => *mut c_char,
            96 => c_uint))?;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..end]).into_owned())
    }
}

/// A UUID as NVML writes it.
pub fn spelled(uuid: [u8; 16]) -> String {
    let mut text = String::from("GPU-");
    for (index, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
