//! The only file that opens shared libraries.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::unix::ffi::OsStrExt;
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

/// The file that an address of this process was loaded from, as the loader tells it.
///
/// A library opened by bare name can come from anywhere; errors should say from where.
#[must_use]
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the loader only compares the address")]
pub fn library_containing(address: *const c_void) -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about, and the answer has room.
    let known = unsafe { libc::dladdr(address, found.as_mut_ptr()) } != 0;
    // SAFETY: all of it is zero, which is a value of its fields, or what the loader has written.
    let name = unsafe { found.assume_init() }.dli_fname;
    if !known || name.is_null() {
        return None;
    }
    // SAFETY: the loader's own text, which stays as long as the library does: it is never unloaded.
    let name = unsafe { CStr::from_ptr(name) };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// A symbol that the program itself or a preloaded library exports, null when there is none.
#[must_use]
pub fn global_symbol(name: &CStr) -> *const c_void {
    // SAFETY: the name ends with a zero; the answer is read as an address only.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.cast_const()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_traced_to_its_file() {
        let here = library_containing(library_containing as *const c_void).unwrap();
        assert_eq!(here, std::env::current_exe().unwrap().canonicalize().unwrap());
        let libc = library_containing(libc::dladdr as *const c_void).unwrap();
        assert!(libc.is_absolute() && libc.to_string_lossy().contains(".so"), "{libc:?}");
        assert_eq!(library_containing(std::ptr::null()), None);
    }

    #[test]
    fn symbols_of_the_program_are_found() {
        assert!(!global_symbol(c"getpid").is_null());
        assert!(global_symbol(c"millpond_nothing").is_null());
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
