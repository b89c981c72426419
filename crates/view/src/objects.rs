//! Models and tensors alike.

use serde::Serialize;

/// One line of `ls`: a tensor, or a version of a model.
#[derive(Clone, Debug, Serialize)]
pub struct Object {
    /// `model` or `tensor`.
    pub kind: &'static str,
    /// As it can be typed.
    pub name: String,
    /// Identity.
    pub id: String,
    /// Owner's user id.
    pub user: u32,
    /// Its size.
    pub bytes: u64,
    /// `writing`, `ready` or `deleted`; of versions `staging`, `ready`, `current`, `draining` or
    /// `lost`.
    pub state: &'static str,
    /// Leases on it.
    pub users: u32,
    /// When it was made.
    pub created_unix_ms: u64,
}

/// `ls`.
#[derive(Clone, Debug, Serialize)]
pub struct Objects {
    /// In the order that was asked for.
    pub objects: Vec<Object>,
    /// Their bytes together.
    pub bytes: u64,
}

/// `rm`.
#[derive(Clone, Debug, Serialize)]
pub struct Removed {
    /// Nothing was done.
    pub dry_run: bool,
    /// What went, or would.
    pub objects: Vec<Object>,
    /// Their bytes together.
    pub bytes: u64,
    /// The bytes that stay until programs let go.
    pub held_bytes: u64,
}

/// `mv`.
#[derive(Clone, Debug, Serialize)]
pub struct Renamed {
    /// `model` or `tensor`.
    pub kind: &'static str,
    /// Its name now.
    pub name: String,
    /// Its name before.
    pub was: String,
}
