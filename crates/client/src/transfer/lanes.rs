//! Several moves at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use millpond_wire::caps;

use crate::connection::lock;
use crate::{Error, Result, cancel};

/// Bytes under way that keep a mover busy: one move is made, one waits, one is being answered.
const IN_FLIGHT_BYTES: u64 = 3 * caps::MOVE_BYTES;
/// Moves of small tensors have few bytes, so more of them are under way.
const LANES: std::ops::RangeInclusive<u64> = 3..=8;

/// How many moves are made at once, if there are so many of so many bytes together.
pub(crate) fn lanes(moves: usize, bytes: u64) -> usize {
    let moves = moves.max(1) as u64;
    let wanted = IN_FLIGHT_BYTES.div_ceil((bytes / moves).max(1));
    usize::try_from(wanted.clamp(*LANES.start(), *LANES.end()).min(moves)).unwrap_or(1)
}

/// Does `work` with each job in some threads, and hands what comes of it to `landed` in this one.
/// After an error, or when `landed` has enough, nothing new is begun and what is under way is
/// waited for.
pub(crate) fn run<J: Send, T: Send>(
    lanes: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> Result<T> + Sync,
    mut landed: impl FnMut(T) -> ControlFlow<()>,
) -> Result<()> {
    let (jobs, over) = (Mutex::new(jobs), AtomicBool::new(false));
    let (jobs, over, work) = (&jobs, &over, &work);
    thread::scope(|scope| {
        let (tell, hear) = mpsc::channel();
        for _ in 0..lanes {
            let tell = tell.clone();
            let lane = move || {
                while !over.load(Ordering::Acquire) {
                    let Some(job) = lock(jobs).next() else { return };
                    let done = work(job);
                    over.fetch_or(done.is_err(), Ordering::AcqRel);
                    if tell.send(done).is_err() {
                        return;
                    }
                }
            };
            let lane = cancel::inherited(lane);
            let begun =
                thread::Builder::new().name("millpond-move".to_owned()).spawn_scoped(scope, lane);
            if let Err(error) = begun {
                over.store(true, Ordering::Release);
                return Err(Error::system("starting a thread for moves", error));
            }
        }
        drop(tell);
        let mut outcome = Ok(());
        while let Some(done) = cancel::receive(&hear) {
            match done {
                Ok(done) if outcome.is_ok() => {
                    over.fetch_or(landed(done).is_break(), Ordering::AcqRel);
                }
                Err(error) if outcome.is_ok() => outcome = Err(error),
                _ => {}
            }
        }
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_moves_are_more_at_once() {
        assert_eq!(lanes(0, 0), 1);
        assert_eq!(lanes(1, 5 << 30), 1);
        assert_eq!(lanes(60, 60 * caps::MOVE_BYTES), 3);
        assert_eq!(lanes(60, 60 << 20), 8);
        assert_eq!(lanes(2, 2 << 20), 2);
    }

    #[test]
    fn everything_is_done_until_somebody_has_enough_or_fails() {
        let mut sum = 0;
        let add = |n: u64| {
            sum += n;
            ControlFlow::Continue(())
        };
        run(3, 1..=100, Ok, add).unwrap();
        assert_eq!(sum, 5050);
        let mut seen = 0;
        let enough = |_| {
            seen += 1;
            ControlFlow::Break(())
        };
        run(1, 0..1_000_000, Ok, enough).unwrap();
        assert!(seen < 1_000_000);
        let fail = |n: u64| if n == 3 { Err(Error::Closed) } else { Ok(n) };
        let failed = run(2, 0..1_000_000, fail, |_| ControlFlow::Continue(()));
        assert!(matches!(failed, Err(Error::Closed)));
    }
}
