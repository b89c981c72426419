//! Who pays for pages.

use std::sync::Arc;

/// Who pays for the pages of a cache. Methods are called without any lock of the cache.
///
/// A cache takes credit before it makes memory and gives it back after the driver has the memory
/// again, so whoever sums up credit never counts less than what is held.
pub trait Credit: Send + Sync {
    /// Pays for so many bytes. For a commit it may wait until somebody frees; for pages made ahead
    /// it must not.
    ///
    /// # Errors
    /// Who is short of what, and what would help. Nothing was paid.
    fn take(&self, bytes: u64, why: Why) -> Result<(), Short>;

    /// Takes so many bytes back.
    fn give(&self, bytes: u64);

    /// Hears how many of the paid bytes are idle now: given back as soon as somebody asks. Pages that
    /// are made ahead count from before they are paid for, pages that are given back until they are.
    fn idle(&self, bytes: u64);
}

/// What pages are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Somebody waits for them.
    Commit,
    /// Nobody needs them yet.
    Ahead,
}

/// Credit was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// What was asked for.
    pub asked: u64,
    /// What may be held in all.
    pub limit: u64,
    /// What is held in all.
    pub used: u64,
    /// Who holds how much.
    pub holders: Vec<Holder>,
    /// What would help.
    pub verdict: Verdict,
}

/// Somebody who holds a part of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name that it goes by.
    pub name: String,
    /// What it holds.
    pub bytes: u64,
    /// What of it is idle.
    pub idle_bytes: u64,
    /// Whose it is, where the payer knows users.
    pub user: Option<u32>,
}

/// What would help who is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: the request alone is larger than the limit.
    Never,
    /// One of the holders frees something.
    AfterFreeing,
    /// More is held than the limit allows now, so the holders must come down first.
    OverBudget,
}

/// Pays for everything. The card itself is the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlimited;

impl Credit for Unlimited {
    fn take(&self, _bytes: u64, _why: Why) -> Result<(), Short> {
        Ok(())
    }

    fn give(&self, _bytes: u64) {}

    fn idle(&self, _bytes: u64) {}
}

impl<C: Credit + ?Sized> Credit for Arc<C> {
    fn take(&self, bytes: u64, why: Why) -> Result<(), Short> {
        (**self).take(bytes, why)
    }

    fn give(&self, bytes: u64) {
        (**self).give(bytes);
    }

    fn idle(&self, bytes: u64) {
        (**self).idle(bytes);
    }
}
