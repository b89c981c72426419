//! A version is complete: its manifest is held, and with that readers may have it.

use millpond_view::units::count;
use millpond_wire::message::{EventKind, VersionCommit, VersionState};
use millpond_wire::record::{ReadyRecord, Record};
use millpond_wire::{Backing, ClientId, ErrorKind, Failure, caps};

use crate::policy::answer::{Answer, from_hold, from_port};
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::{Held, HoldError, Ports};

impl<P: Ports> Pond<P> {
    /// One record says all of it, also that the version is current from now on.
    pub(in crate::policy) fn commit(
        &mut self,
        ports: &mut P,
        client: ClientId,
        caller: &Caller,
        commit: VersionCommit,
        manifest: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let id = commit.version;
        let known = self.models.versions.get(&id);
        let is_repeat = |ready: &ReadyRecord| ready.token == commit.token;
        if known.is_some_and(|it| it.creator == client && it.ready.as_ref().is_some_and(is_repeat))
        {
            return self.answer_version(id);
        }
        let version = self.models.staged_by(client, caller, id)?;
        let label = version.label();
        let (model, tag, user) = (version.model.clone(), version.tag.clone(), version.owner.user);
        if self.is_lost(version) {
            return Err(super::lost(&model.name, &tag));
        }
        if self.models.making.keys().any(|making| making.version == id) {
            let message = format!("a slab of {label} is still being made");
            return Err(Failure::new(ErrorKind::Later, message));
        }
        let tensors = usize::try_from(commit.tensors).unwrap_or(usize::MAX);
        if tensors > caps::TENSORS_PER_VERSION {
            let (most, said) = (caps::TENSORS_PER_VERSION, commit.tensors);
            let message = format!("{label} cannot have {said} tensors; at most {most}");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let room = self.slab_bytes_of(version);
        if commit.bytes > room {
            let message = format!(
                "{label} cannot have tensors of {}: its slabs have {}",
                count(commit.bytes, "byte"),
                count(room, "byte")
            );
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let Some(manifest) = manifest else {
            return Err(Failure::new(ErrorKind::Protocol, "a file is missing"));
        };
        if let Err(why) = ports.manifest_ok(&manifest) {
            let message = format!("the manifest of {label} cannot be held: {why}");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        match ports.hold(Held::Manifest(id), Backing::default(), &manifest) {
            Ok(()) => {}
            Err(HoldError::Full) => return Err(from_hold(HoldError::Full)),
            Err(error) => {
                ports.let_go(Held::Manifest(id), Some(manifest));
                return Err(from_hold(error));
            }
        }
        let has_current = self.models.models.get(&model).is_some_and(|it| it.current.is_some());
        let activate = commit.activate && !(commit.unless_current && has_current);
        let ready = ReadyRecord {
            version: id,
            token: commit.token,
            layout: commit.layout,
            content: commit.content,
            tensors: commit.tensors,
            bytes: commit.bytes,
            source: commit.source,
            ready_unix_ms: ports.now_ms(),
            current: activate,
        };
        if let Err(error) = ports.journal(&Record::VersionReady(ready.clone())) {
            ports.let_go(Held::Manifest(id), Some(manifest));
            return Err(from_port(error));
        }
        self.became_ready(ready, Some(manifest));
        self.version_changed(ports, id);
        let text = format!("{tag}: {}", count(commit.tensors.into(), "tensor"));
        let (on, name) = (Some(id.into()), Some(model.name));
        self.counts.versions_committed += 1;
        self.happened(ports, EventKind::VersionReady, on, name, Some(user), text);
        if activate {
            let before = self.models.flip(id, None);
            self.flipped(ports, id, before);
        }
        self.wake_version(ports, id);
        self.answer_version(id)
    }

    /// What a commit changes in the books, now or when it is replayed; not which one is current.
    pub(super) fn became_ready(&mut self, ready: ReadyRecord, manifest: Option<P::Fd>) {
        let Some(version) = self.models.versions.get_mut(&ready.version) else { return };
        version.state = VersionState::Ready;
        version.manifest = manifest;
        version.ready = Some(ready);
        for part in &version.parts {
            self.catalog.part_is_ready(*part);
        }
    }
}
