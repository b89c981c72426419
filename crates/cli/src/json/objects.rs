//! Models and tensors alike as JSON.

use serde::Serialize;

use crate::commands::objects::{Object, total_bytes};

/// One line of `ls`: a tensor, or a version of a model.
#[derive(Debug, Serialize)]
pub struct ObjectJson {
    /// `model` or `tensor`.
    kind: &'static str,
    /// As it can be typed.
    name: String,
    /// Identity.
    id: String,
    /// Owner's user id.
    user: u32,
    /// Its size.
    bytes: u64,
    /// `writing`, `ready` or `deleted`; of versions `staging`, `ready`, `current`, `draining` or
    /// `lost`.
    state: &'static str,
    /// Leases on it.
    users: u32,
    /// When it was made.
    created_unix_ms: u64,
}

impl From<&Object> for ObjectJson {
    fn from(object: &Object) -> Self {
        Self {
            kind: object.kind().name(),
            name: object.name(),
            id: object.id(),
            user: object.user(),
            bytes: object.bytes(),
            state: object.state(),
            users: object.users(),
            created_unix_ms: object.created_unix_ms(),
        }
    }
}

/// `ls`.
#[derive(Debug, Serialize)]
pub struct ObjectsJson {
    /// In the order that was asked for.
    objects: Vec<ObjectJson>,
    /// Their bytes together.
    bytes: u64,
}

impl From<&[Object]> for ObjectsJson {
    fn from(objects: &[Object]) -> Self {
        Self {
            objects: objects.iter().map(ObjectJson::from).collect(),
            bytes: total_bytes(objects),
        }
    }
}

/// `rm`.
#[derive(Debug, Serialize)]
pub struct RemovedJson {
    /// Nothing was done.
    dry_run: bool,
    /// What went, or would.
    objects: Vec<ObjectJson>,
    /// Their bytes together.
    bytes: u64,
    /// The bytes that stay until programs let go.
    held_bytes: u64,
}

impl RemovedJson {
    /// Of what went, or would.
    pub fn new(dry_run: bool, objects: &[Object], held_bytes: u64) -> Self {
        let ObjectsJson { objects, bytes } = objects.into();
        Self { dry_run, objects, bytes, held_bytes }
    }
}

/// `mv`.
#[derive(Debug, Serialize)]
pub struct RenamedJson {
    /// `model` or `tensor`.
    pub kind: &'static str,
    /// Its name now.
    pub name: String,
    /// Its name before.
    pub was: String,
}
