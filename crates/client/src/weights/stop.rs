//! How whoever is told of the progress ends it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_wire::ErrorKind;

use crate::{Error, Result};

/// What somebody who was told how far something is answers: nothing, or whether it goes on.
pub trait GoOn {
    /// Whether it goes on.
    fn goes_on(self) -> bool;
}

impl GoOn for () {
    fn goes_on(self) -> bool {
        true
    }
}

impl GoOn for ControlFlow<()> {
    fn goes_on(self) -> bool {
        self.is_continue()
    }
}

/// Whether somebody wanted it to end.
#[derive(Debug, Default)]
pub(super) struct Stop(AtomicBool);

impl Stop {
    pub(super) fn heard(&self, answer: impl GoOn) {
        self.0.fetch_or(!answer.goes_on(), Ordering::AcqRel);
    }

    /// Whether the next piece is begun.
    pub(super) fn flow(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Acquire) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.flow().is_continue() {
            return Ok(());
        }
        let message = "the load was cancelled".to_owned();
        Err(Error::version(ErrorKind::Later, message, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_no_ends_it_whatever_is_answered_later() {
        let stop = Stop::default();
        stop.heard(());
        stop.heard(ControlFlow::Continue(()));
        assert!(stop.flow().is_continue() && stop.check().is_ok());
        stop.heard(ControlFlow::Break(()));
        stop.heard(());
        assert!(stop.flow().is_break());
        assert_eq!(stop.check().unwrap_err().kind(), ErrorKind::Later);
    }
}
