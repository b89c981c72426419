//! Whether a hello comes from the process whose client it names.
//!
//! A client's identity is a secret, but not a proof: it is a number that its process chose. The proof
//! is the token of the first welcome, a keyed hash over the identity and what the kernel says about
//! the process. The key is in the journal, so a daemon can check a client that it has never seen.

use millpond_wire::message::{ClientToken, Hello};
use millpond_wire::{ErrorKind, Failure};

use super::owner::Caller;
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use super::process::Process;
use super::tokens::TokenKey;

pub(super) enum Identity {
    /// The client is known, and this is it.
    Known,
    /// `proven` says that it was a client of an earlier daemon.
    Unknown { proven: bool },
    /// A process that holds nothing has said the identity first, over this connection, and this
    /// one has proven that the identity is its own.
    Taken(Option<ConnId>),
}

impl<P: Ports> Pond<P> {
    pub(super) fn identify(
        &self,
        caller: &Caller,
        process: Process,
        hello: &Hello,
        token: &ClientToken,
    ) -> Result<Identity, Failure> {
        let proven = match hello.proof {
            Some(proof) if proof.pond == self.identity.pond => {
                if !TokenKey::matches(token, &proof.token) {
                    return Err(denied(hello, "is another process"));
                }
                true
            }
            // Of another pond, which is gone: nothing here can be its.
            Some(_) => false,
            None if hello.claims => {
                return Err(denied(hello, "has leases to claim, but no token"));
            }
            None => false,
        };
        let Some(known) = self.clients.get(hello.client) else {
            return Ok(Identity::Unknown { proven });
        };
        let is_same = known.process == process && known.owner().is_user(&caller.owner);
        match (is_same, proven) {
            _ if known.mover => Err(denied(hello, "is another process")),
            (true, true) => Ok(Identity::Known),
            // The welcome may have been lost on its way; there is nothing to take from it.
            (true, false) if !known.recorded => Ok(Identity::Known),
            (true, false) => Err(denied(hello, "holds something, and comes without its token")),
            (false, true) if !known.recorded => Ok(Identity::Taken(known.conn)),
            (false, _) => Err(denied(hello, "is another process")),
        }
    }
}

fn denied(hello: &Hello, why: &str) -> Failure {
    Failure::new(ErrorKind::Denied, format!("client {} {why}", hello.client))
        .hint("say hello with the token of the last welcome, or as a new client")
}
