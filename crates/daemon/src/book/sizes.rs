//! Files of groups that their members can write, kept to the size of their format.
//!
//! They lie in the runtime folder, which is root's, and members must be able to write them; no
//! right of a file says how long it may become. A memfd could be sealed, but members find a group by
//! its path, also from containers and without a daemon. So a thread hears of writes from the kernel
//! and cuts off what is too much; it also looks once a second, for whatever it did not hear of.
//! Members write with each allocation, so the thread pauses after each look.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use millpond_ledger::LEDGER_BYTES;
use millpond_wire::GroupName;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, inotify};

use super::Ask;

/// How often every file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long it pauses after a look: what is written meanwhile is one wake-up.
const PAUSE: Duration = Duration::from_millis(10);

/// Files that members can write, and how long they may be. Notes of exports have 16,384 places of
/// eight bytes.
const FILES: [(&str, u64); 2] = [("ledger", LEDGER_BYTES), ("exports", 16_384 * 8)];

/// The groups whose files are watched. The thread ends with this.
pub(super) struct Sizes {
    inner: Arc<Inner>,
    book: Sender<Ask>,
}

struct Inner {
    /// Without one, files are looked at once a second only.
    events: Option<OwnedFd>,
    groups: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    folders: BTreeMap<GroupName, PathBuf>,
    by_watch: HashMap<i32, GroupName>,
    /// How often something was cut off.
    cuts: HashMap<GroupName, u64>,
    /// There is a thread, which ends when there is no group.
    is_served: bool,
}

impl Sizes {
    pub fn new(book: Sender<Ask>) -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let events = inotify::init(flags)
            .inspect_err(|error| tracing::warn!("writes to ledgers are not heard of: {error}"));
        let inner = Inner { events: events.ok(), groups: Mutex::default() };
        Self { inner: Arc::new(inner), book }
    }

    /// These are the groups now. A new one is watched before this returns.
    pub fn follow<'a>(
        &self,
        names: impl Iterator<Item = &'a GroupName> + Clone,
        place: impl Fn(&GroupName) -> PathBuf,
    ) {
        let mut watched = self.inner.watched();
        if watched.folders.keys().eq(names.clone()) {
            return;
        }
        let now: BTreeMap<GroupName, PathBuf> =
            names.map(|name| (name.clone(), place(name))).collect();
        for (name, path) in &now {
            if let Some(events) = &self.inner.events
                && !watched.folders.contains_key(name)
                && let Ok(watch) = inotify::add_watch(events, path, inotify::WatchFlags::MODIFY)
            {
                watched.by_watch.insert(watch, name.clone());
            }
        }
        // The kernel forgets a folder that is removed by itself.
        watched.by_watch.retain(|_, name| now.contains_key(name));
        watched.cuts.retain(|name, _| now.contains_key(name));
        watched.folders = now;
        if !watched.folders.is_empty() && !watched.is_served {
            let (inner, book) = (Arc::downgrade(&self.inner), self.book.clone());
            let thread = std::thread::Builder::new().name("millpond-sizes".to_owned());
            match thread.spawn(move || serve(&inner, &book)) {
                Ok(_) => watched.is_served = true,
                Err(error) => tracing::error!("sizes of ledgers are not watched: {error}"),
            }
        }
    }
}

impl Inner {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a write, at most until the next look. The groups that were written to.
    fn written(&self, until: Instant) -> Vec<GroupName> {
        let patience = until.saturating_duration_since(Instant::now());
        let Some(events) = &self.events else {
            std::thread::sleep(patience);
            return Vec::new();
        };
        let timeout = Timespec::try_from(patience).ok();
        let _ = poll(&mut [PollFd::new(events, PollFlags::IN)], timeout.as_ref());
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(events, &mut buffer);
        let mut names = Vec::new();
        let watched = self.watched();
        // As many as one read gives: what comes meanwhile is for the next turn.
        while let Ok(event) = reader.next() {
            if let Some(name) = watched.by_watch.get(&event.wd())
                && !names.contains(name)
            {
                names.push(name.clone());
            }
            if reader.is_buffer_empty() {
                break;
            }
        }
        names
    }

    fn look_at(&self, name: &GroupName, book: &Sender<Ask>) {
        let Some(folder) = self.watched().folders.get(name).cloned() else { return };
        for (file, most) in FILES {
            let Some(bytes) = cut(&folder.join(file), most) else { continue };
            let mut watched = self.watched();
            let cuts = watched.cuts.entry(name.clone()).or_default();
            *cuts += 1;
            // However often: a few lines.
            if cuts.is_power_of_two() {
                tracing::warn!(
                    group = %name, cuts, "a member has made `{file}` {bytes} bytes long; it is cut to {most}"
                );
                let _ = book.send(Ask::TooLong { group: name.clone(), file, bytes });
            }
        }
    }
}

fn serve(inner: &Weak<Inner>, book: &Sender<Ask>) {
    let mut next = Instant::now();
    while let Some(inner) = inner.upgrade() {
        let mut watched = inner.watched();
        if watched.folders.is_empty() {
            watched.is_served = false;
            return;
        }
        drop(watched);
        let mut names = inner.written(next);
        if Instant::now() >= next {
            names = inner.watched().folders.keys().cloned().collect();
            next = Instant::now() + LOOK_EVERY;
        }
        names.iter().for_each(|name| inner.look_at(name, book));
        drop(inner);
        std::thread::sleep(PAUSE);
    }
}

/// Cuts off what a file has too much; how long it was. Never into the slots.
fn cut(path: &Path, most: u64) -> Option<u64> {
    let found = std::fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() <= most {
        return None;
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().write(true).custom_flags(flags).open(path);
    match file.and_then(|file| file.set_len(most)) {
        Ok(()) => Some(found.len()),
        Err(error) => {
            tracing::debug!("'{}' cannot be cut: {error}", path.display());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use std::sync::mpsc::channel;

    #[test]
    fn a_file_that_a_member_makes_longer_is_cut_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (send, told) = channel();
        let sizes = Sizes::new(send);
        let name = GroupName::new("mine").unwrap();
        for (file, most) in FILES {
            File::create(folder.path().join(file)).unwrap().set_len(most).unwrap();
        }
        sizes.follow([&name].into_iter(), |_| folder.path().to_owned());
        for (file, most) in FILES {
            let path = folder.path().join(file);
            let open = File::options().write(true).open(&path).unwrap();
            for _ in 0..2 {
                open.write_all_at(&[1; 65536], most + (1 << 20)).unwrap();
                while path.metadata().unwrap().len() > most {
                    std::thread::yield_now();
                }
                assert_eq!(path.metadata().unwrap().len(), most);
            }
        }
        let Ask::TooLong { group, file, bytes } = told.recv().unwrap() else { panic!() };
        assert_eq!((group, file), (name, FILES[0].0));
        assert!(bytes > FILES[0].1);
    }
}
