//! User names to numbers, on the client's side: the pond knows only numbers.

use std::path::Path;

/// The machine does not know a user of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no user '{0}' on this machine")]
pub struct UnknownUser(pub String);

const PASSWD: &str = "/etc/passwd";

/// Turns `~alice/x` into `~1000/x`; everything else stays as it is.
pub(crate) fn with_number(text: &str) -> Result<String, UnknownUser> {
    with_number_from(text, Path::new(PASSWD))
}

fn with_number_from(text: &str, passwd: &Path) -> Result<String, UnknownUser> {
    let parts = text.strip_prefix('~').and_then(|rest| rest.split_once('/'));
    match parts {
        Some((user, name)) if !user.is_empty() && user.parse::<u32>().is_err() => {
            let number = find(user, &std::fs::read_to_string(passwd).unwrap_or_default())
                .ok_or_else(|| UnknownUser(user.to_owned()))?;
            Ok(format!("~{number}/{name}"))
        }
        _ => Ok(text.to_owned()),
    }
}

fn find(user: &str, passwd: &str) -> Option<u32> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == user).then(|| fields.nth(1)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers_and_numbers_stay() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\nbad:x\n")
            .unwrap();
        let number = |text| with_number_from(text, file.path());
        assert_eq!(number("~alice/a/b").unwrap(), "~1000/a/b");
        assert_eq!(number("~1000/a").unwrap(), "~1000/a");
        assert_eq!(number("a/b").unwrap(), "a/b");
        assert_eq!(number("~/a").unwrap(), "~/a");
        assert_eq!(number("~bob/a").unwrap_err(), UnknownUser("bob".into()));
        assert!(number("~bad/a").is_err());
        assert!(with_number_from("~alice/a", Path::new("/nonexistent")).is_err());
    }
}
