//! One line of `millpond ls`: a tensor, or a version of a model.

use millpond::{TensorInfo, VersionInfo};
use millpond_view as view;

use crate::commands::model::{shown, shown_model, state};
use crate::commands::tensor::{has_ended, shown_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A version of a model.
    Model,
    Tensor,
}

impl Kind {
    /// The word for it, which is also what stands before the ':' of `model:net`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Model => "model",
            Kind::Tensor => "tensor",
        }
    }
}

/// A tensor, or a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    Tensor(TensorInfo),
    Version(VersionInfo),
}

impl Object {
    pub fn kind(&self) -> Kind {
        match self {
            Object::Tensor(_) => Kind::Tensor,
            Object::Version(_) => Kind::Model,
        }
    }

    /// The name as it can be typed; a deleted tensor has the one that it had.
    pub fn name(&self) -> String {
        match self {
            Object::Tensor(info) => match &info.name {
                Some(name) if has_ended(info) => name.to_string(),
                _ => shown_name(info),
            },
            Object::Version(info) => shown(info),
        }
    }

    /// What a pattern without an '@' is compared with; nothing for a tensor without a name.
    pub fn bare_name(&self) -> Option<String> {
        match self {
            Object::Tensor(info) => info.name.as_ref().map(|_| self.name()),
            Object::Version(info) => Some(shown_model(&info.model, info.user)),
        }
    }

    pub fn id(&self) -> String {
        match self {
            Object::Tensor(info) => info.tensor.to_string(),
            Object::Version(info) => info.version.to_string(),
        }
    }

    pub fn user(&self) -> u32 {
        match self {
            Object::Tensor(info) => info.user,
            Object::Version(info) => info.user,
        }
    }

    /// Its size; that of its slabs while it is loaded.
    pub fn bytes(&self) -> u64 {
        match self {
            Object::Tensor(info) => info.bytes,
            Object::Version(info) if info.bytes == 0 => info.slab_bytes,
            Object::Version(info) => info.bytes,
        }
    }

    pub fn users(&self) -> u32 {
        match self {
            Object::Tensor(info) => info.leases,
            Object::Version(info) => info.readers,
        }
    }

    /// Where it is in its life.
    pub fn state(&self) -> &'static str {
        match self {
            Object::Tensor(info) => info.state.name(),
            Object::Version(info) if info.current && !info.lost => "current",
            Object::Version(info) => state(info),
        }
    }

    pub fn view(&self) -> view::Object {
        view::Object {
            kind: self.kind().name(),
            name: self.name(),
            id: self.id(),
            user: self.user(),
            bytes: self.bytes(),
            state: self.state(),
            users: self.users(),
            created_unix_ms: self.created_unix_ms(),
        }
    }

    /// When it was made.
    pub fn created_unix_ms(&self) -> u64 {
        match self {
            Object::Tensor(info) => info.created_unix_ms,
            Object::Version(info) => info.created_unix_ms,
        }
    }
}

/// What there is of each kind, in words: `2 tensors and 3 versions of 1 model`.
pub fn census(objects: &[Object]) -> String {
    let count = |number: usize, word: &str| crate::units::count(number as u64, word);
    let tensors = objects.iter().filter(|object| object.kind() == Kind::Tensor).count();
    let mut models: Vec<String> = objects
        .iter()
        .filter(|object| object.kind() == Kind::Model)
        .filter_map(Object::bare_name)
        .collect();
    let versions = models.len();
    models.sort_unstable();
    models.dedup();
    let of_models = || {
        let of = match models.as_slice() {
            [only] => format!("model '{only}'"),
            many => count(many.len(), "model"),
        };
        format!("{} of {of}", count(versions, "version"))
    };
    match (tensors, versions) {
        (tensors, 0) => count(tensors, "tensor"),
        (0, _) => of_models(),
        (tensors, _) => format!("{} and {}", count(tensors, "tensor"), of_models()),
    }
}

/// The sum of their sizes.
pub fn total_bytes(objects: &[Object]) -> u64 {
    objects.iter().map(Object::bytes).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::model::samples;

    #[test]
    fn a_census_is_a_phrase() {
        let version = |tag: &str| Object::Version(samples::version(tag));
        assert_eq!(census(&[]), "0 tensors");
        let two = [version("v1"), version("v2")];
        assert_eq!(census(&two), "2 versions of model 'llama'");
        assert_eq!(total_bytes(&two), 10 << 20);
    }
}
