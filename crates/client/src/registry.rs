//! One connection per process and pond, whoever asks for it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use crate::pond::Handle;

type Ponds = Vec<(PathBuf, Weak<Handle>)>;

static PONDS: Mutex<Ponds> = Mutex::new(Vec::new());

/// The pond of that folder that this process has already, or the one that is made now.
pub(crate) fn shared(folder: &Path, make: impl FnOnce() -> Arc<Handle>) -> Arc<Handle> {
    let Some(mut ponds) = lock() else { return make() };
    ponds.retain(|(_, pond)| pond.strong_count() > 0);
    let known = ponds.iter().find(|(other, _)| other == folder);
    if let Some(pond) = known.and_then(|(_, pond)| pond.upgrade())
        && !pond.is_closed()
    {
        return pond;
    }
    let pond = make();
    ponds.retain(|(other, _)| other != folder);
    ponds.push((folder.to_owned(), Arc::downgrade(&pond)));
    pond
}

/// In a forked child the lock may be held by a thread that does not exist there. It is never held
/// for longer than a look, so after a moment we do without.
fn lock() -> Option<MutexGuard<'static, Ponds>> {
    for _ in 0..100 {
        match PONDS.try_lock() {
            Ok(ponds) => return Some(ponds),
            Err(TryLockError::Poisoned(poisoned)) => {
                return Some(PoisonError::into_inner(poisoned));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}
