//! Requests to bytes and back.

use planus::{Builder, ReadAsRoot};

use super::read::{self, DecodeError, Read};
use super::request::{
    Claim, Hello, LeaseClaim, Life, MoveWork, Rename, Request, RequestBody, Target, TensorCreate,
    TensorGet, TensorMove, TensorPublish,
};
use super::{Audience, MAGIC, Mode, group_codec as group, model_codec as model, uuid_to_id};
use crate::{ClientId, LeaseId, PiecesKind, TensorId, TensorRef, Token, VersionId, limits};
use millpond_schema::message as fb;

impl Request {
    /// Writes the request into `builder` and returns its bytes.
    pub fn encode<'b>(&self, builder: &'b mut Builder) -> &'b [u8] {
        builder.clear();
        let request = fb::Request { number: self.number, body: write_body(&self.body) };
        builder.finish(request, None)
    }

    /// Reads a request completely.
    ///
    /// # Errors
    /// [`DecodeError`], together with the request's number where that much could be read, so that
    /// the answer can name it.
    pub fn decode(bytes: &[u8]) -> Result<Self, (u64, DecodeError)> {
        let request = fb::RequestRef::read_as_root(bytes).map_err(|error| (0, error.into()))?;
        let number = request.number().map_err(|error| (0, error.into()))?;
        let body = match request.body() {
            Ok(Some(body)) => read_body(body).map_err(|error| (number, error))?,
            Ok(None) => return Err((number, DecodeError::Missing("body"))),
            Err(error) if is_unknown_kind(&error) => RequestBody::Unknown,
            Err(error) => return Err((number, error.into())),
        };
        Ok(Request { number, body })
    }
}

pub(crate) fn is_unknown_kind(error: &planus::Error) -> bool {
    matches!(error.error_kind, planus::errors::ErrorKind::UnknownUnionTag { .. })
}

fn write_body(body: &RequestBody) -> Option<fb::RequestBody> {
    use fb::RequestBody as B;
    Some(match body {
        RequestBody::Hello(hello) => B::Hello(Box::new(fb::Hello {
            magic: MAGIC,
            version: hello.version,
            capabilities: hello.capabilities,
            client: Some(uuid_to_id(hello.client.0)),
            program: Some(hello.program.clone()),
            claims: hello.claims,
        })),
        RequestBody::Claim(claim) => B::Claim(Box::new(fb::Claim {
            leases: Some(claim.leases.iter().map(write_claim).collect()),
            last: claim.last,
        })),
        RequestBody::Goodbye => B::Goodbye(Box::default()),
        RequestBody::Ping => B::Ping(Box::default()),
        RequestBody::PondStatus => B::PondStatus(Box::default()),
        RequestBody::ClientList => B::ClientList(Box::default()),
        RequestBody::TensorCreate(create) => B::TensorCreate(Box::new(fb::TensorCreate {
            tensor: Some(uuid_to_id(create.tensor.0)),
            name: create.name.as_ref().map(ToString::to_string),
            dtype: create.dtype.code(),
            shape: Some(create.shape.dims().to_vec()),
            device: create.device.map(|device| device.0.to_vec()),
            audience: create.audience.code(),
            ephemeral: create.ephemeral,
            zero: create.zero,
            lease: create.lease.map_or(0, |lease| lease.0),
            ttl_ms: create.life.ttl_ms,
            linger_ms: create.life.linger_ms,
            max_accesses: create.life.accesses,
        })),
        RequestBody::TensorGet(get) => {
            let (name, tensor) = write_target(&get.target);
            B::TensorGet(Box::new(fb::TensorGet {
                name,
                tensor,
                lease: get.lease.0,
                mode: get.mode.code(),
                wait_ms: get.wait_ms,
                node: None,
            }))
        }
        RequestBody::TensorPublish(publish) => B::TensorPublish(Box::new(fb::TensorPublish {
            tensor: Some(uuid_to_id(publish.tensor.0)),
            token: Some(uuid_to_id(publish.token.0)),
            name: publish.name.as_ref().map(ToString::to_string),
            replace: publish.replace,
        })),
        RequestBody::TensorMove(moving) => B::TensorMove(Box::new(write_move(moving))),
        RequestBody::Collect { unleased_for_ms, dry_run } => B::Collect(Box::new(fb::Collect {
            unleased_for_ms: *unleased_for_ms,
            dry_run: *dry_run,
        })),
        RequestBody::Upgrade { program } => {
            B::Upgrade(Box::new(fb::Upgrade { program: Some(program.clone()) }))
        }
        RequestBody::StartReport { loading, failed } => B::StartReport(Box::new(fb::StartReport {
            loading: Some(loading.clone()),
            failed: Some(failed.clone()),
        })),
        RequestBody::TensorDelete { tensor } => {
            B::TensorDelete(Box::new(fb::TensorDelete { tensor: Some(uuid_to_id(tensor.0)) }))
        }
        RequestBody::TensorInspect(target) => {
            let (name, tensor) = write_target(target);
            B::TensorInspect(Box::new(fb::TensorInspect { name, tensor, node: None }))
        }
        RequestBody::TensorList { prefix } => {
            B::TensorList(Box::new(fb::TensorList { prefix: Some(prefix.clone()) }))
        }
        RequestBody::LeaseRelease { leases } => B::LeaseRelease(Box::new(fb::LeaseRelease {
            leases: Some(leases.iter().map(|lease| lease.0).collect()),
        })),
        RequestBody::Subscribe { from } => B::Subscribe(Box::new(fb::Subscribe { from: *from })),
        RequestBody::VersionStage(stage) => B::VersionStage(Box::new(model::write_stage(stage))),
        RequestBody::VersionCommit(commit) => {
            B::VersionCommit(Box::new(model::write_commit(commit)))
        }
        RequestBody::VersionGet(get) => {
            let (version, model, tag) = model::write_target(&get.target);
            let (lease, mode, wait_ms) = (get.lease.0, get.mode.code(), get.wait_ms);
            let node = None;
            let get = fb::VersionGet { version, model, tag, lease, mode, wait_ms, node };
            B::VersionGet(Box::new(get))
        }
        RequestBody::VersionSlabs { version, lease, first, count } => {
            B::VersionSlabs(Box::new(fb::VersionSlabs {
                version: Some(uuid_to_id(version.0)),
                lease: lease.0,
                first: *first,
                count: *count,
            }))
        }
        RequestBody::VersionPart { version, index } => {
            let version = Some(uuid_to_id(version.0));
            B::VersionPart(Box::new(fb::VersionPart { version, index: *index }))
        }
        RequestBody::VersionRetire(target) => {
            let (version, model, tag) = model::write_target(target);
            B::VersionRetire(Box::new(retire(version, model, tag, false)))
        }
        RequestBody::VersionRemove(target) => {
            let (version, model, tag) = model::write_target(target);
            B::VersionRetire(Box::new(retire(version, model, tag, true)))
        }
        RequestBody::VersionInspect(target) => {
            let (version, model, tag) = model::write_target(target);
            B::VersionInspect(Box::new(fb::VersionInspect { version, model, tag, node: None }))
        }
        RequestBody::ModelSwap { model, tag, token } => B::ModelSwap(Box::new(fb::ModelSwap {
            model: Some(model.to_string()),
            tag: tag.as_ref().map(ToString::to_string),
            token: Some(uuid_to_id(token.0)),
            node: None,
        })),
        RequestBody::ModelList { prefix } => {
            B::ModelList(Box::new(fb::ModelList { prefix: Some(prefix.clone()) }))
        }
        RequestBody::GroupSet(set) => B::GroupSet(Box::new(group::write_set(set))),
        RequestBody::GroupJoin(join) => B::GroupJoin(Box::new(group::write_join(join))),
        RequestBody::GroupList => B::GroupList(Box::default()),
        RequestBody::GroupInspect { group } => {
            B::GroupInspect(Box::new(fb::GroupInspect { name: Some(group.to_string()) }))
        }
        RequestBody::GroupRemove { group } => {
            B::GroupRemove(Box::new(fb::GroupRemove { name: Some(group.to_string()) }))
        }
        RequestBody::Rename(rename) => B::Rename(Box::new(fb::Rename {
            tensor: rename.object.tensor().map(|id| uuid_to_id(id.0)),
            version: rename.object.version().map(|id| uuid_to_id(id.0)),
            name: Some(rename.name.to_string()),
            token: Some(uuid_to_id(rename.token.0)),
        })),
        RequestBody::Unknown => return None,
    })
}

fn write_claim(claim: &LeaseClaim) -> fb::LeaseClaim {
    fb::LeaseClaim {
        lease: claim.lease.0,
        tensor: claim.target.tensor().map(|id| uuid_to_id(id.0)),
        version: claim.target.version().map(|id| uuid_to_id(id.0)),
        mode: claim.mode.code(),
        token: Some(claim.token.to_vec()),
    }
}

const PUT: u8 = 1;
const GET: u8 = 2;
const COPY: u8 = 3;
const ZERO: u8 = 4;
const LOAD: u8 = 5;
const HASH_FILE: u8 = 6;
const HASH: u8 = 7;
const SAVE: u8 = 8;

fn write_move(moving: &TensorMove) -> fb::TensorMove {
    let (mut pieces, mut runs) = (None, None);
    let (kind, file_offset, from, from_offset) = match &moving.work {
        MoveWork::Put { file_offset } => (PUT, *file_offset, None, 0),
        MoveWork::Get { file_offset } => (GET, *file_offset, None, 0),
        MoveWork::Copy { from, from_offset } => (COPY, 0, Some(uuid_to_id(from.0)), *from_offset),
        MoveWork::Zero => (ZERO, 0, None, 0),
        MoveWork::Pieces { kind, pieces: some, runs: of_file } => {
            pieces = model::write_spans(some, |piece| (piece.offset, piece.bytes));
            runs = model::write_spans(of_file, |run| (run.file_offset, run.bytes));
            let kind = match kind {
                PiecesKind::Load => LOAD,
                PiecesKind::HashFile => HASH_FILE,
                PiecesKind::Hash => HASH,
                PiecesKind::Save => SAVE,
            };
            (kind, 0, None, 0)
        }
    };
    fb::TensorMove {
        token: Some(uuid_to_id(moving.token.0)),
        kind,
        tensor: Some(uuid_to_id(moving.tensor.0)),
        offset: moving.offset,
        bytes: moving.bytes,
        file_offset,
        from,
        from_offset,
        pieces,
        runs,
    }
}

fn retire(
    version: Option<fb::Id>,
    model: Option<String>,
    tag: Option<String>,
    current: bool,
) -> fb::VersionRetire {
    fb::VersionRetire { version, model, tag, current, node: None }
}

fn write_target(target: &Target) -> (Option<String>, Option<fb::Id>) {
    match target {
        Target::Name(name) => (Some(name.to_string()), None),
        Target::Id(id) => (None, Some(uuid_to_id(id.0))),
    }
}

fn read_body(body: fb::RequestBodyRef<'_>) -> Read<RequestBody> {
    use fb::RequestBodyRef as B;
    Ok(match body {
        B::Hello(hello) => RequestBody::Hello(read_hello(hello)?),
        B::Claim(claim) => RequestBody::Claim(read_claims(claim)?),
        B::Goodbye(_) => RequestBody::Goodbye,
        B::Ping(_) => RequestBody::Ping,
        B::PondStatus(_) => RequestBody::PondStatus,
        B::ClientList(_) => RequestBody::ClientList,
        B::TensorCreate(create) => RequestBody::TensorCreate(read_create(create)?),
        B::TensorGet(get) => RequestBody::TensorGet(TensorGet {
            target: read_target(get.name()?, get.tensor()?, get.node()?)?,
            lease: read_lease(get.lease()?)?.ok_or(DecodeError::Missing("lease"))?,
            mode: read::code("mode", get.mode()?, Mode::from_code)?,
            wait_ms: get.wait_ms()?,
        }),
        B::TensorPublish(publish) => RequestBody::TensorPublish(TensorPublish {
            tensor: TensorId(read::uuid("tensor", publish.tensor()?)?),
            token: Token(read::uuid("token", publish.token()?)?),
            name: read::name(publish.name()?)?,
            replace: publish.replace()?,
        }),
        B::TensorMove(moving) => RequestBody::TensorMove(read_move(moving)?),
        B::Collect(collect) => RequestBody::Collect {
            unleased_for_ms: collect.unleased_for_ms()?,
            dry_run: collect.dry_run()?,
        },
        B::Upgrade(upgrade) => RequestBody::Upgrade {
            program: read::text("program", upgrade.program()?, limits::PATH_BYTES)?,
        },
        B::StartReport(report) => RequestBody::StartReport {
            loading: read::text("loading", report.loading()?, limits::NAME_BYTES)?,
            failed: read::text("failed", report.failed()?, limits::TEXT_BYTES)?,
        },
        B::TensorDelete(delete) => {
            RequestBody::TensorDelete { tensor: TensorId(read::uuid("tensor", delete.tensor()?)?) }
        }
        B::TensorInspect(inspect) => RequestBody::TensorInspect(read_target(
            inspect.name()?,
            inspect.tensor()?,
            inspect.node()?,
        )?),
        B::TensorList(list) => RequestBody::TensorList {
            prefix: read::text("prefix", list.prefix()?, limits::NAME_BYTES)?,
        },
        B::LeaseRelease(release) => {
            let leases = read::required("leases", release.leases()?)?;
            read::at_most("leases", leases.len(), limits::LEASES_PER_MESSAGE)?;
            RequestBody::LeaseRelease { leases: leases.iter().map(LeaseId).collect() }
        }
        B::Subscribe(subscribe) => RequestBody::Subscribe { from: subscribe.from()? },
        B::VersionStage(stage) => RequestBody::VersionStage(model::read_stage(stage)?),
        B::VersionCommit(commit) => RequestBody::VersionCommit(model::read_commit(commit)?),
        B::VersionGet(get) => RequestBody::VersionGet(model::read_get(get)?),
        B::VersionSlabs(slabs) => RequestBody::VersionSlabs {
            version: VersionId(read::uuid("version", slabs.version()?)?),
            lease: read_lease(slabs.lease()?)?.ok_or(DecodeError::Missing("lease"))?,
            first: slabs.first()?,
            count: slabs.count()?,
        },
        B::VersionPart(part) => RequestBody::VersionPart {
            version: VersionId(read::uuid("version", part.version()?)?),
            index: part.index()?,
        },
        B::VersionRetire(it) => {
            let target = model::read_target(it.version()?, it.model()?, it.tag()?, it.node()?)?;
            match it.current()? {
                false => RequestBody::VersionRetire(target),
                true => RequestBody::VersionRemove(target),
            }
        }
        B::VersionInspect(it) => RequestBody::VersionInspect(model::read_target(
            it.version()?,
            it.model()?,
            it.tag()?,
            it.node()?,
        )?),
        B::ModelSwap(swap) => RequestBody::ModelSwap {
            model: model::read_model(swap.model()?, swap.node()?)?,
            tag: model::read_tag(swap.tag()?)?,
            token: Token(read::uuid("token", swap.token()?)?),
        },
        B::ModelList(list) => RequestBody::ModelList {
            prefix: read::text("prefix", list.prefix()?, limits::NAME_BYTES)?,
        },
        B::GroupSet(set) => RequestBody::GroupSet(group::read_set(set)?),
        B::GroupJoin(join) => RequestBody::GroupJoin(group::read_join(join)?),
        B::GroupList(_) => RequestBody::GroupList,
        B::GroupInspect(it) => {
            RequestBody::GroupInspect { group: group::required_name(it.name()?)? }
        }
        B::GroupRemove(it) => RequestBody::GroupRemove { group: group::required_name(it.name()?)? },
        B::Rename(rename) => RequestBody::Rename(Rename {
            object: read::required(
                "tensor",
                read::lease_target(rename.tensor()?, rename.version()?)?,
            )?,
            name: read::required("name", read::name(rename.name()?)?)?,
            token: Token(read::uuid("token", rename.token()?)?),
        }),
    })
}

fn read_hello(hello: fb::HelloRef<'_>) -> Read<Hello> {
    let magic = hello.magic()?;
    if magic != MAGIC {
        return Err(DecodeError::BadValue { field: "magic", value: magic.into() });
    }
    Ok(Hello {
        version: hello.version()?,
        capabilities: hello.capabilities()?,
        client: ClientId(read::uuid("client", hello.client()?)?),
        program: read::text("program", hello.program()?, limits::PROGRAM_BYTES)?,
        claims: hello.claims()?,
    })
}

fn read_claims(claim: fb::ClaimRef<'_>) -> Read<Claim> {
    let mut leases = Vec::new();
    if let Some(claims) = claim.leases()? {
        read::at_most("leases", claims.len(), limits::LEASES_PER_MESSAGE)?;
        for claim in claims {
            let claim = claim?;
            leases.push(LeaseClaim {
                lease: read_lease(claim.lease()?)?.ok_or(DecodeError::Missing("lease"))?,
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

fn read_create(create: fb::TensorCreateRef<'_>) -> Read<TensorCreate> {
    let dtype = read::dtype(create.dtype()?)?;
    let shape = read::shape(create.shape()?)?;
    shape.bytes(dtype)?;
    Ok(TensorCreate {
        tensor: TensorId(read::uuid("tensor", create.tensor()?)?),
        name: read::name(create.name()?)?,
        dtype,
        shape,
        device: create.device()?.map(|device| read::gpu("device", Some(device))).transpose()?,
        audience: read::code("audience", create.audience()?, Audience::from_code)?,
        ephemeral: create.ephemeral()?,
        zero: create.zero()?,
        lease: read_lease(create.lease()?)?,
        life: Life {
            ttl_ms: create.ttl_ms()?,
            linger_ms: create.linger_ms()?,
            accesses: create.max_accesses()?,
        },
    })
}

fn read_move(moving: fb::TensorMoveRef<'_>) -> Read<TensorMove> {
    let kind = moving.kind()?;
    let work = match kind {
        PUT => MoveWork::Put { file_offset: moving.file_offset()? },
        GET => MoveWork::Get { file_offset: moving.file_offset()? },
        COPY => MoveWork::Copy {
            from: TensorId(read::uuid("from", moving.from()?)?),
            from_offset: moving.from_offset()?,
        },
        ZERO => MoveWork::Zero,
        LOAD | HASH_FILE | HASH | SAVE => {
            let kind = match kind {
                LOAD => PiecesKind::Load,
                HASH_FILE => PiecesKind::HashFile,
                HASH => PiecesKind::Hash,
                _ => PiecesKind::Save,
            };
            let (pieces, runs) = model::read_pieces(moving, kind.has_file())?;
            let sum = pieces.iter().map(|piece| piece.bytes).sum::<u64>();
            if (moving.offset()?, moving.bytes()?) != (0, sum) {
                return Err(DecodeError::BadValue { field: "bytes", value: moving.bytes()? });
            }
            MoveWork::Pieces { kind, pieces, runs }
        }
        other => return Err(DecodeError::BadValue { field: "kind", value: other.into() }),
    };
    Ok(TensorMove {
        token: Token(read::uuid("token", moving.token()?)?),
        tensor: TensorId(read::uuid("tensor", moving.tensor()?)?),
        offset: moving.offset()?,
        bytes: moving.bytes()?,
        work,
    })
}

fn read_lease(number: u64) -> Read<Option<LeaseId>> {
    Ok((number != 0).then_some(LeaseId(number)))
}

fn read_target(
    name: Option<&str>,
    id: Option<fb::IdRef<'_>>,
    node: Option<fb::IdRef<'_>>,
) -> Read<Target> {
    read::own_node(node)?;
    match (name, id) {
        (_, Some(id)) => Ok(Target::Id(TensorId(super::id_to_uuid(id)))),
        (Some(name), None) => {
            // A name, and before it '~', ten digits and a slash.
            read::at_most("name", name.len(), limits::NAME_BYTES + 12)?;
            Ok(Target::Name(name.parse::<TensorRef>()?))
        }
        (None, None) => Err(DecodeError::Missing("name")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Dtype, GpuUuid, Shape, TensorName, VersionId};

    fn samples() -> Vec<RequestBody> {
        let create = TensorCreate {
            tensor: TensorId::random(),
            name: Some(TensorName::new("acts/x").unwrap()),
            dtype: Dtype::Bf16,
            shape: Shape::new([4096, 4096]).unwrap(),
            device: Some(GpuUuid([7; 16])),
            audience: Audience::Group,
            ephemeral: true,
            zero: true,
            lease: Some(LeaseId(9)),
            life: Life { ttl_ms: Some(1), linger_ms: Some(0), accesses: Some(3) },
        };
        let bare = TensorCreate {
            name: None,
            device: None,
            lease: None,
            life: Life::default(),
            ..create.clone()
        };
        let moving = |work| {
            RequestBody::TensorMove(TensorMove {
                token: Token::random(),
                tensor: TensorId::random(),
                offset: 1,
                bytes: 2,
                work,
            })
        };
        let get = |target| {
            RequestBody::TensorGet(TensorGet {
                target,
                lease: LeaseId(3),
                mode: Mode::ReadOnly,
                wait_ms: 5000,
            })
        };
        let claim = LeaseClaim {
            lease: LeaseId(1),
            target: TensorId::random().into(),
            mode: Mode::ReadWrite,
            token: [5; 16],
        };
        let on_version = LeaseClaim { target: VersionId::random().into(), ..claim };
        let mut all = vec![
            RequestBody::Hello(Hello {
                version: 1,
                capabilities: 3,
                client: ClientId::random(),
                program: "worker".into(),
                claims: true,
            }),
            RequestBody::Claim(Claim { leases: vec![claim, on_version], last: true }),
            RequestBody::Goodbye,
            RequestBody::Ping,
            RequestBody::PondStatus,
            RequestBody::ClientList,
            RequestBody::TensorCreate(create),
            RequestBody::TensorCreate(bare),
            get(Target::Id(TensorId::random())),
            get(Target::Name("~5/acts/x".parse().unwrap())),
            RequestBody::TensorPublish(TensorPublish {
                tensor: TensorId::random(),
                token: Token::random(),
                name: Some(TensorName::new("acts/y").unwrap()),
                replace: true,
            }),
            moving(MoveWork::Put { file_offset: 5 }),
            moving(MoveWork::Get { file_offset: 6 }),
            moving(MoveWork::Copy { from: TensorId::random(), from_offset: 7 }),
            moving(MoveWork::Zero),
            RequestBody::Collect { unleased_for_ms: Some(0), dry_run: true },
            RequestBody::Collect { unleased_for_ms: None, dry_run: false },
            RequestBody::Upgrade { program: "/usr/bin/millpond".into() },
            RequestBody::StartReport { loading: "net".into(), failed: "old: no such file".into() },
            RequestBody::TensorDelete { tensor: TensorId::random() },
            RequestBody::TensorInspect(Target::Name("x".parse().unwrap())),
            RequestBody::TensorList { prefix: "acts/".into() },
            RequestBody::LeaseRelease { leases: vec![LeaseId(1), LeaseId(2)] },
            RequestBody::Subscribe { from: 17 },
            RequestBody::Rename(Rename {
                object: VersionId::random().into(),
                name: TensorName::new("acts/z").unwrap(),
                token: Token::random(),
            }),
        ];
        all.extend(super::super::model_samples::requests());
        all.extend(super::super::group_samples::requests());
        all
    }

    #[test]
    fn every_request_comes_back_as_it_was() {
        let mut builder = Builder::new();
        for (number, body) in (1..).zip(samples()) {
            let request = Request { number, body };
            let bytes = request.encode(&mut builder).to_vec();
            assert_eq!(Request::decode(&bytes).unwrap(), request);
        }
    }

    fn decoded(body: fb::RequestBody) -> DecodeError {
        let request = fb::Request { number: 4, body: Some(body) };
        let mut builder = Builder::new();
        let (number, error) = Request::decode(builder.finish(request, None)).unwrap_err();
        assert_eq!(number, 4);
        error
    }

    #[test]
    fn a_name_on_another_node_is_refused_and_the_refusal_names_the_node() {
        let node = Some(fb::Id { high: 1, low: 2 });
        let name = || Some("x".to_owned());
        let (lease, mode) = (1, Mode::ReadOnly.code());
        use fb::RequestBody as B;
        let refused = [
            B::TensorGet(Box::new(fb::TensorGet {
                name: name(),
                lease,
                mode,
                node,
                ..Default::default()
            })),
            B::TensorInspect(Box::new(fb::TensorInspect {
                name: name(),
                node,
                ..Default::default()
            })),
            B::VersionGet(Box::new(fb::VersionGet {
                model: name(),
                lease,
                mode,
                node,
                ..Default::default()
            })),
            B::VersionInspect(Box::new(fb::VersionInspect {
                version: node,
                node,
                ..Default::default()
            })),
            B::VersionRetire(Box::new(fb::VersionRetire {
                model: name(),
                node,
                ..Default::default()
            })),
            B::ModelSwap(Box::new(fb::ModelSwap {
                model: name(),
                token: node,
                node,
                ..Default::default()
            })),
        ];
        for body in refused {
            let error = decoded(body.clone());
            let words = "node 00000000-0000-0001-0000-000000000002 is named";
            assert!(error.to_string().starts_with(words), "{body:?}: {error}");
        }
    }

    #[test]
    fn a_lease_is_on_a_tensor_or_on_a_version_and_not_on_both() {
        let id = Some(fb::Id { high: 1, low: 2 });
        let claim = |tensor, version| {
            let (mode, token) = (Mode::ReadOnly.code(), Some(vec![0; 16]));
            let leases = Some(vec![fb::LeaseClaim { lease: 1, tensor, version, mode, token }]);
            decoded(fb::RequestBody::Claim(Box::new(fb::Claim { leases, last: true })))
        };
        assert!(matches!(claim(id, id), DecodeError::TwoTargets));
        assert!(matches!(claim(None, None), DecodeError::Missing("tensor")));
    }

    #[test]
    fn caps_hold() {
        let mut builder = Builder::new();
        let leases = vec![LeaseId(1); limits::LEASES_PER_MESSAGE + 1];
        let body = RequestBody::LeaseRelease { leases };
        let bytes = Request { number: 4, body }.encode(&mut builder).to_vec();
        let (number, error) = Request::decode(&bytes).unwrap_err();
        assert_eq!(number, 4);
        assert!(matches!(error, DecodeError::TooMany { field: "leases", .. }));
    }

    proptest! {
        #[test]
        fn damaged_requests_never_panic(flips in prop::collection::vec((any::<u16>(), any::<u8>()), 1..8), which in 0usize..samples().len(), cut in any::<u16>()) {
            let mut builder = Builder::new();
            let mut bytes = Request { number: 7, body: samples().swap_remove(which) }.encode(&mut builder).to_vec();
            for (at, value) in flips {
                let at = usize::from(at) % bytes.len();
                bytes[at] = value;
            }
            let _ = Request::decode(&bytes);
            bytes.truncate(usize::from(cut) % (bytes.len() + 1));
            let _ = Request::decode(&bytes);
        }
    }
}
