//! Tensors: made, got, and what is known of them.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use millpond::{Tensor, TensorId};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, Text, call, required, value, waiting, write};
use crate::failure::Failure;
use crate::objects::{PONDS, TENSORS};
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::table::Kind;
use crate::tensor_types::{millpond_get_options, millpond_tensor_info, millpond_tensor_spec};
use crate::uuid::millpond_uuid;
use crate::words::{DtypeNumber, ModeNumber};

/// A tensor that this process has a lease on, mapped into its address space on the GPU.
pub struct millpond_tensor {
    _private: [u8; 0],
}

/// What a handle of a tensor names.
pub(crate) struct Mapped {
    pub(crate) tensor: Tensor,
    pid: u32,
}

impl Mapped {
    pub(crate) fn keep(tensor: Tensor) -> Answer<*mut millpond_tensor> {
        TENSORS.insert(Arc::new(Self { tensor, pid: process_number() }))
    }

    /// The tensor of a handle, which must be this process's.
    pub(crate) fn of(handle: *const millpond_tensor) -> Answer<Arc<Self>> {
        let mapped = TENSORS.get(handle)?;
        if mapped.pid == process_number() {
            Ok(mapped)
        } else {
            Err(Failure::Forked { what: Kind::Tensor })
        }
    }
}

/// Makes a tensor and maps it readable and writable. Others get it when it is published: millpond_tensor_publish(),
/// or `spec->zero`. If a tensor of that name, dtype and shape already exists, that is the one: the same name is the
/// same memory. Nothing else of the spec is applied to it then, and `existed`, which may be NULL, is 1. Free it with
/// millpond_tensor_free(): the tensor itself lives until it is deleted.
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_create(
    pond: *const millpond_pond,
    spec: Option<&millpond_tensor_spec>,
    existed: Out<'_, u32>,
    tensor: Out<'_, *mut millpond_tensor>,
) -> ResultNumber {
    waiting(|| {
        let out = required(tensor, "tensor")?;
        let spec = required(spec, "spec")?;
        let made = PONDS.get(pond)?.create(spec.made()?)?;
        let was_there = made.existed();
        out.write(Mapped::keep(made)?);
        write(existed, was_there.into());
        Ok(())
    })
}

/// Makes a tensor without mapping it. Needs no driver. `existed` and `info` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_reserve(
    pond: *const millpond_pond,
    spec: Option<&millpond_tensor_spec>,
    existed: Out<'_, u32>,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    waiting(|| {
        let spec = required(spec, "spec")?;
        let (made, was_there) = PONDS.get(pond)?.reserve_or_find(spec.made()?)?;
        write(info, (&made).into());
        write(existed, was_there.into());
        Ok(())
    })
}

/// Maps a published tensor. `target` is a name (`acts/x`), a name with its owner (`~alice/acts/x`) or the 36
/// characters of an identity; `options` may be NULL. What this process has mapped already in the same way, and what
/// nothing has happened to since, costs no message; each get has a handle of its own all the same. Free it with
/// millpond_tensor_free().
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_get(
    pond: *const millpond_pond,
    target: Text,
    options: Option<&millpond_get_options>,
    tensor: Out<'_, *mut millpond_tensor>,
) -> ResultNumber {
    waiting(|| {
        let out = required(tensor, "tensor")?;
        let target = target.required("target")?;
        let options = millpond_get_options::read(options)?;
        out.write(Mapped::keep(PONDS.get(pond)?.get_with(target, options)?)?);
        Ok(())
    })
}

/// As millpond_tensor_get(), by identity.
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_get_by_id(
    pond: *const millpond_pond,
    id: Option<&millpond_uuid>,
    options: Option<&millpond_get_options>,
    tensor: Out<'_, *mut millpond_tensor>,
) -> ResultNumber {
    waiting(|| {
        let out = required(tensor, "tensor")?;
        let id = TensorId(uuid::Uuid::from_bytes(required(id, "id")?.bytes));
        let options = millpond_get_options::read(options)?;
        out.write(Mapped::keep(PONDS.get(pond)?.get_with(id, options)?)?);
        Ok(())
    })
}

/// Ends the use of a tensor. Never waits: the lease ends when the device has done all work that was submitted before.
/// NULL is nothing.
///
/// Threads: any; calls of other threads that are under way end as usual. Fork: a tensor of the parent is freed in the
/// child alone, and nothing of the parent's ends.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_free(tensor: *mut millpond_tensor) -> ResultNumber {
    call(|| TENSORS.free(tensor))
}

/// Where the tensor begins in the GPU's address space, for this process; NULL for a handle that is no tensor of this
/// process. Valid until it is freed.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_data(tensor: *const millpond_tensor) -> *mut c_void {
    value(ptr::null_mut(), || {
        let address = Mapped::of(tensor)?.tensor.device_ptr().0;
        let address = usize::try_from(address).unwrap_or(0);
        // What the driver maps is used by kernels, and by the software driver's users as host memory.
        Ok(ptr::with_exposed_provenance_mut(address))
    })
}

/// Bytes of the tensor; zero for a handle that is no tensor.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_bytes(tensor: *const millpond_tensor) -> u64 {
    value(0, || Ok(TENSORS.get(tensor)?.tensor.bytes()))
}

/// The tensor's element type; zero for a handle that is no tensor.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_dtype(tensor: *const millpond_tensor) -> DtypeNumber {
    value(0, || Ok(TENSORS.get(tensor)?.tensor.dtype().code().into()))
}

/// How the tensor is mapped; zero for a handle that is no tensor.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_mode(tensor: *const millpond_tensor) -> ModeNumber {
    value(0, || Ok(TENSORS.get(tensor)?.tensor.mode().code().into()))
}

/// The tensor's identity.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_id(
    tensor: *const millpond_tensor,
    id: Out<'_, millpond_uuid>,
) -> ResultNumber {
    call(|| {
        let out = required(id, "id")?;
        out.write(TENSORS.get(tensor)?.tensor.id().into());
        Ok(())
    })
}

/// How often the tensor was published, as far as this handle knows; zero for a handle that is no tensor.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_generation(tensor: *const millpond_tensor) -> u64 {
    value(0, || Ok(TENSORS.get(tensor)?.tensor.generation()))
}

/// All that the pond said about the tensor when it was got. Costs no message; millpond_tensor_inspect() asks anew.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_get_info(
    tensor: *const millpond_tensor,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        let mapped = TENSORS.get(tensor)?;
        let mut info = millpond_tensor_info::from(mapped.tensor.info());
        info.generation = mapped.tensor.generation();
        out.write(info);
        Ok(())
    })
}

/// Whether the pond does not know the lease any more, because another pond has taken its place: 1 or 0. The memory
/// stays mapped and whole, but nobody else can find it. Zero for a handle that is no tensor.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_is_lost(tensor: *const millpond_tensor) -> u32 {
    value(0, || Ok(TENSORS.get(tensor)?.tensor.is_lost().into()))
}

/// Waits for all work of the tensor's CUDA context, then tells the pond that the bytes are complete. `generation` may
/// be NULL.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_publish(
    tensor: *const millpond_tensor,
    generation: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        write(generation, Mapped::of(tensor)?.tensor.publish()?);
        Ok(())
    })
}

/// Deletes a tensor: no new leases, and the memory goes when the last one has ended.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_delete(pond: *const millpond_pond, target: Text) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.delete(target.required("target")?)?))
}

/// Deletes a tensor that nobody uses: its memory is free at once. While anybody has a lease or a hold on it, this
/// process included, nothing changes and the answer is MILLPOND_IN_USE, with the processes in
/// millpond_error_holder_at(). What this process has freed is given back first.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_delete_unused(
    pond: *const millpond_pond,
    target: Text,
) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.delete_unused(target.required("target")?)?))
}

/// Gives a tensor another name. Leases and mappings stay as they are.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_rename(
    pond: *const millpond_pond,
    target: Text,
    name: Text,
) -> ResultNumber {
    waiting(|| {
        let (target, name) = (target.required("target")?, name.required("name")?);
        Ok(PONDS.get(pond)?.rename(target, name)?)
    })
}
