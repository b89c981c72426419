//! A pond of its own, for the demo and the benchmarks: a temporary folder, real processes, and a
//! janitor who cleans up whatever happens.
//!
//! Workers and the janitor are processes of the program that uses this crate: it has the hidden
//! subcommands `worker` and `janitor`, which call [`worker::run`] and [`janitor::run`].

pub mod content;
mod folder;
mod handle;
pub mod janitor;
mod pond;
pub mod process;
pub mod protocol;
pub mod worker;

pub use handle::Worker;
pub use pond::{TrialPond, set_environment};

use std::time::{Duration, Instant};

use millpond_console::error::{CommandError, wrong};

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
            return Err(wrong(format!(
                "gave up waiting for {what} after {} s",
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(PAUSE);
    }
}
