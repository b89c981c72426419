//! Versions are attached to: a lease, the manifest, and the slabs' descriptors.

use millpond_view::units;
use millpond_wire::message::{
    PartInfo, ReplyBody, RequestBody, VersionGet, VersionGrant, VersionState,
};
use millpond_wire::{
    Backing, ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, Mode, TensorId, VersionId,
    VersionTarget, caps,
};

use super::{Version, lost, retired};
use crate::policy::answer::{Answer, Answered, gone, now};
use crate::policy::get::wait_until;
use crate::policy::keeper_room::ask_again;
use crate::policy::leases::{Lease, Wanted, number_in_use};
use crate::policy::owner::Caller;
use crate::policy::parked::{RequestId, WaitKey, Wish};
use crate::policy::pond::Pond;
use crate::policy::ports::{ConnId, Ports};

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn get_version(
        &mut self,
        ports: &mut P,
        by: RequestId,
        get: VersionGet,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        let on = self.wanted_version(&get);
        // A repeat gets the same answer, whatever is current since.
        if let Some(Lease { target, asked, .. }) = self.leases.get(client, get.lease).copied() {
            let is_repeat = on.asked != 0 && on.asked == asked;
            let means = |id: VersionId| target == id.into();
            let is_same = match get.target {
                VersionTarget::Id(id) => means(id),
                VersionTarget::Name(_) => {
                    self.models.lookup(&caller, &get.target).is_some_and(means)
                }
            };
            if !is_repeat && !is_same {
                return Err(number_in_use(get.lease));
            }
            return self.grant_version(ports, by.conn, target, on);
        }
        // Who waits needs no hints about what is not there yet.
        if get.wait_ms > 0 && self.models.lookup(&caller, &get.target).is_none() {
            return self.wait_for_version(ports, by, get);
        }
        match self.usable_version(client, &caller, &get.target, get.mode) {
            Ok(id) => self.grant_version(ports, by.conn, id.into(), on),
            Err(failure)
                if get.wait_ms > 0
                    && matches!(failure.kind, ErrorKind::NotFound | ErrorKind::NotReady) =>
            {
                self.wait_for_version(ports, by, get)
            }
            Err(failure) => Err(failure),
        }
    }

    fn wanted_version(&self, get: &VersionGet) -> Wanted {
        let asked = self.leases.asked_version(&get.target);
        Wanted { lease: get.lease, mode: get.mode, asked }
    }

    fn wait_for_version(&mut self, ports: &mut P, by: RequestId, get: VersionGet) -> Answer<P::Fd> {
        self.room_for_wait(ports, by.conn)?;
        let deadline = wait_until(ports, get.wait_ms);
        self.park(by, Wish::Attach(get), Some(deadline));
        Ok(Answered::Parked)
    }

    fn usable_version(
        &self,
        client: ClientId,
        caller: &Caller,
        target: &VersionTarget,
        mode: Mode,
    ) -> Result<VersionId, Failure> {
        let id = self.models.find(caller, target)?;
        let Some(version) = self.models.versions.get(&id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("version {id} not found")));
        };
        let label = version.label();
        match version.state {
            VersionState::Staging if mode == Mode::ReadWrite && version.creator == client => {}
            VersionState::Staging => {
                let message = format!("{label} is still being written");
                return Err(
                    Failure::new(ErrorKind::NotReady, message).hint("wait for the end of its load")
                );
            }
            VersionState::Draining => {
                return Err(retired(&label, self.models.current_tag(version)));
            }
            VersionState::Ready if mode == Mode::ReadWrite => {
                let message = format!("{label} is ready and can no longer change");
                return Err(Failure::new(ErrorKind::Invalid, message)
                    .hint("open it read-only, or stage another version"));
            }
            VersionState::Ready => {}
        }
        if self.is_lost(version) {
            return Err(lost(&version.model.name, &version.tag));
        }
        Ok(id)
    }

    /// What a waiting request is told when its time is over.
    pub(in crate::policy) fn no_version_yet(&self, conn: ConnId, get: &VersionGet) -> Failure {
        let Ok((client, caller)) = self.client_of(conn) else {
            return Failure::new(ErrorKind::Timeout, "nobody waits any more");
        };
        let why = match self.usable_version(client, &caller, &get.target, get.mode) {
            Ok(_) => "it came too late".to_owned(),
            Err(failure) => failure.message,
        };
        Failure::new(ErrorKind::Timeout, format!("waited {} ms, but {why}", get.wait_ms))
    }

    /// Grants a lease; the same lease asked for again gets the same answer.
    pub(super) fn grant_version(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        target: LeaseTarget,
        Wanted { lease, mode, asked }: Wanted,
    ) -> Answer<P::Fd> {
        let (client_id, _) = self.client_of(conn)?;
        self.room_for_lease(ports, client_id, lease, Some((target, mode)))?;
        let Some(client) = self.clients.get(client_id) else { return Ok(Answered::Sent) };
        let Some(id) = target.version() else {
            let message = format!("lease {lease} is on a tensor, not on a version");
            return Err(Failure::new(ErrorKind::Invalid, message));
        };
        let Some(version) = self.models.get(id) else { return Err(gone("version", id)) };
        // What an operator may look at, the operator may not map: the next daemon would not know
        // why, and free it.
        if !client.caller.may_use(&version.owner, version.audience) {
            let message = format!("{} is not shared with you", version.label());
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("the admin socket can list and retire versions, but not map them"));
        }
        self.record_borrower(ports, client_id, target)?;
        let Some(client) = self.clients.get(client_id) else { return Ok(Answered::Sent) };
        let Some(version) = self.models.get(id) else { return Err(gone("version", id)) };
        let (user, since_ms) = (client.owner().user, ports.now_ms());
        let begun = Lease { target, mode, since_ms, counted: false, asked };
        self.counts.leases_granted += u64::from(self.leases.get(client_id, lease).is_none());
        self.leases.begin(&client.account, client_id, lease, begun);
        let token = self.leases.token(client_id, lease, target, mode, user);
        let mut fds: Vec<P::Fd> = version.manifest.iter().cloned().collect();
        let has_manifest = !fds.is_empty();
        let slabs = self.slab_fds(version, 0, caps::MESSAGE_FDS - fds.len());
        let count = u32::try_from(slabs.len()).unwrap_or(0);
        fds.extend(slabs);
        let grant = VersionGrant {
            info: self.version_info(id, version),
            parts: self.parts_of(version),
            lease: Some((lease, mode, token)),
            manifest: has_manifest,
            slabs: count,
        };
        Ok(Answered::Now(ReplyBody::Version(Box::new(grant)), fds))
    }

    /// A version without a lease.
    pub(super) fn answer_version(&self, id: VersionId) -> Answer<P::Fd> {
        let Some(version) = self.models.versions.get(&id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("version {id} not found")));
        };
        now(ReplyBody::Version(Box::new(VersionGrant {
            info: self.version_info(id, version),
            parts: self.parts_of(version),
            lease: None,
            manifest: false,
            slabs: 0,
        })))
    }

    pub(super) fn parts_of(&self, version: &Version<P::Fd>) -> Vec<PartInfo> {
        let info = |part: &TensorId| {
            let tensor = self.catalog.get(*part);
            let slab = tensor.and_then(|tensor| self.slabs.get(tensor.slab));
            PartInfo {
                tensor: *part,
                bytes: tensor.map_or(0, |tensor| tensor.bytes),
                backing: slab.map_or_else(Backing::default, |slab| slab.backing),
            }
        };
        version.parts.iter().map(info).collect()
    }

    /// Descriptors of slabs in the order of the arena, up to the first that is lost.
    fn slab_fds(&self, version: &Version<P::Fd>, first: usize, most: usize) -> Vec<P::Fd> {
        let wanted = version.parts.iter().skip(first).take(most);
        let fds = wanted.map_while(|part| {
            self.slabs.get(self.catalog.get(*part)?.slab).and_then(|slab| slab.fd.clone())
        });
        fds.collect()
    }

    /// More slabs, to who has a lease on the version.
    pub(in crate::policy) fn version_slabs(
        &self,
        client: ClientId,
        id: VersionId,
        lease: LeaseId,
        first: u32,
        count: u32,
    ) -> Answer<P::Fd> {
        let held = self.leases.get(client, lease);
        if held.is_none_or(|held| held.target != id.into()) {
            let message = format!("lease {lease} is not on version {id}");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        self.answer_slabs(id, first, count)
    }

    pub(super) fn answer_slabs(&self, id: VersionId, first: u32, count: u32) -> Answer<P::Fd> {
        let Some(version) = self.models.versions.get(&id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("version {id} not found")));
        };
        let at = usize::try_from(first).unwrap_or(usize::MAX);
        let most = usize::try_from(count).unwrap_or(usize::MAX).min(caps::MESSAGE_FDS);
        if at >= version.parts.len() || most == 0 {
            let message = format!(
                "{} has {}",
                version.label(),
                units::count(version.parts.len() as u64, "slab")
            );
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let fds = self.slab_fds(version, at, most);
        if fds.is_empty() {
            return Err(lost(&version.model.name, &version.tag));
        }
        let count = u32::try_from(fds.len()).unwrap_or(0);
        Ok(Answered::Now(ReplyBody::Slabs { first, count }, fds))
    }

    /// Answers those who waited for this version.
    pub(in crate::policy) fn wake_version(&mut self, ports: &mut P, id: VersionId) {
        let Some(version) = self.models.get(id) else { return };
        let keys = [WaitKey::Version(id), WaitKey::Model(version.model.clone())];
        for ticket in self.parked.for_keys(keys) {
            let Some(parked) = self.parked.get(ticket) else { continue };
            let (conn, Wish::Attach(get)) = (parked.by.conn, &parked.wish) else { continue };
            // Whom it does not concern is passed over quickly: nobody else should wait for this.
            let ready = self.client_of(conn).is_ok_and(|(client, caller)| {
                self.models.lookup(&caller, &get.target) == Some(id)
                    && self.usable_version(client, &caller, &get.target, get.mode).is_ok()
            });
            if ready {
                let on = self.wanted_version(get);
                let again = ask_again(ports, || RequestBody::VersionGet(get.clone()));
                let by = parked.by;
                let answer = self.grant_version(ports, conn, id.into(), on);
                let answer = self.or_wait_for_keeper(ports, by, again, answer);
                self.answer_parked(ports, Some(ticket), answer);
            }
        }
    }
}
