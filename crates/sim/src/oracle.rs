//! What was promised, as an observer outside knows it: every answer, every placement.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_wire::message::{ReplyBody, TensorAdopt, TensorCreate, TensorInfo};
use millpond_wire::{Audience, Epoch, PondId, SlabId, TensorId, TransportKind};

use crate::card::{Memory, places, tensor_of, word_of};
use crate::versions::KnownVersion;

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule, in a few words that never change.
    pub invariant: &'static str,
    pub detail: String,
}

impl Violation {
    /// The rule and the case.
    pub fn new(invariant: &'static str, detail: impl Into<String>) -> Self {
        Self { invariant, detail: detail.into() }
    }
}

/// Fails with a violation unless a condition holds.
///
/// # Errors
/// The violation.
pub fn ensure(
    holds: bool,
    invariant: &'static str,
    detail: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(invariant, detail())) }
}

/// What is known of one tensor from requests and answers.
#[derive(Clone, Debug)]
pub struct Known {
    pub id: TensorId,
    pub user: u32,
    pub audience: Audience,
    pub bytes: u64,
    pub zero: bool,
    /// Ends with its creator.
    pub ephemeral: bool,
    /// A publish was to name it, which makes it last.
    pub named_later: bool,
    /// Who asked for it.
    pub creator: u32,
    /// Its name, from its creation or a publish.
    pub name: Option<String>,
    /// Where it lies, once an answer has said so.
    pub place: Option<Place>,
    /// A slab of a version.
    pub part: bool,
    /// Its creator was told that it exists.
    pub created: bool,
    /// A publish of it was answered.
    pub published: bool,
    /// Its owner has asked for its end, or for another of its name.
    pub may_be_gone: bool,
    /// It lives as long as it is held.
    pub held: bool,
    /// Its owner was told that it is deleted.
    pub deleted: bool,
    /// Answers that said no to its creation.
    pub refusals: u32,
    /// How often its creation was sent.
    pub sends: u32,
    /// How often it was to have another name.
    pub renames: u32,
    /// The name that an answer has promised.
    pub renamed: Option<String>,
    pub transport: TransportKind,
    /// Its creator made the memory.
    pub adopted: bool,
    /// The memory is not what its creator says.
    pub wrong: bool,
    /// The process that keeps the memory, once an answer has said so.
    pub home: Option<u32>,
}

/// A range of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub slab: SlabId,
    pub offset: u64,
    pub bytes: u64,
}

impl Place {
    #[must_use]
    pub fn of(info: &TensorInfo) -> Self {
        Self { slab: info.slab, offset: info.offset, bytes: info.bytes }
    }

    /// Whether two ranges share a block.
    #[must_use]
    pub fn overlaps(&self, other: &Place) -> bool {
        let end = |place: &Place| place.offset + place.bytes.max(1);
        self.slab == other.slab && self.offset < end(other) && other.offset < end(self)
    }
}

#[derive(Debug, Default)]
pub struct Oracle {
    /// Every tensor that was ever asked for.
    pub tensors: Vec<Known>,
    pub index: BTreeMap<TensorId, usize>,
    /// In the order in which memory was handed out.
    placed: BTreeMap<SlabId, Vec<usize>>,
    pub(crate) serials: BTreeMap<SlabId, usize>,
    answers: BTreeMap<(u32, u64), (Epoch, Place, TensorId)>,
    /// Every version that was ever asked for.
    pub versions: Vec<KnownVersion>,
    /// The pond that has welcomed somebody.
    pub pond: Option<PondId>,
    /// Of the last daemon.
    pub epoch: u64,
    /// Processes that are gone.
    pub gone: Rc<RefCell<BTreeSet<u32>>>,
}

impl Oracle {
    /// One that sees which processes are gone.
    #[must_use]
    pub fn new(gone: Rc<RefCell<BTreeSet<u32>>>) -> Self {
        Self { gone, ..Self::default() }
    }

    /// A client will ask for this.
    pub fn asked(&mut self, creator: u32, user: u32, create: &TensorCreate) -> usize {
        let public = create.name.as_ref().is_some_and(|name| name.is_public());
        self.tensors.push(Known {
            id: create.tensor,
            user,
            audience: if public { Audience::Everybody } else { create.audience },
            bytes: create.shape.bytes(create.dtype).unwrap_or(0),
            zero: create.zero,
            ephemeral: create.ephemeral,
            named_later: false,
            creator,
            name: create.name.as_ref().map(ToString::to_string),
            place: None,
            part: false,
            created: false,
            published: false,
            may_be_gone: create.hold.is_some(),
            held: create.hold.is_some(),
            deleted: false,
            refusals: 0,
            sends: 0,
            renames: 0,
            renamed: None,
            transport: create.transport,
            adopted: false,
            wrong: false,
            home: None,
        });
        self.index.insert(create.tensor, self.tensors.len() - 1);
        self.tensors.len() - 1
    }

    /// A client will ask for its memory to be adopted.
    pub fn lent(&mut self, creator: u32, user: u32, adopt: &TensorAdopt, wrong: bool) -> usize {
        let public = adopt.name.as_ref().is_some_and(|name| name.is_public());
        self.tensors.push(Known {
            id: adopt.tensor,
            user,
            audience: if public { Audience::Everybody } else { adopt.audience },
            bytes: adopt.shape.bytes(adopt.dtype).unwrap_or(0),
            zero: false,
            ephemeral: false,
            named_later: false,
            creator,
            name: adopt.name.as_ref().map(ToString::to_string),
            place: None,
            part: false,
            created: false,
            published: false,
            may_be_gone: false,
            held: false,
            deleted: false,
            refusals: 0,
            sends: 0,
            renames: 0,
            renamed: None,
            transport: adopt.transport.kind(),
            adopted: true,
            wrong,
            home: None,
        });
        self.index.insert(adopt.tensor, self.tensors.len() - 1);
        self.tensors.len() - 1
    }

    /// Whether a tensor must be there.
    #[must_use]
    pub fn must_exist(&self, tensor: &Known, creator_lives: bool) -> bool {
        tensor.created
            && !tensor.may_be_gone
            && (!tensor.ephemeral || creator_lives)
            && !self.has_lost_home(tensor)
    }

    /// Whether the process that keeps the memory of a tensor is gone, or nobody knows which it is.
    #[must_use]
    pub fn has_lost_home(&self, tensor: &Known) -> bool {
        let lives = |pid: u32| !self.gone.borrow().contains(&pid);
        tensor.transport == TransportKind::Ipc && !tensor.home.is_some_and(lives)
    }

    /// An answer was sent: it must not contradict what was said before. Returns a tensor that has
    /// just got its place.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn answered(
        &mut self,
        epoch: Epoch,
        pid: u32,
        number: u64,
        body: &ReplyBody,
        memory: Option<&Rc<Memory>>,
    ) -> Result<Option<usize>, Violation> {
        let ReplyBody::Tensor(grant) = body else { return Ok(None) };
        let info = &grant.info;
        let Some(&tensor) = self.index.get(&info.tensor) else {
            return Err(Violation::new("a tensor nobody asked for", format!("{info:?}")));
        };
        let place = Place::of(info);
        if info.home_pid != 0 {
            let home = *self.tensors[tensor].home.get_or_insert(info.home_pid);
            ensure(home == info.home_pid, "a tensor stays where it is", || format!("{info:?}"))?;
        }
        if let Some(memory) = memory {
            let serial = *self.serials.entry(info.slab).or_insert(memory.serial);
            ensure(serial == memory.serial, "a slab is always the same memory", || {
                format!("{} was {serial} and is {}", info.slab, memory.serial)
            })?;
        }
        if let Some((before, said, id)) = self.answers.get(&(pid, number))
            && *before == epoch
            // Without a lease nothing says which tensor of that name it was.
            && grant.lease.is_some()
        {
            ensure((*said, *id) == (place, info.tensor), "a repeat gets the same answer", || {
                format!("pid {pid} number {number}: {said:?}, then {place:?}")
            })?;
        }
        self.answers.insert((pid, number), (epoch, place, info.tensor));
        if !self.learn(tensor, place)? {
            return Ok(None);
        }
        if let (true, Some(memory)) = (self.tensors[tensor].zero, memory) {
            let words = places(place.offset, place.bytes);
            let clean = words.iter().all(|at| memory.word(*at) == 0);
            ensure(clean, "zeroes were promised", || format!("{info:?}"))?;
        }
        Ok(Some(tensor))
    }

    /// Where a tensor lies; true if that is news.
    ///
    /// # Errors
    /// If it lay elsewhere.
    pub fn learn(&mut self, tensor: usize, place: Place) -> Result<bool, Violation> {
        if let Some(known) = self.tensors[tensor].place {
            ensure(known == place, "a tensor stays where it is", || {
                format!("{:?} is at {place:?}", self.tensors[tensor])
            })?;
            return Ok(false);
        }
        self.tensors[tensor].place = Some(place);
        let placed = self.placed.entry(place.slab).or_default();
        let is_used = self.tensors[tensor].transport == TransportKind::Ipc && !placed.is_empty();
        ensure(!is_used, "memory with a handle is used once", || format!("{place:?}"))?;
        placed.push(tensor);
        Ok(true)
    }

    /// Bytes of a tensor land, from whoever still had it mapped.
    ///
    /// # Errors
    /// If the range is another tensor's by now.
    pub fn write(&self, tensor: usize, memory: &Memory, who: &str) -> Result<(), Violation> {
        let Some(place) = self.tensors.get(tensor).and_then(|known| known.place) else {
            return Ok(());
        };
        for at in places(place.offset, place.bytes) {
            memory.write(at, word_of(tensor, place.offset, at));
        }
        let order = self.placed.get(&place.slab).map(Vec::as_slice).unwrap_or_default();
        let later = order.iter().skip_while(|other| **other != tensor).skip(1);
        for other in later {
            let taken = self.tensors[*other].place.is_some_and(|other| other.overlaps(&place));
            ensure(!taken, "nobody writes into another's memory", || {
                let (old, new) = (self.tensors[tensor].id, self.tensors[*other].id);
                format!("{who} wrote tensor {old} where {new} lies now")
            })?;
        }
        Ok(())
    }

    /// A holder looks at a tensor.
    ///
    /// # Errors
    /// If it sees what it must not.
    pub fn read(
        &self,
        tensor: usize,
        memory: &Memory,
        complete: bool,
        who: &str,
    ) -> Result<(), Violation> {
        let known = &self.tensors[tensor];
        let Some(place) = known.place else { return Ok(()) };
        for at in places(place.offset, place.bytes) {
            let (found, right) = (memory.word(at), word_of(tensor, place.offset, at));
            if found == right || (known.zero && found == 0) {
                continue;
            }
            ensure(!complete, "published bytes are what was written", || {
                format!("{who} found {found:#x} at {at} of {}, not {right:#x}", known.id)
            })?;
            let other = tensor_of(found).and_then(|other| self.tensors.get(other));
            let foreign = other
                .is_some_and(|other| (other.user, other.audience) != (known.user, known.audience));
            ensure(!foreign, "nobody sees another owner's bytes", || {
                format!("{who} found a word of {other:?} in {}", known.id)
            })?;
        }
        Ok(())
    }
}
