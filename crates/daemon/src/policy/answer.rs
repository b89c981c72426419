//! What a handler says to a request.

use millpond_wire::message::ReplyBody;
use millpond_wire::{ErrorKind, Failure};

use super::ports::{HoldError, PortError};

/// What became of a request that was not refused.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it is one on the stack, and most answers come now")]
pub(super) enum Answered<F> {
    /// This is the answer, with its descriptors.
    Now(ReplyBody, Vec<F>),
    /// It is in the table of parked requests and is answered from there.
    Parked,
    /// Nothing is left to say: the handler has answered, or nobody is there to read an answer.
    Sent,
}

/// The answer of a handler; a failure is an answer as well.
pub(super) type Answer<F> = Result<Answered<F>, Failure>;

pub(super) fn done<F>() -> Answer<F> {
    now(ReplyBody::Done)
}

pub(super) fn now<F>(body: ReplyBody) -> Answer<F> {
    Ok(Answered::Now(body, Vec::new()))
}

pub(super) fn draining() -> Failure {
    Failure::new(ErrorKind::Draining, "the pond is shutting down")
        .hint("mapped memory stays mapped; try again when the pond serves again")
}

pub(super) fn from_port(error: PortError) -> Failure {
    Failure::new(ErrorKind::Internal, format!("the change could not be made durable: {error}"))
}

pub(super) fn from_hold(error: HoldError) -> Failure {
    match error {
        HoldError::Full => Failure::new(
            ErrorKind::Later,
            "the keeper of this pond takes nothing at the moment, and what it does not hold could \
             be lost",
        )
        .hint(
            "try again in a moment: a keeper that hangs is replaced after 2 s; `millpond status` \
             says which process it is",
        ),
        HoldError::Refused(error) => from_port(error),
    }
}

/// A tensor or a version that was there a moment ago.
pub(super) fn gone(what: &str, id: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorKind::NotFound, format!("{what} {id} not found"))
}
