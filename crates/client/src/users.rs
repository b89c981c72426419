//! User names to numbers, on the client's side: the pond knows only numbers.

use std::borrow::Cow;

/// The machine does not know a user of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no user '{0}' on this machine")]
pub struct UnknownUser(pub String);

/// Turns `~alice/x` into `~1000/x`; everything else stays as it is.
pub(crate) fn with_number(text: &str) -> Result<Cow<'_, str>, UnknownUser> {
    with_number_by(text, millpond_view::users::user_id)
}

fn with_number_by(
    text: &str,
    find: impl Fn(&str) -> Option<u32>,
) -> Result<Cow<'_, str>, UnknownUser> {
    let parts = text.strip_prefix('~').and_then(|rest| rest.split_once('/'));
    match parts {
        Some((user, name)) if !user.is_empty() && user.parse::<u32>().is_err() => {
            let number = find(user).ok_or_else(|| UnknownUser(user.to_owned()))?;
            Ok(Cow::Owned(format!("~{number}/{name}")))
        }
        _ => Ok(Cow::Borrowed(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers_and_numbers_stay() {
        let number = |text| with_number_by(text, |user| (user == "alice").then_some(1000));
        assert_eq!(number("~alice/a/b").unwrap(), "~1000/a/b");
        assert_eq!(number("~1000/a").unwrap(), "~1000/a");
        assert_eq!(number("a/b").unwrap(), "a/b");
        assert_eq!(number("~/a").unwrap(), "~/a");
        assert_eq!(number("~bob/a").unwrap_err(), UnknownUser("bob".into()));
    }
}
