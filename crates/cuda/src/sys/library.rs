//! The only file that opens shared libraries.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// A shared library that stays loaded until the process ends.
///
/// It is never closed: driver libraries start threads and register exit handlers, and unloading
/// one under them ends the process.
#[derive(Debug)]
pub struct Library {
    handle: ManuallyDrop<libloading::Library>,
    path: PathBuf,
}

/// No candidate could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Each path tried and what the loader said about it.
    pub tried: Vec<(PathBuf, String)>,
}

impl Library {
    /// Opens the first of the candidates that loads.
    ///
    /// # Errors
    /// Every candidate with the loader's words when none loads.
    ///
    /// # Safety
    /// Loading runs the library's constructors: the candidates must be driver libraries (or
    /// stand-ins for them) that the caller trusts.
    pub unsafe fn open(candidates: &[PathBuf]) -> Result<Self, LoadError> {
        let mut tried = Vec::new();
        for path in candidates {
            // SAFETY: the caller vouches for the library's constructors.
            match unsafe { libloading::Library::new(path) } {
                Ok(handle) => {
                    return Ok(Self { handle: ManuallyDrop::new(handle), path: path.clone() });
                }
                Err(error) => tried.push((path.clone(), loader_words(&error))),
            }
        }
        Err(LoadError { tried })
    }

    /// The address of a symbol, null when the library has none of that name.
    #[must_use]
    pub fn symbol(&self, name: &str) -> *const c_void {
        // SAFETY: the symbol is read as an address only; nothing is called or dereferenced here.
        let symbol = unsafe { self.handle.get::<*const c_void>(name) };
        symbol.map_or(std::ptr::null(), |symbol| *symbol)
    }

    /// The candidate that was opened: a path, or a bare name that the loader looked up.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What the loader itself said: the error's own text is only "dlopen failed".
fn loader_words(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// The file that an address of this process was mapped from, as `/proc/self/maps` tells it.
///
/// A library opened by bare name can come from anywhere; errors should say from where.
#[must_use]
pub fn library_containing(address: *const c_void) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    file_at(&maps, address.addr())
}

fn file_at(maps: &str, address: usize) -> Option<PathBuf> {
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let path = &rest[rest.find('/')?..];
        (start..end).contains(&address).then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_traced_to_its_file() {
        let maps = "1000-2000 r-xp 00000000 08:01 7    /usr/lib/libcuda.so.580\n\
                    2000-3000 rw-p 00000000 00:00 0 \n";
        assert_eq!(file_at(maps, 0x1fff), Some(PathBuf::from("/usr/lib/libcuda.so.580")));
        assert_eq!(file_at(maps, 0x2000), None);
    }

    #[test]
    fn every_failed_candidate_is_reported() {
        let candidates = [PathBuf::from("/nowhere/liba.so"), PathBuf::from("/nowhere/libb.so")];
        // SAFETY: neither file exists.
        let error = unsafe { Library::open(&candidates) }.unwrap_err();
        assert_eq!(error.tried.len(), 2);
        assert_eq!(error.tried[1].0, candidates[1]);
    }
}
