//! Tensors by identity and by name.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ops::Bound;
use std::rc::Rc;

use millpond_wire::record::TensorRecord;
use millpond_wire::{
    ClientId, Dtype, LeaseId, LeaseTarget, Shape, SlabId, TensorId, TensorName, TensorRef, Token,
};
use uuid::Uuid;

use super::owner::{Caller, Owner};

/// Identities of deleted tensors that are remembered, so that a repeated delete gets the same
/// answer.
const TOMBSTONES: usize = 65_536;
/// Renames of a tensor before the last one whose repeats are recognised.
const EARLIER_RENAMES: usize = 3;
/// Names that are compared when one was not found, and how long they may be: nobody else should
/// wait for a hint.
const COMPARED_NAMES: usize = 2_000;
const COMPARED_BYTES: usize = 64;
/// Names that are proposed.
const PROPOSED_NAMES: usize = 3;

/// A range of a slab with a dtype and a shape.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Name inside its owner's part.
    pub name: Option<TensorName>,
    /// Element type.
    pub dtype: Dtype,
    /// Extents.
    pub shape: Shape,
    /// Its bytes.
    pub bytes: u64,
    /// Where it lies; the slab knows GPU, owner and audience.
    pub slab: SlabId,
    /// Where in the slab it begins.
    pub offset: u64,
    /// Published.
    pub ready: bool,
    /// Counts publishes.
    pub generation: u64,
    /// The last publish.
    pub published: Option<Token>,
    /// Some before it, with their generations; the next daemon knows only the last one.
    pub earlier_publishes: Vec<(Token, u64)>,
    /// Behind a pointer: most tensors keep their name, and a pond may have a million of them.
    pub renames: Option<Box<Renames>>,
    /// Ends with its creator's process.
    pub ephemeral: bool,
    /// Who made it.
    pub creator: ClientId,
    /// When.
    pub created_ms: u64,
    /// No new leases.
    pub deleted: bool,
    /// Older than this daemon.
    pub recovered: bool,
    /// Who holds it.
    pub leases: BTreeSet<(ClientId, LeaseId)>,
    /// The time that it was given, if this daemon gave it.
    pub ttl_ms: Option<u64>,
    /// When that is over; this and the following times are on the clock that never jumps.
    pub expires_ms: Option<u64>,
    /// How long it stays without a lease.
    pub linger_ms: Option<u64>,
    /// How many gets are still answered.
    pub accesses_left: Option<u64>,
    /// How many this daemon has answered, where they are counted.
    pub accesses: u64,
    /// Since when nobody is known to hold it, while nobody does.
    pub unleased_ms: u64,
    /// Its place among the ends.
    pub ends_ms: Option<u64>,
    /// A slab of a version's arena: it lives as long as a version has it.
    pub part: bool,
}

impl Tensor {
    /// Whether a rename is a repeat.
    pub(super) fn was_renamed_by(&self, token: Token) -> bool {
        let is_one = |renames: &Renames| renames.last == token || renames.earlier.contains(&token);
        self.renames.as_deref().is_some_and(is_one)
    }
}

/// The renames of a tensor whose repeats are recognised.
#[derive(Clone, Debug)]
pub struct Renames {
    last: Token,
    /// The next daemon knows only the last one.
    earlier: Vec<Token>,
}

impl Renames {
    /// A tensor that had this rename last, if any.
    pub(super) fn recorded(last: Option<Token>) -> Option<Box<Renames>> {
        last.map(|last| Box::new(Renames { last, earlier: Vec::new() }))
    }

    fn add(&mut self, token: Token) {
        if self.earlier.len() == EARLIER_RENAMES {
            self.earlier.remove(0);
        }
        self.earlier.push(std::mem::replace(&mut self.last, token));
    }
}

/// Whose part of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Scope {
    User(u32),
    Public,
}

/// A name with its tenant and its part.
pub(super) type NameKey = (Rc<str>, Scope, TensorName);

/// All tensors.
#[derive(Debug, Default)]
pub struct Catalog {
    tensors: BTreeMap<TensorId, Tensor>,
    names: BTreeMap<NameKey, TensorId>,
    by_user: BTreeMap<(Rc<str>, u32), usize>,
    /// What ends with its creator, and is not deleted yet.
    ephemeral: BTreeSet<(ClientId, TensorId)>,
    tombstones: HashSet<LeaseTarget>,
    tombstones_by_age: VecDeque<LeaseTarget>,
}

/// Where a name of this owner is found.
pub(super) fn key(owner: &Owner, name: &TensorName) -> NameKey {
    let scope = if name.is_public() { Scope::Public } else { Scope::User(owner.user) };
    (Rc::clone(&owner.tenant), scope, name.clone())
}

fn user_key(owner: &Owner) -> (Rc<str>, u32) {
    (Rc::clone(&owner.tenant), owner.user)
}

impl Catalog {
    /// Adds a tensor of `owner`.
    pub fn insert(&mut self, id: TensorId, owner: &Owner, tensor: Tensor) {
        if !tensor.deleted {
            if let Some(name) = &tensor.name {
                self.names.insert(key(owner, name), id);
            }
            if tensor.ephemeral {
                self.ephemeral.insert((tensor.creator, id));
            }
        }
        let counts = !tensor.part;
        if self.tensors.insert(id, tensor).is_none() && counts {
            *self.by_user.entry(user_key(owner)).or_default() += 1;
        }
    }

    /// One tensor.
    #[must_use]
    pub fn get(&self, id: TensorId) -> Option<&Tensor> {
        self.tensors.get(&id)
    }

    /// One tensor, to be changed.
    pub fn get_mut(&mut self, id: TensorId) -> Option<&mut Tensor> {
        self.tensors.get_mut(&id)
    }

    /// Every tensor.
    pub fn iter(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.tensors.iter().map(|(id, tensor)| (*id, tensor))
    }

    /// Those that come after one in their order.
    pub fn after(&self, id: Option<TensorId>) -> impl Iterator<Item = (TensorId, &Tensor)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.tensors.range((from, Bound::Unbounded)).map(|(id, tensor)| (*id, tensor))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// How many a user has, slabs of versions not counted.
    #[must_use]
    pub fn count_of(&self, owner: &Owner) -> usize {
        self.by_user.get(&user_key(owner)).copied().unwrap_or(0)
    }

    /// The tensor that already has a name in its owner's part.
    #[must_use]
    pub fn named(&self, owner: &Owner, name: &TensorName) -> Option<TensorId> {
        self.names.get(&key(owner, name)).copied()
    }

    /// What a name means to a caller: one's own, then `public/`; or exactly the owner's that was
    /// written.
    #[must_use]
    pub fn resolve(&self, caller: &Caller, name: &TensorRef) -> Option<TensorId> {
        let own = Owner { user: name.user.unwrap_or(caller.owner.user), ..caller.owner.clone() };
        let found = self.named(&own, &name.name);
        if found.is_some() || name.user.is_some() {
            return found;
        }
        self.named(&own, &name.name.in_public()?)
    }

    /// Gives a tensor of `owner` a name that is free; from then on it does not end with its
    /// creator.
    pub fn name(&mut self, id: TensorId, owner: &Owner, name: TensorName) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            self.names.insert(key(owner, &name), id);
            tensor.name = Some(name);
            tensor.ephemeral = false;
            self.ephemeral.remove(&(tensor.creator, id));
        }
    }

    /// Gives a tensor of `owner` another name that is free.
    pub fn rename(&mut self, id: TensorId, owner: &Owner, name: TensorName, token: Token) {
        let Some(tensor) = self.tensors.get_mut(&id) else { return };
        if let Some(old) = &tensor.name {
            let old = key(owner, old);
            if self.names.get(&old) == Some(&id) {
                self.names.remove(&old);
            }
        }
        if !tensor.deleted {
            self.names.insert(key(owner, &name), id);
        }
        tensor.name = Some(name);
        match &mut tensor.renames {
            Some(renames) => renames.add(token),
            none => *none = Renames::recorded(Some(token)),
        }
    }

    /// Takes the name away; the tensor stays for its leases.
    pub fn delete(&mut self, id: TensorId, owner: &Owner) {
        let Some(tensor) = self.tensors.get_mut(&id) else { return };
        tensor.deleted = true;
        self.ephemeral.remove(&(tensor.creator, id));
        if let Some(name) = &tensor.name {
            let key = key(owner, name);
            if self.names.get(&key) == Some(&id) {
                self.names.remove(&key);
            }
        }
    }

    /// Takes a tensor out of the books.
    pub fn remove(&mut self, id: TensorId, owner: &Owner) -> Option<Tensor> {
        self.bury(id);
        let tensor = self.tensors.remove(&id)?;
        self.ephemeral.remove(&(tensor.creator, id));
        let key = user_key(owner);
        if !tensor.part
            && let Some(count) = self.by_user.get_mut(&key)
        {
            *count -= 1;
            if *count == 0 {
                self.by_user.remove(&key);
            }
        }
        Some(tensor)
    }

    /// Remembers that this identity was once a tensor or a version.
    pub fn bury(&mut self, id: impl Into<LeaseTarget>) {
        let id = id.into();
        if !self.tombstones.insert(id) {
            return;
        }
        self.tombstones_by_age.push_back(id);
        if self.tombstones_by_age.len() > TOMBSTONES
            && let Some(oldest) = self.tombstones_by_age.pop_front()
        {
            self.tombstones.remove(&oldest);
        }
    }

    /// Whether this identity was one of a tensor or a version that is gone.
    #[must_use]
    pub fn is_buried(&self, id: impl Into<LeaseTarget>) -> bool {
        self.tombstones.contains(&id.into())
    }

    /// The youngest of the remembered ones.
    pub fn buried(&self, most: usize) -> impl Iterator<Item = LeaseTarget> {
        let skip = self.tombstones_by_age.len().saturating_sub(most);
        self.tombstones_by_age.iter().skip(skip).copied()
    }

    /// What ends with this client.
    #[must_use]
    pub fn ephemeral_of(&self, creator: ClientId) -> Vec<TensorId> {
        let (first, last) = (TensorId(Uuid::nil()), TensorId(Uuid::max()));
        let theirs = self.ephemeral.range((creator, first)..=(creator, last));
        theirs.map(|(_, id)| *id).collect()
    }

    /// Every client that something ends with.
    #[must_use]
    pub fn creators_of_ephemeral(&self) -> Vec<ClientId> {
        let mut creators: Vec<ClientId> = self.ephemeral.iter().map(|(by, _)| *by).collect();
        creators.dedup();
        creators
    }

    /// Names close to one that was not found, among those that `visible` lets through.
    #[must_use]
    pub fn similar(
        &self,
        caller: &Caller,
        name: &TensorRef,
        visible: impl Fn(&Tensor) -> bool,
    ) -> Vec<String> {
        let tenant = &caller.owner.tenant;
        let names = self.names.iter().filter(|((of, _, _), _)| of == tenant).take(COMPARED_NAMES);
        let seen = names.filter(|(_, id)| self.tensors.get(id).is_some_and(&visible));
        similar(caller, name, seen.map(|(key, _)| key))
    }
}

/// Those of some names that are close to one that was not found.
pub(super) fn similar<'a>(
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
        .filter(|(_, _, found)| found.as_str().len() <= COMPARED_BYTES)
        .filter_map(|(_, scope, found)| {
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

/// What to type where a name was not found: the name that was meant, if it is clear which, else the
/// command that lists.
pub(super) fn way_out(similar: &[String], command: &str) -> String {
    match similar {
        [only] => format!("did you mean '{only}'?"),
        _ => format!("`{command}` shows what there is"),
    }
}

/// The record that says the same as a tensor's whole history.
pub(super) fn record_of(id: TensorId, tensor: &Tensor) -> TensorRecord {
    TensorRecord {
        tensor: id,
        name: tensor.name.clone(),
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        slab: tensor.slab,
        offset: tensor.offset,
        bytes: tensor.bytes,
        ready: tensor.ready,
        generation: tensor.generation,
        ephemeral: tensor.ephemeral,
        creator: tensor.creator,
        created_unix_ms: tensor.created_ms,
        published: tensor.published,
        deleted: tensor.deleted,
        expires_boot_ms: tensor.expires_ms,
        linger_ms: tensor.linger_ms,
        accesses_left: tensor.accesses_left,
        part: tensor.part,
        renamed: tensor.renames.as_ref().map(|renames| renames.last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(user: u32) -> Owner {
        Owner { tenant: "local".into(), user, group: 1 }
    }

    fn caller(user: u32) -> Caller {
        Caller { owner: owner(user), groups: [].into(), admin: false }
    }

    fn tensor(name: &str) -> Tensor {
        Tensor {
            name: Some(TensorName::new(name).unwrap()),
            dtype: Dtype::U8,
            shape: Shape::new([1]).unwrap(),
            bytes: 1,
            slab: SlabId::random(),
            offset: 0,
            ready: true,
            generation: 1,
            published: None,
            earlier_publishes: Vec::new(),
            renames: None,
            ephemeral: false,
            creator: ClientId::random(),
            created_ms: 0,
            deleted: false,
            recovered: false,
            leases: BTreeSet::new(),
            ttl_ms: None,
            expires_ms: None,
            linger_ms: None,
            accesses_left: None,
            accesses: 0,
            unleased_ms: 0,
            ends_ms: None,
            part: false,
        }
    }

    fn put(catalog: &mut Catalog, user: u32, name: &str) -> TensorId {
        let id = TensorId::random();
        catalog.insert(id, &owner(user), tensor(name));
        id
    }

    #[test]
    fn a_bare_name_is_ones_own_then_public() {
        let mut catalog = Catalog::default();
        let mine = put(&mut catalog, 1, "x");
        let public = put(&mut catalog, 2, "public/x");
        let shared = put(&mut catalog, 2, "public/y");
        let other = put(&mut catalog, 2, "z");
        let find =
            |catalog: &Catalog, name: &str| catalog.resolve(&caller(1), &name.parse().unwrap());
        assert_eq!(find(&catalog, "x"), Some(mine));
        assert_eq!(find(&catalog, "public/x"), Some(public));
        assert_eq!(find(&catalog, "y"), Some(shared));
        assert_eq!(find(&catalog, "z"), None);
        assert_eq!(find(&catalog, "~2/z"), Some(other));
        catalog.delete(mine, &owner(1));
        assert_eq!(find(&catalog, "x"), Some(public));
        assert!(catalog.get(mine).is_some_and(|tensor| tensor.deleted));
        assert_eq!(catalog.count_of(&owner(1)), 1);
        catalog.remove(mine, &owner(1));
        assert!(catalog.is_buried(mine) && catalog.get(mine).is_none());
        assert_eq!((catalog.count_of(&owner(1)), catalog.count_of(&owner(2))), (0, 3));
    }

    #[test]
    fn a_deleted_tensor_does_not_take_its_successors_name() {
        let mut catalog = Catalog::default();
        let first = put(&mut catalog, 1, "x");
        catalog.delete(first, &owner(1));
        let second = put(&mut catalog, 1, "x");
        catalog.delete(first, &owner(1));
        assert_eq!(catalog.resolve(&caller(1), &"x".parse().unwrap()), Some(second));
    }

    #[test]
    fn close_names_are_proposed_closest_first() {
        let mut catalog = Catalog::default();
        for name in ["acts/x", "acts/y", "weights/layer", "public/acts/xx"] {
            put(&mut catalog, 1, name);
        }
        let similar = catalog.similar(&caller(1), &"act/x".parse().unwrap(), |_| true);
        assert_eq!(similar, ["acts/x", "acts/y"]);
        assert!(catalog.similar(&caller(1), &"act/x".parse().unwrap(), |_| false).is_empty());
        for name in ["a:b", "b3", "g2", "sc", "net", "edge", "bcts/z"] {
            put(&mut catalog, 1, name);
        }
        let similar = |name: &str| catalog.similar(&caller(1), &name.parse().unwrap(), |_| true);
        for far in ["zzz", "nb/m", "4c22", "a*", "nope", "race"] {
            assert_eq!(similar(far), [""; 0], "{far}");
        }
        assert_eq!(similar("acts/z"), ["acts/x", "acts/y", "bcts/z"], "the same folder first");
        assert_eq!(similar("layer"), ["weights/layer"]);
        assert_eq!(similar("wei"), ["weights/layer"]);
    }
}
