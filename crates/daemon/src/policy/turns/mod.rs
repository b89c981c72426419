//! Answers that may have very many entries are made in turns: a slice at a time, so that nobody
//! waits for what another wants to see.
//!
//! A turn is a fixed number of entries for all users together, and sockets are served between two
//! turns. What is short and finds room in the turn is answered at once. A cursor is the last key
//! that was looked at, so an answer goes on whatever has come and gone meanwhile.

mod clients;
mod collect;
mod holders;
mod order;
mod queue;
mod tensors;

use millpond_wire::message::{ReplyBody, Target, TensorPage};
use millpond_wire::{TensorId, VersionId, VersionTarget};

use super::answer::{Answer, Answered, draining};
use super::models::ModelListing;
use super::owner::Caller;
use super::parked::{RequestId, Wish};
use super::pond::Pond;
use super::ports::Ports;
use clients::ClientListing;
use collect::Collection;
use holders::Holders;
pub use order::{LONG, entries, in_order};
pub(super) use queue::Turns;
use queue::Waiting;
use tensors::TensorListing;

/// Parts of a turn: those whose turn it is have one after the other.
const PARTS: usize = 8;

/// What one turn may still look at, in entries: some of them weigh more than one.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    spent: usize,
}

impl Budget {
    pub(super) fn spend(&mut self, entries: usize) {
        self.left = self.left.saturating_sub(entries);
        // What weighs more than is left counts as a whole.
        self.spent = self.spent.saturating_add(entries);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// An answer that is being made, and how far it is.
#[derive(Debug)]
enum Job {
    Tensors(TensorListing),
    Tensor(TensorId, Holders),
    Version(VersionId, Holders),
    Clients(ClientListing),
    Models(ModelListing),
    Collect(Collection),
}

impl<P: Ports> Pond<P> {
    /// Whether an answer, or the end of a client, could go on at once: each [`Pond::tick`] is a turn.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        self.turns.has_more() || !self.leavers.is_empty()
    }

    pub(super) fn list_tensors(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        prefix: String,
        page: Option<TensorPage>,
    ) -> Answer<P::Fd> {
        let listing = TensorListing::new(caller.clone(), prefix, page);
        self.in_turns(ports, by, caller, Job::Tensors(listing))
    }

    pub(super) fn inspect(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        target: &Target,
    ) -> Answer<P::Fd> {
        let id = self.find(caller, target)?;
        self.in_turns(ports, by, caller, Job::Tensor(id, Holders::new(caller.clone())))
    }

    pub(super) fn inspect_version(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Answer<P::Fd> {
        let id = self.models.find(caller, target)?;
        self.in_turns(ports, by, caller, Job::Version(id, Holders::new(caller.clone())))
    }

    pub(super) fn list_clients(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
    ) -> Answer<P::Fd> {
        let listing = ClientListing::new(caller.clone());
        self.in_turns(ports, by, caller, Job::Clients(listing))
    }

    pub(super) fn list_models(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        prefix: String,
    ) -> Answer<P::Fd> {
        let listing = ModelListing::new(caller.clone(), prefix);
        self.in_turns(ports, by, caller, Job::Models(listing))
    }

    /// Empty slabs of the caller, or of everybody for the operator; and tensors that nobody has
    /// leased for so long.
    pub(super) fn collect(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        unleased_for_ms: Option<u64>,
        dry_run: bool,
    ) -> Answer<P::Fd> {
        if !dry_run {
            self.check_draining()?;
        }
        let collection = Collection::new(caller.clone(), unleased_for_ms, dry_run);
        self.in_turns(ports, by, caller, Job::Collect(collection))
    }

    /// Answers now if that is short, and else in turns.
    fn in_turns(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        mut job: Job,
    ) -> Answer<P::Fd> {
        let user = caller.owner.user;
        let weight = self.weight(&job).max(1);
        let is_begun = weight <= self.turns.left() && self.turns.is_free(user, by.conn);
        if is_begun && let Some(answer) = self.go_on(ports, &mut job, weight) {
            return answer;
        }
        let Some(ticket) = self.park(by, Wish::Answer, None) else { return Ok(Answered::Sent) };
        let is_long = weight > self.turns.slice();
        let waiting = Waiting { ticket, conn: by.conn, is_long, admin: caller.is_admin(), job };
        self.turns.add(user, waiting, is_begun);
        Ok(Answered::Parked)
    }

    /// About how many entries an answer looks at.
    fn weight(&self, job: &Job) -> usize {
        match job {
            Job::Tensors(listing) => listing.weight(self.catalog.len()),
            Job::Tensor(id, _) => Holders::weight(self.leases.count_on(*id)),
            Job::Version(id, _) => {
                let parts = self.models.get(*id).map_or(0, |version| version.parts.len());
                Holders::weight(self.leases.count_on(*id)).saturating_add(parts)
            }
            Job::Clients(_) => match self.clients.len() {
                many if many > self.turns.slice() => many,
                few => few.saturating_add(self.leases.len()),
            },
            Job::Models(_) => self.models.len(),
            Job::Collect(collection) => collection.weight(self.catalog.len(), self.slabs.len()),
        }
    }

    /// A part of an answer of about so many entries; less where the turn has no room for them.
    fn go_on(&mut self, ports: &mut P, job: &mut Job, most: usize) -> Option<Answer<P::Fd>> {
        let left = self.turns.left();
        let mut budget = Budget { left: left.min(most), spent: 0 };
        let answer = match job {
            Job::Tensors(listing) => {
                self.slice_of_tensors(ports, listing, &mut budget).map(ordered)
            }
            Job::Tensor(id, holders) => self.slice_of_tensor(ports, *id, holders, &mut budget),
            Job::Version(id, holders) => self.slice_of_version(*id, holders, &mut budget),
            Job::Clients(listing) => self.slice_of_clients(listing, &mut budget).map(ordered),
            Job::Models(listing) => self.slice_of_models(listing, &mut budget).map(ordered),
            Job::Collect(collection) => {
                let slice = self.slice_of_collection(ports, collection, &mut budget);
                slice.map(|result| result.and_then(ordered))
            }
        };
        if budget.spent == 0 {
            // Nothing is free, or a turn would not come to its end.
            budget.spend(1);
        }
        self.turns.set_left(left.saturating_sub(budget.spent));
        answer
    }

    fn next_turn(&mut self) -> Option<(u32, Waiting)> {
        let Self { clients, turns, .. } = self;
        turns.next(|conn| clients.connection(conn).is_some_and(|it| it.account.is_full()))
    }

    /// One turn of what waits. Returns when to come again.
    pub(super) fn take_turns(&mut self, ports: &mut P) -> Option<u64> {
        self.turns.begin_turn(|conn| ports.backlog(conn) > 0);
        while let Some((user, mut waiting)) = self.next_turn() {
            // What is short is not to wait for the next turn because of what is long.
            let part = self.turns.slice().div_ceil(PARTS);
            let Some(answer) = self.go_on(ports, &mut waiting.job, part) else {
                self.turns.add(user, waiting, true);
                continue;
            };
            let Waiting { ticket, conn, .. } = waiting;
            self.answer_parked(ports, Some(ticket), answer);
            if ports.backlog(conn) > 0 {
                self.turns.is_unread(conn);
            }
        }
        if self.draining && !self.turns.has_more() {
            // The rest would wait for clients that do not read, and the end of the pond with it.
            for waiting in self.turns.take_waiting() {
                self.answer_parked(ports, Some(waiting.ticket), Err(draining()));
            }
        }
        self.turns.has_more().then(|| ports.monotonic_ms())
    }
}

/// In the order in which it is sent; long ones get it where they are encoded.
fn ordered<F>(mut body: ReplyBody) -> Answer<F> {
    if entries(&body) <= LONG {
        in_order(&mut body);
    }
    super::answer::now(body)
}
