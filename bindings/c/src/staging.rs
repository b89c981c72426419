//! Versions of models that this process writes.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::{Dtype, StageSpec, StagedTensor, Staging};
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, Text, call, flag, required, reserved, waiting, write};
use crate::failure::Failure;
use crate::model_types::{millpond_model_tensor, millpond_version_info};
use crate::objects::{PONDS, STAGINGS};
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::table::Kind;
use crate::tensor_data::{array, readable};
use crate::tensor_types::MILLPOND_MAX_DIMENSIONS;
use crate::uuid::millpond_uuid;
use crate::words::{AudienceNumber, DtypeNumber, audience, dtype};

/// A version that this process is writing.
pub struct millpond_staging {
    _private: [u8; 0],
}

/// What a handle of a staging names; empty once it is committed.
pub(crate) struct Begun {
    staging: Mutex<Option<Staging>>,
    pid: u32,
}

/// A tensor of a version to be made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_stage_tensor {
    /// Its name.
    pub name: Text,
    /// The tensor whose bytes it has, where it is a further name of another one; otherwise NULL. Then dtype and shape
    /// do not count.
    pub tied_to: Text,
    /// Element type.
    pub dtype: DtypeNumber,
    /// How many extents.
    pub dimensions: u32,
    /// Extents.
    pub shape: [u64; MILLPOND_MAX_DIMENSIONS],
}

/// A name with a value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_pair {
    /// The name.
    pub name: Text,
    /// The value.
    pub value: Text,
}

/// A version to be made. Begin with a struct of zeroes; set `model`, and `like` or `tensors`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_stage_spec {
    /// The model.
    pub model: Text,
    /// The version's tag; NULL has the pond choose the next number.
    pub tag: Text,
    /// A version whose bytes it begins with, for example `llama@v2`; only what is written costs memory. NULL:
    /// `tensors` says what it has.
    pub like: Text,
    /// Where its bytes came from, for people; may be NULL.
    pub source: Text,
    /// Its tensors.
    pub tensors: *const millpond_stage_tensor,
    /// How many.
    pub tensor_count: usize,
    /// What the checkpoint says about itself; may be NULL.
    pub metadata: *const millpond_pair,
    /// How many.
    pub metadata_count: usize,
    /// On which GPU; all zero for that of `like`, or the pond's first.
    pub gpu: millpond_uuid,
    /// With whom it is shared; zero for the audience of `like`, or the owner's user.
    pub audience: AudienceNumber,
    /// Must be zero.
    pub reserved_flags: u32,
    /// Bytes of its slabs; zero for the default.
    pub slab_bytes: u64,
    /// For later versions; must be zero.
    pub reserved: [u64; 6],
}

impl millpond_stage_spec {
    fn read(&self) -> Answer<StageSpec> {
        reserved(&self.reserved, "millpond_stage_spec")?;
        reserved(&[self.reserved_flags.into()], "millpond_stage_spec")?;
        let mut spec = StageSpec::new(self.model.required("model")?);
        if let Some(tag) = self.tag.optional("tag")? {
            spec = spec.tag(tag);
        }
        if let Some(gpu) = self.gpu.gpu() {
            spec = spec.device(gpu);
        }
        if self.audience != 0 {
            spec = spec.audience(audience(self.audience)?);
        }
        if let Some(like) = self.like.optional("like")? {
            spec = spec.like(like);
        }
        // SAFETY: the header demands that so many are readable there.
        let tensors = unsafe { array(self.tensors, self.tensor_count, "tensors")? };
        let mut described: Vec<(String, Dtype, Vec<u64>)> = Vec::new();
        for tensor in tensors {
            let name = tensor.name.required("the name of a tensor")?;
            if let Some(other) = tensor.tied_to.optional("tied_to")? {
                spec = spec.tied(name, other);
                continue;
            }
            let count = usize::try_from(tensor.dimensions).unwrap_or(usize::MAX);
            let dims = tensor.shape.get(..count).ok_or_else(|| {
                Failure::invalid(format!("{count} dimensions; at most {MILLPOND_MAX_DIMENSIONS}"))
            })?;
            described.push((name.to_owned(), dtype(tensor.dtype)?, dims.to_vec()));
        }
        if !described.is_empty() {
            spec = spec.tensors(described);
        }
        if self.slab_bytes != 0 {
            spec = spec.slab_bytes(self.slab_bytes);
        }
        if let Some(source) = self.source.optional("source")? {
            spec = spec.source(source);
        }
        // SAFETY: the header demands that so many are readable there.
        let pairs = unsafe { array(self.metadata, self.metadata_count, "metadata")? };
        if !pairs.is_empty() {
            let mut metadata = BTreeMap::new();
            for pair in pairs {
                let name = pair.name.required("the name of metadata")?.to_owned();
                metadata.insert(name, pair.value.required("the value of metadata")?.to_owned());
            }
            spec = spec.metadata(metadata);
        }
        Ok(spec)
    }
}

impl Begun {
    fn of(handle: *const millpond_staging) -> Answer<Arc<Self>> {
        let begun = STAGINGS.get(handle)?;
        if begun.pid == process_number() {
            Ok(begun)
        } else {
            Err(Failure::Forked { what: Kind::Staging })
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Staging>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tensor(&self, name: &str) -> Answer<StagedTensor> {
        match &mut *self.lock() {
            Some(staging) => Ok(staging.tensor_mut(name)?),
            None => Err(over()),
        }
    }
}

fn over() -> Failure {
    Failure::invalid("the version was committed")
}

/// Begins a version, to be written by this process. Until the commit nobody else has it; when the staging is freed
/// before, or this process ends, nothing is left of it. Free it with millpond_staging_free().
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_begin(
    pond: *const millpond_pond,
    spec: Option<&millpond_stage_spec>,
    staging: Out<'_, *mut millpond_staging>,
) -> ResultNumber {
    waiting(|| {
        let out = required(staging, "staging")?;
        let pond = PONDS.get(pond)?;
        let spec = required(spec, "spec")?.read()?;
        let begun = pond.stage(spec)?;
        let begun = Begun { staging: Mutex::new(Some(begun)), pid: process_number() };
        out.write(STAGINGS.insert(Arc::new(begun))?);
        Ok(())
    })
}

/// The version, as it was when it was begun.
///
/// Threads: any. Fork: a staging of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_get_info(
    staging: *const millpond_staging,
    info: Out<'_, millpond_version_info>,
) -> ResultNumber {
    call(|| {
        let out = required(info, "info")?;
        out.write(Begun::of(staging)?.lock().as_ref().ok_or_else(over)?.info().into());
        Ok(())
    })
}

/// A tensor, mapped to be written. The first one of a slab that was shared with `like` makes the slab this version's
/// own, with the bytes that were there. Its address is valid until the staging is freed, and must not be written
/// after the commit.
///
/// Threads: any. Fork: a staging of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_tensor(
    staging: *mut millpond_staging,
    name: Text,
    tensor: Out<'_, millpond_model_tensor>,
) -> ResultNumber {
    waiting(|| {
        let out = required(tensor, "tensor")?;
        let tensor = Begun::of(staging)?.tensor(name.required("name")?)?;
        out.write((&*tensor).into());
        Ok(())
    })
}

/// Copies `bytes` bytes from `source`, in this machine's memory, into a tensor from `offset` bytes on, and waits.
///
/// Threads: any; `source` must not change meanwhile. Fork: a staging of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_copy_from_host(
    staging: *mut millpond_staging,
    name: Text,
    offset: u64,
    source: *const c_void,
    bytes: u64,
) -> ResultNumber {
    waiting(|| {
        let tensor = Begun::of(staging)?.tensor(name.required("name")?)?;
        // SAFETY: the header demands that so many bytes are readable there and do not change during the call.
        let source = unsafe { readable(source, bytes)? };
        Ok(tensor.copy_from_host(offset, source)?)
    })
}

/// Fills a tensor with one byte, and waits.
///
/// Threads: any. Fork: a staging of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_fill(
    staging: *mut millpond_staging,
    name: Text,
    byte: u8,
) -> ResultNumber {
    waiting(|| Ok(Begun::of(staging)?.tensor(name.required("name")?)?.fill(byte)?))
}

/// Waits for all work of the CUDA context, hashes what was written, and makes the version ready; with `activate` 1
/// also current, in the same step. If it fails, nothing is left of the version. Free the staging in any case. `info`
/// may be NULL.
///
/// Threads: any. Fork: a staging of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_commit(
    staging: *mut millpond_staging,
    activate: u32,
    info: Out<'_, millpond_version_info>,
) -> ResultNumber {
    waiting(|| {
        let activate = flag(activate, "activate")?;
        let begun = Begun::of(staging)?;
        let taken = begun.lock().take();
        let committed = taken.ok_or_else(over)?.commit(activate)?;
        write(info, (&committed).into());
        Ok(())
    })
}

/// Frees a staging. A version that was not committed is given up. NULL is nothing.
///
/// Threads: any. Fork: a staging of the parent is freed in the child alone, and the version stays.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_staging_free(staging: *mut millpond_staging) -> ResultNumber {
    call(|| STAGINGS.free(staging))
}
