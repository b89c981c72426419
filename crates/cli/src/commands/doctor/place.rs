//! The runtime folder, and whether a pond answers there.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond::{ErrorKind, Pond, Status};
use millpond_wire::runtime_dir;
use millpond_wire::socket::PATH_BYTES;
use rustix::fs::Access;

use super::check::Check;
use crate::args::Global;
use crate::users;

const FOLDER: &str = "runtime folder";
/// How long a pond may take to answer: far more than it needs.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything about the place, and what the pond there says of itself.
pub fn checks(global: &Global) -> (Vec<Check>, Option<Status>) {
    let named = global.runtime_dir();
    let folder = named.unwrap_or_else(runtime_dir::for_client);
    let (pond, status) = pond(&folder);
    (vec![of_folder(&folder), path_length(&folder), pond], status)
}

fn of_folder(folder: &Path) -> Check {
    let shown = folder.display();
    let Ok(found) = std::fs::symlink_metadata(folder) else {
        return missing(folder);
    };
    let owner = users::name(found.uid());
    let mode = found.permissions().mode() & 0o7777;
    let text = format!("{shown}, of {owner}, mode {mode:04o}");
    let me = users::me();
    if !found.is_dir() {
        return Check::fail(FOLDER, format!("{shown} is not a folder"), "`--runtime-dir DIR`");
    }
    let invited = millpond_wire::socket::is_trusted(&runtime_dir::socket(folder));
    if found.uid() != me && found.uid() != 0 && !invited {
        let advice = "use a folder of your own: `--runtime-dir DIR` or MILLPOND_RUNTIME_DIR";
        return Check::fail(FOLDER, text, advice);
    }
    if mode & 0o022 != 0 {
        let advice = format!("`chmod go-w {shown}`: others could put their socket there");
        return Check::fail(FOLDER, text, advice);
    }
    if rustix::fs::access(folder, Access::WRITE_OK).is_err() {
        let advice = "only its owner can start a pond there; clients are fine";
        return Check::warn(FOLDER, text, advice);
    }
    Check::ok(FOLDER, text)
}

/// `serve` makes the folder where it may.
fn missing(folder: &Path) -> Check {
    let parent = existing_parent(folder);
    let (shown, above) = (folder.display(), parent.display());
    match rustix::fs::access(&parent, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::ok(FOLDER, format!("{shown} does not exist yet; `serve` creates it")),
        Err(errno) => Check::fail(
            FOLDER,
            format!("{shown} does not exist, and {above} cannot be written: {errno}"),
            advice(folder, &parent),
        ),
    }
}

/// A variable that leads to a folder of somebody else is not one to set.
fn advice(folder: &Path, parent: &Path) -> String {
    let session = std::env::var_os(runtime_dir::SESSION).map(PathBuf::from);
    if session.is_some_and(|session| session.starts_with(parent) && folder.starts_with(session)) {
        let variable = runtime_dir::SESSION;
        return format!("unset {variable}, or name a folder with `--runtime-dir DIR`");
    }
    "name a folder of your own with `--runtime-dir DIR`".to_owned()
}

fn existing_parent(folder: &Path) -> PathBuf {
    let found = folder.ancestors().skip(1).find(|parent| parent.exists());
    found.map_or_else(
        || PathBuf::from("."),
        |parent| match parent.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => parent.to_owned(),
        },
    )
}

fn path_length(folder: &Path) -> Check {
    let longest = std::path::absolute(folder)
        .unwrap_or_else(|_| folder.to_owned())
        .join(runtime_dir::ADMIN_SOCKET);
    let length = longest.as_os_str().len();
    let found = format!("{length} of {PATH_BYTES} bytes");
    if length <= PATH_BYTES {
        return Check::ok("socket path", found);
    }
    Check::fail("socket path", found, "a shorter folder: `--runtime-dir DIR`")
}

fn pond(folder: &Path) -> (Check, Option<Status>) {
    let connected = Pond::builder()
        .runtime_dir(folder)
        .program("millpond doctor")
        .reconnect_timeout(PATIENCE)
        .request_timeout(PATIENCE)
        .connect();
    let status = connected.and_then(|pond| pond.status());
    let check = match &status {
        Ok(status) => {
            let ready = if status.driver_ready { "" } else { ", not ready yet" };
            let (epoch, driver) = (status.epoch, &status.driver);
            Check::ok("pond", format!("answers: epoch {epoch}, driver {driver}{ready}"))
        }
        Err(error) if error.kind() == ErrorKind::NoPond => {
            let hint = error.hint().unwrap_or_default();
            Check::ok("pond", format!("none in {} now; {hint}", folder.display()))
        }
        Err(error) => Check::fail(
            "pond",
            error.to_string(),
            error.hint().unwrap_or_else(|| "see the log of `millpond serve`".to_owned()),
        ),
    };
    (check, status.ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Verdict;
    use super::*;

    #[test]
    fn folders_that_others_can_write_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_folder(folder.path()).verdict, Verdict::Ok);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let check = of_folder(folder.path());
        assert_eq!(check.verdict, Verdict::Fail);
        assert!(check.advice.unwrap().contains("chmod"));
    }

    #[test]
    fn a_missing_folder_is_fine_where_it_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a/b");
        assert_eq!(existing_parent(&inside), folder.path());
        assert_eq!(existing_parent(Path::new("x")), Path::new("."));
        assert_eq!(of_folder(&inside).verdict, Verdict::Ok);
        assert_eq!(path_length(&folder.path().join("x".repeat(120))).verdict, Verdict::Fail);
        assert_eq!(pond(&inside).0.verdict, Verdict::Ok);
    }
}
