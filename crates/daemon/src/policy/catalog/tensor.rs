//! One tensor.

use millpond_wire::message::TensorState;
use millpond_wire::record::TensorRecord;
use millpond_wire::{ClientId, Dtype, Shape, SlabId, TensorId, TensorName, Token};

/// Renames of a tensor before the last one whose repeats are recognised.
const EARLIER_RENAMES: usize = 3;
/// Publishes before the last one whose repeats are recognised.
const EARLIER_PUBLISHES: usize = 3;

/// Whether readers may have a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Writing,
    Ready,
    /// No new leases; it may have been published before.
    Deleted {
        was_ready: bool,
    },
}

/// What a tensor ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Lasting,
    /// With its creator's process.
    Ephemeral,
    /// With its last hold.
    Held,
    /// A slab of a version's arena: it lives as long as a version has it.
    Part,
}

/// A range of a slab with a dtype and a shape.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Tensor {
    /// Name inside its owner's scope.
    pub name: Option<TensorName>,
    pub dtype: Dtype,
    pub shape: Shape,
    pub bytes: u64,
    /// Where it lies; the slab knows GPU, owner and audience.
    pub slab: SlabId,
    /// Where in the slab it begins.
    pub offset: u64,
    pub publishes: Publishes,
    pub creator: ClientId,
    pub created_ms: u64,
    /// Older than this daemon.
    pub recovered: bool,
    pub life: Times,
    pub(super) state: State,
    pub(super) kind: Kind,
    /// Behind a pointer: most tensors keep their name, and a pond may have a million of them.
    pub(super) renames: Option<Box<Renames>>,
}

/// What a tensor's life is made of. Times are on the clock that never jumps.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct Times {
    /// The time that it was given, if this daemon gave it.
    pub ttl_ms: Option<u64>,
    /// When that is over.
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
    pub(super) ends_ms: Option<u64>,
}

/// The publishes of a tensor.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct Publishes {
    /// How many there were.
    pub generation: u64,
    last: Option<Token>,
    /// Some before the last one, with their generations; the next daemon knows only the last.
    earlier: Vec<(Token, u64)>,
}

impl Publishes {
    /// The generation that this publish made, if it is a repeat.
    pub(in crate::policy) fn by(&self, token: Token) -> Option<u64> {
        if self.last == Some(token) {
            return Some(self.generation);
        }
        let mut earlier = self.earlier.iter();
        earlier.find(|(known, _)| *known == token).map(|(_, generation)| *generation)
    }

    pub(super) fn add(&mut self, token: Token, generation: u64) {
        let before = std::mem::replace(&mut self.generation, generation);
        if let Some(last) = self.last.replace(token) {
            if self.earlier.len() == EARLIER_PUBLISHES {
                self.earlier.remove(0);
            }
            self.earlier.push((last, before));
        }
    }
}

/// The renames of a tensor whose repeats are recognised.
#[derive(Clone, Debug)]
pub(super) struct Renames {
    last: Token,
    /// The next daemon knows only the last one.
    earlier: Vec<Token>,
}

impl Tensor {
    /// A tensor as its record says.
    pub(in crate::policy) fn recorded(record: &TensorRecord, recovered: bool) -> Self {
        let state = match (record.deleted, record.ready) {
            (true, was_ready) => State::Deleted { was_ready },
            (false, true) => State::Ready,
            (false, false) => State::Writing,
        };
        let kind = match (record.part, record.held, record.ephemeral) {
            (true, ..) => Kind::Part,
            (_, true, _) => Kind::Held,
            (.., true) => Kind::Ephemeral,
            (false, false, false) => Kind::Lasting,
        };
        Self {
            name: record.name.clone(),
            dtype: record.dtype,
            shape: record.shape.clone(),
            bytes: record.bytes,
            slab: record.slab,
            offset: record.offset,
            publishes: Publishes {
                generation: record.generation,
                last: record.published,
                earlier: Vec::new(),
            },
            creator: record.creator,
            created_ms: record.created_unix_ms,
            recovered,
            life: Times {
                expires_ms: record.expires_boot_ms,
                linger_ms: record.linger_ms,
                accesses_left: record.accesses_left,
                ..Times::default()
            },
            state,
            kind,
            renames: record.renamed.map(|last| Box::new(Renames { last, earlier: Vec::new() })),
        }
    }

    /// A tensor that was made just now.
    pub(in crate::policy) fn made(record: &TensorRecord, ttl_ms: Option<u64>, now_ms: u64) -> Self {
        let mut tensor = Self::recorded(record, false);
        tensor.life.ttl_ms = ttl_ms;
        tensor.life.unleased_ms = now_ms;
        tensor
    }

    /// The record that says the same as the tensor's whole history.
    pub(in crate::policy) fn record(&self, id: TensorId) -> TensorRecord {
        TensorRecord {
            tensor: id,
            name: self.name.clone(),
            dtype: self.dtype,
            shape: self.shape.clone(),
            slab: self.slab,
            offset: self.offset,
            bytes: self.bytes,
            ready: self.is_ready(),
            generation: self.publishes.generation,
            ephemeral: self.is_ephemeral(),
            creator: self.creator,
            created_unix_ms: self.created_ms,
            published: self.publishes.last,
            deleted: self.is_deleted(),
            expires_boot_ms: self.life.expires_ms,
            linger_ms: self.life.linger_ms,
            accesses_left: self.life.accesses_left,
            part: self.is_part(),
            renamed: self.renames.as_ref().map(|renames| renames.last),
            held: self.is_held(),
            hold: None,
        }
    }

    /// Published, if only before it was deleted.
    pub(in crate::policy) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Deleted { was_ready: true })
    }

    /// Nobody gets a new lease on it.
    pub(in crate::policy) fn is_deleted(&self) -> bool {
        matches!(self.state, State::Deleted { .. })
    }

    /// Ends with its creator's process.
    pub(in crate::policy) fn is_ephemeral(&self) -> bool {
        self.kind == Kind::Ephemeral
    }

    /// Lives as long as it is held.
    pub(in crate::policy) fn is_held(&self) -> bool {
        self.kind == Kind::Held
    }

    /// A slab of a version's arena.
    pub(in crate::policy) fn is_part(&self) -> bool {
        self.kind == Kind::Part
    }

    /// The state as everybody is told.
    pub(in crate::policy) fn state(&self) -> TensorState {
        match self.state {
            State::Deleted { .. } => TensorState::Deleted,
            State::Ready => TensorState::Ready,
            State::Writing => TensorState::Writing,
        }
    }

    /// Its name, or its identity where it has none.
    pub(in crate::policy) fn label(&self, id: TensorId) -> String {
        self.name.as_ref().map_or_else(|| id.to_string(), ToString::to_string)
    }

    /// Whether a rename is a repeat.
    pub(in crate::policy) fn was_renamed_by(&self, token: Token) -> bool {
        let is_one = |renames: &Renames| renames.last == token || renames.earlier.contains(&token);
        self.renames.as_deref().is_some_and(is_one)
    }

    pub(super) fn become_ready(&mut self) {
        self.state = match self.state {
            State::Deleted { .. } => State::Deleted { was_ready: true },
            State::Writing | State::Ready => State::Ready,
        };
    }

    pub(super) fn become_deleted(&mut self) {
        self.state = State::Deleted { was_ready: self.is_ready() };
    }

    pub(super) fn add_rename(&mut self, token: Token) {
        match &mut self.renames {
            Some(renames) => {
                if renames.earlier.len() == EARLIER_RENAMES {
                    renames.earlier.remove(0);
                }
                renames.earlier.push(std::mem::replace(&mut renames.last, token));
            }
            none => *none = Some(Box::new(Renames { last: token, earlier: Vec::new() })),
        }
    }
}
