//! The beginning of a connection: hello, and the claims of leases from earlier ones.

use millpond_wire::message::{
    Claim, Hello, LeaseClaim, Reply, ReplyBody, Request, RequestBody, VERSION, Welcome,
};
use millpond_wire::{ErrorKind, Failure, LeaseId};

use crate::identity::Identity;

/// Claims in one message. The protocol allows 1,024; with their tokens only about 700 fit into a
/// datagram.
pub(crate) const CLAIMS: usize = 512;
/// The name of the first question.
pub const HELLO: &str = "hello";

/// Questions and answers on a connection that nobody else uses yet.
#[derive(Debug)]
pub struct Handshake {
    identity: Identity,
    program: String,
    claims: Vec<LeaseClaim>,
    /// Claims that were answered.
    answered: usize,
    number: u64,
    welcome: Option<Welcome>,
    refused: Vec<LeaseId>,
}

/// What a reply was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not the answer: keep reading.
    Ignored,
    /// The hello was answered; counters of the pond may have come along.
    Welcomed,
    /// Some claims were answered.
    Claimed,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The pond said no.
    Failure(Failure),
    /// The pond takes somebody else for this client. Nothing is lost with the identity: the process
    /// may say hello as a new client.
    NotThisClient(Failure),
    /// It speaks this version.
    Version(u16),
    /// Its answer to this is not one.
    NotAnAnswer(&'static str),
}

impl Handshake {
    #[must_use]
    pub fn new(identity: Identity, program: &str, claims: Vec<LeaseClaim>) -> Self {
        Self {
            identity,
            program: program.to_owned(),
            claims,
            answered: 0,
            number: 0,
            welcome: None,
            refused: Vec::new(),
        }
    }

    /// The name of the question that [`Handshake::ask`] asks, or has asked.
    #[must_use]
    pub fn what(&self) -> &'static str {
        if self.welcome.is_none() { HELLO } else { "claims" }
    }

    /// The next question; `None` when the connection is ready.
    pub fn ask(&mut self) -> Option<Request> {
        let body = if self.welcome.is_none() {
            RequestBody::Hello(Hello {
                version: VERSION,
                capabilities: 0,
                client: self.identity.client,
                program: self.program.clone(),
                claims: !self.claims.is_empty(),
                proof: self.identity.proof,
            })
        } else {
            let left = self.claims.get(self.answered..).filter(|left| !left.is_empty())?;
            let leases = left[..left.len().min(CLAIMS)].to_vec();
            let last = leases.len() == left.len();
            RequestBody::Claim(Claim { leases, last })
        };
        self.number += 1;
        Some(Request { number: self.number, body })
    }

    /// Whether a reply is a refusal that a pond may send without having been asked.
    #[must_use]
    pub fn is_refusal(reply: &Reply) -> bool {
        reply.number == 0 && matches!(reply.body, ReplyBody::Failure(_))
    }

    /// A reply came.
    ///
    /// # Errors
    /// If it ends the attempt.
    pub fn received(&mut self, reply: Reply) -> Result<Progress, Refusal> {
        if reply.number != self.number && !Self::is_refusal(&reply) {
            return Ok(Progress::Ignored);
        }
        match (reply.body, &self.welcome) {
            // Not one that nobody asked for: that is about the user, or about all.
            (ReplyBody::Failure(failure), None)
                if failure.kind == ErrorKind::Denied
                    && reply.number == self.number
                    && self.claims.is_empty() =>
            {
                Err(Refusal::NotThisClient(failure))
            }
            (ReplyBody::Failure(failure), _) => Err(Refusal::Failure(failure)),
            (ReplyBody::Welcome(welcome), None) if welcome.version == VERSION => {
                self.welcome = Some(welcome);
                Ok(Progress::Welcomed)
            }
            (ReplyBody::Welcome(welcome), None) => Err(Refusal::Version(welcome.version)),
            (ReplyBody::Claimed { refused }, Some(_)) => {
                self.refused.extend(refused);
                self.answered = (self.answered + CLAIMS).min(self.claims.len());
                Ok(Progress::Claimed)
            }
            _ => Err(Refusal::NotAnAnswer(self.what())),
        }
    }

    /// The pond's welcome, and the claims that it refused.
    #[must_use]
    pub fn finish(self) -> Option<(Welcome, Vec<LeaseId>)> {
        self.welcome.map(|welcome| (welcome, self.refused))
    }

    /// The pond's welcome, once it has come.
    #[must_use]
    pub fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }
}
