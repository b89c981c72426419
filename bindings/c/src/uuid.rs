//! Identities.

use std::ffi::c_char;

use millpond::{GpuUuid, TensorId};

use crate::border::{Answer, Out, Text, call, required};
use crate::failure::Failure;
use crate::result::ResultNumber;

/// Characters of a UUID as text, with the zero byte at its end; with `GPU-` in front where it is a GPU's.
pub const MILLPOND_UUID_TEXT_BYTES: usize = 41;

/// The identity of a tensor, a version or a GPU: 16 bytes in the order in which they are printed. All zero stands for
/// none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct millpond_uuid {
    /// The bytes.
    pub bytes: [u8; 16],
}

impl millpond_uuid {
    /// The GPU, if it is one.
    pub(crate) fn gpu(self) -> Option<GpuUuid> {
        (self.bytes != [0; 16]).then_some(GpuUuid(self.bytes))
    }
}

impl From<GpuUuid> for millpond_uuid {
    fn from(gpu: GpuUuid) -> Self {
        Self { bytes: gpu.0 }
    }
}

impl From<TensorId> for millpond_uuid {
    fn from(id: TensorId) -> Self {
        Self { bytes: *id.0.as_bytes() }
    }
}

/// Reads a UUID: 36 characters, with or without `GPU-` in front.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_uuid_parse(text: Text, uuid: Out<'_, millpond_uuid>) -> ResultNumber {
    call(|| {
        let out = required(uuid, "uuid")?;
        let text = text.required("text")?;
        let gpu: Result<GpuUuid, _> = text.parse();
        let gpu = gpu.map_err(|_| Failure::invalid(format!("'{text}' is no UUID")))?;
        out.write(gpu.into());
        Ok(())
    })
}

/// Writes a UUID as 36 characters and a zero byte; `capacity` is the bytes of `text`, MILLPOND_UUID_TEXT_BYTES or
/// more.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_uuid_format(
    uuid: Option<&millpond_uuid>,
    text: *mut c_char,
    capacity: usize,
) -> ResultNumber {
    call(|| {
        let written = GpuUuid(required(uuid, "uuid")?.bytes).to_string();
        copy_out(written.trim_start_matches("GPU-"), text, capacity)
    })
}

/// Writes the UUID of a GPU as `nvidia-smi -L` does: `GPU-`, 36 characters and a zero byte; `capacity` is the bytes
/// of `text`, MILLPOND_UUID_TEXT_BYTES or more.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_uuid_format_gpu(
    uuid: Option<&millpond_uuid>,
    text: *mut c_char,
    capacity: usize,
) -> ResultNumber {
    call(|| copy_out(&GpuUuid(required(uuid, "uuid")?.bytes).to_string(), text, capacity))
}

/// Writes text with a zero byte into a buffer of the caller.
fn copy_out(written: &str, text: *mut c_char, capacity: usize) -> Answer {
    let array: [c_char; MILLPOND_UUID_TEXT_BYTES] = fixed(written)?;
    let bytes = written.len() + 1;
    if text.is_null() {
        return Err(Failure::Null { what: "text" });
    }
    if capacity < bytes {
        return Err(Failure::TooSmall { needed: bytes as u64, given: capacity as u64 });
    }
    // SAFETY: `bytes` is at most the length of the array, which is no memory of the caller; the caller says that as
    // many can be written at `text`.
    unsafe { text.copy_from_nonoverlapping(array.as_ptr(), bytes) };
    Ok(())
}

/// Text in an array, with zeroes behind it.
pub(crate) fn fixed<const N: usize>(text: &str) -> Answer<[c_char; N]> {
    let mut array = [0; N];
    if text.len() >= N {
        return Err(Failure::TooSmall { needed: text.len() as u64 + 1, given: N as u64 });
    }
    for (to, from) in array.iter_mut().zip(text.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    Ok(array)
}

/// As [`fixed`], cut between two characters where it is too long.
pub(crate) fn cut<const N: usize>(text: &str) -> [c_char; N] {
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    fixed(&text[..end]).unwrap_or([0; N])
}
