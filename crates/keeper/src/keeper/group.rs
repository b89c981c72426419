//! A UNIX group whose members may use the pond.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use millpond_view::users;

use super::KeeperError;

/// The group's number, from `/etc/group` where a name was given.
pub(super) fn number(text: &str) -> Result<u32, KeeperError> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    users::unix_group_id(text).ok_or_else(|| KeeperError::NoGroup(text.to_owned()))
}

/// Opens a path to the group, in this order: nobody else comes in between.
pub(super) fn admit(path: &Path, group: u32, mode: u32) -> Result<(), KeeperError> {
    chown(path, None, Some(group))
        .and_then(|()| std::fs::set_permissions(path, Permissions::from_mode(mode)))
        .map_err(|source| KeeperError::NotAdmitted { path: path.to_owned(), group, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_name_and_by_number() {
        assert_eq!(number("root").unwrap(), 0);
        assert_eq!(number("77").unwrap(), 77);
        assert!(number("no such group").is_err());
    }
}
