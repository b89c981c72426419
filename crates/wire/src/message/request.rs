//! Every request, with what its kind says about it.
//!
//! A new kind is a table at the end of the schema's union, a struct with its codec in the file of
//! its family, and here a variant, a line of the table and an arm of each of the two matches.

use millpond_schema::message as fb;
use planus::{Builder, ReadAsRoot};

use super::read::{DecodeError, Read, is_unknown_kind};
use super::{
    CacheGave, CacheOpen, Claim, GroupJoin, GroupSet, Hello, Rename, Target, TensorAdopt,
    TensorCreate, TensorGet, TensorHold, TensorMove, TensorPage, TensorPublish, VersionCommit,
    VersionGet, VersionStage, cache, event, group, pond, session, tensor, transfer, version,
};
use crate::{
    CacheId, GpuUuid, GroupName, LeaseId, TensorId, TensorName, TensorRef, Token, VersionId,
    VersionTag, VersionTarget,
};

/// One request; its number comes back in the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Chosen by the client, unique on its connection, not zero.
    pub number: u64,
    pub body: RequestBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestBody {
    /// The first message of every connection.
    Hello(Hello),
    /// Leases of an earlier connection of the same process.
    Claim(Claim),
    /// The client has unmapped everything and goes.
    Goodbye,
    Ping,
    /// The pond, its GPUs and accounts.
    PondStatus,
    /// Who is connected and what it holds.
    ClientList,
    /// What users have of everything that is counted, and may have.
    AccountList,
    /// A new tensor, with or without a lease on it.
    TensorCreate(TensorCreate),
    /// Memory of the caller becomes a tensor.
    TensorAdopt(Box<TensorAdopt>),
    TensorGet(TensorGet),
    /// A hold, for a process that has no connection.
    TensorHold(TensorHold),
    /// One hold is given up; with the last one the tensor is deleted.
    TensorUnhold(TensorHold),
    /// The handle of a tensor that was made to be held.
    TensorPeek(Target),
    /// The tensor's bytes are complete.
    TensorPublish(TensorPublish),
    /// Bytes go into a tensor, out of it, or from one to another; answered when all have landed.
    TensorMove(TensorMove),
    /// Moves are about to be asked for: a mover may start before the first of them.
    MovesExpected {
        /// `None` means the pond's first GPU.
        device: Option<GpuUuid>,
        /// What the bytes are going to be called.
        name: Option<TensorName>,
    },
    /// No new leases; the memory goes when the last lease has ended.
    TensorDelete {
        tensor: TensorId,
    },
    /// The same, refused while anybody has a lease or a hold on it. Travels as
    /// [`RequestBody::TensorDelete`] with a flag.
    TensorDeleteUnused {
        tensor: TensorId,
    },
    TensorInspect(Target),
    /// Every tensor that is shared with the caller, or a page of them.
    TensorList {
        /// Only names that begin so.
        prefix: String,
        page: Option<TensorPage>,
    },
    /// These leases are unmapped.
    LeaseRelease {
        leases: Vec<LeaseId>,
    },
    /// Send events from now on.
    Subscribe {
        /// First sequence number wanted; zero means from now on.
        from: u64,
    },
    /// Gives back what nobody uses.
    Collect {
        /// Also tensors of the caller that nobody has leased for so long.
        unleased_for_ms: Option<u64>,
        /// Only say what would be given back.
        dry_run: bool,
    },
    /// Another daemon takes over.
    Upgrade {
        /// From this program; empty means the keeper's own.
        program: String,
    },
    /// How far the models of the configuration are loaded.
    StartReport {
        /// The one that is being loaded; empty means none.
        loading: String,
        /// One that could not be loaded, and why; empty means none.
        failed: String,
    },
    /// A version of a model begins.
    VersionStage(VersionStage),
    /// Its bytes are complete.
    VersionCommit(VersionCommit),
    VersionGet(VersionGet),
    VersionSlabs {
        version: VersionId,
        lease: LeaseId,
        /// The first slab that is wanted.
        first: u32,
        /// How many; fewer may come.
        count: u32,
    },
    /// A slab that a staged version shares becomes its own: a new one, without the bytes. Answered
    /// as [`RequestBody::VersionSlabs`].
    VersionPart {
        version: VersionId,
        /// Which of its slabs.
        index: u32,
    },
    /// No new leases on a version; one that is being staged is given up.
    VersionRetire(VersionTarget),
    /// The same, also if it is the current version and has readers. Travels as
    /// [`RequestBody::VersionRetire`] with a flag.
    VersionRemove(VersionTarget),
    /// Everything about one version, with its manifest.
    VersionInspect(VersionTarget),
    /// Another version of a model becomes current.
    ModelSwap {
        model: TensorRef,
        /// `None` means the one that was current before.
        tag: Option<VersionTag>,
        token: Token,
    },
    /// Every model that is shared with the caller.
    ModelList {
        /// Only names that begin so.
        prefix: String,
    },
    /// A group is made or changed; answered as [`RequestBody::GroupInspect`].
    GroupSet(GroupSet),
    /// A program is about to run in a group.
    GroupJoin(GroupJoin),
    GroupList,
    GroupInspect {
        group: GroupName,
    },
    /// A group without processes goes, and its limit with it.
    GroupRemove {
        group: GroupName,
    },
    /// A tensor gets another name, or the model of a version does.
    Rename(Rename),
    /// A process has a cache in a group.
    CacheOpen(Box<CacheOpen>),
    /// It has it no longer.
    CacheClose {
        cache: CacheId,
    },
    CacheList {
        /// Only those of this group.
        group: Option<GroupName>,
    },
    /// A cache waits for credit: others are asked to give way.
    CacheWant {
        cache: CacheId,
        bytes: u64,
        wait_ms: u64,
    },
    /// The answer to a [`Pressure`](super::Pressure).
    CacheGave(CacheGave),
    /// A kind that this version does not know; it is answered, not punished.
    Unknown,
}

macro_rules! request_kinds {
    ($($variant:ident $name:literal $waits:literal $descriptors:literal $reads:literal;)*) => {
        impl RequestBody {
            /// The words for all kinds.
            pub const KINDS: &'static [&'static str] = &[$($name,)*];

            /// Most descriptors that a request of any kind comes with.
            pub const MOST_DESCRIPTORS: usize = {
                let (all, mut at, mut most) = ([$($descriptors,)*], 0, 0);
                while at < all.len() {
                    if all[at] > most {
                        most = all[at];
                    }
                    at += 1;
                }
                most
            };

            /// The place of its kind among [`Self::KINDS`].
            #[must_use]
            pub const fn place(&self) -> usize {
                enum Place { $($variant,)* }
                match self { $(RequestBody::$variant { .. } => Place::$variant as usize,)* }
            }

            /// The word for its kind, for logs.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(RequestBody::$variant { .. } => $name,)* }
            }

            /// Whether the daemon may answer it later than the requests after it.
            #[must_use]
            pub const fn may_wait(&self) -> bool {
                match self { $(RequestBody::$variant { .. } => $waits,)* }
            }

            /// Whether it changes, maps and keeps nothing, so that whoever only watches may ask it.
            #[must_use]
            pub const fn only_reads(&self) -> bool {
                match self { $(RequestBody::$variant { .. } => $reads,)* }
            }

            /// The kinds that only read, under the names of the schema.
            #[cfg(test)]
            pub(super) fn reading() -> Vec<&'static str> {
                let all = [$((stringify!($variant), $reads),)*].into_iter();
                all.filter(|(_, reads)| *reads).map(|(name, _)| name).collect()
            }

            /// How many descriptors come with it.
            #[must_use]
            pub fn descriptors(&self) -> usize {
                match self {
                    // Some kinds of work are about no file.
                    RequestBody::TensorMove(moving) if !moving.work.has_file() => 0,
                    RequestBody::TensorAdopt(adopt) if !adopt.transport.has_descriptor() => 0,
                    $(RequestBody::$variant { .. } => $descriptors,)*
                }
            }
        }
    };
}

// Kind, word for logs, may wait, descriptors at most, only reads.
request_kinds! {
    Hello "hello" false 0 true;
    Claim "claim" false 0 false;
    Goodbye "goodbye" false 0 true;
    Ping "ping" false 0 true;
    PondStatus "status" true 0 true;
    ClientList "client list" true 0 true;
    AccountList "account list" false 0 true;
    TensorCreate "create" true 0 false;
    TensorAdopt "adopt" true 1 false;
    TensorGet "get" true 0 false;
    TensorHold "hold" false 0 false;
    TensorUnhold "unhold" false 0 false;
    TensorPeek "peek" false 0 false;
    TensorPublish "publish" false 0 false;
    TensorMove "move" true 1 false;
    MovesExpected "moves expected" false 0 false;
    TensorDelete "delete" false 0 false;
    TensorDeleteUnused "delete if unused" false 0 false;
    TensorInspect "inspect" true 0 true;
    TensorList "tensor list" true 0 true;
    LeaseRelease "release" false 0 false;
    Subscribe "subscribe" false 0 true;
    Collect "collect" true 0 false;
    Upgrade "upgrade" false 0 false;
    StartReport "start report" false 0 false;
    VersionStage "stage" true 0 false;
    VersionCommit "commit" false 1 false;
    VersionGet "version get" true 0 false;
    VersionSlabs "version slabs" false 0 false;
    VersionPart "version part" true 0 false;
    VersionRetire "retire" false 0 false;
    VersionRemove "version remove" false 0 false;
    VersionInspect "version inspect" true 0 true;
    ModelSwap "swap" false 0 false;
    ModelList "model list" true 0 true;
    GroupSet "group set" true 0 false;
    GroupJoin "group join" true 0 false;
    GroupList "group list" true 0 true;
    GroupInspect "group inspect" true 0 true;
    GroupRemove "group remove" true 0 false;
    Rename "rename" false 0 false;
    CacheOpen "cache open" true 0 false;
    CacheClose "cache close" true 0 false;
    CacheList "cache list" true 0 true;
    CacheWant "cache want" true 0 false;
    CacheGave "cache gave" true 0 false;
    Unknown "unknown" false 0 true;
}

impl Request {
    /// Writes the request into `builder` and returns its bytes.
    pub fn encode<'b>(&self, builder: &'b mut Builder) -> &'b [u8] {
        builder.clear();
        let request = fb::Request { number: self.number, body: write_body(&self.body) };
        builder.finish(request, None)
    }

    /// Reads a request completely.
    ///
    /// # Errors
    /// [`DecodeError`], together with the request's number where that much could be read, so that
    /// the answer can name it.
    pub fn decode(bytes: &[u8]) -> Result<Self, (u64, DecodeError)> {
        let request = fb::RequestRef::read_as_root(bytes).map_err(|error| (0, error.into()))?;
        let number = request.number().map_err(|error| (0, error.into()))?;
        if number == 0 {
            // The answer would be taken for an event.
            return Err((0, DecodeError::BadValue { field: "number", value: 0 }));
        }
        let body = match request.body() {
            Ok(Some(body)) => read_body(body).map_err(|error| (number, error))?,
            Ok(None) => return Err((number, DecodeError::Missing("body"))),
            Err(error) if is_unknown_kind(&error) => RequestBody::Unknown,
            Err(error) => return Err((number, error.into())),
        };
        Ok(Request { number, body })
    }
}

fn write_body(body: &RequestBody) -> Option<fb::RequestBody> {
    use RequestBody as R;
    use fb::RequestBody as B;
    Some(match body {
        R::Hello(hello) => B::Hello(Box::new(session::write_hello(hello))),
        R::Claim(claim) => B::Claim(Box::new(session::write_claim(claim))),
        R::Goodbye => B::Goodbye(Box::default()),
        R::Ping => B::Ping(Box::default()),
        R::LeaseRelease { leases } => B::LeaseRelease(Box::new(session::write_release(leases))),
        R::PondStatus => B::PondStatus(Box::default()),
        R::ClientList => B::ClientList(Box::default()),
        R::AccountList => B::AccountList(Box::default()),
        R::Collect { unleased_for_ms, dry_run } => {
            B::Collect(Box::new(pond::write_collect(*unleased_for_ms, *dry_run)))
        }
        R::Upgrade { program } => B::Upgrade(Box::new(pond::write_upgrade(program))),
        R::StartReport { loading, failed } => {
            B::StartReport(Box::new(pond::write_start_report(loading, failed)))
        }
        R::Subscribe { from } => B::Subscribe(Box::new(event::write_subscribe(*from))),
        R::TensorCreate(create) => B::TensorCreate(Box::new(tensor::write_create(create))),
        R::TensorAdopt(adopt) => B::TensorAdopt(Box::new(tensor::write_adopt(adopt))),
        R::TensorGet(get) => B::TensorGet(Box::new(tensor::write_get(get))),
        R::TensorHold(hold) => B::TensorHold(Box::new(tensor::write_hold(hold))),
        R::TensorUnhold(hold) => B::TensorUnhold(Box::new(tensor::write_unhold(hold))),
        R::TensorPeek(target) => B::TensorPeek(Box::new(tensor::write_peek(target))),
        R::TensorPublish(publish) => B::TensorPublish(Box::new(tensor::write_publish(publish))),
        R::TensorDelete { tensor } => {
            B::TensorDelete(Box::new(tensor::write_delete(*tensor, false)))
        }
        R::TensorDeleteUnused { tensor } => {
            B::TensorDelete(Box::new(tensor::write_delete(*tensor, true)))
        }
        R::TensorInspect(target) => B::TensorInspect(Box::new(tensor::write_inspect(target))),
        R::TensorList { prefix, page } => {
            B::TensorList(Box::new(tensor::write_list(prefix, *page)))
        }
        R::Rename(rename) => B::Rename(Box::new(tensor::write_rename(rename))),
        R::TensorMove(moving) => B::TensorMove(Box::new(transfer::write_move(moving))),
        R::MovesExpected { device, name } => {
            B::MovesExpected(Box::new(transfer::write_expected(*device, name.as_ref())))
        }
        R::VersionStage(stage) => B::VersionStage(Box::new(version::write_stage(stage))),
        R::VersionCommit(commit) => B::VersionCommit(Box::new(version::write_commit(commit))),
        R::VersionGet(get) => B::VersionGet(Box::new(version::write_get(get))),
        R::VersionSlabs { version, lease, first, count } => {
            B::VersionSlabs(Box::new(version::write_slabs(*version, *lease, *first, *count)))
        }
        R::VersionPart { version, index } => {
            B::VersionPart(Box::new(version::write_part(*version, *index)))
        }
        R::VersionRetire(target) => {
            B::VersionRetire(Box::new(version::write_retire(target, false)))
        }
        R::VersionRemove(target) => B::VersionRetire(Box::new(version::write_retire(target, true))),
        R::VersionInspect(target) => B::VersionInspect(Box::new(version::write_inspect(target))),
        R::ModelSwap { model, tag, token } => {
            B::ModelSwap(Box::new(version::write_swap(model, tag.as_ref(), *token)))
        }
        R::ModelList { prefix } => B::ModelList(Box::new(version::write_list(prefix))),
        R::GroupSet(set) => B::GroupSet(Box::new(group::write_set(set))),
        R::GroupJoin(join) => B::GroupJoin(Box::new(group::write_join(join))),
        R::GroupList => B::GroupList(Box::default()),
        R::GroupInspect { group } => B::GroupInspect(Box::new(group::write_inspect(group))),
        R::GroupRemove { group } => B::GroupRemove(Box::new(group::write_remove(group))),
        R::CacheOpen(open) => B::CacheOpen(Box::new(cache::write_open(open))),
        R::CacheClose { cache } => B::CacheClose(Box::new(cache::write_close(*cache))),
        R::CacheList { group } => B::CacheList(Box::new(cache::write_list(group.as_ref()))),
        R::CacheWant { cache, bytes, wait_ms } => {
            B::CacheWant(Box::new(cache::write_want(*cache, *bytes, *wait_ms)))
        }
        R::CacheGave(gave) => B::CacheGave(Box::new(cache::write_gave(gave))),
        R::Unknown => return None,
    })
}

fn read_body(body: fb::RequestBodyRef<'_>) -> Read<RequestBody> {
    use RequestBody as R;
    use fb::RequestBodyRef as B;
    match body {
        B::CacheOpen(it) => cache::read_open(it).map(Box::new).map(R::CacheOpen),
        B::CacheClose(it) => cache::read_close(it),
        B::CacheList(it) => cache::read_list(it),
        B::CacheWant(it) => cache::read_want(it),
        B::CacheGave(it) => cache::read_gave(it).map(R::CacheGave),
        B::Hello(it) => session::read_hello(it).map(R::Hello),
        B::Claim(it) => session::read_claim(it).map(R::Claim),
        B::Goodbye(_) => Ok(R::Goodbye),
        B::Ping(_) => Ok(R::Ping),
        B::LeaseRelease(it) => session::read_release(it),
        B::PondStatus(_) => Ok(R::PondStatus),
        B::ClientList(_) => Ok(R::ClientList),
        B::AccountList(_) => Ok(R::AccountList),
        B::Collect(it) => pond::read_collect(it),
        B::Upgrade(it) => pond::read_upgrade(it),
        B::StartReport(it) => pond::read_start_report(it),
        B::Subscribe(it) => event::read_subscribe(it),
        B::TensorCreate(it) => tensor::read_create(it).map(R::TensorCreate),
        B::TensorAdopt(it) => tensor::read_adopt(it).map(Box::new).map(R::TensorAdopt),
        B::TensorGet(it) => tensor::read_get(it).map(R::TensorGet),
        B::TensorHold(it) => tensor::read_hold(it).map(R::TensorHold),
        B::TensorUnhold(it) => tensor::read_unhold(it).map(R::TensorUnhold),
        B::TensorPeek(it) => tensor::read_peek(it).map(R::TensorPeek),
        B::TensorPublish(it) => tensor::read_publish(it).map(R::TensorPublish),
        B::TensorDelete(it) => tensor::read_delete(it),
        B::TensorInspect(it) => tensor::read_inspect(it).map(R::TensorInspect),
        B::TensorList(it) => tensor::read_list(it),
        B::Rename(it) => tensor::read_rename(it).map(R::Rename),
        B::TensorMove(it) => transfer::read_move(it).map(R::TensorMove),
        B::MovesExpected(it) => transfer::read_expected(it),
        B::VersionStage(it) => version::read_stage(it).map(R::VersionStage),
        B::VersionCommit(it) => version::read_commit(it).map(R::VersionCommit),
        B::VersionGet(it) => version::read_get(it).map(R::VersionGet),
        B::VersionSlabs(it) => version::read_slabs(it),
        B::VersionPart(it) => version::read_part(it),
        B::VersionRetire(it) => version::read_retire(it),
        B::VersionInspect(it) => version::read_inspect(it).map(R::VersionInspect),
        B::ModelSwap(it) => version::read_swap(it),
        B::ModelList(it) => version::read_list(it),
        B::GroupSet(it) => group::read_set(it).map(R::GroupSet),
        B::GroupJoin(it) => group::read_join(it).map(R::GroupJoin),
        B::GroupList(_) => Ok(R::GroupList),
        B::GroupInspect(it) => group::read_inspect(it),
        B::GroupRemove(it) => group::read_remove(it),
    }
}
