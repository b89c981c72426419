//! Every reply.

use millpond_schema::message as fb;
use planus::{Builder, ReadAsRoot};

use super::list::{Entries, list};
use super::read::{DecodeError, Read, is_unknown_kind};
use super::{
    CacheInfo, ClientInfo, Event, GroupDetails, GroupInfo, LeaseInfo, ModelInfo, Pressure,
    ResourceUse, Status, TensorGrant, TensorInfo, UserAccount, VersionDetails, VersionGrant,
    VersionInfo, Welcome, account, cache, event, failure, group, pond, session, tensor, transfer,
    version,
};
use crate::{ContentHash, Epoch, Failure, GroupName, LeaseId, TensorId, VersionTag};

/// One reply or event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The request's number; zero for events.
    pub number: u64,
    pub body: ReplyBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyBody {
    Failure(Failure),
    /// Yes, and nothing more to say.
    Done,
    Welcome(Welcome),
    /// To a claim: those that were refused.
    Claimed {
        /// Leases whose token or object was not right.
        refused: Vec<LeaseId>,
    },
    /// A tensor, and the lease on it if one was asked for. The slab's descriptor comes along with
    /// a lease.
    Tensor(TensorGrant),
    Published {
        generation: u64,
    },
    /// To a move: every byte has landed.
    Moved {
        bytes: u64,
        /// One for each piece, if it was about pieces.
        hashes: Vec<ContentHash>,
    },
    /// What was given back, or would be.
    Collected {
        tensors: Vec<TensorInfo>,
        slabs: u32,
        slab_bytes: u64,
    },
    /// To an upgrade: another daemon is about to take over from this one.
    Upgrading {
        /// Version of this daemon.
        from_version: String,
        /// Its epoch; the next daemon's is higher.
        from_epoch: Epoch,
    },
    /// One tensor and its leases.
    Details {
        info: TensorInfo,
        leases: Vec<LeaseInfo>,
    },
    Tensors(Vec<TensorInfo>),
    Clients(Vec<ClientInfo>),
    /// What users have and may have.
    Accounts {
        users: Vec<UserAccount>,
        /// What all users have together; only for the operator.
        all: Vec<ResourceUse>,
    },
    Status(Box<Status>),
    Event(Event),
    /// A version, and the lease on it if one was asked for.
    Version(Box<VersionGrant>),
    /// More slabs of a version; so many descriptors come along.
    Slabs {
        first: u32,
        count: u32,
    },
    /// One version and its readers.
    VersionDetails(Box<VersionDetails>),
    Models(Vec<ModelInfo>),
    Swapped {
        current: Box<VersionInfo>,
        /// What was current before.
        previous: Option<VersionTag>,
    },
    Groups(Vec<GroupInfo>),
    /// One group and its processes; also to a group that was set.
    GroupDetails(Box<GroupDetails>),
    GroupJoined {
        /// Its name, also if nobody gave it one.
        name: GroupName,
        /// Where its ledger and its limits are.
        folder: String,
        /// It ends with its last process.
        anonymous: bool,
    },
    Caches(Vec<CacheInfo>),
    /// Nobody asked for it: pages are wanted back.
    Pressure(Box<Pressure>),
    /// Nobody has a tensor any more that memory of this client was adopted for.
    AdoptedFreed(TensorId),
    /// The reply is in the memfd that came along.
    InMemfd {
        bytes: u64,
    },
    /// A kind that this version does not know.
    Unknown,
}

impl Reply {
    /// Writes the reply into `builder` and returns its bytes, however many they are.
    pub fn encode<'b>(&self, builder: &'b mut Builder) -> &'b [u8] {
        builder.clear();
        builder.finish(fb::Reply { number: self.number, body: write_body(&self.body) }, None)
    }

    /// Reads a reply completely.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that is not a reply of the schema, or beyond a cap.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let reply = fb::ReplyRef::read_as_root(bytes)?;
        let number = reply.number()?;
        let body = match reply.body() {
            Ok(Some(body)) => read_body(body, &Entries::of(bytes))?,
            Ok(None) => return Err(DecodeError::Missing("body")),
            Err(error) if is_unknown_kind(&error) => ReplyBody::Unknown,
            Err(error) => return Err(error.into()),
        };
        Ok(Reply { number, body })
    }
}

fn write_body(body: &ReplyBody) -> Option<fb::ReplyBody> {
    use ReplyBody as R;
    use fb::ReplyBody as B;
    Some(match body {
        R::Failure(failure) => B::Failure(Box::new(failure::write_failure(failure))),
        R::Done => B::Done(Box::default()),
        R::Welcome(welcome) => B::Welcome(Box::new(session::write_welcome(welcome))),
        R::Claimed { refused } => B::Claimed(Box::new(session::write_claimed(refused))),
        R::Clients(clients) => B::Clients(Box::new(fb::Clients {
            clients: Some(clients.iter().map(pond::write_client).collect()),
        })),
        R::Accounts { users, all } => B::Accounts(Box::new(account::write_accounts(users, all))),
        R::Caches(caches) => B::Caches(Box::new(cache::write_caches(caches))),
        R::AdoptedFreed(id) => B::AdoptedFreed(Box::new(tensor::write_adopted_freed(*id))),
        R::Pressure(pressure) => B::Pressure(Box::new(cache::write_pressure(pressure))),
        R::Status(status) => B::Status(Box::new(pond::write_status(status))),
        R::Collected { tensors, slabs, slab_bytes } => {
            B::Collected(Box::new(pond::write_collected(tensors, *slabs, *slab_bytes)))
        }
        R::Upgrading { from_version, from_epoch } => {
            B::Upgrading(Box::new(pond::write_upgrading(from_version, *from_epoch)))
        }
        R::Event(event) => B::Event(Box::new(event::write_event(event))),
        R::Tensor(grant) => B::TensorReply(Box::new(tensor::write_grant(grant))),
        R::Published { generation } => {
            B::Published(Box::new(fb::Published { generation: *generation }))
        }
        R::Details { info, leases } => {
            B::TensorDetails(Box::new(tensor::write_details(info, leases)))
        }
        R::Tensors(tensors) => B::Tensors(Box::new(fb::Tensors {
            tensors: Some(tensors.iter().map(tensor::write_info).collect()),
        })),
        R::Moved { bytes, hashes } => B::Moved(Box::new(transfer::write_moved(*bytes, hashes))),
        R::Version(grant) => B::VersionReply(Box::new(version::write_grant(grant))),
        R::Slabs { first, count } => B::Slabs(Box::new(version::write_slabs_reply(*first, *count))),
        R::VersionDetails(details) => B::VersionDetails(Box::new(version::write_details(details))),
        R::Models(models) => B::Models(Box::new(version::write_models(models))),
        R::Swapped { current, previous } => {
            B::Swapped(Box::new(version::write_swapped(current, previous.as_ref())))
        }
        R::Groups(groups) => B::Groups(Box::new(group::write_groups(groups))),
        R::GroupDetails(details) => B::GroupDetails(Box::new(group::write_details(details))),
        R::GroupJoined { name, folder, anonymous } => {
            B::GroupJoined(Box::new(group::write_joined(name, folder, *anonymous)))
        }
        R::InMemfd { bytes } => B::InMemfd(Box::new(fb::InMemfd { bytes: *bytes })),
        R::Unknown => return None,
    })
}

fn read_body(body: fb::ReplyBodyRef<'_>, entries: &Entries) -> Read<ReplyBody> {
    use ReplyBody as R;
    use fb::ReplyBodyRef as B;
    match body {
        B::Failure(it) => failure::read_failure(it).map(R::Failure),
        B::Done(_) => Ok(R::Done),
        B::Welcome(it) => session::read_welcome(it).map(R::Welcome),
        B::Claimed(it) => Ok(R::Claimed { refused: session::read_claimed(it)? }),
        B::Clients(it) => {
            let read = |client| pond::read_client(client, entries);
            list("clients", it.clients()?, entries, read).map(R::Clients)
        }
        B::Accounts(it) => account::read_accounts(it, entries),
        B::Caches(it) => cache::read_caches(it, entries),
        B::AdoptedFreed(it) => tensor::read_adopted_freed(it).map(R::AdoptedFreed),
        B::Pressure(it) => cache::read_pressure(it).map(Box::new).map(R::Pressure),
        B::Status(it) => Ok(R::Status(Box::new(pond::read_status(it, entries)?))),
        B::Collected(it) => pond::read_collected(it, entries),
        B::Upgrading(it) => pond::read_upgrading(it),
        B::Event(it) => event::read_event(it).map(R::Event),
        B::TensorReply(it) => tensor::read_grant(it).map(R::Tensor),
        B::Published(it) => Ok(R::Published { generation: it.generation()? }),
        B::TensorDetails(it) => tensor::read_details(it, entries),
        B::Tensors(it) => {
            list("tensors", it.tensors()?, entries, tensor::read_info).map(R::Tensors)
        }
        B::Moved(it) => transfer::read_moved(it),
        B::VersionReply(it) => Ok(R::Version(Box::new(version::read_grant(it, entries)?))),
        B::Slabs(it) => version::read_slabs_reply(it),
        B::VersionDetails(it) => {
            Ok(R::VersionDetails(Box::new(version::read_details(it, entries)?)))
        }
        B::Models(it) => version::read_models(it, entries),
        B::Swapped(it) => version::read_swapped(it),
        B::Groups(it) => group::read_groups(it, entries),
        B::GroupDetails(it) => Ok(R::GroupDetails(Box::new(group::read_details(it, entries)?))),
        B::GroupJoined(it) => group::read_joined(it),
        B::InMemfd(it) => Ok(R::InMemfd { bytes: it.bytes()? }),
    }
}
