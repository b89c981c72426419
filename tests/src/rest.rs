//! A pond at rest: what it must come back to after whatever a test does to it.

use std::time::{Duration, Instant};

use crate::process::{descriptor_list, descriptors};
use crate::{Accounts, PATIENCE, TestPond, eventually};

/// Readings in a row that make a steady one, and the pause between two.
const STEADY: (u32, Duration) = (10, Duration::from_millis(20));

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    pub accounts: Accounts,
    pub clients: u32,
    pub daemon_fds: usize,
    pub keeper_fds: usize,
}

impl Rest {
    fn now(pond: &TestPond) -> Self {
        let accounts = pond.accounts();
        let status = pond.status();
        Self {
            accounts,
            clients: status.clients,
            daemon_fds: descriptors(status.daemon_pid),
            keeper_fds: descriptors(status.keeper_pid),
        }
    }

    /// The state of a pond that nothing happens to. A keeper that has just taken over still closes
    /// descriptors, so a reading counts when it stays the same.
    ///
    /// # Panics
    /// If it never stays the same.
    #[must_use]
    pub fn of(pond: &TestPond) -> Self {
        let mut before = Self::now(pond);
        let mut same = 0;
        eventually("a steady number of descriptors", || {
            std::thread::sleep(STEADY.1);
            let now = Self::now(pond);
            same = if now == before { same + 1 } else { 0 };
            before = now;
            (same >= STEADY.0).then(|| before.clone())
        })
    }

    /// Fewer descriptors than before are no leak.
    fn has_leaked_nothing_since(&self, before: &Self) -> bool {
        (&self.accounts, self.clients) == (&before.accounts, before.clients)
            && self.daemon_fds <= before.daemon_fds
            && self.keeper_fds <= before.keeper_fds
    }

    /// Waits until a pond has come back to this.
    ///
    /// # Errors
    /// What it had and has, with the descriptors of both processes, if it never does.
    pub fn is_reached_by(&self, pond: &TestPond) -> Result<(), String> {
        let start = Instant::now();
        loop {
            let now = Self::now(pond);
            if now.has_leaked_nothing_since(self) {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                let status = pond.status();
                let lists = [status.daemon_pid, status.keeper_pid].map(descriptor_list);
                return Err(format!(
                    "it was {self:?}, it is {now:?}; descriptors of daemon and keeper: {lists:?}"
                ));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_descriptor_more_is_a_leak_and_one_less_is_none() {
        let accounts = Accounts {
            slab_bytes: 0,
            tensor_bytes: 0,
            recycled_bytes: 0,
            slabs: 0,
            tensors: 0,
            leases: 0,
            lost: 0,
        };
        let before = Rest { accounts, clients: 1, daemon_fds: 35, keeper_fds: 16 };
        let with = |daemon_fds, keeper_fds| Rest { daemon_fds, keeper_fds, ..before.clone() };
        assert!(before.has_leaked_nothing_since(&before));
        assert!(with(35, 15).has_leaked_nothing_since(&before));
        assert!(!with(36, 16).has_leaked_nothing_since(&before));
        assert!(!with(35, 17).has_leaked_nothing_since(&before));
        let other = Rest { clients: 0, ..before.clone() };
        assert!(!other.has_leaked_nothing_since(&before));
    }
}
