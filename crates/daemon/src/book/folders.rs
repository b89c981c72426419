//! Groups as folders: found, made, shared and removed.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use millpond_ledger::{Book, BookSettings, Budget, Flags, LedgerError, Memory, Patience};
use millpond_wire::{GpuUuid, GroupName, Token};
use uuid::Uuid;

use super::account::c_path;

/// The file of an anonymous group that says who runs in it.
const RUNNER: &str = "run";
/// The file that says which user made a group by running a program in it.
const MAKER: &str = "maker";
/// What stands behind the user there once the operator has set the group.
const TAKEN_OVER: &str = "operator";
const LEDGER: &str = "ledger";
/// Where members note the legacy handles that they gave out, so that an importer in the group does
/// not pay a second time.
const EXPORTS: &str = "exports";
/// What a folder is called while it is removed.
const GOING: &str = ".gone-";
/// What a folder is called while it is made.
const COMING: &str = ".new-";
/// Nobody else knows of a group that is just being made.
const AT_ONCE: Patience = Patience(std::time::Duration::from_millis(50));

/// Who an anonymous group was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Of the request that made it.
    pub token: Token,
    /// The process that asked, and becomes the program.
    pub pid: u32,
    /// When that process started.
    pub start_ticks: u64,
}

/// The user for whose program a group was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    pub user: u32,
    /// The operator has set the group since, and it is the operator's.
    pub taken_over: bool,
}

/// The folder of all groups.
#[derive(Debug)]
pub struct Folders {
    path: PathBuf,
    /// Only root can give files to others.
    root: bool,
    user: u32,
}

/// A folder that was found.
#[derive(Debug)]
pub struct Found {
    pub name: GroupName,
    /// Its files, or what is wrong with them.
    pub book: Result<Book, LedgerError>,
    /// Who runs in it, if it is anonymous.
    pub runner: Option<Runner>,
    /// Who made it, if it was not the operator.
    pub maker: Option<Maker>,
}

impl Folders {
    /// The groups of a pond in this runtime folder.
    #[must_use]
    pub fn of_pond(runtime_dir: &Path) -> Self {
        let user = rustix::process::geteuid();
        Self { path: runtime_dir.join("groups"), root: user.is_root(), user: user.as_raw() }
    }

    #[must_use]
    pub fn of(&self, name: &GroupName) -> PathBuf {
        self.path.join(name.folder())
    }

    /// Every group that is there. What was being removed or made is removed.
    pub fn scan(&self) -> Vec<Found> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let file_name = entry.file_name();
            let Some(text) = file_name.to_str() else { continue };
            if text.starts_with(GOING) || text.starts_with(COMING) {
                let _ = fs::remove_dir_all(entry.path());
                continue;
            }
            let Some(name) = GroupName::of_folder(text) else { continue };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let book = c_path(&entry.path()).and_then(|path| Book::open(&path));
            let (runner, maker) = (self.runner(&name), self.maker(&name));
            found.push(Found { name, book, runner, maker });
        }
        found
    }

    /// Makes a group for a user, unless it is the operator's, with these budgets. Its slots are in
    /// this memory. It is there whole or not at all, wherever this process is killed.
    ///
    /// # Errors
    /// What the system or the ledger says.
    pub fn make(
        &self,
        name: &GroupName,
        (owner, runner, memory): (Option<u32>, Option<Runner>, Memory),
        budgets: &[(Option<GpuUuid>, Budget)],
    ) -> Result<Book, String> {
        let place = self.of(name);
        let coming = self.path.join(format!("{COMING}{}", name.folder()));
        let _ = fs::remove_dir_all(&coming);
        // One that was made by a daemon which has just handed over is kept, with who is in it.
        let folder = if place.is_dir() { place.clone() } else { coming };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&folder)
            .map_err(|error| format!("making {}: {error}", folder.display()))?;
        // Whatever the umask: members must get in.
        for path in [&self.path, &folder] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))
                .map_err(|error| format!("opening {} to members: {error}", path.display()))?;
        }
        let made = self.fill(name, &folder, (owner, runner, memory)).and_then(|book| {
            if folder != place {
                for (device, budget) in budgets {
                    book.change(device.map(|device| device.0), AT_ONCE, |entry| *entry = *budget)
                        .map_err(|error| error.to_string())?;
                }
                if let Some(user) = owner.filter(|user| *user != self.user) {
                    write_maker(&folder, Maker { user, taken_over: false })
                        .map_err(|error| error.to_string())?;
                }
                fs::rename(&folder, &place)
                    .map_err(|error| format!("naming {}: {error}", place.display()))?;
            }
            // The book opens its files by their names.
            c_path(&place).and_then(|path| Book::open(&path)).map_err(|error| error.to_string())
        });
        if made.is_err() {
            let _ = fs::remove_dir_all(&folder);
        }
        made
    }

    fn fill(
        &self,
        name: &GroupName,
        folder: &Path,
        (owner, runner, memory): (Option<u32>, Option<Runner>, Memory),
    ) -> Result<Book, String> {
        let text = |error: LedgerError| error.to_string();
        if let Some(Runner { token, pid, start_ticks }) = runner {
            fs::write(folder.join(RUNNER), format!("{} {pid} {start_ticks}\n", token.0))
                .map_err(|error| error.to_string())?;
        }
        let settings = BookSettings {
            name: name.bare().as_bytes(),
            owner: owner.filter(|user| self.root && *user != self.user),
            everyone: false,
            memory,
        };
        let book = Book::create(&c_path(folder).map_err(text)?, settings).map_err(text)?;
        note_exports(folder, settings.owner).map_err(|error| error.to_string())?;
        if runner.is_some() {
            book.set_flags(Flags::ANONYMOUS, AT_ONCE).map_err(text)?;
        }
        Ok(book)
    }

    /// Whose the ledger is: that user's programs can be members.
    #[must_use]
    pub fn owner(&self, name: &GroupName) -> Option<u32> {
        let owner = fs::metadata(self.of(name).join(LEDGER)).ok()?.uid();
        // What root has, nobody was given yet.
        (!self.root || owner != self.user).then_some(owner)
    }

    /// Lets a user's programs be members.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn let_in(&self, name: &GroupName, user: u32, users: &[u32]) -> Result<(), String> {
        let [ledger, exports] = [LEDGER, EXPORTS].map(|file| self.of(name).join(file));
        let owner = fs::metadata(&ledger).map_err(|error| error.to_string())?.uid();
        if owner == user || user == 0 {
            return Ok(());
        }
        self.can_give_to(user)?;
        let mut all: Vec<u32> = users.iter().copied().chain([user]).collect();
        all.retain(|other| *other != owner);
        let shared = share_with(&ledger, all.clone());
        // Without the notes of exports a member only pays for what another pays for already.
        if shared.is_ok() {
            let _ = share_with(&exports, all);
            return Ok(());
        }
        // Files without access lists have one user beside root.
        if owner == self.user {
            let give = |path: &Path| std::os::unix::fs::chown(path, Some(user), None);
            let _ = give(&exports);
            return give(&ledger)
                .map_err(|error| format!("giving the ledger to user {user}: {error}"));
        }
        shared.map_err(|error| {
            format!("the ledger is user {owner}'s and cannot be shared with user {user}: {error}")
        })
    }

    /// Lets the programs of these users be members, and of no other user than the owner, before one
    /// of them has asked: those in containers never do. Where files have no access lists, who asks is
    /// let in by [`Self::let_in`].
    pub fn let_all_in(&self, name: &GroupName, users: &[u32]) {
        if !self.root {
            return;
        }
        for file in [LEDGER, EXPORTS] {
            let path = self.of(name).join(file);
            let owner = fs::metadata(&path).map(|found| found.uid()).ok();
            let all = users.iter().copied().filter(|user| owner != Some(*user));
            if let Err(error) = share_with(&path, all.collect()) {
                tracing::debug!(group = %name, %error, "no access list");
            }
        }
    }

    /// Whether groups can be shared by users: a pond of one user has only that one's programs.
    #[must_use]
    pub fn has_many_users(&self) -> bool {
        self.root
    }

    /// Whether a ledger can be given to this user.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn can_give_to(&self, user: u32) -> Result<(), String> {
        if self.root || user == self.user || user == 0 {
            return Ok(());
        }
        Err(format!(
            "the pond runs as user {}, and programs in its groups must run as the same user",
            self.user
        ))
    }

    /// Takes a group away. Who has its files open keeps them, and nobody else gets them.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &GroupName) -> io::Result<()> {
        let going = self.path.join(format!("{GOING}{}", name.folder()));
        let _ = fs::remove_dir_all(&going);
        match fs::rename(self.of(name), &going) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed?,
        }
        fs::remove_dir_all(going)
    }

    /// Who made a group, if it was not the operator. The ledger's owner need not be: the operator
    /// can give a group to somebody.
    #[must_use]
    pub fn maker(&self, name: &GroupName) -> Option<Maker> {
        let text = fs::read_to_string(self.of(name).join(MAKER)).ok()?;
        let mut words = text.split_ascii_whitespace();
        let user = words.next()?.parse().ok()?;
        Some(Maker { user, taken_over: words.next() == Some(TAKEN_OVER) })
    }

    /// The operator has set a group that somebody made.
    ///
    /// # Errors
    /// What the system says.
    pub fn take_over(&self, name: &GroupName, maker: Maker) -> io::Result<Maker> {
        let maker = Maker { taken_over: true, ..maker };
        write_maker(&self.of(name), maker)?;
        Ok(maker)
    }

    /// The user who runs the pond.
    #[must_use]
    pub fn user(&self) -> u32 {
        self.user
    }

    fn runner(&self, name: &GroupName) -> Option<Runner> {
        let text = fs::read_to_string(self.of(name).join(RUNNER)).ok()?;
        let mut words = text.split_ascii_whitespace();
        Some(Runner {
            token: Token(Uuid::parse_str(words.next()?).ok()?),
            pid: words.next()?.parse().ok()?,
            start_ticks: words.next()?.parse().ok()?,
        })
    }
}

fn write_maker(folder: &Path, Maker { user, taken_over }: Maker) -> io::Result<()> {
    let text = if taken_over { format!("{user} {TAKEN_OVER}\n") } else { format!("{user}\n") };
    fs::write(folder.join(MAKER), text)
}

/// Makes the file of exported handles: its folder is not the members' to write.
fn note_exports(folder: &Path, owner: Option<u32>) -> io::Result<()> {
    let file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(folder.join(EXPORTS))?;
    std::os::unix::fs::fchown(&file, owner, None)
}

/// Lets more users than the owner read and write a file: an access list, as `setfacl` writes it.
fn share_with(file: &Path, mut users: Vec<u32>) -> io::Result<()> {
    const OWNER: u16 = 0x01;
    const USER: u16 = 0x02;
    const GROUP: u16 = 0x04;
    const MASK: u16 = 0x10;
    const OTHER: u16 = 0x20;
    const READ_WRITE: u16 = 6;
    const NOBODY: u32 = u32::MAX;
    users.sort_unstable();
    users.dedup();
    let named = users.into_iter().map(|user| (USER, READ_WRITE, user));
    let entries = [(OWNER, READ_WRITE, NOBODY)].into_iter().chain(named).chain([
        (GROUP, 0, NOBODY),
        (MASK, READ_WRITE, NOBODY),
        (OTHER, 0, NOBODY),
    ]);
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    rustix::fs::setxattr(file, "system.posix_acl_access", &list, rustix::fs::XattrFlags::empty())?;
    Ok(())
}
