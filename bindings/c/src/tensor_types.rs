//! What is said and asked about tensors.

use std::ffi::c_char;

use millpond::{AdoptSpec, GetOptions, Life, PutSpec, TensorInfo, TensorSpec, Token};

use crate::border::{Answer, Text, flag, reserved};
use crate::failure::Failure;
use crate::pond::wait;
use crate::uuid::{cut, millpond_uuid};
use crate::words::{
    AudienceNumber, DtypeNumber, ModeNumber, SurvivesNumber, TensorStateNumber, TransportNumber,
    audience, dtype, mode, transport,
};

/// The value of `ephemeral` for a tensor that ends with its last lease.
const ENDS_WITH_LEASES: u32 = 2;

/// The most dimensions of a tensor.
pub const MILLPOND_MAX_DIMENSIONS: usize = 16;
/// Bytes of a name with the zero byte at its end.
pub const MILLPOND_NAME_BYTES: usize = 256;

/// A tensor to be made. Begin with a struct of zeroes, and set `dtype`, `dimensions` and `shape` at least.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_tensor_spec {
    /// By which it is found, for example `acts/x`; NULL for a tensor that is found by its identity only.
    pub name: Text,
    /// Element type.
    pub dtype: DtypeNumber,
    /// How many extents; zero for a single element.
    pub dimensions: u32,
    /// Extents.
    pub shape: [u64; MILLPOND_MAX_DIMENSIONS],
    /// On which GPU; all zero for the pond's first one.
    pub gpu: millpond_uuid,
    /// With whom it is shared.
    pub audience: AudienceNumber,
    /// How other processes reach its memory.
    pub transport: TransportNumber,
    /// 1: filled with zeroes, and so ready at once.
    pub zero: u32,
    /// 1: ends with this process instead of when it is deleted; 2: already with its last lease.
    pub ephemeral: u32,
    /// No new readers after so long from its creation; zero for no such end.
    pub ttl_ms: u64,
    /// Deleted after so long without a lease; zero for no such end.
    pub linger_ms: u64,
    /// Deleted after so many gets were answered; zero for no such end.
    pub max_accesses: u64,
    /// Made to be held, with this token: see millpond_tensor_hold(). All zero: not held.
    pub hold_token: millpond_uuid,
    /// For millpond_tensor_put() alone. 1: takes the place of a tensor that has this name.
    pub replace: u32,
    /// Must be zero.
    pub reserved_flags: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 7],
}

/// How a tensor is got. A struct of zeroes maps read-only and waits for nothing.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct millpond_get_options {
    /// How it is mapped.
    pub mode: ModeNumber,
    /// Must be zero.
    pub reserved_flags: u32,
    /// How long to wait until it exists and is published; MILLPOND_WAIT_FOREVER has no end.
    pub wait_ms: u64,
    /// For later versions; must be zero.
    pub reserved: [u64; 6],
}

/// What a pond says about a tensor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_tensor_info {
    /// Identity.
    pub id: millpond_uuid,
    /// UUID of its GPU.
    pub gpu: millpond_uuid,
    /// The slab that it lies in.
    pub slab: millpond_uuid,
    /// Name inside its owner's scope; empty for a tensor that has none.
    pub name: [c_char; MILLPOND_NAME_BYTES],
    /// Element type.
    pub dtype: DtypeNumber,
    /// How many extents.
    pub dimensions: u32,
    /// Extents; zero from `dimensions` on.
    pub shape: [u64; MILLPOND_MAX_DIMENSIONS],
    /// Its bytes.
    pub bytes: u64,
    /// Where in the slab it begins.
    pub slab_offset_bytes: u64,
    /// That slab's bytes.
    pub slab_bytes: u64,
    /// Counts publishes.
    pub generation: u64,
    /// When it was made.
    pub created_unix_ms: u64,
    /// What is left of its time; UINT64_MAX where no end was set.
    pub ttl_left_ms: u64,
    /// How long it stays without a lease; UINT64_MAX where no end was set.
    pub linger_ms: u64,
    /// Gets that will be answered; UINT64_MAX where no end was set.
    pub accesses_left: u64,
    /// How many holds keep it; UINT64_MAX where it was not made to be held.
    pub holds: u64,
    /// Owner's user id.
    pub user: u32,
    /// How many leases there are on it.
    pub leases: u32,
    /// Where it is in its life.
    pub state: TensorStateNumber,
    /// With whom it is shared.
    pub audience: AudienceNumber,
    /// How its memory is shared.
    pub transport: TransportNumber,
    /// What its memory survives.
    pub survives: SurvivesNumber,
    /// 1: ends with its creator's process.
    pub ephemeral: u32,
    /// 1: another program made the memory, and the pond took it in.
    pub adopted: u32,
    /// The process that keeps its memory; zero where descriptors do.
    pub home_pid: u32,
    /// Zero.
    pub reserved_flags: u32,
    /// For later versions; zero.
    pub reserved: [u64; 8],
}

impl From<&TensorInfo> for millpond_tensor_info {
    fn from(info: &TensorInfo) -> Self {
        let mut shape = [0; MILLPOND_MAX_DIMENSIONS];
        for (to, from) in shape.iter_mut().zip(info.shape.dims()) {
            *to = *from;
        }
        Self {
            id: info.tensor.into(),
            gpu: info.device.into(),
            slab: millpond_uuid { bytes: *info.slab.0.as_bytes() },
            name: cut(info.name.as_ref().map_or("", |name| name.as_str())),
            dtype: info.dtype.code().into(),
            dimensions: u32::try_from(info.shape.dims().len()).unwrap_or(0),
            shape,
            bytes: info.bytes,
            slab_offset_bytes: info.offset,
            slab_bytes: info.slab_bytes,
            generation: info.generation,
            created_unix_ms: info.created_unix_ms,
            ttl_left_ms: info.life.ttl_ms.unwrap_or(u64::MAX),
            linger_ms: info.life.linger_ms.unwrap_or(u64::MAX),
            accesses_left: info.life.accesses.unwrap_or(u64::MAX),
            holds: info.holds.unwrap_or(u64::MAX),
            user: info.user,
            leases: info.leases,
            state: info.state.code().into(),
            audience: info.audience.code().into(),
            transport: info.transport.code().into(),
            survives: info.survives.code().into(),
            ephemeral: info.ephemeral.into(),
            adopted: info.adopted.into(),
            home_pid: info.home_pid,
            reserved_flags: 0,
            reserved: [0; 8],
        }
    }
}

impl millpond_tensor_spec {
    fn dims(&self) -> Answer<Vec<u64>> {
        let count = usize::try_from(self.dimensions).unwrap_or(usize::MAX);
        let dims = self.shape.get(..count).ok_or_else(|| {
            Failure::invalid(format!("{count} dimensions; at most {MILLPOND_MAX_DIMENSIONS}"))
        })?;
        Ok(dims.to_vec())
    }

    fn is_ephemeral(&self) -> Answer<bool> {
        match self.ephemeral {
            ENDS_WITH_LEASES => Ok(true),
            number => flag(number, "ephemeral"),
        }
    }

    fn life(&self) -> Life {
        let set = |number| (number != 0).then_some(number);
        let at_once = (self.ephemeral == ENDS_WITH_LEASES).then_some(0);
        Life {
            ttl_ms: set(self.ttl_ms),
            linger_ms: set(self.linger_ms).or(at_once),
            accesses: set(self.max_accesses),
        }
    }

    fn check(&self) -> Answer {
        reserved(&self.reserved, "millpond_tensor_spec")?;
        reserved(&[self.reserved_flags.into()], "millpond_tensor_spec")
    }

    fn refuse(&self, set: bool, what: &str) -> Answer {
        if set { Err(Failure::invalid(format!("`{what}` is not for this call"))) } else { Ok(()) }
    }

    fn is_held(&self) -> bool {
        self.hold_token.bytes != [0; 16]
    }

    /// For a create or a reserve.
    pub(crate) fn made(&self) -> Answer<TensorSpec> {
        self.check()?;
        self.refuse(self.replace != 0, "replace")?;
        let (dtype, dims) = (dtype(self.dtype)?, self.dims()?);
        let mut spec = match self.name.optional("name")? {
            Some(name) => TensorSpec::new(name, dtype, dims),
            None => TensorSpec::unnamed(dtype, dims),
        };
        if let Some(gpu) = self.gpu.gpu() {
            spec = spec.device(gpu);
        }
        if self.is_held() {
            spec = spec.held(token(self.hold_token));
        }
        Ok(spec
            .share(audience(self.audience)?)
            .transport(transport(self.transport)?)
            .zero(flag(self.zero, "zero")?)
            .ephemeral(self.is_ephemeral()?)
            .life(self.life()))
    }

    /// For a put.
    pub(crate) fn put(&self) -> Answer<PutSpec> {
        self.check()?;
        self.refuse(self.zero != 0, "zero")?;
        self.refuse(self.ephemeral != 0, "ephemeral")?;
        self.refuse(self.transport > 1, "transport")?;
        self.refuse(self.is_held(), "hold_token")?;
        let mut spec = PutSpec::new(self.name.required("name")?, dtype(self.dtype)?, self.dims()?)
            .share(audience(self.audience)?)
            .life(self.life())
            .replace(flag(self.replace, "replace")?);
        if let Some(gpu) = self.gpu.gpu() {
            spec = spec.device(gpu);
        }
        Ok(spec)
    }

    /// For an adoption.
    pub(crate) fn adopted(&self) -> Answer<AdoptSpec> {
        self.check()?;
        self.refuse(self.zero != 0, "zero")?;
        self.refuse(self.ephemeral != 0, "ephemeral")?;
        self.refuse(self.transport != 0, "transport")?;
        self.refuse(self.replace != 0, "replace")?;
        self.refuse(self.is_held(), "hold_token")?;
        self.refuse(self.gpu.gpu().is_some(), "gpu")?;
        self.refuse(self.life() != Life::default(), "ttl_ms, linger_ms or max_accesses")?;
        let (dtype, dims) = (dtype(self.dtype)?, self.dims()?);
        let spec = match self.name.optional("name")? {
            Some(name) => AdoptSpec::new(name, dtype, dims),
            None => AdoptSpec::unnamed(dtype, dims),
        };
        Ok(spec.audience(audience(self.audience)?))
    }
}

impl millpond_get_options {
    pub(crate) fn read(options: Option<&Self>) -> Answer<GetOptions> {
        let Some(options) = options else { return Ok(GetOptions::read_only()) };
        reserved(&options.reserved, "millpond_get_options")?;
        reserved(&[options.reserved_flags.into()], "millpond_get_options")?;
        let got = match mode(options.mode)? {
            millpond::Mode::ReadOnly => GetOptions::read_only(),
            millpond::Mode::ReadWrite => GetOptions::read_write(),
        };
        Ok(got.wait(wait(options.wait_ms)))
    }
}

/// The token of a hold.
pub(crate) fn token(uuid: millpond_uuid) -> Token {
    Token(uuid::Uuid::from_bytes(uuid.bytes))
}
