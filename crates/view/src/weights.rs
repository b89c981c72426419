//! Loads, checks and saves of versions.

use millpond_wire::VersionTag;
use serde::Serialize;

use crate::{Text, Version};

data! { $
    /// What a load has read.
    pub struct Load as load_fields {
        /// Bytes read from files, those that were only compared included.
        read_bytes: u64,
        /// Bytes of tensors in slabs that are shared with another version.
        shared_tensor_bytes: u64,
        /// Bytes that the files have twice and that are stored once, because they say that the tensors are tied.
        tied_bytes: u64,
        /// The names of each tensor that has several because of that.
        tied: Vec<Vec<String>>,
        /// Some files were not in the page cache and were read past it.
        cold: bool,
        /// Why no slab is shared with the version that it is like, if there is one.
        unshared: Option<Unshared>,
        /// How long it took.
        elapsed_ms: f64,
    }
}

data! { $
    /// Why a version shares no slab with the one that it is like.
    pub struct Unshared as unshared_fields {
        /// That version's tag.
        version: Text<VersionTag>,
        /// `device`, `audience`, `slab_bytes`, `tensors` or `ties`: what differs.
        why: &'static str,
        /// The same in words.
        reason: &'static str,
    }
}

/// `load`: the version's fields, and what was read.
#[derive(Clone, Debug, Serialize)]
pub struct Loaded {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// What was read.
    #[serde(flatten)]
    pub load: Load,
}

data! { $
    /// What a check of a version's bytes has found.
    pub struct Verify as verify_fields {
        /// Every byte is what was loaded.
        ok: bool,
        /// Names of tensors that are not.
        differing: Vec<String>,
        /// How long it took.
        elapsed_ms: f64,
    }
}

/// `verify`: the version's fields, and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// What was found.
    #[serde(flatten)]
    pub verify: Verify,
}

/// `save`.
#[derive(Clone, Debug, Serialize)]
pub struct Saved {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// What was written, the index last.
    pub files: Vec<String>,
    /// How long it took.
    pub elapsed_ms: f64,
}
