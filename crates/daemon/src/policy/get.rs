//! Leases are granted, and those who wait are woken.

use std::rc::Rc;

use millpond_view::units;
use millpond_wire::message::{
    ReplyBody, RequestBody, Target, TensorGet, TensorGrant, WAIT_FOREVER,
};
use millpond_wire::record::CountedLease;
use millpond_wire::{
    Backing, ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, Mode, TensorId, TensorName,
    TensorRef,
};

use super::answer::{Answer, Answered};
use super::catalog::{NameKey, Tensor, is_in_public, public_of, way_out};
use super::keeper_room::ask_again;
use super::leases::{Lease, Wanted, number_in_use};
use super::owner::{Caller, not_shared};
use super::parked::{RequestId, WaitKey, Wish};
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use crate::accounts::Resource;

impl<P: Ports> Pond<P> {
    pub(super) fn get(&mut self, ports: &mut P, by: RequestId, get: TensorGet) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        let on = self.wanted(&get);
        // A repeat gets the same answer, whatever has become of the name since.
        if let Some(Lease { target, asked, .. }) = self.leases.get(client, get.lease).copied() {
            let is_repeat = on.asked != 0 && on.asked == asked;
            let means = |id: TensorId| target == id.into();
            let is_same = match get.target {
                Target::Id(id) => means(id),
                Target::Name(_) => self.lookup(&caller, &get.target).is_some_and(means),
            };
            if !is_repeat && !is_same {
                return Err(number_in_use(get.lease));
            }
            return self.grant(ports, by.conn, target, on, true);
        }
        // Who waits needs no hints about what is not there yet.
        let may_come = || !matches!(&get.target, Target::Name(name) if never(name).is_some());
        if get.wait_ms > 0 && self.lookup(&caller, &get.target).is_none() && may_come() {
            return self.wait_for(ports, by, get);
        }
        match self.usable(&caller, &get.target, get.mode) {
            Ok(tensor) => self.grant(ports, by.conn, tensor.into(), on, true),
            Err(failure)
                if get.wait_ms > 0
                    && may_come()
                    && matches!(failure.kind, ErrorKind::NotFound | ErrorKind::NotReady) =>
            {
                self.wait_for(ports, by, get)
            }
            Err(failure) => Err(failure),
        }
    }

    fn wanted(&self, get: &TensorGet) -> Wanted {
        let asked = self.leases.asked_tensor(&get.target);
        Wanted { lease: get.lease, mode: get.mode, asked }
    }

    fn wait_for(&mut self, ports: &mut P, by: RequestId, get: TensorGet) -> Answer<P::Fd> {
        self.room_for_wait(ports, by.conn)?;
        let deadline = wait_until(ports, get.wait_ms);
        self.park(by, Wish::Get(get), Some(deadline));
        Ok(Answered::Parked)
    }

    /// The tensor that a caller means, if the caller may have it.
    pub(super) fn lookup(&self, caller: &Caller, target: &Target) -> Option<TensorId> {
        let id = match target {
            Target::Id(id) => *id,
            Target::Name(name) => self.catalog.resolve(caller, name)?,
        };
        self.catalog.get(id).filter(|tensor| self.is_shared(tensor, caller)).map(|_| id)
    }

    /// Refuses an operator the bytes of what is not shared with the operator's own user.
    pub(super) fn may_touch(&self, caller: &Caller, id: TensorId) -> Result<(), Failure> {
        if !caller.sees_everything() || self.lookup(&caller.as_user(), &Target::Id(id)).is_some() {
            return Ok(());
        }
        let tensor = self.catalog.get(id);
        let what = tensor.map_or_else(|| id.to_string(), |tensor| tensor.label(id));
        let slab = tensor.and_then(|tensor| self.slabs.get(tensor.slab));
        Err(not_shared(&format!("tensor '{what}'"), slab.map(|slab| &slab.class.owner)))
    }

    /// The same, or what to tell the caller.
    pub(super) fn find(&self, caller: &Caller, target: &Target) -> Result<TensorId, Failure> {
        self.lookup(caller, target).ok_or_else(|| self.not_found(caller, target))
    }

    fn not_found(&self, caller: &Caller, target: &Target) -> Failure {
        let mut failure = Failure::new(ErrorKind::NotFound, format!("tensor '{target}' not found"));
        if let Target::Name(name) = target {
            if let Some(why) = never(name) {
                return failure.hint(why);
            }
            let public = public_of(name).and_then(|public| {
                let id = self.lookup(caller, &Target::Name(public.clone()))?;
                Some(is_in_public(
                    &public,
                    &self.slabs.get(self.catalog.get(id)?.slab)?.class.owner,
                ))
            });
            if let Some(ended) = self.catalog.find_ended(caller, name) {
                let ago_ms = self.now_ms.saturating_sub(ended.at_ms);
                let ago = units::long(ago_ms);
                failure.message.push_str(&format!("; it ended {ago} ago: {}", ended.why));
                failure.ended_ago_ms = Some(ago_ms);
                let shows = "`millpond tensor ls` lists the tensors";
                return failure.hint(public.unwrap_or_else(|| shows.to_owned()));
            }
            if let Some(public) = public {
                return failure.hint(public);
            }
            let visible = |tensor: &Tensor| self.is_shared(tensor, caller);
            failure.similar = self.catalog.similar(caller, name, visible);
        }
        let hint = way_out(&failure.similar, "millpond tensor ls");
        failure.hint(hint)
    }

    pub(super) fn usable(
        &self,
        caller: &Caller,
        target: &Target,
        mode: Mode,
    ) -> Result<TensorId, Failure> {
        let id = self.find(caller, target)?;
        self.not_a_part(id)?;
        let tensor = self.catalog.get(id).ok_or_else(|| self.not_found(caller, target))?;
        if self.slabs.get(tensor.slab).is_some_and(|slab| slab.orphan) {
            return Err(orphaned(&target.to_string()));
        }
        if tensor.is_deleted() {
            return Err(Failure::new(
                ErrorKind::NotFound,
                format!("tensor '{target}' was deleted"),
            ));
        }
        match self.slabs.get(tensor.slab) {
            Some(slab) if !slab.is_lost() => {}
            _ => return Err(lost(&target.to_string())),
        }
        // A writer must get at it before it is published; a reader must not.
        if mode == Mode::ReadOnly && !tensor.is_ready() {
            return Err(Failure::new(
                ErrorKind::NotReady,
                format!("tensor '{target}' is still being written"),
            )
            .hint("wait for its publish, or open it read-write to write it"));
        }
        Ok(id)
    }

    /// What a waiting request is told when its time is over.
    pub(super) fn not_yet(&self, conn: ConnId, get: &TensorGet) -> Failure {
        let Ok((_, caller)) = self.client_of(conn) else {
            return Failure::new(ErrorKind::Timeout, "nobody waits any more");
        };
        let why = match self.usable(&caller, &get.target, get.mode) {
            Ok(_) => "it came too late".to_owned(),
            Err(failure) => failure.message,
        };
        let waited = get.wait_ms;
        Failure::new(ErrorKind::Timeout, format!("waited {waited} ms, but {why}"))
    }

    /// Grants a lease; the same lease asked for again gets the same answer. `counts` says whether
    /// this is a get, of which there may be only so many.
    pub(super) fn grant(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        target: LeaseTarget,
        Wanted { lease, mode, asked }: Wanted,
        counts: bool,
    ) -> Answer<P::Fd> {
        let (id, _) = self.client_of(conn)?;
        let LeaseTarget::Tensor(tensor) = target else {
            let message = format!("lease {lease} is on a version, not on a tensor");
            return Err(Failure::new(ErrorKind::Invalid, message));
        };
        self.not_a_part(tensor)?;
        self.room_for_lease(ports, id, lease, Some((target, mode)))?;
        let Some(client) = self.clients.get(id) else { return Ok(Answered::Sent) };
        let (user, account) = (client.owner().user, Rc::clone(&client.account));
        // What an operator may look at, the operator may not map: the next daemon would not know
        // why, and free it.
        if self.lookup(&client.caller, &Target::Id(tensor)).is_none() {
            let message = format!("tensor {tensor} is not shared with you");
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("the admin socket can list and delete tensors, but not map them"));
        }
        self.record_borrower(ports, id, target)?;
        let mut counted = false;
        let is_new = self.leases.get(id, lease).is_none();
        if counts && is_new {
            let by = CountedLease { client: id, lease, mode, ended: false, asked };
            counted = self.count_access(ports, tensor, by)?;
        }
        let since_ms = ports.now_ms();
        self.leases.begin(&account, id, lease, Lease { target, mode, since_ms, counted, asked });
        self.counts.leases_granted += u64::from(is_new);
        self.schedule(tensor);
        let info = self.info(tensor, ports.monotonic_ms())?;
        let slab = self.slabs.get(info.slab);
        let backing = slab.map_or_else(Backing::default, |slab| slab.backing);
        let event = slab.and_then(|slab| slab.event);
        let fds = slab.and_then(|slab| slab.fd.clone()).into_iter().collect();
        let token = self.leases.token(id, lease, target, mode, user);
        let lease = Some((lease, mode, token));
        let grant = TensorGrant { info, lease, existed: false, backing, event };
        self.end_if_used_up(ports, tensor);
        Ok(Answered::Now(ReplyBody::Tensor(grant), fds))
    }

    /// Whether a client may have one lease more, under a number that is free or means the same;
    /// from then on the next daemon knows the client.
    pub(super) fn room_for_lease(
        &mut self,
        ports: &mut P,
        id: ClientId,
        lease: LeaseId,
        on: Option<(LeaseTarget, Mode)>,
    ) -> Result<(), Failure> {
        let most = self.caps.leases_per_client;
        let Some(client) = self.clients.get(id) else { return Ok(()) };
        match self.leases.get(id, lease) {
            Some(known) if on.is_none_or(|on| on == (known.target, known.mode)) => Ok(()),
            Some(_) => Err(number_in_use(lease)),
            None if self.leases.count_of(id) >= most => Err(Failure::new(
                ErrorKind::TooMany,
                format!("one client may hold at most {most} leases"),
            )
            .hint("release some, or raise `limits.leases_per_client`")),
            None => {
                if let Err(refused) = client.account.check(Resource::Leases, 1) {
                    let account = Rc::clone(&client.account);
                    return Err(self.cap_reached(ports, &account, refused));
                }
                self.record_client(ports, id)
            }
        }
    }

    /// Answers those who waited for this tensor.
    pub(super) fn wake(&mut self, ports: &mut P, id: TensorId) {
        let Some(tensor) = self.catalog.get(id) else { return };
        let owner = self.slabs.get(tensor.slab).map(|slab| &slab.class.owner);
        let name = tensor.name.as_ref().zip(owner).map(|(name, owner)| NameKey::new(owner, name));
        let keys = name.map(WaitKey::TensorName).into_iter().chain([WaitKey::Tensor(id)]);
        for ticket in self.parked.for_keys(keys) {
            let Some(parked) = self.parked.get(ticket) else { continue };
            let (conn, Wish::Get(get)) = (parked.by.conn, &parked.wish) else { continue };
            if self.could_have(conn, get, id) {
                let on = self.wanted(get);
                let again = ask_again(ports, || RequestBody::TensorGet(get.clone()));
                let by = parked.by;
                let answer = self.grant(ports, conn, id.into(), on, true);
                let answer = self.or_wait_for_keeper(ports, by, again, answer);
                self.answer_parked(ports, Some(ticket), answer);
            }
        }
    }

    /// Whether a get that waits means this tensor and can have it now. Whom it does not concern is
    /// passed over quickly: nobody else should wait for this.
    fn could_have(&self, conn: ConnId, get: &TensorGet, id: TensorId) -> bool {
        let caller = self.clients.connection(conn).map(|connection| &connection.caller);
        caller.is_some_and(|caller| {
            self.lookup(caller, &get.target) == Some(id)
                && self.usable(caller, &get.target, get.mode).is_ok()
        })
    }
}

/// Why nothing can get this name any more, if it can be found only where it is old.
fn never(name: &TensorRef) -> Option<String> {
    Some(format!("{}", TensorName::new(name.name.as_str()).err()?))
}

/// Until when somebody waits who is ready to wait for so long.
pub(super) fn wait_until<P: Ports>(ports: &P, wait_ms: u64) -> u64 {
    match wait_ms {
        WAIT_FOREVER => u64::MAX,
        wait => ports.monotonic_ms().saturating_add(wait),
    }
}

/// The process that kept the memory is gone; nobody new can open it.
pub(super) fn orphaned(name: &str) -> Failure {
    let message = format!("the process that kept the memory of tensor '{name}' is gone");
    Failure::new(ErrorKind::Lost, message)
        .hint("make it again; those who have it mapped keep it until they release it")
}

/// The record survived, the memory did not.
pub(super) fn lost(name: &str) -> Failure {
    Failure::new(ErrorKind::Lost, format!("the memory of tensor '{name}' is lost"))
        .hint(format!("`millpond tensor rm {name}` and make it again"))
}
