//! The state that all callers of one process share: the line to the pond, answers on their way, and
//! leases.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use millpond_wire::message::{LeaseClaim, Reply, ReplyBody, Request, RequestBody, Welcome};
use millpond_wire::{ClientId, LeaseId, PondId, TensorId};

use crate::identity::Identity;
use crate::leases::{Leases, Lost, claim_in};
use crate::mutation::Mutation;

/// Requests are numbered from here on; the handshake has the numbers below.
const FIRST_NUMBER: u64 = 1 << 20;
/// Of the message that nobody answers.
const GOODBYE_NUMBER: u64 = u64::MAX;
/// Of replies to no request.
const UNASKED: u64 = 0;

/// The connection, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// There is none; the next call makes one.
    Down,
    /// A caller makes one.
    Connecting,
    Up,
    /// There will never be one again.
    Closed,
}

/// The way to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// There is one, of this generation.
    Up(u64),
    Closed,
    /// The caller makes one, and tries until then.
    Connect {
        until: Instant,
    },
    /// Another caller makes one.
    Await,
    /// The pond has been waited for, and has not come.
    Gone,
}

/// An answer, with what came along.
#[derive(Debug)]
pub struct Answer<F> {
    pub body: ReplyBody,
    pub fds: Vec<F>,
    /// Of the lease that was granted.
    pub lost: Option<Lost>,
}

/// What a reply was.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it lives for one step; a box would be an allocation for each answer"
)]
pub enum Received<F> {
    /// The answer to this request: its caller takes it with [`Call::next`](crate::Call::next).
    Answer(u64),
    /// Nobody waits for it any more. A lease in it goes back.
    Late,
    /// It came over an earlier connection; its request is repeated over this one.
    Stale,
    /// A message that the pond sent on its own account.
    Unasked(ReplyBody, Vec<F>),
    /// The same, of a kind that this program does not know; ignored and counted.
    Unknown,
}

/// What a new connection has brought to light.
#[derive(Debug, Default)]
pub struct Arrival {
    /// Another pond answers than before.
    pub other_pond: bool,
    /// Leases that the pond does not know any more.
    pub lost: Vec<LeaseClaim>,
}

#[derive(Debug)]
struct Slot<F, E> {
    lease: Option<LeaseId>,
    outcome: Option<Result<Answer<F>, E>>,
}

/// A process's dealings with one pond, across the restarts of its daemon. `F` comes along with
/// replies, `E` says why a peer cannot be understood.
#[derive(Debug)]
pub struct Session<F, E> {
    identity: Identity,
    /// How long a pond that is gone is waited for.
    patience: Duration,
    pub(crate) line: Line,
    /// Since when there is no connection, where there was one before.
    down_since: Option<Instant>,
    /// Counts connections: what belongs to an earlier one is not mixed up with this one's.
    generation: u64,
    next_number: u64,
    next_lease: u64,
    pub(crate) leases: Leases,
    /// Leases whose callers have given up, while the pond may still grant them; with the numbers of
    /// their requests, because a refusal names no lease.
    pub(crate) late: Vec<(u64, LeaseId)>,
    /// Leases that were granted to nobody, or may have been; to be released.
    pub(crate) strays: Vec<LeaseId>,
    /// Tensors without a name that were asked for together with a lease and then given up: when the
    /// lease goes back, nobody could find them.
    made: HashMap<LeaseId, TensorId>,
    /// The pond of the last welcome.
    pond: Option<PondId>,
    /// The pond has granted a lease: from then on it remembers this process through restarts, and
    /// holds back what the process might still hold until it has come back.
    pub(crate) remembered: bool,
    /// What the pond says on its own account is read at once, and a pond that is gone is looked for.
    pub(crate) listens: bool,
    /// No handle is left: when the last lease has ended the connection goes.
    pub(crate) ending: bool,
    slots: BTreeMap<u64, Slot<F, E>>,
    unknown: u64,
    broken: Option<Mutation>,
}

impl<F, E: Clone> Session<F, E> {
    /// A session without a connection.
    #[must_use]
    pub fn new(client: ClientId, patience: Duration) -> Self {
        Self {
            identity: Identity::new(client),
            patience,
            line: Line::Down,
            down_since: None,
            generation: 0,
            next_number: FIRST_NUMBER,
            next_lease: 1,
            leases: Leases::default(),
            late: Vec::new(),
            strays: Vec::new(),
            made: HashMap::new(),
            pond: None,
            remembered: false,
            listens: false,
            ending: false,
            slots: BTreeMap::new(),
            unknown: 0,
            broken: None,
        }
    }

    /// Breaks a rule, to see who notices.
    pub fn break_rule(&mut self, mutation: Mutation) {
        self.broken = Some(mutation);
    }

    pub(crate) fn breaks(&self, mutation: Mutation) -> bool {
        self.broken == Some(mutation)
    }

    #[must_use]
    pub fn client(&self) -> ClientId {
        self.identity.client
    }

    /// What the next [`Handshake`](crate::Handshake) says about this process.
    #[must_use]
    pub fn identity(&self) -> Identity {
        if self.breaks(Mutation::TokenForgotten) {
            return Identity::new(self.identity.client);
        }
        self.identity
    }

    /// An identity for a lease.
    pub fn new_lease(&mut self) -> LeaseId {
        self.next_lease += 1;
        LeaseId(self.next_lease - 1)
    }

    pub(crate) fn new_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    #[must_use]
    pub fn leases(&self) -> &Leases {
        &self.leases
    }

    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    #[must_use]
    pub fn is_up(&self) -> bool {
        self.line == Line::Up
    }

    #[must_use]
    pub fn is_down(&self) -> bool {
        self.line == Line::Down
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.line == Line::Closed
    }

    /// Whether `generation` is the connection in use.
    #[must_use]
    pub fn is_current(&self, generation: u64) -> bool {
        self.generation == generation && self.line == Line::Up
    }

    /// Since when the pond is gone, and until when nobody at its socket may mean a restart.
    #[must_use]
    pub fn down(&self) -> Option<(Instant, Instant)> {
        self.down_since.map(|since| (since, since + self.patience))
    }

    /// Messages that this program does not know.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The way to a connection for a caller that has had none since then. However many callers and
    /// attempts it takes, a pond that is gone is waited for once. What another caller met may be
    /// due to its deadline, so each has `tried` once itself.
    #[must_use]
    pub fn way(&self, since: Instant, tried: bool, deadline: Option<Instant>, now: Instant) -> Way {
        match self.line {
            Line::Up => Way::Up(self.generation),
            Line::Closed => Way::Closed,
            Line::Connecting => Way::Await,
            Line::Down if tried || now.duration_since(since) > self.patience => Way::Gone,
            Line::Down => {
                let until = since + self.patience;
                Way::Connect { until: deadline.map_or(until, |own| own.min(until)) }
            }
        }
    }

    /// A caller makes a connection now; the claims are for its [`Handshake`](crate::Handshake).
    pub fn connecting(&mut self) -> Vec<LeaseClaim> {
        self.line = Line::Connecting;
        if self.breaks(Mutation::ClaimsForgotten) {
            return Vec::new();
        }
        self.leases.claims()
    }

    pub fn not_connected(&mut self) {
        if self.line == Line::Connecting {
            self.line = Line::Down;
        }
    }

    /// A connection is there, for this client, and `refused` of the claims were. `None` if the
    /// session was closed meanwhile.
    pub fn connected(
        &mut self,
        client: ClientId,
        welcome: &Welcome,
        refused: &[LeaseId],
    ) -> Option<Arrival> {
        if self.line == Line::Closed {
            return None;
        }
        let pond = welcome.pond;
        let mut arrival = Arrival::default();
        if client != self.identity.client {
            // What the pond may have granted to the client before is not this one's to give back.
            self.late.clear();
            self.strays.clear();
            self.remembered = false;
        }
        self.identity = Identity::new(client).welcomed(welcome);
        if self.pond.is_some_and(|before| before != pond) {
            arrival.other_pond = true;
            arrival.lost = self.leases.refuse_all();
        }
        arrival.lost.extend(self.leases.refuse(refused));
        // What the old connection still had to say is not known.
        let late = self.late.drain(..).map(|(_, lease)| lease);
        self.strays.extend(late);
        self.pond = Some(pond);
        self.generation += 1;
        self.line = Line::Up;
        self.down_since = None;
        Some(arrival)
    }

    /// A reply came. A lease in it is remembered in the same moment: whoever makes the next
    /// connection must claim it.
    pub fn received(&mut self, generation: u64, reply: Reply, fds: Vec<F>) -> Received<F> {
        if !self.is_current(generation) {
            return Received::Stale;
        }
        let Reply { number, body } = reply;
        let granted = claim_in(&body);
        if let Some(slot) = self.slots.get_mut(&number) {
            let claim = granted.filter(|(claim, _)| slot.lease == Some(claim.lease));
            self.remembered |= claim.is_some();
            let lost = claim.map(|(claim, bytes)| self.leases.insert(claim, bytes));
            slot.outcome = Some(Ok(Answer { body, fds, lost }));
            return Received::Answer(number);
        }
        if number == UNASKED {
            return match body {
                ReplyBody::Unknown => {
                    self.unknown += 1;
                    Received::Unknown
                }
                body => Received::Unasked(body, fds),
            };
        }
        let answered = self.late.extract_if(.., |(late, _)| *late == number);
        let refused: Vec<LeaseId> = answered.map(|(_, lease)| lease).collect();
        match granted {
            Some(_) if self.breaks(Mutation::LateGrantKept) => {}
            Some((claim, _)) => self.strays.push(claim.lease),
            None => self.made.retain(|lease, _| !refused.contains(lease)),
        }
        Received::Late
    }

    /// The connection is over: whoever waits repeats. False if that is known already.
    pub fn hung_up(&mut self, generation: u64, now: Instant) -> bool {
        let current = self.is_current(generation);
        if current {
            self.line = Line::Down;
            self.down_since = Some(now);
        }
        current
    }

    /// The peer cannot be understood: everybody who waits is told so, and nothing is repeated.
    pub fn failed(&mut self, generation: u64, error: &E, now: Instant) -> bool {
        if self.is_current(generation) {
            for slot in self.slots.values_mut().filter(|slot| slot.outcome.is_none()) {
                slot.outcome = Some(Err(error.clone()));
            }
        }
        self.hung_up(generation, now)
    }

    /// There will be no connection again. The goodbye, where there is one to send it over.
    pub fn closed(&mut self) -> Option<Request> {
        let before = std::mem::replace(&mut self.line, Line::Closed);
        let goodbye = Request { number: GOODBYE_NUMBER, body: RequestBody::Goodbye };
        (before == Line::Up).then_some(goodbye)
    }

    /// Whether a caller waits for the answer to a request that has not come.
    #[must_use]
    pub fn awaits(&self, number: u64) -> bool {
        self.slots.get(&number).is_some_and(|slot| slot.outcome.is_none())
    }

    pub(crate) fn expect(&mut self, number: u64, lease: Option<LeaseId>) {
        self.slots.insert(number, Slot { lease, outcome: None });
    }

    /// The answer, if it has come; nobody waits for it any longer then.
    pub(crate) fn collect(&mut self, number: u64) -> Option<Result<Answer<F>, E>> {
        let outcome = self.slots.get_mut(&number)?.outcome.take()?;
        self.slots.remove(&number);
        Some(outcome)
    }

    pub(crate) fn forget(&mut self, number: u64) {
        self.slots.remove(&number);
    }

    /// The caller gives up. The lease that it asked for may still be granted, and must go back.
    /// False where it was answered, and not with a grant.
    pub(crate) fn give_up(&mut self, number: u64) -> bool {
        let slot = self.slots.remove(&number);
        let Some(Slot { lease: Some(lease), outcome }) = slot else { return true };
        match outcome {
            None => self.late.push((number, lease)),
            Some(Ok(Answer { lost: Some(_), .. })) => self.strays.push(lease),
            Some(Ok(_)) => return false,
            Some(Err(_)) => {}
        }
        true
    }

    /// The pond remembers this process through restarts, because something ends with it.
    pub fn remember(&mut self) {
        self.remembered = true;
    }

    /// Whether somebody in this process waits for messages that nobody asks for.
    pub fn listen(&mut self, listens: bool) {
        self.listens = listens;
    }

    #[must_use]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// The tensor without a name that this lease came with is deleted when the lease goes back.
    pub fn abandon(&mut self, lease: LeaseId, tensor: TensorId) {
        self.made.insert(lease, tensor);
    }

    pub(crate) fn kept(&mut self, lease: LeaseId) {
        self.made.remove(&lease);
    }

    /// Leases that nobody has: they go back with the next [`Duty::Release`](crate::Duty::Release).
    pub fn stray(&mut self, leases: &[LeaseId]) {
        self.strays.extend(leases);
    }

    /// The release of leases that are unmapped. From here on they are not claimed any more; they are
    /// remembered until the pond has confirmed.
    pub fn release(&mut self, leases: Vec<LeaseId>) -> RequestBody {
        self.leases.end(&leases);
        RequestBody::LeaseRelease { leases }
    }

    /// The pond has confirmed. Returns the tensors that nobody could find any more.
    pub(crate) fn released(&mut self, leases: &[LeaseId]) -> Vec<TensorId> {
        self.leases.remove(leases);
        leases.iter().filter_map(|lease| self.made.remove(lease)).collect()
    }
}
