//! A pond for tests: the same each time.

use std::collections::BTreeMap;

use millpond::{ClientInfo, EventKind, GpuUuid, GroupInfo, ModelInfo};
use millpond_overview::{Card, DeviceParts, Overview, Readings, Sees, Selection};
use millpond_view::{self as view, Event};
use millpond_wire::message::{Event as WireEvent, LeaseInfo, ReplyBody, Status};
use millpond_wire::{TensorId, VersionId, VersionTag, samples};

/// When everything is looked at.
pub const NOW: u64 = 1_800_000_000_000;
const GIB: u64 = 1 << 30;
const HOUR: u64 = 3_600_000;

/// The sample of that name among the messages of the wire.
fn reply(name: &str) -> ReplyBody {
    samples::replies().into_iter().find(|(it, _)| *it == name).unwrap().1
}

fn uuid(kind: u32, number: usize) -> String {
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

/// What a pond of that many GPUs with some tensors, models, groups, caches and processes is like.
pub fn overview(gpus: u8, tensors: usize) -> Overview {
    let ReplyBody::Status(mut status) = reply("status") else { panic!("no status") };
    let device = |index: u8| millpond::DeviceInfo {
        device: GpuUuid([index + 1; 16]),
        index: u32::from(index),
        name: "NVIDIA H200".into(),
        total_bytes: 141 * GIB,
        capacity_bytes: 140 * GIB,
        slab_bytes: 61 * GIB,
        tensor_bytes: 57 * GIB,
        recycled_bytes: 2 * GIB,
        physical_used_bytes: Some(104 * GIB),
        charged_bytes: Some(34 * GIB),
        drift_bytes: Some(0),
        other_bytes: Some(9 * GIB),
        slabs: 12,
        tensors: 40,
    };
    status.devices = (0..gpus).map(device).collect();
    (status.started_unix_ms, status.clients, status.leases) = (NOW - 7 * HOUR, 6, 14);
    (status.movers, status.hosts, status.loading) = (Vec::new(), Vec::new(), String::new());
    status.driver = "nvidia 580.65.06".into();
    from(&status, tensors)
}

fn from(status: &Status, tensors: usize) -> Overview {
    let mut selection = Selection::new(2_000);
    let infos: Vec<_> = (0..tensors).map(tensor).collect();
    selection.add(&infos);
    let (tensors, tensor_groups, tensors_total) = selection.finish();
    let user_names: BTreeMap<u32, String> =
        [(0, "root".into()), (1000, "alice".into()), (1001, "bob".into())].into();
    let status = view::Status::new(status, |_| false);
    let mut overview = Overview {
        at_unix_ms: NOW,
        sees: Sees::Everything,
        cards: Vec::new(),
        models: models().iter().map(view::Model::from).collect(),
        groups: groups().iter().map(view::Group::from).collect(),
        members: Vec::new(),
        caches: caches(),
        processes: view::Process::all(&clients(), &view::Tags::default()),
        users: Vec::new(),
        tensors_shown: tensors.len() as u64,
        tensors,
        tensors_total,
        tensor_groups,
        user_names,
        status,
    };
    let card = |device: &view::Device| {
        let mut card = Card::new(&DeviceParts {
            device,
            sees: Sees::Everything,
            tensors: &overview.tensors,
            tensor_groups: &overview.tensor_groups,
            models: &overview.models,
            shared_slabs: &[],
            hosts: &[],
            movers: &[],
            groups: &overview.groups,
            caches: &overview.caches,
            user_names: &overview.user_names,
        });
        card.readings = Some(Readings {
            utilisation_ratio: Some(0.83),
            temperature_celsius: Some(54.0),
            power_watts: Some(412.0),
            ..Readings::default()
        });
        card
    };
    overview.cards = overview.status.devices.iter().map(card).collect();
    overview
}

fn tensor(number: usize) -> millpond::TensorInfo {
    let names = ["acts/layer0/x", "acts/layer1/x", "kv/llama", "weights/embed", "grads/step"];
    let name = match names.get(number) {
        Some(name) => (*name).to_owned(),
        None => format!("batch/{:05}", number),
    };
    millpond::TensorInfo {
        tensor: uuid(1, number).parse().unwrap(),
        name: Some(name.parse().unwrap()),
        device: GpuUuid([1; 16]),
        bytes: (GIB >> (number % 7)) + number as u64,
        leases: u32::try_from(number % 4).unwrap(),
        user: if number.is_multiple_of(3) { 1001 } else { 1000 },
        created_unix_ms: NOW - (number as u64 + 1) * 61_000,
        ..samples::tensor_info()
    }
}

fn models() -> Vec<ModelInfo> {
    let ReplyBody::Models(models) = reply("models") else { panic!("no models") };
    let base = models[0].versions[0].clone();
    let version = |model: &str, number: u64, gib: u64, readers| millpond::VersionInfo {
        version: uuid(2, usize::try_from(number).unwrap() + model.len() * 100).parse().unwrap(),
        model: model.parse().unwrap(),
        tag: VersionTag::numbered(number),
        device: GpuUuid([1; 16]),
        bytes: gib * GIB,
        slab_bytes: gib * GIB,
        shared_bytes: 0,
        tensors: 291,
        current: false,
        previous: false,
        readers,
        created_unix_ms: NOW - (10 - number) * HOUR,
        source: "/models/llama-7b/model.safetensors".into(),
        ..base.clone()
    };
    let mut llama = vec![version("llama", 1, 13, 0), version("llama", 2, 13, 4)];
    (llama[0].previous, llama[1].current) = (true, true);
    llama.push(version("llama", 3, 13, 0));
    let mut bert = vec![version("public/bert", 1, 2, 2)];
    bert[0].current = true;
    vec![
        ModelInfo { name: "llama".parse().unwrap(), user: 1000, versions: llama },
        ModelInfo { name: "public/bert".parse().unwrap(), user: 1001, versions: bert },
    ]
}

fn groups() -> Vec<GroupInfo> {
    let ReplyBody::Groups(groups) = reply("groups") else { panic!("no groups") };
    let group = |name: &str, used: u64, limit: Option<u64>| {
        let mut group = groups[0].clone();
        group.name = name.parse().unwrap();
        (group.lying, group.stuck, group.anonymous) = (false, false, false);
        for device in &mut group.devices {
            device.device = GpuUuid([1; 16]);
            (device.process_bytes, device.pond_bytes) = (used * GIB, 0);
            (device.context_bytes, device.folded_bytes, device.shared_bytes) = (GIB / 2, 0, 0);
            device.limit_bytes = limit.map(|limit| limit * GIB);
            device.effective_bytes = device.limit_bytes;
            (device.min_bytes, device.weight, device.processes) = (GIB, 2, 3);
        }
        group
    };
    vec![group("serving", 24, Some(32)), group("team-a", 10, Some(10)), group("lab", 0, None)]
}

fn caches() -> Vec<view::Cache> {
    let ReplyBody::Caches(caches) = reply("caches") else { panic!("no caches") };
    let mut other = caches[0].clone();
    other.cache = uuid(3, 1).parse().unwrap();
    (other.name, other.held_bytes) = ("bert/kv".parse().unwrap(), 15 * GIB);
    let on_card = |cache: &millpond::CacheInfo| millpond::CacheInfo {
        device: GpuUuid([1; 16]),
        wanted_bytes: 0,
        asked_bytes: 0,
        given_bytes: 3 * GIB,
        got_bytes: GIB,
        ..cache.clone()
    };
    let caches = [on_card(&caches[0]), on_card(&other)];
    caches.iter().map(view::Cache::from).collect()
}

fn clients() -> Vec<ClientInfo> {
    let ReplyBody::Clients(clients) = reply("clients") else { panic!("no clients") };
    let lease = |name: &str, bytes| LeaseInfo {
        target: TensorId(uuid(1, 2).parse().unwrap()).into(),
        name: Some(name.parse().unwrap()),
        bytes,
        ..clients[0].leases[0].clone()
    };
    let client = |pid, program: &str, silent, bytes| ClientInfo {
        client: Some(uuid(4, pid as usize).parse().unwrap()),
        pid,
        user: 1000,
        program: program.into(),
        since_unix_ms: NOW - u64::from(pid) * 10_000,
        silent,
        leases: vec![lease("kv/llama", bytes)],
        mover: false,
    };
    vec![
        client(4711, "serve.py", false, 13 * GIB),
        client(4712, "trainer", true, 2 * GIB),
        client(4800, "notebook", false, GIB / 4),
    ]
}

/// What happened.
pub fn events() -> Vec<Event> {
    let event = |sequence, kind, name: &str, text: &str| WireEvent {
        sequence,
        unix_ms: NOW - (40 - sequence) * 1_000,
        kind,
        target: Some(VersionId(uuid(2, 1).parse().unwrap()).into()),
        name: Some(name.parse().unwrap()),
        user: Some(1000),
        text: text.into(),
    };
    let all = [
        event(7, EventKind::TensorCreated, "acts/layer0/x", "1 GiB"),
        event(8, EventKind::TensorDeleted, "acts/old", "by its owner"),
    ];
    all.iter().map(Event::from).collect()
}

/// A pond with names that want to rule the terminal. The pond would refuse to make most of them.
pub fn hostile(names: &[String]) -> Overview {
    let mut overview = overview(1, 8);
    let name = |at: usize| names.get(at % names.len().max(1)).cloned().unwrap_or_default();
    for (at, process) in overview.processes.iter_mut().enumerate() {
        process.program = name(at);
        process.holds = names.to_vec();
    }
    for (at, model) in overview.models.iter_mut().enumerate() {
        for version in &mut model.versions {
            version.source = name(at);
        }
    }
    for (at, cache) in overview.caches.iter_mut().enumerate() {
        cache.program = name(at);
    }
    for card in &mut overview.cards {
        card.name = name(0);
    }
    overview.user_names = BTreeMap::from([(1000, name(1)), (1001, name(2))]);
    overview.status.loading = Some(name(3));
    overview.status.driver = name(4);
    overview
}
