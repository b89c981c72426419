//! A pond of one's own, for the demo and the bench: a temporary folder, real processes, and
//! somebody who cleans up whatever happens.

pub mod content;
mod folder;
pub mod janitor;
pub mod process;
pub mod protocol;
mod stage;
mod troupe;
pub mod worker;

pub use stage::Stage;
pub use troupe::Worker;

use std::time::{Duration, Instant};

use crate::error::{CommandError, wrong};

/// How long anything that must happen may take: far more than it should, so that a slow machine
/// is not called broken, and a broken one ends.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look.
const PAUSE: Duration = Duration::from_micros(200);

/// Looks until there is something to see; the time it took comes along.
pub fn until<T>(
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>, CommandError>,
) -> Result<(T, Duration), CommandError> {
    let start = Instant::now();
    loop {
        if let Some(seen) = look()? {
            return Ok((seen, start.elapsed()));
        }
        if start.elapsed() > PATIENCE {
            return Err(wrong(format!("waited {} s in vain for {what}", PATIENCE.as_secs())));
        }
        std::thread::sleep(PAUSE);
    }
}
