//! Leases are granted, and those who wait are woken.

use millpond_wire::message::{ReplyBody, Target, TensorGet, TensorGrant, WAIT_FOREVER};
use millpond_wire::record::CountedLease;
use millpond_wire::{Backing, ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, Mode, TensorId};

use super::catalog::{Tensor, way_out};
use super::clients::Lease;
use super::owner::Caller;
use super::pond::{Answer, Pond, Waiter};
use super::ports::{ConnId, Ports};
use super::words;

impl<P: Ports> Pond<P> {
    pub(super) fn get(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        get: TensorGet,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(conn)?;
        // A repeat gets the same answer, whatever has become of the name since.
        let client = self.clients.clients.get(&client);
        if let Some(known) = client.and_then(|client| client.leases.get(&get.lease)) {
            let Some(tensor) = known.target.tensor() else {
                return Err(not_a_tensor(Some(get.lease)));
            };
            return self.grant(ports, conn, tensor, (get.lease, get.mode), true);
        }
        // Who waits needs no hints about what is not there yet.
        if get.wait_ms > 0 && self.lookup(&caller, &get.target).is_none() {
            return self.wait_for(ports, conn, number, get);
        }
        match self.usable(&caller, &get.target, get.mode) {
            Ok(tensor) => self.grant(ports, conn, tensor, (get.lease, get.mode), true),
            Err(failure)
                if get.wait_ms > 0
                    && matches!(failure.kind, ErrorKind::NotFound | ErrorKind::NotReady) =>
            {
                self.wait_for(ports, conn, number, get)
            }
            Err(failure) => Err(failure),
        }
    }

    fn wait_for(&mut self, ports: &P, conn: ConnId, number: u64, get: TensorGet) -> Answer<P::Fd> {
        let until_ms = match get.wait_ms {
            WAIT_FOREVER => u64::MAX,
            wait => ports.monotonic_ms().saturating_add(wait),
        };
        self.waiters.push(Waiter { conn, number, get, until_ms });
        Ok(None)
    }

    /// The tensor that a caller means, if the caller may have it.
    pub(super) fn lookup(&self, caller: &Caller, target: &Target) -> Option<TensorId> {
        let id = match target {
            Target::Id(id) => *id,
            Target::Name(name) => self.catalog.resolve(caller, name)?,
        };
        self.catalog.get(id).filter(|tensor| self.is_shared(tensor, caller)).map(|_| id)
    }

    /// The same, or what to tell the caller.
    pub(super) fn find(&self, caller: &Caller, target: &Target) -> Result<TensorId, Failure> {
        self.lookup(caller, target).ok_or_else(|| self.not_found(caller, target))
    }

    fn not_found(&self, caller: &Caller, target: &Target) -> Failure {
        let mut failure = Failure::new(ErrorKind::NotFound, format!("tensor '{target}' not found"));
        if let Target::Name(name) = target {
            if let Some(ended) = self.ended.find(caller, name) {
                let ago_ms = self.now_ms.saturating_sub(ended.at_ms);
                let ago = words::ago(ago_ms);
                failure.message.push_str(&format!("; it ended {ago} ago: {}", ended.why));
                failure.ended_ago_ms = Some(ago_ms);
                return failure.hint("`millpond tensor ls` shows what there is");
            }
            let visible = |tensor: &Tensor| self.is_shared(tensor, caller);
            failure.similar = self.catalog.similar(caller, name, visible);
        }
        let hint = way_out(&failure.similar, "millpond tensor ls");
        failure.hint(hint)
    }

    fn usable(&self, caller: &Caller, target: &Target, mode: Mode) -> Result<TensorId, Failure> {
        let id = self.find(caller, target)?;
        self.not_a_part(id)?;
        let tensor = self.catalog.get(id).ok_or_else(|| self.not_found(caller, target))?;
        if tensor.deleted {
            return Err(Failure::new(
                ErrorKind::NotFound,
                format!("tensor '{target}' was deleted"),
            ));
        }
        match self.slabs.get(tensor.slab) {
            Some(slab) if !slab.is_lost() => slab.backing.supported()?,
            _ => return Err(lost(&target.to_string())),
        }
        // A writer must get at it before it is published; a reader must not.
        if mode == Mode::ReadOnly && !tensor.ready {
            return Err(Failure::new(
                ErrorKind::NotReady,
                format!("tensor '{target}' is still being written"),
            )
            .hint("wait for its publish, or open it read-write to write it"));
        }
        Ok(id)
    }

    /// What a waiting request is told when its time is over.
    pub(super) fn not_yet(&self, waiter: &Waiter) -> Failure {
        let Ok((_, caller)) = self.client_of(waiter.conn) else {
            return Failure::new(ErrorKind::Timeout, "nobody waits any more");
        };
        let why = match self.usable(&caller, &waiter.get.target, waiter.get.mode) {
            Ok(_) => "it came too late".to_owned(),
            Err(failure) => failure.message,
        };
        let waited = waiter.get.wait_ms;
        Failure::new(ErrorKind::Timeout, format!("waited {waited} ms, but {why}"))
    }

    /// Grants a lease; the same lease asked for again gets the same answer. `counts` says whether
    /// this is a get, of which there may be only so many.
    pub(super) fn grant(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        tensor: TensorId,
        (lease, mode): (LeaseId, Mode),
        counts: bool,
    ) -> Answer<P::Fd> {
        let (id, _) = self.client_of(conn)?;
        self.not_a_part(tensor)?;
        self.room_for_lease(ports, id, lease, Some((tensor.into(), mode)))?;
        let Some(client) = self.clients.clients.get(&id) else { return Ok(None) };
        // What an operator may look at, the operator may not map: the next daemon would not know
        // why, and free it.
        if self.lookup(&client.caller, &Target::Id(tensor)).is_none() {
            let message = format!("tensor {tensor} is not shared with you");
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("the admin socket is for looking and deleting, not for mapping"));
        }
        let mut counted = false;
        if counts && !client.leases.contains_key(&lease) {
            let by = CountedLease { client: id, lease, mode, ended: false };
            counted = self.count_access(ports, tensor, by)?;
        }
        let Some(client) = self.clients.clients.get_mut(&id) else { return Ok(None) };
        let user = client.owner().user;
        let since_ms = ports.now_ms();
        client.leases.entry(lease).or_insert(Lease {
            target: tensor.into(),
            mode,
            since_ms,
            counted,
        });
        if let Some(tensor) = self.catalog.get_mut(tensor) {
            tensor.leases.insert((id, lease));
        }
        self.schedule(tensor);
        let info = self.info(tensor, ports.monotonic_ms())?;
        let slab = self.slabs.get(info.slab);
        let backing = slab.map_or_else(Backing::default, |slab| slab.backing);
        let fds = slab.and_then(|slab| slab.fd.clone()).into_iter().collect();
        let token = self.key.token(id, lease, tensor.into(), mode, user);
        let grant =
            TensorGrant { info, lease: Some((lease, mode, token)), existed: false, backing };
        self.end_if_used_up(ports, tensor);
        Ok(Some((ReplyBody::Tensor(grant), fds)))
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
        let most = self.limits.leases_per_client;
        let Some(client) = self.clients.clients.get(&id) else { return Ok(()) };
        match client.leases.get(&lease) {
            Some(known) if on.is_none_or(|on| on == (known.target, known.mode)) => Ok(()),
            Some(_) => {
                let message = format!("lease {lease} is already on something else");
                Err(Failure::new(ErrorKind::Invalid, message))
            }
            None if client.leases.len() >= most => Err(Failure::new(
                ErrorKind::TooMany,
                format!("{most} leases of one client are the limit"),
            )
            .hint("release some, or raise `limits.leases_per_client`")),
            None => self.record_client(ports, id),
        }
    }

    /// Answers those who waited for this tensor.
    pub(super) fn wake(&mut self, ports: &mut P, id: TensorId) {
        if self.waiters.is_empty() {
            return;
        }
        let mut still = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            // Whom it does not concern is passed over quickly: nobody else should wait for this.
            let caller = self.clients.conns.get(&waiter.conn).map(|connection| &connection.caller);
            let ready = caller
                .filter(|caller| self.lookup(caller, &waiter.get.target) == Some(id))
                .map(|caller| self.usable(caller, &waiter.get.target, waiter.get.mode));
            match ready {
                Some(Ok(tensor)) => {
                    let Waiter { conn, number, get, .. } = waiter;
                    let on = (get.lease, get.mode);
                    let body = match self.grant(ports, conn, tensor, on, true) {
                        Ok(Some((body, fd))) => {
                            self.answer_later(ports, conn, number, body, fd);
                            continue;
                        }
                        Ok(None) => continue,
                        Err(failure) => ReplyBody::Failure(failure),
                    };
                    self.answer_later(ports, conn, number, body, Vec::new());
                }
                _ => still.push(waiter),
            }
        }
        self.waiters = still;
    }
}

pub(super) fn not_a_tensor(lease: Option<LeaseId>) -> Failure {
    let lease = lease.map_or(0, |lease| lease.0);
    let message = format!("lease {lease} is on a version, not on a tensor");
    Failure::new(ErrorKind::Invalid, message)
}

/// The record survived, the memory did not.
pub(super) fn lost(name: &str) -> Failure {
    Failure::new(ErrorKind::Lost, format!("the memory of tensor '{name}' is lost"))
        .hint(format!("`millpond tensor rm {name}` and make it again"))
}
