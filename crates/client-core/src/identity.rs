//! How a process makes itself known to a pond.

use millpond_wire::ClientId;
use millpond_wire::message::{Proof, Welcome};

/// A client, and what proves that this process is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub client: ClientId,
    /// From the last welcome.
    pub proof: Option<Proof>,
}

impl Identity {
    /// One that no pond has seen.
    #[must_use]
    pub fn new(client: ClientId) -> Self {
        Self { client, proof: None }
    }

    /// The same client, after a pond has welcomed it.
    #[must_use]
    pub fn welcomed(self, welcome: &Welcome) -> Self {
        let proof = welcome.token.map(|token| Proof { pond: welcome.pond, token });
        Self { proof, ..self }
    }
}
