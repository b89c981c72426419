//! One GPU to scale.

mod build;
mod parts;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::Readings;

pub use parts::{DeviceParts, SharedSlab};

/// Fewer digits of a UUID name nobody.
const LEAST_DIGITS: usize = 4;

/// A GPU as segments that add up to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// UUID of the GPU.
    pub device: String,
    /// Its place in the pond's list.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    /// Bytes on the card: the sum of all segments, to the byte.
    pub total_bytes: u64,
    /// What the card says is in use, by all programs together; nothing if the driver does not say.
    pub used_bytes: Option<u64>,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    /// Bytes of the pond's slabs.
    pub slab_bytes: u64,
    /// Bytes in use by programs that neither the pond nor a group knows: the segment `other`.
    pub other_bytes: u64,
    /// Bytes that nobody uses: the segment `free`.
    pub free_bytes: u64,
    /// Bytes in the books beyond what the card says is in use. They are in no segment.
    pub excess_bytes: u64,
    /// How much more the processes of groups have on the card than they are charged with, as in `status`.
    pub drift_bytes: Option<i64>,
    /// What fills the card, in an order that stays: the pond, its helpers, groups, others, free.
    pub segments: Vec<Segment>,
    /// Utilisation, temperature and power, where somebody reads them.
    pub readings: Option<Readings>,
}

impl Card {
    /// The card that a person means with `0`, `gpu0`, `cuda:0`, its UUID, or the first digits of that.
    #[must_use]
    pub fn find<'a>(cards: &'a [Self], text: &str) -> Option<&'a Self> {
        let index = ["gpu", "cuda:"].iter().find_map(|prefix| text.strip_prefix(prefix));
        if let Ok(index) = index.unwrap_or(text).parse::<u32>()
            && let Some(found) = cards.iter().find(|card| card.index == index)
        {
            return Some(found);
        }
        let bare = |uuid: &str| uuid.strip_prefix("GPU-").unwrap_or(uuid).to_ascii_lowercase();
        let digits = bare(text);
        let mut found = cards.iter().filter(|card| bare(&card.device).starts_with(&digits));
        let only = found.next().filter(|_| digits.len() >= LEAST_DIGITS);
        only.filter(|_| found.next().is_none())
    }
}

/// A part of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Its bytes.
    pub bytes: u64,
    /// A name for people. It may hold any character that a name or a program may.
    pub label: String,
    /// Identity of the tensor, the version, the host or the cache.
    pub id: Option<String>,
    /// User id of whose it is.
    pub user: Option<u32>,
    /// That user's name, where the machine knows one.
    pub owner: Option<String>,
    /// How many things it is: 1 for a tensor, the number of tensors for several, of processes for a group.
    pub count: u64,
    /// Leases on it.
    pub readers: Option<u64>,
    /// `ready`, `staging`, `draining` and the like.
    pub state: Option<String>,
    /// What its memory survives: `everything`, `host` or `owner`.
    pub survives: Option<String>,
    /// The limit that holds for it.
    pub limit_bytes: Option<u64>,
    /// What it consists of, where that is known. The bytes are at most those of the whole.
    pub children: Vec<Segment>,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Slabs that one version of a model has alone.
    Version,
    /// Slabs that several versions have.
    SharedSlabs,
    /// One tensor.
    Tensor,
    /// Several tensors of one owner.
    Tensors,
    /// Tensors of transport `ipc`: a host or an owner keeps them.
    Ipc,
    /// Room beside the tensors of slabs.
    SlabRoom,
    /// Empty slabs that are kept for their owner.
    Recycled,
    /// Memory of the pond that no listing names: tensors of others, or deleted ones in use.
    Unlisted,
    /// What a host's CUDA context takes.
    HostContext,
    /// What a mover's CUDA context takes.
    MoverContext,
    /// Programs of a group, as its ledger has them.
    Group,
    /// Pages of an elastic cache in use; a part of a group.
    Cache,
    /// Pages that a cache can give back at once; a part of a group.
    CacheIdle,
    /// Contexts of a group's programs; a part of a group.
    Contexts,
    /// In use by programs that neither the pond nor a group knows, and by the driver itself.
    Other,
    /// In use by nobody.
    Free,
}

impl SegmentKind {
    /// Every kind, in the order of a card.
    pub const ALL: [Self; 16] = [
        Self::Version,
        Self::SharedSlabs,
        Self::Tensor,
        Self::Tensors,
        Self::Ipc,
        Self::SlabRoom,
        Self::Recycled,
        Self::Unlisted,
        Self::HostContext,
        Self::MoverContext,
        Self::Group,
        Self::Cache,
        Self::CacheIdle,
        Self::Contexts,
        Self::Other,
        Self::Free,
    ];

    /// The word for it in data, as in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::SharedSlabs => "shared_slabs",
            Self::Tensor => "tensor",
            Self::Tensors => "tensors",
            Self::Ipc => "ipc",
            Self::SlabRoom => "slab_room",
            Self::Recycled => "recycled",
            Self::Unlisted => "unlisted",
            Self::HostContext => "host_context",
            Self::MoverContext => "mover_context",
            Self::Group => "group",
            Self::Cache => "cache",
            Self::CacheIdle => "cache_idle",
            Self::Contexts => "contexts",
            Self::Other => "other",
            Self::Free => "free",
        }
    }

    /// What a legend calls it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Version => "version of a model",
            Self::SharedSlabs => "slabs of several versions",
            Self::Tensor => "tensor",
            Self::Tensors => "several tensors",
            Self::Ipc => "ipc memory",
            Self::SlabRoom => "room in slabs",
            Self::Recycled => "kept slabs",
            Self::Unlisted => "not listed",
            Self::HostContext => "context of a host",
            Self::MoverContext => "context of a mover",
            Self::Group => "group",
            Self::Cache => "elastic cache",
            Self::CacheIdle => "idle pages",
            Self::Contexts => "contexts",
            Self::Other => "other programs",
            Self::Free => "free",
        }
    }

    /// Whether it lies in the pond's slabs.
    #[must_use]
    pub const fn is_pond(self) -> bool {
        matches!(
            self,
            Self::Version
                | Self::SharedSlabs
                | Self::Tensor
                | Self::Tensors
                | Self::Ipc
                | Self::SlabRoom
                | Self::Recycled
                | Self::Unlisted
        )
    }
}
