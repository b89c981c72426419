//! Whose rights a thread of the mover has.
//!
//! A mover of root's works for every user of the machine. It keeps two capabilities, those to change
//! user and groups, and uses them for one thing: each read or write of a user's file happens with
//! that user's identity and without any capability. So the kernel decides as if the user had read or
//! written: set-uid bits are cleared, blocks that are kept for root stay root's. Calls of the driver
//! happen between, with the mover's own identity: a GPU's driver ties what it gives to a user.
//!
//! The effective user is changed, of one thread; the real and the saved one stay the mover's, so no
//! user can signal or trace it.

use millpond_channel::child;
use rustix::process::{Gid, Uid, getegid, geteuid, getgroups};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use crate::channel::Rights;
use crate::error::MoverError;

/// All that a mover may do: take the place of another user.
const OTHER_USER: CapabilitySet = CapabilitySet::SETUID.union(CapabilitySet::SETGID);
/// Gives up every right that neither the mover nor its log needs, for this thread and those that it
/// starts from now on: to be called before there is a second one.
///
/// # Errors
/// What the system says.
pub fn give_up_rights() -> Result<(), MoverError> {
    child::give_up_rights(OTHER_USER).map_err(MoverError::io("giving up rights"))
}

/// Gives up what the log needed: no thread that moves bytes has it.
pub(crate) fn give_up_all_but_users() -> Result<(), MoverError> {
    child::keep_rights(OTHER_USER).map_err(MoverError::io("giving up rights"))?;
    if geteuid().is_root() && !Own::find().may_change {
        tracing::warn!(
            "files of all users are read and written as root: CAP_SETUID and CAP_SETGID are missing"
        );
    }
    Ok(())
}

/// Who the mover is itself.
#[derive(Debug)]
pub(crate) struct Own {
    user: Uid,
    group: Gid,
    groups: Vec<Gid>,
    may_change: bool,
}

impl Own {
    /// As this thread is.
    pub(crate) fn find() -> Own {
        let permitted = capabilities(None).map(|sets| sets.permitted);
        Own {
            user: geteuid(),
            group: getegid(),
            groups: getgroups().unwrap_or_default(),
            may_change: permitted.is_ok_and(|permitted| permitted.contains(OTHER_USER)),
        }
    }

    /// Does something with a user's rights. Without leave to take them the mover has its own, which
    /// in a user's own pond are the same. `None` if the user's cannot be taken.
    pub(crate) fn as_user<T>(&self, rights: &Rights, work: impl FnOnce() -> T) -> Option<T> {
        if !self.may_change {
            return Some(work());
        }
        let back = Back(self);
        let become_user = || {
            let groups: Vec<Gid> =
                rights.groups.iter().map(|group| Gid::from_raw(*group)).collect();
            set_thread_groups(&groups)?;
            set_thread_res_gid(None, Gid::from_raw(rights.group), None)?;
            set_thread_res_uid(None, Uid::from_raw(rights.user), None)?;
            self.use_rights(CapabilitySet::empty())
        };
        let result = match become_user() {
            Ok(()) => Some(work()),
            Err(errno) => {
                tracing::warn!("the rights of user {} cannot be taken: {errno}", rights.user);
                None
            }
        };
        drop(back);
        result
    }

    fn use_rights(&self, effective: CapabilitySet) -> rustix::io::Result<()> {
        let inheritable = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective, permitted: OTHER_USER, inheritable })
    }

    fn come_back(&self) -> rustix::io::Result<()> {
        self.use_rights(OTHER_USER)?;
        set_thread_res_uid(None, self.user, None)?;
        set_thread_res_gid(None, self.group, None)?;
        set_thread_groups(&self.groups)
    }
}

/// Makes a thread the mover's own again.
struct Back<'own>(&'own Own);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        if let Err(errno) = self.0.come_back() {
            // Nobody's work may go on under somebody else's name.
            tracing::error!("a thread does not get its own rights back: {errno}");
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn skip(why: &str) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
    }

    /// In a thread of its own: what a thread gives up is gone.
    fn in_a_thread(body: impl FnOnce() + Send + 'static) {
        std::thread::spawn(body).join().unwrap();
    }

    #[test]
    fn only_the_right_to_change_users_stays() {
        in_a_thread(|| {
            let before = capabilities(None).unwrap().permitted;
            give_up_rights().unwrap();
            give_up_all_but_users().unwrap();
            let sets = capabilities(None).unwrap();
            assert_eq!(sets.permitted, before.intersection(OTHER_USER));
            assert_eq!(sets.effective, sets.permitted);
            assert_eq!(sets.inheritable, CapabilitySet::empty());
            assert!(rustix::thread::no_new_privs().unwrap());
        });
    }

    #[test]
    fn a_file_is_written_with_its_users_rights_and_the_thread_is_its_own_again() {
        if !Own::find().may_change {
            return skip("only root can become another user");
        }
        in_a_thread(|| {
            give_up_rights().unwrap();
            give_up_all_but_users().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let (mine, theirs) = (folder.path().join("mine"), folder.path().join("theirs"));
            std::fs::write(&mine, "secret").unwrap();
            for (path, mode) in [(folder.path(), 0o777), (&*mine, 0o600)] {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            let own = Own::find();
            let rights = Rights { user: 2101, group: 2102, groups: vec![2103, 2104] };
            let (path, made) = (mine.clone(), theirs.clone());
            let seen = own.as_user(&rights, || {
                assert!(capabilities(None).unwrap().effective.is_empty());
                assert_eq!(getgroups().unwrap(), [2103, 2104].map(Gid::from_raw));
                std::fs::write(made, "bytes").unwrap();
                std::fs::read(path).map_err(|error| error.kind())
            });
            assert_eq!(seen, Some(Err(std::io::ErrorKind::PermissionDenied)));
            let found = std::fs::metadata(theirs).unwrap();
            assert_eq!((found.uid(), found.gid()), (2101, 2102));
            assert_eq!((geteuid(), getegid()), (own.user, own.group));
            assert_eq!(getgroups().unwrap(), own.groups);
            assert_eq!(std::fs::read(mine).unwrap(), b"secret");
            assert_eq!(capabilities(None).unwrap().effective, OTHER_USER);
        });
    }
}
