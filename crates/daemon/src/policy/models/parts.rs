//! Parts: the slabs of versions, which are tensors that nobody else may take for one.

use millpond_wire::message::VersionState;
use millpond_wire::{ClientId, ErrorKind, Failure, TensorId};

use super::{Version, retired};
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

impl<P: Ports> Pond<P> {
    /// Whether memory or manifest of a version did not survive.
    pub(super) fn is_lost(&self, version: &Version<P::Fd>) -> bool {
        let there = |part: &TensorId| {
            let tensor = self.catalog.get(*part).filter(|tensor| tensor.is_part());
            let slab = tensor.and_then(|tensor| self.slabs.get(tensor.slab));
            slab.is_some_and(|slab| !slab.is_lost())
        };
        (version.ready.is_some() && version.manifest.is_none()) || !version.parts.iter().all(there)
    }

    /// The answer to a request that takes a version's slab for a tensor.
    pub(in crate::policy) fn not_a_part(&self, id: TensorId) -> Result<(), Failure> {
        if !self.catalog.get(id).is_some_and(|tensor| tensor.is_part()) {
            return Ok(());
        }
        let message = match self.models.with_part(id).next() {
            Some((_, version)) => format!("tensor {id} is a slab of model {}", version.label()),
            None => format!("tensor {id} is a slab of a version that is gone"),
        };
        Err(Failure::new(ErrorKind::Invalid, message)
            .hint("it comes and goes with its version: `millpond inspect` and `millpond retire`"))
    }

    /// Whether a client may read this part, or write it, with the reason why not.
    pub(in crate::policy) fn may_use_part(
        &self,
        client: ClientId,
        caller: &Caller,
        id: TensorId,
        writes: bool,
    ) -> Result<(), Failure> {
        let mut denied = None;
        let mut with = 0;
        for (version_id, version) in self.models.with_part(id) {
            with += 1;
            let label = version.label();
            let stages = version.state == VersionState::Staging && version.creator == client;
            let leased = self.leases.holds(client, version_id);
            let may = match version.state {
                _ if writes => stages,
                VersionState::Staging => stages,
                VersionState::Ready => caller.may_use(&version.owner, version.audience),
                VersionState::Draining => leased,
            };
            if may && !writes {
                return Ok(());
            }
            if !may {
                denied = Some(match version.state {
                    VersionState::Staging => Failure::new(
                        ErrorKind::Denied,
                        format!("{label} is staged by another process"),
                    ),
                    VersionState::Ready if writes => Failure::new(
                        ErrorKind::Denied,
                        format!("{label} is ready and can no longer change"),
                    )
                    .hint("stage another version"),
                    _ => retired(&label, None),
                });
            }
        }
        match denied {
            Some(failure) => Err(failure),
            None if with == 1 => Ok(()),
            None if with == 0 => {
                let message = format!("tensor {id} is a slab of a version that is gone");
                Err(Failure::new(ErrorKind::NotFound, message))
            }
            None => {
                let message = format!("tensor {id} is in {with} versions, and cannot be written");
                Err(Failure::new(ErrorKind::Denied, message)
                    .hint("ask for a slab of the version's own first"))
            }
        }
    }
}
