//! A whole pond under any sequence of events, with restarts in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use millpond_daemon::policy::{
    ConnId, Door, DriverFailure, Held, OverLimit, Owner, Pond, PublicWriter,
};
use millpond_host::channel::FromHost;
use millpond_mover::channel::{FromMover, Why};
use millpond_wire::message::{Hello, ReplyBody, Request, RequestBody, VERSION};
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{ClientId, Epoch, ErrorKind, Failure, HANDLE_BYTES, SlabId, Transport};
use uuid::Uuid;

use crate::bytes::Bytes;
use crate::memory;
use crate::requests;
use crate::world::{self, CAPACITY, GPU, LIMITS, TENSORS_PER_USER, World};

/// Steps after which an input is long enough: more of the same only takes time.
const STEPS: usize = 300;

/// Who may make names under `public/` beside the user who runs the pond; a third may not.
const WRITER: u32 = 2;
/// Longer than anything waits that does not wait for ever.
const LONG_MS: u64 = 1 << 43;

/// The bytes are decisions about what happens next.
pub fn check(data: &[u8]) {
    memory::within(data, 8192, || {
        let mut decide = Bytes(data);
        let mut play = Play::new();
        for _ in 0..STEPS {
            if decide.is_empty() {
                break;
            }
            play.step(&mut decide);
            play.end_closed();
            play.check();
        }
        play.finish();
    });
}

struct Play {
    pond: Pond<World>,
    world: World,
    /// Connections, with the process behind each.
    conns: Vec<ConnId>,
    last_conn: u64,
    last_number: u64,
    epoch: u64,
}

impl Play {
    fn new() -> Self {
        let mut world = World { now: 1, ..World::default() };
        let mut pond = Pond::new(&mut world, [7; 16], Epoch(1), LIMITS).expect("a new pond");
        pond.public_writers = vec![PublicWriter::User(WRITER)];
        Self { pond, world, conns: Vec::new(), last_conn: 0, last_number: 0, epoch: 1 }
    }

    fn step(&mut self, decide: &mut Bytes<'_>) {
        match decide.below(32) {
            0 | 1 => self.connect(decide),
            2..=4 => self.hello(decide),
            5..=10 => {
                let body = requests::body(decide, &self.world.granted, &self.world.parts);
                let fd = self.fd_for(&body, decide);
                self.ask(decide, fd, |number| Ok(Request { number, body }));
            }
            11 => {
                let length = decide.byte();
                let bytes = decide.take(length.into());
                let fd = decide.flag().then_some(0);
                self.ask(decide, fd, |number| match Request::decode(bytes) {
                    Ok(request) => Ok(Request { number, ..request }),
                    Err((_, error)) => Err((number, error)),
                });
            }
            12 | 13 => self.memory(decide, true),
            14 => self.memory(decide, false),
            15 => {
                if let Some(conn) = self.conn(decide) {
                    self.hang_up(conn);
                }
            }
            16 => {
                let client = requests::client(decide);
                self.pond.process_gone(&mut self.world, client);
            }
            17 | 18 => {
                self.world.now += 1 << decide.below(42);
                self.pond.tick(&mut self.world);
            }
            19 => self.restart(),
            20 => self.world.failing = u32::from(decide.byte() % 4),
            21 if decide.flag() => world::driver_ready(&mut self.pond, &mut self.world),
            21 => self.pond.driver_failed(&mut self.world, "broken".to_owned()),
            22 => self.world.backlog = usize::from(decide.byte()) * 4,
            23 | 24 if self.world.movers.wanted => self.mover_starts(decide),
            23 | 24 => self.host_starts(decide),
            25..=28 if self.world.movers.speaks => self.mover_says(decide),
            25..=28 => self.host_says(decide),
            29 if decide.flag() => self.mover_hangs_up(),
            29 => self.mover_goes(decide),
            30 => self.world.unwatchable = decide.flag(),
            _ => match decide.byte() {
                // What came later has high numbers, so that old inputs keep their meaning.
                248.. => self.holder_changes(decide),
                240.. => self.world.charges_at_once = decide.flag(),
                216.. => self.host_goes(decide),
                200.. => self.host_starts(decide),
                128.. => self.host_says(decide),
                low => self.seldom(low % 4),
            },
        }
    }

    /// A process without a connection ends, or another one of its number begins.
    fn holder_changes(&mut self, decide: &mut Bytes<'_>) {
        let (pid, now) = (decide.pick(&world::HOLDERS), self.world.now);
        let before = match decide.flag() {
            true => self.world.holders.insert(pid, now),
            false => self.world.holders.remove(&pid),
        };
        self.holder_ended(pid, before);
    }

    fn holder_ended(&mut self, pid: u32, started: Option<u64>) {
        if started.is_some() {
            self.pond.holder_gone(&mut self.world, HolderProcess { pid, started });
        }
    }

    fn seldom(&mut self, kind: u8) {
        match kind {
            0 => self.world.records = self.pond.snapshot(),
            1 => self.pond.upgrade_refused(&mut self.world, "no"),
            2 => self.pond.physical(&mut self.world, &[(world::GPU, 1)]),
            _ => self.pond.keeper_replaced(&mut self.world, 5),
        }
    }

    fn connect(&mut self, decide: &mut Bytes<'_>) {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        // Users are one process each, so that a client can come back on another connection.
        let user = decide.below(3) as u32 + 1;
        let tenant = self.pond.tenant("local");
        let owner = Owner { tenant, user, group: user % 2 };
        let door = match decide.byte() {
            1 => Door::Operator,
            2 => Door::Watch,
            _ => Door::Users,
        };
        self.pond.connected(conn, owner, &[2], door, user.into());
        self.conns.push(conn);
    }

    fn conn(&self, decide: &mut Bytes<'_>) -> Option<ConnId> {
        self.conns.get(decide.below(self.conns.len().max(1))).copied()
    }

    fn hello(&mut self, decide: &mut Bytes<'_>) {
        let client = requests::client(decide);
        let version = if decide.byte() == 255 { 0 } else { VERSION };
        let claims = decide.flag();
        let program = "fuzz".to_owned();
        // A token is right for one client of one user.
        let at = decide.below(self.world.proofs.len() + 1);
        let proof = self.world.proofs.get(at).copied();
        let hello = Hello { version, capabilities: 0, client, program, claims, proof };
        let body = RequestBody::Hello(hello);
        self.ask(decide, None, |number| Ok(Request { number, body }));
    }

    /// Files come with puts and gets, and now and then where they should not, or not.
    fn fd_for(&mut self, body: &RequestBody, decide: &mut Bytes<'_>) -> Option<u64> {
        let wants = match body {
            RequestBody::TensorMove(what) => what.work.has_file(),
            RequestBody::VersionCommit(_) => true,
            RequestBody::TensorAdopt(what) => !matches!(what.transport, Transport::Ipc(_)),
            _ => return None,
        };
        let wrong = decide.byte() == 255;
        (wants != wrong).then(|| self.world.next_fd())
    }

    fn ask(
        &mut self,
        decide: &mut Bytes<'_>,
        fd: Option<u64>,
        request: impl FnOnce(u64) -> Result<Request, (u64, millpond_wire::message::DecodeError)>,
    ) {
        let Some(conn) = self.conn(decide) else { return };
        self.last_number += 1;
        self.world.open.insert((conn, self.last_number));
        self.pond.message(&mut self.world, conn, request(self.last_number), fd);
    }

    /// Whoever keeps the groups answers everything, well or badly.
    fn groups_answer(&mut self) {
        for ask in std::mem::take(&mut self.world.group_asks) {
            let answer = match ask.by.operator {
                true => Ok(ReplyBody::Done),
                false => Err(Failure::new(ErrorKind::NotFound, "no such group")),
            };
            self.pond.group_answered(&mut self.world, ask.conn, ask.number, answer);
        }
    }

    /// The driver answers, or the books of a group.
    fn memory(&mut self, decide: &mut Bytes<'_>, works: bool) {
        self.groups_answer();
        let World { asked, charging, .. } = &mut self.world;
        let (slab, is_charge) = match (asked.len(), charging.len()) {
            (0, 0) => return,
            (0, count) => (charging.swap_remove(decide.below(count)), true),
            (count, _) => (asked.swap_remove(decide.below(count)), false),
        };
        let works = works && !self.world.fabric.contains(&slab);
        let failure = if works { None } else { Some(failure(decide)) };
        if is_charge {
            self.charged(slab, failure);
        } else {
            let result = failure.map_or_else(|| Ok(self.world.next_fd()), Err);
            self.pond.slab_made(&mut self.world, slab, result);
        }
    }

    fn charged(&mut self, slab: SlabId, failure: Option<DriverFailure>) {
        if failure.is_none() {
            self.world.charged.insert(slab);
        }
        self.pond.slab_charged(&mut self.world, slab, failure.map_or(Ok(()), Err));
    }

    fn host_starts(&mut self, decide: &mut Bytes<'_>) {
        let Some(host) = self.world.hosts.wanted.pop() else { return };
        if decide.byte() == 255 {
            self.pond.host_not_started(&mut self.world, host, "no");
            return;
        }
        let (pidfd, channel) = (self.world.next_fd(), self.world.next_fd());
        self.world.hosts.started(host, pidfd);
        self.pond.host_started(&mut self.world, host, 78, pidfd, &channel);
    }

    fn host_says(&mut self, decide: &mut Bytes<'_>) {
        let Some(host) = self.world.hosts.pick(decide.byte().into()) else { return };
        let kind = decide.byte();
        let said = match kind {
            255 => Some(FromHost::Failed { text: "no".to_owned() }),
            254 => Some(FromHost::Ready { context_bytes: 0 }),
            _ => self.world.hosts.next(host, kind < 192),
        };
        if let Some(said) = said {
            self.pond.host_said(&mut self.world, host, said);
        }
    }

    /// The process of a host ends, and its channel, which is heard first or not at all.
    fn host_goes(&mut self, decide: &mut Bytes<'_>) {
        let Some(host) = self.world.hosts.pick(decide.byte().into()) else { return };
        if self.world.hosts.hangs_up(host) && decide.flag() {
            self.pond.host_hung_up(&mut self.world, host);
        }
        self.world.hosts.gone(host);
        self.pond.process_gone(&mut self.world, ClientId(host.0));
    }

    fn mover_starts(&mut self, decide: &mut Bytes<'_>) {
        self.world.movers.wanted = false;
        if decide.byte() == 255 {
            self.pond.mover_not_started(&mut self.world, GPU, "no");
            return;
        }
        let pidfd = self.world.next_fd();
        self.world.movers.started(pidfd);
        self.pond.mover_started(&mut self.world, GPU, 77, pidfd);
        if decide.flag() {
            self.pond.mover_said(&mut self.world, GPU, FromMover::Ready { context_bytes: 1 }, None);
        }
    }

    /// It may say anything at any time, as long as its channel lasts.
    fn mover_says(&mut self, decide: &mut Bytes<'_>) {
        let job = match decide.byte() {
            255 => decide.number(),
            byte => self.world.movers.job(byte.into()),
        };
        let slab = SlabId(Uuid::from_u64_pair(1, decide.byte().into()));
        let text = || "no".to_owned();
        let kind = decide.below(12);
        if matches!(kind, 9 | 11)
            && let Some((slab, is_pool)) = self.world.movers.asked()
        {
            return self.mover_answers(slab, is_pool, kind == 11);
        }
        let said = match kind {
            0..=4 => FromMover::Done { job, hashes: Vec::new() },
            5 => FromMover::JobFailed { job, why: Why::File, text: text() },
            6 => FromMover::JobFailed { job, why: Why::Range, text: text() },
            7 => FromMover::JobFailed { job, why: Why::Driver, text: text() },
            8 => FromMover::JobFailed { job, why: Why::Epoch, text: text() },
            9 => FromMover::MapFailed { slab, why: Why::Unsupported, text: text() },
            10 => FromMover::Failed { text: text() },
            _ => FromMover::Ready { context_bytes: 2 },
        };
        self.world.movers.says(&said);
        self.pond.mover_said(&mut self.world, GPU, said, None);
    }

    fn mover_answers(&mut self, slab: SlabId, is_pool: bool, works: bool) {
        let text = "no".to_owned();
        let said = match (is_pool, works) {
            (true, true) => FromMover::PoolMade { slab, data: [9; HANDLE_BYTES] },
            (true, false) => FromMover::PoolFailed { slab, out_of_memory: false, text },
            (false, true) => FromMover::Proved { slab },
            (false, false) => FromMover::NotProved { slab, why: Why::Range, text },
        };
        let fd = (is_pool && works).then(|| self.world.next_fd());
        self.pond.mover_said(&mut self.world, GPU, said, fd);
    }

    fn mover_hangs_up(&mut self) {
        if std::mem::take(&mut self.world.movers.speaks) {
            self.pond.mover_hung_up(&mut self.world, GPU);
        }
    }

    /// The process of a mover ends, of this daemon's or of one before it. Its channel does too, and
    /// that is heard first.
    fn mover_goes(&mut self, decide: &mut Bytes<'_>) {
        let Some((client, is_ours)) = self.world.movers.pick(decide.byte().into()) else {
            return self.host_goes(decide);
        };
        if is_ours {
            self.mover_hangs_up();
        }
        self.world.movers.gone(client);
        self.pond.process_gone(&mut self.world, client);
    }

    fn hang_up(&mut self, conn: ConnId) {
        self.conns.retain(|other| *other != conn);
        self.pond.hung_up(&mut self.world, conn);
    }

    /// What the policy wants to end, the event loop ends when all is sent.
    fn end_closed(&mut self) {
        for conn in std::mem::take(&mut self.world.closed) {
            self.hang_up(conn);
        }
    }

    fn restart(&mut self) {
        let before = lasting(&self.pond.snapshot(), self.world.failed);
        let mut world = self.world.after_death();
        self.epoch += 1;
        let (records, held) = (world.records.clone(), world.held.clone());
        let (pond, found) =
            Pond::recover(&mut world, records, held, Epoch(self.epoch), LIMITS).expect("recovery");
        (self.pond, self.world) = (pond, world);
        self.pond.public_writers = vec![PublicWriter::User(WRITER)];
        self.conns.clear();
        assert_eq!(found.lost_tensors, 0);
        let after = lasting(&self.pond.snapshot(), self.world.failed);
        assert_eq!(after, before, "a restart loses nothing");
        // The pidfd of who is dead fires at once.
        for client in self.world.movers.dead() {
            self.pond.process_gone(&mut self.world, client);
        }
        for host in self.world.hosts.dead() {
            self.pond.process_gone(&mut self.world, ClientId(host.0));
        }
        // Accounts are charged anew for what the books have.
        let charges = self.pond.slab_charges().into_iter().map(|(slab, ..)| slab);
        self.world.charged = charges.collect();
    }

    fn check(&self) {
        let books = self.pond.snapshot();
        world::check_books(&books, &self.world.held, self.world.failed);
        self.world.movers.check(&books);
        self.world.hosts.check(&books);
        let held = &self.world.held;
        let (mut slab_bytes, mut all) = (0, 0);
        let (mut owners, mut tensors) = (HashMap::new(), BTreeMap::<u32, usize>::new());
        let mut names = BTreeSet::new();
        for record in &books {
            match record {
                Record::SlabMade(made) => {
                    slab_bytes += made.bytes;
                    let has_fd = !matches!(made.backing.transport, Transport::Ipc(_));
                    let is_held = held.contains_key(&Held::Slab(made.slab));
                    assert_eq!(is_held, has_fd, "{made:?}");
                    owners.insert(made.slab, made.user);
                }
                Record::ClientSeen(seen) => {
                    assert!(held.contains_key(&Held::Client(seen.client)), "{seen:?} is not held");
                }
                Record::VersionReady(ready) => {
                    let manifest = Held::Manifest(ready.version);
                    assert!(held.contains_key(&manifest), "{ready:?} is not held");
                }
                Record::TensorMade(made) => {
                    let user = owners[&made.slab];
                    all += 1;
                    *tensors.entry(user).or_default() += usize::from(!made.part);
                    if let Some(name) = made.name.as_ref().filter(|_| !made.deleted) {
                        let scope = (!name.is_public()).then_some(user);
                        assert!(names.insert((scope, name)), "two tensors are '{name}'");
                    }
                }
                _ => {}
            }
        }
        assert!(slab_bytes <= CAPACITY, "{slab_bytes} bytes of slabs");
        assert!(tensors.values().all(|count| *count as u64 <= TENSORS_PER_USER));
        assert!(all <= LIMITS.tensors);
        check_models(&books);
    }

    /// Everybody who still waits gets an answer when the pond shuts down, even if a mover hangs;
    /// and when all processes are gone, so is everything that ends with them.
    fn finish(mut self) {
        self.world.failing = 0;
        self.pond.drain(&mut self.world);
        self.groups_answer();
        for _ in 0..3 {
            while let Some(slab) = self.world.asked.pop() {
                let failure =
                    DriverFailure { out_of_memory: false, text: "no".to_owned(), over_limit: None };
                self.pond.slab_made(&mut self.world, slab, Err(failure));
            }
            while let Some(slab) = self.world.charging.pop() {
                let failure = failure(&mut Bytes(&[]));
                self.charged(slab, Some(failure));
            }
            self.world.now += LONG_MS;
            self.pond.tick(&mut self.world);
        }
        let waiting = self.world.open.iter().find(|(conn, _)| self.conns.contains(conn));
        assert!(waiting.is_none(), "{waiting:?} was never answered");
        self.check();
        while self.world.movers.pick(0).is_some() {
            self.mover_goes(&mut Bytes(&[]));
        }
        while self.world.hosts.pick(0).is_some() {
            self.host_goes(&mut Bytes(&[]));
        }
        for client in requests::clients() {
            self.pond.process_gone(&mut self.world, client);
        }
        for pid in world::HOLDERS {
            let started = self.world.holders.remove(&pid);
            self.holder_ended(pid, started);
        }
        for _ in 0..2 {
            self.world.now += LONG_MS;
            self.pond.tick(&mut self.world);
        }
        self.check();
        self.check_ended();
    }

    fn check_ended(&self) {
        let books = self.pond.snapshot();
        for record in &books {
            match record {
                Record::ClientSeen(seen) => panic!("{seen:?} is gone"),
                Record::VersionStaged(staged) if !self.world.failed => {
                    let ready = |it: &Record| matches!(it, Record::VersionReady(it) if it.version == staged.version);
                    assert!(books.iter().any(ready), "{staged:?} is over");
                }
                Record::VersionDraining(version) if !self.world.failed => {
                    panic!("{version} is over");
                }
                // What could not be written may be left over until somebody comes or goes.
                Record::TensorMade(made) if !self.world.failed => {
                    let now = self.world.now;
                    assert!(!made.deleted && !made.ephemeral, "{made:?} is over");
                    assert!(made.expires_boot_ms.is_none_or(|at| at > now), "{made:?} is late");
                    assert!(
                        made.held || made.linger_ms.is_none_or(|for_ms| for_ms > LONG_MS),
                        "{made:?} lingers"
                    );
                }
                _ => {}
            }
        }
    }
}

/// Why there is no memory.
fn failure(decide: &mut Bytes<'_>) -> DriverFailure {
    let answer = Failure::new(ErrorKind::GpuFull, "the group may not have more");
    let over = Box::new(OverLimit { answer, soon: decide.flag() });
    DriverFailure {
        out_of_memory: decide.flag(),
        text: "no".to_owned(),
        over_limit: decide.flag().then_some(over),
    }
}

/// Every part is some version's or on its way out, and what is current is ready.
fn check_models(books: &[Record]) {
    let mut kept = BTreeSet::new();
    let (mut ready, mut draining) = (BTreeSet::new(), BTreeSet::new());
    let mut current: HashMap<_, _> = HashMap::new();
    let mut models = HashMap::new();
    for record in books {
        match record {
            Record::VersionStaged(staged) => {
                kept.extend(staged.parts.iter().copied());
                let scope = (!staged.model.is_public()).then_some(staged.user);
                models.insert(staged.version, (scope, staged.model.clone()));
            }
            Record::VersionReady(it) => {
                ready.insert(it.version);
            }
            Record::VersionDraining(version) => {
                draining.insert(*version);
            }
            Record::VersionCurrent { version, .. } => {
                current.insert(models[version].clone(), *version);
            }
            _ => {}
        }
    }
    for version in current.values() {
        assert!(ready.contains(version) && !draining.contains(version), "{version} is current");
    }
    let parts: BTreeSet<_> = books
        .iter()
        .filter_map(|record| match record {
            Record::TensorMade(made) if made.part && !made.deleted => Some(made.tensor),
            _ => None,
        })
        .collect();
    assert!(parts.is_subset(&kept), "a part that no version has");
    assert!(kept.is_subset(&parts), "a version without its memory");
}

/// What the books say about tensors that do not end with a process, nor with a restart: one whose
/// gets are used up does, if its end could not be written.
fn lasting(books: &[Record], failed: bool) -> BTreeMap<String, String> {
    // The end of who keeps memory may not have been written.
    let homeless = |slab: SlabId| {
        let is_it = |it: &Record| matches!(it, Record::SlabMade(it) if it.slab == slab && it.home.is_some());
        failed && books.iter().any(is_it)
    };
    books
        .iter()
        .filter_map(|record| match record {
            Record::TensorMade(made)
                if !made.ephemeral
                    && !made.deleted
                    && !made.part
                    && made.accesses_left != Some(0)
                    && !homeless(made.slab) =>
            {
                Some((made.tensor.to_string(), format!("{made:?}")))
            }
            // One that drains, or that is not kept any longer, may go with a restart.
            Record::VersionReady(ready) => {
                let over = |it: &Record| *it == Record::VersionDraining(ready.version);
                let lasts = !books.iter().any(over);
                lasts.then(|| (ready.version.to_string(), format!("{ready:?}")))
            }
            _ => None,
        })
        .collect()
}
