//! A bar that shows how far a transfer is, for whoever looks at a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use millpond::Progress;

use crate::printer::Printer;

/// What is over sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// The bar.
pub struct Bar {
    what: String,
    wanted: bool,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar for something that begins now.
    pub fn new(printer: &Printer, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            wanted: printer.shows_progress(),
            begun: Instant::now(),
            bar: None,
        }
    }

    /// Shows how far it is.
    pub fn at(&mut self, progress: Progress) {
        if !self.wanted {
            return;
        }
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            let bar = ProgressBar::new(progress.total).with_elapsed(self.begun.elapsed());
            bar.set_style(style());
            bar.set_message(self.what.clone());
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
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

fn style() -> ProgressStyle {
    let shape =
        "{msg} [{bar:28}] {binary_bytes}/{binary_total_bytes} {decimal_bytes_per_sec}, {eta} left";
    ProgressStyle::with_template(shape)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_the_bar_is_understood() {
        ProgressStyle::with_template("{bar:28} {eta}").unwrap();
        let mut bar = Bar::new(&Printer::plain(true), "x");
        bar.at(Progress { done: 1, total: 2 });
        assert!(bar.bar.is_none(), "not with --json");
    }
}
