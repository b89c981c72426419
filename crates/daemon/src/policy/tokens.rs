//! Lease tokens: how a lease proves itself to the next daemon, without a table of leases.

use std::hash::Hasher;

use millpond_wire::message::LeaseToken;
use millpond_wire::{ClientId, LeaseId, LeaseTarget, Mode};
use siphasher::sip128::{Hasher128, SipHasher24};

/// The key of one pond; it lives in the journal, which no client sees.
#[derive(Clone, Copy)]
pub(super) struct TokenKey(pub [u8; 16]);

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey")
    }
}

impl TokenKey {
    /// The token of a lease: a keyed hash over everything that the lease is.
    #[must_use]
    pub fn token(
        &self,
        client: ClientId,
        lease: LeaseId,
        target: LeaseTarget,
        mode: Mode,
        user: u32,
    ) -> LeaseToken {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(client.0.as_bytes());
        hasher.write_u64(lease.0);
        // The kind is hashed with the identity: a lease on one is none on the other.
        hasher.write_u8(match target {
            LeaseTarget::Tensor(_) => 1,
            LeaseTarget::Version(_) => 2,
        });
        hasher.write(target.uuid().as_bytes());
        hasher.write_u8(mode.code());
        hasher.write_u32(user);
        hasher.finish128().as_bytes()
    }

    /// Compares in constant time.
    #[must_use]
    pub fn matches(expected: &LeaseToken, given: &LeaseToken) -> bool {
        expected.iter().zip(given).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{TensorId, VersionId};

    use super::*;

    #[test]
    fn every_part_changes_the_token() {
        let key = TokenKey([1; 16]);
        let (client, id) = (ClientId::random(), TensorId::random());
        let tensor = LeaseTarget::Tensor(id);
        let token = key.token(client, LeaseId(1), tensor, Mode::ReadOnly, 5);
        assert!(TokenKey::matches(
            &token,
            &key.token(client, LeaseId(1), tensor, Mode::ReadOnly, 5)
        ));
        for other in [
            key.token(ClientId::random(), LeaseId(1), tensor, Mode::ReadOnly, 5),
            key.token(client, LeaseId(2), tensor, Mode::ReadOnly, 5),
            key.token(client, LeaseId(1), TensorId::random().into(), Mode::ReadOnly, 5),
            key.token(client, LeaseId(1), VersionId(id.0).into(), Mode::ReadOnly, 5),
            key.token(client, LeaseId(1), tensor, Mode::ReadWrite, 5),
            key.token(client, LeaseId(1), tensor, Mode::ReadOnly, 6),
            TokenKey([2; 16]).token(client, LeaseId(1), tensor, Mode::ReadOnly, 5),
        ] {
            assert!(!TokenKey::matches(&token, &other));
        }
    }
}
