//! An arena in this process, and the lease that keeps it. Every view of it holds it, and it is put
//! on the retire list when the last of them is gone.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_client_core::Lost;
use millpond_cuda::{Context, DevicePtr, Mapping};
use millpond_wire::manifest::ManifestTensor;
use millpond_wire::message::{PartInfo, VersionInfo};
use millpond_wire::{GpuUuid, LeaseId, Mode};

use super::arena::Arena;
use super::granted::Slabs;
use super::version::label;
use crate::cuda_side::CudaSide;
use crate::retire::ToUnmap;
use crate::slab_map::DeviceSide;
use crate::{Error, Pond, Result, process};

pub(super) struct Attachment {
    pond: Pond,
    owner: u32,
    device: GpuUuid,
    context: Context,
    /// Never changes, whatever lies there.
    address: DevicePtr,
    bytes: u64,
    label: String,
    /// It was written here and is complete: from now on it never changes.
    pub(super) sealed: AtomicBool,
    held: RwLock<Leased>,
}

/// What changes when another version takes the same places.
pub(super) struct Leased {
    pub(super) lease: LeaseId,
    pub(super) lost: Lost,
    /// Taken out only by `drop`.
    pub(super) arena: Option<Box<Arena<CudaSide>>>,
    /// Parts of two versions are mapped, or nothing where something should be.
    pub(super) broken: bool,
}

impl Attachment {
    pub(super) fn new(
        pond: &Pond,
        info: &VersionInfo,
        arena: Arena<CudaSide>,
        lease: LeaseId,
        lost: Lost,
    ) -> Self {
        let range = arena.range();
        Self {
            pond: pond.clone(),
            owner: process::current(),
            device: info.device,
            context: arena.list().context().clone(),
            address: range.map_or(DevicePtr(0), |range| range.start()),
            bytes: range.map_or(0, |range| range.bytes()),
            label: label(info),
            sealed: AtomicBool::new(false),
            held: RwLock::new(Leased { lease, lost, arena: Some(Box::new(arena)), broken: false }),
        }
    }

    pub(super) fn pond(&self) -> &Pond {
        &self.pond
    }

    pub(super) fn device(&self) -> GpuUuid {
        self.device
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn address(&self) -> DevicePtr {
        self.address
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Leased> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Leased> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only in the process that attached; in a fork's child the mapping is the parent's.
    pub(super) fn own(&self) -> Result<()> {
        if self.owner == process::current() {
            return Ok(());
        }
        Err(Error::Forked { tensor: format!("'{}'", self.label), owner: self.owner })
    }

    /// Does something with a part of a tensor, while nobody changes what is mapped.
    pub(super) fn with<R>(
        &self,
        tensor: &ManifestTensor,
        offset: u64,
        length: u64,
        work: impl FnOnce(&Mapping, u64) -> Result<R, millpond_cuda::CudaError>,
    ) -> Result<R> {
        if offset.checked_add(length).is_none_or(|end| end > tensor.bytes) {
            let (name, bytes) = (format!("'{}'", tensor.name), tensor.bytes);
            return Err(Error::OutOfBounds { tensor: name, offset, length, bytes });
        }
        self.own()?;
        let held = self.read();
        let mapping = held.arena.as_ref().and_then(|arena| arena.placed(tensor.slab));
        match mapping {
            Some(mapping) if !held.broken => Ok(work(mapping, tensor.offset + offset)?),
            _ => Err(broken(&self.label)),
        }
    }
}

/// A refresh has failed, and so has putting back what was there.
pub(super) fn broken(label: &str) -> Error {
    let message = format!("the mapping of '{label}' is broken since a refresh in place failed");
    let hint = "drop it with all of its tensors and attach anew".to_owned();
    Error::version(millpond_wire::ErrorKind::Invalid, message, hint)
}

/// Reserves an arena and maps all of its slabs. Whatever fails, nothing stays mapped.
pub(super) fn map(
    pond: &Pond,
    device: GpuUuid,
    parts: &[PartInfo],
    slabs: &mut Slabs,
    mode: Mode,
) -> Result<Arena<CudaSide>> {
    let core = pond.core();
    let list = core.list_for(device)?;
    let cuda = &*core.cuda;
    cuda.undisturbing(|| {
        let mut arena = Arena::reserve(cuda, &list, parts.iter().map(|part| part.bytes))?;
        match fill(pond, &mut arena, parts, slabs, mode) {
            Ok(()) => Ok(arena),
            Err(error) => {
                // Nobody has seen an address of it.
                if let Err(error) = arena.unmap(cuda) {
                    tracing::warn!(%error, "a slab stays mapped until the process ends");
                }
                Err(error)
            }
        }
    })
}

fn fill(
    pond: &Pond,
    arena: &mut Arena<CudaSide>,
    parts: &[PartInfo],
    slabs: &mut Slabs,
    mode: Mode,
) -> Result<()> {
    use std::os::fd::AsFd;
    let core = pond.core();
    // Each batch is closed before the next one comes: a process may have few descriptors.
    while let Some((first, fds)) = slabs.next(&core.link)? {
        for (index, fd) in (first..).zip(&fds) {
            arena.fill(&core.cuda, index, parts[index].tensor, fd.as_fd(), mode)?;
        }
    }
    Ok(())
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(arena) = held.arena.take() else { return };
        if self.owner == process::current() {
            let list = Arc::clone(arena.list());
            list.push(held.lease, ToUnmap::Arena(arena));
        } else {
            // A forked copy: the lease, the mapping and the context are the parent's.
            std::mem::forget(arena);
            std::mem::forget(self.context.clone());
        }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("version", &self.label)
            .field("address", &self.address)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
