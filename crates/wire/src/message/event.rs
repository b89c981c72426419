//! What happened.

use millpond_schema::message as fb;

use super::read::{self, Read, text, uuid_to_id};
use super::{RequestBody, small_enum};
use crate::{LeaseTarget, TensorName};

small_enum! {
    EventKind {
        /// A tensor was made.
        1 TensorCreated "tensor_created",
        /// A tensor was published.
        2 TensorPublished "tensor_published",
        /// A tensor was deleted; leases may be left.
        3 TensorDeleted "tensor_deleted",
        /// A tensor's memory was given back.
        4 TensorFreed "tensor_freed",
        /// A client holds something for the first time.
        5 ClientConnected "client_connected",
        /// A client hung up but lives.
        6 ClientSilent "client_silent",
        /// A client that held something said goodbye, or its process is gone.
        7 ClientGone "client_gone",
        8 Recovered "recovered",
        9 Draining "draining",
        /// The keeper was replaced.
        10 KeeperReplaced "keeper_replaced",
        /// Events are missing before this one: the subscriber was slow, or came late.
        11 Gap "gap",
        /// A mover was started.
        12 MoverStarted "mover_started",
        /// A mover had nothing to do for a while and was ended.
        13 MoverStopped "mover_stopped",
        /// A mover died or hung; another takes its place.
        14 MoverLost "mover_lost",
        /// Somebody reached a limit.
        15 LimitReached "limit_reached",
        /// Another daemon takes over.
        16 Upgrading "upgrading",
        /// Memory that nobody used was given back.
        17 Collected "collected",
        /// A version of a model was begun.
        18 VersionStaged "version_staged",
        /// A version is complete.
        19 VersionReady "version_ready",
        /// Another version of a model is current.
        20 ModelSwapped "model_swapped",
        /// A version takes no new readers.
        21 VersionDraining "version_draining",
        /// A version's last reader has left, or it was given up.
        22 VersionGone "version_gone",
        /// A group was made or changed.
        23 GroupSet "group_set",
        /// A group's limit is below what it holds; the text says who holds most.
        24 GroupOver "group_over",
        /// Members of a group hold more than they say.
        25 GroupLying "group_lying",
        /// Somebody keeps a group's lock for longer than anybody needs it.
        26 GroupStuck "group_stuck",
        /// A group was removed, or its last process ended.
        27 GroupGone "group_gone",
        /// A tensor or a model has another name.
        28 Renamed "renamed",
        /// A model of the configuration could not be loaded.
        29 StartFailed "start_failed",
        /// A process has a cache in a group.
        30 CacheOpened "cache_opened",
        /// A cache was closed, or its process is gone.
        31 CacheClosed "cache_closed",
        /// A cache was asked to give pages back; the text says how many, for whom, and why.
        32 CachePressed "cache_pressed",
        /// A cache gave pages back.
        33 CacheGave "cache_gave",
        /// A cache got what it had waited for.
        34 CacheGot "cache_got",
        /// A process that did not answer when pages were asked of it was ended.
        35 CacheEnded "cache_ended",
        /// A process that owns memory with legacy handles was started.
        36 HostStarted "host_started",
        /// A host had nothing left to keep and was ended.
        37 HostStopped "host_stopped",
        /// A host died; what it kept is what readers still map.
        38 HostLost "host_lost",
        /// Memory of another program became a tensor.
        39 TensorAdopted "tensor_adopted",
        /// The process that kept a tensor's memory is gone.
        40 TensorOrphaned "tensor_orphaned",
        /// Holds ended because their process is gone.
        41 HoldEnded "hold_ended",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts events of one daemon.
    pub sequence: u64,
    pub unix_ms: u64,
    pub kind: EventKind,
    /// To what, if it happened to one thing.
    pub target: Option<LeaseTarget>,
    /// Its name, or the group's.
    pub name: Option<TensorName>,
    /// By or to whom.
    pub user: Option<u32>,
    pub text: String,
}

pub(super) fn write_event(event: &Event) -> fb::Event {
    fb::Event {
        sequence: event.sequence,
        unix_ms: event.unix_ms,
        kind: event.kind.code(),
        tensor: event.target.and_then(LeaseTarget::tensor).map(|id| uuid_to_id(id.0)),
        version: event.target.and_then(LeaseTarget::version).map(|id| uuid_to_id(id.0)),
        name: read::write_name(event.name.as_ref()),
        // Zero is root; absence travels as the overflow user, who can never be a client.
        user: event.user.unwrap_or(u32::MAX),
        text: Some(event.text.clone()),
    }
}

pub(super) fn read_event(event: fb::EventRef<'_>) -> Read<Event> {
    Ok(Event {
        sequence: event.sequence()?,
        unix_ms: event.unix_ms()?,
        kind: read::code("kind", event.kind()?, EventKind::from_code)?,
        target: read::lease_target(event.tensor()?, event.version()?)?,
        name: read::name(event.name()?)?,
        user: Some(event.user()?).filter(|user| *user != u32::MAX),
        text: text("text", event.text()?)?,
    })
}

pub(super) fn write_subscribe(from: u64) -> fb::Subscribe {
    fb::Subscribe { from }
}

pub(super) fn read_subscribe(subscribe: fb::SubscribeRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::Subscribe { from: subscribe.from()? })
}
