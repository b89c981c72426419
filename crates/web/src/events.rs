//! The thread that hears what happens in the pond.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use millpond::{Events, PondId};
use millpond_view::Event;

use crate::collect::{Place, Watched};
use crate::live::Kind;

/// So many are kept for those who come later.
const KEPT: usize = 1000;
/// What comes within this time is told together.
const TOGETHER: Duration = Duration::from_millis(50);
/// So many are told at once.
const AT_ONCE: usize = 500;
/// How long a wait lasts before it is asked whether the pond is still the same one.
const WAIT: Duration = Duration::from_secs(1);
/// Before a pond that is away is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// What has happened lately.
#[derive(Debug, Default)]
pub struct Ring(Mutex<VecDeque<Event>>);

impl Ring {
    /// Everything from a number on that is still kept.
    pub fn from(&self, sequence: u64) -> Vec<Event> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|event| event.sequence >= sequence).cloned().collect()
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn add(&self, events: &[Event]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(events.iter().cloned());
        let old = kept.len().saturating_sub(KEPT);
        kept.drain(..old);
    }
}

/// How far a pond's events were heard. Another pond in the same folder counts from one again.
#[derive(Debug, Default)]
struct Heard {
    pond: Option<PondId>,
    last: u64,
}

/// Starts the thread.
pub fn start(place: Place, watched: Arc<Watched>) -> std::io::Result<Arc<Ring>> {
    let ring = Arc::new(Ring::default());
    let kept = Arc::clone(&ring);
    let hear = move || {
        let mut heard = Heard::default();
        loop {
            if let Err(error) = follow(&place, &watched, &kept, &mut heard) {
                tracing::debug!("no events: {error}");
            }
            std::thread::sleep(PAUSE);
        }
    };
    Builder::new().name("events".into()).spawn(hear)?;
    Ok(ring)
}

fn follow(
    place: &Place,
    watched: &Watched,
    ring: &Ring,
    heard: &mut Heard,
) -> millpond::Result<()> {
    let (pond, _) = place.connect()?;
    let now = pond.status()?.pond;
    if heard.pond.is_some_and(|before| before != now) {
        ring.clear();
        heard.last = 0;
    }
    heard.pond = Some(now);
    let mut events = pond.events(heard.last.saturating_add(1))?;
    // The events have a connection of their own.
    drop(pond);
    loop {
        let batch = gather(&mut events)?;
        if let Some(last) = batch.last() {
            heard.last = last.sequence;
            ring.add(&batch);
            watched.hub.publish(Kind::Events, &Kind::Events.frame(&batch));
            if watched.hub.readers() > 0 {
                watched.wake();
            }
        } else if is_another(watched, now) {
            return Ok(());
        }
    }
}

/// Whether the folder has another pond by now: a connection that waits would wait for a number that is far away.
fn is_another(watched: &Watched, pond: PondId) -> bool {
    let known = watched.known();
    known.seen.as_ref().is_some_and(|seen| *seen.overview.status.pond != pond)
}

/// What comes now, with what follows at once.
fn gather(events: &mut Events) -> millpond::Result<Vec<Event>> {
    let mut batch = Vec::new();
    let mut wait = WAIT;
    while let Some(event) = events.next_timeout(wait)? {
        batch.push(Event::from(&event));
        wait = TOGETHER;
        if batch.len() >= AT_ONCE {
            break;
        }
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use millpond_view::Text;

    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let ring = Ring::default();
        let event = |sequence| Event {
            sequence,
            unix_ms: 0,
            kind: Text(millpond::EventKind::Gap),
            tensor: None,
            name: None,
            user: None,
            text: String::new(),
        };
        for first in [1, 801] {
            ring.add(&(first..first + 800).map(event).collect::<Vec<_>>());
        }
        let kept = ring.from(0);
        assert_eq!((kept.len(), kept[0].sequence), (KEPT, 601));
        assert_eq!(ring.from(1600).len(), 1);
        assert!(ring.from(1601).is_empty());
    }
}
