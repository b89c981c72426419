//! The lease in a reply.

use millpond_wire::TensorId;
use millpond_wire::message::{LeaseClaim, ReplyBody};

/// The claim to a lease that a reply grants, and the bytes under it.
pub(crate) fn claim_in(body: &ReplyBody) -> Option<(LeaseClaim, u64)> {
    let (tensor, bytes, (lease, mode, token)) = match body {
        ReplyBody::Tensor(grant) => (grant.info.tensor, grant.info.bytes, grant.lease?),
        // Versions are leased as tensors are, by an identity of the same kind.
        ReplyBody::Version(grant) => {
            (TensorId(grant.info.version.0), grant.info.slab_bytes, grant.lease?)
        }
        _ => return None,
    };
    Some((LeaseClaim { lease, tensor, mode, token }, bytes))
}
