//! Connections, and the pond as a whole.

use super::{GPU, Sample, id};
use crate::message::{
    Claim, ClientInfo, Counters, Counts, DeviceInfo, Event, EventKind, Hello, HostInfo, LENGTHS,
    LeaseClaim, LeaseInfo, MoverInfo, Proof, RefusalCount, ReplyBody, RequestBody, RequestCount,
    ResourceUse, Service, Status, UserAccount, VERSION, Welcome,
};
use crate::{
    Audience, ClientId, Epoch, ErrorKind, Failure, Holder, HostId, LeaseId, Mode, PondId, TensorId,
    VersionId,
};

pub(super) fn requests() -> Vec<Sample<RequestBody>> {
    let hello = Hello {
        version: VERSION,
        capabilities: 3,
        client: ClientId(id(1)),
        program: "worker".into(),
        claims: true,
        proof: Some(Proof { pond: PondId(id(4)), token: [6; 16] }),
    };
    let on_tensor = LeaseClaim {
        lease: LeaseId(1),
        target: TensorId(id(2)).into(),
        mode: Mode::ReadWrite,
        token: [5; 16],
    };
    let on_version = LeaseClaim { target: VersionId(id(3)).into(), ..on_tensor };
    vec![
        ("hello", RequestBody::Hello(hello)),
        ("claim", RequestBody::Claim(Claim { leases: vec![on_tensor, on_version], last: true })),
        ("goodbye", RequestBody::Goodbye),
        ("ping", RequestBody::Ping),
        ("release", RequestBody::LeaseRelease { leases: vec![LeaseId(1), LeaseId(2)] }),
        ("status", RequestBody::PondStatus),
        ("clients", RequestBody::ClientList),
        ("accounts", RequestBody::AccountList),
        ("subscribe", RequestBody::Subscribe { from: 17 }),
        ("collect", RequestBody::Collect { unleased_for_ms: Some(60_000), dry_run: true }),
        ("collect-slabs", RequestBody::Collect { unleased_for_ms: None, dry_run: false }),
        ("upgrade", RequestBody::Upgrade { program: "/usr/bin/millpond".into() }),
        (
            "start-report",
            RequestBody::StartReport { loading: "net".into(), failed: "old: no such file".into() },
        ),
    ]
}

/// A lease on a version, as `ps` shows it.
pub(super) fn lease() -> LeaseInfo {
    LeaseInfo {
        target: VersionId(id(3)).into(),
        name: None,
        mode: Mode::ReadOnly,
        bytes: 6,
        since_unix_ms: 5,
        client: Some(ClientId(id(1))),
        pid: 77,
        program: "worker".into(),
    }
}

fn status() -> Status {
    let device = DeviceInfo {
        device: GPU,
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
    };
    Status {
        pond: PondId(id(4)),
        epoch: Epoch(3),
        daemon_version: "0.1.0".into(),
        daemon_pid: 4,
        keeper_pid: 5,
        driver: "soft".into(),
        driver_ready: true,
        started_unix_ms: 9,
        devices: vec![device; 2],
        clients: 1,
        silent_clients: 0,
        leases: 2,
        journal_bytes: 100,
        preload_library: Some("/usr/lib/millpond/libmillpond_preload.so".into()),
        runtime_dir: "/run/millpond".into(),
        lost_tensors: 0,
        movers: vec![MoverInfo {
            device: GPU,
            pid: 8,
            moves: 2,
            moved_bytes: 9,
            context_bytes: 3 << 20,
        }],
        hosts: vec![HostInfo {
            host: HostId(id(21)),
            device: GPU,
            user: 7,
            audience: Audience::Group,
            pid: 77,
            tensors: 2,
            bytes: 4 << 20,
            context_bytes: 1 << 20,
            sealed: true,
        }],
        program: "/usr/bin/millpond".into(),
        service: Some(Service { unit: "millpond.service".into(), user: true }),
        log_file: "/var/log/millpond.log".into(),
        loading: "net".into(),
        counters: counters(),
        daemon_resident_bytes: 11 << 20,
    }
}

/// Another number for each counter.
fn counters() -> Counters {
    let mut number = 0;
    let counts = Counts::of(|_| {
        number += 1;
        number
    });
    let created = RequestCount {
        kind: "create".into(),
        answered: 44,
        refused: 1,
        nanoseconds: 90_000,
        by_length: [1, 2, 3, 4, 5, 6, 7, 8, 9],
    };
    let pinged = RequestCount { kind: "ping".into(), by_length: [0; LENGTHS], ..created.clone() };
    Counters {
        counts,
        requests: vec![created, pinged],
        refusals: vec![RefusalCount { kind: ErrorKind::GpuFull, count: 2 }],
    }
}

pub(super) fn replies() -> Vec<Sample<ReplyBody>> {
    let failure = Failure {
        similar: vec!["acts/y".into(), "acts/z".into()],
        requested_bytes: Some(1),
        free_bytes: Some(0),
        capacity_bytes: Some(5),
        ended_ago_ms: Some(7),
        holders: vec![
            Holder { user: 0, bytes: 5, tensors: 1, cache: None, pid: None },
            Holder {
                user: 7,
                bytes: 4,
                tensors: 0,
                cache: Some("'kv' of engine (pid 7)".into()),
                pid: None,
            },
        ],
        ..Failure::new(ErrorKind::GpuFull, "full").hint("delete something")
    }
    .limit("limits.clients_per_user", 4, 3);
    let in_use = Failure {
        holders: vec![Holder { user: 8, bytes: 3, tensors: 1, cache: None, pid: Some(9) }],
        ..Failure::new(ErrorKind::InUse, "in use")
    };
    let resource = ResourceUse {
        name: "clients".into(),
        key: "limits.clients_per_user".into(),
        has: 2,
        cap: Some(4),
        is_bytes: true,
    };
    let user = UserAccount { user: 1000, resources: vec![resource.clone()] };
    let welcome = Welcome {
        version: VERSION,
        capabilities: 0,
        pond: PondId(id(4)),
        epoch: Epoch(1),
        daemon_version: "0.1.0".into(),
        tenant: "local".into(),
        user: 1000,
        admin: false,
        watch: true,
        page_slots: 512,
        token: Some([6; 16]),
    };
    let on_tensor = LeaseInfo {
        target: TensorId(id(2)).into(),
        name: Some("acts/x".parse().unwrap()),
        ..lease()
    };
    let client = ClientInfo {
        client: Some(ClientId(id(1))),
        pid: 1,
        user: 2,
        program: "x".into(),
        since_unix_ms: 3,
        silent: true,
        leases: vec![on_tensor, lease()],
        mover: true,
    };
    let event = Event {
        sequence: 1,
        unix_ms: 2,
        kind: EventKind::TensorFreed,
        target: Some(TensorId(id(2)).into()),
        name: Some("acts/x".parse().unwrap()),
        user: Some(3),
        text: "gone".into(),
    };
    let swapped = Event {
        kind: EventKind::ModelSwapped,
        target: Some(VersionId(id(3)).into()),
        ..event.clone()
    };
    let bare =
        Event { kind: EventKind::Draining, target: None, name: None, user: None, ..event.clone() };
    vec![
        ("failure", ReplyBody::Failure(failure)),
        ("failure-in-use", ReplyBody::Failure(in_use)),
        ("failure-bare", ReplyBody::Failure(Failure::new(ErrorKind::NotFound, "no"))),
        ("done", ReplyBody::Done),
        ("welcome", ReplyBody::Welcome(welcome)),
        ("claimed", ReplyBody::Claimed { refused: vec![LeaseId(4), LeaseId(5)] }),
        ("clients", ReplyBody::Clients(vec![client])),
        ("accounts", ReplyBody::Accounts { users: vec![user], all: vec![resource] }),
        ("status", ReplyBody::Status(Box::new(status()))),
        ("upgrading", ReplyBody::Upgrading { from_version: "0.1.0".into(), from_epoch: Epoch(4) }),
        ("event", ReplyBody::Event(event)),
        ("event-version", ReplyBody::Event(swapped)),
        ("event-bare", ReplyBody::Event(bare)),
        ("memfd", ReplyBody::InMemfd { bytes: 70_000 }),
    ]
}
