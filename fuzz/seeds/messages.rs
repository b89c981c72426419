//! Messages of every kind.

use millpond_keeper::channel::{HoldKey, Message};
use millpond_mover::channel::{FromMover, Job, Pieces, PiecesKind, ToMover, Why, Work};
use millpond_wire::message::{
    Claim, ClientInfo, DeviceInfo, Event, EventKind, Hello, LeaseClaim, LeaseInfo, Life, MoveWork,
    MoverInfo, Rename, Reply, ReplyBody, Request, RequestBody, Status, Target, TensorCreate,
    TensorGet, TensorGrant, TensorInfo, TensorMove, TensorPublish, VERSION, WAIT_FOREVER, Welcome,
};
use millpond_wire::{
    Audience, Backing, ClientId, ContentHash, Dtype, Epoch, ErrorKind, Failure, GpuUuid, Holder,
    LeaseId, Mode, Piece, PondId, Run, Shape, SlabId, TensorId, TensorName, TensorState, Token,
};
use planus::Builder;
use uuid::Uuid;

use crate::Folder;

const ID: Uuid = Uuid::from_u64_pair(0x1111_2222_3333_4444, 0x5555_6666_7777_8888);

fn name(text: &str) -> Option<TensorName> {
    TensorName::new(text).ok()
}

const LIFE: Life = Life { ttl_ms: Some(60_000), linger_ms: Some(500), accesses: Some(3) };

pub fn requests(folder: &Folder) {
    let (tensor, client) = (TensorId(ID), ClientId(ID));
    let claim = LeaseClaim {
        lease: LeaseId(3),
        target: tensor.into(),
        mode: Mode::ReadWrite,
        token: [9; 16],
    };
    let create = TensorCreate {
        tensor,
        name: name("acts/x"),
        dtype: Dtype::Bf16,
        shape: Shape::new([4096, 8]).expect("a shape"),
        device: Some(GpuUuid([1; 16])),
        audience: Audience::Group,
        ephemeral: true,
        zero: true,
        lease: Some(LeaseId(1)),
        life: LIFE,
    };
    let life = Life::default();
    let bare = TensorCreate { name: None, device: None, lease: None, life, ..create.clone() };
    let publish = |name, replace| {
        RequestBody::TensorPublish(TensorPublish { tensor, token: Token(ID), name, replace })
    };
    let bytes_move = |work| {
        let (token, offset, bytes) = (Token(ID), 256, 4096);
        RequestBody::TensorMove(TensorMove { token, tensor, offset, bytes, work })
    };
    let collect = |unleased_for_ms, dry_run| RequestBody::Collect { unleased_for_ms, dry_run };
    let by_name = Target::Name("~1000/acts/x".parse().expect("a name"));
    let get = |target, wait_ms| {
        let (lease, mode) = (LeaseId(2), Mode::ReadOnly);
        RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms })
    };
    let rename =
        Rename { object: tensor.into(), name: name("acts/y").expect("a name"), token: Token(ID) };
    let hello =
        Hello { version: VERSION, capabilities: 1, client, program: "seed".into(), claims: true };
    for (seed, body) in [
        ("hello", RequestBody::Hello(hello)),
        ("claim", RequestBody::Claim(Claim { leases: vec![claim; 3], last: true })),
        ("goodbye", RequestBody::Goodbye),
        ("ping", RequestBody::Ping),
        ("status", RequestBody::PondStatus),
        ("clients", RequestBody::ClientList),
        ("create", RequestBody::TensorCreate(create)),
        ("create-bare", RequestBody::TensorCreate(bare)),
        ("get", get(by_name.clone(), 5000)),
        ("get-id", get(Target::Id(tensor), WAIT_FOREVER)),
        ("publish", publish(None, false)),
        ("publish-as", publish(name("acts/x"), true)),
        ("move-put", bytes_move(MoveWork::Put { file_offset: 512 })),
        ("move-get", bytes_move(MoveWork::Get { file_offset: 512 })),
        ("move-copy", bytes_move(MoveWork::Copy { from: tensor, from_offset: 8192 })),
        ("move-zero", bytes_move(MoveWork::Zero)),
        ("collect", collect(Some(1000), false)),
        ("collect-slabs", collect(None, true)),
        ("upgrade", RequestBody::Upgrade { program: "/usr/bin/millpond".into() }),
        (
            "start-report",
            RequestBody::StartReport { loading: "net".into(), failed: "old: no such file".into() },
        ),
        ("delete", RequestBody::TensorDelete { tensor }),
        ("inspect", RequestBody::TensorInspect(by_name)),
        ("inspect-id", RequestBody::TensorInspect(Target::Id(tensor))),
        ("list", RequestBody::TensorList { prefix: "acts/".into() }),
        ("release", RequestBody::LeaseRelease { leases: vec![LeaseId(1), LeaseId(2)] }),
        ("subscribe", RequestBody::Subscribe { from: 7 }),
        ("rename", RequestBody::Rename(rename)),
    ] {
        folder.seed(seed, Request { number: 5, body }.encode(&mut Builder::new()));
    }
}

fn info(text: &str) -> TensorInfo {
    TensorInfo {
        tensor: TensorId(ID),
        name: name(text),
        dtype: Dtype::F32,
        shape: Shape::new([2, 3]).expect("a shape"),
        device: GpuUuid([3; 16]),
        bytes: 24,
        state: TensorState::Ready,
        generation: 2,
        user: 1000,
        audience: Audience::Everybody,
        ephemeral: false,
        created_unix_ms: 1,
        slab: SlabId(ID),
        slab_bytes: 2 << 20,
        offset: 256,
        leases: 1,
        life: LIFE,
    }
}

fn lease() -> LeaseInfo {
    LeaseInfo {
        target: TensorId(ID).into(),
        name: name("acts/x"),
        mode: Mode::ReadOnly,
        bytes: 24,
        since_unix_ms: 5,
        client: ClientId(ID),
        pid: 77,
        program: "worker".into(),
    }
}

pub fn replies(folder: &Folder) {
    let failure = Failure {
        similar: vec!["acts/y".into(), "acts/z".into()],
        requested_bytes: Some(1),
        free_bytes: Some(0),
        capacity_bytes: Some(5),
        holders: vec![Holder { user: 0, bytes: 5, tensors: 1 }; 2],
        ..Failure::new(ErrorKind::GpuFull, "full").hint("delete something")
    };
    let client = ClientInfo {
        client: ClientId(ID),
        pid: 1,
        user: 2,
        program: "x".into(),
        since_unix_ms: 3,
        silent: true,
        leases: vec![lease(); 3],
        mover: true,
    };
    let welcome = Welcome {
        version: VERSION,
        capabilities: 0,
        pond: PondId(ID),
        epoch: Epoch(1),
        daemon_version: "0.1.0".into(),
        tenant: "local".into(),
        user: 1000,
        admin: true,
        page_slots: 4096,
    };
    let granted = Some((LeaseId(1), Mode::ReadWrite, [1; 16]));
    let event = Event {
        sequence: 1,
        unix_ms: 2,
        kind: EventKind::TensorFreed,
        target: Some(TensorId(ID).into()),
        name: name("acts/x"),
        user: Some(3),
        text: "gone".into(),
    };
    for (seed, body) in [
        ("failure", ReplyBody::Failure(failure)),
        ("done", ReplyBody::Done),
        ("welcome", ReplyBody::Welcome(welcome)),
        ("claimed", ReplyBody::Claimed { refused: vec![LeaseId(4), LeaseId(5)] }),
        (
            "tensor",
            ReplyBody::Tensor(TensorGrant {
                info: info("acts/x"),
                lease: None,
                existed: true,
                backing: Backing::default(),
            }),
        ),
        (
            "grant",
            ReplyBody::Tensor(TensorGrant {
                info: info("acts/x"),
                lease: granted,
                existed: false,
                backing: Backing::default(),
            }),
        ),
        ("published", ReplyBody::Published { generation: 4 }),
        ("moved", ReplyBody::Moved { bytes: 4096, hashes: Vec::new() }),
        (
            "collected",
            ReplyBody::Collected { tensors: vec![info("a"); 2], slabs: 1, slab_bytes: 2 << 20 },
        ),
        ("upgrading", ReplyBody::Upgrading { from_version: "0.1.0".into(), from_epoch: Epoch(3) }),
        ("details", ReplyBody::Details { info: info("a"), leases: vec![lease(); 2] }),
        ("tensors", ReplyBody::Tensors(vec![info("a"), info("b"), info("public/c")])),
        ("clients", ReplyBody::Clients(vec![client; 3])),
        ("status", ReplyBody::Status(Box::new(status()))),
        ("event", ReplyBody::Event(event)),
        ("memfd", ReplyBody::InMemfd { bytes: 70_000 }),
    ] {
        folder.seed(seed, Reply { number: 5, body }.encode(&mut Builder::new()));
    }
}

fn status() -> Status {
    let device = DeviceInfo {
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
        drift_bytes: Some(-1),
        other_bytes: Some(0),
    };
    Status {
        pond: PondId(ID),
        epoch: Epoch(3),
        daemon_version: "0.1.0".into(),
        daemon_pid: 4,
        keeper_pid: 5,
        driver: "soft".into(),
        driver_ready: true,
        started_unix_ms: 9,
        devices: vec![device; 2],
        clients: 1,
        silent_clients: 1,
        leases: 1,
        journal_bytes: 5,
        preload_library: Some("/usr/lib/millpond/libmillpond_preload.so".into()),
        runtime_dir: "/run/millpond".into(),
        lost_tensors: 0,
        movers: vec![MoverInfo { device: GpuUuid([3; 16]), pid: 6, moves: 2, moved_bytes: 9 }],
        program: "/usr/bin/millpond".into(),
        service: None,
        log_file: String::new(),
        loading: String::new(),
    }
}

pub fn keeper_channel(folder: &Folder) {
    let keys = vec![
        HoldKey::journal(),
        HoldKey::listen("pond.sock").expect("a key"),
        HoldKey::folder_lock(),
        HoldKey::gpu_lock(GpuUuid([1; 16])),
        HoldKey::slab(SlabId(ID)),
        HoldKey::client(ClientId(ID)),
    ];
    let (epoch, config) = (Epoch(3), b"{\"driver\":\"soft\"}".to_vec());
    for (seed, message) in [
        ("start", Message::Start { epoch, keeper_pid: 7, config: config.clone(), version: 1 }),
        ("held", Message::Held { keys: keys.clone() }),
        ("ready", Message::Ready),
        ("ping", Message::Ping { number: 9 }),
        ("stop", Message::Stop),
        ("hold", Message::Hold { keys: keys.clone() }),
        ("drop", Message::Drop { keys }),
        ("pong", Message::Pong { number: 9 }),
        ("serving", Message::Serving),
        ("adopt", Message::Adopt { epoch, daemon_pid: 8, config, version: 1 }),
        ("adopt-done", Message::AdoptDone),
    ] {
        folder.seed(seed, &message.encode().expect("a message"));
    }
}

pub fn mover_channel(folder: &Folder) {
    let (slab, from, epoch, bytes) = (SlabId(ID), SlabId(ID), Epoch(3), 4096);
    let (offset, file_offset, from_offset) = (256, 512, 1024);
    let job = |work| ToMover::Job(Job { job: 7, epoch, work });
    let run = |file_offset, bytes| Run { file_offset, bytes };
    let piece = |offset, bytes| Piece { offset, bytes };
    let pieces = |kind, runs| {
        let pieces = vec![piece(0, 1000), piece(1024, 24)];
        Work::Pieces(Pieces { kind, slab, base: offset, pieces, runs })
    };
    let device = GpuUuid([1; 16]);
    for (seed, message) in [
        ("start", ToMover::Start { epoch, device, threads: 4, block_bytes: 1 << 20, depth: 2 }),
        ("map", ToMover::Map { slab, bytes }),
        ("unmap", ToMover::Unmap { slab }),
        ("put", job(Work::Put { slab, offset, bytes, file_offset })),
        ("get", job(Work::Get { slab, offset, bytes, file_offset })),
        ("copy", job(Work::Copy { slab, offset, bytes, from, from_offset })),
        ("zero", job(Work::Zero { slab, offset, bytes })),
        ("pieces-load", job(pieces(PiecesKind::Load, vec![run(0, 1000), run(5000, 24)]))),
        ("pieces-hash", job(pieces(PiecesKind::Hash, Vec::new()))),
        ("pieces-save", job(pieces(PiecesKind::Save, vec![run(9, 1024)]))),
        ("stop", ToMover::Stop),
    ] {
        folder.seed(seed, &message.encode());
    }
    let text = || "no such file".to_owned();
    for (seed, message) in [
        ("ready", FromMover::Ready),
        ("failed", FromMover::Failed { text: text() }),
        ("mapped", FromMover::Mapped { slab }),
        ("map-failed", FromMover::MapFailed { slab, text: text() }),
        ("unmapped", FromMover::Unmapped { slab }),
        ("done", FromMover::Done { job: 7, hashes: Vec::new() }),
        ("hashes", FromMover::Done { job: 7, hashes: vec![ContentHash([7; 16]); 2] }),
        ("job-failed", FromMover::JobFailed { job: 7, why: Why::File, text: text() }),
    ] {
        folder.seed(seed, &message.encode());
    }
}
