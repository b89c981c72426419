//! Processes that live on and say nothing more: they neither come back nor end.

use std::collections::BTreeSet;

use millpond_wire::ErrorKind;
use millpond_wire::message::{ReplyBody, TensorInfo, VersionState};
use millpond_wire::record::Record;
use uuid::Uuid;

use crate::client::Client;
use crate::homes::is_there;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::rng::Rng;
use crate::settle::Books;
use crate::world::World;

/// What was recorded as borrowed, a slab or a version, and by which user.
pub type Borrowed = BTreeSet<(Uuid, u32)>;

const ONLY_ITS_OWN: &str = "who is silent keeps only what its user may hold";

/// At which step of a schedule a client falls asleep, in one of four. Drawn apart from everything else: the other
/// schedules stay what they were.
pub fn nap(seed: u64, steps: u64) -> Option<u64> {
    let mut rng = Rng::new(seed ^ 0x736c_6565_7065_7273);
    rng.once_in(4).then(|| rng.below(steps))
}

/// What a record says was borrowed, and by whom.
pub fn borrowed(record: &Record) -> Option<(Uuid, u32)> {
    match record {
        Record::SlabBorrowed { slab, user } => Some((slab.0, *user)),
        Record::VersionBorrowed { version, user } => Some((version.0, *user)),
        _ => None,
    }
}

impl World {
    /// What the next daemon takes these records for.
    #[must_use]
    pub(crate) fn as_read(&self, mut records: Vec<Record>) -> Vec<Record> {
        match self.mutation {
            Some(Mutation::BorrowersForgotten) => {
                records.retain(|record| borrowed(record).is_none());
            }
            Some(Mutation::AnybodyBorrows) => {
                for record in &mut records {
                    match record {
                        Record::SlabMade(made) => made.borrowers_recorded = false,
                        Record::VersionStaged(staged) => staged.borrowers_recorded = false,
                        _ => {}
                    }
                }
            }
            Some(Mutation::AdoptedRecycled) => {
                for record in &mut records {
                    if let Record::SlabMade(made) = record
                        && made.home.is_none()
                    {
                        made.backing.adopted = false;
                    }
                }
            }
            _ => {}
        }
        records
    }

    /// A lease was granted to a process: on something of its own, or of somebody else who is
    /// recorded as lending it.
    pub(crate) fn check_lent(&self, pid: u32, owner: u32, what: Uuid) -> Result<(), Violation> {
        let Some(user) = self.client_at(pid).map(|client| client.user) else { return Ok(()) };
        let recorded = user == owner || self.borrowed.borrow().contains(&(what, user));
        ensure(recorded, "who borrows is recorded before the answer", || {
            format!("pid {pid} of user {user} has {what} of user {owner}")
        })
    }

    /// Has a client fall asleep that holds something, if it is time.
    pub(crate) fn sleep_due(&mut self, step: u64) {
        if self.nap.is_none_or(|at| step < at) {
            return;
        }
        let holds =
            |client: &Client| client.alive && !client.is_closed() && !client.mappings.is_empty();
        let Some(sleeper) = self.clients.iter().position(holds) else { return };
        self.nap = None;
        let client = &mut self.clients[sleeper];
        client.fall_asleep();
        let pid = client.pid;
        self.trace.say(|| format!("SLEEP pid {pid}"));
    }

    /// Whether somebody who is silent may hold something: its user is the owner, or has borrowed it.
    pub(crate) fn sleeper_may_hold(&self, owner: u32, what: Uuid) -> bool {
        let asleep = self.clients.iter().filter(|client| client.alive && client.is_asleep());
        let borrowed = self.borrowed.borrow();
        asleep
            .map(|client| client.user)
            .any(|user| user == owner || borrowed.contains(&(what, user)))
    }

    /// Everybody ends but who is silent, the daemon is replaced, and everything is deleted.
    ///
    /// # Errors
    /// What stays that nobody may hold.
    pub fn check_sleepers(&mut self) -> Result<(), Violation> {
        if !self.clients.iter().any(|client| client.alive && client.is_asleep()) {
            return Ok(());
        }
        for client in 0..self.clients.len() {
            if self.clients[client].alive && !self.clients[client].is_asleep() {
                self.kill_client(client);
            }
        }
        self.settle()?;
        self.daemon_dies();
        self.settle()?;
        // A version that is current goes only after the others, which somebody may hold.
        let is_current = |answer: &ReplyBody| matches!(answer, ReplyBody::Failure(failure) if failure.kind == ErrorKind::Invalid);
        self.delete_everything(is_current)?;
        self.settle()?;
        let Books { tensors, models, .. } = self.books()?;
        let is_unused = |info: &&TensorInfo| info.leases == 0 && info.holds.unwrap_or(0) == 0;
        for info in tensors.iter().filter(is_unused) {
            ensure(!is_there(info.state), "everything can be deleted", || format!("{info:?}"))?;
            let kept = self.sleeper_may_hold(info.user, info.slab.0);
            ensure(kept, ONLY_ITS_OWN, || format!("{info:?}"))?;
        }
        let versions = models.iter().flat_map(|model| &model.versions);
        let retired = versions.filter(|info| info.state == VersionState::Draining);
        for info in retired.filter(|info| info.readers == 0) {
            let kept = self.sleeper_may_hold(info.user, info.version.0);
            ensure(kept, ONLY_ITS_OWN, || format!("{info:?}"))?;
        }
        let there: BTreeSet<Uuid> = tensors.iter().map(|info| info.tensor.0).collect();
        let versions = models.iter().flat_map(|model| &model.versions);
        let there: BTreeSet<Uuid> = versions.map(|info| info.version.0).chain(there).collect();
        for client in self.clients.iter().filter(|client| client.alive) {
            for mapping in client.mappings.values() {
                let version = mapping.version.map(|version| self.oracle.versions[version].id.0);
                let tensor = |(tensor, _): &(usize, _)| self.oracle.tensors[*tensor].id.0;
                let mut mapped = match version {
                    Some(version) => vec![version],
                    None => mapping.ranges.iter().map(tensor).collect(),
                };
                mapped.retain(|id| !there.contains(id));
                ensure(mapped.is_empty(), "who is silent keeps what it has mapped", || {
                    format!("pid {} has {mapping:?}", client.pid)
                })?;
            }
            client.look_at_all(&self.oracle)?;
        }
        Ok(())
    }
}
