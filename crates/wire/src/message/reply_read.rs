//! Bytes to replies.

use std::cell::Cell;

use planus::ReadAsRoot;

use super::is_unknown_kind;
use super::read::{self, DecodeError, Read};
use super::reply::{
    ClientInfo, DeviceInfo, Event, EventKind, LeaseInfo, MoverInfo, Reply, ReplyBody, Service,
    Status, TensorGrant, TensorInfo, Welcome,
};
use super::{Audience, Life, Mode, TensorState, group_codec as group, model_codec as model};
use crate::{
    ClientId, Epoch, ErrorKind, Failure, Holder, LeaseId, PondId, SlabId, TensorId, backing, limits,
};
use millpond_schema::message as fb;

impl Reply {
    /// Reads a reply completely.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that is not a reply of the schema, or beyond a cap.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let reply = fb::ReplyRef::read_as_root(bytes)?;
        let number = reply.number()?;
        let body = match reply.body() {
            Ok(Some(body)) => read_body(body, &Entries::of(bytes))?,
            Ok(None) => return Err(DecodeError::Missing("body")),
            Err(error) if is_unknown_kind(&error) => ReplyBody::Unknown,
            Err(error) => return Err(error.into()),
        };
        Ok(Reply { number, body })
    }
}

fn read_body(body: fb::ReplyBodyRef<'_>, entries: &Entries) -> Read<ReplyBody> {
    use fb::ReplyBodyRef as B;
    Ok(match body {
        B::Failure(failure) => ReplyBody::Failure(read_failure(failure)?),
        B::Done(_) => ReplyBody::Done,
        B::Welcome(welcome) => ReplyBody::Welcome(Welcome {
            version: welcome.version()?,
            capabilities: welcome.capabilities()?,
            pond: PondId(read::uuid("pond", welcome.pond()?)?),
            epoch: Epoch(welcome.epoch()?),
            daemon_version: text("daemon_version", welcome.daemon_version()?)?,
            tenant: text("tenant", welcome.tenant()?)?,
            user: welcome.user()?,
            admin: welcome.admin()?,
            page_slots: welcome.page_slots()?,
        }),
        B::Claimed(claimed) => ReplyBody::Claimed {
            refused: match claimed.refused()? {
                Some(leases) => {
                    read::at_most("refused", leases.len(), limits::LEASES_PER_MESSAGE)?;
                    leases.iter().map(LeaseId).collect()
                }
                None => Vec::new(),
            },
        },
        B::TensorReply(grant) => ReplyBody::Tensor(read_grant(grant)?),
        B::Published(published) => ReplyBody::Published { generation: published.generation()? },
        B::TensorDetails(details) => ReplyBody::Details {
            info: read_info(read::required("info", details.info()?)?)?,
            leases: list("leases", details.leases()?, entries, read_lease)?,
        },
        B::Tensors(tensors) => {
            ReplyBody::Tensors(list("tensors", tensors.tensors()?, entries, read_info)?)
        }
        B::Clients(clients) => {
            let read = |client| read_client(client, entries);
            ReplyBody::Clients(list("clients", clients.clients()?, entries, read)?)
        }
        B::Status(status) => ReplyBody::Status(Box::new(read_status(status, entries)?)),
        B::Event(event) => ReplyBody::Event(read_event(event)?),
        B::Moved(moved) => {
            ReplyBody::Moved { bytes: moved.bytes()?, hashes: model::read_hashes(moved.hashes()?)? }
        }
        B::VersionReply(grant) => ReplyBody::Version(Box::new(model::read_grant(grant, entries)?)),
        B::Slabs(slabs) => ReplyBody::Slabs { first: slabs.first()?, count: slabs.count()? },
        B::VersionDetails(details) => {
            ReplyBody::VersionDetails(Box::new(model::read_details(details, entries)?))
        }
        B::Models(models) => {
            let read = |it| model::read_model_info(it, entries);
            ReplyBody::Models(list("models", models.models()?, entries, read)?)
        }
        B::Swapped(swapped) => ReplyBody::Swapped {
            current: Box::new(model::read_info(read::required("current", swapped.current()?)?)?),
            previous: model::read_tag(swapped.previous()?)?,
        },
        B::Collected(collected) => ReplyBody::Collected {
            tensors: list("tensors", collected.tensors()?, entries, read_info)?,
            slabs: collected.slabs()?,
            slab_bytes: collected.slab_bytes()?,
        },
        B::Upgrading(upgrading) => ReplyBody::Upgrading {
            from_version: text("from_version", upgrading.from_version()?)?,
            from_epoch: Epoch(upgrading.from_epoch()?),
        },
        B::Groups(groups) => {
            let read = |it| group::read_info(it, entries);
            ReplyBody::Groups(list("groups", groups.groups()?, entries, read)?)
        }
        B::GroupDetails(details) => {
            ReplyBody::GroupDetails(Box::new(group::read_details(details, entries)?))
        }
        B::GroupJoined(joined) => ReplyBody::GroupJoined {
            name: group::required_name(joined.name()?)?,
            folder: read::text("folder", joined.folder()?, limits::PATH_BYTES)?,
            anonymous: joined.anonymous()?,
        },
        B::InMemfd(memfd) => ReplyBody::InMemfd { bytes: memfd.bytes()? },
    })
}

fn text(field: &'static str, value: Option<&str>) -> Read<String> {
    read::text(field, value, limits::TEXT_BYTES)
}

/// The least that an entry of a list takes in a message: its identity, the offset to it and the
/// one to its layout.
const ENTRY_BYTES: usize = 24;

/// Entries that the lists of one message may still have.
///
/// A list is offsets of four bytes, and many of them may lead to one entry, which may have a list
/// itself: counted for each list alone, a message of 64 KiB could say a million leases. Counted for
/// the whole message, there are no more entries than an honest writer has bytes for.
pub(super) struct Entries(Cell<usize>);

impl Entries {
    fn of(bytes: &[u8]) -> Self {
        Self(Cell::new((bytes.len() / ENTRY_BYTES).min(limits::LISTING)))
    }

    fn take(&self, field: &'static str, count: usize) -> Read<()> {
        let left = self.0.get();
        read::at_most(field, count, left)?;
        self.0.set(left - count);
        Ok(())
    }
}

/// Reads a list of tables.
pub(super) fn list<'a, T, U>(
    field: &'static str,
    value: Option<planus::Vector<'a, planus::Result<T>>>,
    entries: &Entries,
    read: impl Fn(T) -> Read<U>,
) -> Read<Vec<U>>
where
    planus::Vector<'a, planus::Result<T>>: IntoIterator<Item = planus::Result<T>>,
{
    let Some(values) = value else { return Ok(Vec::new()) };
    entries.take(field, values.len())?;
    // There are bytes for so many.
    let mut list = Vec::with_capacity(values.len());
    for value in values {
        list.push(read(value?)?);
    }
    Ok(list)
}

fn read_failure(failure: fb::FailureRef<'_>) -> Read<Failure> {
    let mut similar = Vec::new();
    if let Some(names) = failure.similar()? {
        read::at_most("similar", names.len(), limits::FAILURE_LIST)?;
        for name in names {
            similar.push(text("similar", Some(name?))?);
        }
    }
    let few = Entries(Cell::new(limits::FAILURE_LIST));
    Ok(Failure {
        kind: ErrorKind::from_code(failure.kind()?),
        message: text("message", failure.message()?)?,
        hint: failure.hint()?.map(|hint| text("hint", Some(hint))).transpose()?,
        similar,
        requested_bytes: failure.requested_bytes()?,
        free_bytes: failure.free_bytes()?,
        capacity_bytes: failure.capacity_bytes()?,
        ended_ago_ms: failure.ended_ago_ms()?,
        holders: list("holders", failure.holders()?, &few, |holder: fb::HolderRef<'_>| {
            Ok(Holder { user: holder.user()?, bytes: holder.bytes()?, tensors: holder.tensors()? })
        })?,
    })
}

fn read_grant(grant: fb::TensorReplyRef<'_>) -> Read<TensorGrant> {
    let info = read_info(read::required("info", grant.info()?)?)?;
    let lease = match grant.lease()? {
        0 => None,
        number => Some((
            LeaseId(number),
            read::code("mode", grant.mode()?, Mode::from_code)?,
            read::bytes16("token", read::required("token", grant.token()?)?)?,
        )),
    };
    let (existed, backing) = (grant.existed()?, backing::read(grant.backing()?)?);
    Ok(TensorGrant { info, lease, existed, backing })
}

fn read_info(info: fb::TensorInfoRef<'_>) -> Read<TensorInfo> {
    Ok(TensorInfo {
        tensor: TensorId(read::uuid("tensor", info.tensor()?)?),
        name: read::name(info.name()?)?,
        dtype: read::dtype(info.dtype()?)?,
        shape: read::shape(info.shape()?)?,
        device: read::gpu("device", info.device()?)?,
        bytes: info.bytes()?,
        state: read::code("state", info.state()?, TensorState::from_code)?,
        generation: info.generation()?,
        user: info.user()?,
        audience: read::code("audience", info.audience()?, Audience::from_code)?,
        ephemeral: info.ephemeral()?,
        created_unix_ms: info.created_unix_ms()?,
        slab: SlabId(read::uuid("slab", info.slab()?)?),
        slab_bytes: info.slab_bytes()?,
        offset: info.offset()?,
        leases: info.leases()?,
        life: Life {
            ttl_ms: info.ttl_ms()?,
            linger_ms: info.linger_ms()?,
            accesses: info.accesses_left()?,
        },
    })
}

pub(super) fn read_lease(lease: fb::LeaseInfoRef<'_>) -> Read<LeaseInfo> {
    Ok(LeaseInfo {
        target: read::required("tensor", read::lease_target(lease.tensor()?, lease.version()?)?)?,
        name: read::name(lease.name()?)?,
        mode: read::code("mode", lease.mode()?, Mode::from_code)?,
        bytes: lease.bytes()?,
        since_unix_ms: lease.since_unix_ms()?,
        client: ClientId(read::uuid("client", lease.client()?)?),
        pid: lease.pid()?,
        program: read::text("program", lease.program()?, limits::PROGRAM_BYTES)?,
    })
}

fn read_client(client: fb::ClientInfoRef<'_>, entries: &Entries) -> Read<ClientInfo> {
    Ok(ClientInfo {
        client: ClientId(read::uuid("client", client.client()?)?),
        pid: client.pid()?,
        user: client.user()?,
        program: read::text("program", client.program()?, limits::PROGRAM_BYTES)?,
        since_unix_ms: client.since_unix_ms()?,
        silent: client.silent()?,
        leases: list("leases", client.leases()?, entries, read_lease)?,
        mover: client.mover()?,
    })
}

fn read_device(device: fb::DeviceInfoRef<'_>) -> Read<DeviceInfo> {
    Ok(DeviceInfo {
        device: read::gpu("device", device.device()?)?,
        index: device.index()?,
        name: read::text("name", device.name()?, limits::NAME_BYTES)?,
        total_bytes: device.total_bytes()?,
        capacity_bytes: device.capacity_bytes()?,
        slab_bytes: device.slab_bytes()?,
        tensor_bytes: device.tensor_bytes()?,
        recycled_bytes: device.recycled_bytes()?,
        physical_used_bytes: device.physical_used_bytes()?,
        slabs: device.slabs()?,
        tensors: device.tensors()?,
        charged_bytes: device.charged_bytes()?,
        drift_bytes: device.drift_bytes()?,
        other_bytes: device.other_bytes()?,
    })
}

fn read_status(status: fb::StatusRef<'_>, entries: &Entries) -> Read<Status> {
    Ok(Status {
        pond: PondId(read::uuid("pond", status.pond()?)?),
        epoch: Epoch(status.epoch()?),
        daemon_version: text("daemon_version", status.daemon_version()?)?,
        daemon_pid: status.daemon_pid()?,
        keeper_pid: status.keeper_pid()?,
        driver: text("driver", status.driver()?)?,
        driver_ready: status.driver_ready()?,
        started_unix_ms: status.started_unix_ms()?,
        devices: list("devices", status.devices()?, entries, read_device)?,
        clients: status.clients()?,
        silent_clients: status.silent_clients()?,
        leases: status.leases()?,
        journal_bytes: status.journal_bytes()?,
        preload_library: status
            .preload_library()?
            .map(|path| text("preload_library", Some(path)))
            .transpose()?,
        runtime_dir: text("runtime_dir", status.runtime_dir()?)?,
        lost_tensors: status.lost_tensors()?,
        movers: list("movers", status.movers()?, entries, read_mover)?,
        program: text("program", status.program()?)?,
        service: read_service(&status)?,
        log_file: text("log_file", status.log_file()?)?,
        loading: text("loading", status.loading()?)?,
    })
}

fn read_service(status: &fb::StatusRef<'_>) -> Read<Option<Service>> {
    let unit = text("service", status.service()?)?;
    let user = status.user_service()?;
    Ok((!unit.is_empty()).then_some(Service { unit, user }))
}

fn read_mover(mover: fb::MoverInfoRef<'_>) -> Read<MoverInfo> {
    Ok(MoverInfo {
        device: read::gpu("device", mover.device()?)?,
        pid: mover.pid()?,
        moves: mover.moves()?,
        moved_bytes: mover.moved_bytes()?,
    })
}

fn read_event(event: fb::EventRef<'_>) -> Read<Event> {
    Ok(Event {
        sequence: event.sequence()?,
        unix_ms: event.unix_ms()?,
        kind: read::code("kind", event.kind()?, EventKind::from_code)?,
        target: read::lease_target(event.tensor()?, event.version()?)?,
        name: read::name(event.name()?)?,
        user: Some(event.user()?).filter(|user| *user != u32::MAX),
        text: text("text", event.text()?)?,
    })
}

#[cfg(test)]
mod tests {
    use planus::Builder;

    use super::*;
    use crate::{
        Backing, ContentHash, Dtype, GpuUuid, HANDLE_BYTES, Shape, TensorName, Transport, VersionId,
    };

    fn info() -> TensorInfo {
        TensorInfo {
            tensor: TensorId::random(),
            name: Some(TensorName::new("acts/x").unwrap()),
            dtype: Dtype::F8E4M3,
            shape: Shape::new([2, 3]).unwrap(),
            device: GpuUuid([3; 16]),
            bytes: 6,
            state: TensorState::Ready,
            generation: 2,
            user: 1000,
            audience: Audience::Everybody,
            ephemeral: false,
            created_unix_ms: 1,
            slab: SlabId::random(),
            slab_bytes: 2 << 20,
            offset: 256,
            leases: 1,
            life: Life { ttl_ms: Some(5), linger_ms: None, accesses: Some(0) },
        }
    }

    fn lease() -> LeaseInfo {
        LeaseInfo {
            target: VersionId::random().into(),
            name: None,
            mode: Mode::ReadOnly,
            bytes: 6,
            since_unix_ms: 5,
            client: ClientId::random(),
            pid: 77,
            program: "worker".into(),
        }
    }

    fn samples() -> Vec<ReplyBody> {
        let failure = Failure {
            similar: vec!["acts/y".into()],
            requested_bytes: Some(1),
            free_bytes: Some(0),
            capacity_bytes: Some(5),
            ended_ago_ms: Some(7),
            holders: vec![Holder { user: 0, bytes: 5, tensors: 1 }],
            ..Failure::new(ErrorKind::GpuFull, "full").hint("delete something")
        };
        let status = Status {
            pond: PondId::random(),
            epoch: Epoch(3),
            daemon_version: "0.1.0".into(),
            daemon_pid: 4,
            keeper_pid: 5,
            driver: "soft".into(),
            driver_ready: true,
            started_unix_ms: 9,
            devices: vec![DeviceInfo {
                device: GpuUuid([3; 16]),
                index: 0,
                name: "H200".into(),
                total_bytes: 10,
                capacity_bytes: 9,
                slab_bytes: 8,
                tensor_bytes: 7,
                recycled_bytes: 1,
                physical_used_bytes: Some(8),
                slabs: 1,
                tensors: 2,
                charged_bytes: Some(3),
                drift_bytes: Some(-4),
                other_bytes: Some(0),
            }],
            clients: 1,
            silent_clients: 0,
            leases: 2,
            journal_bytes: 100,
            preload_library: Some("/usr/lib/millpond/libmillpond_preload.so".into()),
            runtime_dir: "/run/millpond".into(),
            lost_tensors: 0,
            movers: vec![MoverInfo { device: GpuUuid([3; 16]), pid: 8, moves: 2, moved_bytes: 9 }],
            program: "/usr/bin/millpond".into(),
            service: Some(Service { unit: "millpond.service".into(), user: true }),
            log_file: "/var/log/millpond.log".into(),
            loading: "net".into(),
        };
        let mut all = vec![
            ReplyBody::Failure(failure),
            ReplyBody::Failure(Failure::new(ErrorKind::NotFound, "no")),
            ReplyBody::Done,
            ReplyBody::Welcome(Welcome {
                version: 1,
                capabilities: 0,
                pond: PondId::random(),
                epoch: Epoch(1),
                daemon_version: "0.1.0".into(),
                tenant: "local".into(),
                user: 1000,
                admin: false,
                page_slots: 512,
            }),
            ReplyBody::Claimed { refused: vec![LeaseId(4)] },
            ReplyBody::Tensor(TensorGrant {
                info: info(),
                lease: None,
                existed: true,
                backing: Backing::default(),
            }),
            ReplyBody::Tensor(TensorGrant {
                info: info(),
                lease: Some((LeaseId(1), Mode::ReadWrite, [1; 16])),
                existed: false,
                backing: Backing::default(),
            }),
            ReplyBody::Tensor(TensorGrant {
                info: info(),
                lease: Some((LeaseId(1), Mode::ReadWrite, [1; 16])),
                existed: false,
                backing: Backing {
                    transport: Transport::Mempool([6; HANDLE_BYTES]),
                    adopted: true,
                },
            }),
            ReplyBody::Tensor(TensorGrant {
                info: info(),
                lease: Some((LeaseId(1), Mode::ReadWrite, [1; 16])),
                existed: false,
                backing: Backing { transport: Transport::Ipc([7; HANDLE_BYTES]), adopted: false },
            }),
            ReplyBody::Published { generation: 4 },
            ReplyBody::Details { info: info(), leases: vec![lease()] },
            ReplyBody::Tensors(vec![info(), info()]),
            ReplyBody::Clients(vec![ClientInfo {
                client: ClientId::random(),
                pid: 1,
                user: 2,
                program: "x".into(),
                since_unix_ms: 3,
                silent: true,
                leases: vec![lease()],
                mover: true,
            }]),
            ReplyBody::Moved { bytes: 7, hashes: vec![] },
            ReplyBody::Moved { bytes: 7, hashes: vec![ContentHash([5; 16]); 3] },
            ReplyBody::Collected { tensors: vec![info()], slabs: 2, slab_bytes: 4 << 20 },
            ReplyBody::Upgrading { from_version: "0.1.0".into(), from_epoch: Epoch(4) },
            ReplyBody::Status(Box::new(status)),
            ReplyBody::Event(Event {
                sequence: 1,
                unix_ms: 2,
                kind: EventKind::TensorFreed,
                target: Some(TensorId::random().into()),
                name: None,
                user: None,
                text: "gone".into(),
            }),
            ReplyBody::InMemfd { bytes: 70_000 },
        ];
        all.extend(super::super::model_samples::replies(&lease()));
        all.extend(super::super::group_samples::replies());
        all
    }

    #[test]
    fn every_reply_comes_back_as_it_was() {
        let mut builder = Builder::new();
        for (number, body) in (0..).zip(samples()) {
            let reply = Reply { number, body };
            let bytes = reply.encode(&mut builder).to_vec();
            assert_eq!(Reply::decode(&bytes).unwrap(), reply);
        }
    }

    #[test]
    fn a_cut_reply_is_an_error_and_no_panic() {
        let mut builder = Builder::new();
        for body in samples() {
            let bytes = Reply { number: 1, body }.encode(&mut builder).to_vec();
            for length in 0..bytes.len() {
                let _ = Reply::decode(&bytes[..length]);
            }
        }
    }
    /// A message in which every offset of every list leads to the same entry.
    fn folded(clients: usize, leases: usize) -> Vec<u8> {
        let mut builder = Builder::new();
        let id = fb::Id { high: 1, low: 2 };
        let lease = fb::LeaseInfo {
            tensor: Some(id),
            client: Some(id),
            mode: Mode::ReadOnly.code(),
            ..fb::LeaseInfo::default()
        };
        let lease = planus::WriteAsOffset::prepare(&lease, &mut builder);
        let leases = vec![lease; leases];
        let client =
            fb::ClientInfo::create(&mut builder, id, 1, 2, (), 3, false, leases.as_slice(), false);
        let clients = vec![client; clients];
        let body = fb::Clients::create(&mut builder, clients.as_slice());
        let body = fb::ReplyBody::create_clients(&mut builder, body);
        let reply = fb::Reply::create(&mut builder, 1, body);
        builder.finish(reply, None).to_vec()
    }

    #[test]
    fn a_message_cannot_say_more_entries_than_it_has_bytes_for() {
        // 64 KiB that would be 64 million leases, which take 9 GB.
        let bytes = folded(8000, 8000);
        assert!(bytes.len() <= limits::MESSAGE_BYTES, "{}", bytes.len());
        assert!(matches!(Reply::decode(&bytes), Err(DecodeError::TooMany { .. })));
        let bytes = folded(2000, 2);
        assert!(matches!(Reply::decode(&bytes), Err(DecodeError::TooMany { .. })));
        // Each of its lists alone would do.
        assert!(matches!(Reply::decode(&folded(5, 5)), Err(DecodeError::TooMany { .. })));
        let few = Reply::decode(&folded(1, 5)).unwrap();
        assert!(matches!(few.body, ReplyBody::Clients(clients) if clients[0].leases.len() == 5));
    }
}
