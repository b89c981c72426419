//! Checkpoints into the pond and out of it.

use std::ffi::c_void;

use millpond::{Like, LoadPhase, LoadSpec, Plan, SaveOptions, VersionTag};
use std::ops::ControlFlow;

use crate::border::{Answer, Out, Text, flag, required, reserved, waiting, write};
use crate::callback::{Told, millpond_progress};
use crate::failure::Failure;
use crate::model_types::millpond_version_info;
use crate::objects::PONDS;
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::tensor_data::array;
use crate::text::{kept, millpond_text};
use crate::uuid::millpond_uuid;
use crate::words::{AudienceNumber, LoadPhaseNumber, audience, millpond_load_phase};

/// Is told how far a load is: its phase, bytes of the phase that are done, bytes of the phase in all. Anything but
/// zero ends the load, which then answers MILLPOND_CANCELLED. In the calling thread; it may call this library.
/// Neither a C++ exception nor longjmp() may leave it.
pub type millpond_load_progress = Option<
    extern "C" fn(phase: LoadPhaseNumber, done: u64, total: u64, user_data: *mut c_void) -> u32,
>;

/// A checkpoint to be loaded. Begin with a struct of zeroes; set `model`, `paths` and `path_count`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_load_spec {
    /// The model.
    pub model: Text,
    /// Files of safetensors, a folder of them, an index, or what the cache of Hugging Face calls it.
    pub paths: *const Text,
    /// How many.
    pub path_count: usize,
    /// The version's tag; NULL has the pond choose the next number.
    pub tag: Text,
    /// The tag of the version whose equal slabs are shared; NULL for the current one, an empty text for none.
    pub like: Text,
    /// Which part of the checkpoint is loaded, as JSON; NULL for all of it.
    pub plan: Text,
    /// On which GPU; all zero for that of `like`, or the pond's first.
    pub gpu: millpond_uuid,
    /// With whom it is shared.
    pub audience: AudienceNumber,
    /// 1: it becomes the model's current version in the same step. A model's first version does in any case.
    pub activate: u32,
    /// Bytes of its slabs; zero for the default.
    pub slab_bytes: u64,
    /// For later versions; must be zero.
    pub reserved: [u64; 6],
}

/// What a load did.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_loaded {
    /// The version.
    pub info: millpond_version_info,
    /// Bytes that were read from files, those that were only compared included.
    pub bytes_read: u64,
    /// Bytes of tensors in slabs that are shared with another version.
    pub bytes_shared: u64,
    /// Bytes that are stored once because tensors are tied, and are in the files twice.
    pub bytes_tied: u64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// 1: some of the files were not in the page cache and were read past it.
    pub cold: u32,
    /// Zero.
    pub reserved_flags: u32,
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

impl millpond_load_spec {
    fn read(&self) -> Answer<LoadSpec> {
        reserved(&self.reserved, "millpond_load_spec")?;
        // SAFETY: the header demands that so many are readable there.
        let paths = unsafe { array(self.paths, self.path_count, "paths")? };
        let mut spec =
            LoadSpec::new(self.model.required("model")?).audience(audience(self.audience)?);
        if flag(self.activate, "activate")? {
            spec = spec.activate(true);
        }
        for path in paths {
            spec = spec.path(path.required("a path")?);
        }
        let tag = |text: &str| {
            VersionTag::new(text).map_err(|error| Failure::from(millpond::Error::from(error)))
        };
        if let Some(text) = self.tag.optional("tag")? {
            spec = spec.tag(tag(text)?);
        }
        if let Some(text) = self.like.optional("like")? {
            spec =
                spec.like(if text.is_empty() { Like::Nothing } else { Like::Version(tag(text)?) });
        }
        if let Some(plan) = self.plan.optional("plan")? {
            let plan =
                Plan::parse(plan).map_err(|error| Failure::invalid(format!("plan: {error}")))?;
            spec = spec.plan(plan);
        }
        if let Some(gpu) = self.gpu.gpu() {
            spec = spec.device(gpu);
        }
        if self.slab_bytes != 0 {
            spec = spec.slab_bytes(self.slab_bytes);
        }
        Ok(spec)
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn flow(goes_on: bool) -> ControlFlow<()> {
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Loads a checkpoint as a new version of a model. Everything about the files is checked before any memory is taken,
/// nobody gets the version before all of its bytes are there, and whatever ends the load before leaves nothing. Needs
/// no driver. `progress` and `loaded` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_load(
    pond: *const millpond_pond,
    spec: Option<&millpond_load_spec>,
    progress: millpond_load_progress,
    user_data: *mut c_void,
    loaded: Out<'_, millpond_loaded>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let spec = required(spec, "spec")?.read()?;
        let mut ended = false;
        let done = pond.load(spec, |so| {
            let phase = match so.phase {
                LoadPhase::Checking => millpond_load_phase::MILLPOND_LOAD_CHECKING,
                LoadPhase::Hashing => millpond_load_phase::MILLPOND_LOAD_HASHING,
                LoadPhase::Loading => millpond_load_phase::MILLPOND_LOAD_LOADING,
            };
            let goes_on = progress
                .is_none_or(|progress| progress(phase as u32, so.done, so.total, user_data) == 0);
            ended |= !goes_on;
            flow(goes_on)
        });
        let done = match done {
            Err(_) if ended => return Err(Failure::Cancelled),
            done => done?,
        };
        write(
            loaded,
            millpond_loaded {
                info: (&done.info).into(),
                bytes_read: done.bytes_read,
                bytes_shared: done.bytes_shared,
                bytes_tied: done.bytes_tied,
                elapsed_ms: millis(done.elapsed),
                cold: done.cold.into(),
                reserved_flags: 0,
                reserved: [0; 4],
            },
        );
        Ok(())
    })
}

/// Saves a version as safetensors: one file if the path ends in `.safetensors`, else a folder with one file, or with
/// shards of at most `shard_bytes` bytes of tensors and their index; 0 for one file. With `force` 1 what is there is
/// replaced. Every byte that was written was found to be what was loaded. `progress` and `bytes`, those of all
/// tensors, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_save(
    pond: *const millpond_pond,
    target: Text,
    path: Text,
    shard_bytes: u64,
    force: u32,
    progress: millpond_progress,
    user_data: *mut c_void,
    bytes: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let (target, path) = (target.required("target")?, path.required("path")?);
        let shard_bytes = (shard_bytes != 0).then_some(shard_bytes);
        let options = SaveOptions { shard_bytes, force: flag(force, "force")? };
        let (told, mut ended) = (Told { progress, user_data }, false);
        let saved = PONDS.get(pond)?.save(target, path, options, |progress| {
            let goes_on = told.goes_on(progress.done, progress.total);
            ended |= !goes_on;
            flow(goes_on)
        });
        let saved = match saved {
            Err(_) if ended => return Err(Failure::Cancelled),
            saved => saved?,
        };
        write(bytes, saved.bytes);
        Ok(())
    })
}

/// Hashes a version's bytes on the GPU and compares them with what was loaded. MILLPOND_OK also where some differ:
/// `differing` is their number, and `names` their names, one in each line, or NULL where none does. Free the text
/// with millpond_text_free(). `progress`, `differing` and `names` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_verify(
    pond: *const millpond_pond,
    target: Text,
    progress: millpond_progress,
    user_data: *mut c_void,
    differing: Out<'_, usize>,
    names: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let target = target.required("target")?;
        let (told, mut ended) = (Told { progress, user_data }, false);
        let verified = PONDS.get(pond)?.verify(target, |progress| {
            let goes_on = told.goes_on(progress.done, progress.total);
            ended |= !goes_on;
            flow(goes_on)
        });
        let verified = match verified {
            Err(_) if ended => return Err(Failure::Cancelled),
            verified => verified?,
        };
        if let Some(names) = names {
            names.write(match verified.differing.is_empty() {
                true => std::ptr::null_mut(),
                false => kept(&verified.differing.join("\n"))?,
            });
        }
        write(differing, verified.differing.len());
        Ok(())
    })
}
