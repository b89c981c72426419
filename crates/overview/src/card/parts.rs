//! What a card is made of.

use std::collections::BTreeMap;

use millpond_view as view;

use crate::{Sees, TensorGroup};

/// Everything that is known about one GPU. The lists may be about other GPUs too.
#[derive(Clone, Copy, Debug)]
pub struct DeviceParts<'a> {
    /// The GPU and its accounts.
    pub device: &'a view::Device,
    /// Whose objects the lists have.
    pub sees: Sees,
    /// Tensors that are shown one by one.
    pub tensors: &'a [view::Tensor],
    /// All other tensors.
    pub tensor_groups: &'a [TensorGroup],
    /// Models with their versions.
    pub models: &'a [view::Model],
    /// Slabs that several versions have, each once.
    pub shared_slabs: &'a [SharedSlab],
    /// Hosts of the pond.
    pub hosts: &'a [view::Host],
    /// Movers of the pond.
    pub movers: &'a [view::Mover],
    /// Groups.
    pub groups: &'a [view::Group],
    /// Elastic caches.
    pub caches: &'a [view::Cache],
    /// Names of users.
    pub user_names: &'a BTreeMap<u32, String>,
}

/// Slabs that the same versions have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSlab {
    /// UUID of the GPU.
    pub device: String,
    /// The model, as in `llama`.
    pub model: String,
    /// Tags of its versions that have them, in their order.
    pub versions: Vec<String>,
    /// User id of the owner.
    pub user: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}
