//! Making a connection: opening sockets and asking what the handshake asks, as long as the dial says.

use std::path::Path;
use std::time::Instant;

use millpond_client_core::{self as core, Dial, Handshake, Identity, Progress, Refusal, Retry};
use millpond_wire::message::{LeaseClaim, Reply, VERSION, Welcome};
use millpond_wire::{ClientId, ErrorKind, LeaseId};

use crate::connection::{Buffer, Connection, Trouble, buffer};
use crate::memo::Page;
use crate::{Error, Result, cancel};

pub(crate) struct Caller<'a> {
    pub(crate) socket: &'a Path,
    pub(crate) identity: Identity,
    pub(crate) program: &'a str,
    pub(crate) claims: &'a [LeaseClaim],
}

/// A connection that was welcomed.
pub(crate) struct Established {
    pub(crate) connection: Connection,
    /// The client that was welcomed; a new one where the pond took the other for somebody else.
    pub(crate) identity: Identity,
    pub(crate) welcome: Welcome,
    /// The counters that came along.
    pub(crate) page: Option<Page>,
    /// Claims that the daemon refused.
    pub(crate) refused: Vec<LeaseId>,
    /// What the answers were read into.
    pub(crate) buffer: Buffer,
}

enum Attempt {
    /// Nobody is at the socket.
    Absent(Error),
    /// A daemon was, and went.
    HungUp,
    /// The answer is no.
    Refused(Error),
    /// The answer is no, and would be yes for a new client.
    NotThisClient(Error),
}

/// Connects and says hello. While the pond works, `meanwhile` does what the caller needs afterwards.
pub(crate) fn establish(
    caller: &Caller<'_>,
    mut dial: Dial,
    mut meanwhile: impl FnMut(),
) -> Result<Established> {
    let (mut identity, mut is_new) = (caller.identity, false);
    loop {
        let (failed, error) = match attempt(caller, identity, dial.deadline(), &mut meanwhile) {
            Ok(established) => return Ok(established),
            Err(Attempt::NotThisClient(error)) if !is_new => {
                tracing::warn!(client = %identity.client, %error, "going on as a new client");
                (identity, is_new) = (Identity::new(ClientId::random()), true);
                continue;
            }
            Err(Attempt::NotThisClient(error)) => {
                (core::Attempt::Refused { passing: false }, error)
            }
            Err(Attempt::Absent(error)) => {
                let no_pond = error.kind() == ErrorKind::NoPond;
                (core::Attempt::Absent { no_pond }, error)
            }
            Err(Attempt::Refused(error)) => {
                (core::Attempt::Refused { passing: is_passing(&error) }, error)
            }
            Err(Attempt::HungUp) => {
                let reason = "it hangs up at once".to_owned();
                let error = Error::NoPond { path: caller.socket.to_owned(), reason };
                (core::Attempt::HungUp, error)
            }
        };
        match dial.failed(failed, Instant::now(), || is_removed(caller.socket)) {
            Retry::After(pause) => cancel::sleep(pause)?,
            Retry::No => return Err(error),
            Retry::Stopped => {
                let reason = "it was stopped".to_owned();
                return Err(Error::NoPond { path: caller.socket.to_owned(), reason });
            }
        }
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

fn attempt(
    caller: &Caller<'_>,
    identity: Identity,
    deadline: Instant,
    meanwhile: &mut impl FnMut(),
) -> Result<Established, Attempt> {
    let mut connection = Connection::open(caller.socket).map_err(Attempt::Absent)?;
    let mut handshake = Handshake::new(identity, caller.program, caller.claims.to_vec());
    let (mut space, mut page, mut settled) = (buffer(), None, false);
    while let Some(request) = handshake.ask() {
        let (what, started) = (handshake.what(), Instant::now());
        let late = || Attempt::Refused(Error::Timeout { what, after: started.elapsed() });
        let broken = |trouble| match trouble {
            Trouble::HungUp => Attempt::HungUp,
            Trouble::Violation(error) => Attempt::Refused(error),
            Trouble::Late => late(),
            Trouble::Cancelled => Attempt::Refused(Error::Cancelled),
        };
        if let Err(trouble) = connection.send(&request, &[], Some(deadline), || {}) {
            // A pond that wants no connection says why, and hangs up without having been asked.
            return match connection.receive_now(&mut space) {
                Ok(Some((reply, _))) if Handshake::is_refusal(&reply) => {
                    Err(refused(&mut handshake, reply))
                }
                _ => Err(broken(trouble)),
            };
        }
        if !std::mem::replace(&mut settled, true) {
            // While the pond works.
            connection.settle();
            meanwhile();
        }
        loop {
            match connection.receive(&mut space, Some(deadline)) {
                Ok(Some((reply, fds))) => match handshake.received(reply).map_err(refusal)? {
                    Progress::Ignored => {}
                    Progress::Welcomed => {
                        let slots = handshake.welcome().map_or(0, |welcome| welcome.page_slots);
                        page = Page::new(slots, fds);
                        break;
                    }
                    Progress::Claimed => break,
                },
                Ok(None) => {}
                Err(trouble) => return Err(broken(trouble)),
            }
            if Instant::now() >= deadline {
                return Err(late());
            }
            cancel::check().map_err(Attempt::Refused)?;
        }
    }
    let Some((welcome, refused)) = handshake.finish() else { return Err(Attempt::HungUp) };
    let identity = identity.welcomed(&welcome);
    Ok(Established { connection, identity, welcome, page, refused, buffer: space })
}

fn refused(handshake: &mut Handshake, reply: Reply) -> Attempt {
    handshake.received(reply).map_or_else(refusal, |_| Attempt::HungUp)
}

fn refusal(refusal: Refusal) -> Attempt {
    Attempt::Refused(match refusal {
        Refusal::Failure(failure) => failure.into(),
        Refusal::NotThisClient(failure) => return Attempt::NotThisClient(failure.into()),
        Refusal::Version(version) => {
            Error::Protocol(format!("it speaks version {version}, this program {VERSION}"))
        }
        Refusal::NotAnAnswer(what) => crate::answer::not_an_answer(what),
    })
}
