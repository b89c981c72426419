//! Tokens: how a lease and a client prove themselves to the next daemon, without a table of them.

use std::fmt::{Display, Write};
use std::hash::Hasher;

use millpond_wire::message::{ClientToken, LeaseToken};
use millpond_wire::{ClientId, LeaseId, LeaseTarget, Mode};
use siphasher::sip128::{Hasher128, SipHasher24};

use super::owner::Owner;
use super::process::Process;

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

    /// The token of a client: the kernel has said that this process of this user has its identity.
    #[must_use]
    pub fn client_token(&self, client: ClientId, owner: &Owner, process: Process) -> ClientToken {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(client.0.as_bytes());
        // No lease has this number.
        hasher.write_u64(0);
        hasher.write_u32(owner.user);
        hasher.write_u32(process.pid);
        if process.inode != 0 {
            hasher.write_u64(process.inode);
        }
        hasher.write(owner.tenant.as_bytes());
        hasher.finish128().as_bytes()
    }

    /// A short hash of what somebody asked for, never zero.
    #[must_use]
    pub fn short(&self, asked: impl Display) -> u64 {
        struct Text(SipHasher24);
        impl Write for Text {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }
        let mut text = Text(SipHasher24::new_with_key(&self.0));
        // Hashing does not fail.
        let _written = write!(text, "{asked}");
        text.0.finish128().h1.max(1)
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
