//! What the client's own results look like as data.

use millpond_view::{
    Collected as CollectedView, Load, Text, Unshared as UnsharedView, Verify, units,
};

use crate::{Collected, Loaded, Unshared, Verified};

impl From<&Loaded> for Load {
    fn from(loaded: &Loaded) -> Self {
        Self {
            read_bytes: loaded.bytes_read,
            shared_tensor_bytes: loaded.bytes_shared,
            tied_bytes: loaded.bytes_tied,
            tied: loaded.names(),
            cold: loaded.cold,
            unshared: loaded.unshared.as_ref().map(UnsharedView::from),
            elapsed_ms: units::millis(loaded.elapsed),
        }
    }
}

impl From<&Unshared> for UnsharedView {
    fn from(unshared: &Unshared) -> Self {
        Self {
            version: Text(unshared.with.clone()),
            why: unshared.why.name(),
            reason: unshared.why.reason(),
        }
    }
}

impl From<&Verified> for Verify {
    fn from(verified: &Verified) -> Self {
        Self {
            ok: verified.differing.is_empty(),
            differing: verified.differing.clone(),
            elapsed_ms: units::millis(verified.elapsed),
        }
    }
}

impl Collected {
    /// As data; `dry_run` says that nothing was done.
    #[must_use]
    pub fn view(&self, dry_run: bool) -> CollectedView {
        CollectedView::new(dry_run, &self.tensors, self.slabs, self.slab_bytes)
    }
}
