//! A file that appears under its name when it is complete.
//!
//! Where the file system can, it has no name at all until then, so that not even `kill -9` leaves
//! half of one. Elsewhere it has another name, which is removed after an error or Ctrl-C.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::{CommandError, Report};
use crate::exit::Code;
use millpond_wire::ErrorKind;

/// A file on its way.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: File,
    kind: Kind,
    force: bool,
}

#[derive(Debug)]
enum Kind {
    /// It gets its name in the end.
    Nameless,
    /// It has this name until then.
    Temporary(PathBuf),
    /// A pipe or a device: there is nothing to wait for.
    Direct,
}

impl Output {
    pub fn create(path: &Path, force: bool) -> Result<Self, CommandError> {
        // What a link leads to is written over, not the link.
        let real = fs::canonicalize(path).ok().filter(|_| path.is_symlink());
        let path = real.as_deref().unwrap_or(path);
        let made = |file, kind| Self { path: path.to_owned(), file, kind, force };
        if let Ok(found) = fs::metadata(path) {
            if found.is_dir() {
                return Err(refused(format!("'{}' is a folder, not a file", path.display())));
            }
            if !found.is_file() {
                let file = OpenOptions::new().write(true).open(path);
                return Ok(made(file.map_err(|error| failed(path, &error))?, Kind::Direct));
            }
            if !force {
                return Err(exists(path));
            }
        }
        match nameless(path) {
            Ok(file) => Ok(made(file, Kind::Nameless)),
            Err(_) => {
                let (file, name) = temporary(path).map_err(|error| failed(path, &error))?;
                Ok(made(file, Kind::Temporary(name)))
            }
        }
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn finish(mut self) -> Result<(), CommandError> {
        let kind = std::mem::replace(&mut self.kind, Kind::Direct);
        let named = match &kind {
            Kind::Direct => Ok(()),
            Kind::Nameless if !self.force => self.link(&self.path),
            Kind::Nameless => {
                let name = temporary_name(&self.path);
                self.link(&name).and_then(|()| self.rename(&name))
            }
            Kind::Temporary(name) => self.rename(name),
        };
        if let (Err(_), Kind::Temporary(_)) = (&named, &kind) {
            self.kind = kind;
        }
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => failed(&self.path, &error),
        })
    }

    fn link(&self, name: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        Ok(rustix::fs::linkat(CWD, own, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Gives it its name, and does not leave the other one.
    fn rename(&self, name: &Path) -> io::Result<()> {
        let renamed = if self.force {
            fs::rename(name, &self.path)
        } else {
            match rustix::fs::renameat_with(CWD, name, CWD, &self.path, RenameFlags::NOREPLACE) {
                // Not every file system knows how.
                Err(Errno::INVAL | Errno::NOSYS) if !self.path.exists() => {
                    fs::rename(name, &self.path)
                }
                other => other.map_err(io::Error::from),
            }
        };
        if renamed.is_err() {
            let _ = fs::remove_file(name);
        }
        renamed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Kind::Temporary(name) = &self.kind {
            // There is nobody to be told.
            let _ = fs::remove_file(name);
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn nameless(path: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    Ok(File::from(rustix::fs::open(folder(path), flags, mode)?))
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Not longer than a name may be.
    let name: String = name.chars().take(50).collect();
    folder(path).join(format!(".{name}.{}.part", std::process::id()))
}

fn temporary(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = temporary_name(path);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&name)?;
    remove_on_signals(&name)?;
    Ok((file, name))
}

/// A signal that ends the program removes the file, or the folder, first.
pub fn remove_on_signals(name: &Path) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let (mut read, write) = io::pipe()?;
        signal_hook::low_level::pipe::register(signal, write)?;
        let name = name.to_owned();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if read.read_exact(&mut [0]).is_ok() {
                let _ = fs::remove_file(&name).or_else(|_| fs::remove_dir_all(&name));
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        })?;
    }
    Ok(())
}

fn refused(message: String) -> CommandError {
    Report::new(Code::Kind(ErrorKind::File), message).into()
}

fn exists(path: &Path) -> CommandError {
    let message = format!("'{}' already exists", path.display());
    Report::new(Code::Kind(ErrorKind::File), message).hint("`--force` overwrites it").into()
}

fn failed(path: &Path, error: &io::Error) -> CommandError {
    refused(format!("writing '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn fallback(path: &Path, force: bool) -> Output {
        let name = temporary_name(path);
        let file = File::create_new(&name).unwrap();
        Output { path: path.to_owned(), file, kind: Kind::Temporary(name), force }
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let ways: [fn(&Path, bool) -> Output; 2] =
            [|path, force| Output::create(path, force).unwrap(), fallback];
        for way in ways {
            let output = way(&path, false);
            output.file().write_all(b"one").unwrap();
            assert!(!path.exists());
            drop(output);
            assert!(names(folder.path()).is_empty());

            let output = way(&path, false);
            output.file().write_all(b"two").unwrap();
            output.finish().unwrap();
            assert_eq!(
                (fs::read(&path).unwrap(), names(folder.path())),
                (b"two".into(), vec!["x".into()])
            );

            let late = way(&path, true);
            late.file().write_all(b"three").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"two");
            late.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"three");
            assert_eq!(names(folder.path()), ["x"]);
            fs::remove_file(&path).unwrap();

            // Somebody else was faster.
            let output = way(&path, false);
            fs::write(&path, b"theirs").unwrap();
            assert!(output.finish().unwrap_err().to_string().contains("already exists"));
            assert_eq!(fs::read(&path).unwrap(), b"theirs");
            assert_eq!(names(folder.path()), ["x"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn what_is_there_is_not_written_over_and_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"precious").unwrap();
        let said = |path: &Path| Output::create(path, false).unwrap_err().to_string();
        assert!(said(&path).contains("already exists"));
        assert!(said(folder.path()).contains("is a folder"));
        assert!(said(&folder.path().join("no/x")).contains("No such file"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let output = Output::create(&link, true).unwrap();
        output.file().write_all(b"through").unwrap();
        output.finish().unwrap();
        assert!(link.is_symlink() && fs::read(&path).unwrap() == b"through");
        Output::create(Path::new("/dev/null"), false).unwrap().finish().unwrap();
    }
}
