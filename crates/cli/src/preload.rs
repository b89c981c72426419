//! Where the library that counts memory inside other programs is.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::env_vars;
use crate::error::Report;
use crate::exit::Code;

/// The library's file.
pub const FILE: &str = "libmillpond_preload.so";

/// Finds it: what the variable says, else beside this program, else where packages put it.
pub fn find() -> Result<PathBuf, Report> {
    let named = std::env::var_os(env_vars::PRELOAD).filter(|path| !path.is_empty());
    let places = match named {
        Some(path) => vec![PathBuf::from(path)],
        None => places(std::env::current_exe().ok().as_deref()),
    };
    let Some(found) = places.iter().find(|path| path.is_file()) else {
        let looked: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        let message = format!("{FILE} is missing; looked for {}", looked.join(", "));
        let hint = format!(
            "`scripts/preload` builds it into dist/preload; name it: {}=/path/to/{FILE}",
            env_vars::PRELOAD
        );
        return Err(Report::new(Code::Failed, message).hint(hint));
    };
    let found = std::path::absolute(found).unwrap_or_else(|_| found.clone());
    // The loader takes both for the end of one name and the beginning of the next.
    if found.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':' | b'\t' | b'\n')) {
        let message =
            format!("'{}': the loader takes no path with a space or colon", found.display());
        return Err(Report::new(Code::Failed, message).hint("a link to it without: `ln -s`"));
    }
    Ok(found)
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
