//! Which library counts memory inside other programs, and where it is.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use millpond::Status;
use millpond_wire::trust;

use crate::env_vars;
use crate::error::Report;
use crate::exit::Code;

pub const FILE: &str = "libmillpond_preload.so";

/// The library that `run` preloads.
#[derive(Debug)]
pub struct Library {
    /// Its file, by an absolute path.
    pub file: PathBuf,
    /// Where the path comes from.
    pub source: Source,
    /// Why the library that the pond names is not used.
    pub refused: Option<String>,
}

/// Where the path of the library comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Variable,
    /// The pond: program and daemon agree.
    Pond,
    /// The search beside this program and where packages put it.
    Search,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Variable => write!(f, "named by {}", env_vars::PRELOAD),
            Source::Pond => f.write_str("named by the pond"),
            Source::Search => f.write_str("found beside this program"),
        }
    }
}

/// Chooses the library: the one that the variable names, else the one that the pond names, else
/// what a search finds. What the pond names is taken only if nobody else can write it.
pub fn choose(pond: Option<&Status>) -> Result<Library, Report> {
    let variable = std::env::var_os(env_vars::PRELOAD).filter(|path| !path.is_empty());
    if let Some(path) = variable {
        return library(&[path.into()], Source::Variable, None);
    }
    let named = pond.and_then(|status| status.preload_library.as_deref());
    let refused = match named.map(|path| trust::check(Path::new(path), "load")) {
        Some(Ok(file)) if loadable(&file) => {
            return Ok(Library { file, source: Source::Pond, refused: None });
        }
        Some(Ok(file)) => Some(not_loadable(&file)),
        Some(Err(why)) => Some(why.to_string()),
        None => None,
    };
    library(&places(std::env::current_exe().ok().as_deref()), Source::Search, refused)
}

/// What a daemon of this program names to its clients.
pub fn to_name() -> Option<String> {
    let library = choose(None).ok()?;
    library.file.into_os_string().into_string().ok()
}

fn library(places: &[PathBuf], source: Source, refused: Option<String>) -> Result<Library, Report> {
    let Some(found) = places.iter().find(|path| path.is_file()) else {
        let looked: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        let message = format!("{FILE} not found; looked for {}", looked.join(", "));
        let hint = format!(
            "install the wheel, which brings it, or build it with `scripts/preload` and name it: \
             {}=/path/to/{FILE}",
            env_vars::PRELOAD
        );
        return Err(Report::new(Code::Failed, message).hint(hint));
    };
    let file = std::path::absolute(found).unwrap_or_else(|_| found.clone());
    if !loadable(&file) {
        let hint = "make a link to it whose path has neither: `ln -s`";
        return Err(Report::new(Code::Failed, not_loadable(&file)).hint(hint));
    }
    Ok(Library { file, source, refused })
}

/// The loader takes these for the end of one name and the beginning of the next.
fn loadable(file: &Path) -> bool {
    !file.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':' | b'\t' | b'\n'))
}

fn not_loadable(file: &Path) -> String {
    format!("'{}': the loader accepts no path with a space or a colon", file.display())
}

/// Where it may be, beside a program and where packages put it.
fn places(program: Option<&Path>) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(folder) = program.and_then(Path::parent) {
        places.push(folder.join(FILE));
        if let Some(above) = folder.parent() {
            places.push(above.join("lib/millpond").join(FILE));
        }
    }
    places.push(Path::new("/usr/lib/millpond").join(FILE));
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_the_program_comes_first() {
        let shown = |program: &str| -> Vec<String> {
            let places = places(Some(Path::new(program)));
            places.iter().map(|path| path.parent().unwrap().display().to_string()).collect()
        };
        assert_eq!(shown("/usr/bin/millpond"), ["/usr/bin", "/usr/lib/millpond"]);
        let local = ["/opt/bin", "/opt/lib/millpond", "/usr/lib/millpond"];
        assert_eq!(shown("/opt/bin/millpond"), local);
        assert_eq!(places(None).len(), 1);
    }
}
