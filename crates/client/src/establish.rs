//! Making a connection: hello, and the claims of what is held from earlier ones.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond_wire::message::{
    Claim, Hello, LeaseClaim, Reply, ReplyBody, Request, RequestBody, VERSION, Welcome,
};
use millpond_wire::{ClientId, ErrorKind, LeaseId};

use crate::connection::{Connection, Trouble, buffer};
use crate::memo::Page;
use crate::{Error, Result, cancel};

/// Claims in one message. The protocol allows 1,024; with their tokens only about 700 fit into a
/// datagram.
const CLAIMS: usize = 512;
/// What a connection begins with.
pub(crate) const HELLO: &str = "hello";
/// Pause after the first failed attempt; it doubles up to the second one.
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long a pond that was stopped in order is waited for. A pond takes its sockets away only when
/// it stops in order; restarts and upgrades leave them. Who restarts a pond by a stop and a start
/// has the socket back within this time.
const STOPPED: Duration = Duration::from_secs(1);

/// Who connects where.
pub(crate) struct Caller<'a> {
    pub(crate) socket: &'a Path,
    pub(crate) client: ClientId,
    pub(crate) program: &'a str,
    pub(crate) claims: &'a [LeaseClaim],
}

/// A connection that was welcomed.
pub(crate) struct Established {
    pub(crate) connection: Connection,
    pub(crate) welcome: Welcome,
    /// The counters that came along.
    pub(crate) page: Option<Page>,
    /// Claims that the daemon refused.
    pub(crate) refused: Vec<LeaseId>,
}

enum Attempt {
    /// Nobody is at the socket.
    Absent(Error),
    /// Somebody was, and went: a daemon that is being replaced.
    HungUp,
    /// The answer is no.
    Refused(Error),
}

/// A connection that was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down {
    /// When.
    pub(crate) since: Instant,
    /// From then on nobody at the socket means that nobody will come.
    pub(crate) until: Instant,
}

impl Down {
    /// Since then, with so much patience.
    pub(crate) fn new(since: Instant, patience: Duration) -> Self {
        Self { since, until: since + patience }
    }
}

/// Connects and says hello until `deadline`. A daemon that restarts meanwhile is waited for. That
/// nobody is there at all is waited for only where there was a connection before, and once: the time
/// counts from its loss, not from the call.
pub(crate) fn establish(
    caller: &Caller<'_>,
    deadline: Instant,
    down: Option<Down>,
) -> Result<Established> {
    let mut pause = PAUSE;
    let patient = down.is_some();
    loop {
        let error = match attempt(caller, deadline) {
            Ok(established) => return Ok(established),
            Err(Attempt::Refused(error)) if !(patient && is_passing(&error)) => return Err(error),
            Err(Attempt::Absent(error))
                if down.is_some_and(|down| down.until <= Instant::now() + pause) =>
            {
                return Err(error);
            }
            Err(Attempt::Absent(_))
                if down.is_some_and(|down| down.since.elapsed() >= STOPPED)
                    && is_removed(caller.socket) =>
            {
                let reason = "it was stopped".to_owned();
                return Err(Error::NoPond { path: caller.socket.to_owned(), reason });
            }
            Err(Attempt::Absent(error)) if !(patient && error.kind() == ErrorKind::NoPond) => {
                return Err(error);
            }
            Err(Attempt::Refused(error) | Attempt::Absent(error)) => error,
            Err(Attempt::HungUp) => Error::NoPond {
                path: caller.socket.to_owned(),
                reason: "it hangs up at once".to_owned(),
            },
        };
        if Instant::now() + pause >= deadline {
            return Err(error);
        }
        cancel::sleep(pause)?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether the pond has taken its socket away.
fn is_removed(socket: &Path) -> bool {
    std::fs::symlink_metadata(socket)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn is_passing(error: &Error) -> bool {
    !matches!(error, Error::Cancelled)
        && matches!(error.kind(), ErrorKind::Later | ErrorKind::Draining)
}

fn attempt(caller: &Caller<'_>, deadline: Instant) -> Result<Established, Attempt> {
    let connection = Connection::open(caller.socket).map_err(Attempt::Absent)?;
    let mut handshake =
        Handshake { connection: &connection, buffer: buffer(), number: 0, deadline };
    let hello = Hello {
        version: VERSION,
        capabilities: 0,
        client: caller.client,
        program: caller.program.to_owned(),
        claims: !caller.claims.is_empty(),
    };
    let (answer, fds) = handshake.ask(HELLO, RequestBody::Hello(hello))?;
    let welcome = match answer {
        ReplyBody::Welcome(welcome) if welcome.version == VERSION => welcome,
        ReplyBody::Welcome(welcome) => {
            let text = format!("it speaks version {}, this program {VERSION}", welcome.version);
            return Err(Attempt::Refused(Error::Protocol(text)));
        }
        other => return Err(unexpected(HELLO, &other)),
    };
    let page = Page::new(welcome.page_slots, fds);
    let mut refused = Vec::new();
    let batches = caller.claims.chunks(CLAIMS).count();
    for (index, leases) in caller.claims.chunks(CLAIMS).enumerate() {
        let claim = Claim { leases: leases.to_vec(), last: index + 1 == batches };
        match handshake.ask("claims", RequestBody::Claim(claim))?.0 {
            ReplyBody::Claimed { refused: some } => refused.extend(some),
            other => return Err(unexpected("claims", &other)),
        }
    }
    Ok(Established { connection, welcome, page, refused })
}

fn unexpected(what: &str, reply: &ReplyBody) -> Attempt {
    Attempt::Refused(match reply {
        ReplyBody::Failure(failure) => failure.clone().into(),
        _ => Error::Protocol(format!("its answer to {what} is not one")),
    })
}

/// Question and answer on a connection that nobody else uses yet.
struct Handshake<'a> {
    connection: &'a Connection,
    buffer: Box<[u8]>,
    number: u64,
    deadline: Instant,
}

impl Handshake<'_> {
    fn ask(
        &mut self,
        what: &'static str,
        body: RequestBody,
    ) -> Result<(ReplyBody, Vec<OwnedFd>), Attempt> {
        let started = Instant::now();
        let late = || Attempt::Refused(Error::Timeout { what, after: started.elapsed() });
        let refused = |trouble| match trouble {
            Trouble::HungUp => Attempt::HungUp,
            Trouble::Violation(error) => Attempt::Refused(error),
            Trouble::Late => late(),
            Trouble::Cancelled => Attempt::Refused(Error::Cancelled),
        };
        self.number += 1;
        let request = Request { number: self.number, body };
        if let Err(trouble) = self.connection.send(&request, Some(self.deadline), || {}) {
            // A pond that wants no connection says why, and hangs up without having been asked.
            return match self.connection.receive_now(&mut self.buffer) {
                Ok(Some((reply, fds))) if is_refusal(&reply) => Ok((reply.body, fds)),
                _ => Err(refused(trouble)),
            };
        }
        loop {
            match self.connection.receive(&mut self.buffer, Some(self.deadline)) {
                Ok(Some((reply, fds))) if reply.number == self.number || is_refusal(&reply) => {
                    return Ok((reply.body, fds));
                }
                Ok(_) if Instant::now() >= self.deadline => return Err(late()),
                Ok(_) => cancel::check().map_err(Attempt::Refused)?,
                Err(trouble) => return Err(refused(trouble)),
            }
        }
    }
}

fn is_refusal(reply: &Reply) -> bool {
    reply.number == 0 && matches!(reply.body, ReplyBody::Failure(_))
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Mode, TensorId, limits};

    use super::*;

    #[test]
    fn a_batch_of_claims_fits_a_datagram() {
        let claim = LeaseClaim {
            lease: LeaseId(u64::MAX),
            target: TensorId::random().into(),
            mode: Mode::ReadWrite,
            token: [0xff; 16],
        };
        let body = RequestBody::Claim(Claim { leases: vec![claim; CLAIMS], last: true });
        let mut builder = planus::Builder::new();
        let bytes = Request { number: u64::MAX, body }.encode(&mut builder).len();
        assert!(bytes <= limits::MESSAGE_BYTES, "{bytes} bytes");
    }
}
