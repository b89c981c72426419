//! What a call is about: a tensor by name or by identity.

use millpond_wire::message::Target;
use millpond_wire::{TensorId, TensorName, TensorRef};

use crate::{Result, Tensor, users};

/// Length of an identity as text.
pub(crate) const ID_TEXT_BYTES: usize = 36;

/// Whatever names a tensor.
///
/// Text is a name (`acts/x`), a name with its owner (`~alice/acts/x`, `~1000/acts/x`), or the 36
/// characters of an identity. (A tensor whose *name* looks like an identity is still reached with
/// its owner in front.)
pub trait IntoTarget {
    /// The target, checked.
    ///
    /// # Errors
    /// A name that is not possible, or a user that this machine does not know.
    fn into_target(self) -> Result<Target>;

    /// The text, where that is all that is known: a get of what is mapped does not look into it.
    #[doc(hidden)]
    fn text(&self) -> Option<&str> {
        None
    }
}

impl IntoTarget for &str {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_target(self) -> Result<Target> {
        if self.len() == ID_TEXT_BYTES
            && let Ok(id) = self.parse::<TensorId>()
        {
            return Ok(Target::Id(id));
        }
        Ok(Target::Name(users::with_number(self)?.parse()?))
    }
}

impl IntoTarget for String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_target(self) -> Result<Target> {
        self.as_str().into_target()
    }
}

impl IntoTarget for &String {
    fn text(&self) -> Option<&str> {
        Some(self)
    }

    fn into_target(self) -> Result<Target> {
        self.as_str().into_target()
    }
}

impl IntoTarget for TensorName {
    fn into_target(self) -> Result<Target> {
        Ok(Target::Name(self.into()))
    }
}

impl IntoTarget for &TensorName {
    fn into_target(self) -> Result<Target> {
        self.clone().into_target()
    }
}

impl IntoTarget for TensorRef {
    fn into_target(self) -> Result<Target> {
        Ok(Target::Name(self))
    }
}

impl IntoTarget for TensorId {
    fn into_target(self) -> Result<Target> {
        Ok(Target::Id(self))
    }
}

impl IntoTarget for &Tensor {
    fn into_target(self) -> Result<Target> {
        Ok(Target::Id(self.id()))
    }
}

impl IntoTarget for Target {
    fn into_target(self) -> Result<Target> {
        Ok(self)
    }
}

impl IntoTarget for &Target {
    fn into_target(self) -> Result<Target> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_name_or_an_identity() {
        let id = TensorId::random();
        assert_eq!(id.to_string().into_target().unwrap(), Target::Id(id));
        let target = "~7/acts/x".into_target().unwrap();
        assert_eq!(target, Target::Name("~7/acts/x".parse().unwrap()));
        let owned = format!("~7/{id}");
        assert!(matches!(owned.into_target().unwrap(), Target::Name(_)));
        assert!("a b".into_target().is_err());
        assert!("~nobody-has-this-name/x".into_target().is_err());
    }
}
