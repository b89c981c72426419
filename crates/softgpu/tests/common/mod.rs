//! Children that play a role, and the driver's calls in short words.
//!
//! The engine is one per process and reads its environment once, so every test runs its parts in
//! children of its own: the test binary, started again with a role.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::ffi::{c_int, c_void};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use millpond_cuda::sys::{CUcontext, CUdeviceptr, CUstream, NvmlMemory, Status};
use millpond_softgpu::bridge;

pub const PAGE: u64 = 2 << 20;

/// A device folder of its own, on a file system in memory.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    pub fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    /// Files of allocations, dead or alive.
    pub fn allocations(&self) -> usize {
        let files = std::fs::read_dir(self.path().join("device-0")).unwrap();
        files
            .filter(|file| {
                file.as_ref().unwrap().file_name().to_string_lossy().starts_with("alloc-")
            })
            .count()
    }

    /// Starts a child with a role.
    pub fn child(&self, role: &str, env: &[(&str, &str)]) -> Role {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["role", "--exact", "--nocapture", "--test-threads=1"]);
        command.env("SOFTGPU_ROLE", role).env("MILLPOND_SOFT_DIR", self.path());
        for name in ["STRICT", "ADVERSARIAL", "FAULTS", "DEVICES", "PROFILE", "CONTEXT_BYTES"] {
            command.env_remove(format!("MILLPOND_SOFT_{name}"));
        }
        command.env("MILLPOND_SOFT_MEMORY", "64M").envs(env.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        Role { child, stdin, stdout: BufReader::new(stdout) }
    }

    /// Starts a child and waits for its one answer.
    pub fn ask(&self, role: &str, env: &[(&str, &str)]) -> String {
        let mut child = self.child(role, env);
        let answer = child.answer();
        assert!(child.child.wait().unwrap().success(), "{role} failed");
        answer
    }

    /// Bytes in use, read by a process of its own.
    pub fn used(&self) -> u64 {
        self.ask("usage", &[]).parse().unwrap()
    }
}

/// A child with a role. It is killed when the value goes.
pub struct Role {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Role {
    /// The next line that the role said.
    pub fn answer(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(
                self.stdout.read_line(&mut line).unwrap() > 0,
                "the child ended without an answer"
            );
            if let Some((_, said)) = line.split_once("> ") {
                return said.trim_end().to_owned();
            }
        }
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets a role that waits go on.
    pub fn go_on(&mut self) {
        self.stdin = None;
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The role that this process was started for.
pub fn my_role() -> Option<String> {
    std::env::var("SOFTGPU_ROLE").ok()
}

pub fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "> {text}").unwrap();
    out.flush().unwrap();
}

/// Waits until the parent closes our input.
pub fn wait_for_parent() {
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
}

pub fn ok(status: Status) {
    assert_eq!(status, Status::SUCCESS);
}

#[repr(C)]
struct Location(u32, c_int);
#[repr(C)]
struct Prop(u32, u32, Location, usize, u64);
#[repr(C)]
struct Desc(Location, u32);

pub fn init() {
    // SAFETY: cuInit has no conditions.
    ok(unsafe { bridge::cuInit(0) });
}

pub fn try_create(device: c_int, bytes: u64) -> Result<u64, Status> {
    let (mut handle, prop) = (0, Prop(1, 1, Location(1, device), 0, 0));
    // SAFETY: the pointers are to values of the right layout.
    let status = unsafe {
        bridge::cuMemCreate(
            &raw mut handle,
            usize::try_from(bytes).unwrap(),
            (&raw const prop).cast(),
            0,
        )
    };
    if status == Status::SUCCESS { Ok(handle) } else { Err(status) }
}

pub fn create(bytes: u64) -> u64 {
    try_create(0, bytes).unwrap()
}

pub fn release(handle: u64) {
    // SAFETY: the call takes no pointers.
    ok(unsafe { bridge::cuMemRelease(handle) });
}

pub fn export(handle: u64) -> c_int {
    let mut fd: c_int = -1;
    // SAFETY: the pointer is to an int.
    ok(unsafe { bridge::cuMemExportToShareableHandle((&raw mut fd).cast(), handle, 1, 0) });
    fd
}

pub fn reserve(bytes: u64) -> CUdeviceptr {
    let mut at = 0;
    // SAFETY: the pointer is to an address.
    ok(unsafe {
        bridge::cuMemAddressReserve(&raw mut at, usize::try_from(bytes).unwrap(), 0, 0, 0)
    });
    at
}

pub fn map(at: CUdeviceptr, bytes: u64, handle: u64) {
    // SAFETY: the call takes no pointers.
    ok(unsafe { bridge::cuMemMap(at, usize::try_from(bytes).unwrap(), 0, handle, 0) });
}

pub fn open(at: CUdeviceptr, bytes: u64, flags: u32) -> Status {
    let desc = Desc(Location(1, 0), flags);
    // SAFETY: the pointer is to a value of the right layout.
    unsafe {
        bridge::cuMemSetAccess(at, usize::try_from(bytes).unwrap(), (&raw const desc).cast(), 1)
    }
}

pub fn unmap(at: CUdeviceptr, bytes: u64) -> Status {
    // SAFETY: the call takes no pointers.
    unsafe { bridge::cuMemUnmap(at, usize::try_from(bytes).unwrap()) }
}

/// New memory, mapped and open.
pub fn mapped(bytes: u64) -> CUdeviceptr {
    let (handle, at) = (create(bytes), reserve(bytes));
    map(at, bytes, handle);
    ok(open(at, bytes, 3));
    release(handle);
    at
}

pub fn context() -> CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the pointer is to a context.
    ok(unsafe { bridge::cuDevicePrimaryCtxRetain(&raw mut context, 0) });
    // SAFETY: the context was just retained.
    ok(unsafe { bridge::cuCtxSetCurrent(context) });
    context
}

pub fn stream(flags: u32) -> CUstream {
    let mut stream = std::ptr::null_mut();
    // SAFETY: the pointer is to a stream.
    ok(unsafe { bridge::cuStreamCreate(&raw mut stream, flags) });
    stream
}

pub fn fill_async(at: CUdeviceptr, value: u8, bytes: usize, stream: CUstream) -> Status {
    // SAFETY: the call takes no pointers of ours.
    unsafe { bridge::cuMemsetD8Async(at, value, bytes, stream) }
}

pub fn synchronize(stream: CUstream) -> Status {
    // SAFETY: the call takes no pointers of ours.
    unsafe { bridge::cuStreamSynchronize(stream) }
}

pub fn read(at: CUdeviceptr) -> u8 {
    let mut byte = 0_u8;
    // SAFETY: the pointer is to one byte.
    ok(unsafe { bridge::cuMemcpyDtoH_v2((&raw mut byte).cast::<c_void>(), at, 1) });
    byte
}

/// Bytes in use on the first device, as NVML sees it.
pub fn used_bytes() -> u64 {
    let mut memory = NvmlMemory::default();
    let mut device = std::ptr::null_mut();
    // SAFETY: the pointers are to values of the right types.
    unsafe {
        assert_eq!(bridge::nvmlInit_v2().0, 0);
        assert_eq!(bridge::nvmlDeviceGetHandleByIndex_v2(0, &raw mut device).0, 0);
        assert_eq!(bridge::nvmlDeviceGetMemoryInfo(device, &raw mut memory).0, 0);
    }
    memory.used
}
