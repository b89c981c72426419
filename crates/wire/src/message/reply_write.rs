//! Replies to bytes.

use planus::Builder;

use super::reply::{
    ClientInfo, DeviceInfo, Event, LeaseInfo, MoverInfo, Reply, ReplyBody, Status, TensorGrant,
    TensorInfo,
};
use super::{group_codec as group, model_codec as model, uuid_to_id};
use crate::{Failure, LeaseTarget, TensorName, backing};
use millpond_schema::message as fb;

impl Reply {
    /// Writes the reply into `builder` and returns its bytes, however many they are.
    pub fn encode<'b>(&self, builder: &'b mut Builder) -> &'b [u8] {
        builder.clear();
        builder.finish(fb::Reply { number: self.number, body: write_body(&self.body) }, None)
    }
}

fn write_body(body: &ReplyBody) -> Option<fb::ReplyBody> {
    use fb::ReplyBody as B;
    Some(match body {
        ReplyBody::Failure(failure) => B::Failure(Box::new(write_failure(failure))),
        ReplyBody::Done => B::Done(Box::default()),
        ReplyBody::Welcome(welcome) => B::Welcome(Box::new(fb::Welcome {
            version: welcome.version,
            capabilities: welcome.capabilities,
            pond: Some(uuid_to_id(welcome.pond.0)),
            epoch: welcome.epoch.0,
            daemon_version: Some(welcome.daemon_version.clone()),
            tenant: Some(welcome.tenant.clone()),
            user: welcome.user,
            admin: welcome.admin,
            page_slots: welcome.page_slots,
        })),
        ReplyBody::Claimed { refused } => B::Claimed(Box::new(fb::Claimed {
            refused: Some(refused.iter().map(|lease| lease.0).collect()),
        })),
        ReplyBody::Tensor(grant) => B::TensorReply(Box::new(write_grant(grant))),
        ReplyBody::Published { generation } => {
            B::Published(Box::new(fb::Published { generation: *generation }))
        }
        ReplyBody::Details { info, leases } => B::TensorDetails(Box::new(fb::TensorDetails {
            info: Some(Box::new(write_info(info))),
            leases: Some(leases.iter().map(write_lease).collect()),
        })),
        ReplyBody::Tensors(tensors) => B::Tensors(Box::new(fb::Tensors {
            tensors: Some(tensors.iter().map(write_info).collect()),
        })),
        ReplyBody::Clients(clients) => B::Clients(Box::new(fb::Clients {
            clients: Some(clients.iter().map(write_client).collect()),
        })),
        ReplyBody::Status(status) => B::Status(Box::new(write_status(status))),
        ReplyBody::Event(event) => B::Event(Box::new(write_event(event))),
        ReplyBody::Moved { bytes, hashes } => {
            let hashes = model::write_hashes(hashes);
            B::Moved(Box::new(fb::Moved { bytes: *bytes, hashes }))
        }
        ReplyBody::Version(grant) => B::VersionReply(Box::new(model::write_grant(grant))),
        ReplyBody::Slabs { first, count } => {
            B::Slabs(Box::new(fb::Slabs { first: *first, count: *count }))
        }
        ReplyBody::VersionDetails(details) => {
            B::VersionDetails(Box::new(model::write_details(details)))
        }
        ReplyBody::Models(models) => B::Models(Box::new(fb::Models {
            models: Some(models.iter().map(model::write_model).collect()),
        })),
        ReplyBody::Swapped { current, previous } => B::Swapped(Box::new(fb::Swapped {
            current: Some(Box::new(model::write_info(current))),
            previous: previous.as_ref().map(ToString::to_string),
        })),
        ReplyBody::Collected { tensors, slabs, slab_bytes } => {
            B::Collected(Box::new(fb::Collected {
                tensors: Some(tensors.iter().map(write_info).collect()),
                slabs: *slabs,
                slab_bytes: *slab_bytes,
            }))
        }
        ReplyBody::Upgrading { from_version, from_epoch } => {
            B::Upgrading(Box::new(fb::Upgrading {
                from_version: Some(from_version.clone()),
                from_epoch: from_epoch.0,
            }))
        }
        ReplyBody::Groups(groups) => B::Groups(Box::new(fb::Groups {
            groups: Some(groups.iter().map(group::write_info).collect()),
        })),
        ReplyBody::GroupDetails(details) => {
            B::GroupDetails(Box::new(group::write_details(details)))
        }
        ReplyBody::GroupJoined { name, folder, anonymous } => {
            B::GroupJoined(Box::new(fb::GroupJoined {
                name: Some(name.to_string()),
                folder: Some(folder.clone()),
                anonymous: *anonymous,
            }))
        }
        ReplyBody::InMemfd { bytes } => B::InMemfd(Box::new(fb::InMemfd { bytes: *bytes })),
        ReplyBody::Unknown => return None,
    })
}

fn write_failure(failure: &Failure) -> fb::Failure {
    fb::Failure {
        kind: failure.kind.code(),
        message: Some(failure.message.clone()),
        hint: failure.hint.clone(),
        similar: Some(failure.similar.clone()),
        requested_bytes: failure.requested_bytes,
        free_bytes: failure.free_bytes,
        capacity_bytes: failure.capacity_bytes,
        ended_ago_ms: failure.ended_ago_ms,
        holders: Some(
            failure
                .holders
                .iter()
                .map(|holder| fb::Holder {
                    user: holder.user,
                    bytes: holder.bytes,
                    tensors: holder.tensors,
                })
                .collect(),
        ),
    }
}

fn write_name(name: Option<&TensorName>) -> Option<String> {
    name.map(ToString::to_string)
}

fn write_grant(grant: &TensorGrant) -> fb::TensorReply {
    let (lease, mode, token) = match &grant.lease {
        Some((lease, mode, token)) => (lease.0, mode.code(), Some(token.to_vec())),
        None => (0, 0, None),
    };
    let (info, existed) = (Some(Box::new(write_info(&grant.info))), grant.existed);
    let backing = backing::write(&grant.backing);
    fb::TensorReply { info, lease, mode, token, existed, backing }
}

fn write_info(info: &TensorInfo) -> fb::TensorInfo {
    fb::TensorInfo {
        tensor: Some(uuid_to_id(info.tensor.0)),
        name: write_name(info.name.as_ref()),
        dtype: info.dtype.code(),
        shape: Some(info.shape.dims().to_vec()),
        strides: Some(info.shape.strides()),
        device: Some(info.device.0.to_vec()),
        bytes: info.bytes,
        state: info.state.code(),
        generation: info.generation,
        user: info.user,
        audience: info.audience.code(),
        ephemeral: info.ephemeral,
        created_unix_ms: info.created_unix_ms,
        slab: Some(uuid_to_id(info.slab.0)),
        slab_bytes: info.slab_bytes,
        offset: info.offset,
        leases: info.leases,
        ttl_ms: info.life.ttl_ms,
        linger_ms: info.life.linger_ms,
        accesses_left: info.life.accesses,
    }
}

pub(super) fn write_lease(lease: &LeaseInfo) -> fb::LeaseInfo {
    fb::LeaseInfo {
        tensor: lease.target.tensor().map(|id| uuid_to_id(id.0)),
        version: lease.target.version().map(|id| uuid_to_id(id.0)),
        name: write_name(lease.name.as_ref()),
        mode: lease.mode.code(),
        bytes: lease.bytes,
        since_unix_ms: lease.since_unix_ms,
        client: Some(uuid_to_id(lease.client.0)),
        pid: lease.pid,
        program: Some(lease.program.clone()),
    }
}

fn write_client(client: &ClientInfo) -> fb::ClientInfo {
    fb::ClientInfo {
        client: Some(uuid_to_id(client.client.0)),
        pid: client.pid,
        user: client.user,
        program: Some(client.program.clone()),
        since_unix_ms: client.since_unix_ms,
        silent: client.silent,
        leases: Some(client.leases.iter().map(write_lease).collect()),
        mover: client.mover,
    }
}

fn write_device(device: &DeviceInfo) -> fb::DeviceInfo {
    fb::DeviceInfo {
        device: Some(device.device.0.to_vec()),
        name: Some(device.name.clone()),
        total_bytes: device.total_bytes,
        capacity_bytes: device.capacity_bytes,
        slab_bytes: device.slab_bytes,
        tensor_bytes: device.tensor_bytes,
        recycled_bytes: device.recycled_bytes,
        physical_used_bytes: device.physical_used_bytes,
        slabs: device.slabs,
        tensors: device.tensors,
        index: device.index,
        charged_bytes: device.charged_bytes,
        drift_bytes: device.drift_bytes,
        other_bytes: device.other_bytes,
    }
}

fn write_status(status: &Status) -> fb::Status {
    fb::Status {
        pond: Some(uuid_to_id(status.pond.0)),
        epoch: status.epoch.0,
        daemon_version: Some(status.daemon_version.clone()),
        daemon_pid: status.daemon_pid,
        keeper_pid: status.keeper_pid,
        driver: Some(status.driver.clone()),
        driver_ready: status.driver_ready,
        started_unix_ms: status.started_unix_ms,
        devices: Some(status.devices.iter().map(write_device).collect()),
        clients: status.clients,
        silent_clients: status.silent_clients,
        leases: status.leases,
        journal_bytes: status.journal_bytes,
        preload_library: status.preload_library.clone(),
        runtime_dir: Some(status.runtime_dir.clone()),
        lost_tensors: status.lost_tensors,
        movers: Some(status.movers.iter().map(write_mover).collect()),
        program: Some(status.program.clone()),
        service: status.service.as_ref().map(|service| service.unit.clone()),
        user_service: status.service.as_ref().is_some_and(|service| service.user),
        log_file: Some(status.log_file.clone()),
        loading: Some(status.loading.clone()),
    }
}

fn write_mover(mover: &MoverInfo) -> fb::MoverInfo {
    fb::MoverInfo {
        device: Some(mover.device.0.to_vec()),
        pid: mover.pid,
        moves: mover.moves,
        moved_bytes: mover.moved_bytes,
    }
}

fn write_event(event: &Event) -> fb::Event {
    fb::Event {
        sequence: event.sequence,
        unix_ms: event.unix_ms,
        kind: event.kind.code(),
        tensor: event.target.and_then(LeaseTarget::tensor).map(|id| uuid_to_id(id.0)),
        version: event.target.and_then(LeaseTarget::version).map(|id| uuid_to_id(id.0)),
        name: write_name(event.name.as_ref()),
        // Zero is root; absence travels as the overflow user, who can never be a client.
        user: event.user.unwrap_or(u32::MAX),
        text: Some(event.text.clone()),
    }
}
