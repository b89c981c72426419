//! Names of users, for people; numbers where there is no name.

use std::collections::HashMap;
use std::sync::OnceLock;

static NAMES: OnceLock<HashMap<u32, String>> = OnceLock::new();

/// The user's name in `/etc/passwd`, else the number. Users of a directory service show as
/// numbers: asking it would take the C library, and may take long.
pub fn name(user: u32) -> String {
    let names =
        NAMES.get_or_init(|| parse(&std::fs::read_to_string("/etc/passwd").unwrap_or_default()));
    names.get(&user).cloned().unwrap_or_else(|| user.to_string())
}

/// The user of a name in `/etc/passwd`, or of a number.
pub fn id(text: &str) -> Result<u32, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let file = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let found = parse(&file).into_iter().find(|(_, name)| name == text);
    found.map(|(number, _)| number).ok_or_else(|| format!("no user '{text}'"))
}

/// The name of a group in `/etc/group`, else the number.
pub fn group_name(group: u32) -> String {
    let names = parse(&std::fs::read_to_string("/etc/group").unwrap_or_default());
    names.get(&group).cloned().unwrap_or_else(|| group.to_string())
}

/// This process's user.
pub fn me() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Both files are `name:x:id:…`.
fn parse(file: &str) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for line in file.lines() {
        let mut fields = line.split(':');
        let (name, id) = (fields.next(), fields.nth(1).and_then(|id| id.parse().ok()));
        if let (Some(name), Some(id)) = (name, id) {
            names.entry(id).or_insert_with(|| name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_number_counts_and_bad_lines_do_not() {
        let names = parse("root:x:0:0::/root:/bin/sh\ntoor:x:0:0\nodd\nx:y:z");
        assert_eq!(names, HashMap::from([(0, "root".to_owned())]));
        assert_eq!(name(4_000_000_000), "4000000000");
        assert_eq!((id("1000"), id("root")), (Ok(1000), Ok(0)));
        assert_eq!(id("no such user"), Err("no user 'no such user'".to_owned()));
    }
}
