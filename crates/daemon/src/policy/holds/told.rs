//! Requests about holds that were done: a repeat of one changes nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};

use millpond_wire::Token;
use millpond_wire::record::HoldTold;

/// Requests of one user that are remembered: more than a client has on its way at a time, so that a
/// repeat after a lost answer is among them.
const REMEMBERED: usize = 1024;

/// By the user who asked.
#[derive(Debug, Default)]
pub(super) struct Told {
    users: BTreeMap<u32, OfUser>,
}

#[derive(Debug, Default)]
struct OfUser {
    by_token: HashMap<Token, HoldTold>,
    by_age: VecDeque<Token>,
}

impl Told {
    pub(super) fn get(&self, user: u32, token: Token) -> Option<&HoldTold> {
        self.users.get(&user)?.by_token.get(&token)
    }

    pub(super) fn remember(&mut self, told: HoldTold) {
        let known = self.users.entry(told.user).or_default();
        let token = told.token;
        if known.by_token.insert(token, told).is_some() {
            return;
        }
        known.by_age.push_back(token);
        if known.by_age.len() > REMEMBERED
            && let Some(oldest) = known.by_age.pop_front()
        {
            known.by_token.remove(&oldest);
        }
    }

    /// All of them, of each user the oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = HoldTold> {
        let tokens = self
            .users
            .values()
            .flat_map(|known| known.by_age.iter().filter_map(|token| known.by_token.get(token)));
        tokens.cloned()
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::TensorId;

    use super::*;

    fn told(user: u32, token: Token) -> HoldTold {
        HoldTold { user, token, tensor: TensorId::random(), answer: None, create: None }
    }

    #[test]
    fn the_oldest_requests_of_a_user_are_forgotten_and_nobody_elses() {
        let mut all = Told::default();
        let (first, other) = (Token::random(), Token::random());
        all.remember(told(1, first));
        all.remember(told(2, other));
        for _ in 1..REMEMBERED {
            all.remember(told(1, Token::random()));
        }
        assert!(all.get(1, first).is_some() && all.get(2, first).is_none());
        let last = Token::random();
        all.remember(told(1, last));
        all.remember(told(1, last));
        assert!(all.get(1, first).is_none() && all.get(1, last).is_some());
        assert!(all.get(2, other).is_some());
        assert_eq!(all.all().count(), REMEMBERED + 1);
    }
}
