//! Files under the pond that somebody removes: the runtime folder with its lock and sockets, and the
//! locks of GPUs. A session's folder goes with the session, and what a user has in `/dev/shm` too.
//!
//! The keeper's pings come once a second, so that is how often they are looked at. Whoever is
//! connected goes on meanwhile.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use millpond_keeper::channel::{HoldKey, KeyView};
use millpond_keeper::{Restored, in_full, restore};
use millpond_wire::GpuUuid;

use super::clients::door_of;
use super::watcher::Source;
use super::{Listener, Server, gpu_lock};
use crate::policy::Door;

/// What is known of the files around the pond.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// Where locks of GPUs are, once there is a driver.
    pub lock_folder: Option<PathBuf>,
    /// They were looked at before.
    looked: bool,
    /// What was last said of the folder, and of the locks, and is still so.
    folder_trouble: Option<String>,
    lock_trouble: Option<String>,
}

impl Server {
    pub(super) fn look_around(&mut self) {
        if self.stopping.is_some() || self.restarting {
            return;
        }
        self.look_at_folder();
        self.look_at_locks();
        self.surroundings.looked = true;
    }

    fn look_at_folder(&mut self) {
        // A service manager may have handed on sockets that were removed in an earlier life.
        let ask = !self.surroundings.looked && self.pond.about.service.is_some();
        let lock = self.world.held.get(&HoldKey::folder_lock()).map(|(_, fd)| &**fd);
        let folder = self.pond.about.runtime_dir.clone();
        match restore(&self.config, lock, self.pond.about.keeper_pid, ask) {
            Ok(None) => self.surroundings.folder_trouble = None,
            Ok(Some(restored)) => {
                let (new, removed) = self.by_news(&restored);
                match self.use_restored(restored) {
                    Ok(()) => {
                        self.surroundings.folder_trouble = None;
                        if !new.is_empty() {
                            tracing::info!("listening at {new} in '{folder}' from now on");
                        }
                        if !removed.is_empty() {
                            tracing::warn!(
                                "somebody has removed {removed} in '{folder}'; listening there again"
                            );
                        }
                    }
                    Err(text) => self.folder_trouble(&folder, text),
                }
            }
            Err(error) => self.folder_trouble(&folder, in_full(&error)),
        }
    }

    /// The names of sockets that an earlier version did not have, and of those that were there.
    fn by_news(&self, restored: &Restored) -> (String, String) {
        let is_new = |name: &&str| {
            let key = HoldKey::listen(name);
            key.is_ok_and(|key| restored.lock.is_none() && !self.world.held.contains_key(&key))
        };
        let names = restored.sockets.iter().map(|(name, _)| *name);
        let (new, removed): (Vec<&str>, Vec<&str>) = names.partition(is_new);
        (new.join(" and "), removed.join(" and "))
    }

    fn folder_trouble(&mut self, folder: &str, text: String) {
        if self.surroundings.folder_trouble.as_ref() != Some(&text) {
            tracing::error!(
                "somebody has removed files in '{folder}', and nobody new can connect until they \
                 can be made again: {text}"
            );
            self.surroundings.folder_trouble = Some(text);
        }
    }

    fn use_restored(&mut self, restored: Restored) -> Result<(), String> {
        let Restored { lock, sockets } = restored;
        if let Some(lock) = lock {
            self.hold(HoldKey::folder_lock(), lock)?;
        }
        for (name, fd) in sockets {
            let key = HoldKey::listen(name).map_err(|error| error.to_string())?;
            self.hold(key, fd.try_clone().map_err(|error| error.to_string())?)?;
            if let Some(door) = door_of(name) {
                self.replace_listener(door, fd)?;
            }
        }
        Ok(())
    }

    fn hold(&mut self, key: HoldKey, fd: OwnedFd) -> Result<(), String> {
        self.world.hold_key(key, Arc::new(fd)).map_err(|error| error.to_string())
    }

    fn replace_listener(&mut self, door: Door, fd: OwnedFd) -> Result<(), String> {
        let found = self.listeners.iter().position(|listener| listener.door == door);
        let index = found.unwrap_or(self.listeners.len());
        // Those who came to the old one in time are in its queue.
        self.accept(index);
        let watched = self.world.watcher.add(&fd, Source::Listener(index));
        let token = watched.map_err(|error| error.to_string())?;
        let next = Listener { fd, door, token };
        match self.listeners.get_mut(index) {
            Some(listener) => {
                let old = std::mem::replace(listener, next);
                self.world.watcher.remove(&old.fd, old.token);
            }
            None => self.listeners.push(next),
        }
        Ok(())
    }

    /// A lock of a file that is gone keeps nobody away.
    fn look_at_locks(&mut self) {
        let Some(folder) = self.surroundings.lock_folder.clone() else { return };
        let gone = self.world.held.iter().filter_map(|(key, (_, fd))| match key.view() {
            KeyView::GpuLock(gpu) => (!gpu_lock::is_there(&folder, gpu, fd)).then_some(gpu),
            _ => None,
        });
        let gone: Vec<GpuUuid> = gone.collect();
        let mut trouble = None;
        for gpu in gone {
            let taken = gpu_lock::take(&folder, gpu, &self.pond.about.runtime_dir)
                .map_err(|error| error.to_string())
                .and_then(|file| self.hold(HoldKey::gpu_lock(gpu), file.into()));
            match taken {
                Ok(()) => tracing::warn!("the lock of {gpu} was removed, and is made again"),
                Err(text) => trouble = Some(text),
            }
        }
        if trouble.is_some() && trouble != self.surroundings.lock_trouble {
            let text = trouble.as_deref().unwrap_or_default();
            tracing::error!("the lock of a GPU that this pond serves was removed: {text}");
        }
        self.surroundings.lock_trouble = trouble;
    }
}
