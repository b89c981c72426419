//! Replies as a pond would give them.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use millpond_wire::message::{
    Counters, DeviceInfo, Event, EventKind, Life, ReplyBody, RequestBody, Status, Target,
    TensorGrant, TensorInfo, TensorPublish, Welcome,
};
use millpond_wire::{
    Audience, Backing, Dtype, Epoch, ErrorKind, Failure, GpuUuid, LeaseId, Mode, PondId, Shape,
    SlabId, Survives, TensorId, TensorName, TensorState, Token, TransportKind, page,
};

const POND: &str = "00000000-0000-4000-8000-000000000001";

pub(crate) fn welcome(epoch: u64) -> ReplyBody {
    welcome_of(POND.parse().unwrap(), epoch)
}

pub(crate) fn welcome_of(pond: PondId, epoch: u64) -> ReplyBody {
    ReplyBody::Welcome(Welcome {
        version: 1,
        capabilities: 0,
        pond,
        epoch: Epoch(epoch),
        daemon_version: "0".into(),
        tenant: "local".into(),
        user: 1000,
        admin: false,
        watch: false,
        page_slots: 0,
        token: Some([6; 16]),
    })
}

pub(crate) fn info(name: &str) -> TensorInfo {
    TensorInfo {
        tensor: TensorId::random(),
        name: Some(TensorName::new(name).unwrap()),
        dtype: Dtype::F32,
        shape: Shape::new([4, 8]).unwrap(),
        device: GpuUuid([3; 16]),
        bytes: 128,
        state: TensorState::Ready,
        generation: 1,
        user: 1000,
        audience: Audience::User,
        ephemeral: false,
        created_unix_ms: 1,
        slab: SlabId::random(),
        slab_bytes: 2 << 20,
        offset: 256,
        leases: 1,
        life: Life::default(),
        transport: TransportKind::Vmm,
        adopted: false,
        survives: Survives::Everything,
        home_pid: 0,
        holds: None,
    }
}

pub(crate) fn grant(info: TensorInfo, lease: LeaseId, mode: Mode) -> ReplyBody {
    grant_of(info, lease, mode, Backing::default())
}

/// A grant of memory of some kind.
pub(crate) fn grant_of(
    mut info: TensorInfo,
    lease: LeaseId,
    mode: Mode,
    backing: Backing,
) -> ReplyBody {
    (info.transport, info.adopted) = (backing.transport.kind(), backing.adopted);
    info.survives = backing.survives();
    let lease = Some((lease, mode, [7; 16]));
    ReplyBody::Tensor(TensorGrant { info, lease, existed: false, backing, event: None })
}

pub(crate) fn failure(kind: ErrorKind) -> ReplyBody {
    ReplyBody::Failure(Failure::new(kind, format!("no: {kind}")))
}

pub(crate) fn status() -> Status {
    let device = |index: u32| DeviceInfo {
        device: GpuUuid([u8::try_from(index).unwrap(); 16]),
        index,
        name: "a GPU".into(),
        total_bytes: 10,
        capacity_bytes: 9,
        slab_bytes: 0,
        tensor_bytes: 0,
        recycled_bytes: 0,
        physical_used_bytes: None,
        slabs: 0,
        tensors: 0,
        charged_bytes: None,
        drift_bytes: None,
        other_bytes: None,
    };
    Status {
        pond: POND.parse().unwrap(),
        epoch: Epoch(1),
        daemon_version: "0".into(),
        daemon_pid: 1,
        keeper_pid: 1,
        driver: "soft".into(),
        driver_ready: true,
        started_unix_ms: 0,
        devices: vec![device(1), device(0)],
        clients: 0,
        silent_clients: 0,
        leases: 0,
        journal_bytes: 0,
        preload_library: None,
        runtime_dir: "/x".into(),
        lost_tensors: 0,
        counters: Counters::default(),
        daemon_resident_bytes: 0,
        movers: Vec::new(),
        hosts: Vec::new(),
        program: "/millpond".into(),
        service: None,
        log_file: String::new(),
        loading: String::new(),
    }
}

pub(crate) fn event(sequence: u64) -> ReplyBody {
    ReplyBody::Event(Event {
        sequence,
        unix_ms: 0,
        kind: EventKind::TensorCreated,
        target: None,
        name: None,
        user: None,
        text: String::new(),
    })
}

/// A publish of this token.
pub(crate) fn publication(tensor: TensorId, token: Token) -> RequestBody {
    RequestBody::TensorPublish(TensorPublish { tensor, token, name: None, replace: false })
}

/// A descriptor that is nothing.
pub(crate) fn an_fd() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}

/// A page of counters.
pub(crate) fn page() -> File {
    let flags = rustix::fs::MemfdFlags::CLOEXEC | rustix::fs::MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("page", flags).unwrap());
    file.set_len(page::BYTES as u64).unwrap();
    rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).unwrap();
    file
}

/// Something happens to this name.
pub(crate) fn change(page: &File, name: &str) {
    let at = page::slot_of(&Target::Name(name.parse().unwrap())) as u64 * 8;
    let mut word = [0; 8];
    page.read_exact_at(&mut word, at).unwrap();
    word[0] += 1;
    page.write_all_at(&word, at).unwrap();
}
