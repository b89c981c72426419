//! The pond, as a program sees it.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_wire::message::{
    CacheInfo, ClientInfo, ReplyBody, RequestBody, ResourceUse, Status, Target, TensorInfo,
    TensorPage, UserAccount,
};
use millpond_wire::{ClientId, Epoch, GpuUuid, GroupName, Mode, TensorId, TensorName};

use crate::answer::not_an_answer;
use crate::builder::PondBuilder;
use crate::core::{Config, Core};
use crate::events::Events;
use crate::link::Ask;
use crate::process::{self, PerProcess};
use crate::spec::{GetOptions, TensorDetails, TensorSpec};
use crate::target::IntoTarget;
use crate::tensor::Tensor;
use crate::tensor_pages::TensorPages;
use crate::{Error, Result, grant};

/// A connection to a pond. Cheap to clone, and all threads may use it at once.
///
/// When the last clone and the last [`Tensor`] are gone, the leases end and the connection goes,
/// without anybody waiting for it; [`Pond::close`] waits.
#[derive(Clone)]
pub struct Pond {
    handle: Arc<Handle>,
}

/// What all clones share: one core per process that a fork has brought about.
pub(crate) struct Handle {
    config: Config,
    cores: PerProcess<Arc<Core>>,
}

impl Handle {
    pub(crate) fn new(config: Config) -> Self {
        let core = Arc::new(Core::new(&config));
        Self { config, cores: PerProcess::new(process::current(), core) }
    }

    fn core(&self) -> &Arc<Core> {
        self.cores.get(process::current(), || Arc::new(Core::new(&self.config)))
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.core().is_closed()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.cores.for_each(process::current(), |core, own| {
            if own {
                core.end();
            } else {
                // Another process's: nothing of it may be given back here.
                std::mem::forget(Arc::clone(core));
            }
        });
    }
}

impl Pond {
    /// Connects to the pond that a client finds by itself: `MILLPOND_RUNTIME_DIR`, then the
    /// user's own, then the machine's. A second call in the same process shares the connection.
    ///
    /// # Errors
    /// [`Error::NoPond`] if nobody answers, [`Error::Untrusted`] if the socket is somebody else's.
    pub fn connect() -> Result<Self> {
        Self::builder().connect()
    }

    /// Connects with options.
    pub fn builder() -> PondBuilder {
        PondBuilder::default()
    }

    pub(crate) fn new(handle: Arc<Handle>) -> Self {
        Self { handle }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        self.handle.core()
    }

    /// The pond's runtime folder.
    #[must_use]
    pub fn runtime_dir(&self) -> &Path {
        &self.handle.config.folder
    }

    /// How the pond knows this process. A process that holds nothing goes on as a new client where
    /// the pond takes somebody else for this one.
    #[must_use]
    pub fn client_id(&self) -> ClientId {
        self.core().link.client()
    }

    /// Makes a tensor and maps it read-write. It is in state `writing` until
    /// [`Tensor::publish`]. If a tensor of that name, dtype and shape already exists, that is the
    /// one: the same name is the same memory. Nothing else of the spec is applied to it then, and
    /// [`Tensor::existed`] says so.
    ///
    /// # Errors
    /// `exists`, `gpu_full`, and what else the pond answers; [`Error::NoDriver`] and
    /// [`Error::Driver`] before anything is made.
    pub fn create(&self, spec: TensorSpec) -> Result<Tensor> {
        const WHAT: &str = "a tensor's creation";
        let core = self.core();
        core.cuda.prepare(spec.wanted_device())?;
        let lease = core.link.new_lease();
        let request = spec.into_request(Some(lease))?;
        let (made, deadline) = (request.tensor, self.deadline(Duration::ZERO));
        let (held, name) = (request.hold.is_some(), request.name.clone());
        let body = RequestBody::TensorCreate(request);
        let ask = Ask { what: WHAT, body, lease: Some(lease), deadline, waits_until: None };
        let answer = core.link.call(ask, None)?;
        match core.take(WHAT, answer, lease, Mode::ReadWrite) {
            // One that was there has an identity of its own.
            Ok(taken) => {
                let existed = taken.info.tensor != made;
                Ok(Tensor::new(self, taken, lease, Mode::ReadWrite).found(existed))
            }
            Err(error) => {
                // Nobody could ever use it; one that was there before has another identity. What is held
                // may be somebody else's too.
                match (held, name) {
                    (false, _) => drop(self.delete(made)),
                    (true, Some(name)) => self.give_up(name.as_str(), None),
                    (true, None) => self.give_up(made, None),
                }
                Err(error)
            }
        }
    }

    /// Makes a tensor without mapping it. Needs no driver.
    ///
    /// # Errors
    /// `exists`, `gpu_full`, and what else the pond answers.
    pub fn reserve(&self, spec: TensorSpec) -> Result<TensorInfo> {
        self.reserve_or_find(spec).map(|(info, _)| info)
    }

    /// The same, and whether the tensor already existed: then nothing of the spec was applied to it.
    ///
    /// # Errors
    /// As for [`Pond::reserve`].
    pub fn reserve_or_find(&self, spec: TensorSpec) -> Result<(TensorInfo, bool)> {
        const WHAT: &str = "a tensor's creation";
        let request = spec.into_request(None)?;
        let made = request.tensor;
        let body = RequestBody::TensorCreate(request);
        let info = grant::without_lease(WHAT, self.core().link.ask(WHAT, body)?)?;
        let existed = info.tensor != made;
        if info.ephemeral && !existed {
            self.core().link.remembered()?;
        }
        Ok((info, existed))
    }

    /// Maps a published tensor read-only.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, and what else the pond or the driver answers.
    pub fn get(&self, target: impl IntoTarget) -> Result<Tensor> {
        self.get_with(target, GetOptions::read_only())
    }

    /// Maps a tensor. One that this process has mapped already in the same way, and that nothing
    /// has happened to since, is the same one again: its lease is shared and ends with the last.
    /// That costs no message.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `timeout` after the wait, and what else the pond or the driver
    /// answers.
    pub fn get_with(&self, target: impl IntoTarget, options: GetOptions) -> Result<Tensor> {
        if let Some(text) = target.text()
            && let Some(tensor) = self.recall_text(text, options.mode)?
        {
            return Ok(tensor);
        }
        let target = target.into_target()?;
        // Read before anything is asked: what changes after it shows later.
        let mark = self.core().link.mark(&target);
        match self.recall(&target, options.mode, mark)? {
            Some(tensor) => Ok(tensor),
            None => {
                self.core().cuda.prepare(None)?;
                self.map_got(self.ask_get(target, options, mark)?)
            }
        }
    }

    /// Deletes a tensor: no new leases, and the memory goes when the last one has ended.
    ///
    /// # Errors
    /// `not_found`, `denied`, and what else the pond answers.
    pub fn delete(&self, target: impl IntoTarget) -> Result<()> {
        let tensor = match target.into_target()? {
            Target::Id(tensor) => tensor,
            // By identity, a repeat after a lost answer cannot hit a new tensor of that name.
            name @ Target::Name(_) => self.inspect(name)?.info.tensor,
        };
        self.core().link.ask_done("a deletion", RequestBody::TensorDelete { tensor })
    }

    /// Deletes a tensor that nobody uses: its memory is free at once. While anybody has a lease or a
    /// hold on it, this process included, nothing changes.
    ///
    /// What this process has dropped is given back first, as by [`Pond::flush`].
    ///
    /// # Errors
    /// `in_use`, with the processes in [`Error::holders`]; `not_found`, `denied`, and what else the
    /// pond answers.
    pub fn delete_unused(&self, target: impl IntoTarget) -> Result<()> {
        let tensor = match target.into_target()? {
            Target::Id(tensor) => tensor,
            // By identity, as a delete.
            name @ Target::Name(_) => self.inspect(name)?.info.tensor,
        };
        let core = self.core();
        if core.link.lock().session.leases().are_on(tensor) {
            core.retire.flush(self.handle.config.link.request_timeout);
        }
        core.link.ask_done("a deletion", RequestBody::TensorDeleteUnused { tensor })
    }

    /// Gives a tensor another name. Leases and mappings stay as they are.
    ///
    /// # Errors
    /// `not_found`, `denied`, `exists` if the name is taken, `invalid` for a tensor without a name
    /// and for one that is not everybody's under `public/`, and what else the pond answers.
    pub fn rename(&self, target: impl IntoTarget, name: &str) -> Result<()> {
        let name = TensorName::new(name)?;
        let tensor = match target.into_target()? {
            Target::Id(tensor) => tensor,
            // By identity, a repeat after a lost answer cannot hit another tensor of that name.
            old @ Target::Name(_) => self.inspect(old)?.info.tensor,
        };
        self.rename_object(tensor.into(), name)
    }

    /// Everything about one tensor.
    ///
    /// # Errors
    /// `not_found`, and what else the pond answers.
    pub fn inspect(&self, target: impl IntoTarget) -> Result<TensorDetails> {
        const WHAT: &str = "an inspection";
        let body = RequestBody::TensorInspect(target.into_target()?);
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Details { info, leases } => Ok(TensorDetails { info, leases }),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Every tensor shared with the caller whose name begins with `prefix`.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn list(&self, prefix: &str) -> Result<Vec<TensorInfo>> {
        self.list_page(prefix, None)
    }

    /// As [`Pond::list`], in pages of at most `most` tensors, so that a program needs no memory for very many of them
    /// at once. A tensor that is there from the first page to the last is in one of them; others may be. They come in
    /// no order of meaning.
    pub fn list_pages(&self, prefix: &str, most: NonZeroU32) -> TensorPages<'_> {
        TensorPages::new(self, prefix, most)
    }

    /// One page of them: at most `most` tensors whose identities follow `after`, in no order of meaning. The next page
    /// comes after the largest identity of this one, and there is none after a page that is not full.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn list_after(
        &self,
        prefix: &str,
        after: Option<TensorId>,
        most: NonZeroU32,
    ) -> Result<Vec<TensorInfo>> {
        self.list_page(prefix, Some(TensorPage { after, most }))
    }

    pub(crate) fn list_page(
        &self,
        prefix: &str,
        page: Option<TensorPage>,
    ) -> Result<Vec<TensorInfo>> {
        const WHAT: &str = "a listing of tensors";
        let body = RequestBody::TensorList { prefix: prefix.to_owned(), page };
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Tensors(tensors) => Ok(tensors),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Who is connected, and what it holds.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn clients(&self) -> Result<Vec<ClientInfo>> {
        const WHAT: &str = "a listing of clients";
        match self.core().link.ask(WHAT, RequestBody::ClientList)?.body {
            ReplyBody::Clients(clients) => Ok(clients),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// What users have of everything that is counted, and may have: the caller, or everybody for root
    /// and the user who runs the pond. The second list is about all users together.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn accounts(&self) -> Result<(Vec<UserAccount>, Vec<ResourceUse>)> {
        const WHAT: &str = "a listing of accounts";
        match self.core().link.ask(WHAT, RequestBody::AccountList)?.body {
            ReplyBody::Accounts { users, all } => Ok((users, all)),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Every elastic cache of groups that the caller may use, or those of one group.
    ///
    /// # Errors
    /// `not_found` for a group that does not exist, and what else the pond answers.
    pub fn caches(&self, group: Option<GroupName>) -> Result<Vec<CacheInfo>> {
        const WHAT: &str = "a listing of caches";
        match self.core().link.ask(WHAT, RequestBody::CacheList { group })?.body {
            ReplyBody::Caches(caches) => Ok(caches),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// The pond, its GPUs and accounts. A pond that has just begun answers when its driver has.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn status(&self) -> Result<Status> {
        const WHAT: &str = "a status request";
        match self.core().link.ask(WHAT, RequestBody::PondStatus)?.body {
            ReplyBody::Status(status) => Ok(*status),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Has another daemon take over, from this program file; the keeper's own if empty. Clients
    /// go on. Only for the operator and the user who runs the pond. Returns the version and the
    /// epoch of the daemon that goes.
    ///
    /// # Errors
    /// `denied`, and what else the pond answers.
    pub fn upgrade(&self, program: &str) -> Result<(String, Epoch)> {
        const WHAT: &str = "an upgrade";
        let body = RequestBody::Upgrade { program: program.to_owned() };
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Upgrading { from_version, from_epoch } => Ok((from_version, from_epoch)),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Says how far the models of the pond's configuration are loaded: which one is being loaded, and
    /// which one could not be, and why; empty means none. Only for the operator and the user who
    /// runs the pond.
    ///
    /// # Errors
    /// `denied`, and what else the pond answers.
    pub fn report_start(&self, loading: &str, failed: &str) -> Result<()> {
        let cut = |text: &str, bytes| crate::builder::cut(text.to_owned(), bytes);
        let body = RequestBody::StartReport {
            loading: cut(loading, millpond_wire::caps::NAME_BYTES),
            failed: cut(failed, millpond_wire::caps::TEXT_BYTES),
        };
        self.core().link.ask_done("a report", body)
    }

    /// One round trip.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn ping(&self) -> Result<()> {
        self.core().link.ask_done("a ping", RequestBody::Ping)
    }

    /// The GPU at a place of the pond's list, which is not this process's list.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`], and what else the pond answers.
    pub fn device_at(&self, index: usize) -> Result<GpuUuid> {
        let status = self.status()?;
        let devices = status.gpus()?;
        let count = devices.len();
        let found = devices.iter().find(|device| usize::try_from(device.index) == Ok(index));
        found.map(|device| device.device).ok_or(Error::NoSuchIndex { index, count })
    }

    /// What happens in the pond, from sequence number `from` on; zero means from now on. It has a
    /// connection of its own.
    ///
    /// # Errors
    /// As for [`Pond::connect`].
    pub fn events(&self, from: u64) -> Result<Events> {
        Events::subscribe(self.handle.config.link.clone(), from)
    }

    /// Waits until every tensor that was dropped is unmapped and the pond knows; false if the time
    /// was over before.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn flush(&self, timeout: Duration) -> Result<bool> {
        let core = self.core();
        if core.is_closed() { Err(Error::Closed) } else { Ok(core.retire.flush(timeout)) }
    }

    /// Leases of this process that are held, or are on their way back.
    #[must_use]
    pub fn live_leases(&self) -> usize {
        self.core().link.lock().session.leases().len()
    }

    /// The bytes that those leases are on; what several of them are on counts for each.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.core().link.lock().session.leases().bytes()
    }

    /// Waits for dropped tensors to be given back, and says goodbye. Other clones cannot be used
    /// any more. Memory that this process let the pond adopt is not waited for: readers keep what
    /// they have, and what cannot outlive this process is given to nobody new.
    ///
    /// # Errors
    /// [`Error::InUse`] while there are tensors; [`Error::Timeout`] if the pond does not answer.
    pub fn close(self) -> Result<()> {
        self.core().close(self.handle.config.link.request_timeout)
    }

    pub(crate) fn deadline(&self, wait: Duration) -> Option<Instant> {
        Instant::now().checked_add(wait)?.checked_add(self.handle.config.link.request_timeout)
    }
}

impl fmt::Debug for Pond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pond").field("runtime_dir", &self.runtime_dir()).finish_non_exhaustive()
    }
}
