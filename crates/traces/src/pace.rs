//! How time passes in a run.

use std::time::{Duration, Instant};

/// A clock that a run is played by.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// From one event to the next, without waiting.
    Virtual,
    /// As it does on the wall, from this moment on.
    Wall(Instant),
}

impl Pace {
    /// Waits until an event is due, and says what time it is then.
    #[must_use]
    pub fn until(self, due: Duration) -> Duration {
        match self {
            Self::Virtual => due,
            Self::Wall(begun) => {
                if let Some(left) = due.checked_sub(begun.elapsed()) {
                    std::thread::sleep(left);
                }
                begun.elapsed().max(due)
            }
        }
    }
}
