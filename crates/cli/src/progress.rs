//! A bar that shows how far a transfer is, for whoever looks at a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use millpond::Progress;

use crate::printer::Printer;
use crate::shown::{columns, columns_of, printable};
use crate::units;

/// What is over sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(300);
/// Columns for the name; sizes, speed and a short bar fit beside it in 80.
const NAME_COLUMNS: usize = 22;

/// The bar of one phase.
pub struct Bar {
    what: String,
    wanted: bool,
    begun: Instant,
    /// Where it stood when it began: what was done before is not this phase's speed.
    first: Option<u64>,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar for something that begins now.
    pub fn new(printer: &Printer, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            wanted: printer.shows_progress(),
            begun: Instant::now(),
            first: None,
            bar: None,
        }
    }

    /// Shows how far it is.
    pub fn at(&mut self, progress: Progress) {
        if !self.wanted {
            return;
        }
        let first = *self.first.get_or_insert(progress.done);
        let elapsed = self.begun.elapsed();
        if self.bar.is_none() && elapsed >= PATIENCE {
            let bar = ProgressBar::new(progress.total);
            bar.set_style(style());
            bar.set_prefix(cut(&printable(&self.what)));
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_message(speed(first, progress, elapsed));
            bar.set_position(progress.done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What this phase has done over the time it took, and how long the rest will take at that speed.
fn speed(first: u64, progress: Progress, elapsed: Duration) -> String {
    let done = progress.done.saturating_sub(first);
    if done == 0 || elapsed.is_zero() {
        return String::new();
    }
    let left = progress.total.saturating_sub(progress.done);
    let seconds = elapsed.as_millis().saturating_mul(left.into()) / u128::from(done) / 1000;
    let left = units::span(u64::try_from(seconds).unwrap_or(u64::MAX).saturating_mul(1000));
    format!("{}, {left} left", units::rate(done, elapsed))
}

/// At most so many columns of a name.
fn cut(name: &str) -> String {
    if columns(name) <= NAME_COLUMNS {
        return name.to_owned();
    }
    let mut room = NAME_COLUMNS - 3;
    let fits = |character: &char| {
        let left = room.checked_sub(columns_of(*character));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let start: String = name.chars().take_while(fits).collect();
    format!("{start}...")
}

fn style() -> ProgressStyle {
    let shape = "{prefix} [{wide_bar}] {binary_bytes}/{binary_total_bytes} {msg}";
    ProgressStyle::with_template(shape)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_bar_where_nobody_looks() {
        let mut bar = Bar::new(&Printer::plain(true), "x");
        bar.at(Progress { done: 1, total: 2 });
        assert!(bar.bar.is_none(), "not with --json");
    }

    #[test]
    fn the_speed_is_what_was_done_over_the_time_it_took() {
        const GIB: u64 = 1 << 30;
        let at = |done| Progress { done, total: 4 * GIB };
        let second = Duration::from_secs(1);
        assert_eq!(speed(0, at(0), second), "", "nothing is known yet");
        assert_eq!(speed(0, at(GIB), second), "1.07 GB/s, 3s left");
        assert_eq!(speed(2 * GIB, at(3 * GIB), second), "1.07 GB/s, 1s left", "2 were there");
        assert_eq!(speed(0, at(4 * GIB), 2 * second), "2.15 GB/s, 0s left");
        assert_eq!(speed(0, at(1), Duration::from_secs(36_000)).lines().count(), 1);
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(cut("comparing llama"), "comparing llama");
        let long = cut("comparing a-model-with-a-very-long-name");
        assert_eq!((long.as_str(), columns(&long)), ("comparing a-model-w...", NAME_COLUMNS));
        assert!(columns(&cut(&"模".repeat(40))) <= NAME_COLUMNS);
    }
}
