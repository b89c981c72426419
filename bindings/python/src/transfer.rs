//! Bytes into tensors and out of them without mapping anything.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use millpond::npy::{HEADER_BYTES, Header, NpyError, write_header};
use millpond::{
    Audience, Dtype, Error, GetOptions, GpuUuid, Life, Progress, PutSpec, Sink, Source, Target,
    TensorInfo,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert;
use crate::ending::{attached, detached};
use crate::errors;
use crate::hints::Call;
use crate::interrupt::{Interrupt, Raised, ask_in};
use crate::view::{piece, views};

/// How often a transfer asks Python for signals.
const PERIOD: Duration = Duration::from_millis(100);

/// A tensor to be put into the pond.
pub(crate) struct Put {
    pub(crate) name: String,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) dtype: Option<Dtype>,
    pub(crate) device: Option<GpuUuid>,
    pub(crate) audience: Audience,
    pub(crate) replace: bool,
    pub(crate) life: Life,
}

impl Put {
    fn spec(&self, dtype: Dtype, shape: Vec<u64>) -> PutSpec {
        let spec = PutSpec::new(self.name.as_str(), dtype, shape)
            .share(self.audience)
            .life(self.life)
            .replace(self.replace);
        match self.device {
            Some(device) => spec.device(device),
            None => spec,
        }
    }
}

/// Where bytes come from, and what they say about themselves.
struct Given {
    bytes: Bytes,
    dtype: Option<Dtype>,
    shape: Option<Vec<u64>>,
}

enum Bytes {
    File(PathBuf),
    Memory { view: Py<PyAny>, length: usize },
}

impl Given {
    /// A path, or whatever has bytes. Numbers get those of the dtype.
    fn of(source: &Bound<'_, PyAny>, dtype: Option<Dtype>) -> PyResult<Self> {
        let py = source.py();
        if source.cast::<PyString>().is_ok() || source.hasattr("__fspath__")? {
            let bytes = Bytes::File(source.extract::<PathBuf>()?);
            return Ok(Self { bytes, dtype: None, shape: None });
        }
        let helper = views(py, "host_bytes", (source, dtype.map(convert::spelling)))?;
        let (view, dtype, shape): (Bound<'_, PyAny>, Option<Bound<'_, PyAny>>, Option<Vec<u64>>) =
            helper.extract()?;
        let dtype = dtype.as_ref().map(convert::dtype).transpose()?;
        let length = view.len()?;
        Ok(Self { bytes: Bytes::Memory { view: view.unbind(), length }, dtype, shape })
    }
}

/// Tells Python how far a transfer is, and keeps what Python raised.
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    asked: Instant,
    interrupt: Interrupt,
}

impl Watch {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, asked: Instant::now(), interrupt: Interrupt::new() }
    }

    pub(crate) fn told(&mut self, progress: Progress) {
        if self.interrupt.raised.is_some() {
            return;
        }
        let due = self.asked.elapsed() >= PERIOD;
        if !due && self.progress.is_none() {
            return;
        }
        self.asked = Instant::now();
        let answer = attached(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(callback) => callback.call1(py, (progress.done, progress.total)).map(drop),
                None => Ok(()),
            }
        });
        if let Err(error) = answer {
            self.interrupt.raise(error);
        }
    }

    /// Runs a transfer that what is raised meanwhile ends.
    pub(crate) fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> T + Send,
    ) -> T {
        let interrupt = self.interrupt.clone();
        interrupt.run(py, || work(self))
    }

    /// Whether nothing was raised.
    pub(crate) fn goes_on(&self) -> ControlFlow<()> {
        if self.interrupt.raised.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// What was raised meanwhile comes before how the transfer ended.
    pub(crate) fn end<T>(self, py: Python<'_>, ended: millpond::Result<T>) -> PyResult<T> {
        self.interrupt.end(py, ended)
    }

    /// As [`Watch::end`], with the way out of this call.
    pub(crate) fn end_in<T>(
        self,
        py: Python<'_>,
        call: Call<'_>,
        ended: millpond::Result<T>,
    ) -> PyResult<T> {
        self.interrupt.end_in(py, call, ended)
    }
}

/// Reads a memoryview in pieces, so that nothing is copied as a whole.
struct Pieces<'a> {
    view: &'a Py<PyAny>,
    at: usize,
    length: usize,
    raised: Raised,
}

impl Pieces<'_> {
    /// Fills the buffer; what was raised before, or is raised now, ends the transfer.
    fn fill(&self, py: Python<'_>, end: usize, buffer: &mut [u8]) -> PyResult<()> {
        py.check_signals()?;
        let bytes = piece(self.view.bind(py), self.at, end)?;
        let source = bytes.as_bytes();
        detached(py, || buffer.copy_from_slice(source));
        Ok(())
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.length.min(self.at.saturating_add(buffer.len()));
        let count = end - self.at;
        if count > 0 && !self.raised.is_some() {
            let filled = attached(|py| self.fill(py, end, &mut buffer[..count]));
            if let Err(error) = filled {
                self.raised.keep(error);
            }
        }
        if self.raised.is_some() {
            return Err(io::Error::other("Python has raised an exception"));
        }
        self.at = end;
        Ok(count)
    }
}

impl Bytes {
    /// From so many bytes on.
    fn source(&self, begin: u64, raised: &Raised) -> millpond::Result<Source<'_>> {
        match self {
            Bytes::File(path) => {
                let mut source = Source::open(path)?;
                let mut header = (&mut source).take(begin);
                io::copy(&mut header, &mut io::sink()).map_err(|error| failed(path, &error))?;
                Ok(source)
            }
            Bytes::Memory { view, length } => {
                let pieces = Pieces { view, at: 0, length: *length, raised: raised.clone() };
                Ok(Source::reader(pieces, "the bytes"))
            }
        }
    }

    /// How many they are; a pipe does not say.
    fn length(&self) -> millpond::Result<Option<u64>> {
        match self {
            Bytes::File(path) => {
                let found = std::fs::metadata(path).map_err(|error| failed(path, &error))?;
                Ok(found.is_file().then_some(found.len()))
            }
            Bytes::Memory { length, .. } => Ok(u64::try_from(*length).ok()),
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    let message = format!("'{}': {error}", path.display());
    Error::File { message, reason: Some(error.kind()) }
}

/// A numpy file says itself what it holds.
fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
}

fn npy_error(py: Python<'_>, path: &Path, error: &NpyError) -> PyErr {
    errors::invalid(py, &format!("'{}': {error}", path.display()), error.hint())
}

fn npy_header(py: Python<'_>, path: &Path) -> PyResult<Header> {
    let mut begin = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut begin))
        .map_err(|error| failed(path, &error));
    read.map_err(|error| errors::raise(py, &error))?;
    let header = Header::parse(&begin).map_err(|error| npy_error(py, path, &error))?;
    if header.fortran_order {
        let message = format!("'{}' is in Fortran order", path.display());
        let hint = "save it as numpy.ascontiguousarray(x)";
        return Err(errors::invalid(py, &message, Some(hint)));
    }
    Ok(header)
}

/// Puts a tensor whole.
pub(crate) fn put(
    pond: &millpond::Pond,
    put: &Put,
    source: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<TensorInfo> {
    let py = source.py();
    let Given { bytes, mut dtype, mut shape } = Given::of(source, put.dtype)?;
    let mut begin = 0;
    if let Bytes::File(path) = &bytes
        && is_npy(path)
    {
        let header = npy_header(py, path)?;
        (dtype, shape) = (Some(header.dtype), Some(header.shape.dims().to_vec()));
        begin = header.data_offset as u64;
    }
    if let (Bytes::File(path), None, None) = (&bytes, put.dtype, dtype) {
        // One that is not there says that first.
        bytes.length().map_err(|error| errors::raise(py, &error))?;
        let message = format!("'{}' does not say what it holds", path.display());
        let hint = "pass dtype= and shape=, or save the array as .npy";
        return Err(errors::invalid(py, &message, Some(hint)));
    }
    // What the caller says is another name for the same bytes.
    let dtype = put.dtype.or(dtype).unwrap_or(Dtype::U8);
    let shape = match put.shape.clone().or(shape) {
        Some(shape) => shape,
        None => {
            let length = bytes.length().map_err(|error| errors::raise(py, &error))?;
            let length = length.ok_or_else(|| {
                errors::invalid(py, "the source does not say its length", Some("pass a shape"))
            })?;
            vec![length.saturating_mul(8) / dtype.bits()]
        }
    };
    let spec = put.spec(dtype, shape);
    let mut watch = Watch::new(progress);
    let raised = watch.interrupt.raised.clone();
    let ended =
        watch.run(py, |watch| pond.put(spec, bytes.source(begin, &raised)?, |so| watch.told(so)));
    watch.end_in(py, Call::Put { name: &put.name }, ended)
}

/// Copies a published tensor to a new name.
pub(crate) fn copy(
    py: Python<'_>,
    pond: &millpond::Pond,
    from: Target,
    put: &Put,
    progress: Option<Py<PyAny>>,
) -> PyResult<TensorInfo> {
    let mut watch = Watch::new(progress);
    let ended = watch.run(py, |watch| {
        let from = pond.lease(from, GetOptions::read_only())?;
        let info = from.info();
        let mut spec = put.spec(info.dtype, info.shape.dims().to_vec());
        if put.device.is_none() {
            spec = spec.device(info.device);
        }
        pond.put(spec, Source::tensor(from), |so| watch.told(so))
    });
    watch.end_in(py, Call::Copy { name: &put.name }, ended)
}

/// Fills a tensor with zeroes and publishes it.
pub(crate) fn zero(
    py: Python<'_>,
    pond: &millpond::Pond,
    target: Target,
    progress: Option<Py<PyAny>>,
) -> PyResult<TensorInfo> {
    let mut watch = Watch::new(progress);
    let ended = watch.run(py, |watch| {
        let tensor = pond.inspect(target)?.info.tensor;
        pond.upload(tensor, Source::zeroes(), |so| watch.told(so))?;
        pond.publish(tensor)?;
        Ok(pond.inspect(tensor)?.info)
    });
    watch.end(py, ended)
}

/// Fills a tensor that is there.
pub(crate) fn upload(
    pond: &millpond::Pond,
    target: Target,
    source: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let py = source.py();
    let bytes = Given::of(source, None)?.bytes;
    let begin = match &bytes {
        Bytes::File(path) if is_npy(path) => npy_header(py, path)?.data_offset as u64,
        _ => 0,
    };
    let mut watch = Watch::new(progress);
    let raised = watch.interrupt.raised.clone();
    let ended = watch
        .run(py, |watch| pond.upload(target, bytes.source(begin, &raised)?, |so| watch.told(so)));
    watch.end(py, ended).map(|moved| moved.bytes)
}

/// A tensor's bytes.
pub(crate) fn download(
    py: Python<'_>,
    pond: &millpond::Pond,
    target: Target,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<u8>> {
    let mut watch = Watch::new(progress);
    let mut bytes = Vec::new();
    let ended = watch.run(py, |watch| {
        pond.download(target, Sink::writer(&mut bytes, "the bytes"), |so| watch.told(so))
    });
    watch.end(py, ended)?;
    Ok(bytes)
}

/// Writes a tensor's bytes to a file, behind numpy's header if its name says so. The file is there
/// only when it is complete.
pub(crate) fn download_file(
    py: Python<'_>,
    pond: &millpond::Pond,
    target: Target,
    path: &Path,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let there = || {
        let message = format!("'{}' already exists", path.display());
        Error::File { message, reason: Some(io::ErrorKind::AlreadyExists) }
    };
    // Before anything is moved; a file that comes meanwhile is not written over either.
    if !force && path.symlink_metadata().is_ok() {
        return Err(errors::raise(py, &there()));
    }
    let lease = ask_in(py, Call::Get, || pond.lease(target, GetOptions::read_only()))?;
    let mut header = Vec::new();
    if is_npy(path) {
        let info = lease.info();
        header =
            write_header(info.dtype, &info.shape).map_err(|error| npy_error(py, path, &error))?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let mut watch = Watch::new(progress);
    let mut ended = watch.run(py, |watch| {
        let begun = File::create(&part).and_then(|mut file| {
            file.write_all(&header)?;
            Ok(file)
        });
        let file = begun.map_err(|error| failed(path, &error))?;
        let label = format!("'{}'", path.display());
        lease.save_to(Sink::file(file, label)?, |so| watch.told(so))
    });
    if ended.is_ok() && !watch.interrupt.raised.is_some() {
        ended = ended.and_then(|moved| {
            let linked = if force { None } else { Some(fs::hard_link(&part, path)) };
            match linked {
                Some(Ok(())) => {}
                Some(Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(there());
                }
                // Over what is there; or a file system without links.
                _ => fs::rename(&part, path).map_err(|error| failed(path, &error))?,
            }
            Ok(moved)
        });
    }
    // It is gone where it got its name by a rename.
    let _ = fs::remove_file(&part);
    watch.end(py, ended).map(|moved| moved.bytes)
}
