//! What went wrong.

use millpond_wire::Failure;
use serde::Serialize;

/// `{"error": {...}}` on standard error, from every command with `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    error: Body,
}

/// Why a command failed.
#[derive(Clone, Debug, Serialize)]
struct Body {
    /// A name of the table in `millpond help exit-codes`.
    kind: &'static str,
    /// The number of that table.
    exit_code: u8,
    /// One sentence that names the thing.
    message: String,
    /// The command to type next.
    hint: Option<String>,
    /// Names close to one that was not found.
    similar: Vec<String>,
    /// Bytes asked for, where memory was short.
    requested_bytes: Option<u64>,
    /// Bytes free, where memory was short.
    free_bytes: Option<u64>,
    /// The pond's capacity on the GPU, where memory was short.
    capacity_bytes: Option<u64>,
    /// Who holds the rest, largest first.
    holders: Vec<Holder>,
    /// The time since an object of that name ended, where that is why it is not found.
    ended_ago_ms: Option<u64>,
    /// The cap that was reached, where that is why.
    limit: Option<ReachedLimit>,
}

data! { $
    /// A cap that was reached.
    pub struct ReachedLimit as reached_limit_fields {
        /// The setting that says how much.
        key: String,
        /// How much there is.
        has: u64,
        /// How much there may be.
        cap: u64,
    }
}

impl From<&millpond_wire::ReachedLimit> for ReachedLimit {
    fn from(limit: &millpond_wire::ReachedLimit) -> Self {
        Self { key: limit.key.clone(), has: limit.has, cap: limit.cap }
    }
}

data! { $
    /// An owner of memory of a full GPU, or a user of a tensor.
    pub struct Holder as holder_fields {
        /// User id.
        user: u32,
        /// Bytes of its slabs.
        bytes: u64,
        /// Tensors in them.
        tensors: u32,
        /// The cache that holds the bytes, and its process, where it is no slab.
        cache: Option<String>,
        /// The process, where it is about one tensor that is in use.
        pid: Option<u32>,
    }
}

impl From<&millpond_wire::Holder> for Holder {
    fn from(holder: &millpond_wire::Holder) -> Self {
        let millpond_wire::Holder { user, bytes, tensors, cache, pid } = holder.clone();
        Self { user, bytes, tensors, cache, pid }
    }
}

impl Failed {
    /// A failure, with its name and number among the exit codes.
    #[must_use]
    pub fn new(kind: &'static str, exit_code: u8, failure: &Failure) -> Self {
        Self {
            error: Body {
                kind,
                exit_code,
                message: failure.message.clone(),
                hint: failure.hint.clone(),
                similar: failure.similar.clone(),
                requested_bytes: failure.requested_bytes,
                free_bytes: failure.free_bytes,
                capacity_bytes: failure.capacity_bytes,
                holders: failure.holders.iter().map(Holder::from).collect(),
                ended_ago_ms: failure.ended_ago_ms,
                limit: failure.limit.as_deref().map(ReachedLimit::from),
            },
        }
    }
}
