//! What came as an answer, unpacked.

use std::os::fd::OwnedFd;

use millpond_wire::message::{Reply, ReplyBody};
use millpond_wire::{caps, memfd};

use crate::{Error, Result};

/// An answer, with what came along.
pub(crate) type Answer = millpond_client_core::Answer<OwnedFd>;

pub(crate) fn not_an_answer(what: &str) -> Error {
    Error::Protocol(format!("its answer to {what} is of the wrong kind"))
}

/// Fetches an answer that travelled as a memfd, and turns a no into an error.
pub(crate) fn unwrap(what: &'static str, mut answer: Answer) -> Result<Answer> {
    if let ReplyBody::InMemfd { bytes } = answer.body {
        if answer.fds.is_empty() {
            return Err(Error::Protocol("no descriptor came with a memfd reply".to_owned()));
        }
        // Those that the answer itself comes with are behind it.
        let contents = memfd::read_sealed(answer.fds.remove(0), bytes, caps::MEMFD_BYTES)
            .map_err(|error| Error::Protocol(format!("its answer to {what}: {error}")))?;
        answer.body = Reply::decode(&contents)?.body;
    }
    match answer.body {
        ReplyBody::Failure(failure) => Err(failure.into()),
        ReplyBody::InMemfd { .. } | ReplyBody::Unknown => Err(not_an_answer(what)),
        // With as many as they say.
        ReplyBody::Tensor(_)
        | ReplyBody::Version(_)
        | ReplyBody::Slabs { .. }
        | ReplyBody::VersionDetails(_) => Ok(answer),
        _ if !answer.fds.is_empty() => {
            let count = answer.fds.len();
            Err(Error::Protocol(format!("{count} descriptors came with its answer to {what}")))
        }
        _ => Ok(answer),
    }
}
