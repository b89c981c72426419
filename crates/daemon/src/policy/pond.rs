//! The state of a pond, and the way of a request to its handler.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_wire::caps::WAITING_REQUESTS;
use millpond_wire::message::{Counts, DecodeError, Reply, ReplyBody, Request, RequestBody};
use millpond_wire::{ClientId, ErrorKind, Failure, SlabId};

use super::about::{About, Identity};
use super::adopt::Adoptions;
use super::answer::{Answer, Answered, done, draining, now};
use super::caps::{Caps, CapsTold};
use super::catalog::{Catalog, Tensor};
use super::clients::Clients;
use super::complaints::Complaints;
use super::delete::Unless;
use super::events::Events;
use super::gpus::Gpus;
use super::groups::{GroupReading, GroupWork, OwnedGroups};
use super::holds::Holds;
use super::hosts::Hosts;
use super::leases::LeaseTable;
use super::leaving::Leavers;
use super::models::Models;
use super::movers::Movers;
use super::owner::{Caller, Door, Owner};
use super::parked::{ParkedRequests, RequestId, Ticket};
use super::ports::{ConnId, Ports};
use super::process::Process;
use super::public::PublicWriter;
use super::slabs::{Made, PendingSlabs, Slabs};
use super::turns::Turns;
use crate::accounts::{Account, Accounts};

/// All state of one pond.
pub struct Pond<P: Ports> {
    pub(super) identity: Identity,
    pub(super) caps: Caps,
    pub(super) gpus: Gpus,
    pub(super) slabs: Slabs<P::Fd>,
    pub(super) pending_slabs: PendingSlabs,
    /// Slabs that are made, and that the keeper had no room for.
    pub(super) unheld_slabs: VecDeque<(SlabId, Made<P::Fd>)>,
    pub(super) catalog: Catalog,
    pub(super) leases: LeaseTable,
    pub(super) holds: Holds,
    pub(super) clients: Clients<P::Fd>,
    pub(super) parked: ParkedRequests,
    pub(super) movers: Movers<P::Fd>,
    pub(super) hosts: Hosts<P::Fd>,
    pub(super) adoptions: Adoptions<P::Fd>,
    pub(super) models: Models<P::Fd>,
    pub(super) events: Events,
    pub(super) unfreed: super::unfreed::Unfreed,
    pub(super) accounts: Accounts,
    pub(super) turns: Turns,
    pub(super) leavers: Leavers,
    pub(super) caps_told: CapsTold,
    pub(super) complaints: Complaints,
    /// What groups hold on the GPUs, when it was last looked at.
    pub(super) group_readings: Vec<GroupReading>,
    pub(super) owned_groups: OwnedGroups,
    /// Connections over which caches were opened.
    pub(super) cache_conns: BTreeSet<ConnId>,
    pub(super) payers: crate::budget::Payers,
    /// The last reading of the clock that never jumps.
    pub(super) now_ms: u64,
    pub(super) draining: bool,
    /// What has happened since this daemon began; what slabs count is among them.
    pub(super) counts: Counts,
    /// Those beside the operator who may make names under `public/`.
    pub public_writers: Vec<PublicWriter>,
    /// What only the event loop knows about itself, for `status`.
    pub about: About,
}

impl<P: Ports> Pond<P> {
    pub fn connected(
        &mut self,
        conn: ConnId,
        owner: Owner,
        groups: &[u32],
        door: Door,
        process: Process,
    ) {
        let account = self.account(&owner);
        let caller = Caller { owner, groups: groups.into(), door };
        self.clients.connect(conn, caller, process, account);
    }

    /// Whether a connection has said hello, or is gone.
    #[must_use]
    pub fn is_greeted(&self, conn: ConnId) -> bool {
        self.clients.connection(conn).is_none_or(|connection| connection.client.is_some())
    }

    /// Whose process a client is.
    #[must_use]
    pub fn user_of(&self, client: ClientId) -> Option<u32> {
        self.clients.get(client).map(|client| client.owner().user)
    }

    /// What a user has and may have.
    #[must_use]
    pub fn account(&self, owner: &Owner) -> Rc<Account> {
        self.accounts.of(&owner.tenant, owner.user)
    }

    /// One shared text for each tenant.
    pub fn tenant(&mut self, name: &str) -> Rc<str> {
        self.clients.tenant(name)
    }

    /// A message came, readable or not, with a descriptor or without.
    pub fn message(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        message: Result<Request, (u64, DecodeError)>,
        fd: Option<P::Fd>,
    ) {
        let request = match message {
            Ok(request) => request,
            Err((number, error)) => {
                let failure = Failure::new(error.kind(), error.to_string());
                self.refuse(ports, RequestId { conn, number }, failure);
                return;
            }
        };
        let by = RequestId { conn, number: request.number };
        self.now_ms = ports.monotonic_ms();
        // Nobody gets what has come to its end, however busy the loop is.
        self.end_lives(ports);
        if let Err(failure) = self.may_ask(conn, &request.body) {
            self.refuse(ports, by, failure);
            return;
        }
        let wants_fd = request.body.descriptors() > 0;
        if wants_fd != fd.is_some() {
            let message = if wants_fd { "a file is missing" } else { "an unexpected file" };
            self.refuse(ports, by, Failure::new(ErrorKind::Protocol, message));
            ports.close(conn);
            return;
        }
        if self.parked.count_of(conn) >= WAITING_REQUESTS {
            let message =
                format!("at most {WAITING_REQUESTS} requests of one connection may wait at a time");
            self.refuse(ports, by, Failure::new(ErrorKind::TooMany, message));
            return;
        }
        let (name, may_wait) = (request.body.name(), request.body.may_wait());
        // A get is answered at once where it can be, and looks for itself whether it may wait.
        let is_get = matches!(request.body, RequestBody::TensorGet(_) | RequestBody::VersionGet(_));
        if may_wait
            && !is_get
            && let Err(failure) = self.room_for_wait(ports, conn)
        {
            self.refuse(ports, by, failure);
            return;
        }
        let answer = self.attempt(ports, by, request.body, fd);
        let is_parked = matches!(answer, Ok(Answered::Parked));
        debug_assert!(may_wait || !is_parked, "{name} waits, and its kind says that it does not");
        self.respond(ports, by, answer);
    }

    /// Whether a request may be made at all at the socket that it came through.
    fn may_ask(&self, conn: ConnId, body: &RequestBody) -> Result<(), Failure> {
        let connection = self.clients.connection(conn);
        // Who has not said hello is answered that.
        let watches = connection.is_some_and(|it| it.client.is_some() && it.caller.only_watches());
        if body.only_reads() || !watches {
            return Ok(());
        }
        let message = format!("a '{}' is not for `watch.sock`, which changes nothing", body.name());
        Err(Failure::new(ErrorKind::Denied, message).hint(
            "use `sock` for what is yours or shared with you, and `admin.sock` as the operator",
        ))
    }

    /// Sends the answer of a handler, if there is one now.
    pub(super) fn respond(&mut self, ports: &mut P, by: RequestId, answer: Answer<P::Fd>) {
        match answer {
            Ok(Answered::Now(body, fds)) => {
                let is_welcome = matches!(body, ReplyBody::Welcome(_));
                ports.reply(by.conn, Reply { number: by.number, body }, fds);
                let freed = if is_welcome { self.clients.welcomed(by.conn) } else { Vec::new() };
                for tensor in freed {
                    let body = ReplyBody::AdoptedFreed(tensor);
                    ports.reply(by.conn, Reply { number: 0, body }, Vec::new());
                }
            }
            Ok(Answered::Parked | Answered::Sent) => {}
            Err(failure) => self.refuse(ports, by, failure),
        }
    }

    /// Answers a parked request, if it is there still.
    pub(super) fn answer_parked(
        &mut self,
        ports: &mut P,
        ticket: Option<Ticket>,
        answer: Answer<P::Fd>,
    ) {
        if let Some(parked) = ticket.and_then(|ticket| self.parked.take(ticket)) {
            self.respond(ports, parked.by, answer);
        }
    }

    pub(super) fn dispatch(
        &mut self,
        ports: &mut P,
        by: RequestId,
        body: RequestBody,
        fd: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        let conn = by.conn;
        if let RequestBody::Hello(hello) = body {
            self.leavers.refuse(hello.client)?;
            return self.hello(ports, conn, hello);
        }
        let Some(connection) = self.clients.connection(conn) else { return Ok(Answered::Sent) };
        let caller = connection.caller.clone();
        let Some(client) = connection.client else {
            ports.close(conn);
            return Err(Failure::new(ErrorKind::Protocol, "the first message must be a hello"));
        };
        if !matches!(body, RequestBody::Goodbye | RequestBody::Ping) {
            self.leavers.refuse(client)?;
        }
        match body {
            RequestBody::Hello(_) | RequestBody::Ping => done(),
            RequestBody::Claim(claim) => self.claim(ports, client, &claim),
            RequestBody::Goodbye => self.goodbye(ports, by, client),
            RequestBody::PondStatus => self.status_or_wait(ports, by),
            RequestBody::ClientList => self.list_clients(ports, by, &caller),
            RequestBody::AccountList => now(self.account_list(ports, &caller)),
            RequestBody::TensorCreate(create) => self.create(ports, by, create),
            RequestBody::TensorAdopt(adopt) => self.adopt(ports, by, *adopt, fd),
            RequestBody::TensorGet(get) => self.get(ports, by, get),
            RequestBody::TensorHold(hold) => self.hold(ports, &caller, &hold),
            RequestBody::TensorUnhold(hold) => self.unhold(ports, &caller, &hold),
            RequestBody::TensorPeek(target) => self.peek(ports, &caller, &target),
            RequestBody::TensorPublish(publish) => self.publish(ports, &caller, publish),
            RequestBody::TensorDelete { tensor } => {
                self.delete(ports, &caller, tensor, Unless::Never)
            }
            RequestBody::TensorDeleteUnused { tensor } => {
                self.delete(ports, &caller, tensor, Unless::InUse)
            }
            RequestBody::TensorInspect(target) => self.inspect(ports, by, &caller, &target),
            RequestBody::TensorList { prefix, page } => {
                self.list_tensors(ports, by, &caller, prefix, page)
            }
            RequestBody::LeaseRelease { leases } => self.release(ports, client, &leases),
            RequestBody::Subscribe { from } => {
                ports.reply(conn, Reply { number: by.number, body: ReplyBody::Done }, Vec::new());
                self.subscribe(ports, conn, from);
                Ok(Answered::Sent)
            }
            RequestBody::Upgrade { program } => self.upgrade(ports, &caller, &program),
            RequestBody::StartReport { loading, failed } => {
                self.start_report(ports, &caller, loading, &failed)
            }
            RequestBody::TensorMove(what) => self.move_bytes(ports, by, what, fd),
            RequestBody::MovesExpected { device, name } => {
                self.moves_expected(ports, &caller, device, name.as_ref())
            }
            RequestBody::Collect { unleased_for_ms, dry_run } => {
                self.collect(ports, by, &caller, unleased_for_ms, dry_run)
            }
            RequestBody::VersionStage(stage) => self.stage(ports, by, stage),
            RequestBody::VersionCommit(commit) => self.commit(ports, client, &caller, commit, fd),
            RequestBody::VersionGet(get) => self.get_version(ports, by, get),
            RequestBody::VersionSlabs { version, lease, first, count } => {
                self.version_slabs(client, version, lease, first, count)
            }
            RequestBody::VersionPart { version, index } => self.own_part(ports, by, version, index),
            RequestBody::VersionRetire(target) => self.retire(ports, &caller, &target, false),
            RequestBody::VersionRemove(target) => self.retire(ports, &caller, &target, true),
            RequestBody::VersionInspect(target) => {
                self.inspect_version(ports, by, &caller, &target)
            }
            RequestBody::ModelSwap { model, tag, token } => {
                self.swap(ports, &caller, &model, tag.as_ref(), token)
            }
            RequestBody::ModelList { prefix } => self.list_models(ports, by, &caller, prefix),
            RequestBody::GroupSet(set) => self.ask_group(ports, by, &caller, GroupWork::Set(set)),
            RequestBody::GroupJoin(join) => {
                self.ask_group(ports, by, &caller, GroupWork::Join(join))
            }
            RequestBody::GroupList => self.ask_group(ports, by, &caller, GroupWork::List),
            RequestBody::GroupInspect { group } => {
                self.ask_group(ports, by, &caller, GroupWork::Inspect(group))
            }
            RequestBody::GroupRemove { group } => {
                self.ask_group(ports, by, &caller, GroupWork::Remove(group))
            }
            RequestBody::CacheOpen(open) => self.open_cache(ports, by, &caller, open),
            RequestBody::CacheClose { cache } => {
                self.ask_group(ports, by, &caller, GroupWork::CloseCache(cache))
            }
            RequestBody::CacheList { group } => {
                self.ask_group(ports, by, &caller, GroupWork::Caches(group))
            }
            RequestBody::CacheWant { cache, bytes, wait_ms } => {
                self.ask_group(ports, by, &caller, GroupWork::Want(cache, bytes, wait_ms))
            }
            RequestBody::CacheGave(gave) => self.cache_gave(ports, by, &caller, gave),
            RequestBody::Rename(rename) => self.rename(ports, &caller, &rename),
            RequestBody::Unknown => Err(Failure::new(
                ErrorKind::UnknownKind,
                "this daemon does not know that request",
            )
            .hint("the client is newer than the daemon: run `millpond status` to see its version")),
        }
    }

    fn refuse(&mut self, ports: &mut P, by: RequestId, failure: Failure) {
        if failure.kind == ErrorKind::Protocol
            && let Some((user, process)) = self.clients.blame(by.conn)
            && self.complaints.may(user, ports.monotonic_ms())
        {
            tracing::warn!(%process, "refused a message: {failure}");
        }
        self.counts.gpu_full_refusals += u64::from(failure.kind == ErrorKind::GpuFull);
        let body = ReplyBody::Failure(failure);
        ports.reply(by.conn, Reply { number: by.number, body }, Vec::new());
    }

    /// Whether a line about what this user did may be logged: one user cannot fill a disk.
    pub fn may_complain(&mut self, ports: &P, user: u32) -> bool {
        self.complaints.may(user, ports.monotonic_ms())
    }

    /// The same about whoever is at the other end of a connection.
    pub fn may_complain_of(&mut self, ports: &P, conn: ConnId) -> bool {
        let connection = self.clients.connection(conn);
        connection.map(|it| it.caller.owner.user).is_some_and(|user| self.may_complain(ports, user))
    }

    pub(super) fn check_draining(&self) -> Result<(), Failure> {
        if self.draining { Err(draining()) } else { Ok(()) }
    }

    /// Whether a tensor is shared with a caller; its slab says with whom.
    pub(super) fn is_shared(&self, tensor: &Tensor, caller: &Caller) -> bool {
        self.slabs
            .get(tensor.slab)
            .is_some_and(|slab| caller.may_use(&slab.class.owner, slab.class.audience))
    }

    /// The client behind a connection.
    pub(super) fn client_of(&self, conn: ConnId) -> Result<(ClientId, Caller), Failure> {
        let connection = self.clients.connection(conn);
        connection
            .and_then(|connection| Some((connection.client?, connection.caller.clone())))
            .ok_or_else(|| Failure::new(ErrorKind::Protocol, "the connection is gone"))
    }
}
