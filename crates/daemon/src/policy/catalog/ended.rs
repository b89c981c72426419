//! Names of tensors that have ended, so that whoever asks for one is told why it is gone.
//!
//! They are not in the journal: the next daemon only says that there is no such tensor.

use std::collections::{BTreeMap, VecDeque};

use millpond_wire::{Audience, TensorName, TensorRef};

use super::Catalog;
use super::names::NameKey;
use crate::policy::owner::{Caller, Owner};

/// Names that are remembered: more than one person makes in the time in which the answer is of use,
/// and a few hundred kilobytes with the longest names.
const KEPT: usize = 1024;

#[derive(Clone, Debug)]
pub(in crate::policy) struct Ended {
    /// On the clock that never jumps.
    pub at_ms: u64,
    /// In the words of the event.
    pub why: String,
    owner: Owner,
    audience: Audience,
}

#[derive(Debug, Default)]
pub(super) struct EndedNames {
    by_name: BTreeMap<NameKey, Ended>,
    /// Oldest first; a name that ended again is in it again.
    by_age: VecDeque<(NameKey, u64)>,
}

impl EndedNames {
    pub(super) fn remember(
        &mut self,
        name: &TensorName,
        owner: &Owner,
        audience: Audience,
        at_ms: u64,
        why: &str,
    ) {
        let (key, why) = (NameKey::new(owner, name), why.to_owned());
        self.by_age.push_back((key.clone(), at_ms));
        self.by_name.insert(key, Ended { at_ms, why, owner: owner.clone(), audience });
        if self.by_age.len() > KEPT
            && let Some((oldest, at_ms)) = self.by_age.pop_front()
            && self.by_name.get(&oldest).is_some_and(|ended| ended.at_ms == at_ms)
        {
            self.by_name.remove(&oldest);
        }
    }

    /// What a name meant to a caller, by the rule by which names are found.
    pub(super) fn find(&self, caller: &Caller, name: &TensorRef) -> Option<&Ended> {
        let found = self.by_name.get(&NameKey::meant(caller, name));
        found.filter(|ended| caller.may_use(&ended.owner, ended.audience))
    }
}

impl Catalog {
    /// Remembers why a name is gone.
    pub(in crate::policy) fn remember_end(
        &mut self,
        name: &TensorName,
        owner: &Owner,
        audience: Audience,
        at_ms: u64,
        why: &str,
    ) {
        self.ended.remember(name, owner, audience, at_ms, why);
    }

    /// Why a name is gone that a caller asks for.
    pub(in crate::policy) fn find_ended(
        &self,
        caller: &Caller,
        name: &TensorRef,
    ) -> Option<&Ended> {
        self.ended.find(caller, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::owner::Door;

    #[test]
    fn only_so_many_names_are_remembered_and_only_for_those_who_may_know() {
        let owner = Owner { tenant: "local".into(), user: 1, group: 1 };
        let caller = |user| Caller {
            owner: Owner { user, group: user, ..owner.clone() },
            groups: [].into(),
            door: Door::Users,
        };
        let mut ended = EndedNames::default();
        for at in 0..2 * KEPT as u64 {
            let name = TensorName::new(format!("x{at}")).unwrap();
            ended.remember(&name, &owner, Audience::User, at, "over");
        }
        assert_eq!((ended.by_name.len(), ended.by_age.len()), (KEPT, KEPT));
        let find = |user, name: &str| ended.find(&caller(user), &name.parse().unwrap());
        assert!(find(1, "x0").is_none());
        assert_eq!(find(1, "x2047").map(|ended| ended.why.as_str()), Some("over"));
        assert!(find(2, "~1/x2047").is_none());
    }
}
