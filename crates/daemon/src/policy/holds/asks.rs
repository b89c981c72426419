//! What clients ask about holds: one more, one less, and the handle alone.

use std::rc::Rc;

use millpond_wire::message::{
    Mode, ReplyBody, Target, TensorCreate, TensorGrant, TensorHold, TensorInfo, TensorState,
};
use millpond_wire::record::{HoldRecord, HoldTold, HolderProcess, Record};
use millpond_wire::{Backing, ErrorKind, Failure, TensorId, Token};

use super::{Holder, is_watched};
use crate::accounts::Resource;
use crate::policy::answer::{Answer, Answered, from_port, gone};
use crate::policy::owner::Caller;
use crate::policy::parked::RequestId;
use crate::policy::pond::Pond;
use crate::policy::ports::{HolderSeen, Ports};

/// Holders that an error names.
const NAMED: usize = 8;

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn hold(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        hold: &TensorHold,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        if let Some(told) = self.repeated(caller, hold, false)? {
            return self.handle(ports, told.tensor);
        }
        let id = self.holdable(caller, &hold.target)?;
        let holder = self.find_holder(ports, hold.pid)?;
        if let Err(failure) = self.add_hold(ports, caller, id, holder, (hold.token, None)) {
            self.unwatch_unused(ports, holder);
            return Err(failure);
        }
        self.handle(ports, id)
    }

    pub(in crate::policy) fn unhold(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        hold: &TensorHold,
    ) -> Answer<P::Fd> {
        if let Some(told) = self.repeated(caller, hold, true)? {
            let Some(answer) = told.answer else { return Err(gone("tensor", told.tensor)) };
            return without_handle(*answer);
        }
        let id = self.find(caller, &hold.target)?;
        self.made_to_be_held(id)?;
        let by = caller.owner.user;
        let Some((holder, user)) = self.to_give_up(caller, id, hold.pid) else {
            return Err(self.not_held(id, hold.pid));
        };
        let count = self.holds.count_of(id, holder, user).saturating_sub(1);
        let mut info = self.info(id, ports.monotonic_ms())?;
        let left = self.holds.count_on(id).saturating_sub(1);
        info.holds = Some(left);
        if left == 0 && info.state != TensorState::Orphan {
            info.state = TensorState::Deleted;
        }
        let (token, answer) = (hold.token, Some(Box::new(info.clone())));
        let told = HoldTold { user: by, token, tensor: id, answer, create: None };
        self.change(ports, id, (holder, user), count, Some(told))?;
        self.unwatch_unused(ports, holder);
        if left == 0 {
            self.last_hold_ended(ports, id, &format!("its last hold was given up by user {by}"));
        }
        without_handle(info)
    }

    /// The handle without a hold.
    pub(in crate::policy) fn peek(
        &mut self,
        ports: &P,
        caller: &Caller,
        target: &Target,
    ) -> Answer<P::Fd> {
        let id = self.holdable(caller, target)?;
        self.handle(ports, id)
    }

    /// What can be refused about the hold that a create is, before anything is made.
    pub(in crate::policy) fn check_first_hold(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        create: &TensorCreate,
    ) -> Result<(), Failure> {
        match create.hold {
            Some(_) => self.room_for_hold(ports, caller, None, None),
            None => Ok(()),
        }
    }

    /// The answer to a create whose token was seen before, or what is wrong with its hold.
    pub(in crate::policy) fn repeated_create(
        &self,
        caller: &Caller,
        create: &TensorCreate,
    ) -> Result<Option<TensorId>, Failure> {
        let Some(token) = create.hold else { return Ok(None) };
        if create.ephemeral {
            let message = "a tensor cannot end with its creator and live as long as it is held";
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("leave out `ephemeral`: a hold can be for a process, and ends with it"));
        }
        let Some(told) = self.holds.told.get(caller.owner.user, token) else { return Ok(None) };
        let id = told.tensor;
        // Whatever has become of the name since.
        if told.create != Some(create.tensor) {
            return Err(used_twice(token));
        }
        if self.catalog.get(id).is_none_or(|tensor| tensor.is_deleted()) {
            let message = format!("tensor {id} was made and deleted");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        Ok(Some(id))
    }

    /// A create that found a tensor which is held holds it once more.
    pub(in crate::policy) fn hold_existing(
        &mut self,
        ports: &mut P,
        by: RequestId,
        id: TensorId,
        create: &TensorCreate,
    ) -> Result<(), Failure> {
        // One that made it is a repeat, however long ago that was.
        let Some(token) = create.hold.filter(|_| create.tensor != id) else { return Ok(()) };
        let (client, caller) = self.client_of(by.conn)?;
        if let Some(lease) = create.lease {
            self.room_for_lease(ports, client, lease, None)?;
        }
        self.add_hold(ports, &caller, id, None, (token, Some(create.tensor)))
    }

    /// A tensor was made with its first hold, which its own record says.
    pub(in crate::policy) fn first_hold(&mut self, id: TensorId, hold: Option<Token>) {
        let owner = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab));
        let Some((token, owner)) = hold.zip(owner.map(|slab| &slab.class.owner)) else { return };
        let user = owner.user;
        self.holds.set(id, &owner.tenant, (None, user), 1);
        let told = HoldTold { user, token, tensor: id, answer: None, create: Some(id) };
        self.holds.told.remember(told);
    }

    /// The request that this one repeats, if it does.
    fn repeated(
        &self,
        caller: &Caller,
        hold: &TensorHold,
        given_up: bool,
    ) -> Result<Option<HoldTold>, Failure> {
        let Some(told) = self.holds.told.get(caller.owner.user, hold.token) else {
            return Ok(None);
        };
        // A name may mean something else by now.
        let is_it = !matches!(hold.target, Target::Id(id) if id != told.tensor);
        match is_it && told.create.is_none() && told.answer.is_some() == given_up {
            true => Ok(Some(told.clone())),
            false => Err(used_twice(hold.token)),
        }
    }

    /// A tensor whose handle this caller may have.
    fn holdable(&self, caller: &Caller, target: &Target) -> Result<TensorId, Failure> {
        let id = self.usable(caller, target, Mode::ReadWrite)?;
        self.may_touch(caller, id)?;
        self.made_to_be_held(id)?;
        if !self.holds.are_on(id) {
            return Err(no_hold_left(&target.to_string()));
        }
        Ok(id)
    }

    fn made_to_be_held(&self, id: TensorId) -> Result<(), Failure> {
        let Some(tensor) = self.catalog.get(id) else { return Err(gone("tensor", id)) };
        if tensor.is_held() {
            return Ok(());
        }
        let message = format!("tensor '{}' was not made to be held", tensor.label(id));
        Err(Failure::new(ErrorKind::Invalid, message)
            .hint("get it instead, or make it with a hold from the start"))
    }

    /// For whom a hold is: from here on the end of that process is noticed, if there is one.
    fn find_holder(&mut self, ports: &mut P, pid: Option<u32>) -> Result<Holder, Failure> {
        let Some(pid) = pid else { return Ok(None) };
        let started = match ports.watch_holder(pid, None) {
            HolderSeen::Watched(started) => Some(started),
            HolderSeen::NoSuch => None,
            HolderSeen::Short(why) => {
                let message = format!("the end of process {pid} cannot be watched: {why}");
                return Err(Failure::new(ErrorKind::TooMany, message)
                    .hint("hold it for fewer processes, or for nobody in particular"));
            }
        };
        let is_gone = |process: &HolderProcess| !self.holds.gone.contains(process);
        let process = HolderProcess { pid, started };
        let process = Some(process).filter(is_gone).unwrap_or(HolderProcess { pid, started: None });
        Ok(Some(process))
    }

    /// Holds a tensor once more: checked, journalled, then so.
    fn add_hold(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: TensorId,
        holder: Holder,
        (token, create): (Token, Option<TensorId>),
    ) -> Result<(), Failure> {
        let user = caller.owner.user;
        self.room_for_hold(ports, caller, Some(id), holder)?;
        let Some(count) = self.holds.count_of(id, holder, user).checked_add(1) else {
            let message = format!("tensor {id} cannot be held more often");
            return Err(Failure::new(ErrorKind::TooMany, message));
        };
        let told = HoldTold { user, token, tensor: id, answer: None, create };
        self.change(ports, id, (holder, user), count, Some(told))
    }

    /// Whether a user may have one hold more, on a new tensor or on this one.
    fn room_for_hold(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: Option<TensorId>,
        holder: Holder,
    ) -> Result<(), Failure> {
        let account = self.account(&caller.owner);
        let user = caller.owner.user;
        let is_new = id.is_none_or(|id| self.holds.count_of(id, holder, user) == 0);
        let process = holder.filter(|_| is_watched(holder));
        let is_first = process.is_some_and(|process| !self.holds.holds_for(process, user));
        let wanted = [(Resource::Holds, is_new), (Resource::Holders, is_first)];
        for (resource, _) in wanted.into_iter().filter(|(_, more)| *more) {
            if let Err(refused) = account.check(resource, 1) {
                return Err(self.cap_reached(ports, &account, refused));
            }
        }
        Ok(())
    }

    /// Journal, then apply.
    pub(super) fn change(
        &mut self,
        ports: &mut P,
        tensor: TensorId,
        (process, user): (Holder, u32),
        count: u64,
        told: Option<HoldTold>,
    ) -> Result<(), Failure> {
        let record = HoldRecord { tensor, process, user, count, told };
        ports.journal(&Record::HoldChanged(record.clone())).map_err(from_port)?;
        self.replay_hold(record);
        if count > 0 {
            self.schedule(tensor);
        }
        Ok(())
    }

    /// The process of a hold that did not come about, or is over.
    pub(super) fn unwatch_unused(&self, ports: &mut P, holder: Holder) {
        if let Some(process) = holder.filter(|process| !self.holds.knows(*process)) {
            ports.unwatch_holder(process);
        }
    }

    /// Which hold a caller gives up: one of this process, or else one of nobody; the caller's own
    /// before another's.
    fn to_give_up(&self, caller: &Caller, id: TensorId, pid: Option<u32>) -> Option<(Holder, u32)> {
        let slab = self.slabs.get(self.catalog.get(id)?.slab)?;
        let may_all = caller.may_change(&slab.class.owner);
        let own = caller.owner.user;
        let theirs = self.holds.on(id).filter(|(_, user, _)| may_all || *user == own);
        let rank = |(holder, user, _): (Holder, u32, u64)| {
            let of_process = match (holder, pid) {
                (None, _) => false,
                (Some(process), Some(pid)) if process.pid == pid => true,
                (Some(_), _) => return None,
            };
            Some(((!of_process, user != own, !is_watched(holder)), (holder, user)))
        };
        theirs.filter_map(rank).min().map(|(_, found)| found)
    }

    fn not_held(&self, id: TensorId, pid: Option<u32>) -> Failure {
        let label = self.catalog.get(id).map_or_else(|| id.to_string(), |it| it.label(id));
        let named = |(holder, user, count): (Holder, u32, u64)| {
            let holder = match holder {
                Some(process) => format!("process {}", process.pid),
                None => "nobody in particular".to_owned(),
            };
            format!("{holder} ({count}, of user {user})")
        };
        let mut holders: Vec<String> = self.holds.on(id).take(NAMED).map(named).collect();
        let more = self.holds.on(id).count().saturating_sub(NAMED);
        if more > 0 {
            holders.push(format!("{more} more"));
        }
        let by = match holders.is_empty() {
            true => "nobody holds it".to_owned(),
            false => format!("it is held for {}", holders.join(", ")),
        };
        let whose =
            pid.map_or_else(|| "no hold".to_owned(), |pid| format!("no hold of process {pid}"));
        let message = format!("tensor '{label}' has {whose} that you could give up: {by}");
        Failure::new(ErrorKind::NotFound, message)
    }

    fn handle(&self, ports: &P, id: TensorId) -> Answer<P::Fd> {
        let info = self.info(id, ports.monotonic_ms())?;
        let slab = self.slabs.get(info.slab);
        let backing = slab.map_or_else(Backing::default, |slab| slab.backing);
        let event = slab.and_then(|slab| slab.event);
        let grant = TensorGrant { info, lease: None, existed: false, backing, event };
        Ok(Answered::Now(ReplyBody::Tensor(grant), Vec::new()))
    }

    /// The tenant whose users may hold a tensor.
    pub(super) fn tenant_of(&self, id: TensorId) -> Option<Rc<str>> {
        let slab = self.catalog.get(id).and_then(|tensor| self.slabs.get(tensor.slab))?;
        Some(Rc::clone(&slab.class.owner.tenant))
    }
}

fn without_handle<F>(info: TensorInfo) -> Answer<F> {
    let backing = Backing::default();
    let grant = TensorGrant { info, lease: None, existed: false, backing, event: None };
    Ok(Answered::Now(ReplyBody::Tensor(grant), Vec::new()))
}

fn used_twice(token: Token) -> Failure {
    Failure::new(ErrorKind::Invalid, format!("token {token} was used for another request"))
        .hint("make a new token for each request, and use it again only to repeat that one")
}

/// It is about to be deleted, as soon as the journal takes that.
pub(in crate::policy) fn no_hold_left(name: &str) -> Failure {
    let message = format!("tensor '{name}' is being deleted: its last hold has ended");
    Failure::new(ErrorKind::NotFound, message).hint("make it again")
}
