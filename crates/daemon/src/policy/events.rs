//! What happened, numbered and kept for a while.

use std::collections::VecDeque;

use millpond_wire::Epoch;
use millpond_wire::message::Event;

/// Events that a late subscriber can still have.
const KEPT: usize = 4096;

/// The last events.
#[derive(Debug)]
pub struct Events {
    next: u64,
    kept: VecDeque<Event>,
}

impl Events {
    /// Numbers go on rising from one daemon to the next.
    #[must_use]
    pub fn new(epoch: Epoch) -> Self {
        Self { next: (epoch.0 << 32) + 1, kept: VecDeque::new() }
    }

    /// Numbers and keeps an event.
    pub fn push(&mut self, mut event: Event) -> Event {
        event.sequence = self.next;
        self.next += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(event.clone());
        event
    }

    /// The kept events from a number on, and whether some before them are gone.
    pub fn since(&self, from: u64) -> (bool, impl Iterator<Item = &Event>) {
        let first = self.kept.front().map_or(self.next, |event| event.sequence);
        (from < first, self.kept.iter().filter(move |event| event.sequence >= from))
    }
}
