//! Names of users and UNIX groups, from the machine's own files. A directory service is not asked:
//! that would take the C library, and may take long.

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// The number of a user.
#[must_use]
pub fn user_id(name: &str) -> Option<u32> {
    id(&read(PASSWD), name)
}

/// The name of a user.
#[must_use]
pub fn user_name(id: u32) -> Option<String> {
    name(&read(PASSWD), id)
}

/// The number of a UNIX group.
#[must_use]
pub fn unix_group_id(name: &str) -> Option<u32> {
    id(&read(GROUP), name)
}

/// The name of a UNIX group.
#[must_use]
pub fn unix_group_name(id: u32) -> Option<String> {
    name(&read(GROUP), id)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn id(file: &str, wanted: &str) -> Option<u32> {
    entries(file).find(|(name, _)| *name == wanted).map(|(_, id)| id)
}

fn name(file: &str, wanted: u32) -> Option<String> {
    entries(file).find(|(_, id)| *id == wanted).map(|(name, _)| name.to_owned())
}

/// Both files are `name:x:id:…`; a line that is not is passed over.
fn entries(file: &str) -> impl Iterator<Item = (&str, u32)> {
    file.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some((fields.next()?, fields.nth(1)?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_number_counts_and_bad_lines_do_not() {
        let file = "root:x:0:0::/root:/bin/sh\ntoor:x:0:0\nodd\nx:y:z\nbad:x\nalice:x:1000:1000";
        assert_eq!(name(file, 0).as_deref(), Some("root"));
        assert_eq!((id(file, "toor"), id(file, "alice")), (Some(0), Some(1000)));
        assert_eq!((id(file, "odd"), id(file, "x"), id(file, "bad")), (None, None, None));
        assert_eq!((id(file, "ali"), name(file, 7)), (None, None));
    }

    #[test]
    fn groups_are_found_by_name_and_by_number() {
        let file = "root:x:0:\ngpu:x:44:alice,bob\nbroken\n";
        assert_eq!((id(file, "gpu"), id(file, "gp"), id(file, "broken")), (Some(44), None, None));
        assert_eq!(name(file, 44).as_deref(), Some("gpu"));
    }
}
