//! What went wrong, as JSON.

use serde::Serialize;

use crate::error::Report;

/// `{"error": {...}}` on standard error, from every command with `--json`.
#[derive(Debug, Serialize)]
pub struct ErrorJson {
    error: ErrorBody,
}

/// Why a command failed.
#[derive(Debug, Serialize)]
struct ErrorBody {
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
    holders: Vec<HolderJson>,
}

/// One owner of memory, where memory was short.
#[derive(Debug, Serialize)]
struct HolderJson {
    /// User id.
    user: u32,
    /// Bytes of its slabs.
    bytes: u64,
    /// Tensors in them.
    tensors: u32,
}

impl From<&Report> for ErrorJson {
    fn from(report: &Report) -> Self {
        let holder = |holder: &millpond_wire::Holder| HolderJson {
            user: holder.user,
            bytes: holder.bytes,
            tensors: holder.tensors,
        };
        Self {
            error: ErrorBody {
                kind: report.code.name(),
                exit_code: report.code.number(),
                message: report.failure.message.clone(),
                hint: report.failure.hint.clone(),
                similar: report.failure.similar.clone(),
                requested_bytes: report.failure.requested_bytes,
                free_bytes: report.failure.free_bytes,
                capacity_bytes: report.failure.capacity_bytes,
                holders: report.failure.holders.iter().map(holder).collect(),
            },
        }
    }
}
