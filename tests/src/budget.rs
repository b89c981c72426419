//! Tenants under one limit.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use millpond_ledger::{Book, BookSettings, Memory, NO_LIMIT, Patience, UNIT, Uuid};
use millpond_softgpu::meter::Meter;

use crate::driver::is_soft;
use crate::{Folder, Tenant, binaries};

const PATIENCE: Patience = Patience(Duration::from_secs(20));

/// Memory of a software device: far more than any limit of a test.
const SOFT_MEMORY: &str = "1G";

/// Which library the tenants have before the driver.
#[derive(Clone, Debug, Default)]
pub enum Preload {
    #[default]
    Right,
    /// One with a rule broken on purpose, or as slow as those, by the name of its feature.
    Broken(String),
}

/// A group with a limit, and the devices that its tenants use.
#[derive(Debug)]
pub struct Budget {
    folder: Folder,
    library: PathBuf,
    environment: Vec<(String, String)>,
}

impl Budget {
    /// A group whose members may hold so many bytes of each device.
    ///
    /// # Panics
    /// If the group cannot be made.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self::with(limit, &Preload::Right, &[])
    }

    /// The same with another library, and more variables for its tenants.
    ///
    /// # Panics
    /// If the group cannot be made.
    #[must_use]
    pub fn with(limit: u64, preload: &Preload, environment: &[(&str, &str)]) -> Self {
        Self::made(limit, preload, environment, Memory::Segment)
    }

    /// A group whose slots are in its file, as for members in several containers.
    ///
    /// # Panics
    /// If the group cannot be made.
    #[must_use]
    pub fn in_file(limit: u64) -> Self {
        Self::made(limit, &Preload::Right, &[], Memory::File)
    }

    fn made(limit: u64, preload: &Preload, environment: &[(&str, &str)], memory: Memory) -> Self {
        let library = match preload {
            Preload::Right => binaries::preload().to_owned(),
            Preload::Broken(feature) => binaries::broken_preload(feature),
        };
        let folder = Folder::new();
        if is_soft() {
            let names = ["libcuda.so.1", "libnvidia-ml.so.1"];
            for (library, name) in binaries::soft_libraries().iter().zip(names) {
                symlink(library, folder.join(name)).unwrap();
            }
        }
        let own = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let budget = Self { folder, library, environment: environment.iter().map(own).collect() };
        std::fs::create_dir(budget.group()).unwrap();
        let settings = BookSettings { name: b"test", owner: None, everyone: false, memory };
        Book::create(&budget.c_group(), settings).unwrap();
        budget.set_limit(None, limit);
        budget
    }

    #[must_use]
    pub fn group(&self) -> PathBuf {
        self.folder.join("group")
    }

    fn c_group(&self) -> CString {
        CString::new(self.group().as_os_str().as_bytes()).unwrap()
    }

    /// Where the software driver's devices live.
    #[must_use]
    pub fn devices(&self) -> PathBuf {
        self.folder.join("soft")
    }

    /// The group's book, as the operator has it.
    ///
    /// # Panics
    /// If the group cannot be read.
    #[must_use]
    pub fn book(&self) -> Book {
        Book::open(&self.c_group()).unwrap()
    }

    /// Sets the limit of one device, or of every other.
    ///
    /// # Panics
    /// If the group cannot be changed.
    pub fn set_limit(&self, device: Option<Uuid>, bytes: u64) {
        let units = if bytes == NO_LIMIT { NO_LIMIT } else { bytes / UNIT };
        let change = |budget: &mut millpond_ledger::Budget| {
            budget.asked = units;
            budget.effective = units;
        };
        self.book().change(device, PATIENCE, change).unwrap();
    }

    /// Bytes that the group's members hold of a device, as the ledger has it, after what dead
    /// members had was given back.
    ///
    /// # Panics
    /// If the group cannot be read.
    #[must_use]
    pub fn charged(&self, device: Uuid) -> u64 {
        let book = self.book();
        book.reap(PATIENCE).unwrap();
        book.totals(device).unwrap().used.saturating_mul(UNIT)
    }

    /// The software driver's own count of what is held.
    ///
    /// # Panics
    /// If no tenant has the device open.
    #[must_use]
    pub fn meter(&self, device: usize) -> Meter {
        Meter::open(&self.devices(), device).unwrap()
    }

    /// The command of a tenant, for what [`Budget::tenant`] does not do.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binaries::tenant());
        command.args(arguments);
        self.equip(&mut command);
        command
    }

    /// Gives a program what it needs to be a member.
    pub fn equip(&self, command: &mut Command) {
        self.equip_without_group(command);
        command.env("MILLPOND_LEDGER", self.group());
    }

    /// The library and the devices, and no limit yet.
    pub fn equip_without_group(&self, command: &mut Command) {
        let ours =
            |name: &str| name.starts_with("MILLPOND_") && !name.starts_with("MILLPOND_SOFT_");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(ours) {
                command.env_remove(name);
            }
        }
        command.env("LD_PRELOAD", &self.library);
        if is_soft() {
            command
                .env("LD_LIBRARY_PATH", self.folder.path())
                .env("MILLPOND_SOFT_DIR", self.devices())
                .env("MILLPOND_SOFT_MEMORY", SOFT_MEMORY);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }

    /// The library that tenants have before the driver.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// A tenant that has its device and a context.
    ///
    /// # Panics
    /// If it has not.
    #[must_use]
    #[track_caller]
    pub fn tenant(&self) -> Tenant {
        self.tenant_with(&[])
    }

    /// A tenant that is started so.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    #[track_caller]
    pub fn tenant_with(&self, arguments: &[&str]) -> Tenant {
        let tenant = Tenant::spawn(self.command(arguments));
        if let Err(error) = tenant.ready() {
            panic!("a tenant starts: {error}\n{}", tenant.kill());
        }
        tenant
    }

    /// A tenant of a command that was made elsewhere.
    #[must_use]
    pub fn spawn(command: Command) -> Tenant {
        Tenant::spawn(command)
    }
}

/// The UUID of a tenant's device.
///
/// # Panics
/// If it is none.
#[must_use]
pub fn uuid(tenant: &mut Tenant) -> Uuid {
    let text: String = tenant.ask("uuid").trim_start_matches("GPU-").replace('-', "");
    let mut uuid = [0; 16];
    for (index, byte) in uuid.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
    }
    uuid
}
