//! What the bridge needs of the pond, and no more. The daemon is the truth; everything in Redis is
//! made from what these calls give.

use std::time::Duration;

use millpond_wire::{
    Dtype, ErrorKind, GpuUuid, HANDLE_BYTES, Shape, Survives, TensorId, TensorState, Token,
    TransportKind,
};

use crate::answer::{Code, Refusal};

/// A tensor as its hash shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub id: TensorId,
    /// As the bridge's user would type it; none without a name.
    pub name: Option<String>,
    pub dtype: Dtype,
    pub shape: Shape,
    pub gpu: GpuUuid,
    pub bytes: u64,
    pub offset: u64,
    pub state: TensorState,
    pub created_unix_ms: u64,
    pub transport: TransportKind,
    pub survives: Survives,
    /// The process that keeps the memory; zero where descriptors do.
    pub owner_pid: u32,
    /// How many hold it; none if it was not made through Redis.
    pub holds: Option<u64>,
}

/// A tensor with what opens its memory. Its `Debug` has no bytes: logs are read by others.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    pub tensor: Tensor,
    pub handle: [u8; HANDLE_BYTES],
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("tensor", &self.tensor).finish_non_exhaustive()
    }
}

/// The pond as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub pond: String,
    pub epoch: u64,
    pub version: String,
    pub tensors: u64,
    pub gpus: Vec<Gpu>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Gpu {
    pub index: u32,
    #[serde(serialize_with = "as_text")]
    pub uuid: GpuUuid,
    pub name: String,
    pub total_bytes: u64,
    /// Bytes of the pond's slabs.
    pub used: u64,
}

fn as_text<S: serde::Serializer>(uuid: &GpuUuid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(uuid)
}

/// A tensor to be made.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Shape,
    pub gpu: GpuUuid,
    pub token: Token,
}

/// What happened in the pond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    Made(TensorId),
    /// Deleted, freed, orphaned or held less, with the name that it had.
    Ended(TensorId, Option<String>),
    /// Events are missing, or another daemon serves: everything is to be compared.
    Everything,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// The pond is not there, or goes: the same call later.
    Away(String),
    /// It said no.
    No(Refusal),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Away(why) => f.write_str(why),
            Trouble::No(refusal) => f.write_str(&refusal.message),
        }
    }
}

impl Trouble {
    pub fn is(&self, kind: ErrorKind) -> bool {
        matches!(self, Trouble::No(refusal) if refusal.code == Code::Kind(kind))
    }
}

pub type Told<T> = Result<T, Trouble>;

/// The pond.
pub trait Truth {
    /// Every tensor with a name that begins so and that the bridge may show.
    fn list(&mut self, prefix: &str) -> Told<Vec<Tensor>>;
    fn inspect(&mut self, name: &str) -> Told<Tensor>;
    fn inspect_id(&mut self, id: TensorId) -> Told<Tensor>;
    /// Makes a tensor of zeroes that lives while it is held; or adds a hold to the same one.
    fn create(&mut self, wanted: &Wanted) -> Told<Tensor>;
    fn hold(&mut self, name: &str, pid: Option<u32>, token: Token) -> Told<Opened>;
    /// The tensor as it is afterwards.
    fn unhold(&mut self, name: &str, pid: Option<u32>, token: Token) -> Told<Tensor>;
    /// What opens a tensor that was made to be held.
    fn peek(&mut self, id: TensorId) -> Told<[u8; HANDLE_BYTES]>;
    /// A new tensor with the bytes of another.
    fn copy(&mut self, from: &str, wanted: &Wanted) -> Told<Tensor>;
    fn status(&mut self) -> Told<Status>;
}

/// What happens, for the thread that waits for it.
pub trait Happenings {
    /// Waits for so long.
    fn next(&mut self, timeout: Duration) -> Told<Option<Happened>>;
}
