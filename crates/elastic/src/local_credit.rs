//! One limit for several caches of one process.

use crate::credit::{Credit, Holder, Short, Verdict, Why};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A limit that several caches of this process share. A clone pays as the same holder;
/// [`LocalCredit::holder`] makes another one under the same limit. It never waits.
#[derive(Clone, Debug)]
pub struct LocalCredit {
    shared: Arc<Mutex<Shared>>,
    holder: usize,
    /// Keeps the holder's place; the last clone frees it.
    _place: Arc<()>,
}

#[derive(Debug)]
struct Shared {
    limit: u64,
    used: u64,
    holders: Vec<Holder>,
    /// Who sits in each place. A place is taken over when nobody does and nothing is held.
    places: Vec<Weak<()>>,
}

impl LocalCredit {
    /// A limit of so many bytes, with its first holder.
    #[must_use]
    pub fn new(limit: u64, name: &str) -> Self {
        let shared = Shared { limit, used: 0, holders: Vec::new(), places: Vec::new() };
        Self::seated(&Arc::new(Mutex::new(shared)), name)
    }

    /// Another holder under the same limit.
    #[must_use]
    pub fn holder(&self, name: &str) -> Self {
        Self::seated(&self.shared, name)
    }

    fn seated(shared: &Arc<Mutex<Shared>>, name: &str) -> Self {
        let place = Arc::new(());
        let mut list = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |index: &usize| {
            list.places[*index].strong_count() == 0 && list.holders[*index].bytes == 0
        };
        let found = (0..list.places.len()).find(is_free);
        let holder = Holder { name: name.to_owned(), bytes: 0, idle_bytes: 0, user: None };
        let holder = if let Some(index) = found {
            list.holders[index] = holder;
            list.places[index] = Arc::downgrade(&place);
            index
        } else {
            list.holders.push(holder);
            list.places.push(Arc::downgrade(&place));
            list.places.len() - 1
        };
        drop(list);
        Self { shared: Arc::clone(shared), holder, _place: place }
    }

    /// Changes the limit. What is held already stays: who holds more than that is over budget.
    pub fn set_limit(&self, bytes: u64) {
        self.lock().limit = bytes;
    }

    /// What may be held in all.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.lock().limit
    }

    /// What all holders hold.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().used
    }

    /// Who holds how much, of all who hold something.
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        self.lock().holders.iter().filter(|one| one.bytes > 0).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Credit for LocalCredit {
    fn take(&self, bytes: u64, _why: Why) -> Result<(), Short> {
        let mut shared = self.lock();
        let fits = shared.used.checked_add(bytes).filter(|sum| *sum <= shared.limit);
        let Some(sum) = fits else {
            let (limit, used) = (shared.limit, shared.used);
            let verdict = match () {
                () if bytes > limit => Verdict::Never,
                () if used > limit => Verdict::OverBudget,
                () => Verdict::AfterFreeing,
            };
            let holders = shared.holders.iter().filter(|one| one.bytes > 0).cloned().collect();
            return Err(Short { asked: bytes, limit, used, holders, verdict });
        };
        shared.used = sum;
        shared.holders[self.holder].bytes += bytes;
        Ok(())
    }

    fn give(&self, bytes: u64) {
        let mut shared = self.lock();
        shared.used = shared.used.saturating_sub(bytes);
        let holder = &mut shared.holders[self.holder];
        holder.bytes = holder.bytes.saturating_sub(bytes);
    }

    fn idle(&self, bytes: u64) {
        let mut shared = self.lock();
        shared.holders[self.holder].idle_bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_who_holds_what_and_what_would_help() {
        let one = LocalCredit::new(100, "one");
        let two = one.holder("two");
        one.take(60, Why::Commit).unwrap();
        one.idle(10);
        let short = two.take(50, Why::Commit).unwrap_err();
        assert_eq!((short.asked, short.limit, short.used), (50, 100, 60));
        assert_eq!(short.verdict, Verdict::AfterFreeing);
        let holder = Holder { name: "one".into(), bytes: 60, idle_bytes: 10, user: None };
        assert_eq!(short.holders, [holder]);
        assert_eq!(two.take(101, Why::Ahead).unwrap_err().verdict, Verdict::Never);
        two.take(40, Why::Ahead).unwrap();
        one.set_limit(90);
        assert_eq!(two.take(1, Why::Commit).unwrap_err().verdict, Verdict::OverBudget);
        one.give(60);
        two.give(40);
        assert_eq!(two.used(), 0);
    }

    #[test]
    fn a_holder_who_is_gone_leaves_its_place() {
        let one = LocalCredit::new(100, "one");
        for _ in 0..100 {
            let guest = one.holder("guest");
            guest.take(10, Why::Commit).unwrap();
            guest.give(10);
        }
        assert_eq!(one.used(), 0);
        assert_eq!(one.lock().holders.len(), 2);
        // What is held keeps its place, so that it is shown.
        one.holder("lost").take(5, Why::Commit).unwrap();
        let other = one.holder("other");
        assert_eq!((other.holders().len(), other.holders()[0].name.as_str()), (1, "lost"));
    }
}
