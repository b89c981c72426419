//! Connections that wait for something that no descriptor signals: a descriptor that their client
//! has not read, or that there are fewer in flight in the whole system.
//!
//! They are tried again after a moment, and the longer nothing has moved, the later: a client that
//! is stopped must not keep the daemon busy for as long as it is.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::numbers::ByNumber;
use crate::policy::ConnId;

/// How soon a reply is tried again that waits for its reader.
pub(super) const SOON: Duration = Duration::from_millis(1);
/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Soon {
    conns: ByNumber<ConnId, Try>,
    /// So that thousands that wait cost nothing until their time comes.
    by_time: BTreeSet<(Instant, ConnId)>,
}

#[derive(Clone, Copy, Debug)]
struct Try {
    at: Instant,
    pause: Duration,
}

impl Soon {
    /// One more, unless it is here already.
    pub fn add(&mut self, conn: ConnId, now: Instant) {
        if !self.conns.contains_key(&conn) {
            self.put(conn, Try { at: now + SOON, pause: SOON });
        }
    }

    /// It waits for nothing more, or for something else.
    pub fn remove(&mut self, conn: ConnId) {
        if let Some(it) = self.conns.remove(&conn) {
            self.by_time.remove(&(it.at, conn));
        }
    }

    fn put(&mut self, conn: ConnId, next: Try) {
        self.remove(conn);
        self.by_time.insert((next.at, conn));
        self.conns.insert(conn, next);
    }

    #[must_use]
    pub fn contains(&self, conn: ConnId) -> bool {
        self.conns.contains_key(&conn)
    }

    /// Those whose time has come.
    #[must_use]
    pub fn due(&self, now: Instant) -> Vec<ConnId> {
        let due = self.by_time.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, conn)| *conn).collect()
    }

    /// It was tried, and still waits, with something gone or not.
    pub fn tried(&mut self, conn: ConnId, moved: bool, now: Instant) {
        if let Some(it) = self.conns.get(&conn) {
            let pause = if moved { SOON } else { (it.pause * 2).min(LONGEST) };
            self.put(conn, Try { at: now + pause, pause });
        }
    }

    /// When the next one is due.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_nothing_moves_the_later_it_is_tried() {
        let (mut soon, conn, start) = (Soon::default(), ConnId(1), Instant::now());
        soon.add(conn, start);
        assert!(soon.due(start).is_empty());
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..13 {
            let at = soon.next().unwrap();
            pauses.push((at - now).as_millis());
            now = at;
            assert_eq!(soon.due(now), [conn]);
            soon.tried(conn, false, now);
            // Said again by whoever asks meanwhile, that it waits is no news.
            soon.add(conn, now);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000]);
        soon.tried(conn, true, now);
        assert_eq!(soon.next(), Some(now + SOON), "its client reads");
        soon.add(ConnId(2), now - SOON);
        assert_eq!(soon.due(now), [ConnId(2)], "one does not wait for the other");
        soon.remove(ConnId(2));
        soon.remove(conn);
        assert!(soon.next().is_none() && !soon.contains(conn) && soon.by_time.is_empty());
    }
}
