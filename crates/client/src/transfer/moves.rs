//! Moves: one that is repeated where that helps, and many of them at once.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use millpond_wire::message::{MoveWork, ReplyBody, RequestBody, TensorMove};
use millpond_wire::{ErrorKind, TensorId, Token};

use super::{Progress, Told};
use crate::answer::not_an_answer;
use crate::connection::lock;
use crate::link::{Ask, Link};
use crate::{Error, Result};

const WHAT: &str = "a move";
/// One move of a file: long enough that its start and end do not count, short enough to be fair
/// and to be repeated.
pub(super) const MOVE_BYTES: u64 = 256 << 20;
/// So many are under way at once: one is moved, one waits behind it, one is being answered.
const IN_FLIGHT: usize = 3;
/// A move whose mover died is tried so often; a mover that dies of it would do so for ever.
const ATTEMPTS: u32 = 3;
/// Pauses before asking again while too many moves are under way: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// One move, without the name that its repeats share.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) tensor: TensorId,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) work: MoveWork,
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
pub(super) fn cut(
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
    let Job { tensor, offset, bytes, work } = job;
    let generation = link.lock().generation;
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
        match link.call_with(ask, file) {
            Ok(answer) => {
                let ReplyBody::Moved { bytes: moved, .. } = answer.body else {
                    return Err(not_an_answer(WHAT));
                };
                if moved != bytes {
                    return Err(Error::Protocol(format!("{moved} bytes were moved, not {bytes}")));
                }
                let clean = died == 0 && link.lock().generation == generation;
                return Ok(if clean { Landed::Cleanly } else { Landed::Repeated });
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
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Makes all of these moves, some of them at once. After an error nothing new is begun, and what
/// is under way is waited for.
pub(super) fn all(
    link: &Arc<Link>,
    jobs: impl Iterator<Item = Job> + Send,
    file: Option<&OwnedFd>,
    total: u64,
    told: Told<'_>,
) -> Result<()> {
    let (jobs, failed) = (Mutex::new(jobs), AtomicBool::new(false));
    let (jobs, failed) = (&jobs, &failed);
    told(Progress { done: 0, total });
    thread::scope(|scope| {
        let (tell, hear) = mpsc::channel();
        let lanes = total.div_ceil(MOVE_BYTES).min(IN_FLIGHT as u64);
        for _ in 0..lanes {
            let tell = tell.clone();
            let lane = move || {
                while !failed.load(Ordering::Acquire) {
                    let Some(job) = lock(jobs).next() else { return };
                    let bytes = job.bytes;
                    let landed = one(link, job, file).map(|_| bytes);
                    failed.fetch_or(landed.is_err(), Ordering::AcqRel);
                    if tell.send(landed).is_err() {
                        return;
                    }
                }
            };
            thread::Builder::new()
                .name("millpond-move".to_owned())
                .spawn_scoped(scope, lane)
                .map_err(|error| Error::system("starting a thread for moves", error))?;
        }
        drop(tell);
        let (mut done, mut outcome) = (0, Ok(()));
        for landed in hear {
            match landed {
                Ok(bytes) => {
                    done += bytes;
                    told(Progress { done, total });
                }
                Err(error) if outcome.is_ok() => outcome = Err(error),
                Err(_) => {}
            }
        }
        outcome
    })
}
