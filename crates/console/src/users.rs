//! Names of users, for people; numbers where there is no name.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use millpond_view::users;

/// The user's name on this machine, else the number.
pub fn name(user: u32) -> String {
    static NAMES: OnceLock<Mutex<HashMap<u32, String>>> = OnceLock::new();
    let names = NAMES.get_or_init(Mutex::default);
    let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
    let found = || users::user_name(user).unwrap_or_else(|| user.to_string());
    names.entry(user).or_insert_with(found).clone()
}

/// The user of a name on this machine, or of a number.
pub fn id(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().or_else(|| users::user_id(text));
    number.ok_or_else(|| format!("no user '{text}'"))
}

/// The name of a UNIX group on this machine, else the number.
pub fn group_name(group: u32) -> String {
    users::unix_group_name(group).unwrap_or_else(|| group.to_string())
}

pub fn me() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_or_numbered() {
        assert_eq!((name(0).as_str(), name(4_000_000_000).as_str()), ("root", "4000000000"));
        assert_eq!((id("1000"), id("root")), (Ok(1000), Ok(0)));
        assert_eq!(id("no such user"), Err("no user 'no such user'".to_owned()));
    }
}
