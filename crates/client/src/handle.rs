//! What a program that knows only CUDA needs of a tensor: sixty-four bytes, and where to look.

use std::fmt;
use std::time::Instant;

use millpond_wire::message::{RequestBody, TensorGet, TensorInfo};

use crate::lease_guard::LeaseGuard;
use crate::link::Ask;
use crate::slab_map::{Handle, Reach};
use crate::spec::wait_ms;
use crate::{Error, GetOptions, IntoTarget, Pond, Result, grant};

/// A tensor of the transport `ipc` as other programs open it, from [`Pond::handle`]: with
/// `cuIpcOpenMemHandle` or `cudaIpcOpenMemHandle`, in any process but the one that made the memory.
/// The tensor begins [`TensorHandle::offset`] bytes behind the address that this gives.
///
/// It has a lease, so that the memory stays, until it is dropped; whoever opened the memory by then
/// keeps it. Nothing is mapped here and no driver is needed.
///
/// **Whoever has the bytes has the memory**, for reading and writing: the driver asks neither for a
/// user nor for a lease. Hand them on as you would hand on the memory itself.
pub struct TensorHandle {
    guard: LeaseGuard,
    /// Its connection ends when the last of these is gone.
    _pond: Pond,
    parts: HandleParts,
}

/// The bytes of a handle, without a lease, from [`TensorHandle::detach`]. Nothing keeps the memory
/// for them. Who frees memory may get memory of the same number with its next allocation, which old
/// bytes then open.
#[derive(Clone, PartialEq, Eq)]
pub struct HandleParts {
    /// For `cuIpcOpenMemHandle`.
    pub memory: [u8; 64],
    /// For `cuIpcOpenEventHandle`: the event that carries order between streams of two processes.
    /// Memory that another program made has none.
    pub event: Option<[u8; 64]>,
    /// Element type, shape, GPU, bytes, and the offset in what the bytes open.
    pub info: TensorInfo,
}

impl Pond {
    /// The handle of a published tensor of the transport `ipc`, for programs without Millpond. Needs
    /// no driver.
    ///
    /// # Errors
    /// [`Error::NoHandle`] for memory of other transports, `not_found`, `not_ready`, and what else
    /// the pond answers.
    pub fn handle(&self, target: impl IntoTarget) -> Result<TensorHandle> {
        self.handle_with(target, GetOptions::read_only())
    }

    /// As [`Pond::handle`], with a wait, or with the right to write. The mode is what the pond knows
    /// of the use; the bytes are the same.
    ///
    /// # Errors
    /// As for [`Pond::handle`], and `timeout` after the wait.
    pub fn handle_with(
        &self,
        target: impl IntoTarget,
        options: GetOptions,
    ) -> Result<TensorHandle> {
        const WHAT: &str = "a request for a handle";
        let target = target.into_target()?;
        let link = &self.core().link;
        let lease = link.new_lease();
        let GetOptions { mode, wait } = options;
        let body =
            RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: wait_ms(wait) });
        let answer = link.call(
            Ask {
                what: WHAT,
                body,
                lease: Some(lease),
                deadline: self.deadline(wait).filter(|_| !options.waits_for_ever()),
                waits_until: Instant::now().checked_add(wait),
            },
            None,
        )?;
        // From here on, whatever goes wrong, the lease goes back.
        let guard = LeaseGuard::keep(link, lease)?;
        let grant = grant::with_lease(WHAT, answer, lease, mode)?;
        let memory = ipc_handle(&grant.info, &grant.reach)?;
        let parts = HandleParts { memory, event: grant.event, info: grant.info };
        Ok(TensorHandle { guard, _pond: self.clone(), parts })
    }
}

fn ipc_handle(info: &TensorInfo, reach: &Reach) -> Result<Handle> {
    match reach {
        Reach::Ipc(handle) => Ok(*handle),
        _ => {
            let tensor = crate::tensor::label(info);
            Err(Error::NoHandle { tensor, transport: info.transport })
        }
    }
}

impl TensorHandle {
    /// The bytes for `cuIpcOpenMemHandle`.
    #[must_use]
    pub fn memory(&self) -> &[u8; 64] {
        &self.parts.memory
    }

    /// The bytes for `cuIpcOpenEventHandle`, where the tensor has an event.
    #[must_use]
    pub fn event(&self) -> Option<&[u8; 64]> {
        self.parts.event.as_ref()
    }

    /// Where the tensor begins in what the bytes open.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.parts.info.offset
    }

    /// The tensor, as it was when the handle was got.
    #[must_use]
    pub fn info(&self) -> &TensorInfo {
        &self.parts.info
    }

    /// Gives the lease back at once. The memory may be gone from then on, unless somebody has it.
    #[must_use]
    pub fn detach(self) -> HandleParts {
        self.parts
    }
}

/// Without the bytes: what is printed is read by others.
impl fmt::Debug for TensorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorHandle")
            .field("lease", &self.guard.lease())
            .field("info", &self.parts.info)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HandleParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandleParts").field("info", &self.info).finish_non_exhaustive()
    }
}
