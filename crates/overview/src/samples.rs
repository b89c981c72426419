//! Parts of ponds for tests.

use std::collections::BTreeMap;

use millpond::{
    Audience, CacheId, Dtype, GpuUuid, Shape, SlabId, Survives, TensorId, TensorInfo, TensorName,
    TensorState, TransportKind, VersionId, VersionState, VersionTag,
};
use millpond_view as view;
use millpond_wire::HostId;
use view::{Digest, Text};

use crate::{Card, DeviceParts, Sees, SharedSlab, TensorGroup};

pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const GPU: GpuUuid = GpuUuid([7; 16]);

pub(crate) fn device(total_bytes: u64) -> view::Device {
    view::Device {
        device: Text(GPU),
        index: 0,
        name: "NVIDIA H200".into(),
        total_bytes,
        capacity_bytes: total_bytes,
        slab_bytes: 0,
        tensor_bytes: 0,
        recycled_bytes: 0,
        physical_used_bytes: None,
        charged_bytes: None,
        drift_bytes: None,
        other_bytes: None,
        slabs: 0,
        tensors: 0,
    }
}

pub(crate) fn tensor_info(number: u128, name: &str, user: u32, bytes: u64) -> TensorInfo {
    TensorInfo {
        tensor: TensorId(uuid(number)),
        name: TensorName::new(name).ok(),
        dtype: Dtype::U8,
        shape: Shape::new([1]).unwrap(),
        device: GPU,
        bytes,
        state: TensorState::Ready,
        generation: 1,
        user,
        audience: Audience::User,
        ephemeral: false,
        created_unix_ms: 0,
        slab: SlabId(uuid(number)),
        slab_bytes: bytes,
        offset: 0,
        leases: 2,
        life: millpond::Life::default(),
        transport: TransportKind::Vmm,
        adopted: false,
        survives: Survives::Everything,
        home_pid: 0,
        holds: None,
    }
}

pub(crate) fn uuid(number: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(number)
}

pub(crate) fn tensor(number: u128, name: &str, user: u32, bytes: u64) -> view::Tensor {
    (&tensor_info(number, name, user, bytes)).into()
}

pub(crate) fn version(model: &str, tag: &str, slab_bytes: u64, shared_bytes: u64) -> view::Version {
    view::Version {
        id: Text(VersionId(uuid(9))),
        model: Text(model.parse().unwrap()),
        version: Text(VersionTag::new(tag).unwrap()),
        user: 1000,
        state: Text(VersionState::Ready),
        current: true,
        previous: false,
        lost: false,
        device: Text(GPU),
        share: Text(Audience::User),
        bytes: slab_bytes,
        slab_bytes,
        own_bytes: slab_bytes.saturating_sub(shared_bytes),
        shared_bytes,
        slab_count: 3,
        tensor_count: 300,
        readers: 4,
        layout_hash: Digest(None),
        content_hash: Digest(None),
        created_unix_ms: 0,
        ready_unix_ms: None,
        source: "/models/x".into(),
        stager_pid: None,
    }
}

pub(crate) fn model(versions: Vec<view::Version>) -> view::Model {
    let first = &versions[0];
    view::Model { name: first.model.clone(), user: first.user, current: None, versions }
}

pub(crate) fn group(name: &str, process_bytes: u64, limit_bytes: Option<u64>) -> view::Group {
    view::Group {
        name: Text(name.parse().unwrap()),
        folder: "/run/millpond/groups/x".into(),
        anonymous: false,
        owner: Some(1000),
        users: Vec::new(),
        process_count: 2,
        lying: false,
        stuck: false,
        broken: false,
        ends_silent: false,
        devices: vec![view::GroupDevice {
            device: Text(GPU),
            limit_bytes,
            effective_bytes: limit_bytes,
            min_bytes: 0,
            weight: 1,
            used_bytes: process_bytes,
            process_bytes,
            pond_bytes: 0,
            context_bytes: process_bytes / 8,
            folded_bytes: 0,
            shared_bytes: 0,
            process_count: 2,
        }],
    }
}

pub(crate) fn cache(group: &str, committed_bytes: u64, idle_bytes: u64) -> view::Cache {
    view::Cache {
        cache: Text(CacheId(uuid(3))),
        name: Text("llama/kv".parse().unwrap()),
        group: Text(group.parse().unwrap()),
        device: Text(GPU),
        pid: Some(42),
        program: "engine".into(),
        user: 1000,
        reserved_bytes: 64 * GIB,
        held_bytes: committed_bytes.saturating_add(idle_bytes),
        committed_bytes,
        idle_bytes,
        granule_bytes: 2 << 20,
        segments: 1,
        min_bytes: 0,
        weight: 1,
        wanted_bytes: 0,
        asked_bytes: 0,
        given_bytes: 0,
        got_bytes: 0,
    }
}

pub(crate) fn host(context_bytes: u64) -> view::Host {
    view::Host {
        id: Text(HostId(uuid(5))),
        device: Text(GPU),
        user: 1000,
        share: Text(Audience::User),
        pid: 77,
        tensors: 1,
        bytes: 0,
        context_bytes,
        sealed: false,
    }
}

pub(crate) fn mover(context_bytes: u64) -> view::Mover {
    view::Mover { device: Text(GPU), pid: 99, moves: 0, moved_bytes: 0, context_bytes }
}

/// Lists that own what [`DeviceParts`] borrows.
#[derive(Debug)]
pub(crate) struct Parts {
    pub device: view::Device,
    pub sees: Sees,
    pub tensors: Vec<view::Tensor>,
    pub tensor_groups: Vec<TensorGroup>,
    pub models: Vec<view::Model>,
    pub shared_slabs: Vec<SharedSlab>,
    pub hosts: Vec<view::Host>,
    pub movers: Vec<view::Mover>,
    pub groups: Vec<view::Group>,
    pub caches: Vec<view::Cache>,
    pub user_names: BTreeMap<u32, String>,
}

impl Parts {
    pub(crate) fn new(device: view::Device) -> Self {
        Self {
            device,
            sees: Sees::Everything,
            tensors: Vec::new(),
            tensor_groups: Vec::new(),
            models: Vec::new(),
            shared_slabs: Vec::new(),
            hosts: Vec::new(),
            movers: Vec::new(),
            groups: Vec::new(),
            caches: Vec::new(),
            user_names: BTreeMap::from([(1000, "alice".to_owned())]),
        }
    }

    pub(crate) fn card(&self) -> Card {
        Card::new(&DeviceParts {
            device: &self.device,
            sees: self.sees,
            tensors: &self.tensors,
            tensor_groups: &self.tensor_groups,
            models: &self.models,
            shared_slabs: &self.shared_slabs,
            hosts: &self.hosts,
            movers: &self.movers,
            groups: &self.groups,
            caches: &self.caches,
            user_names: &self.user_names,
        })
    }
}
