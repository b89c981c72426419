//! One version, and one model.

use std::collections::{BTreeSet, VecDeque};

use millpond_wire::message::VersionState;
use millpond_wire::record::{ReadyRecord, VersionRecord};
use millpond_wire::{
    Audience, ClientId, ErrorKind, Failure, GpuUuid, TensorId, TensorName, Token, VersionId,
    VersionTag,
};

use crate::policy::borrowers::Borrowers;
use crate::policy::catalog::NameKey;
use crate::policy::owner::{Caller, Owner};

/// Renames of a model whose repeats are recognised.
const RENAMES: usize = 4;
/// Swaps of a model whose repeats are recognised.
const SWAPS: usize = 8;

/// One version of a model.
#[derive(Debug)]
pub(in crate::policy) struct Version<F> {
    pub model: NameKey,
    pub tag: VersionTag,
    pub owner: Owner,
    pub device: GpuUuid,
    pub audience: Audience,
    /// Who stages it, or did.
    pub creator: ClientId,
    pub created_ms: u64,
    /// The slabs of its arena, in order.
    pub parts: Vec<TensorId>,
    /// Parts that it had before; who has a lease may still have them mapped.
    pub former: BTreeSet<TensorId>,
    pub state: VersionState,
    /// What its commit said; `None` if it never was complete.
    pub ready: Option<ReadyRecord>,
    /// Its manifest; `None` if it is not complete, or if it did not survive.
    pub manifest: Option<F>,
    /// Older than this daemon.
    pub recovered: bool,
    pub(super) borrowers: Borrowers,
}

impl<F> Version<F> {
    /// As people write it.
    pub(super) fn label(&self) -> String {
        format!("{}@{}", self.model.name, self.tag)
    }

    /// A version as its record says.
    pub(super) fn recorded(record: &VersionRecord, owner: Owner, recovered: bool) -> Self {
        Self {
            model: NameKey::new(&owner, &record.model),
            tag: record.tag.clone(),
            owner,
            device: record.device,
            audience: record.audience,
            creator: record.creator,
            created_ms: record.created_unix_ms,
            parts: record.parts.clone(),
            former: BTreeSet::new(),
            state: VersionState::Staging,
            ready: None,
            manifest: None,
            recovered,
            borrowers: Borrowers::none(record.borrowers_recorded),
        }
    }

    /// The record that says the same.
    pub(super) fn record(&self, id: VersionId) -> VersionRecord {
        VersionRecord {
            version: id,
            model: self.model.name.clone(),
            tag: self.tag.clone(),
            tenant: self.owner.tenant.to_string(),
            user: self.owner.user,
            group: self.owner.group,
            device: self.device,
            audience: self.audience,
            parts: self.parts.clone(),
            creator: self.creator,
            created_unix_ms: self.created_ms,
            borrowers_recorded: self.borrowers.are_recorded(),
        }
    }

    /// Whether a client of an earlier daemon may hold it, as long as it has not said what it holds.
    pub(super) fn may_be_held_by(&self, caller: &Caller) -> bool {
        self.recovered && self.borrowers.may_hold(caller, &self.owner, self.audience)
    }

    /// Everything that must not go before this version does.
    pub(super) fn keeps(&self) -> impl Iterator<Item = TensorId> {
        self.parts.iter().copied().chain(self.former.iter().copied())
    }
}

/// A model. It is there as long as it has a version.
#[derive(Debug)]
pub(in crate::policy) struct Model {
    pub owner: Owner,
    /// In the order in which they were begun.
    pub versions: Vec<VersionId>,
    pub current: Option<VersionId>,
    /// Those that were current before, newest last.
    pub history: Vec<VersionId>,
    /// The last swaps, oldest first, each with what was current before it.
    pub swaps: VecDeque<(Token, Option<VersionTag>)>,
    /// The last renames, oldest first.
    pub renames: VecDeque<Token>,
}

impl Model {
    pub(super) fn new(owner: Owner) -> Self {
        let (versions, history) = (Vec::new(), Vec::new());
        let (swaps, renames) = (VecDeque::new(), VecDeque::new());
        Self { owner, versions, current: None, history, swaps, renames }
    }

    pub(super) fn remember(&mut self, token: Token, previous: Option<VersionTag>) {
        if self.swaps.len() == SWAPS {
            self.swaps.pop_front();
        }
        self.swaps.push_back((token, previous));
    }

    /// A rename, so that its repeat is recognised.
    pub(super) fn renamed(&mut self, token: Token) {
        if self.renames.len() == RENAMES {
            self.renames.pop_front();
        }
        self.renames.push_back(token);
    }

    /// The version is not current any more, nor to be rolled back to.
    pub(super) fn forget(&mut self, id: VersionId) {
        self.history.retain(|other| *other != id);
        if self.current == Some(id) {
            self.current = None;
            // The journal says of swaps only what leads to a current version.
            self.swaps.clear();
        }
    }
}

/// The version takes no new readers.
pub(super) fn retired(label: &str, current: Option<&VersionTag>) -> Failure {
    let message = match current {
        Some(current) => format!("{label} is retired; the current version is {current}"),
        None => format!("{label} is retired"),
    };
    let failure = Failure::new(ErrorKind::Retired, message);
    match current {
        Some(_) => failure.hint("attach without a version to get the current one"),
        None => failure.hint("`millpond models` lists the models"),
    }
}

/// The record survived, but memory or manifest did not.
pub(super) fn lost(model: &TensorName, tag: &VersionTag) -> Failure {
    Failure::new(ErrorKind::Lost, format!("the memory of {model}@{tag} is lost"))
        .hint(format!("`millpond retire {model} {tag}` and load it again"))
}
