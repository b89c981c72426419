//! How long an answer is, and the order of its entries.

use millpond_wire::message::ReplyBody;

/// More entries than this make an answer long: putting it in order and encoding it takes more than
/// a few milliseconds, and is not done where everybody waits for it.
pub const LONG: usize = 2048;

/// What an answer has to encode.
#[must_use]
pub fn entries(body: &ReplyBody) -> usize {
    match body {
        ReplyBody::Tensors(tensors) | ReplyBody::Collected { tensors, .. } => tensors.len(),
        ReplyBody::Clients(clients) => clients.iter().map(|client| 1 + client.leases.len()).sum(),
        ReplyBody::Models(models) => models.iter().map(|model| 1 + model.versions.len()).sum(),
        ReplyBody::Details { leases, .. } => 1 + leases.len(),
        ReplyBody::VersionDetails(details) => 1 + details.parts.len() + details.leases.len(),
        ReplyBody::Groups(groups) => {
            groups.iter().map(|group| 1 + group.devices.len() + group.users.len()).sum()
        }
        ReplyBody::GroupDetails(details) => {
            1 + details.members.iter().map(|member| 1 + member.devices.len()).sum::<usize>()
        }
        _ => 1,
    }
}

/// Puts an answer in the order in which it is sent. Those with more than [`LONG`] entries come out
/// of the policy without it.
pub fn in_order(body: &mut ReplyBody) {
    match body {
        ReplyBody::Tensors(tensors) | ReplyBody::Collected { tensors, .. } => tensors
            .sort_unstable_by(|a, b| (&a.name, a.user, a.tensor).cmp(&(&b.name, b.user, b.tensor))),
        ReplyBody::Clients(clients) => {
            clients.sort_by_key(|client| (client.since_unix_ms, client.pid));
        }
        ReplyBody::Models(models) => {
            models.sort_by(|a, b| (&a.name, a.user).cmp(&(&b.name, b.user)));
        }
        _ => {}
    }
}
