//! A connection begins, claims what its process holds, and ends leases.

use millpond_schema::message as fb;

use super::read::{self, DecodeError, Read, id_to_uuid, text, uuid_to_id};
use super::{MAGIC, Mode, RequestBody};
use crate::{ClientId, Epoch, LeaseId, LeaseTarget, PondId, TensorName, caps};

/// The keyed hash that proves a lease to the next daemon.
pub type LeaseToken = [u8; 16];
/// The keyed hash that proves a client's identity, to this daemon and the next ones.
pub type ClientToken = [u8; 16];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub version: u16,
    /// Bits for what the client can do beyond the version.
    pub capabilities: u64,
    /// The process, across its connections.
    pub client: ClientId,
    pub program: String,
    pub claims: bool,
    /// From the last welcome; none before the first.
    pub proof: Option<Proof>,
}

/// How a process proves that it is the client that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The pond that gave the token; another one cannot check it.
    pub pond: PondId,
    pub token: ClientToken,
}

pub(super) fn write_hello(hello: &Hello) -> fb::Hello {
    fb::Hello {
        magic: MAGIC,
        version: hello.version,
        capabilities: hello.capabilities,
        client: Some(uuid_to_id(hello.client.0)),
        program: Some(hello.program.clone()),
        claims: hello.claims,
        pond: hello.proof.map(|proof| uuid_to_id(proof.pond.0)),
        token: hello.proof.map(|proof| proof.token.to_vec()),
    }
}

pub(super) fn read_hello(hello: fb::HelloRef<'_>) -> Read<Hello> {
    let magic = hello.magic()?;
    if magic != MAGIC {
        return Err(DecodeError::BadValue { field: "magic", value: magic.into() });
    }
    Ok(Hello {
        version: hello.version()?,
        capabilities: hello.capabilities()?,
        client: ClientId(read::uuid("client", hello.client()?)?),
        program: read::text_up_to("program", hello.program()?, caps::PROGRAM_BYTES)?,
        claims: hello.claims()?,
        proof: read_proof(hello)?,
    })
}

fn read_proof(hello: fb::HelloRef<'_>) -> Read<Option<Proof>> {
    let Some(token) = hello.token()? else { return Ok(None) };
    let token = read::bytes16("token", token)?;
    Ok(Some(Proof { pond: PondId(read::uuid("pond", hello.pond()?)?), token }))
}

/// Some of the leases that a process holds from earlier connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub leases: Vec<LeaseClaim>,
    /// No more claims follow: the client is not silent any longer.
    pub last: bool,
}

/// One lease, with the proof that it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseClaim {
    pub lease: LeaseId,
    /// What it is on.
    pub target: LeaseTarget,
    pub mode: Mode,
    /// As it was granted.
    pub token: LeaseToken,
}

pub(super) fn write_claim(claim: &Claim) -> fb::Claim {
    fb::Claim {
        leases: Some(claim.leases.iter().map(write_lease_claim).collect()),
        last: claim.last,
    }
}

fn write_lease_claim(claim: &LeaseClaim) -> fb::LeaseClaim {
    fb::LeaseClaim {
        lease: claim.lease.0,
        tensor: claim.target.tensor().map(|id| uuid_to_id(id.0)),
        version: claim.target.version().map(|id| uuid_to_id(id.0)),
        mode: claim.mode.code(),
        token: Some(claim.token.to_vec()),
    }
}

pub(super) fn read_claim(claim: fb::ClaimRef<'_>) -> Read<Claim> {
    let mut leases = Vec::new();
    if let Some(claims) = claim.leases()? {
        read::at_most("leases", claims.len(), caps::LEASES_PER_MESSAGE)?;
        for claim in claims {
            let claim = claim?;
            leases.push(LeaseClaim {
                lease: required_lease(claim.lease()?)?,
                target: read::required(
                    "tensor",
                    read::lease_target(claim.tensor()?, claim.version()?)?,
                )?,
                mode: read::code("mode", claim.mode()?, Mode::from_code)?,
                token: read::bytes16("token", read::required("token", claim.token()?)?)?,
            });
        }
    }
    Ok(Claim { leases, last: claim.last()? })
}

/// A lease's number, where zero means none.
pub(super) fn read_lease(number: u64) -> Option<LeaseId> {
    (number != 0).then_some(LeaseId(number))
}

pub(super) fn required_lease(number: u64) -> Read<LeaseId> {
    read_lease(number).ok_or(DecodeError::Missing("lease"))
}

pub(super) fn write_release(leases: &[LeaseId]) -> fb::LeaseRelease {
    fb::LeaseRelease { leases: Some(leases.iter().map(|lease| lease.0).collect()) }
}

pub(super) fn read_release(release: fb::LeaseReleaseRef<'_>) -> Read<RequestBody> {
    let leases = read::required("leases", release.leases()?)?;
    read::at_most("leases", leases.len(), caps::LEASES_PER_MESSAGE)?;
    Ok(RequestBody::LeaseRelease { leases: leases.iter().map(LeaseId).collect() })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Version of the protocol that will be spoken.
    pub version: u16,
    /// What the daemon can do beyond the version.
    pub capabilities: u64,
    pub pond: PondId,
    /// Which daemon of it.
    pub epoch: Epoch,
    pub daemon_version: String,
    /// The tenant that the socket stands for.
    pub tenant: String,
    /// Who the daemon thinks the client is.
    pub user: u32,
    /// Whether this is the admin socket.
    pub admin: bool,
    /// Whether this is the socket that shows everything and changes nothing.
    pub watch: bool,
    /// Counters in the page that comes along; zero if none does.
    pub page_slots: u32,
    /// What proves the client's identity from now on.
    pub token: Option<ClientToken>,
}

pub(super) fn write_welcome(welcome: &Welcome) -> fb::Welcome {
    fb::Welcome {
        version: welcome.version,
        capabilities: welcome.capabilities,
        pond: Some(uuid_to_id(welcome.pond.0)),
        epoch: welcome.epoch.0,
        daemon_version: Some(welcome.daemon_version.clone()),
        tenant: Some(welcome.tenant.clone()),
        user: welcome.user,
        admin: welcome.admin,
        watch: welcome.watch,
        page_slots: welcome.page_slots,
        token: welcome.token.map(|token| token.to_vec()),
    }
}

pub(super) fn read_welcome(welcome: fb::WelcomeRef<'_>) -> Read<Welcome> {
    Ok(Welcome {
        version: welcome.version()?,
        capabilities: welcome.capabilities()?,
        pond: PondId(read::uuid("pond", welcome.pond()?)?),
        epoch: Epoch(welcome.epoch()?),
        daemon_version: text("daemon_version", welcome.daemon_version()?)?,
        tenant: text("tenant", welcome.tenant()?)?,
        user: welcome.user()?,
        admin: welcome.admin()?,
        watch: welcome.watch()?,
        page_slots: welcome.page_slots()?,
        token: welcome.token()?.map(|token| read::bytes16("token", token)).transpose()?,
    })
}

pub(super) fn write_claimed(refused: &[LeaseId]) -> fb::Claimed {
    fb::Claimed { refused: Some(refused.iter().map(|lease| lease.0).collect()) }
}

pub(super) fn read_claimed(claimed: fb::ClaimedRef<'_>) -> Read<Vec<LeaseId>> {
    let Some(leases) = claimed.refused()? else { return Ok(Vec::new()) };
    read::at_most("refused", leases.len(), caps::LEASES_PER_MESSAGE)?;
    Ok(leases.iter().map(LeaseId).collect())
}

/// One lease, as `ps` and `inspect` show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// What it is on.
    pub target: LeaseTarget,
    /// The tensor's name, or the model's.
    pub name: Option<TensorName>,
    pub mode: Mode,
    /// The tensor's bytes, or those of the version's slabs.
    pub bytes: u64,
    pub since_unix_ms: u64,
    /// Nobody is told the identities of other users' clients.
    pub client: Option<ClientId>,
    pub pid: u32,
    pub program: String,
}

pub(super) fn write_lease_info(lease: &LeaseInfo) -> fb::LeaseInfo {
    fb::LeaseInfo {
        tensor: lease.target.tensor().map(|id| uuid_to_id(id.0)),
        version: lease.target.version().map(|id| uuid_to_id(id.0)),
        name: read::write_name(lease.name.as_ref()),
        mode: lease.mode.code(),
        bytes: lease.bytes,
        since_unix_ms: lease.since_unix_ms,
        client: lease.client.map(|client| uuid_to_id(client.0)),
        pid: lease.pid,
        program: Some(lease.program.clone()),
    }
}

pub(super) fn read_lease_info(lease: fb::LeaseInfoRef<'_>) -> Read<LeaseInfo> {
    Ok(LeaseInfo {
        target: read::required("tensor", read::lease_target(lease.tensor()?, lease.version()?)?)?,
        name: read::name(lease.name()?)?,
        mode: read::code("mode", lease.mode()?, Mode::from_code)?,
        bytes: lease.bytes()?,
        since_unix_ms: lease.since_unix_ms()?,
        client: lease.client()?.map(|id| ClientId(id_to_uuid(id))),
        pid: lease.pid()?,
        program: read::text_up_to("program", lease.program()?, caps::PROGRAM_BYTES)?,
    })
}
