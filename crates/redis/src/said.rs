//! Lines of the log that would otherwise come again and again.

use std::time::{Duration, Instant};

/// What goes on is said again after this time.
const AGAIN: Duration = Duration::from_secs(60);
/// What strangers can cause is said at most so often.
const STRANGERS: Duration = Duration::from_secs(10);

/// Something that is away: said once, then every minute, and once more when it is back.
#[derive(Debug, Default)]
pub struct Away {
    last: Option<Instant>,
}

impl Away {
    /// Whether to say that it is away.
    pub fn is_news(&mut self, now: Instant) -> bool {
        let news = self.last.is_none_or(|last| now.duration_since(last) >= AGAIN);
        if news {
            self.last = Some(now);
        }
        news
    }

    /// Whether to say that it is back.
    pub fn is_back(&mut self) -> bool {
        self.last.take().is_some()
    }
}

/// What others can cause as often as they like.
#[derive(Debug, Default)]
pub struct Strangers {
    last: Option<Instant>,
    more: u64,
}

impl Strangers {
    /// How many were not said since, if this one is to be said.
    pub fn is_news(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.duration_since(last) < STRANGERS) {
            self.more += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_said_once_a_minute() {
        let (mut away, now) = (Away::default(), Instant::now());
        assert!(!away.is_back());
        assert!(away.is_news(now) && !away.is_news(now) && away.is_news(now + AGAIN));
        assert!(away.is_back() && !away.is_back() && away.is_news(now));
    }

    #[test]
    fn what_strangers_cause_is_counted() {
        let (mut strangers, now) = (Strangers::default(), Instant::now());
        assert_eq!(strangers.is_news(now), Some(0));
        assert_eq!((strangers.is_news(now), strangers.is_news(now)), (None, None));
        assert_eq!(strangers.is_news(now + STRANGERS), Some(2));
    }
}
