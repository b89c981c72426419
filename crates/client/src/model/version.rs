//! What a call is about: a version of a model by name or by identity.

use millpond_wire::message::VersionInfo;
use millpond_wire::{ModelRef, TensorRef, VersionId, VersionTarget};

use crate::{Result, users};

/// Whatever names a version.
///
/// Text is a model, which means its current version (`llama`), a model and a tag (`llama@v1`), each
/// with or without an owner (`~alice/llama`), or the 36 characters of an identity.
pub trait IntoVersion {
    /// The version, checked.
    ///
    /// # Errors
    /// A name or a tag that is not possible, or a user that this machine does not know.
    fn into_version(self) -> Result<VersionTarget>;
}

impl IntoVersion for &str {
    fn into_version(self) -> Result<VersionTarget> {
        if self.len() == 36
            && let Ok(id) = self.parse::<VersionId>()
        {
            return Ok(VersionTarget::Id(id));
        }
        Ok(VersionTarget::Name(users::with_number(self)?.parse()?))
    }
}

impl IntoVersion for String {
    fn into_version(self) -> Result<VersionTarget> {
        self.as_str().into_version()
    }
}

impl IntoVersion for &String {
    fn into_version(self) -> Result<VersionTarget> {
        self.as_str().into_version()
    }
}

impl IntoVersion for ModelRef {
    fn into_version(self) -> Result<VersionTarget> {
        Ok(VersionTarget::Name(self))
    }
}

impl IntoVersion for VersionId {
    fn into_version(self) -> Result<VersionTarget> {
        Ok(VersionTarget::Id(self))
    }
}

impl IntoVersion for VersionTarget {
    fn into_version(self) -> Result<VersionTarget> {
        Ok(self)
    }
}

impl IntoVersion for &VersionTarget {
    fn into_version(self) -> Result<VersionTarget> {
        Ok(self.clone())
    }
}

/// A model by name, as a person writes it.
pub(super) fn model_ref(text: &str) -> Result<TensorRef> {
    let numbered = users::with_number(text)?;
    // With its owner in front, a name may hold an '@' only between a model and a tag.
    let parsed: ModelRef = numbered.parse()?;
    match parsed.tag {
        None => Ok(parsed.model),
        Some(_) => Err(millpond_wire::ModelNameError::At(text.to_owned()).into()),
    }
}

/// The model of a version, whoever asks.
pub(super) fn model_of(info: &VersionInfo) -> TensorRef {
    TensorRef { user: Some(info.user), name: info.model.clone() }
}

/// How a message calls a version.
pub(super) fn label(info: &VersionInfo) -> String {
    format!("{}@{}", info.model, info.tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_model_a_version_or_an_identity() {
        let id = VersionId::random();
        assert_eq!(id.to_string().into_version().unwrap(), VersionTarget::Id(id));
        let name = |text: &str| match text.into_version().unwrap() {
            VersionTarget::Name(name) => (name.model.to_string(), name.tag.map(|t| t.to_string())),
            VersionTarget::Id(id) => panic!("{id}"),
        };
        assert_eq!(name("llama"), ("llama".into(), None));
        assert_eq!(name("~7/team/llama@v1"), ("~7/team/llama".into(), Some("v1".into())));
        assert_eq!(name("~root/m"), ("~0/m".into(), None));
        for bad in ["", "a b", "llama@", "llama@v1@v2", "~nobody-has-this-name/x"] {
            assert!(bad.into_version().is_err(), "{bad}");
        }
    }

    #[test]
    fn where_a_model_is_wanted_a_version_is_refused() {
        assert_eq!(model_ref("~7/llama").unwrap().to_string(), "~7/llama");
        let error = model_ref("llama@v1").unwrap_err();
        assert!(error.to_string().contains("llama@v1"), "{error}");
    }
}
