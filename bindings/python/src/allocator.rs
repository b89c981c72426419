//! Torch's allocations inside the pond: two symbols that torch calls directly, without Python.
//!
//! Torch asks for few large segments and cuts them up itself. Each is a tensor without a name that
//! ends with its last lease or with this process, whichever comes first, mapped writable. A free
//! only lets go of it: the client unmaps when the device has done its work.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use millpond::{Dtype, Life, Tensor, TensorSpec};
use pyo3::prelude::*;

use crate::convert::own_device_of;
use crate::pond::Pond;

#[derive(Default)]
struct Segments {
    /// Where new ones come from; the pond that a client finds by itself unless said.
    pond: Option<millpond::Pond>,
    /// By address.
    live: HashMap<u64, Tensor>,
}

static SEGMENTS: LazyLock<Mutex<Segments>> = LazyLock::new(Mutex::default);

fn segments() -> MutexGuard<'static, Segments> {
    SEGMENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has torch's segments come from this pond from now on.
#[pyfunction(name = "_allocate_from")]
pub(crate) fn allocate_from(pond: &Bound<'_, Pond>) {
    segments().pond = Some(pond.get().pond.clone());
}

fn allocate(size: u64, ordinal: i32) -> millpond::Result<u64> {
    let known = segments().pond.clone();
    let pond = match known {
        Some(pond) => pond,
        None => millpond::Pond::connect()?,
    };
    // It is gone with its last lease, so that a free is no message.
    let life = Life { linger_ms: Some(0), ..Life::default() };
    let spec = TensorSpec::unnamed(Dtype::U8, [size])
        .device(own_device_of(ordinal)?)
        .ephemeral(true)
        .life(life);
    let tensor = pond.create(spec)?;
    let address = tensor.device_ptr().0;
    segments().live.insert(address, tensor);
    Ok(address)
}

/// Memory for torch's caching allocator; null where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_torch_malloc(
    size: isize,
    device: c_int,
    _stream: *mut c_void,
) -> *mut c_void {
    let Some(size) = u64::try_from(size).ok().filter(|size| *size > 0) else {
        return std::ptr::null_mut();
    };
    // Nothing may unwind into torch.
    let made = catch_unwind(|| allocate(size, device));
    let address = made.ok().and_then(Result::ok).and_then(|found| usize::try_from(found).ok());
    address.map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
}

/// Gives back what [`millpond_torch_malloc`] has given.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_torch_free(
    address: *mut c_void,
    _size: isize,
    _device: c_int,
    _stream: *mut c_void,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let tensor = segments().live.remove(&(address.expose_provenance() as u64));
        drop(tensor);
    }));
}

/// How many segments torch has, and their bytes.
#[pyfunction(name = "_allocated")]
pub(crate) fn allocated() -> (usize, u64) {
    let segments = segments();
    (segments.live.len(), segments.live.values().map(Tensor::bytes).sum())
}
