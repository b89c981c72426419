//! Where companion programs are.
//!
//! Those that come with Millpond lie beside it or in `../libexec/millpond`, whatever PATH says. What
//! lies there belongs to the installation: a file that another user can change is refused, and none in
//! PATH is run in its place. PATH is the user's own choice and is taken as it is.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use millpond_console::companions;
use millpond_wire::trust::{self, TrustError};

use super::is_name;
use crate::error::Report;
use crate::exit::Code;

/// How the file of a companion is called, before its name.
const PREFIX: &str = "millpond-";

/// A companion that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub file: PathBuf,
}

/// Why a file with the name of a companion is not run.
#[derive(Debug)]
pub enum Refusal {
    NotExecutable(PathBuf),
    /// Another user can change it.
    Unsafe(TrustError),
}

impl From<Refusal> for Report {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotExecutable(file) => {
                let file = file.display();
                Report::new(Code::NotExecutable, format!("'{file}' is not executable"))
                    .hint(format!("chmod +x '{file}'"))
            }
            Refusal::Unsafe(why) => Report::from(&why),
        }
    }
}

/// The program that runs the companion command of this name: beside this program, in
/// `../libexec/millpond`, or in PATH.
///
/// # Errors
/// Why the first file of that name is not run: it is not safe, or no other can be run.
pub fn find(name: &str) -> Result<Option<Found>, Refusal> {
    find_in(&places(), companions::program_of(name))
}

/// The names of all companion commands whose programs would be run.
pub fn list() -> Vec<String> {
    let places = places();
    let mut names = BTreeSet::new();
    for place in &places {
        for entry in std::fs::read_dir(&place.folder).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let name = file.to_str().and_then(|file| file.strip_prefix(PREFIX));
            if let Some(name) = name.filter(|name| is_name(name)) {
                names.insert(name.to_owned());
            }
        }
    }
    let is_found = |name: &String| matches!(find_in(&places, name), Ok(Some(_)));
    let found: BTreeSet<String> = names.into_iter().filter(is_found).collect();
    let shared = found.iter().flat_map(|name| companions::also_runs(name).map(str::to_owned));
    let mut all: BTreeSet<String> = shared.collect();
    // A file that is called like a command of another program is never run.
    all.extend(found.into_iter().filter(|name| companions::program_of(name) == name));
    all.into_iter().collect()
}

/// A folder to look in.
#[derive(Debug)]
struct Place {
    folder: PathBuf,
    /// Whether files there are run only if nobody else can change them.
    guarded: bool,
}

fn places() -> Vec<Place> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let libexec = beside.and_then(Path::parent).map(|above| above.join("libexec/millpond"));
    let guarded = beside.map(Path::to_owned).into_iter().chain(libexec);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    guarded
        .map(|folder| Place { folder, guarded: true })
        .chain(path.map(|folder| Place { folder, guarded: false }))
        .collect()
}

fn find_in(places: &[Place], name: &str) -> Result<Option<Found>, Refusal> {
    let mut refused = None;
    for place in places {
        let file = place.folder.join(format!("{PREFIX}{name}"));
        if !file.is_file() {
            continue;
        }
        if !is_executable(&file) {
            refused = refused.or(Some(Refusal::NotExecutable(file)));
            continue;
        }
        let file = match place.guarded {
            true => trust::check(&file, "run").map_err(Refusal::Unsafe)?,
            false => file,
        };
        return Ok(Some(Found { file }));
    }
    refused.map_or(Ok(None), Err)
}

/// Whether anybody may execute the file; the kernel decides about this user.
fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let file = folder.join(format!("{PREFIX}{name}"));
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_first_place_wins_and_only_what_is_not_executable_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (beside, path) = (root.join("bin"), root.join("path"));
        let places = [
            Place { folder: beside.clone(), guarded: true },
            Place { folder: path.clone(), guarded: false },
        ];
        assert!(matches!(find_in(&places, "x"), Ok(None)));
        let last = program(&path, "x", 0o777);
        let first = program(&beside, "x", 0o644);
        mode(&beside, 0o755);
        let found = || find_in(&places, "x").map(|found| found.map(|it| it.file));
        assert_eq!(found().unwrap(), Some(last.clone()), "the first is not executable");
        mode(&first, 0o755);
        assert_eq!(found().unwrap(), Some(first.clone()));
        mode(&first, 0o757);
        let Err(Refusal::Unsafe(why)) = found() else { panic!("another one is run in its place") };
        let why = why.to_string();
        assert!(why.contains("not safe to run") && why.contains("millpond-x"), "{why}");
        fs::remove_file(&last).unwrap();
        mode(&first, 0o644);
        assert!(matches!(found(), Err(Refusal::NotExecutable(file)) if file == first));
    }
}
