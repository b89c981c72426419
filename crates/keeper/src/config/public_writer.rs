//! Who may make names under `public/`.

use std::fmt;
use std::str::FromStr;

use millpond_view::users;
use serde::{Deserialize, Serialize};

const EVERYBODY: &str = "everybody";
/// The user of this name stands for users without a number, which no pond serves.
const NOBODY: &str = "nobody";

/// One entry of `public_writers`. Names become numbers when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PublicWriter {
    Everybody,
    User(u32),
    /// Members of a UNIX group: `@gpu`.
    UnixGroup(u32),
}

impl PublicWriter {
    /// The entries of a list; `nobody` stands alone.
    ///
    /// # Errors
    /// A message that names the entry.
    pub(super) fn list(mut texts: Vec<String>) -> Result<Vec<PublicWriter>, String> {
        texts.retain(|text| !text.is_empty());
        if texts.iter().any(|text| text == NOBODY) {
            return match texts.len() {
                1 => Ok(Vec::new()),
                _ => Err(format!("'{NOBODY}' and somebody else contradict each other")),
            };
        }
        texts.iter().map(|text| text.parse()).collect()
    }
}

impl FromStr for PublicWriter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == EVERYBODY {
            return Ok(PublicWriter::Everybody);
        }
        let (found, what, file) = match text.strip_prefix('@') {
            Some(group) => {
                let number = group.parse().ok().or_else(|| users::unix_group_id(group));
                (number.map(PublicWriter::UnixGroup), "UNIX group", "/etc/group")
            }
            None => {
                let number = text.parse().ok().or_else(|| users::user_id(text));
                (number.map(PublicWriter::User), "user", "/etc/passwd")
            }
        };
        let name = text.trim_start_matches('@').escape_debug();
        found.ok_or_else(|| format!("no {what} '{name}' in {file}; a number is always understood"))
    }
}

impl fmt::Display for PublicWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublicWriter::Everybody => f.write_str(EVERYBODY),
            PublicWriter::User(user) => user.fmt(f),
            PublicWriter::UnixGroup(group) => write!(f, "@{group}"),
        }
    }
}

impl TryFrom<String> for PublicWriter {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<PublicWriter> for String {
    fn from(writer: PublicWriter) -> String {
        writer.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Result<Vec<PublicWriter>, String> {
        PublicWriter::list(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn users_groups_everybody_and_nobody_are_understood() {
        use PublicWriter::{Everybody, UnixGroup, User};
        assert_eq!(
            list(&["root", "1000", "@root", "@44"]).unwrap(),
            [User(0), User(1000), UnixGroup(0), UnixGroup(44)]
        );
        assert_eq!(list(&["everybody"]).unwrap(), [Everybody]);
        assert_eq!((list(&["nobody"]).unwrap(), list(&[]).unwrap()), (vec![], vec![]));
        for (bad, part) in [
            (["no such", "1"], "user 'no such'"),
            (["@no such", "1"], "UNIX group 'no such'"),
            (["nobody", "1"], "contradict"),
        ] {
            assert!(list(&bad).unwrap_err().contains(part), "{bad:?}");
        }
        for one in [Everybody, User(7), UnixGroup(7)] {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
    }
}
