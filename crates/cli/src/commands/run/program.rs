//! The file that a command line means, and whether the preloaded library will be in it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};

use crate::elf::{Elf, ElfError, Loading};
use crate::error::{CommandError, Report};
use crate::exit::Code;

/// Where programs are where `PATH` is not set, as the C library has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";
/// Interpreters of interpreters; the kernel's own limit.
const INTERPRETERS: usize = 5;
/// What the kernel reads of a script's first line.
const FIRST_LINE_BYTES: u64 = 256;

/// The file that the kernel will execute.
pub fn find(name: &OsStr) -> Result<PathBuf, CommandError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    search(name, &path).map_err(|missing| {
        let name = name.display();
        let report = match missing {
            Missing::Nowhere => Report::new(Code::NoProgram, format!("no program '{name}'"))
                .hint("check PATH; the order is `millpond run [OPTIONS] -- PROGRAM ARGS...`"),
            Missing::NotExecutable(file) => {
                Report::new(Code::NotExecutable, format!("'{}' cannot be executed", file.display()))
                    .hint(format!("`chmod +x {}`, or name its interpreter", file.display()))
            }
            Missing::OutOfReach(file, why) => Report::new(
                Code::NotExecutable,
                format!("'{}' cannot be executed: {why}", file.display()),
            ),
        };
        report.into()
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Missing {
    Nowhere,
    NotExecutable(PathBuf),
    /// There is something, but nothing that can be a program: 126, as shells and `env` have it.
    OutOfReach(PathBuf, ErrorKind),
}

fn search(name: &OsStr, path: &OsStr) -> Result<PathBuf, Missing> {
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        return match fs::metadata(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Missing::Nowhere),
            Err(error) => Err(Missing::OutOfReach(file, error.kind())),
            Ok(found) if found.is_dir() => Err(Missing::OutOfReach(file, ErrorKind::IsADirectory)),
            Ok(_) if is_executable(&file) => Ok(file),
            Ok(_) => Err(Missing::NotExecutable(file)),
        };
    }
    let mut refused = None;
    for folder in std::env::split_paths(path).filter(|_| !name.is_empty()) {
        // An empty part is the current folder.
        let file = if folder.as_os_str().is_empty() {
            Path::new(".").join(name)
        } else {
            folder.join(name)
        };
        if is_executable(&file) {
            return Ok(file);
        }
        if refused.is_none() && file.is_file() {
            refused = Some(file);
        }
    }
    Err(refused.map_or(Missing::Nowhere, Missing::NotExecutable))
}

fn is_executable(file: &Path) -> bool {
    // With the rights that will count, which need not be those of the real user.
    file.is_file() && rustix::fs::accessat(CWD, file, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Why a program will not be limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The file: the program, or the interpreter of the script that it is.
    pub file: PathBuf,
    pub reason: Reason,
}

/// Why the library will not be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It runs with rights that the caller does not have.
    Privileged,
    /// It has no dynamic loader.
    Static,
    /// It is for another kind of machine.
    Foreign,
    /// Its loader is not that of glibc.
    OtherLoader,
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.reason {
            Reason::Privileged => write!(
                f,
                "'{file}' runs with rights of its own (setuid, setgid or capabilities): the loader \
                 leaves the library out, and it escapes the limit"
            ),
            Reason::Static => write!(
                f,
                "'{file}' is a static executable: nothing is loaded into it, and it escapes the limit"
            ),
            Reason::Foreign => write!(
                f,
                "'{file}' is for another kind of machine: the library does not fit, and it escapes \
                 the limit"
            ),
            Reason::OtherLoader => write!(
                f,
                "'{file}' uses another C library than glibc: the library cannot be loaded into it"
            ),
        }
    }
}

/// Whether a program escapes, and why. Scripts are followed to what interprets them.
pub fn escape(program: &Path) -> Option<Escape> {
    let mut file = program.to_owned();
    for _ in 0..INTERPRETERS {
        let loading = Elf::open(&file).and_then(|elf| elf.loading());
        // The kernel gives a script the rights of its interpreter, whatever its own bits say.
        if !matches!(loading, Err(ElfError::NotElf)) && is_privileged(&file) {
            return Some(Escape { file, reason: Reason::Privileged });
        }
        match loading {
            Ok(Loading::Static) => return Some(Escape { file, reason: Reason::Static }),
            Ok(Loading::Foreign) => return Some(Escape { file, reason: Reason::Foreign }),
            Ok(Loading::Dynamic(loader)) if loader.contains("musl") => {
                return Some(Escape { file, reason: Reason::OtherLoader });
            }
            Ok(Loading::Dynamic(_)) => return None,
            Err(ElfError::NotElf) => file = interpreter(&file)?,
            // The kernel will say what is wrong with it.
            Err(_) => return None,
        }
    }
    None
}

/// Whether the loader will ignore `LD_PRELOAD`, because the program gets rights that we lack.
fn is_privileged(file: &Path) -> bool {
    let Ok(found) = fs::metadata(file) else { return false };
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let has_capabilities = user != 0
        && rustix::fs::getxattr(file, c"security.capability", &mut [0u8; 64]).is_ok_and(|n| n > 0);
    has_capabilities || gains_rights(found.mode(), (found.uid(), found.gid()), (user, group))
}

fn gains_rights(mode: u32, of_file: (u32, u32), own: (u32, u32)) -> bool {
    let setuid = mode & 0o4000 != 0 && of_file.0 != own.0;
    // Without the right to execute for the group, the bit means something else.
    let setgid = mode & 0o2010 == 0o2010 && of_file.1 != own.1;
    setuid || setgid
}

/// What interprets a script; the shell, if it does not say.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut line).ok()?;
    let words = first_line(&line);
    let (first, rest) = match words.split_first() {
        None => return Some("/bin/sh".into()),
        Some(words) => words,
    };
    if Path::new(first).file_name() != Some(OsStr::new("env")) {
        return Some(first.into());
    }
    // `env` looks in PATH for the first word that is neither a flag nor a variable.
    let is_program =
        |word: &&OsString| !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'=');
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    search(rest.iter().find(is_program)?, &path).ok()
}

/// The words after `#!`; none if the file does not begin so.
fn first_line(bytes: &[u8]) -> Vec<OsString> {
    let Some(line) = bytes.strip_prefix(b"#!") else { return Vec::new() };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = line.split(|byte| *byte == b' ' || *byte == b'\t' || *byte == b'\r');
    words.filter(|word| !word.is_empty()).map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn put(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let file = folder.join(name);
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        let plain = put(&one, "prog", b"", 0o644);
        let path = std::env::join_paths([&one, &two]).unwrap();
        let found = |name: &str| search(OsStr::new(name), &path);
        assert_eq!(found("prog"), Err(Missing::NotExecutable(plain)));
        let executable = put(&two, "prog", b"", 0o755);
        assert_eq!(found("prog"), Ok(executable.clone()));
        assert_eq!(found(executable.to_str().unwrap()), Ok(executable));
        assert_eq!([found("none"), found("")], [Err(Missing::Nowhere), Err(Missing::Nowhere)]);
        assert_eq!(found("/nowhere/at/all"), Err(Missing::Nowhere));
        let folder = one.to_str().unwrap();
        let out_of_reach = |file: &Path, why| Err(Missing::OutOfReach(file.to_owned(), why));
        assert_eq!(found(folder), out_of_reach(&one, ErrorKind::IsADirectory));
        let inside = two.join("prog/x");
        let why = ErrorKind::NotADirectory;
        assert_eq!(found(inside.to_str().unwrap()), out_of_reach(&inside, why));
        let long = two.join("a".repeat(300));
        let why = ErrorKind::InvalidFilename;
        assert_eq!(found(long.to_str().unwrap()), out_of_reach(&long, why));
    }

    #[test]
    fn rights_that_the_caller_has_are_no_escape() {
        assert!(gains_rights(0o104_755, (0, 0), (1000, 1000)));
        assert!(!gains_rights(0o104_755, (1000, 0), (1000, 1000)));
        assert!(gains_rights(0o102_755, (0, 7), (0, 0)));
        assert!(!gains_rights(0o102_745, (0, 7), (0, 0)), "a lock, not a right");
        assert!(!gains_rights(0o100_755, (0, 0), (1000, 1000)));
    }

    #[test]
    fn scripts_lead_to_what_interprets_them() {
        let words = |text: &str| -> Vec<String> {
            let words = first_line(text.as_bytes());
            words.into_iter().map(|word| word.into_string().unwrap()).collect()
        };
        assert_eq!(words("#! /bin/sh -e\nx"), ["/bin/sh", "-e"]);
        assert!(words("echo hello").is_empty());

        let folder = tempfile::tempdir().unwrap();
        let mut own = fs::read(std::env::current_exe().unwrap()).unwrap();
        own.truncate(64);
        own[56..58].fill(0);
        own[60..62].fill(0);
        let bare = put(folder.path(), "bare", &own, 0o755);
        let found = Escape { file: bare.clone(), reason: Reason::Static };
        assert_eq!(escape(&bare), Some(found.clone()));
        let script = format!("#!{}\n", bare.display());
        let script = put(folder.path(), "script", script.as_bytes(), 0o755);
        assert_eq!(escape(&script), Some(found.clone()), "a script for a static interpreter");
        let script = put(folder.path(), "plain", b"#!/usr/bin/env -S sh -e\nexit 0\n", 0o755);
        assert_eq!(escape(&script), None);
        let silent = put(folder.path(), "silent", b"exit 0\n", 0o755);
        assert_eq!(escape(&silent), None, "the shell runs it");
        let text = found.to_string();
        assert!(text.contains("static executable") && text.contains("escapes the limit"), "{text}");
    }

    #[test]
    fn a_script_that_interprets_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        let own = put(folder.path(), "own", format!("#!{}\n", own.display()).as_bytes(), 0o755);
        assert_eq!(escape(&own), None);
    }
}
