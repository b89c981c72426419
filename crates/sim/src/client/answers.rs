//! A client reads what came.

use millpond_client_core::{Answer, Ended, Next, Progress, Received, Verdict};
use millpond_wire::message::{Reply, ReplyBody, RequestBody, Target, TensorGrant};
use millpond_wire::{ErrorKind, Failure, LeaseId, TensorState, Transport, VersionTarget};

use super::{Asked, Client, Greeting, Mapping, What};
use crate::card::Fd;
use crate::legacy::{SharedLegacy, home_of};
use crate::oracle::{Oracle, Violation, ensure};

const ONE_ANSWER: &str = "one answer for each request";

/// What surrounds a client that reads.
pub struct Around<'a> {
    pub oracle: &'a mut Oracle,
    /// Whether the journal or the keeper may have refused something.
    pub faults: bool,
    pub legacy: &'a SharedLegacy,
}

impl Client {
    /// Reads one reply.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn read(
        &mut self,
        bytes: &[u8],
        fds: Vec<Fd>,
        around: &mut Around<'_>,
    ) -> Result<(), Violation> {
        let reply = Reply::decode(bytes)
            .map_err(|error| Violation::new("replies can be read", error.to_string()))?;
        if self.greeting.is_some() {
            return self.greeted(reply, around);
        }
        let (number, said) = (reply.number, format!("{:?}", reply.body));
        match self.session.received(self.session.generation(), reply, fds) {
            Received::Answer(number) => self.answered(number, around),
            Received::Late => ensure(self.given_up.remove(&number), ONE_ANSWER, || {
                format!("pid {} number {number}: {said}", self.pid)
            }),
            Received::Unasked(ReplyBody::AdoptedFreed(tensor), _) => {
                if let Some(&tensor) = around.oracle.index.get(&tensor) {
                    self.take_back(tensor, around.legacy);
                }
                Ok(())
            }
            Received::Unasked(..) => Ok(()),
            Received::Unknown | Received::Stale => Err(Violation::new("replies can be read", said)),
        }
    }

    /// The daemon answers the hello or a claim.
    fn greeted(&mut self, reply: Reply, around: &mut Around<'_>) -> Result<(), Violation> {
        let Some(greeting) = &mut self.greeting else { return Ok(()) };
        match greeting.handshake.received(reply) {
            // Not an answer: it goes on waiting.
            Ok(Progress::Ignored) => return Ok(()),
            Ok(_) => {}
            Err(refusal) if greeting.handshake.welcome().is_none() => {
                let detail = format!("{refusal:?}");
                return Err(Violation::new("a living client is welcome", detail));
            }
            Err(_) => {
                // A journal that takes nothing: the connection is made anew.
                self.hang_up();
                return Ok(());
            }
        }
        if self.go_on_greeting() {
            return Ok(());
        }
        let Some(Greeting { handshake, lies }) = self.greeting.take() else { return Ok(()) };
        let Some((welcome, refused)) = handshake.finish() else { return Ok(()) };
        let pond = *around.oracle.pond.get_or_insert(welcome.pond);
        ensure(pond == welcome.pond, "a pond stays the same", || format!("{welcome:?}"))?;
        ensure(welcome.epoch.0 >= self.epoch, "epochs rise", || format!("{welcome:?}"))?;
        self.epoch = welcome.epoch.0;
        for lease in &refused {
            ensure(lies.contains(lease), "a living client keeps its leases", || {
                format!("pid {} lost {lease}: {:?}", self.pid, self.mappings.get(lease))
            })?;
        }
        let all = lies.iter().all(|lie| refused.contains(lie));
        ensure(all, "a lease without proof is refused", || format!("{lies:?}"))?;
        self.given_up.clear();
        self.session.connected(self.id, &welcome, &refused);
        Ok(())
    }

    /// What a name is answered with is the caller's own, or what the name says.
    fn check_named(&self, asked: &RequestBody, body: &ReplyBody) -> Result<(), Violation> {
        let (name, user) = match (asked, body) {
            (RequestBody::TensorGet(get), ReplyBody::Tensor(grant)) => match &get.target {
                Target::Name(name) => (name, grant.info.user),
                Target::Id(_) => return Ok(()),
            },
            (RequestBody::VersionGet(get), ReplyBody::Version(grant)) => match &get.target {
                VersionTarget::Name(name) => (&name.model, grant.info.user),
                VersionTarget::Id(_) => return Ok(()),
            },
            _ => return Ok(()),
        };
        let is_own = name.name.is_public() || name.user.unwrap_or(self.user) == user;
        ensure(is_own, "a bare name is one's own", || {
            format!("pid {} of user {} asked for {name} and got user {user}'s", self.pid, self.user)
        })
    }

    fn answered(&mut self, number: u64, around: &mut Around<'_>) -> Result<(), Violation> {
        let now = self.now();
        let Some(asked) = self.calls.get_mut(&number) else { return Ok(()) };
        let Next::Answered(Ok(answer)) = asked.call.next(&mut self.session, now) else {
            return Ok(());
        };
        let Answer { body, fds, .. } = answer;
        let (verdict, ended) = match &body {
            ReplyBody::Failure(failure) => (Verdict::Refused(failure.kind), Ended::Refused),
            _ => (Verdict::Good, Ended::Well),
        };
        if !asked.call.judge(verdict, now) {
            return Ok(());
        }
        let Some(Asked { what, fd, lease, expects, call }) = self.calls.remove(&number) else {
            return Ok(());
        };
        let body_asked = call.request().body.clone();
        let nobodys = call.end(&mut self.session, ended);
        self.delete_nobodys(nobodys, around.oracle);
        if let ReplyBody::Failure(failure) = &body {
            self.check_refusal(&what, failure, expects, around)?;
            if let What::Adopt(tensor) = what {
                self.take_back(tensor, around.legacy);
            } else if let What::Own(version) = what {
                self.attach_again(version, around.oracle);
            } else if failure.kind == ErrorKind::Mover {
                // Another mover is started for it.
                self.ask_with(body_asked, what, None, fd);
            } else {
                self.not_released(what);
            }
            return Ok(());
        }
        self.check_named(&body_asked, &body)?;
        self.fulfilled(what, body, lease, fds, around)
    }

    /// A refusal has a reason.
    fn check_refusal(
        &self,
        what: &What,
        failure: &Failure,
        expects: bool,
        around: &mut Around<'_>,
    ) -> Result<(), Violation> {
        if let What::Create(tensor) | What::Adopt(tensor) = *what {
            around.oracle.tensors[tensor].refusals += 1;
        }
        let detail = || format!("pid {} {what:?}: {failure:?}", self.pid);
        let is_lost = failure.kind == ErrorKind::Lost && !self.may_be_lost(what, around.oracle);
        ensure(!is_lost, "nothing is lost", detail)?;
        let internal = failure.kind == ErrorKind::Internal;
        ensure(around.faults || !internal, "no reason to fail", detail)?;
        let invalid =
            failure.kind == ErrorKind::Invalid && matches!(what, What::Create(_) | What::Hold(_));
        ensure(!invalid, "no reason to fail", detail)?;
        if let What::Get(Some(tensor)) | What::Publish(tensor) = *what
            && failure.kind == ErrorKind::NotFound
        {
            let known = &around.oracle.tensors[tensor];
            let there = expects && around.oracle.must_exist(known, false);
            ensure(!there, "what was made is there", detail)?;
        }
        Ok(())
    }

    /// Whether it may be that whoever kept the memory is gone.
    fn may_be_lost(&self, what: &What, oracle: &Oracle) -> bool {
        match *what {
            What::Get(Some(tensor))
            | What::Move(tensor, _)
            | What::Publish(tensor)
            | What::Hold(tensor) => oracle.has_lost_home(&oracle.tensors[tensor]),
            // By its name.
            What::Get(None) | What::Create(_) => oracle
                .tensors
                .iter()
                .any(|known| known.home.is_some() && oracle.has_lost_home(known)),
            _ => false,
        }
    }

    /// The observer and the client take note of what was done.
    fn fulfilled(
        &mut self,
        what: What,
        body: ReplyBody,
        lease: Option<LeaseId>,
        fds: Vec<Fd>,
        around: &mut Around<'_>,
    ) -> Result<(), Violation> {
        match (what, body) {
            (What::Create(_) | What::Get(_), ReplyBody::Tensor(grant)) => {
                if let Some(&tensor) = around.oracle.index.get(&grant.info.tensor) {
                    around.oracle.tensors[tensor].created = true;
                    self.granted(&grant, lease, tensor, fds.into_iter().next(), around)?;
                }
            }
            (What::Hold(tensor), ReplyBody::Tensor(grant)) => {
                let id = around.oracle.tensors[tensor].id;
                let fits = grant.lease.is_none() && grant.info.tensor == id && fds.is_empty();
                ensure(fits, "a hold has no lease", || format!("{grant:?}"))?;
            }
            (What::Adopt(tensor), ReplyBody::Tensor(grant)) => {
                let known = &mut around.oracle.tensors[tensor];
                ensure(!known.wrong, "only what was proved is adopted", || format!("{grant:?}"))?;
                known.created = true;
                known.published = true;
            }
            (What::Publish(tensor), ReplyBody::Published { .. }) => {
                around.oracle.tensors[tensor].published = true;
            }
            (What::Move(tensor, writes), ReplyBody::Moved { .. }) => {
                if writes && !around.oracle.tensors[tensor].part {
                    self.filled.push(tensor);
                }
            }
            (What::Delete(tensor), ReplyBody::Done) => {
                let known = &mut around.oracle.tensors[tensor];
                known.deleted |= known.user == self.user;
            }
            (What::Rename(tensor, name), ReplyBody::Done) => {
                around.oracle.tensors[tensor].renamed = Some(name);
            }
            (What::RenameModel(version), ReplyBody::Done) => {
                around.oracle.versions[version].renamed = true;
            }
            (What::Release(_) | What::GiveBack(_), ReplyBody::Done) => {}
            (What::Stage | What::Attach, ReplyBody::Version(grant)) => {
                self.attached(&grant, lease, fds, around.oracle)?;
            }
            (What::Own(version), ReplyBody::Slabs { .. }) => {
                self.attach_again(version, around.oracle);
            }
            (What::Commit(version), ReplyBody::Version(_)) => {
                around.oracle.versions[version].ready = true;
            }
            (What::Swap, ReplyBody::Swapped { .. }) => {}
            (What::Other, _) => {}
            (what, body) => {
                let detail = format!("{what:?}: {body:?}");
                return Err(Violation::new("an answer fits its request", detail));
            }
        }
        Ok(())
    }

    fn granted(
        &mut self,
        grant: &TensorGrant,
        asked: Option<LeaseId>,
        tensor: usize,
        fd: Option<Fd>,
        around: &Around<'_>,
    ) -> Result<(), Violation> {
        let granted = grant.lease;
        let fits = granted.map(|(lease, _, _)| lease) == asked;
        ensure(fits, "the lease that was asked for", || format!("{granted:?}, not {asked:?}"))?;
        let Some((lease, mode, _)) = granted else { return Ok(()) };
        let opened = match (&grant.backing.transport, fd) {
            (Transport::Ipc(handle), None) => {
                let opened = around.legacy.borrow().open(handle);
                let home = home_of(handle);
                if opened.is_none() && around.oracle.gone.borrow().contains(&home) {
                    // Who keeps it died meanwhile, and so there is nothing to map.
                    self.retiring.unmapped(lease);
                    return Ok(());
                }
                opened
            }
            (_, Some(Fd::Memory(memory))) => Some(memory),
            _ => None,
        };
        let Some(memory) = opened else {
            return Err(Violation::new("a lease comes with its slab", format!("{lease:?}")));
        };
        let serial = around.oracle.serials.get(&grant.info.slab).copied();
        let is_same = serial.is_none_or(|serial| serial == memory.serial);
        ensure(is_same, "a slab is always the same memory", || format!("{grant:?}"))?;
        let ready = grant.info.state == TensorState::Ready;
        let ranges = vec![(tensor, memory)];
        let mapping = Mapping { mode, ranges, written: false, ready, version: None };
        self.mappings.insert(lease, mapping);
        Ok(())
    }
}
