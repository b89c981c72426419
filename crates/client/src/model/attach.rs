//! A version, attached.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use millpond_cuda::{Context, DevicePtr};
use millpond_wire::manifest::{ManifestError, ManifestTensor};
use millpond_wire::message::{PartInfo, RequestBody, Target, VersionGet, VersionInfo};
use millpond_wire::{ErrorKind, GpuUuid, LeaseId, Mode, VersionId, VersionTag, VersionTarget};

use super::attachment::{self, Attachment};
use super::granted::{self, Granted};
use super::version::{label, model_of};
use super::{IntoVersion, ManifestMap, ModelTensor};
use crate::connection::lock;
use crate::link::Ask;
use crate::memo::Mark;
use crate::spec::wait_ms;
use crate::{Error, Pond, Result};

const WHAT: &str = "a request for a version";

/// How a version is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct AttachOptions {
    wait: Duration,
}

impl AttachOptions {
    /// How long to wait until there is a version that is ready; not at all unless said, and for
    /// ever with [`Duration::MAX`].
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

/// A version of a model that this process has a lease on, mapped read-only.
///
/// Cheap to clone. Dropping it never blocks and calls nobody: the lease ends when the last clone
/// and the last [`ModelTensor`] of it are gone, and the device has done all the work that was
/// submitted before.
#[derive(Clone)]
pub struct Model {
    pub(super) attachment: Arc<Attachment>,
    pub(super) following: Arc<Following>,
    pub(super) seen: Arc<Seen>,
}

/// A version as it was when it was attached.
pub(super) struct Seen {
    pub(super) info: VersionInfo,
    pub(super) parts: Vec<PartInfo>,
    pub(super) manifest: ManifestMap,
    /// The place after the tensor that was found last: most callers take them in order.
    next: AtomicUsize,
}

impl Seen {
    pub(super) fn new(info: VersionInfo, parts: Vec<PartInfo>, manifest: ManifestMap) -> Self {
        Self { info, parts, manifest, next: AtomicUsize::new(0) }
    }

    fn find(&self, name: &str) -> Result<Option<ManifestTensor>, ManifestError> {
        let next = self.next.load(Ordering::Relaxed);
        let index = match self.manifest.get(next) {
            Ok(tensor) if tensor.name == name => {
                self.next.store(next + 1, Ordering::Relaxed);
                return Ok(Some(tensor));
            }
            _ => self.manifest.find_index(name)?,
        };
        let Some(index) = index else { return Ok(None) };
        self.next.store(index + 1, Ordering::Relaxed);
        self.manifest.get(index).map(Some)
    }
}

/// What clones of a model know together about what is mapped now.
pub(super) struct Following {
    /// The version that is mapped.
    pub(super) mapped: Mutex<Arc<Seen>>,
    /// Whether the mapped version was not the current one any more, when the page had this mark.
    pub(super) known: Mutex<Option<(Mark, VersionId, bool)>>,
}

impl Pond {
    /// Maps a version of a model read-only: the current one, or the one that is named. It costs
    /// what its slabs cost, however many tensors lie in them.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `retired`, and what else the pond or the driver answers;
    /// `invalid` if its manifest is damaged.
    pub fn attach(&self, target: impl IntoVersion) -> Result<Model> {
        self.attach_with(target, AttachOptions::default())
    }

    /// As [`Pond::attach`], with a wait.
    ///
    /// # Errors
    /// As for [`Pond::attach`], and `timeout` after the wait.
    pub fn attach_with(&self, target: impl IntoVersion, options: AttachOptions) -> Result<Model> {
        let target = target.into_version()?;
        let core = self.core();
        if !options.wait.is_zero() {
            // Who has no driver does not wait for a version.
            core.cuda.prepare(None)?;
        }
        // Read before anything is asked: what changes after it shows later.
        let mark = match &target {
            VersionTarget::Name(name) => core.link.mark(&Target::Name(name.model.clone())),
            VersionTarget::Id(_) => None,
        };
        let mut prepared = Ok(());
        let prepare = || prepared = core.cuda.prepare(None);
        let asked = self.ask_version_while(target, Mode::ReadOnly, options.wait, prepare);
        let asked = match (prepared, asked) {
            (Err(error), Ok((lease, _))) => {
                core.link.give_back(lease);
                return Err(error);
            }
            (Err(error), Err(_)) => return Err(error),
            (Ok(()), asked) => asked,
        };
        let (lease, granted) = asked?;
        match self.map_version(lease, granted) {
            Ok(model) => {
                let info = &model.seen.info;
                *lock(&model.following.known) =
                    mark.map(|mark| (mark, info.version, !info.current));
                Ok(model)
            }
            Err(error) => {
                core.link.give_back(lease);
                Err(error)
            }
        }
    }

    /// A lease on a version, with what came along. If that is not what it should be, the lease goes
    /// back.
    pub(crate) fn ask_version(
        &self,
        target: VersionTarget,
        mode: Mode,
        wait: Duration,
    ) -> Result<(LeaseId, Granted)> {
        self.ask_version_while(target, mode, wait, || ())
    }

    /// The same, with work of the caller that is done while the pond does its own.
    fn ask_version_while(
        &self,
        target: VersionTarget,
        mode: Mode,
        wait: Duration,
        work: impl FnOnce(),
    ) -> Result<(LeaseId, Granted)> {
        let link = &self.core().link;
        let lease = link.new_lease();
        let get = VersionGet { target, lease, mode, wait_ms: wait_ms(wait) };
        let answer = link.call_while(
            Ask {
                what: WHAT,
                body: RequestBody::VersionGet(get),
                lease: Some(lease),
                deadline: self.deadline(wait).filter(|_| wait != Duration::MAX),
                waits_until: Instant::now().checked_add(wait),
            },
            None,
            work,
        )?;
        match granted::with_lease(WHAT, answer, lease, mode) {
            Ok(granted) => Ok((lease, granted)),
            Err(error) => {
                link.give_back(lease);
                Err(error)
            }
        }
    }

    fn map_version(&self, lease: LeaseId, granted: Granted) -> Result<Model> {
        let Granted { info, parts, manifest, lost, mut slabs } = granted;
        let manifest = manifest.ok_or_else(|| without_manifest(&info))?;
        let arena = attachment::map(self, info.device, &parts, &mut slabs, Mode::ReadOnly)?;
        let attachment = Attachment::new(self, &info, arena, lease, lost);
        let seen = Arc::new(Seen::new(info, parts, manifest));
        let following =
            Following { mapped: Mutex::new(Arc::clone(&seen)), known: Mutex::default() };
        Ok(Model { attachment: Arc::new(attachment), following: Arc::new(following), seen })
    }
}

/// Only what is ready has one, and only what is ready can be read.
pub(super) fn without_manifest(info: &VersionInfo) -> Error {
    let message = format!("version '{}' came without its manifest", label(info));
    Error::version(ErrorKind::Invalid, message, None)
}

impl Model {
    /// The version, as it was when it was attached or last refreshed.
    #[must_use]
    pub fn info(&self) -> VersionInfo {
        self.seen.info.clone()
    }

    /// Its identity.
    #[must_use]
    pub fn version(&self) -> VersionId {
        self.seen.info.version
    }

    /// Its tag.
    #[must_use]
    pub fn tag(&self) -> &VersionTag {
        &self.seen.info.tag
    }

    /// How many tensors it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.manifest.len()
    }

    /// Whether it has no tensor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.manifest.is_empty()
    }

    /// The names of its tensors, in order.
    ///
    /// # Errors
    /// `invalid` if the manifest is damaged.
    pub fn names(&self) -> Result<Vec<&str>> {
        self.seen.manifest.names().map(|name| name.map_err(|error| self.damaged(&error))).collect()
    }

    /// A tensor by its name.
    ///
    /// # Errors
    /// `not_found`; `invalid` if the manifest is damaged.
    pub fn tensor(&self, name: &str) -> Result<ModelTensor> {
        let found = self.seen.find(name).map_err(|error| self.damaged(&error))?;
        let tensor = found.ok_or_else(|| {
            let (label, name) = (label(&self.seen.info), name.escape_debug());
            let message = format!("version '{label}' has no tensor '{name}'");
            let hint = format!("`millpond inspect {label}` lists its {} tensors", self.len());
            Error::version(ErrorKind::NotFound, message, hint)
        })?;
        Ok(ModelTensor::new(&self.attachment, &self.seen.manifest, tensor))
    }

    /// A tensor by its place in the order of names.
    ///
    /// # Errors
    /// `invalid` if there is none, or if the manifest is damaged.
    pub fn tensor_at(&self, index: usize) -> Result<ModelTensor> {
        let tensor = self.seen.manifest.get(index).map_err(|error| self.damaged(&error))?;
        Ok(ModelTensor::new(&self.attachment, &self.seen.manifest, tensor))
    }

    /// What its tensors and slabs are, as of the attach or the last refresh.
    #[must_use]
    pub fn manifest(&self) -> &ManifestMap {
        &self.seen.manifest
    }

    /// Its slabs, in the order of the arena.
    #[must_use]
    pub fn parts(&self) -> &[PartInfo] {
        &self.seen.parts
    }

    /// Where its arena begins in the GPU's address space, for this process.
    #[must_use]
    pub fn arena_ptr(&self) -> DevicePtr {
        self.attachment.address()
    }

    /// The size of its arena.
    #[must_use]
    pub fn arena_bytes(&self) -> u64 {
        self.attachment.bytes()
    }

    /// The GPU it lies on.
    #[must_use]
    pub fn device(&self) -> GpuUuid {
        self.attachment.device()
    }

    /// The context it is mapped for.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.attachment.context()
    }

    /// The pond it comes from.
    #[must_use]
    pub fn pond(&self) -> &Pond {
        self.attachment.pond()
    }

    /// Whether the pond does not know this lease any more: another pond has taken its place. The
    /// memory is mapped and whole as long as this value lives.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.attachment.read().lost.load(Ordering::Acquire)
    }

    pub(super) fn page_target(&self) -> Target {
        Target::Name(model_of(&self.seen.info))
    }

    fn damaged(&self, error: &ManifestError) -> Error {
        let message = format!("version '{}': {error}", label(&self.seen.info));
        Error::version(ErrorKind::Invalid, message, None)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("version", &label(&self.seen.info))
            .field("tensors", &self.len())
            .field("attachment", &self.attachment)
            .finish_non_exhaustive()
    }
}
