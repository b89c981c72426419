//! Memory that a program has already, under a name of the pond's.
//!
//! The driver decides what can be shared without a copy. What cannot is refused with the reason, or
//! copied on the GPU where the caller says so: never silently, because a copy takes memory twice and
//! sees nothing of what is written to the original.

use std::sync::Arc;
use std::thread;

use millpond::cuda::{Context, DevicePtr, ForeignMemory, MemoryKind, MemoryRange, Stream};
use millpond::{AdoptRefusal, AdoptSpec, Audience, Dtype, Error, ErrorKind, GpuUuid, TensorSpec};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::ending::{calling, enter};
use crate::errors::{self, Special};
use crate::hints::Call;
use crate::interrupt::{ask, ask_in};
use crate::lease::Counters;
use crate::tensor::Tensor;
use crate::{convert, dlpack};

/// What becomes of somebody's memory.
pub(crate) struct Adopt<'a> {
    pub(crate) pond: &'a millpond::Pond,
    pub(crate) name: &'a str,
    pub(crate) audience: Audience,
    /// Where it cannot be shared, a copy can.
    pub(crate) copy: bool,
}

/// Contiguous memory of another library.
struct Source<'py> {
    address: u64,
    dtype: Dtype,
    shape: Vec<u64>,
    bytes: u64,
    /// What keeps the memory.
    keep: Bound<'py, PyAny>,
    /// It is torch's, which may have other tensors in the same piece of memory.
    of_torch: bool,
}

/// Address, dtype, shape, keeper, and whether it is torch's.
type Found<'py> = (u64, Bound<'py, PyAny>, Vec<u64>, Bound<'py, PyAny>, bool);

impl<'py> Source<'py> {
    fn of(tensor: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = tensor.py();
        let found =
            calling(py, || py.import("millpond._adopt")?.call_method1("describe", (tensor,)))?;
        let (address, dtype, shape, keep, of_torch) = found.extract::<Found<'py>>()?;
        let dtype = convert::dtype(&dtype)?;
        let extents = millpond::Shape::new(shape.clone()).map_err(Error::from);
        let bytes = extents.and_then(|extents| Ok(extents.bytes(dtype)?));
        let bytes = bytes.map_err(|error| errors::raise(py, &error))?;
        Ok(Self { address, dtype, shape, bytes, keep, of_torch })
    }

    /// Why torch's memory should not be shared although the driver would: others' is in it.
    fn refusal(&self) -> PyResult<Option<String>> {
        let (py, address) = (self.keep.py(), DevicePtr(self.address));
        if !self.of_torch {
            return Ok(None);
        }
        let around = ask(py, || Ok(MemoryRange::of(&convert::own_driver()?, address)?))?;
        if !matches!(around.kind, MemoryKind::Virtual { .. }) {
            return Ok(None);
        }
        let (begin, bytes) = (around.base.0, around.bytes);
        calling(py, || {
            let module = py.import("millpond._adopt")?;
            module
                .call_method1("torch_refusal", (self.address, self.bytes, begin, bytes))?
                .extract()
        })
    }
}

/// Lets go of what another library keeps, on a thread of its own: whoever ends the last use of the
/// memory must not wait for the interpreter.
struct Kept(Option<Py<PyAny>>);

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(kept) = self.0.take() else { return };
        let let_go = move || match enter() {
            // Without an interpreter nobody can let go of anything: the process ends.
            None => std::mem::forget(kept),
            Some(_inside) => {
                let mut kept = Some(kept);
                let _ = Python::try_attach(|py| kept.take().map(|kept| drop(kept.into_bound(py))));
                std::mem::forget(kept);
            }
        };
        // Without a thread it stays: that is memory, and waiting here could be for ever.
        let _ = thread::Builder::new().name("millpond-let-go".to_owned()).spawn(let_go);
    }
}

/// Why memory cannot be shared.
struct Refused {
    reason: String,
    /// A GPU can copy all other memory.
    of_the_host: bool,
}

impl Adopt<'_> {
    pub(crate) fn run<'py>(
        &self,
        tensor: &Bound<'py, PyAny>,
        counters: &Arc<Counters>,
    ) -> PyResult<Bound<'py, Tensor>> {
        let py = tensor.py();
        let source = Source::of(tensor)?;
        let adopted = match source.refusal()? {
            Some(reason) => Err(Refused { reason, of_the_host: false }),
            None => self.adopt(&source)?,
        };
        let (id, because) = match adopted {
            Ok(id) => (id, None),
            Err(Refused { reason, of_the_host: false }) if self.copy => {
                (self.copied(&source)?, Some(reason))
            }
            Err(Refused { reason, of_the_host }) => {
                let message = format!("the memory cannot be adopted: {reason}");
                let hint = match of_the_host {
                    true => "millpond.put copies bytes of the host into the pond",
                    false => "copy=True makes a copy instead",
                };
                return Err(errors::special(py, Special::Adopt, &message, hint));
            }
        };
        let got = ask_in(py, Call::Get, || self.pond.get(id))?;
        Tensor::copied(py, got, counters, because)
    }

    /// Without a copy; the reason, where the driver cannot share it.
    fn adopt(&self, source: &Source<'_>) -> PyResult<Result<millpond::TensorId, Refused>> {
        let (py, kept) = (source.keep.py(), Kept(Some(source.keep.clone().unbind())));
        let spec = AdoptSpec::new(self.name, source.dtype, source.shape.clone());
        let spec = spec.audience(self.audience);
        let address = DevicePtr(source.address);
        ask_in(py, Call::Adopt { name: self.name }, || {
            match self.pond.adopt(spec, address, Box::new(kept)) {
                Ok(info) => Ok(Ok(info.tensor)),
                Err(Error::Adopt { reason, .. }) => Ok(Err(Refused {
                    of_the_host: reason == AdoptRefusal::Host,
                    reason: reason.to_string(),
                })),
                // The pond tries the memory before it takes it.
                Err(Error::Refused(failure)) if is_about_memory(failure.kind) => {
                    Ok(Err(Refused { reason: failure.message, of_the_host: false }))
                }
                Err(error) => Err(error),
            }
        })
    }

    /// A tensor of the pond's own with the same bytes.
    fn copied(&self, source: &Source<'_>) -> PyResult<millpond::TensorId> {
        let (py, from, bytes) = (source.keep.py(), DevicePtr(source.address), source.bytes);
        let spec = TensorSpec::new(self.name, source.dtype, source.shape.clone());
        ask_in(py, Call::Create { name: self.name }, || {
            let device = MemoryRange::of(&convert::own_driver()?, from)?.device;
            let spec = spec.device(GpuUuid(device.0)).share(self.audience);
            let made = self.pond.create(spec)?;
            if made.existed() {
                // Somebody's bytes: a copy would be written over them.
                let message = format!("tensor '{}' already exists", self.name);
                let failure = millpond::Failure::new(ErrorKind::Exists, message);
                return Err(Error::Refused(Box::new(failure)));
            }
            let copied = copy(made.context(), made.device_ptr(), from, bytes);
            let published = copied.and_then(|()| made.publish());
            if published.is_err() {
                let _ = self.pond.delete(made.id());
            }
            published.map(|_| made.id())
        })
    }
}

/// A name that is taken, a full card and the like would be no better with a copy.
fn is_about_memory(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Unsupported)
}

/// Copies on the GPU, after all work and before this returns. What is one tensor to its library may be made of several pieces of
/// memory.
fn copy(context: &Context, to: DevicePtr, from: DevicePtr, bytes: u64) -> millpond::Result<()> {
    context.synchronize()?;
    let stream = Stream::legacy(context);
    let mut done = 0;
    while done < bytes {
        let at = DevicePtr(from.0 + done);
        let piece = MemoryRange::of(context.driver(), at)?;
        let left = (piece.base.0 + piece.bytes).saturating_sub(at.0).min(bytes - done);
        let source = ForeignMemory::find(context, at, left)?;
        let target = ForeignMemory::find(context, DevicePtr(to.0 + done), left)?;
        stream.copy(&target, 0, &source, 0, left)?;
        done += left;
    }
    Ok(stream.synchronize()?)
}

/// What a capsule describes: kind and number of the device, address, dtype, shape and strides.
#[pyfunction(name = "_capsule")]
pub(crate) fn capsule<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let found = dlpack::described(capsule)?;
    let dtype = convert::spelling(found.dtype);
    (found.device, found.address, dtype, found.shape, found.strides).into_pyobject(capsule.py())
}
