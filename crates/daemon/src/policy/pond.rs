//! The state of a pond, and the way of a request to its handler.

use std::collections::BTreeMap;

use millpond_wire::message::{
    DecodeError, EventKind, Reply, ReplyBody, Request, RequestBody, Service, TensorCreate,
    TensorGet,
};
use millpond_wire::{ClientId, Epoch, ErrorKind, Failure, GpuUuid, PondId, SlabId};

use super::accounts::Device;
use super::catalog::{Catalog, Tensor};
use super::clients::Clients;
use super::events::Events;
use super::groups::{GroupReading, GroupWork};
use super::models::{MakingKey, Models};
use super::movers::{MoverLimits, Movers};
use super::owner::{Caller, Owner};
use super::ports::{ConnId, Ports};
use super::slabs::{Pool, Slabs};
use super::tokens::TokenKey;

/// Requests of one connection that may wait for something at the same time.
const PENDING: u32 = 1024;

/// What nobody may go beyond.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connected or silent processes.
    pub clients: usize,
    /// Tensors.
    pub tensors: usize,
    /// Tensors of one user.
    pub tensors_per_user: usize,
    /// Versions of one user's models.
    pub versions_per_user: usize,
    /// Versions that were current before and are kept for a rollback.
    pub keep_previous: usize,
    /// Leases of one client.
    pub leases_per_client: usize,
    /// Bytes of empty slabs that are kept on each GPU.
    pub recycle_bytes: u64,
    /// Moves of one user that may wait or run.
    pub moves_per_user: usize,
    /// Their bytes.
    pub move_bytes_per_user: u64,
    /// Patience with movers.
    pub movers: MoverLimits,
}

/// Whether the driver can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// It has not answered yet.
    Starting,
    /// Its name and version.
    Ready(String),
    /// It never will.
    Failed(String),
}

/// A create that waits for its slab, or for the driver.
#[derive(Clone, Debug)]
pub(super) struct PendingCreate {
    pub conn: ConnId,
    pub number: u64,
    pub create: TensorCreate,
}

/// A slab that the driver is making.
#[derive(Clone, Debug)]
pub(super) struct PendingSlab {
    pub pool: Pool,
    pub bytes: u64,
    pub waiting: Vec<PendingCreate>,
    /// It is for a version of a model.
    pub version: Option<MakingKey>,
    /// How often the card had no memory for it.
    pub tries: u32,
    /// How often its owner was not to have it.
    pub waits: u32,
    /// When it is tried again.
    pub again_ms: Option<u64>,
}

/// A get that waits until its tensor exists and is published.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub conn: ConnId,
    pub number: u64,
    pub get: TensorGet,
    pub until_ms: u64,
}

/// A status that waits for fresh readings of the card, but not for ever: a driver that hangs is
/// just when somebody asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusWaiter {
    pub conn: ConnId,
    pub number: u64,
    pub until_ms: u64,
}

/// The answer of a handler: now, or later.
pub(super) type Answer<F> = Result<Option<(ReplyBody, Vec<F>)>, Failure>;

/// All state of one pond.
pub struct Pond<P: Ports> {
    pub(super) id: PondId,
    pub(super) key: TokenKey,
    pub(super) created_ms: u64,
    pub(super) epoch: Epoch,
    pub(super) started_ms: u64,
    pub(super) limits: Limits,
    pub(super) driver: DriverState,
    pub(super) devices: Vec<Device>,
    pub(super) slabs: Slabs<P::Fd>,
    pub(super) catalog: Catalog,
    pub(super) clients: Clients<P::Fd>,
    pub(super) pending_slabs: BTreeMap<SlabId, PendingSlab>,
    pub(super) before_driver: Vec<PendingCreate>,
    pub(super) waiters: Vec<Waiter>,
    pub(super) status_waiters: Vec<StatusWaiter>,
    pub(super) movers: Movers<P::Fd>,
    pub(super) models: Models<P::Fd>,
    pub(super) events: Events,
    pub(super) ends: super::life::Ends,
    pub(super) ended: super::ended::EndedNames,
    /// The last reading of the clock that never jumps.
    pub(super) now_ms: u64,
    pub(super) unfreed: super::unfreed::Unfreed,
    pub(super) listings: super::listings::Listings,
    /// When a user who reached a limit was last told of.
    pub(super) limits_told: BTreeMap<(std::rc::Rc<str>, u32), u64>,
    /// What was logged about whom.
    pub(super) complaints: super::complaints::Complaints,
    /// When a slab was last given back, on the clock that never jumps.
    pub(super) gave_back_ms: Option<u64>,
    /// What groups hold on the GPUs, when it was last looked at.
    pub(super) group_readings: Vec<GroupReading>,
    pub(super) payers: crate::budget::Payers,
    pub(super) draining: bool,
    pub(super) lost_tensors: u32,
    /// The model of the configuration that is being loaded.
    pub(super) loading: String,
    /// What only the event loop knows about itself, for `status`.
    pub about: About,
}

/// Facts for `status` that the policy does not need.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// This process.
    pub daemon_pid: u32,
    /// Its user, who may do what the operator may.
    pub daemon_user: u32,
    /// The file that it runs from.
    pub program: String,
    /// The library that programs under a limit preload.
    pub preload_library: Option<String>,
    /// The keeper.
    pub keeper_pid: u32,
    /// The runtime folder.
    pub runtime_dir: String,
    /// Size of the journal.
    pub journal_bytes: u64,
    /// The unit of the service manager that runs the pond.
    pub service: Option<Service>,
    /// The file that the log goes to; empty means standard error.
    pub log_file: String,
}

impl<P: Ports> Pond<P> {
    /// A client connected.
    pub fn connected(&mut self, conn: ConnId, owner: Owner, groups: &[u32], admin: bool, pid: u32) {
        let caller = Caller { owner, groups: groups.into(), admin };
        let connection =
            super::clients::Connection { caller, pid, client: None, pending: 0, blamed: false };
        self.clients.conns.insert(conn, connection);
    }

    /// Whether a connection has said hello, or is gone.
    #[must_use]
    pub fn is_greeted(&self, conn: ConnId) -> bool {
        self.clients.conns.get(&conn).is_none_or(|connection| connection.client.is_some())
    }

    /// One shared text for each tenant.
    pub fn tenant(&mut self, name: &str) -> std::rc::Rc<str> {
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
                let kind = match error {
                    DecodeError::Name(_)
                    | DecodeError::Model(_)
                    | DecodeError::Group(_)
                    | DecodeError::Shape(_) => ErrorKind::Invalid,
                    _ => ErrorKind::Protocol,
                };
                self.refuse(ports, conn, number, Failure::new(kind, error.to_string()));
                return;
            }
        };
        let number = request.number;
        self.now_ms = ports.monotonic_ms();
        // Nobody gets what has come to its end, however busy the loop is.
        self.end_lives(ports);
        let wants_fd = match &request.body {
            RequestBody::TensorMove(what) => what.work.has_file(),
            RequestBody::VersionCommit(_) => true,
            _ => false,
        };
        if wants_fd != fd.is_some() {
            let message = if wants_fd { "a file is missing" } else { "a file nobody asked for" };
            self.refuse(ports, conn, number, Failure::new(ErrorKind::Protocol, message));
            ports.close(conn);
            return;
        }
        if self.clients.conns.get(&conn).is_some_and(|connection| connection.pending >= PENDING) {
            let message = format!("{PENDING} requests of one connection may wait at a time");
            self.refuse(ports, conn, number, Failure::new(ErrorKind::TooMany, message));
            return;
        }
        let may_wait = matches!(
            request.body,
            RequestBody::TensorCreate(_)
                | RequestBody::TensorGet(_)
                | RequestBody::TensorMove(_)
                | RequestBody::TensorList { .. }
                | RequestBody::VersionStage(_)
                | RequestBody::VersionPart { .. }
                | RequestBody::VersionGet(_)
                | RequestBody::PondStatus
                | RequestBody::GroupSet(_)
                | RequestBody::GroupJoin(_)
                | RequestBody::GroupList
                | RequestBody::GroupInspect { .. }
                | RequestBody::GroupRemove { .. }
        );
        match self.dispatch(ports, conn, request, fd) {
            Ok(Some((body, fds))) => ports.reply(conn, Reply { number, body }, fds),
            Ok(None) => {
                if may_wait && let Some(connection) = self.clients.conns.get_mut(&conn) {
                    connection.pending += 1;
                }
            }
            Err(failure) => self.refuse(ports, conn, number, failure),
        }
    }

    /// Answers a request that waited.
    pub(super) fn answer_later(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        body: ReplyBody,
        fds: Vec<P::Fd>,
    ) {
        if let Some(connection) = self.clients.conns.get_mut(&conn) {
            connection.pending = connection.pending.saturating_sub(1);
        }
        ports.reply(conn, Reply { number, body }, fds);
    }

    fn dispatch(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        request: Request,
        fd: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        let Request { number, body } = request;
        if let RequestBody::Hello(hello) = body {
            return self.hello(ports, conn, hello);
        }
        let Some(connection) = self.clients.conns.get(&conn) else { return Ok(None) };
        let caller = connection.caller.clone();
        let Some(client) = connection.client else {
            ports.close(conn);
            return Err(Failure::new(ErrorKind::Protocol, "the first message must be a hello"));
        };
        match body {
            RequestBody::Hello(_) | RequestBody::Ping => done(),
            RequestBody::Claim(claim) => self.claim(ports, client, &claim),
            RequestBody::Goodbye => {
                self.goodbye(ports, client);
                done()
            }
            RequestBody::PondStatus => self.status_or_wait(ports, conn, number),
            RequestBody::ClientList => now(ReplyBody::Clients(self.client_list(&caller))),
            RequestBody::TensorCreate(create) => {
                self.create(ports, PendingCreate { conn, number, create })
            }
            RequestBody::TensorGet(get) => self.get(ports, conn, number, get),
            RequestBody::TensorPublish(publish) => self.publish(ports, &caller, publish),
            RequestBody::TensorDelete { tensor } => self.delete(ports, &caller, tensor),
            RequestBody::TensorInspect(target) => self.inspect(ports, &caller, &target),
            RequestBody::TensorList { prefix } => self.list(ports, (conn, number), caller, prefix),
            RequestBody::LeaseRelease { leases } => {
                for lease in leases {
                    self.end_lease(ports, client, lease, super::release::Ending::Released);
                }
                done()
            }
            RequestBody::Subscribe { from } => {
                ports.reply(conn, Reply { number, body: ReplyBody::Done }, Vec::new());
                self.subscribe(ports, conn, from);
                Ok(None)
            }
            RequestBody::Upgrade { program } => self.upgrade(ports, &caller, &program),
            RequestBody::StartReport { loading, failed } => {
                self.start_report(ports, &caller, loading, &failed)
            }
            RequestBody::TensorMove(what) => self.move_bytes(ports, conn, number, what, fd),
            RequestBody::Collect { unleased_for_ms, dry_run } => {
                self.collect(ports, &caller, unleased_for_ms, dry_run)
            }
            RequestBody::VersionStage(stage) => self.stage(ports, conn, number, stage),
            RequestBody::VersionCommit(commit) => self.commit(ports, client, &caller, commit, fd),
            RequestBody::VersionGet(get) => self.get_version(ports, conn, number, get),
            RequestBody::VersionSlabs { version, lease, first, count } => {
                self.version_slabs(client, version, lease, first, count)
            }
            RequestBody::VersionPart { version, index } => {
                self.own_part(ports, conn, number, version, index)
            }
            RequestBody::VersionRetire(target) => self.retire(ports, &caller, &target, false),
            RequestBody::VersionRemove(target) => self.retire(ports, &caller, &target, true),
            RequestBody::VersionInspect(target) => self.inspect_version(&caller, &target),
            RequestBody::ModelSwap { model, tag, token } => {
                self.swap(ports, &caller, &model, tag.as_ref(), token)
            }
            RequestBody::ModelList { prefix } => {
                now(ReplyBody::Models(self.model_list(&caller, &prefix)))
            }
            RequestBody::GroupSet(set) => {
                self.ask_group(ports, (conn, number), &caller, GroupWork::Set(set))
            }
            RequestBody::GroupJoin(join) => {
                self.ask_group(ports, (conn, number), &caller, GroupWork::Join(join))
            }
            RequestBody::GroupList => {
                self.ask_group(ports, (conn, number), &caller, GroupWork::List)
            }
            RequestBody::GroupInspect { group } => {
                self.ask_group(ports, (conn, number), &caller, GroupWork::Inspect(group))
            }
            RequestBody::GroupRemove { group } => {
                self.ask_group(ports, (conn, number), &caller, GroupWork::Remove(group))
            }
            RequestBody::Rename(rename) => self.rename(ports, &caller, &rename),
            RequestBody::Unknown => Err(Failure::new(
                ErrorKind::UnknownKind,
                "this daemon does not know that request",
            )
            .hint("the client is newer than the daemon: run `millpond status` to see its version")),
        }
    }

    fn refuse(&mut self, ports: &mut P, conn: ConnId, number: u64, failure: Failure) {
        if failure.kind == ErrorKind::Protocol
            && let Some(connection) = self.clients.conns.get_mut(&conn)
            && !std::mem::replace(&mut connection.blamed, true)
            && self.complaints.may(connection.caller.owner.user, ports.monotonic_ms())
        {
            tracing::warn!(pid = connection.pid, "refused a message: {failure}");
        }
        ports.reply(conn, Reply { number, body: ReplyBody::Failure(failure) }, Vec::new());
    }

    /// Whether a line about what this user did may be logged: one user cannot fill a disk.
    pub fn may_complain(&mut self, ports: &P, user: u32) -> bool {
        self.complaints.may(user, ports.monotonic_ms())
    }

    /// The same about whoever is at the other end of a connection.
    pub fn may_complain_of(&mut self, ports: &P, conn: ConnId) -> bool {
        let connection = self.clients.conns.get(&conn);
        connection.map(|it| it.caller.owner.user).is_some_and(|user| self.may_complain(ports, user))
    }

    /// The driver answered, and these are its GPUs.
    pub fn driver_ready(&mut self, ports: &mut P, name: String, devices: Vec<Device>) {
        self.driver = DriverState::Ready(name);
        for device in &devices {
            let news = !self.devices.iter().any(|known| known.record() == device.record());
            if news && let Err(error) = ports.journal(&device.record()) {
                // The next daemon only has to wait for the driver then.
                tracing::warn!("could not record a GPU: {error}");
            }
        }
        self.devices = devices;
        self.resume_creates(ports);
    }

    /// The driver will never answer: held memory is still served.
    pub fn driver_failed(&mut self, ports: &mut P, text: String) {
        self.driver = DriverState::Failed(text);
        self.resume_creates(ports);
    }

    fn resume_creates(&mut self, ports: &mut P) {
        for pending in std::mem::take(&mut self.before_driver) {
            self.retry_create(ports, pending);
        }
        for pending in std::mem::take(&mut self.models.before_driver) {
            self.retry_stage(ports, pending);
        }
        self.physical(ports, &[]);
    }

    /// The card's own readings, in bytes used.
    pub fn physical(&mut self, ports: &mut P, used: &[(GpuUuid, u64)]) {
        for (uuid, bytes) in used {
            if let Some(device) = self.devices.iter_mut().find(|device| device.uuid == *uuid) {
                device.physical_used_bytes = Some(*bytes);
            }
        }
        let waiters = std::mem::take(&mut self.status_waiters);
        self.answer_status(ports, waiters);
    }

    fn answer_status(&mut self, ports: &mut P, waiters: Vec<StatusWaiter>) {
        if waiters.is_empty() {
            return;
        }
        let status = Box::new(self.status());
        for StatusWaiter { conn, number, .. } in waiters {
            let body = ReplyBody::Status(status.clone());
            self.answer_later(ports, conn, number, body, Vec::new());
        }
    }

    /// Requests that wait and whose time is over are answered. Returns when to come again.
    pub fn tick(&mut self, ports: &mut P) -> Option<u64> {
        let now = ports.monotonic_ms();
        self.now_ms = now;
        let (late, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition(|waiter| waiter.until_ms <= now);
        self.waiters = waiting;
        for waiter in late {
            let body = ReplyBody::Failure(self.not_yet(&waiter));
            self.answer_later(ports, waiter.conn, waiter.number, body, Vec::new());
        }
        let (late, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.models.waiters)
            .into_iter()
            .partition(|waiter| waiter.until_ms <= now);
        self.models.waiters = waiting;
        for waiter in late {
            let body = ReplyBody::Failure(self.no_version_yet(&waiter));
            self.answer_later(ports, waiter.conn, waiter.number, body, Vec::new());
        }
        let (late, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.status_waiters)
            .into_iter()
            .partition(|waiter| waiter.until_ms <= now);
        self.status_waiters = waiting;
        self.answer_status(ports, late);
        let status = self.status_waiters.iter().map(|waiter| waiter.until_ms);
        let waiters = self.waiters.iter().map(|waiter| waiter.until_ms);
        let versions = self.models.waiters.iter().map(|waiter| waiter.until_ms);
        let soonest = waiters.chain(versions).chain(status).min();
        let more = [
            self.retry_slabs(ports),
            self.care_for_movers(ports),
            self.end_lives(ports),
            self.list_on(ports),
            self.complaints.say_left_out(now),
        ];
        soonest.into_iter().chain(more.into_iter().flatten()).min()
    }

    /// No new work from now on.
    pub fn drain(&mut self, ports: &mut P) {
        self.draining = true;
        self.happened(ports, EventKind::Draining, None, None, None, "the pond shuts down");
        for waiter in std::mem::take(&mut self.waiters) {
            let body = ReplyBody::Failure(draining());
            self.answer_later(ports, waiter.conn, waiter.number, body, Vec::new());
        }
        self.refuse_moves(ports, &draining());
        let creates = std::mem::take(&mut self.before_driver).into_iter();
        let creates = creates.map(|pending| (pending.conn, pending.number));
        let stages = std::mem::take(&mut self.models.before_driver).into_iter();
        let stages = stages.map(|pending| (pending.conn, pending.number));
        let gets = std::mem::take(&mut self.models.waiters).into_iter();
        let gets = gets.map(|waiter| (waiter.conn, waiter.number));
        for (conn, number) in creates.chain(stages).chain(gets) {
            let body = ReplyBody::Failure(draining());
            self.answer_later(ports, conn, number, body, Vec::new());
        }
    }

    fn only_for_its_runner(&self, caller: &Caller, verb: &str) -> Result<(), Failure> {
        let user = self.about.daemon_user;
        if caller.admin || caller.owner.user == user {
            return Ok(());
        }
        let message = format!("only the operator and user {user}, who runs the pond, may {verb}");
        Err(Failure::new(ErrorKind::Denied, message))
    }

    /// What the process says that loads the configuration's models.
    fn start_report(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        loading: String,
        failed: &str,
    ) -> Answer<P::Fd> {
        self.only_for_its_runner(caller, "report on its start")?;
        self.loading = loading;
        if !failed.is_empty() {
            let user = Some(caller.owner.user);
            self.happened(ports, EventKind::StartFailed, None, None, user, failed);
        }
        now(ReplyBody::Done)
    }

    fn upgrade(&mut self, ports: &mut P, caller: &Caller, program: &str) -> Answer<P::Fd> {
        self.only_for_its_runner(caller, "upgrade it")?;
        ports.upgrade(program).map_err(|error| {
            Failure::new(ErrorKind::Internal, format!("the keeper cannot be asked: {error}"))
        })?;
        let user = Some(caller.owner.user);
        self.happened(ports, EventKind::Upgrading, None, None, user, program);
        now(ReplyBody::Upgrading {
            from_version: env!("CARGO_PKG_VERSION").to_owned(),
            from_epoch: self.epoch,
        })
    }

    /// The keeper did not change programs, or went back to this one.
    pub fn upgrade_refused(&mut self, ports: &mut P, reason: &str) {
        self.happened(ports, EventKind::Upgrading, None, None, None, reason);
    }

    /// Whether the driver has answered, well or badly.
    #[must_use]
    pub fn has_driver(&self) -> bool {
        self.driver != DriverState::Starting
    }

    /// Whether anything that was asked is still to be answered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.pending_slabs.is_empty()
            && self.before_driver.is_empty()
            && self.models.before_driver.is_empty()
            && self.movers.are_idle()
            && self.listings.are_done()
    }

    pub(super) fn check_draining(&self) -> Result<(), Failure> {
        if self.draining { Err(draining()) } else { Ok(()) }
    }

    /// Whether a tensor is shared with a caller; its slab says with whom.
    pub(super) fn is_shared(&self, tensor: &Tensor, caller: &Caller) -> bool {
        self.slabs
            .get(tensor.slab)
            .is_some_and(|slab| caller.may_use(&slab.pool.owner, slab.pool.audience))
    }

    /// The client behind a connection.
    pub(super) fn client_of(&self, conn: ConnId) -> Result<(ClientId, Caller), Failure> {
        let connection = self.clients.conns.get(&conn);
        connection
            .and_then(|connection| Some((connection.client?, connection.caller.clone())))
            .ok_or_else(|| Failure::new(ErrorKind::Protocol, "the connection is gone"))
    }
}

pub(super) fn done<F>() -> Answer<F> {
    now(ReplyBody::Done)
}

pub(super) fn now<F>(body: ReplyBody) -> Answer<F> {
    Ok(Some((body, Vec::new())))
}

pub(super) fn draining() -> Failure {
    Failure::new(ErrorKind::Draining, "the pond is shutting down")
        .hint("what is mapped stays mapped; repeat when it serves again")
}

pub(super) fn from_port(error: super::PortError) -> Failure {
    Failure::new(ErrorKind::Internal, format!("the change could not be made durable: {error}"))
}
