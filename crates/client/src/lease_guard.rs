//! A lease without a mapping. It goes back when the last user of it is gone.

use std::sync::Arc;

use millpond_wire::{LeaseId, TensorId};

use crate::link::Link;
use crate::{Result, process};

#[derive(Debug)]
pub(crate) struct LeaseGuard {
    link: Arc<Link>,
    lease: LeaseId,
    owner: u32,
}

impl LeaseGuard {
    /// Keeps a lease that was granted; from here on it is claimed from every new daemon.
    pub(crate) fn keep(link: &Arc<Link>, lease: LeaseId) -> Result<Self> {
        let guard = Self { link: Arc::clone(link), lease, owner: process::current() };
        link.start_watch()?;
        Ok(guard)
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(crate) fn lease(&self) -> LeaseId {
        self.lease
    }

    /// The process that it belongs to.
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    /// Gives up a tensor without a name that was made with this lease: it is deleted when the lease
    /// goes back. A pond that is gone is not waited for; it is told when it comes back.
    pub(crate) fn abandon(self, tensor: TensorId) {
        self.link.abandon(self.lease, tensor);
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // A forked copy has nothing to give back.
        if self.owner == process::current() {
            self.link.give_back_soon(self.lease);
        }
    }
}
