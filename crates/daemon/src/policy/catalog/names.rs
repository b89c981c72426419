//! Names: whose they are, and which ones are close to one that was not found.

use std::rc::Rc;

use millpond_wire::{TensorName, TensorRef};

use crate::policy::owner::{Caller, Owner};

/// Names that are compared when one was not found, and how long they may be: nobody else should
/// wait for a hint.
pub(super) const COMPARED_NAMES: usize = 2_000;
const COMPARED_BYTES: usize = 64;
const PROPOSED_NAMES: usize = 3;

/// A name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::policy) enum Scope {
    User(u32),
    Public,
}

/// A name with its tenant and its scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::policy) struct NameKey {
    pub tenant: Rc<str>,
    pub scope: Scope,
    pub name: TensorName,
}

impl NameKey {
    /// Where a name of this owner is found.
    pub(in crate::policy) fn new(owner: &Owner, name: &TensorName) -> Self {
        let scope = if name.is_public() { Scope::Public } else { Scope::User(owner.user) };
        Self { tenant: Rc::clone(&owner.tenant), scope, name: name.clone() }
    }

    /// What a name means to a caller: one's own, or exactly the owner's that was written.
    pub(in crate::policy) fn meant(caller: &Caller, name: &TensorRef) -> Self {
        let user = name.user.unwrap_or(caller.owner.user);
        Self::new(&Owner { user, ..caller.owner.clone() }, &name.name)
    }
}

/// Those of some names that are close to one that was not found.
pub(in crate::policy) fn similar<'a>(
    caller: &Caller,
    name: &TensorRef,
    among: impl Iterator<Item = &'a NameKey>,
) -> Vec<String> {
    let wanted = name.name.as_str();
    if wanted.len() > COMPARED_BYTES {
        return Vec::new();
    }
    let mut close: Vec<(bool, usize, String)> = among
        .take(COMPARED_NAMES)
        .filter(|key| key.name.as_str().len() <= COMPARED_BYTES)
        .filter_map(|NameKey { scope, name: found, .. }| {
            let distance = strsim::osa_distance(wanted, found.as_str());
            let shown = match scope {
                Scope::User(user) if *user != caller.owner.user => format!("~{user}/{found}"),
                _ => found.to_string(),
            };
            // Most letters agree, or a part of the path was left out.
            let letters = wanted.chars().count().max(found.as_str().chars().count());
            let ends_alike = found.as_str().rsplit('/').next() == wanted.rsplit('/').next();
            let goes_on = wanted.chars().count() > 1 && found.as_str().starts_with(wanted);
            let first = wanted.chars().next() == found.as_str().chars().next();
            let far = (letters / 3).max(usize::from(first));
            let alike = distance <= far || ends_alike || goes_on;
            alike.then_some((!begins_alike(wanted, found.as_str()), distance, shown))
        })
        .collect();
    close.sort();
    close.truncate(PROPOSED_NAMES);
    close.into_iter().map(|(_, _, name)| name).collect()
}

/// Whether two names have the same first part, or one begins with the other.
fn begins_alike(wanted: &str, found: &str) -> bool {
    let first = |name: &str| name.split_once('/').map(|(first, _)| first.to_owned());
    found.starts_with(wanted)
        || wanted.starts_with(found)
        || first(wanted).is_some_and(|part| first(found) == Some(part))
}

/// The name under `public/` that somebody may have meant who wrote a bare one.
pub(in crate::policy) fn public_of(name: &TensorRef) -> Option<TensorRef> {
    let public = name.user.is_none().then(|| name.name.in_public()).flatten()?;
    Some(TensorRef { user: None, name: public })
}

/// What to type where only the name under `public/` is there.
pub(in crate::policy) fn is_in_public(public: &TensorRef, owner: &Owner) -> String {
    let user = owner.user;
    format!("`{public}` exists and belongs to user {user}: write `{public}`")
}

/// What to type where a name was not found: the name that was meant, if it is clear which, else the
/// command that lists.
pub(in crate::policy) fn way_out(similar: &[String], command: &str) -> String {
    match similar {
        [only] => format!("did you mean '{only}'?"),
        _ => format!("`{command}` lists all of them"),
    }
}
