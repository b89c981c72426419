//! Tensors by identity and by name, and when they end.

mod ended;
mod ends;
mod names;
mod tensor;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ops::Bound;

use millpond_wire::{ClientId, LeaseTarget, TensorId, TensorName, TensorRef, Token};
use uuid::Uuid;

use super::owner::{Caller, Owner};
use crate::accounts::{Accounts, Resource};
use ended::EndedNames;
use ends::Ends;
use names::COMPARED_NAMES;
pub(super) use names::{NameKey, is_in_public, public_of, similar, way_out};
use tensor::Kind;
pub(super) use tensor::Tensor;

/// Identities of deleted tensors that are remembered, so that a repeated delete gets the same
/// answer.
const TOMBSTONES: usize = 65_536;

#[derive(Debug)]
pub(super) struct Catalog {
    tensors: BTreeMap<TensorId, Tensor>,
    names: BTreeMap<NameKey, TensorId>,
    accounts: Accounts,
    /// What ends with its creator, and is not deleted yet.
    ephemeral: BTreeSet<(ClientId, TensorId)>,
    tombstones: HashSet<LeaseTarget>,
    tombstones_by_age: VecDeque<LeaseTarget>,
    ends: Ends,
    ended: EndedNames,
}

impl Catalog {
    /// An empty one, whose tensors are on these accounts.
    pub(super) fn new(accounts: Accounts) -> Self {
        Self {
            tensors: BTreeMap::new(),
            names: BTreeMap::new(),
            accounts,
            ephemeral: BTreeSet::new(),
            tombstones: HashSet::new(),
            tombstones_by_age: VecDeque::new(),
            ends: Ends::default(),
            ended: EndedNames::default(),
        }
    }

    /// Adds a tensor of `owner`.
    pub(super) fn insert(&mut self, id: TensorId, owner: &Owner, tensor: Tensor) {
        if !tensor.is_deleted() {
            if let Some(name) = &tensor.name {
                self.names.insert(NameKey::new(owner, name), id);
            }
            if tensor.is_ephemeral() {
                self.ephemeral.insert((tensor.creator, id));
            }
        }
        let counts = !tensor.is_part();
        if self.tensors.insert(id, tensor).is_none() && counts {
            self.accounts.of(&owner.tenant, owner.user).add(Resource::Tensors, 1);
        }
    }

    pub(super) fn get(&self, id: TensorId) -> Option<&Tensor> {
        self.tensors.get(&id)
    }

    /// Whether a tensor has this identity, which no version may have then.
    pub(super) fn has(&self, id: Uuid) -> bool {
        self.tensors.contains_key(&TensorId(id))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.tensors.iter().map(|(id, tensor)| (*id, tensor))
    }

    /// Those that come after one in their order.
    pub(super) fn after(&self, id: Option<TensorId>) -> impl Iterator<Item = (TensorId, &Tensor)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.tensors.range((from, Bound::Unbounded)).map(|(id, tensor)| (*id, tensor))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.tensors.len()
    }

    /// The tensor that already has a name in its owner's scope.
    pub(super) fn named(&self, owner: &Owner, name: &TensorName) -> Option<TensorId> {
        self.names.get(&NameKey::new(owner, name)).copied()
    }

    /// The tensor that a name means to a caller.
    pub(super) fn resolve(&self, caller: &Caller, name: &TensorRef) -> Option<TensorId> {
        self.names.get(&NameKey::meant(caller, name)).copied()
    }

    /// Gives a tensor of `owner` a name that is free; from then on it does not end with its
    /// creator.
    pub(super) fn name(&mut self, id: TensorId, owner: &Owner, name: TensorName) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            self.names.insert(NameKey::new(owner, &name), id);
            tensor.name = Some(name);
            if tensor.is_ephemeral() {
                tensor.kind = Kind::Lasting;
            }
            self.ephemeral.remove(&(tensor.creator, id));
        }
    }

    /// Gives a tensor of `owner` another name that is free.
    pub(super) fn rename(&mut self, id: TensorId, owner: &Owner, name: TensorName, token: Token) {
        let Some(tensor) = self.tensors.get_mut(&id) else { return };
        if let Some(old) = &tensor.name {
            let old = NameKey::new(owner, old);
            if self.names.get(&old) == Some(&id) {
                self.names.remove(&old);
            }
        }
        if !tensor.is_deleted() {
            self.names.insert(NameKey::new(owner, &name), id);
        }
        tensor.name = Some(name);
        tensor.add_rename(token);
    }

    /// What a publish changes, now or when it is replayed; not the name.
    pub(super) fn publish(&mut self, id: TensorId, token: Token, generation: u64) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            tensor.become_ready();
            tensor.publishes.add(token, generation);
        }
    }

    /// A version is ready, and with it its parts.
    pub(super) fn part_is_ready(&mut self, id: TensorId) {
        if let Some(tensor) = self.tensors.get_mut(&id).filter(|tensor| tensor.is_part()) {
            tensor.become_ready();
        }
    }

    /// Takes the name away; the tensor stays for its leases.
    pub(super) fn delete(&mut self, id: TensorId, owner: &Owner) {
        let Some(tensor) = self.tensors.get_mut(&id) else { return };
        tensor.become_deleted();
        self.ephemeral.remove(&(tensor.creator, id));
        if let Some(name) = &tensor.name {
            let key = NameKey::new(owner, name);
            if self.names.get(&key) == Some(&id) {
                self.names.remove(&key);
            }
        }
    }

    /// Takes a tensor out of the books.
    pub(super) fn remove(&mut self, id: TensorId, owner: &Owner) -> Option<Tensor> {
        self.bury(id);
        let tensor = self.tensors.remove(&id)?;
        self.ephemeral.remove(&(tensor.creator, id));
        if !tensor.is_part() {
            self.accounts.of(&owner.tenant, owner.user).give(Resource::Tensors, 1);
        }
        Some(tensor)
    }

    /// Remembers that this identity was once a tensor or a version.
    pub(super) fn bury(&mut self, id: impl Into<LeaseTarget>) {
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
    pub(super) fn is_buried(&self, id: impl Into<LeaseTarget>) -> bool {
        self.tombstones.contains(&id.into())
    }

    /// The youngest of the remembered ones.
    pub(super) fn buried(&self, most: usize) -> impl Iterator<Item = LeaseTarget> {
        let skip = self.tombstones_by_age.len().saturating_sub(most);
        self.tombstones_by_age.iter().skip(skip).copied()
    }

    /// What ends with this client.
    pub(super) fn ephemeral_of(&self, creator: ClientId) -> impl Iterator<Item = TensorId> {
        let (first, last) = (TensorId(Uuid::nil()), TensorId(Uuid::max()));
        let theirs = self.ephemeral.range((creator, first)..=(creator, last));
        theirs.map(|(_, id)| *id)
    }

    /// Every client that something ends with.
    pub(super) fn creators_of_ephemeral(&self) -> Vec<ClientId> {
        let mut creators: Vec<ClientId> = self.ephemeral.iter().map(|(by, _)| *by).collect();
        creators.dedup();
        creators
    }

    /// Names close to one that was not found, among those that `visible` lets through.
    pub(super) fn similar(
        &self,
        caller: &Caller,
        name: &TensorRef,
        visible: impl Fn(&Tensor) -> bool,
    ) -> Vec<String> {
        let tenant = &caller.owner.tenant;
        let names = self.names.iter().filter(|(key, _)| key.tenant == *tenant).take(COMPARED_NAMES);
        let seen = names.filter(|(_, id)| self.tensors.get(id).is_some_and(&visible));
        similar(caller, name, seen.map(|(key, _)| key))
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::record::TensorRecord;
    use millpond_wire::{Dtype, Shape, SlabId};

    use super::*;
    use crate::accounts::AllTerms;
    use crate::policy::owner::Door;

    fn catalog() -> Catalog {
        Catalog::new(Accounts::new(AllTerms::NONE, 0))
    }

    fn count_of(catalog: &Catalog, user: u32) -> u64 {
        catalog.accounts.of(&"local".into(), user).has(Resource::Tensors)
    }

    fn owner(user: u32) -> Owner {
        Owner { tenant: "local".into(), user, group: 1 }
    }

    fn caller(user: u32) -> Caller {
        Caller { owner: owner(user), groups: [].into(), door: Door::Users }
    }

    fn tensor(name: &str) -> Tensor {
        let record = TensorRecord {
            tensor: TensorId::random(),
            name: Some(TensorName::new(name).unwrap()),
            dtype: Dtype::U8,
            shape: Shape::new([1]).unwrap(),
            slab: SlabId::random(),
            offset: 0,
            bytes: 1,
            ready: true,
            generation: 1,
            ephemeral: false,
            creator: ClientId::random(),
            created_unix_ms: 0,
            published: None,
            deleted: false,
            expires_boot_ms: None,
            linger_ms: None,
            accesses_left: None,
            part: false,
            renamed: None,
            held: false,
            hold: None,
        };
        Tensor::recorded(&record, false)
    }

    fn put(catalog: &mut Catalog, user: u32, name: &str) -> TensorId {
        let id = TensorId::random();
        catalog.insert(id, &owner(user), tensor(name));
        id
    }

    #[test]
    fn a_bare_name_is_ones_own_and_nothing_else() {
        let mut catalog = catalog();
        let mine = put(&mut catalog, 1, "x");
        let public = put(&mut catalog, 2, "public/x");
        let shared = put(&mut catalog, 2, "public/y");
        let other = put(&mut catalog, 2, "z");
        let find =
            |catalog: &Catalog, name: &str| catalog.resolve(&caller(1), &name.parse().unwrap());
        assert_eq!(find(&catalog, "x"), Some(mine));
        assert_eq!(find(&catalog, "public/x"), Some(public));
        assert_eq!(find(&catalog, "y"), None);
        assert_eq!(find(&catalog, "public/y"), Some(shared));
        assert_eq!(find(&catalog, "z"), None);
        assert_eq!(find(&catalog, "~2/z"), Some(other));
        catalog.delete(mine, &owner(1));
        assert_eq!(find(&catalog, "x"), None);
        assert!(catalog.get(mine).is_some_and(Tensor::is_deleted));
        assert_eq!(count_of(&catalog, 1), 1);
        catalog.remove(mine, &owner(1));
        assert!(catalog.is_buried(mine) && catalog.get(mine).is_none());
        assert_eq!((count_of(&catalog, 1), count_of(&catalog, 2)), (0, 3));
    }

    #[test]
    fn a_deleted_tensor_does_not_take_its_successors_name() {
        let mut catalog = catalog();
        let first = put(&mut catalog, 1, "x");
        catalog.delete(first, &owner(1));
        let second = put(&mut catalog, 1, "x");
        catalog.delete(first, &owner(1));
        assert_eq!(catalog.resolve(&caller(1), &"x".parse().unwrap()), Some(second));
    }

    #[test]
    fn close_names_are_proposed_closest_first() {
        let mut catalog = catalog();
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
