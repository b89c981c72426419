//! A model that is loaded when the pond starts.

use std::path::PathBuf;

use millpond_wire::VersionTag;
use serde::{Deserialize, Serialize};

/// A model that is loaded when the pond starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartModel {
    pub name: String,
    /// Its checkpoint: a file or a folder.
    pub path: PathBuf,
    /// The version's tag; the next free one if there is none.
    #[serde(default)]
    pub version: Option<String>,
    /// The GPU by index or UUID; the pond chooses if there is none.
    #[serde(default)]
    pub device: Option<String>,
}

/// How one is written as text.
const FORM: &str = "write it like `NAME=PATH` or `NAME@VERSION=PATH`";

impl StartModel {
    /// From `NAME=PATH` or `NAME@VERSION=PATH`.
    pub(super) fn from_text(text: &str) -> Result<StartModel, String> {
        let (name, path) = text.split_once('=').ok_or(FORM)?;
        let (name, version) = match name.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (name, None),
        };
        let text = |text: &str| text.trim().to_owned();
        let (path, version) = (text(path).into(), version.map(text));
        StartModel { name: text(name), path, version, device: None }.checked()
    }

    /// From the keys of one `[[load]]` table.
    pub(super) fn from_table(table: Vec<(String, String)>) -> Result<StartModel, String> {
        let (mut name, mut path, mut version, mut device) = (None, None, None, None);
        for (key, value) in table {
            let place = match key.as_str() {
                "name" => &mut name,
                "path" => &mut path,
                "version" => &mut version,
                "device" => &mut device,
                _ => {
                    let known = "name, path, version and device";
                    return Err(format!("unknown key '{key}'; known keys are {known}"));
                }
            };
            *place = Some(value);
        }
        let missing = |key: &str| format!("'{key}' is missing");
        let name = name.ok_or_else(|| missing("name"))?;
        let path = path.ok_or_else(|| missing("path"))?.into();
        StartModel { name, path, version, device }.checked()
    }

    fn checked(self) -> Result<StartModel, String> {
        millpond_wire::model_name(&self.name).map_err(|error| error.to_string())?;
        if let Some(tag) = &self.version {
            VersionTag::new(tag.as_str()).map_err(|error| error.to_string())?;
        }
        if self.path.as_os_str().is_empty() {
            return Err(FORM.to_owned());
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_written_as_its_name_its_version_and_its_path() {
        let model = StartModel::from_text("net@v2=/models/net").unwrap();
        assert_eq!((model.name.as_str(), model.version.as_deref()), ("net", Some("v2")));
        assert_eq!(model.path, PathBuf::from("/models/net"));
        assert_eq!(StartModel::from_text("net=x").unwrap().version, None);
        for text in ["net", "net=", "a b=/x", "net@=/x", "=x"] {
            assert!(StartModel::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_table_names_what_is_missing_and_what_is_unknown() {
        let table = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            StartModel::from_table(pairs.collect())
        };
        let device = table(&[("name", "net"), ("path", "/x"), ("device", "1")]).unwrap().device;
        assert_eq!(device.as_deref(), Some("1"));
        assert_eq!(table(&[("name", "net")]).unwrap_err(), "'path' is missing");
        let unknown = table(&[("name", "net"), ("path", "/x"), ("gpu", "1")]).unwrap_err();
        assert!(unknown.starts_with("unknown key 'gpu'"), "{unknown}");
    }
}
