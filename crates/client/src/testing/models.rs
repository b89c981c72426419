//! A model in real (software) device memory, with a pond in a thread that knows its versions.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};

use millpond_cuda::{Access, AddressRange, Allocation, Context, Driver, DriverChoice, Mapping};
use millpond_wire::manifest::{Manifest, ManifestSlab, ManifestTensor, slab_hash};
use millpond_wire::message::{
    MoveWork, PartInfo, ReplyBody, Request, RequestBody, TensorMove, VersionDetails, VersionGrant,
    VersionInfo, VersionStage,
};
use millpond_wire::{
    Audience, Backing, ContentHash, Dtype, ErrorKind, GpuUuid, LeaseId, Mode, Piece, PiecesKind,
    Shape, TensorId, TensorName, VersionId, VersionState, VersionTag, VersionTarget, caps, memfd,
};

use super::{Does, FakePond, failure, polite};
use crate::Pond;
use crate::connection::lock;

/// What the driver maps in one step.
pub(crate) const SLAB: u64 = 2 << 20;

/// A slab as the daemon has it.
pub(crate) struct FakeSlab {
    pub(crate) part: TensorId,
    fd: Arc<OwnedFd>,
    memory: Arc<Mapping>,
}

impl Clone for FakeSlab {
    fn clone(&self) -> Self {
        Self { part: self.part, fd: Arc::clone(&self.fd), memory: Arc::clone(&self.memory) }
    }
}

pub(crate) struct FakeVersion {
    pub(crate) info: VersionInfo,
    pub(crate) slabs: Vec<FakeSlab>,
    pub(crate) manifest: Option<Vec<u8>>,
    /// Sizes that the pond says its slabs have.
    pub(crate) said: Option<u64>,
    /// What the pond says they are made of.
    pub(crate) backing: Backing,
}

pub(crate) struct State {
    driver: Driver,
    context: Context,
    device: GpuUuid,
    pub(crate) versions: Vec<FakeVersion>,
    pub(crate) current: Option<VersionId>,
    /// Descriptors of slabs in one answer.
    pub(crate) batch: usize,
    /// The size of slabs that are made.
    pub(crate) slab_bytes: u64,
    /// A slab whose descriptor is nothing; or all of them.
    pub(crate) bad_slab: Option<TensorId>,
    pub(crate) bad_fds: bool,
    pub(crate) fail: BTreeMap<&'static str, ErrorKind>,
}

pub(crate) struct FakeModels {
    pub(crate) pond: FakePond,
    pub(crate) driver: Driver,
    pub(crate) state: Arc<Mutex<State>>,
}

pub(crate) fn soft_driver() -> Driver {
    Driver::open(DriverChoice::Soft, Some(&millpond_softgpu::PROVIDER)).unwrap()
}

impl FakeModels {
    pub(crate) fn new() -> Self {
        Self::with(|_, _| None)
    }

    /// As [`Self::new`]; `before` decides about requests first.
    pub(crate) fn with(
        before: impl Fn(usize, &Request) -> Option<Does> + Send + Sync + 'static,
    ) -> Self {
        let driver = soft_driver();
        let device = driver.devices().unwrap().remove(0);
        let state = Arc::new(Mutex::new(State {
            driver: driver.clone(),
            context: Context::primary(&device).unwrap(),
            device: GpuUuid(device.uuid().0),
            versions: Vec::new(),
            current: None,
            batch: caps::MESSAGE_FDS - 1,
            slab_bytes: SLAB,
            bad_slab: None,
            bad_fds: false,
            fail: BTreeMap::new(),
        }));
        let own = Arc::clone(&state);
        let pond = FakePond::start(move |connection, request| {
            let decided = before(connection, request);
            let own = Arc::clone(&own);
            let answer = move |request: &Request, fds: &[OwnedFd]| {
                let came = fds.first().map(|fd| File::from(fd.try_clone().unwrap()));
                let manifest = came.map(|mut file| {
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes).unwrap();
                    bytes
                });
                lock(&own).answer(&request.body, manifest)
            };
            decided.unwrap_or_else(|| Does::With(Box::new(answer)))
        });
        Self { pond, driver, state }
    }

    pub(crate) fn connect(&self) -> Pond {
        self.pond.builder().driver(self.driver.clone()).connect().unwrap()
    }

    /// A version `m@tag` whose every slab is filled with one of these bytes, current from now on.
    pub(crate) fn add(&self, tag: &str, fill: &[u8]) -> VersionId {
        let mut state = lock(&self.state);
        let slabs = fill.iter().map(|byte| state.slab(*byte)).collect();
        state.add(tag, slabs)
    }

    /// As [`Self::add`], but those slabs are shared with another version where the bytes are `None`.
    pub(crate) fn add_like(&self, tag: &str, like: VersionId, fill: &[Option<u8>]) -> VersionId {
        let mut state = lock(&self.state);
        let old = state.find(&VersionTarget::Id(like)).unwrap().slabs.clone();
        let slabs = fill.iter().zip(old);
        let slabs = slabs.map(|(byte, old)| byte.map_or(old, |byte| state.slab(byte))).collect();
        state.add(tag, slabs)
    }

    /// Leases that the pond was told have ended, in order.
    pub(crate) fn released(&self) -> Vec<LeaseId> {
        let seen = self.pond.seen().into_iter();
        let released = seen.filter_map(|(_, body)| match body {
            RequestBody::LeaseRelease { leases } => Some(leases),
            _ => None,
        });
        released.flatten().collect()
    }

    pub(crate) fn count(&self, what: impl Fn(&RequestBody) -> bool) -> usize {
        self.pond.seen().iter().filter(|(_, body)| what(body)).count()
    }

    /// The bytes that a version was committed with.
    pub(crate) fn manifest_of(&self, version: VersionId) -> Vec<u8> {
        let state = lock(&self.state);
        state.find(&VersionTarget::Id(version)).unwrap().manifest.clone().unwrap()
    }

    pub(crate) fn bytes_of(&self, version: VersionId, slab: usize, range: (u64, usize)) -> Vec<u8> {
        let state = lock(&self.state);
        let version = state.find(&VersionTarget::Id(version)).unwrap();
        let mut bytes = vec![0; range.1];
        version.slabs[slab].memory.copy_to_host(range.0, &mut bytes).unwrap();
        bytes
    }
}

/// The tensors of a slab of these bytes: `t0000.a` and `t0000.b`.
pub(crate) fn tensors_of(slab: usize, byte: u8) -> Vec<ManifestTensor> {
    let tensor = |end: &str, dtype, dims: &[u64], offset| {
        let shape = Shape::new(dims.to_vec()).unwrap();
        let bytes = shape.bytes(dtype).unwrap();
        let hash = ContentHash::of(&vec![byte; usize::try_from(bytes).unwrap()]);
        let name = format!("t{slab:04}.{end}");
        ManifestTensor { name, dtype, shape, slab, offset, bytes, hash }
    };
    vec![tensor("a", Dtype::F32, &[4, 8], 0), tensor("b", Dtype::U8, &[1000], 256)]
}

/// A manifest of slabs that are filled so.
pub(crate) fn manifest_of(fill: &[u8]) -> Manifest {
    let mut manifest = Manifest { source: "a test".into(), ..Manifest::default() };
    for (index, byte) in fill.iter().enumerate() {
        let tensors = tensors_of(index, *byte);
        let hash = slab_hash(tensors.iter().map(|tensor| tensor.hash));
        let arena_offset = index as u64 * SLAB;
        manifest.slabs.push(ManifestSlab { arena_offset, bytes: SLAB, hash });
        manifest.tensors.extend(tensors);
    }
    manifest
}

pub(crate) fn version_info(tag: &str, device: GpuUuid) -> VersionInfo {
    VersionInfo {
        version: VersionId::random(),
        model: TensorName::new("m").unwrap(),
        tag: VersionTag::new(tag).unwrap(),
        state: VersionState::Ready,
        device,
        user: 1000,
        audience: Audience::User,
        bytes: 0,
        slab_bytes: 0,
        shared_bytes: 0,
        slabs: 0,
        tensors: 0,
        layout: None,
        content: None,
        created_unix_ms: 1,
        ready_unix_ms: Some(2),
        readers: 0,
        current: false,
        previous: false,
        lost: false,
        source: "a test".into(),
        stager_pid: None,
    }
}

impl State {
    fn slab(&self, byte: u8) -> FakeSlab {
        let device = self.driver.devices().unwrap().remove(0);
        let bytes = self.slab_bytes;
        let memory = Allocation::create(&device, bytes).unwrap();
        let range = AddressRange::reserve(&self.driver, bytes).unwrap();
        let mapping = Mapping::map(&self.context, &range, 0, &memory, Access::ReadWrite).unwrap();
        mapping.memset(0, bytes, byte).unwrap();
        let fd = Arc::new(memory.export().unwrap());
        FakeSlab { part: TensorId::random(), fd, memory: Arc::new(mapping) }
    }

    fn add(&mut self, tag: &str, slabs: Vec<FakeSlab>) -> VersionId {
        let fill: Vec<u8> = slabs
            .iter()
            .map(|slab| {
                let mut byte = [0];
                slab.memory.copy_to_host(0, &mut byte).unwrap();
                byte[0]
            })
            .collect();
        let manifest = manifest_of(&fill);
        let info = VersionInfo {
            bytes: manifest.tensors.iter().map(|tensor| tensor.bytes).sum(),
            slab_bytes: slabs.len() as u64 * SLAB,
            slabs: u32::try_from(slabs.len()).unwrap(),
            tensors: u32::try_from(manifest.tensors.len()).unwrap(),
            layout: Some(manifest.layout_hash()),
            content: Some(manifest.content_hash()),
            ..version_info(tag, self.device)
        };
        let version = info.version;
        let manifest = Some(manifest.encode());
        self.versions.push(FakeVersion {
            info,
            slabs,
            manifest,
            said: None,
            backing: Backing::default(),
        });
        self.current = Some(version);
        version
    }

    pub(crate) fn find(&self, target: &VersionTarget) -> Option<&FakeVersion> {
        let wanted = match target {
            VersionTarget::Id(id) => Some(*id),
            VersionTarget::Name(name) => match &name.tag {
                Some(tag) => {
                    let found = self.versions.iter().find(|version| version.info.tag == *tag);
                    found.map(|version| version.info.version)
                }
                None => self.current,
            },
        }?;
        self.versions.iter().find(|version| version.info.version == wanted)
    }

    fn info_of(&self, version: &FakeVersion) -> VersionInfo {
        let current = self.current == Some(version.info.version);
        VersionInfo { current, ..version.info.clone() }
    }

    fn fds(&self, version: &FakeVersion, first: usize, count: usize) -> Vec<OwnedFd> {
        let slabs = version.slabs.iter().skip(first).take(count.min(self.batch));
        slabs
            .map(|slab| match self.bad_fds || self.bad_slab == Some(slab.part) {
                true => super::an_fd(),
                false => slab.fd.as_fd().try_clone_to_owned().unwrap(),
            })
            .collect()
    }

    fn grant(&self, version: &FakeVersion, lease: Option<LeaseId>, mode: Mode) -> Does {
        let slabs = self.fds(version, 0, usize::MAX);
        let grant = VersionGrant {
            info: self.info_of(version),
            parts: parts(version),
            lease: lease.map(|lease| (lease, mode, [7; 16])),
            manifest: version.manifest.is_some(),
            slabs: u32::try_from(slabs.len()).unwrap(),
        };
        let mut fds = manifest_fd(version);
        fds.extend(slabs);
        Does::ReplyWith(ReplyBody::Version(Box::new(grant)), fds)
    }

    fn answer(&mut self, body: &RequestBody, manifest: Option<Vec<u8>>) -> Does {
        if let Some(kind) = self.fail.get(word(body)) {
            return Does::Reply(failure(*kind));
        }
        let not_found = || Does::Reply(failure(ErrorKind::NotFound));
        match body {
            RequestBody::VersionGet(get) => match self.find(&get.target) {
                Some(version) => self.grant(version, Some(get.lease), get.mode),
                None => not_found(),
            },
            RequestBody::VersionSlabs { version, first, count, .. } => {
                let version = self.find(&VersionTarget::Id(*version)).unwrap();
                let (from, most) = (*first as usize, *count as usize);
                let fds = self.fds(version, from, most);
                let count = u32::try_from(fds.len()).unwrap();
                Does::ReplyWith(ReplyBody::Slabs { first: *first, count }, fds)
            }
            RequestBody::VersionInspect(target) => match self.find(target) {
                Some(version) => {
                    let details = VersionDetails {
                        info: self.info_of(version),
                        parts: parts(version),
                        leases: Vec::new(),
                    };
                    let body = ReplyBody::VersionDetails(Box::new(details));
                    Does::ReplyWith(body, manifest_fd(version))
                }
                None => not_found(),
            },
            RequestBody::VersionStage(stage) => self.stage(stage),
            RequestBody::VersionPart { version, index } => {
                let (place, version) = (*index as usize, *version);
                let new = self.slab(0xaa);
                let staged = self.staged(version);
                staged.slabs[place] = new;
                let fd = staged.slabs[place].fd.as_fd().try_clone_to_owned().unwrap();
                Does::ReplyWith(ReplyBody::Slabs { first: *index, count: 1 }, vec![fd])
            }
            RequestBody::VersionCommit(commit) => {
                let version = self.staged(commit.version);
                version.manifest = manifest;
                version.info.state = VersionState::Ready;
                version.info.layout = Some(commit.layout);
                version.info.content = Some(commit.content);
                version.info.tensors = commit.tensors;
                version.info.bytes = commit.bytes;
                if commit.activate {
                    self.current = Some(commit.version);
                }
                let version = self.find(&VersionTarget::Id(commit.version)).unwrap();
                let grant = VersionGrant {
                    info: self.info_of(version),
                    parts: parts(version),
                    lease: None,
                    manifest: false,
                    slabs: 0,
                };
                Does::Reply(ReplyBody::Version(Box::new(grant)))
            }
            RequestBody::VersionRetire(target) => match self.find(target) {
                Some(version) => {
                    let gone = version.info.version;
                    self.versions.retain(|version| version.info.version != gone);
                    Does::Reply(ReplyBody::Done)
                }
                None => not_found(),
            },
            RequestBody::TensorMove(one) => Does::Reply(self.make(one)),
            other => Does::Reply(polite(other)),
        }
    }

    fn staged(&mut self, version: VersionId) -> &mut FakeVersion {
        let mut versions = self.versions.iter_mut();
        versions.find(|one| one.info.version == version).unwrap()
    }

    fn stage(&mut self, stage: &VersionStage) -> Does {
        let known: Vec<FakeSlab> =
            self.versions.iter().flat_map(|version| version.slabs.clone()).collect();
        let slabs = stage.parts.iter().map(|part| match part.shared {
            Some(shared) => known.iter().find(|slab| slab.part == shared).unwrap().clone(),
            None => self.slab(0xaa),
        });
        let slabs: Vec<FakeSlab> = slabs.collect();
        let tag = stage.tag.clone().unwrap_or(VersionTag::numbered(9));
        let info = VersionInfo {
            version: stage.version,
            state: VersionState::Staging,
            slab_bytes: slabs.len() as u64 * SLAB,
            ..version_info(tag.as_str(), self.device)
        };
        self.versions.push(FakeVersion {
            info,
            slabs,
            manifest: None,
            said: None,
            backing: Backing::default(),
        });
        let version = self.versions.last().unwrap();
        self.grant(version, stage.lease, Mode::ReadWrite)
    }

    fn make(&self, one: &TensorMove) -> ReplyBody {
        let slab = |part: TensorId| {
            let mut slabs = self.versions.iter().flat_map(|version| &version.slabs);
            slabs.find(|slab| slab.part == part).unwrap()
        };
        let to = slab(one.tensor);
        let read = |from: &FakeSlab, offset, bytes: u64| {
            let mut read = vec![0; usize::try_from(bytes).unwrap()];
            from.memory.copy_to_host(offset, &mut read).unwrap();
            read
        };
        let hashes = match &one.work {
            MoveWork::Copy { from, from_offset } => {
                let bytes = read(slab(*from), *from_offset, one.bytes);
                to.memory.copy_from_host(one.offset, &bytes).unwrap();
                Vec::new()
            }
            MoveWork::Pieces { kind: PiecesKind::Hash, pieces, .. } => {
                let hash = |piece: &Piece| ContentHash::of(&read(to, piece.offset, piece.bytes));
                pieces.iter().map(hash).collect()
            }
            other => panic!("{other:?}"),
        };
        ReplyBody::Moved { bytes: one.bytes, hashes }
    }
}

fn parts(version: &FakeVersion) -> Vec<PartInfo> {
    let part = |slab: &FakeSlab| {
        let bytes = version.said.unwrap_or(slab.memory.bytes());
        PartInfo { tensor: slab.part, bytes, backing: version.backing }
    };
    version.slabs.iter().map(part).collect()
}

fn manifest_fd(version: &FakeVersion) -> Vec<OwnedFd> {
    let manifest = version.manifest.iter();
    manifest.map(|bytes| memfd::sealed("manifest", bytes).unwrap()).collect()
}

fn word(body: &RequestBody) -> &'static str {
    match body {
        RequestBody::VersionGet(_) => "get",
        RequestBody::VersionStage(_) => "stage",
        RequestBody::VersionPart { .. } => "part",
        RequestBody::VersionCommit(_) => "commit",
        RequestBody::TensorMove(_) => "move",
        _ => "",
    }
}
