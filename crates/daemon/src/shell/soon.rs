//! Connections that wait for something that no descriptor signals: a descriptor that their client
//! has not read, or that there are fewer in flight in the whole system.
//!
//! They are tried again after a moment, and the longer nothing has moved, the later: a client that
//! is stopped must not keep the daemon busy for as long as it is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::policy::ConnId;

/// How soon a reply is tried again that waits for its reader.
pub(super) const SOON: Duration = Duration::from_millis(1);
/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_millis(64);

#[derive(Debug, Default)]
pub struct Soon {
    conns: HashMap<ConnId, Try>,
}

#[derive(Clone, Copy, Debug)]
struct Try {
    at: Instant,
    pause: Duration,
}

impl Soon {
    /// One more, unless it is here already.
    pub fn add(&mut self, conn: ConnId, now: Instant) {
        self.conns.entry(conn).or_insert(Try { at: now + SOON, pause: SOON });
    }

    /// It waits for nothing more, or for something else.
    pub fn remove(&mut self, conn: ConnId) {
        self.conns.remove(&conn);
    }

    #[must_use]
    pub fn contains(&self, conn: ConnId) -> bool {
        self.conns.contains_key(&conn)
    }

    /// Those whose time has come.
    #[must_use]
    pub fn due(&self, now: Instant) -> Vec<ConnId> {
        self.conns.iter().filter(|(_, it)| it.at <= now).map(|(conn, _)| *conn).collect()
    }

    /// It was tried, and still waits, with something gone or not.
    pub fn tried(&mut self, conn: ConnId, moved: bool, now: Instant) {
        if let Some(it) = self.conns.get_mut(&conn) {
            it.pause = if moved { SOON } else { (it.pause * 2).min(LONGEST) };
            it.at = now + it.pause;
        }
    }

    /// When the next one is due.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.conns.values().map(|it| it.at).min()
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
        for _ in 0..9 {
            let at = soon.next().unwrap();
            pauses.push((at - now).as_millis());
            now = at;
            assert_eq!(soon.due(now), [conn]);
            soon.tried(conn, false, now);
            // Said again by whoever asks meanwhile, that it waits is no news.
            soon.add(conn, now);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        soon.tried(conn, true, now);
        assert_eq!(soon.next(), Some(now + SOON), "its client reads");
        soon.add(ConnId(2), now - SOON);
        assert_eq!(soon.due(now), [ConnId(2)], "one does not wait for the other");
        soon.remove(ConnId(2));
        soon.remove(conn);
        assert!(soon.next().is_none() && !soon.contains(conn));
    }
}
