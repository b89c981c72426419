//! The environment variables of the library and of its forerunners: which are read, which are not.

use core::ffi::{CStr, c_char};

/// One environment variable: its name, what it may hold, what it does.
#[derive(Debug)]
pub struct EnvironmentVariable {
    pub name: &'static str,
    /// Its values in words.
    pub values: &'static str,
    pub meaning: &'static str,
}

pub(crate) const LEDGER: &str = "MILLPOND_LEDGER";
pub(crate) const LIMIT: &str = "MILLPOND_MEMORY_LIMIT";
pub(crate) const GROUP: &str = "MILLPOND_GROUP";
pub(crate) const LOG: &str = "MILLPOND_PRELOAD_LOG";
pub(crate) const VCUDA_LIMIT: &str = "VCUDA_MEMORY_LIMIT";
pub(crate) const VCUDA_LOG: &str = "VCUDA_LOG_LEVEL";
pub(crate) const VCUDA_NAME: &str = "VCUDA_DEVICE_NAME";
pub(crate) const HAMI_LIMIT: &str = "CUDA_DEVICE_MEMORY_LIMIT";
pub(crate) const HAMI_LOG: &str = "LIBCUDA_LOG_LEVEL";

/// Every variable that the library reads, first things first.
pub const ENVIRONMENT: &[EnvironmentVariable] = &[
    EnvironmentVariable {
        name: LEDGER,
        values: "a group's folder",
        meaning: "The group whose limit holds; set by `millpond run`",
    },
    EnvironmentVariable {
        name: LIMIT,
        values: "a size such as `10G`, or a part of the card such as `50%`",
        meaning: "The limit, without a daemon",
    },
    EnvironmentVariable {
        name: GROUP,
        values: "a name",
        meaning: "Who shares that limit; else all processes of the user with the same limit",
    },
    EnvironmentVariable {
        name: LOG,
        values: "`off`, `error`, `warn`, `info`, `debug`, `trace`",
        meaning: "What is said on standard error; `warn` unless set",
    },
    EnvironmentVariable { name: VCUDA_LIMIT, values: "a size", meaning: "The limit" },
    EnvironmentVariable {
        name: VCUDA_LOG,
        values: "as above, also `err`, `critical` and `none`",
        meaning: "What is said on standard error",
    },
    EnvironmentVariable {
        name: VCUDA_NAME,
        values: "a text",
        meaning: "The name that every GPU has inside",
    },
    EnvironmentVariable {
        name: HAMI_LIMIT,
        values: "a size, or 0 for none",
        meaning: "The limit on every GPU; with `_0`, `_1`, ... on one, by its CUDA number",
    },
    EnvironmentVariable {
        name: HAMI_LOG,
        values: "`0` to `4`",
        meaning: "What is said on standard error: errors, errors, warnings, `info`, `debug`",
    },
];

/// A variable of vcuda-hook or HAMi-core that has no effect here, and why.
#[derive(Debug)]
pub struct NotRead {
    pub name: &'static str,
    pub reason: &'static str,
}

const fn not_read(name: &'static str, reason: &'static str) -> NotRead {
    NotRead { name, reason }
}

const PROCESSOR: &str = "limits are of memory; MPS shares the processor";
const LINES: &str = "lines go to standard error";

/// Every variable of theirs that is not read.
pub const NOT_READ: &[NotRead] = &[
    not_read("VCUDA_LOG_SINK", LINES),
    not_read("VCUDA_LOG_FILE", LINES),
    not_read("VCUDA_OVER_SUB_RATIO", "no card is shown larger than it is"),
    not_read("CUDA_OVERSUBSCRIBE", "no card is shown larger than it is"),
    not_read("CUDA_DEVICE_SM_LIMIT", PROCESSOR),
    not_read("CUDA_TASK_PRIORITY", PROCESSOR),
    not_read("GPU_CORE_UTILIZATION_POLICY", PROCESSOR),
    not_read("RECORD_KERNEL_INTERVAL", PROCESSOR),
    not_read("CUDA_DEVICE_MEMORY_SHARED_CACHE", "`MILLPOND_LEDGER` names the group's folder"),
    not_read("ACTIVE_OOM_KILLER", "no program is ended for its memory: the allocation is refused"),
    not_read("CUDA_REDIRECT", "the driver is the one that the loader finds"),
];

/// The most GPUs that can have a limit of their own.
pub(crate) const ORDINALS: usize = 16;

/// HAMi's variables for single GPUs, by CUDA number.
pub(crate) const HAMI_LIMITS: [&str; ORDINALS] = [
    "CUDA_DEVICE_MEMORY_LIMIT_0",
    "CUDA_DEVICE_MEMORY_LIMIT_1",
    "CUDA_DEVICE_MEMORY_LIMIT_2",
    "CUDA_DEVICE_MEMORY_LIMIT_3",
    "CUDA_DEVICE_MEMORY_LIMIT_4",
    "CUDA_DEVICE_MEMORY_LIMIT_5",
    "CUDA_DEVICE_MEMORY_LIMIT_6",
    "CUDA_DEVICE_MEMORY_LIMIT_7",
    "CUDA_DEVICE_MEMORY_LIMIT_8",
    "CUDA_DEVICE_MEMORY_LIMIT_9",
    "CUDA_DEVICE_MEMORY_LIMIT_10",
    "CUDA_DEVICE_MEMORY_LIMIT_11",
    "CUDA_DEVICE_MEMORY_LIMIT_12",
    "CUDA_DEVICE_MEMORY_LIMIT_13",
    "CUDA_DEVICE_MEMORY_LIMIT_14",
    "CUDA_DEVICE_MEMORY_LIMIT_15",
];

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Whether the C library has set up the environment.
pub(crate) fn is_there() -> bool {
    // SAFETY: the C library's own variable.
    !unsafe { environ }.is_null()
}

/// A variable of the environment, without the C library's own look-up, which another library may
/// have replaced.
pub(crate) fn variable(name: &str) -> Option<&'static [u8]> {
    // SAFETY: `environ` is a list of texts that ends with null; whoever changes it while another
    // thread reads it breaks the same rule for every reader.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_bytes();
            if let Some(value) =
                entry.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
            {
                return Some(value);
            }
            at = at.add(1);
        }
    }
    None
}
