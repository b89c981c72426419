//! The lease in a reply.

use millpond_wire::message::{LeaseClaim, ReplyBody};

/// The claim to a lease that a reply grants, and the bytes under it.
pub(crate) fn claim_in(body: &ReplyBody) -> Option<(LeaseClaim, u64)> {
    let (target, bytes, (lease, mode, token)) = match body {
        ReplyBody::Tensor(grant) => (grant.info.tensor.into(), grant.info.bytes, grant.lease?),
        ReplyBody::Version(grant) => {
            (grant.info.version.into(), grant.info.slab_bytes, grant.lease?)
        }
        _ => return None,
    };
    Some((LeaseClaim { lease, target, mode, token }, bytes))
}
