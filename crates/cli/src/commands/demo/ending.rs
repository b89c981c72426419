//! The end: nothing is left, or everything with `--keep`.

use super::account::Account;
use super::state::Demo;
use crate::error::{CommandError, Outcome, wrong};
use crate::units;
use millpond_trial::protocol::Order;

impl Demo<'_> {
    /// Lets go, deletes, stops, and compares the card with the first reading.
    pub fn clean_up(&mut self) -> Outcome {
        self.story.step("Everything is deleted and the pond is stopped")?;
        for worker in &mut self.workers {
            worker.order(&Order::LetGo)?;
        }
        for name in self.plan.names() {
            self.pond()?.delete(name.as_str())?;
        }
        self.claim_account(Account::EMPTY)?;
        let status = self.status()?;
        for worker in std::mem::take(&mut self.workers) {
            worker.end()?;
        }
        self.pond.take().map_or(Ok(()), millpond::Pond::close)?;
        let stopped = self.trial()?.stop(&status);
        match stopped {
            Ok(time) => {
                self.facts.times.stop_ms = Some(units::millis(time));
                let text = format!("the pond stopped on SIGTERM after {}", units::time(time));
                self.story.claim(true, text)?;
            }
            Err(CommandError::Failed(report)) => self.story.claim(false, report.failure.message)?,
            Err(error) => return Err(error),
        }
        let last = self.settled_reading(self.first_reading)?;
        let leaked = last.saturating_sub(self.first_reading);
        self.facts.leaked_bytes = Some(leaked);
        let text = format!(
            "the card's used bytes are {}, and were {} before; leaked: {}",
            units::bytes(last),
            units::bytes(self.first_reading),
            units::bytes(leaked)
        );
        self.story.claim(leaked == 0, text)
    }

    /// Leaves the pond with its tensors.
    pub fn keep_the_pond(&mut self) -> Outcome {
        self.story.step("The pond stays, with its tensors")?;
        for worker in std::mem::take(&mut self.workers) {
            worker.end()?;
        }
        self.pond.take().map_or(Ok(()), millpond::Pond::close)?;
        let trial = self.trial.take().ok_or_else(|| wrong("the pond is gone"))?;
        let folder = trial.keep().display().to_string();
        self.story.fact(format_args!("look:   millpond --runtime-dir {folder} tensor ls"))?;
        self.story.fact(format_args!("stop:   millpond --runtime-dir {folder} stop"))?;
        self.story.fact(format_args!("remove: rm -r {folder}"))?;
        self.facts.kept = Some(folder);
        Ok(())
    }
}
