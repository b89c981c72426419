//! Processes that say that they are somebody else.

use std::rc::Rc;

use millpond_daemon::policy::Door;
use millpond_wire::ErrorKind;
use millpond_wire::message::{Hello, Proof, Reply, ReplyBody, Request, RequestBody};

use crate::client::first_hello;
use crate::daemon::Daemon;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::socket::{SharedSocket, Socket};
use crate::world::World;

/// Thieves have pids from here on.
const FIRST_THIEF: u32 = 2_000_000;

/// Connections of thieves that were believed: they stay until their clients come, or everything
/// comes to rest.
#[derive(Debug, Default)]
pub struct Thieves {
    count: u32,
    lines: Vec<SharedSocket>,
}

impl Thieves {
    pub fn hang_up(&mut self) {
        for line in self.lines.drain(..) {
            line.borrow_mut().close_client();
        }
    }
}

impl World {
    /// Whether there is an identity to take, and somebody to believe it.
    #[must_use]
    pub fn wants_thief(&self) -> bool {
        self.busy
            && matches!(self.daemon, Daemon::Running(_))
            && self.clients.iter().any(|client| client.proof().is_some())
    }

    /// Says hello as a client that another process is, with a forged token or without any. Without
    /// one, nobody can tell it from a new client where the pond knows none of this identity.
    pub(crate) fn steal(&mut self) -> Result<(), Violation> {
        let known: Vec<_> = self
            .clients
            .iter()
            .filter_map(|client| Some((client.id, client.pid, client.user, client.proof()?)))
            .collect();
        let Some(&(id, its_pid, its_user, real)) = self.rng.pick(&known) else { return Ok(()) };
        let (mut pid, mut user) = (FIRST_THIEF + self.thieves.count, 1 + self.thieves.count % 2);
        self.thieves.count += 1;
        let forged = Proof { token: *self.rng.id().as_bytes(), ..real };
        let mut proof = [None, Some(forged), Some(real)][self.rng.index(3)];
        let claims = proof.is_some() && self.rng.once_in(2);
        if proof.is_some() && self.mutation == Some(Mutation::TokenNotChecked) {
            (pid, user, proof) = (its_pid, its_user, Some(real));
        }
        let socket = Socket::connected(pid);
        let conn = self.accepted(Rc::clone(&socket), pid, user, Door::Users)?;
        let hello = Hello { claims, proof, ..first_hello(id, "thief".to_owned()) };
        let request = Request { number: 1, body: RequestBody::Hello(hello) };
        let bytes = request.encode(&mut planus::Builder::new()).to_vec();
        socket.borrow_mut().to_daemon.push_back((bytes, None));
        self.message(conn)?;
        let answer = socket.borrow_mut().to_client.pop_front();
        // The daemon may have died of it.
        let Some((bytes, _)) = answer else {
            socket.borrow_mut().close_client();
            return Ok(());
        };
        let Reply { body, .. } = Reply::decode(&bytes)
            .map_err(|error| Violation::new("replies can be read", error.to_string()))?;
        match body {
            ReplyBody::Failure(failure) if failure.kind == ErrorKind::Denied => {
                socket.borrow_mut().close_client();
                Ok(())
            }
            ReplyBody::Welcome(_) if proof.is_none() => {
                self.thieves.lines.push(socket);
                Ok(())
            }
            other => ensure(false, "a thief is denied", || format!("pid {pid}: {other:?}")),
        }
    }
}
