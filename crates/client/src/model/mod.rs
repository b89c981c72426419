//! Models: versions that are mapped whole, followed as they change, and made.
//!
//! A version is an arena: addresses that follow each other, in which each of its slabs has its
//! place. It is mapped with one message and three driver calls for each slab; its tensors are found
//! in the manifest, which is read where it lies, when they are asked for. So an attach costs what
//! its slabs cost, however many tensors lie in them.
//!
//! A [`Model`] and every [`ModelTensor`] of it hold the same lease. It ends as a tensor's does: when
//! the last of them is gone and the device has done all that was submitted before.

mod arena;
mod attach;
mod attachment;
mod calls;
mod commit;
mod follow;
pub(crate) mod granted;
mod stage;
mod staged;
pub(crate) mod template;
mod tensor;
mod unfinished;
mod version;

use millpond_wire::fd::SealedMap;
use millpond_wire::manifest::ManifestView;

pub(crate) use self::arena::Arena;
#[cfg(test)]
pub(crate) use self::arena::{New, NotExchanged};
pub use self::attach::{AttachOptions, Model};
pub(crate) use self::calls::Activate;
pub use self::calls::{Swap, VersionView};
pub use self::stage::{StageSpec, Staging};
pub use self::staged::StagedTensor;
pub use self::tensor::ModelTensor;
pub(crate) use self::unfinished::Unfinished;
pub use self::version::IntoVersion;

/// The manifest of a version, read where the pond keeps it.
pub type ManifestMap = ManifestView<SealedMap>;
