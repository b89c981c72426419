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

/// Whether the members of a UNIX group are known, and are nobody but this user and root. So it is with
/// the group of each user's own that most distributions make, under whose rule (umask 002) everything
/// that a user makes can be written by the group.
#[must_use]
pub fn is_own_unix_group(group: u32, user: u32) -> bool {
    is_own(&read(PASSWD), &read(GROUP), group, user)
}

fn is_own(passwd: &str, groups: &str, group: u32, user: u32) -> bool {
    let ours = |id: u32| id == user || id == 0;
    let mut members = 0;
    for (line, (_, id)) in lines(passwd) {
        if line.split(':').nth(3).and_then(|field| field.parse().ok()) == Some(group) {
            members += 1;
            if !ours(id) {
                return false;
            }
        }
    }
    let mut is_there = false;
    for (line, _) in lines(groups).filter(|(_, (_, id))| *id == group) {
        is_there = true;
        let listed = line.split(':').nth(3).unwrap_or_default().split(',').map(str::trim);
        for member in listed.filter(|member| !member.is_empty()) {
            members += 1;
            if !id(passwd, member).is_some_and(ours) {
                return false;
            }
        }
    }
    // One without members is for programs that take its rights.
    is_there && members > 0
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
    lines(file).map(|(_, entry)| entry)
}

fn lines(file: &str) -> impl Iterator<Item = (&str, (&str, u32))> {
    file.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some((line, (fields.next()?, fields.nth(1)?.parse().ok()?)))
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
    fn a_group_is_ones_own_if_nobody_else_is_in_it() {
        let passwd = "root:x:0:0:::\nalice:x:1000:1000:::\nbob:x:1001:1001:::\ncarol:x:1002:50:::\n\
                      dave:x:1003:60:::";
        let groups = "root:x:0:\nalice:x:1000:\nbob:x:1001:alice\nusers:x:50:\ngpu:x:44:alice,bob\n\
                      solo:x:45:alice\nroots:x:46:alice, root\nempty:x:47:\nodd:x:48:nobody-known";
        let own = |group, user| is_own(passwd, groups, group, user);
        assert!(own(1000, 1000), "the usual one");
        assert!(own(45, 1000) && own(46, 1000) && own(0, 1000), "root may everything");
        assert!(!own(1000, 1001), "somebody else's");
        assert!(!own(1001, 1001) && !own(44, 1000), "somebody else is in it");
        assert!(!own(50, 1000) && own(50, 1002), "whose first group it is");
        assert!(!own(47, 1000) && !own(48, 1000), "nobody, or nobody knows who");
        assert!(!own(60, 1003) && !own(99, 1000), "a group that is not there");
    }

    #[test]
    fn groups_are_found_by_name_and_by_number() {
        let file = "root:x:0:\ngpu:x:44:alice,bob\nbroken\n";
        assert_eq!((id(file, "gpu"), id(file, "gp"), id(file, "broken")), (Some(44), None, None));
        assert_eq!(name(file, 44).as_deref(), Some("gpu"));
    }
}
