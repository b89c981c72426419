//! Leases, and the versions that they are on.

use std::collections::HashMap;

use millpond_wire::message::{ClientInfo, LeaseInfo, ModelInfo};
use millpond_wire::{ClientId, LeaseTarget, Mode, TensorName, VersionId, VersionTag};

use crate::{Text, visible};

data! { $
    /// One lease.
    pub struct Lease as lease_fields {
        /// Identity of the tensor, or of the version of a model.
        tensor: Text<LeaseTarget>,
        /// That tensor's name, or the model's.
        name: Option<Text<TensorName>>,
        /// The tag of the version, if it is one.
        version: Option<Text<VersionTag>>,
        /// `ro` or `rw`.
        mode: Text<Mode>,
        /// That tensor's bytes.
        bytes: u64,
        /// Since when.
        since_unix_ms: u64,
        /// The client that holds it; absent for those of other users.
        client: Option<Text<ClientId>>,
        /// That client's process; nothing for one outside the daemon's pid namespace.
        pid: Option<u32>,
        /// That client's program.
        program: String,
    }
}

impl Lease {
    /// A lease, with the tag of its version where it has one.
    pub fn new(lease: &LeaseInfo, tags: &Tags) -> Self {
        Self {
            tensor: Text(lease.target),
            name: lease.name.clone().map(Text),
            version: tags.of(lease).cloned().map(Text),
            mode: Text(lease.mode),
            bytes: lease.bytes,
            since_unix_ms: lease.since_unix_ms,
            client: lease.client.map(Text),
            pid: visible(lease.pid),
            program: lease.program.clone(),
        }
    }
}

/// The tags of versions: a lease says only which model it is on.
#[derive(Clone, Debug, Default)]
pub struct Tags(HashMap<VersionId, VersionTag>);

impl Tags {
    /// The tags of what these clients hold. The models are asked for only where somebody holds
    /// anything.
    ///
    /// # Errors
    /// What the question for the models fails with.
    pub fn of_clients<E>(
        clients: &[ClientInfo],
        models: impl FnOnce() -> Result<Vec<ModelInfo>, E>,
    ) -> Result<Self, E> {
        if clients.iter().all(|client| client.leases.is_empty()) {
            return Ok(Self::default());
        }
        let models = models()?;
        let versions = models.iter().flat_map(|model| &model.versions);
        Ok(Self(versions.map(|info| (info.version, info.tag.clone())).collect()))
    }

    /// The tag of one version, for its own leases.
    #[must_use]
    pub fn of_version(version: VersionId, tag: &VersionTag) -> Self {
        Self(HashMap::from([(version, tag.clone())]))
    }

    /// The tag of the version that a lease is on.
    #[must_use]
    pub fn of(&self, lease: &LeaseInfo) -> Option<&VersionTag> {
        self.0.get(&lease.target.version()?)
    }
}
