//! The 64 bytes that open a tensor's memory with CUDA alone.

use std::sync::Arc;

use millpond::{HandleParts, TensorHandle};

use crate::border::{Out, Text, call, required, waiting, write};
use crate::objects::{HANDLES, PONDS};
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::tensor_types::{millpond_get_options, millpond_tensor_info, token};
use crate::uuid::millpond_uuid;

/// A lease on a tensor of MILLPOND_TRANSPORT_IPC that is not mapped here, from millpond_handle_get().
pub struct millpond_handle {
    _private: [u8; 0],
}

pub(crate) type Kept = Arc<TensorHandle>;

/// What opens a tensor's memory in any process but the one that made it. Whoever has the bytes has the memory, for
/// reading and writing: hand them on as you would hand on the memory itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_handle_parts {
    /// For cuIpcOpenMemHandle() and cudaIpcOpenMemHandle(). The tensor begins `offset` bytes behind the address that
    /// it opens.
    pub memory: [u8; 64],
    /// For cuIpcOpenEventHandle(): the event that carries order between streams of two processes.
    pub event: [u8; 64],
    /// 1 if there is an event. Memory that another program made has none.
    pub has_event: u32,
    /// Zero.
    pub reserved_flags: u32,
    /// Where the tensor begins in what the bytes open.
    pub offset: u64,
    /// For later versions; zero.
    pub reserved: [u64; 4],
    /// The tensor.
    pub info: millpond_tensor_info,
}

impl From<&HandleParts> for millpond_handle_parts {
    fn from(parts: &HandleParts) -> Self {
        Self {
            memory: parts.memory,
            event: parts.event.unwrap_or([0; 64]),
            has_event: parts.event.is_some().into(),
            reserved_flags: 0,
            offset: parts.info.offset,
            reserved: [0; 4],
            info: (&parts.info).into(),
        }
    }
}

/// The handle of a published tensor of MILLPOND_TRANSPORT_IPC, with a lease that keeps the memory until
/// millpond_handle_free(). Nothing is mapped and no driver is needed. `options` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_handle_get(
    pond: *const millpond_pond,
    target: Text,
    options: Option<&millpond_get_options>,
    handle: Out<'_, *mut millpond_handle>,
) -> ResultNumber {
    waiting(|| {
        let out = required(handle, "handle")?;
        let target = target.required("target")?;
        let options = millpond_get_options::read(options)?;
        out.write(HANDLES.insert(Arc::new(PONDS.get(pond)?.handle_with(target, options)?))?);
        Ok(())
    })
}

/// The bytes of a handle.
///
/// Threads: any. Fork: works in the child, but keeps nothing for it.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_handle_read(
    handle: *const millpond_handle,
    parts: Out<'_, millpond_handle_parts>,
) -> ResultNumber {
    call(|| {
        let out = required(parts, "parts")?;
        let handle = HANDLES.get(handle)?;
        out.write(millpond_handle_parts {
            memory: *handle.memory(),
            event: handle.event().copied().unwrap_or([0; 64]),
            has_event: handle.event().is_some().into(),
            reserved_flags: 0,
            offset: handle.offset(),
            reserved: [0; 4],
            info: handle.info().into(),
        });
        Ok(())
    })
}

/// Gives the lease of a handle back. The memory may be gone from then on, unless somebody has opened it. NULL is
/// nothing.
///
/// Threads: any. Fork: a handle of the parent is freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_handle_free(handle: *mut millpond_handle) -> ResultNumber {
    call(|| HANDLES.free(handle))
}

/// Holds a tensor that was made with `spec.hold_token`, for the process `holder` or, with 0, for nobody in
/// particular. The hold keeps the memory, also when this process ends; it ends with the process `holder`, with
/// millpond_tensor_unhold(), or when the tensor is deleted. The same token again holds nothing more. `parts` may be
/// NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_hold(
    pond: *const millpond_pond,
    target: Text,
    holder: u32,
    token: Option<&millpond_uuid>,
    parts: Out<'_, millpond_handle_parts>,
) -> ResultNumber {
    waiting(|| {
        let (target, token) = (target.required("target")?, *required(token, "token")?);
        let holder = (holder != 0).then_some(holder);
        let held = PONDS.get(pond)?.hold(target, holder, self::token(token))?;
        write(parts, (&held).into());
        Ok(())
    })
}

/// Gives up one hold of the process `holder`; where it has none, and with 0, one of nobody in particular. The same
/// token again gives up nothing more. `info`, the tensor as it is afterwards, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_unhold(
    pond: *const millpond_pond,
    target: Text,
    holder: u32,
    token: Option<&millpond_uuid>,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    waiting(|| {
        let (target, token) = (target.required("target")?, *required(token, "token")?);
        let holder = (holder != 0).then_some(holder);
        let left = PONDS.get(pond)?.unhold(target, holder, self::token(token))?;
        write(info, (&left).into());
        Ok(())
    })
}

/// The bytes of a tensor that was made to be held, without a hold or a lease. Somebody else must keep the memory.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_peek(
    pond: *const millpond_pond,
    target: Text,
    parts: Out<'_, millpond_handle_parts>,
) -> ResultNumber {
    waiting(|| {
        let out = required(parts, "parts")?;
        let found = PONDS.get(pond)?.peek(target.required("target")?)?;
        out.write((&found).into());
        Ok(())
    })
}
