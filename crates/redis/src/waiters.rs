//! Threads that wait, and hand over what they waited for. None of them writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;

use crate::connect::BLOCK;
use crate::keys::Source;
use crate::said::Away;
use crate::store::Taken;
use crate::truth::{Happened, Happenings};
use crate::wait::Bell;

/// Before a Redis or a pond that is away is tried again.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the pond is waited for at once.
const LOOK: Duration = Duration::from_millis(500);
/// More news than this, and everything is compared instead.
const NEWS: usize = 4096;

/// What the core is told.
#[derive(Debug)]
pub enum Message {
    Commands(Source, Taken),
    /// A connection was made: what an earlier one took is to be carried out first.
    Connected(Source),
    News,
}

/// What happened in the pond and was not looked at yet.
#[derive(Debug, Default)]
pub struct News {
    /// In their order; the same thing is not there twice.
    list: Mutex<(Vec<Happened>, BTreeSet<[u8; 17]>)>,
}

impl News {
    /// Adds one; whether the core is to be told.
    fn add(&self, happened: Happened) -> bool {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let first = list.0.is_empty();
        if list.0.len() >= NEWS {
            *list = (vec![Happened::Everything], BTreeSet::new());
            return false;
        }
        if list.1.insert(key(&happened)) {
            list.0.push(happened);
        }
        first
    }

    pub fn take(&self) -> Vec<Happened> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.1.clear();
        std::mem::take(&mut list.0)
    }
}

fn key(happened: &Happened) -> [u8; 17] {
    let (kind, id) = match happened {
        Happened::Made(id) => (1, Some(id)),
        Happened::Ended(id, _) => (3, Some(id)),
        Happened::Everything => (4, None),
    };
    let mut key = [0; 17];
    key[0] = kind;
    if let Some(id) = id {
        key[1..].copy_from_slice(id.0.as_bytes());
    }
    key
}

/// Waits for commands, one at a time: while the core is at one, it takes those behind it itself.
pub fn commands(
    bell: &mut Bell,
    source: Source,
    inbox: &Sender<Message>,
    resume: &Receiver<()>,
    stop: &Arc<AtomicBool>,
) {
    let (mut connected, mut failures, mut away) = (false, 0u32, Away::default());
    while !stop.load(Ordering::Relaxed) {
        if !connected {
            // The core says what is wrong with Redis.
            if bell.reconnect().is_err() {
                nap(stop);
                continue;
            }
            connected = true;
            if inbox.send(Message::Connected(source)).is_err() || resume.recv().is_err() {
                return;
            }
        }
        let begun = Instant::now();
        match bell.wait(source) {
            Ok(taken) if taken.is_empty() => {
                failures = 0;
                away.is_back();
                // A server that refuses the wait alone must not be asked without a pause.
                if begun.elapsed() < BLOCK / 2 {
                    nap(stop);
                }
            }
            Ok(taken) => {
                if inbox.send(Message::Commands(source, taken)).is_err() || resume.recv().is_err() {
                    return;
                }
            }
            Err(lost) => {
                // What only this call meets, such as a key that is no list, nobody else says.
                failures = failures.saturating_add(1);
                if failures > 1 && away.is_news(Instant::now()) {
                    let why = lost.to_string();
                    warn!("no commands come: {}", millpond_console::shown::printable(&why));
                }
                connected = false;
                nap(stop);
            }
        }
    }
}

/// Waits for what happens in the pond.
pub fn happenings(
    mut source: impl Happenings,
    news: &News,
    inbox: &Sender<Message>,
    stop: &Arc<AtomicBool>,
) {
    while !stop.load(Ordering::Relaxed) {
        let happened = match source.next(LOOK) {
            Ok(Some(happened)) => happened,
            Ok(None) => continue,
            Err(_) => {
                nap(stop);
                continue;
            }
        };
        if !tell(news, inbox, happened) {
            return;
        }
    }
}

/// Tells the core of something; whether there is one.
pub fn tell(news: &News, inbox: &Sender<Message>, happened: Happened) -> bool {
    !news.add(happened) || inbox.send(Message::News).is_ok()
}

fn nap(stop: &AtomicBool) {
    if !stop.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::TensorId;

    use super::*;

    #[test]
    fn news_is_kept_once_and_never_without_end() {
        let news = News::default();
        let id = TensorId::random();
        assert!(news.add(Happened::Made(id)), "the core is told of the first");
        let ended = Happened::Ended(id, None);
        assert!(!news.add(Happened::Made(id)) && !news.add(ended.clone()));
        assert_eq!(news.take(), [Happened::Made(id), ended]);
        assert!(news.add(Happened::Made(id)), "what was looked at can happen again");
        for _ in 0..NEWS {
            news.add(Happened::Made(TensorId::random()));
        }
        assert_eq!(news.take().first(), Some(&Happened::Everything));
    }
}
