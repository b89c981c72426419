//! A client reads what came.

use std::collections::BTreeSet;

use millpond_wire::message::{Claim, Hello, LeaseClaim, Reply, ReplyBody, RequestBody, VERSION};
use millpond_wire::{ErrorKind, LeaseId, Mode, TensorId, TensorState};

use super::{Call, Client, LIES, Lease, Line, What};
use crate::card::Fd;
use crate::mutation::Mutation;
use crate::oracle::{Oracle, Violation, ensure};
use crate::rng::Rng;

/// What surrounds a client that reads.
pub struct Around<'a> {
    /// The observer.
    pub oracle: &'a mut Oracle,
    /// Chance.
    pub rng: &'a mut Rng,
    /// The broken rule.
    pub mutation: Option<Mutation>,
    /// Whether the journal or the keeper may have refused something.
    pub faults: bool,
}

impl Client {
    /// What is claimed from a new daemon.
    fn claims(&self, mutation: Option<Mutation>) -> Vec<LeaseClaim> {
        if mutation == Some(Mutation::ClaimsForgotten) {
            return Vec::new();
        }
        self.leases.values().filter(|lease| !lease.ending).map(|lease| lease.claim).collect()
    }

    /// The first message of a connection.
    pub fn greet(&mut self, mutation: Option<Mutation>) {
        let claims = !self.claims(mutation).is_empty();
        let program = "sim".to_owned();
        let hello = Hello { version: VERSION, capabilities: 0, client: self.id, program, claims };
        self.send(1, RequestBody::Hello(hello), None);
    }

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
        match std::mem::replace(&mut self.line, Line::Down) {
            Line::Greeting(socket) => {
                self.line = Line::Greeting(socket);
                self.welcomed(reply, around)
            }
            Line::Claiming(socket, lies) => {
                self.line = Line::Up(socket);
                self.claimed(&reply.body, &lies)
            }
            line => {
                self.line = line;
                self.answered(reply, fds, around)
            }
        }
    }

    fn welcomed(&mut self, reply: Reply, around: &mut Around<'_>) -> Result<(), Violation> {
        let welcome = match reply.body {
            ReplyBody::Welcome(welcome) => welcome,
            other => {
                return Err(Violation::new("a living client is welcome", format!("{other:?}")));
            }
        };
        let pond = *around.oracle.pond.get_or_insert(welcome.pond);
        ensure(pond == welcome.pond, "a pond stays the same", || format!("{welcome:?}"))?;
        ensure(welcome.epoch.0 >= self.epoch, "epochs rise", || format!("{welcome:?}"))?;
        self.epoch = welcome.epoch.0;
        self.generation += 1;
        self.strays.append(&mut self.late);
        let Line::Greeting(socket) = std::mem::replace(&mut self.line, Line::Down) else {
            return Ok(());
        };
        let mut leases = self.claims(around.mutation);
        if leases.is_empty() {
            self.line = Line::Up(socket);
            return Ok(());
        }
        let mut lies = BTreeSet::new();
        if around.rng.once_in(4)
            && let Some(known) = around.rng.pick(&around.oracle.tensors)
        {
            let lease = LeaseId(LIES + around.rng.below(1 << 20));
            let token = *around.rng.id().as_bytes();
            leases.push(LeaseClaim { lease, target: known.id.into(), mode: Mode::ReadOnly, token });
            lies.insert(lease);
        }
        self.line = Line::Claiming(socket, lies);
        self.send(2, RequestBody::Claim(Claim { leases, last: true }), None);
        Ok(())
    }

    fn claimed(&mut self, body: &ReplyBody, lies: &BTreeSet<LeaseId>) -> Result<(), Violation> {
        let ReplyBody::Claimed { refused } = body else {
            // A journal that takes nothing: the connection is made anew.
            self.hang_up();
            return Ok(());
        };
        for lease in refused {
            ensure(lies.contains(lease), "a living client keeps its leases", || {
                format!("pid {} lost {:?}", self.pid, self.leases.get(lease))
            })?;
        }
        let all = lies.iter().all(|lie| refused.contains(lie));
        ensure(all, "a lease without proof is refused", || format!("{lies:?}"))
    }

    fn answered(
        &mut self,
        reply: Reply,
        fds: Vec<Fd>,
        around: &mut Around<'_>,
    ) -> Result<(), Violation> {
        let Reply { number, body } = reply;
        let Some(call) = self.calls.remove(&number) else {
            let granted = match &body {
                ReplyBody::Tensor(grant) => grant.lease,
                ReplyBody::Version(grant) => grant.lease,
                _ => None,
            };
            if let Some((lease, _, _)) = granted {
                self.late.remove(&lease);
                self.strays.insert(lease);
            }
            return Ok(());
        };
        ensure(call.sent_on == Some(self.generation), "one answer for each request", || {
            format!("pid {} number {number}: {body:?}", self.pid)
        })?;
        let Call { body: body_asked, fd: fd_asked, what, lease, sends, expects, .. } = call;
        if let ReplyBody::Failure(failure) = &body {
            if sends > 1 {
                self.strays.extend(lease);
            }
            if let What::Create(tensor) = what {
                around.oracle.tensors[tensor].refusals += 1;
            }
            let detail = || format!("pid {} {what:?}: {failure:?}", self.pid);
            ensure(failure.kind != ErrorKind::Lost, "nothing is lost", detail)?;
            ensure(
                around.faults || failure.kind != ErrorKind::Internal,
                "no reason to fail",
                detail,
            )?;
            let invalid = failure.kind == ErrorKind::Invalid && matches!(what, What::Create(_));
            ensure(!invalid, "no reason to fail", detail)?;
            if let What::Get(Some(tensor)) | What::Publish(tensor) = what
                && failure.kind == ErrorKind::NotFound
            {
                let known = &around.oracle.tensors[tensor];
                let there = expects && around.oracle.must_exist(known, false);
                ensure(!there, "what was made is there", detail)?;
            }
            if let What::Own(version) = what {
                self.attach_again(version, around.oracle);
                return Ok(());
            }
            if let What::Release(leases) = &what {
                // What the pond could not record has not ended: it is told again.
                for lease in leases {
                    match self.leases.get_mut(lease) {
                        Some(lease) => lease.ending = false,
                        None => drop(self.strays.insert(*lease)),
                    }
                }
            }
            if failure.kind == ErrorKind::Mover {
                // Another mover is started for it.
                let again = self.ask(body_asked, what, None);
                if let Some(call) = self.calls.get_mut(&again) {
                    call.fd = fd_asked;
                }
            }
            return Ok(());
        }
        match (what, body) {
            (What::Create(_) | What::Get(_), ReplyBody::Tensor(grant)) => {
                if let Some(&tensor) = around.oracle.index.get(&grant.info.tensor) {
                    around.oracle.tensors[tensor].created = true;
                    let ready = grant.info.state == TensorState::Ready;
                    self.granted(
                        grant.lease,
                        lease,
                        grant.info.tensor,
                        tensor,
                        ready,
                        fds.into_iter().next(),
                    )?;
                }
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
            (What::Release(leases), ReplyBody::Done) => {
                for lease in leases {
                    self.leases.remove(&lease);
                }
            }
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
        granted: Option<(LeaseId, Mode, [u8; 16])>,
        asked: Option<LeaseId>,
        id: TensorId,
        tensor: usize,
        ready: bool,
        fd: Option<Fd>,
    ) -> Result<(), Violation> {
        let fits = granted.map(|(lease, _, _)| lease) == asked;
        ensure(fits, "the lease that was asked for", || format!("{granted:?}, not {asked:?}"))?;
        let Some((lease, mode, token)) = granted else { return Ok(()) };
        let Some(Fd::Memory(memory)) = fd else {
            return Err(Violation::new("a lease comes with its slab", format!("{lease:?}")));
        };
        let claim = LeaseClaim { lease, target: id.into(), mode, token };
        let held = Lease {
            claim,
            tensor,
            memory: Some(memory),
            ending: false,
            written: false,
            ready,
            version: None,
            more: Vec::new(),
        };
        self.leases.insert(lease, held);
        Ok(())
    }
}
