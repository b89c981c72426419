//! Moves: one that is repeated where that helps, and many of them at once.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, TensorMove};
use millpond_wire::{ContentHash, ErrorKind, Piece, PiecesKind, Run, TensorId, Token, caps};

use super::{Progress, Told, lanes};
use crate::answer::not_an_answer;
use crate::link::{Ask, Link};
use crate::{Error, Result, cancel};

const WHAT: &str = "a move";
/// One move of a file: long enough that its start and end do not count, short enough to be fair, to
/// be repeated, and to show progress several times a second from a slow disk.
pub(super) const MOVE_BYTES: u64 = caps::MOVE_BYTES / 4;
/// A move whose mover died is tried so often; a mover that dies of it would do so for ever.
const ATTEMPTS: u32 = 3;
/// Pauses before asking again while too many moves are under way: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// One move, without the name that its repeats share.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) tensor: TensorId,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) work: MoveWork,
}

/// How a move ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landed {
    /// Nothing happened meanwhile.
    Cleanly,
    /// It was repeated. Somebody who has not died yet may still work at an earlier attempt, so its
    /// file must not be used for anything else.
    Repeated,
}

/// The moves of a whole tensor, in order.
pub(crate) fn cut(
    tensor: TensorId,
    bytes: u64,
    work: impl Fn(u64) -> MoveWork + Send,
) -> impl Iterator<Item = Job> + Send {
    let count = bytes.div_ceil(MOVE_BYTES);
    (0..count).map(move |index| {
        let offset = index * MOVE_BYTES;
        Job { tensor, offset, bytes: MOVE_BYTES.min(bytes - offset), work: work(offset) }
    })
}

/// Makes one move. It has no deadline of its own: the pond ends a mover that hangs.
pub(super) fn one(link: &Arc<Link>, job: Job, file: Option<&OwnedFd>) -> Result<Landed> {
    make(link, job, file).map(|(landed, _)| landed)
}

/// Makes one move of pieces, and says what they are; in their order. They are at most
/// [`millpond_wire::caps::PIECES_PER_MOVE`] pieces from at most `RUNS_PER_MOVE` runs, together at most
/// `MOVE_BYTES` of them.
pub(crate) fn pieces(
    link: &Arc<Link>,
    tensor: TensorId,
    kind: PiecesKind,
    pieces: Vec<Piece>,
    runs: Vec<Run>,
    file: Option<&OwnedFd>,
) -> Result<Vec<ContentHash>> {
    let bytes = pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.bytes));
    let (count, work) = (pieces.len(), MoveWork::Pieces { kind, pieces, runs });
    let job = Job { tensor, offset: 0, bytes: bytes.unwrap_or(u64::MAX), work };
    let (_, hashes) = make(link, job, file)?;
    if hashes.len() != count {
        let got = hashes.len();
        return Err(Error::Protocol(format!("{got} hashes came for {count} pieces")));
    }
    Ok(hashes)
}

fn make(link: &Arc<Link>, job: Job, file: Option<&OwnedFd>) -> Result<(Landed, Vec<ContentHash>)> {
    let Job { tensor, offset, bytes, work } = job;
    let generation = link.generation();
    let (mut died, mut pause, begun) = (0, PAUSE, Instant::now());
    loop {
        // A new name each time: the answer to the old one is known.
        let token = Token::random();
        let body = RequestBody::TensorMove(TensorMove {
            token,
            tensor,
            offset,
            bytes,
            work: work.clone(),
        });
        let ask = Ask { what: WHAT, body, lease: None, deadline: None, waits_until: None };
        match link.call(ask, file) {
            Ok(answer) => {
                let ReplyBody::Moved { bytes: moved, hashes } = answer.body else {
                    return Err(not_an_answer(WHAT));
                };
                if moved != bytes {
                    return Err(Error::Protocol(format!("{moved} bytes were moved, not {bytes}")));
                }
                let clean = died == 0 && link.generation() == generation;
                return Ok((if clean { Landed::Cleanly } else { Landed::Repeated }, hashes));
            }
            Err(error) if error.kind() == ErrorKind::Mover => {
                died += 1;
                if died == ATTEMPTS {
                    return Err(error);
                }
                tracing::debug!(%error, died, "a move is repeated");
            }
            // Others of this user's are under way; they end.
            Err(error)
                if error.kind() == ErrorKind::TooMany
                    && begun.elapsed() < link.config.request_timeout => {}
            Err(error) => return Err(error),
        }
        cancel::sleep(pause)?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Makes all of these moves, some of them at once.
pub(crate) fn all(
    link: &Arc<Link>,
    jobs: impl Iterator<Item = Job> + Send,
    file: Option<&OwnedFd>,
    total: u64,
    told: Told<'_>,
) -> Result<()> {
    let mut done = 0;
    told(Progress { done, total });
    let move_one = |job: Job| {
        let bytes = job.bytes;
        one(link, job, file).map(|_| bytes)
    };
    let moves = usize::try_from(total.div_ceil(MOVE_BYTES)).unwrap_or(usize::MAX);
    lanes::run(lanes::lanes(moves, total), jobs, move_one, |bytes| {
        done += bytes;
        told(Progress { done, total });
        ControlFlow::Continue(())
    })
}
