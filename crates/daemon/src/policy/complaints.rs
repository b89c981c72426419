//! How many lines of the log one user can cause.
//!
//! Whoever sends nonsense on one connection after the other would fill a disk with what is said about
//! it. So each user has some lines at once and then one in a while; what is left out is counted, and
//! the count is said when there is room for a line again.

use std::collections::BTreeMap;

/// Lines about one user at once: enough to see what is wrong.
const BURST: u64 = 20;
/// And then one in so long: some 9,000 in a day.
const REFILL_MS: u64 = 10_000;
/// Users that are told apart; all others share one account. The memory of a few pages.
const USERS: usize = 1024;
/// Who has the shared account: the number that the kernel gives to nobody.
const OTHERS: u32 = u32::MAX;

/// What was said about whom.
#[derive(Debug, Default)]
pub struct Complaints {
    users: BTreeMap<u32, Account>,
    /// When the accounts with something left out are looked at again.
    due_ms: Option<u64>,
}

#[derive(Debug)]
struct Account {
    lines: u64,
    /// Since when the next line comes back.
    since_ms: u64,
    left_out: u64,
}

impl Account {
    fn refill(&mut self, now_ms: u64) {
        let back = now_ms.saturating_sub(self.since_ms) / REFILL_MS;
        self.lines = self.lines.saturating_add(back).min(BURST);
        self.since_ms = self.since_ms.saturating_add(back.saturating_mul(REFILL_MS));
        if self.lines == BURST {
            self.since_ms = now_ms;
        }
    }

    fn is_forgotten(&self) -> bool {
        self.lines == BURST && self.left_out == 0
    }
}

impl Complaints {
    /// Whether a line about this user may be logged now. If not, it is counted.
    pub fn may(&mut self, user: u32, now_ms: u64) -> bool {
        self.say_left_out(now_ms);
        let user = self.known(user, now_ms);
        let new = Account { lines: BURST, since_ms: now_ms, left_out: 0 };
        let account = self.users.entry(user).or_insert(new);
        account.refill(now_ms);
        if account.lines > 0 && account.left_out == 0 {
            account.lines -= 1;
            return true;
        }
        account.left_out = account.left_out.saturating_add(1);
        self.due_ms.get_or_insert(now_ms.saturating_add(REFILL_MS));
        false
    }

    /// Says how many lines were left out, of those users who may have a line again. When to ask
    /// again.
    pub fn say_left_out(&mut self, now_ms: u64) -> Option<u64> {
        if self.due_ms? > now_ms {
            return self.due_ms;
        }
        let mut waits = false;
        for (user, account) in self.users.iter_mut().filter(|(_, account)| account.left_out > 0) {
            account.refill(now_ms);
            if account.lines == 0 {
                waits = true;
                continue;
            }
            account.lines -= 1;
            let left_out = std::mem::take(&mut account.left_out);
            match *user {
                OTHERS => tracing::warn!("{left_out} lines about other users were left out"),
                user => tracing::warn!(user, "{left_out} lines about this user were left out"),
            }
        }
        self.due_ms = waits.then(|| now_ms.saturating_add(REFILL_MS));
        self.due_ms
    }

    fn known(&mut self, user: u32, now_ms: u64) -> u32 {
        if self.users.len() >= USERS && !self.users.contains_key(&user) {
            self.users.retain(|_, account| {
                account.refill(now_ms);
                !account.is_forgotten()
            });
        }
        if self.users.len() >= USERS && !self.users.contains_key(&user) { OTHERS } else { user }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(complaints: &mut Complaints, user: u32, now_ms: u64, tries: u64) -> u64 {
        (0..tries).map(|_| u64::from(complaints.may(user, now_ms))).sum()
    }

    #[test]
    fn one_user_has_a_burst_and_then_a_line_in_a_while_and_others_do_not_notice() {
        let mut complaints = Complaints::default();
        assert_eq!(allowed(&mut complaints, 1, 0, 1000), BURST);
        assert_eq!(allowed(&mut complaints, 2, 0, 5), 5);
        // The line that comes back says how many were left out.
        assert_eq!(complaints.say_left_out(REFILL_MS - 1), Some(REFILL_MS));
        assert_eq!(complaints.say_left_out(REFILL_MS), None);
        assert_eq!(allowed(&mut complaints, 1, REFILL_MS, 10), 0);
        assert_eq!(allowed(&mut complaints, 1, 3 * REFILL_MS, 10), 1, "one says so, one is a line");
        assert_eq!(allowed(&mut complaints, 1, 100 * REFILL_MS, 1000), BURST - 1);
    }

    #[test]
    fn a_million_users_cost_a_thousand_accounts() {
        let mut complaints = Complaints::default();
        for user in 0..100_000 {
            complaints.may(user, 0);
        }
        assert!(complaints.users.len() <= USERS + 1);
        assert!(!complaints.may(100_001, 0), "the shared account is used up");
        assert!(complaints.may(100_001, REFILL_MS * 2), "those who are quiet are forgotten");
    }
}
