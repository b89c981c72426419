//! A tensor, mapped.

use std::collections::TryReserveError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use millpond_client_core::Lost;
use millpond_cuda::{Context, DevicePtr, DeviceSpan, IpcEvent, Stream, TouchKernel};
use millpond_wire::message::{ReplyBody, RequestBody, TensorInfo, TensorPublish};
use millpond_wire::{
    Dtype, GpuUuid, LeaseId, Mode, Shape, Survives, TensorId, TensorName, Token, TransportKind,
};

use crate::answer::not_an_answer;
use crate::core::Taken;
use crate::cuda_side::{CudaSide, MappedSlab};
use crate::retire::ToUnmap;
use crate::slab_map::{Handle, SlabMapping};
use crate::{Error, Pond, Result, process};

/// A tensor that this process has a lease on, mapped into its address space on the GPU.
///
/// Dropping it never blocks and calls nobody: the lease ends later, when the device has done all
/// the work that was submitted before. See the crate's documentation.
///
/// One that was got read-only refuses every write of its own methods. Kernels are kept from writing by
/// the card only where the transport is `vmm`; memory of `mempool` and `ipc` is readable and writable
/// for whoever has it, and read-only is a promise of the program.
pub struct Tensor {
    shared: Arc<Shared>,
    existed: bool,
}

/// One lease, and what it is on. Gets of the same thing share it, see [`crate::memo`]; it ends with
/// the last of them.
pub(crate) struct Shared {
    pond: Pond,
    owner: u32,
    lease: LeaseId,
    mode: Mode,
    info: TensorInfo,
    generation: AtomicU64,
    lost: Lost,
    /// Taken out only by `drop`.
    slab: Option<Arc<SlabMapping<CudaSide>>>,
    context: Context,
    /// Whether the context is the one that is chosen where a thread has none.
    primary: bool,
    address: DevicePtr,
    /// Of the event that carries order between processes.
    event: Option<Handle>,
}

impl Tensor {
    pub(crate) fn new(pond: &Pond, taken: Taken, lease: LeaseId, mode: Mode) -> Self {
        let Taken { info, slab, lost, event } = taken;
        let start = slab.mapping().map_or(DevicePtr(0), |slab| slab.span().pointer());
        let context = slab.list().context().clone();
        let shared = Shared {
            pond: pond.clone(),
            owner: process::current(),
            lease,
            mode,
            generation: AtomicU64::new(info.generation),
            lost,
            primary: pond.core().cuda.keeps(&context),
            context,
            // Inside of the mapping, as the grant was checked.
            address: DevicePtr(start.0.saturating_add(info.offset)),
            slab: Some(slab),
            info,
            event,
        };
        Self { shared: Arc::new(shared), existed: true }
    }

    /// Another one with the same lease.
    pub(crate) fn sharing(shared: Arc<Shared>) -> Self {
        Self { shared, existed: true }
    }

    /// Says whether a create found it or made it.
    pub(crate) fn found(self, existed: bool) -> Self {
        Self { existed, ..self }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where it begins in the GPU's address space, for this process.
    #[must_use]
    pub fn device_ptr(&self) -> DevicePtr {
        self.shared.address
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shared.info.bytes
    }

    /// Its extents.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shared.info.shape
    }

    /// Its element type.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.shared.info.dtype
    }

    /// The GPU it lies on.
    #[must_use]
    pub fn device(&self) -> GpuUuid {
        self.shared.info.device
    }

    /// Its name inside its owner's scope.
    #[must_use]
    pub fn name(&self) -> Option<&TensorName> {
        self.shared.info.name.as_ref()
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> TensorId {
        self.shared.info.tensor
    }

    /// How often it was published, as far as this value knows: when it was got, or when it was
    /// last published through it.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// How it is mapped.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.shared.mode
    }

    /// How other processes reach its memory.
    #[must_use]
    pub fn transport(&self) -> TransportKind {
        self.shared.info.transport
    }

    /// What its memory survives: memory with descriptors every process, other memory all but the one
    /// that has it. Whoever has mapped it keeps it in any case.
    #[must_use]
    pub fn survives(&self) -> Survives {
        self.shared.info.survives
    }

    /// Whether it already existed when this value was got: false only where [`Pond::create`] has
    /// made it. What a create says about contents and life is not applied to a tensor that exists.
    #[must_use]
    pub fn existed(&self) -> bool {
        self.existed
    }

    /// All that the pond said about it when it was got.
    #[must_use]
    pub fn info(&self) -> &TensorInfo {
        &self.shared.info
    }

    /// The context it is mapped for.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// The pond it comes from.
    #[must_use]
    pub fn pond(&self) -> &Pond {
        &self.shared.pond
    }

    /// Whether the pond does not know this lease any more: another pond has taken its place. The
    /// memory is mapped and whole as long as this value lives, but nobody else can find it.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.shared.lost.load(Ordering::Acquire)
    }

    /// Waits for all work of the context, then tells the pond that the bytes are complete.
    /// Returns the new generation.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; what the work met; what the pond answers.
    pub fn publish(&self) -> Result<u64> {
        self.writable()?;
        self.shared.context.synchronize()?;
        self.announce()
    }

    /// As [`Tensor::publish`], but waits only for the work of this stream.
    ///
    /// # Errors
    /// As for [`Tensor::publish`], and [`Error::OtherContext`].
    pub fn publish_after(&self, stream: &Stream) -> Result<u64> {
        self.writable()?;
        self.of_this_context(stream)?;
        stream.synchronize()?;
        self.announce()
    }

    /// Marks the end of what the stream has queued so far as this program's last write: whoever calls
    /// [`Tensor::wait`] from now on, in any process, waits for it on its stream and not on the host.
    /// Only tensors that the pond made with the transport `ipc` have such a mark, and each has one: the
    /// next record, by anybody, takes its place.
    ///
    /// # Errors
    /// [`Error::NoEvent`], [`Error::ReadOnly`], [`Error::OtherContext`], and what the driver answers.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.writable()?;
        self.of_this_context(stream)?;
        Ok(self.event()?.record(stream)?)
    }

    /// Lets later work of the stream wait for the last [`Tensor::record`] of anybody. Where nobody
    /// has recorded, there is nothing to wait for.
    ///
    /// If the process that recorded last was killed before that work was done, the stream waits for
    /// ever, as with every event between processes. Where writers may be killed, wait for
    /// [`Tensor::publish`] instead.
    ///
    /// # Errors
    /// [`Error::NoEvent`], [`Error::OtherContext`], and what the driver answers.
    pub fn wait(&self, stream: &Stream) -> Result<()> {
        self.of_this_context(stream)?;
        Ok(self.event()?.make_wait(stream)?)
    }

    fn of_this_context(&self, stream: &Stream) -> Result<()> {
        if stream.context() == &self.shared.context {
            return Ok(());
        }
        Err(Error::OtherContext { tensor: self.label() })
    }

    fn event(&self) -> Result<IpcEvent> {
        match (self.own()?, &self.shared.event) {
            (MappedSlab::Opened(opening), Some(handle)) => Ok(opening.event(handle)?),
            _ => Err(Error::NoEvent { tensor: self.label(), transport: self.transport() }),
        }
    }

    fn announce(&self) -> Result<u64> {
        const WHAT: &str = "a publication";
        let body = RequestBody::TensorPublish(TensorPublish {
            tensor: self.id(),
            token: Token::random(),
            name: None,
            replace: false,
        });
        match self.shared.pond.core().link.ask(WHAT, body)?.body {
            ReplyBody::Published { generation } => {
                self.shared.generation.store(generation, Ordering::Release);
                Ok(generation)
            }
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Copies into the tensor, from `offset` bytes on, and waits.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::OutOfBounds`], and what the driver answers.
    pub fn copy_from_host(&self, offset: u64, source: &[u8]) -> Result<()> {
        self.writable()?;
        let (mapping, at) = self.range(offset, source.len() as u64)?;
        Ok(mapping.copy_from_host(at, source)?)
    }

    /// Copies out of the tensor, from `offset` bytes on, and waits.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`], and what the driver answers.
    pub fn copy_to_host(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let (mapping, at) = self.range(offset, target.len() as u64)?;
        Ok(mapping.copy_to_host(at, target)?)
    }

    /// Fills the whole tensor with one byte, and waits.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], and what the driver answers.
    pub fn fill(&self, byte: u8) -> Result<()> {
        self.writable()?;
        let (mapping, at) = self.range(0, self.bytes())?;
        Ok(mapping.memset(at, self.bytes(), byte)?)
    }

    /// Queues a fill of the whole tensor with one byte.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::OtherContext`], and what the driver answers.
    pub fn fill_on(&self, stream: &Stream, byte: u8) -> Result<()> {
        self.writable()?;
        if stream.context() != &self.shared.context {
            return Err(Error::OtherContext { tensor: self.label() });
        }
        let (span, at) = self.range(0, self.bytes())?;
        Ok(stream.memset(span, at, self.bytes(), byte)?)
    }

    /// All of its bytes.
    ///
    /// # Errors
    /// What the driver answers, or if this machine's memory is too small.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = zeros(self.bytes())
            .map_err(|error| Error::system(format!("a copy of {}", self.label()), error))?;
        self.copy_to_host(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Queues the touch kernel, which reads this tensor for so long and writes the sum of its words
    /// to the eight bytes at `index` of `target`. It shows that work in flight is safe from drops
    /// and restarts, on a card and on the software driver.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] and [`Error::OutOfBounds`] for the target, and what the driver answers.
    pub fn touch(
        &self,
        kernel: &TouchKernel,
        stream: &Stream,
        target: &Tensor,
        index: u64,
        duration: Duration,
    ) -> Result<()> {
        target.writable()?;
        let (to, at) = target.range(index.saturating_mul(8), 8)?;
        let (from, start) = self.range(0, self.bytes())?;
        let part = start..start + self.bytes();
        Ok(kernel.touch_part(stream, from, part, to, at, duration)?)
    }

    fn own(&self) -> Result<&MappedSlab> {
        let mapping = self.shared.slab.as_ref().and_then(|slab| slab.mapping());
        match mapping {
            Some(slab) if self.shared.owner == process::current() => Ok(slab),
            _ => Err(Error::Forked { tensor: self.label(), owner: self.shared.owner }),
        }
    }

    fn writable(&self) -> Result<()> {
        self.own()?;
        match self.shared.mode {
            Mode::ReadWrite => Ok(()),
            Mode::ReadOnly => Err(Error::ReadOnly { tensor: self.label() }),
        }
    }

    /// The slab, and where in it the bytes lie.
    fn range(&self, offset: u64, length: u64) -> Result<(DeviceSpan<'_>, u64)> {
        let bytes = self.bytes();
        if offset.checked_add(length).is_none_or(|end| end > bytes) {
            return Err(Error::OutOfBounds { tensor: self.label(), offset, length, bytes });
        }
        Ok((self.own()?.span(), self.shared.info.offset + offset))
    }

    fn label(&self) -> String {
        label(&self.shared.info)
    }
}

/// What a tensor is called in errors.
pub(crate) fn label(info: &TensorInfo) -> String {
    info.name.as_ref().map_or_else(|| info.tensor.to_string(), |name| format!("'{name}'"))
}

impl Shared {
    /// Whether it can stand for a new get: the pond knows its lease, and it is mapped for the context
    /// that this thread has now.
    pub(crate) fn is_good_now(&self, cuda: &CudaSide) -> Result<bool> {
        let known = !self.lost.load(Ordering::Acquire);
        Ok(known && cuda.chooses(&self.context, self.primary, self.info.device)?)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(slab) = self.slab.take() else { return };
        if self.owner == process::current() {
            let list = Arc::clone(slab.list());
            list.push(self.lease, ToUnmap::Slab(slab));
        } else {
            // A forked copy: the lease, the mapping and the context are the parent's.
            std::mem::forget(slab);
            std::mem::forget(self.context.clone());
        }
    }
}

/// Room for a copy in this machine's memory. A block at a time: a debug build fills a vector byte by byte.
pub(crate) fn zeros(count: u64) -> std::result::Result<Vec<u8>, TryReserveError> {
    const BLOCK: [u8; 4096] = [0; 4096];
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count)?;
    while bytes.len() < count {
        let rest = count - bytes.len();
        bytes.extend_from_slice(&BLOCK[..rest.min(BLOCK.len())]);
    }
    Ok(bytes)
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("name", &self.shared.info.name)
            .field("id", &self.shared.info.tensor)
            .field("dtype", &self.shared.info.dtype)
            .field("shape", &self.shared.info.shape)
            .field("mode", &self.shared.mode)
            .field("device_ptr", &self.shared.address)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("lease", &self.lease).finish_non_exhaustive()
    }
}
