//! What one process has with one pond: a connection, a driver, mapped slabs and retire lists.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use millpond_client_core::Lost;
use millpond_cuda::sys::Status;
use millpond_cuda::{Context, Driver};
use millpond_wire::message::TensorInfo;
use millpond_wire::{ErrorKind, Failure, GpuUuid, LeaseId, Mode};

use crate::adopt::Adopted;
use crate::answer::Answer;
use crate::cuda_side::CudaSide;
use crate::elastic::Registry;
use crate::grant;
use crate::link::{Link, LinkConfig};
use crate::memo::Memo;
use crate::retire::{Release, Retire, RetireList};
use crate::slab_map::{Handle, Reach, SlabMap, SlabMapping};
use crate::tensor::label;
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
    pub(crate) slabs: Arc<SlabMap<CudaSide>>,
    pub(crate) retire: Retire<CudaSide>,
    pub(crate) memo: Memo,
    /// The elastic caches.
    pub(crate) elastic: Arc<Registry>,
    /// Memory of this process that is the pond's too.
    pub(crate) adopted: Arc<Adopted>,
}

/// Memory with a legacy handle cannot be opened when the process that kept it has just died; the pond
/// may not have noticed yet.
fn home_is_gone(info: &TensorInfo, reach: &Reach, error: Error) -> Error {
    match (&error, reach) {
        (Error::Driver(cuda), Reach::Ipc(_)) if GONE.contains(&cuda.status) => {
            let (tensor, pid) = (label(info), info.home_pid);
            let message = format!(
                "the memory of tensor {tensor} cannot be opened ({}): its process (pid {pid}) is gone",
                cuda.status
            );
            let failure = Failure::new(ErrorKind::Lost, message);
            failure.hint("make it again; those who have it mapped keep it").into()
        }
        _ => error,
    }
}

/// What drivers answer to a handle of a dead process, or of memory that is gone.
const GONE: [Status; 2] = [Status::INVALID_HANDLE, Status::INVALID_VALUE];

/// A tensor that was granted and mapped.
pub(crate) struct Taken {
    pub(crate) info: TensorInfo,
    pub(crate) slab: Arc<SlabMapping<CudaSide>>,
    pub(crate) lost: Lost,
    pub(crate) event: Option<Handle>,
}

impl Core {
    pub(crate) fn new(config: &Config) -> Self {
        let link = Arc::new(Link::new(config.link.clone()));
        let cuda = Arc::new(CudaSide::new(config.driver.clone()));
        let slabs = Arc::new(SlabMap::new(Arc::clone(&cuda)));
        let told = Arc::clone(&link);
        let release: Release = Arc::new(move |leases| told.release(leases));
        let retire = Retire::new(Arc::clone(&cuda), Arc::clone(&slabs), release);
        Self {
            link,
            cuda,
            slabs,
            retire,
            memo: Memo::default(),
            elastic: Arc::default(),
            adopted: Arc::default(),
        }
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
        let grant::Grant { info, lost, reach, event } =
            grant::with_lease(what, answer, lease, mode)?;
        let (list, reach) = match self.adopted.own(info.tensor) {
            // It is there for the context that it was made in.
            Some(own) => (self.list_of(own.context())?, Reach::Own(own)),
            None => (self.list_for(info.device)?, reach),
        };
        let slab = self.slabs.get(&list, info.slab, info.slab_bytes, mode, &reach);
        let slab = slab.map_err(|error| home_is_gone(&info, &reach, error))?;
        Ok(Taken { info, slab, lost, event })
    }

    /// The retire list of the context in which what lies on this GPU is mapped now.
    pub(crate) fn list_for(&self, device: GpuUuid) -> Result<Arc<RetireList<CudaSide>>> {
        // Before anything is mapped: leases must be claimed from the next daemon.
        self.link.start_watch()?;
        Ok(self.retire.list(&self.cuda.context(device)?))
    }

    fn list_of(&self, context: &Context) -> Result<Arc<RetireList<CudaSide>>> {
        self.link.start_watch()?;
        Ok(self.retire.list(context))
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
