//! Programs in namespaces of their own: what a container is made of, without its engine.

use std::path::Path;
use std::process::{Command, Stdio};

/// `unshare` with these flags, if this user may. Without rights of root, in a user namespace.
#[must_use]
pub fn unshare(flags: &[&str]) -> Option<Vec<String>> {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let ways = [own(&[&["unshare"], flags].concat()), own(&[&["unshare", "-r"], flags].concat())];
    ways.into_iter().find(|way| {
        // Mounting is what is not permitted in some places where the namespace is.
        let script = "mount --make-rprivate / && mount -t tmpfs none /mnt";
        let mut command = Command::new(&way[0]);
        command.args(&way[1..]).args(["sh", "-c", script]);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    })
}

/// The same program, environment and folder, started by `sh` in front, which runs a script first.
/// In it, `"$@"` is the program.
///
/// # Panics
/// If there is nothing to start it with.
#[must_use]
pub fn under(way: &[String], script: &str, program: &Command) -> Command {
    let mut command = Command::new(&way[0]);
    command.args(&way[1..]).args(["sh", "-ec", script, "sh"]);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// A line of `sh` that makes a folder the machine's `/etc`; the loader's cache stays.
///
/// # Panics
/// If the folder cannot be made.
#[must_use]
pub fn with_etc(folder: &Path, files: &[(&str, &str)]) -> String {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    if Path::new("/etc/ld.so.cache").exists() {
        std::fs::copy("/etc/ld.so.cache", folder.join("ld.so.cache")).unwrap();
    }
    format!("mount --make-rprivate /; mount --bind '{}' /etc;", folder.display())
}
