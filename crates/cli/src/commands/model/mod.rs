//! Models: loading, listing, changing, checking and saving their versions.

mod change;
mod inspect;
mod list;
mod load;
mod save;
mod verify;

use millpond_wire::TensorName;
use millpond_wire::message::VersionInfo;

use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::users;

pub use change::{retire, rollback, swap};
pub use inspect::{inspect, neither};
#[cfg(test)]
pub use list::samples;
pub use list::{list, state};
pub use load::load;
pub use save::save;
pub use verify::verify;

/// A model's name as it can be typed: with its owner where that is somebody else.
pub fn shown_model(name: &TensorName, user: u32) -> String {
    if user == users::me() || name.is_public() {
        name.to_string()
    } else {
        format!("~{user}/{name}")
    }
}

/// A version as it can be typed.
pub fn shown(info: &VersionInfo) -> String {
    format!("{}@{}", shown_model(&info.model, info.user), info.tag)
}

/// `llama v1` and `llama@v1` are the same.
fn named(model: &str, version: Option<&str>) -> Result<(String, String), CommandError> {
    let usage = |message: String| {
        let report = Report::new(Code::Usage, message);
        CommandError::from(report.hint("`millpond models` lists versions"))
    };
    match (model.split_once('@'), version) {
        (None, Some(version)) => Ok((model.to_owned(), version.to_owned())),
        (Some((model, version)), None) => Ok((model.to_owned(), version.to_owned())),
        (None, None) => Err(usage(format!("no version of '{model}' given; write '{model}@v1'"))),
        (Some(_), Some(version)) => {
            Err(usage(format!("two versions given: '{model}' and '{version}'")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_named_once() {
        let expected = ("llama".to_owned(), "v1".to_owned());
        assert_eq!(named("llama", Some("v1")).unwrap(), expected);
        assert_eq!(named("llama@v1", None).unwrap(), expected);
        assert!(named("llama", None).unwrap_err().to_string().contains("no version of"));
        assert!(named("llama@v1", Some("v2")).is_err());
    }

    #[test]
    fn names_can_be_typed_as_they_are_shown() {
        let name = |text: &str| TensorName::new(text).unwrap();
        let other = users::me() + 1;
        assert_eq!(shown_model(&name("llama"), users::me()), "llama");
        assert_eq!(shown_model(&name("llama"), other), format!("~{other}/llama"));
        assert_eq!(shown_model(&name("public/llama"), other), "public/llama");
    }
}
