//! What one process has with one pond: a connection, a driver, mapped slabs and retire lists.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use millpond_client_core::Lost;
use millpond_cuda::Driver;
use millpond_wire::message::TensorInfo;
use millpond_wire::{GpuUuid, LeaseId, Mode};

use crate::answer::Answer;
use crate::cuda_side::CudaSide;
use crate::elastic::Registry;
use crate::grant;
use crate::link::{Link, LinkConfig};
use crate::memo::Memo;
use crate::retire::{Release, Retire, RetireList};
use crate::slab_map::{SlabMap, SlabMapping};
use crate::{Error, Result};

/// How a pond was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) folder: PathBuf,
    pub(crate) link: LinkConfig,
    pub(crate) driver: Option<Driver>,
}

/// All of it, for one process.
pub(crate) struct Core {
    pub(crate) link: Arc<Link>,
    pub(crate) cuda: Arc<CudaSide>,
    slabs: Arc<SlabMap<CudaSide>>,
    pub(crate) retire: Retire<CudaSide>,
    pub(crate) memo: Memo,
    /// The elastic caches.
    pub(crate) elastic: Arc<Registry>,
}

/// A tensor that was granted and mapped.
pub(crate) struct Taken {
    pub(crate) info: TensorInfo,
    pub(crate) slab: Arc<SlabMapping<CudaSide>>,
    pub(crate) lost: Lost,
}

impl Core {
    pub(crate) fn new(config: &Config) -> Self {
        let link = Arc::new(Link::new(config.link.clone()));
        let cuda = Arc::new(CudaSide::new(config.driver.clone()));
        let slabs = Arc::new(SlabMap::new(Arc::clone(&cuda)));
        let told = Arc::clone(&link);
        let release: Release = Arc::new(move |leases| told.release(leases));
        let retire = Retire::new(Arc::clone(&cuda), Arc::clone(&slabs), release);
        Self { link, cuda, slabs, retire, memo: Memo::default(), elastic: Arc::default() }
    }

    /// Maps what was granted. Whatever goes wrong, the lease goes back.
    pub(crate) fn take(
        &self,
        what: &'static str,
        answer: Answer,
        lease: LeaseId,
        mode: Mode,
    ) -> Result<Taken> {
        let taken = self.map(what, answer, lease, mode);
        if taken.is_err() {
            self.link.give_back(lease);
        }
        taken
    }

    fn map(&self, what: &'static str, answer: Answer, lease: LeaseId, mode: Mode) -> Result<Taken> {
        let grant::Grant { info, slab, lost } = grant::with_lease(what, answer, lease, mode)?;
        let list = self.list_for(info.device)?;
        let slab = self.slabs.get(&list, info.slab, info.slab_bytes, mode, slab.as_fd())?;
        Ok(Taken { info, slab, lost })
    }

    /// The retire list of the context in which what lies on this GPU is mapped now.
    pub(crate) fn list_for(&self, device: GpuUuid) -> Result<Arc<RetireList<CudaSide>>> {
        // Before anything is mapped: leases must be claimed from the next daemon.
        self.link.start_watch()?;
        Ok(self.retire.list(&self.cuda.context(device)?))
    }

    /// Ends the connection if nothing is held any more.
    pub(crate) fn close(&self, timeout: Duration) -> Result<()> {
        if !self.retire.flush(timeout) {
            return Err(Error::Timeout { what: "the end of leases", after: timeout });
        }
        let mut state = self.link.lock();
        let leases = state.session.leases().len();
        if leases > 0 {
            return Err(Error::InUse { leases });
        }
        self.link.goodbye(&mut state);
        Ok(())
    }

    /// No handle is left.
    pub(crate) fn end(&self) {
        self.retire.end();
        self.link.end();
    }

    #[cfg(test)]
    pub(crate) fn mapped_slabs(&self) -> usize {
        self.slabs.len()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.link.lock().session.is_closed()
    }
}
