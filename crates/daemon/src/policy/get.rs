//! Leases are granted, tensors are published, and those who wait are woken.

use millpond_wire::message::{
    EventKind, Reply, ReplyBody, Target, TensorGet, TensorGrant, WAIT_FOREVER,
};
use millpond_wire::record::Record;
use millpond_wire::{ErrorKind, Failure, LeaseId, Mode, TensorId, Token};

use super::clients::Lease;
use super::owner::Caller;
use super::pond::{Answer, Pond, Waiter, from_port, now};
use super::ports::{ConnId, Ports};

impl<P: Ports> Pond<P> {
    pub(super) fn get(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        get: TensorGet,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (_, caller) = self.client_of(conn)?;
        match self.usable(&caller, &get.target, get.mode) {
            Ok(tensor) => self.grant(ports, conn, tensor, get.lease, get.mode),
            Err(failure)
                if get.wait_ms > 0
                    && matches!(failure.kind, ErrorKind::NotFound | ErrorKind::NotReady) =>
            {
                let until_ms = match get.wait_ms {
                    WAIT_FOREVER => u64::MAX,
                    wait => ports.now_ms().saturating_add(wait),
                };
                self.waiters.push(Waiter { conn, number, get, until_ms });
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// The tensor that a caller means, if the caller may have it.
    pub(super) fn find(&self, caller: &Caller, target: &Target) -> Result<TensorId, Failure> {
        let id = match target {
            Target::Id(id) => Some(*id),
            Target::Name(name) => self.catalog.resolve(caller, name),
        };
        let visible = |id: &TensorId| {
            let tensor = self.catalog.get(*id)?;
            let pool = &self.slabs.get(tensor.slab)?.pool;
            caller.may_use(&pool.owner, pool.audience).then_some(())
        };
        id.filter(|id| visible(id).is_some()).ok_or_else(|| self.not_found(caller, target))
    }

    fn not_found(&self, caller: &Caller, target: &Target) -> Failure {
        let mut failure = Failure::new(ErrorKind::NotFound, format!("tensor '{target}' not found"));
        if let Target::Name(name) = target {
            failure.similar = self.catalog.similar(caller, name, |tensor| {
                self.slabs
                    .get(tensor.slab)
                    .is_some_and(|slab| caller.may_use(&slab.pool.owner, slab.pool.audience))
            });
        }
        match failure.similar.first() {
            Some(close) => {
                let hint = format!("did you mean '{close}'?");
                failure.hint(hint)
            }
            None => failure.hint("`millpond tensor ls` shows what there is"),
        }
    }

    fn usable(&self, caller: &Caller, target: &Target, mode: Mode) -> Result<TensorId, Failure> {
        let id = self.find(caller, target)?;
        let tensor = self.catalog.get(id).ok_or_else(|| self.not_found(caller, target))?;
        if tensor.deleted {
            return Err(Failure::new(
                ErrorKind::NotFound,
                format!("tensor '{target}' was deleted"),
            ));
        }
        if self.slabs.get(tensor.slab).is_none_or(|slab| slab.fd.is_none()) {
            return Err(Failure::new(
                ErrorKind::Lost,
                format!("the memory of tensor '{target}' is lost"),
            )
            .hint(format!("`millpond tensor rm {target}` and make it again")));
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

    /// Grants a lease; the same lease asked for again gets the same answer.
    pub(super) fn grant(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        tensor: TensorId,
        lease: LeaseId,
        mode: Mode,
    ) -> Answer<P::Fd> {
        let (id, _) = self.client_of(conn)?;
        self.record_client(ports, id)?;
        let most = self.limits.leases_per_client;
        let Some(client) = self.clients.clients.get_mut(&id) else { return Ok(None) };
        let user = client.owner().user;
        match client.leases.get(&lease) {
            Some(known) if known.tensor == tensor && known.mode == mode => {}
            Some(_) => {
                let message = format!("lease {lease} is already on something else");
                return Err(Failure::new(ErrorKind::Invalid, message));
            }
            None if client.leases.len() >= most => {
                return Err(Failure::new(
                    ErrorKind::TooMany,
                    format!("{most} leases of one client are the limit"),
                )
                .hint("release some, or raise `limits.leases_per_client`"));
            }
            None => {
                let since_ms = ports.now_ms();
                client.leases.insert(lease, Lease { tensor, mode, since_ms });
                if let Some(tensor) = self.catalog.get_mut(tensor) {
                    tensor.leases.push((id, lease));
                }
            }
        }
        let info = self.info(tensor)?;
        let fd = self.slabs.get(info.slab).and_then(|slab| slab.fd.clone());
        let token = self.key.token(id, lease, tensor, mode, user);
        let grant = TensorGrant { info, lease: Some((lease, mode, token)) };
        Ok(Some((ReplyBody::Tensor(grant), fd)))
    }

    pub(super) fn publish(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: TensorId,
        token: Token,
    ) -> Answer<P::Fd> {
        self.find(caller, &Target::Id(id))?;
        let Some(tensor) = self.catalog.get_mut(id) else { return Ok(None) };
        if tensor.published == Some(token) {
            return now(ReplyBody::Published { generation: tensor.generation });
        }
        let generation = tensor.generation + 1;
        ports
            .journal(&Record::TensorPublished { tensor: id, token, generation })
            .map_err(from_port)?;
        tensor.ready = true;
        tensor.generation = generation;
        tensor.published = Some(token);
        let (name, user) = (tensor.name.clone(), caller.owner.user);
        let text = format!("generation {generation}");
        self.happened(ports, EventKind::TensorPublished, Some(id), name, Some(user), text);
        self.wake(ports, id);
        now(ReplyBody::Published { generation })
    }

    /// Answers those who waited for this tensor.
    pub(super) fn wake(&mut self, ports: &mut P, id: TensorId) {
        if self.waiters.is_empty() {
            return;
        }
        let mut still = Vec::new();
        for waiter in std::mem::take(&mut self.waiters) {
            let ready = self
                .client_of(waiter.conn)
                .and_then(|(_, caller)| self.usable(&caller, &waiter.get.target, waiter.get.mode));
            match ready {
                Ok(tensor) if tensor == id => {
                    let Waiter { conn, number, get, .. } = waiter;
                    let body = match self.grant(ports, conn, tensor, get.lease, get.mode) {
                        Ok(Some((body, fd))) => {
                            ports.reply(conn, Reply { number, body }, fd);
                            continue;
                        }
                        Ok(None) => continue,
                        Err(failure) => ReplyBody::Failure(failure),
                    };
                    ports.reply(conn, Reply { number, body }, None);
                }
                _ => still.push(waiter),
            }
        }
        self.waiters = still;
    }
}
