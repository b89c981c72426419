//! DLPack: memory in a structure that every array library knows.
//!
//! The header names DLPack's structures and does not define them, so that it goes with any version of `dlpack.h`.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use millpond::cuda::Context;
use millpond::{Dtype, Mode, ModelTensor, Shape};

use crate::border::{Answer, Out, Text, call, required};
use crate::failure::Failure;
use crate::model::{Attached, millpond_model};
use crate::result::ResultNumber;
use crate::tensor::{Mapped, millpond_tensor};

/// DLPack's structure of version 1, `DLManagedTensorVersioned` of `dlpack.h`.
pub struct DLManagedTensorVersioned {
    _private: [u8; 0],
}

/// DLPack's structure from before version 1, `DLManagedTensor` of `dlpack.h`.
pub struct DLManagedTensor {
    _private: [u8; 0],
}

const CPU: i32 = 1;
const CUDA: i32 = 2;
const READ_ONLY: u64 = 1;
/// The newest version whose structures these are; only major numbers change them.
const VERSION: (u32, u32) = (1, 1);

#[repr(C)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: Device,
    dimensions: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// What the library hands out. The structure is first, so that its address is the box's.
#[repr(C)]
struct Owned<T> {
    managed: T,
    extents: Box<[i64]>,
    keeper: Keeper,
}

/// What has the lease.
enum Keeper {
    Tensor(Arc<Mapped>),
    Model(ModelTensor),
}

impl Keeper {
    fn address(&self) -> u64 {
        match self {
            Keeper::Tensor(mapped) => mapped.tensor.device_ptr().0,
            Keeper::Model(tensor) => tensor.device_ptr().0,
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            Keeper::Tensor(mapped) => mapped.tensor.dtype(),
            Keeper::Model(tensor) => tensor.dtype(),
        }
    }

    fn shape(&self) -> &Shape {
        match self {
            Keeper::Tensor(mapped) => mapped.tensor.shape(),
            Keeper::Model(tensor) => tensor.shape(),
        }
    }

    fn context(&self) -> &Context {
        match self {
            Keeper::Tensor(mapped) => mapped.tensor.context(),
            Keeper::Model(tensor) => tensor.context(),
        }
    }

    fn flags(&self) -> u64 {
        match self {
            Keeper::Tensor(mapped) if mapped.tensor.mode() == Mode::ReadWrite => 0,
            _ => READ_ONLY,
        }
    }
}

fn data_type(dtype: Dtype) -> Answer<DataType> {
    let code = match dtype {
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => 0,
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => 1,
        Dtype::F16 | Dtype::F32 | Dtype::F64 => 2,
        Dtype::Bf16 => 4,
        Dtype::C64 => 5,
        Dtype::Bool => 6,
        Dtype::F8E4M3 => 10,
        Dtype::F8E4M3Fnuz => 11,
        Dtype::F8E5M2 => 12,
        Dtype::F8E5M2Fnuz => 13,
        Dtype::F8E8M0 => 14,
        Dtype::F4 | Dtype::F6E2M3 | Dtype::F6E3M2 => {
            return Err(Failure::invalid(format!("DLPack has no dtype for packed {dtype}")));
        }
    };
    Ok(DataType { code, bits: u8::try_from(dtype.bits()).unwrap_or(0), lanes: 1 })
}

/// Where the memory is, in DLPack's words.
fn device(context: &Context) -> Answer<Device> {
    if millpond_softgpu::is_software(context.device().name()) {
        return Ok(Device { kind: CPU, id: 0 });
    }
    Ok(Device { kind: CUDA, id: context.device().ordinal() })
}

fn tensor(keeper: &Keeper, extents: &mut [i64]) -> Answer<DlTensor> {
    let dims = keeper.shape().dims();
    let (shape, strides) = extents.split_at_mut(dims.len());
    let mut stride = 1_i64;
    for (place, extent) in dims.iter().enumerate().rev() {
        let extent = i64::try_from(*extent);
        let extent =
            extent.map_err(|_| Failure::invalid("the extents are too large for DLPack"))?;
        (shape[place], strides[place]) = (extent, stride);
        stride = stride.saturating_mul(extent);
    }
    let address = usize::try_from(keeper.address()).unwrap_or(0);
    Ok(DlTensor {
        data: ptr::with_exposed_provenance_mut(address),
        device: device(keeper.context())?,
        dimensions: i32::try_from(dims.len()).unwrap_or(0),
        dtype: data_type(keeper.dtype())?,
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    })
}

fn described(keeper: &Keeper) -> Answer<(Box<[i64]>, DlTensor)> {
    // Where they are now they stay: the box's contents do not move again.
    let mut extents = vec![0; 2 * keeper.shape().dims().len()].into_boxed_slice();
    let tensor = tensor(keeper, &mut extents)?;
    Ok((extents, tensor))
}

fn versioned(keeper: Keeper) -> Answer<*mut DLManagedTensorVersioned> {
    let (extents, tensor) = described(&keeper)?;
    let managed = Versioned {
        major: VERSION.0,
        minor: VERSION.1,
        manager: ptr::null_mut(),
        deleter: Some(delete::<Versioned>),
        flags: keeper.flags(),
        tensor,
    };
    Ok(Box::into_raw(Box::new(Owned { managed, extents, keeper })).cast())
}

/// Hands the tensor's memory out as a `DLManagedTensorVersioned` of DLPack 1.1. It has a part of the lease: call its
/// `deleter` when done, in any thread. A tensor that was got read-only has the flag DLPACK_FLAG_BITMASK_READ_ONLY. On
/// the software driver the memory is the host's, and DLPack's device is the CPU.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_dlpack(
    tensor: *const millpond_tensor,
    managed: Out<'_, *mut DLManagedTensorVersioned>,
) -> ResultNumber {
    call(|| {
        let out = required(managed, "managed")?;
        out.write(versioned(Keeper::Tensor(Mapped::of(tensor)?))?);
        Ok(())
    })
}

/// As millpond_tensor_dlpack(), in the structure from before DLPack 1, `DLManagedTensor`, which has no word for
/// read-only: whoever takes it over must not write to what was got read-only.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_dlpack_legacy(
    tensor: *const millpond_tensor,
    managed: Out<'_, *mut DLManagedTensor>,
) -> ResultNumber {
    call(|| {
        let out = required(managed, "managed")?;
        let keeper = Keeper::Tensor(Mapped::of(tensor)?);
        let (extents, tensor) = described(&keeper)?;
        let managed = Legacy { tensor, manager: ptr::null_mut(), deleter: Some(delete::<Legacy>) };
        out.write(Box::into_raw(Box::new(Owned { managed, extents, keeper })).cast());
        Ok(())
    })
}

/// Hands a tensor of a version out as a `DLManagedTensorVersioned` of DLPack 1.1, which is read-only. It keeps the version, also when the model is refreshed or freed: call its
/// `deleter` when done, in any thread.
///
/// Threads: any. Fork: a model of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_dlpack(
    model: *const millpond_model,
    name: Text,
    managed: Out<'_, *mut DLManagedTensorVersioned>,
) -> ResultNumber {
    call(|| {
        let out = required(managed, "managed")?;
        let tensor = Attached::of(model)?.read().tensor(name.required("name")?)?;
        out.write(versioned(Keeper::Model(tensor))?);
        Ok(())
    })
}

/// The deleter: lets go of the lease.
///
/// # Safety
/// `managed` is NULL, or what one of the functions above made, and nobody uses it after this.
unsafe extern "C" fn delete<T>(managed: *mut T) {
    if managed.is_null() {
        return;
    }
    crate::border::quiet((), |()| {
        // SAFETY: the structure is the first part of a box that one of the functions above made, and the caller gives
        // it up.
        let owned = unsafe { Box::from_raw(managed.cast::<Owned<T>>()) };
        drop((owned.extents, owned.keeper));
    });
}
