//! Models that are mapped.

use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond::{AttachOptions, Model};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, Text, call, required, value, waiting, write};
use crate::failure::Failure;
use crate::model_types::{millpond_model_tensor, millpond_version_info};
use crate::objects::{MODELS, PONDS};
use crate::pond::{millpond_pond, wait};
use crate::result::ResultNumber;
use crate::table::Kind;
use crate::tensor_data::writable;

/// A version of a model, mapped read-only.
pub struct millpond_model {
    _private: [u8; 0],
}

/// What a handle of a model names.
pub(crate) struct Attached {
    model: RwLock<Model>,
    pid: u32,
}

impl Attached {
    /// The model of a handle, which must be this process's.
    pub(crate) fn of(handle: *const millpond_model) -> Answer<Arc<Self>> {
        let attached = MODELS.get(handle)?;
        if attached.pid == process_number() {
            Ok(attached)
        } else {
            Err(Failure::Forked { what: Kind::Model })
        }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Model> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Model> {
        self.model.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maps a version of a model: `llama` is the current one, `llama@v2` the one with that tag, `~alice/llama` another
/// user's; 36 characters are an identity. `wait_ms` is how long to wait until there is one. Free it with
/// millpond_model_free().
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_attach(
    pond: *const millpond_pond,
    target: Text,
    wait_ms: u64,
    model: Out<'_, *mut millpond_model>,
) -> ResultNumber {
    waiting(|| {
        let out = required(model, "model")?;
        let target = target.required("target")?;
        let options = AttachOptions::default().wait(wait(wait_ms));
        let model = PONDS.get(pond)?.attach_with(target, options)?;
        let attached = Attached { model: RwLock::new(model), pid: process_number() };
        out.write(MODELS.insert(Arc::new(attached))?);
        Ok(())
    })
}

/// Another handle of the same version, with the same addresses. A refresh of one leaves the other as it is. Free it with
/// millpond_model_free().
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_clone(
    model: *const millpond_model,
    clone: Out<'_, *mut millpond_model>,
) -> ResultNumber {
    call(|| {
        let out = required(clone, "clone")?;
        let model = Attached::of(model)?.read().clone();
        let attached = Attached { model: RwLock::new(model), pid: process_number() };
        out.write(MODELS.insert(Arc::new(attached))?);
        Ok(())
    })
}

/// Ends the use of a model. Never waits: the lease ends when the device has done all work that was submitted before.
/// NULL is nothing.
///
/// Threads: any; calls of other threads that are under way end as usual. Fork: a model of the parent is freed in the
/// child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_free(model: *mut millpond_model) -> ResultNumber {
    call(|| MODELS.free(model))
}

/// The version, as it was when it was attached or last refreshed.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_get_info(
    model: *const millpond_model,
    info: Out<'_, millpond_version_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        out.write((&Attached::of(model)?.read().info()).into());
        Ok(())
    })
}

/// How many tensors the version has; zero for a handle that is no model of this process.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_tensor_count(model: *const millpond_model) -> usize {
    value(0, || Ok(Attached::of(model)?.read().len()))
}

/// A tensor by its place in the order of names. Its address is valid until the model is freed or refreshed.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_tensor_at(
    model: *const millpond_model,
    index: usize,
    tensor: Out<'_, millpond_model_tensor>,
) -> ResultNumber {
    call(|| {
        let out = required(tensor, "tensor")?;
        out.write((&Attached::of(model)?.read().tensor_at(index)?).into());
        Ok(())
    })
}

/// A tensor by its name. Its address is valid until the model is freed or refreshed.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_tensor_find(
    model: *const millpond_model,
    name: Text,
    tensor: Out<'_, millpond_model_tensor>,
) -> ResultNumber {
    call(|| {
        let out = required(tensor, "tensor")?;
        let name = name.required("name")?;
        out.write((&Attached::of(model)?.read().tensor(name)?).into());
        Ok(())
    })
}

/// Copies `bytes` bytes out of a tensor of the version, from `offset` bytes on, to `target` in this machine's memory,
/// and waits.
///
/// Threads: any; nobody else may use `target` meanwhile. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_copy_to_host(
    model: *const millpond_model,
    name: Text,
    offset: u64,
    target: *mut c_void,
    bytes: u64,
) -> ResultNumber {
    waiting(|| {
        let attached = Attached::of(model)?;
        let tensor = attached.read().tensor(name.required("name")?)?;
        // SAFETY: the header demands that so many bytes are writable there and nobody else's during the call.
        let target = unsafe { writable(target, bytes)? };
        Ok(tensor.copy_to_host(offset, target)?)
    })
}

/// Where the version's arena begins in the GPU's address space, and its bytes. Either output may be NULL.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_arena(
    model: *const millpond_model,
    data: Out<'_, *mut c_void>,
    bytes: Out<'_, u64>,
) -> ResultNumber {
    call(|| {
        let attached = Attached::of(model)?;
        let model = attached.read();
        let address = usize::try_from(model.arena_ptr().0).unwrap_or(0);
        write(data, std::ptr::with_exposed_provenance_mut(address));
        write(bytes, model.arena_bytes());
        Ok(())
    })
}

/// Whether another version of the model is current: `stale` is 1 or 0. Costs no message where nothing has happened to
/// the model.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_is_stale(
    model: *const millpond_model,
    stale: Out<'_, u32>,
) -> ResultNumber {
    waiting(|| {
        let out = required(stale, "stale")?;
        out.write(Attached::of(model)?.read().is_stale()?.into());
        Ok(())
    })
}

/// Attaches the model's current version if that is another one by now: then `changed`, which may be NULL, is 1, and
/// addresses from before end with the work that was submitted before.
///
/// Threads: any; addresses that other threads have end. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_refresh(
    model: *mut millpond_model,
    changed: Out<'_, u32>,
) -> ResultNumber {
    waiting(|| {
        write(changed, Attached::of(model)?.write().refresh()?.into());
        Ok(())
    })
}

/// Maps the model's current version at the places of this one, if that is another one by now. Every address stays.
/// Nobody may submit work that uses the model until this returns. MILLPOND_INVALID if the layouts differ. `changed`
/// may be NULL.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_refresh_in_place(
    model: *mut millpond_model,
    changed: Out<'_, u32>,
) -> ResultNumber {
    waiting(|| {
        write(changed, Attached::of(model)?.write().refresh_in_place()?.into());
        Ok(())
    })
}

/// Whether the pond does not know the lease any more, because another pond has taken its place: 1 or 0. Zero for a
/// handle that is no model of this process.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_is_lost(model: *const millpond_model) -> u32 {
    value(0, || Ok(Attached::of(model)?.read().is_lost().into()))
}

/// The CUDA context that the model is for, a `CUcontext`; NULL for a handle that is no model of this process.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_context(model: *const millpond_model) -> *mut c_void {
    value(std::ptr::null_mut(), || Ok(Attached::of(model)?.read().context().raw().cast()))
}
