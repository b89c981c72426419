//! A word of a file as a [`Word`]: compare-and-swap in steps, under a lock of the word's own.
//!
//! The steps are generic so that the model in `tests/model.rs` runs the same order under a checker
//! of interleavings.

use core::cell::Cell;

use crate::protocol::Word;

/// One word and its lock, a step at a time.
pub trait Steps {
    /// Takes the word's lock. `false`: the lock was not free within the caller's patience.
    fn lock(&self) -> bool;
    /// Gives the lock back.
    fn unlock(&self);
    /// Reads the word; `None` when the word cannot be read.
    fn read(&self) -> Option<u64>;
    /// Writes the word; says whether the word has the value now.
    fn write(&self, new: u64) -> bool;
}

/// A word that is reached by [`Steps`]. After the first failure the word is lost: reads give
/// [`LOST`], and nothing is written.
#[derive(Debug)]
pub struct ByLock<S> {
    steps: S,
    lost: Cell<bool>,
}

/// What a lost word reads as: more used than any limit has room for.
pub const LOST: u64 = u64::MAX;

impl<S: Steps> ByLock<S> {
    /// The word at the end of these steps.
    pub fn new(steps: S) -> Self {
        Self { steps, lost: Cell::new(false) }
    }

    /// The steps themselves.
    pub fn steps(&self) -> &S {
        &self.steps
    }

    fn lose(&self) -> u64 {
        self.lost.set(true);
        LOST
    }
}

impl<S: Steps> Word for ByLock<S> {
    fn load(&self) -> u64 {
        self.steps.read().unwrap_or_else(|| self.lose())
    }

    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64> {
        if self.is_lost() || !self.steps.lock() {
            return Err(self.lose());
        }
        let done = match self.steps.read() {
            Some(now) if now != old => Err(now),
            Some(_) if self.steps.write(new) => Ok(()),
            _ => Err(self.lose()),
        };
        self.steps.unlock();
        done
    }

    fn overwrite(&self, new: u64) {
        if !self.steps.write(new) {
            self.lose();
        }
    }

    fn is_lost(&self) -> bool {
        self.lost.get()
    }
}
