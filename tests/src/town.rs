//! A pond of root's that several users share, and processes of these users.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Options, PATIENCE, Said, TestPond, Worker, binaries, skip};

/// A pond of root's whose socket the users of one UNIX group may use.
#[derive(Debug)]
pub struct Town {
    pond: TestPond,
    unix_group: u32,
}

/// A user without an entry in `/etc/passwd`.
#[derive(Debug)]
pub struct Citizen<'a> {
    town: &'a Town,
    /// The user's number, another one in each run.
    pub user: u32,
}

impl Town {
    /// Starts the pond. Only root can become somebody else: otherwise a skip is counted and printed.
    ///
    /// # Panics
    /// If the pond does not serve.
    #[must_use]
    pub fn start(options: Options) -> Option<Self> {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            skip("only root can become another user");
            return None;
        }
        if Command::new("setpriv").arg("--version").output().is_err() {
            skip("there is no `setpriv`");
            return None;
        }
        let unix_group = number(0);
        let pond = TestPond::prepare(options.flag("--socket-group", &unix_group.to_string()));
        let folder = pond.runtime_dir();
        // The runtime folder has rights of its own.
        fs::set_permissions(folder.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        pond.serve();
        Some(Self { pond, unix_group })
    }

    /// The number of one of nine users, and of this user's primary group, before there is a pond.
    #[must_use]
    pub fn user(which: u32) -> u32 {
        number(which)
    }

    #[must_use]
    pub fn pond(&self) -> &TestPond {
        &self.pond
    }

    /// One of nine users.
    #[must_use]
    pub fn citizen(&self, which: u32) -> Citizen<'_> {
        Citizen { town: self, user: number(which) }
    }

    /// Where every user can run a program: its own place, or a copy beside the pond.
    fn reachable(&self, program: &Path) -> PathBuf {
        let open = |path: &Path| fs::metadata(path).is_ok_and(|found| found.mode() & 0o001 != 0);
        if program.ancestors().all(open) {
            return program.to_owned();
        }
        let copy = self.pond.path(&program.file_name().unwrap().to_string_lossy());
        if !copy.exists() {
            fs::copy(program, &copy).unwrap();
        }
        copy
    }
}

impl Citizen<'_> {
    /// Runs `millpond` as this user.
    #[must_use]
    pub fn cli(&self, arguments: &[&str]) -> Said {
        let mut command = self.command(binaries::millpond());
        Said::by(command.args(arguments), PATIENCE)
    }

    /// Puts a companion where this user's `millpond` finds it.
    pub fn bring(&self, companion: &Path) {
        let _ = self.town.reachable(companion);
    }

    /// A `pondtool` process of this user. It may not open the software driver's folder, so it maps nothing.
    #[must_use]
    pub fn worker(&self) -> Worker {
        Worker::start(self.command(binaries::pondtool()))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = self.town.pond.command(Path::new("setpriv"));
        let (user, unix_group) = (self.user, self.town.unix_group);
        command.args([format!("--reuid={user}"), format!("--regid={user}")]);
        command.arg(format!("--groups={unix_group}")).arg(self.town.reachable(program));
        command.env("HOME", "/nonexistent").current_dir("/");
        command
    }
}

/// Nobody's numbers, other ones in each process that tests.
fn number(which: u32) -> u32 {
    600_000 + std::process::id() % 100_000 * 10 + which
}
