//! Bytes into tensors and out of them without mapping anything: the pond's mover carries them.

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Cursor};
use std::os::fd::BorrowedFd;

use millpond::{Error, GetOptions, Sink, Source};

use crate::border::{Answer, Out, Text, flag, required, reserved, waiting, write};
use crate::callback::{Told, millpond_progress};
use crate::failure::Failure;
use crate::objects::PONDS;
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::tensor_data::{readable, writable};
use crate::tensor_types::{millpond_tensor_info, millpond_tensor_spec};
use crate::words::{PlaceNumber, millpond_place};

/// Where bytes come from. Set `place`, and what belongs to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_source {
    /// What kind of source it is.
    pub place: PlaceNumber,
    /// MILLPOND_PLACE_FD: an open file, pipe or socket, read from where it stands. It stays open.
    pub fd: i32,
    /// MILLPOND_PLACE_PATH: the file. MILLPOND_PLACE_TENSOR: the tensor, as for millpond_tensor_get().
    pub path: Text,
    /// MILLPOND_PLACE_MEMORY: where the bytes are.
    pub data: *const c_void,
    /// MILLPOND_PLACE_MEMORY: how many.
    pub bytes: u64,
    /// For later versions; must be zero.
    pub reserved: [u64; 4],
}

/// Where bytes go. Set `place`, and what belongs to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_sink {
    /// What kind of sink it is: a path, a descriptor or memory.
    pub place: PlaceNumber,
    /// MILLPOND_PLACE_FD: an open file, pipe or socket, written from where it stands. It stays open.
    pub fd: i32,
    /// MILLPOND_PLACE_PATH: the file, which is made or overwritten.
    pub path: Text,
    /// MILLPOND_PLACE_MEMORY: where the bytes go.
    pub data: *mut c_void,
    /// MILLPOND_PLACE_MEMORY: how much room there is; the tensor must fit.
    pub bytes: u64,
    /// 1: for MILLPOND_PLACE_PATH, refuse a file that is there.
    pub exclusive: u32,
    /// Must be zero.
    pub reserved_flags: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 3],
}

/// An open file of the caller's, by a descriptor of one's own.
fn duplicate(fd: i32) -> Answer<File> {
    if fd < 0 {
        return Err(Failure::invalid(format!("{fd} is no descriptor")));
    }
    // SAFETY: it is not -1, and is only used to be duplicated: the kernel refuses one that is not open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let own = borrowed.try_clone_to_owned();
    own.map(File::from).map_err(|error| in_file(&format!("descriptor {fd}"), &error))
}

fn in_file(what: &str, error: &io::Error) -> Failure {
    let message = format!("opening {what}: {error}");
    Error::File { message, reason: Some(error.kind()) }.into()
}

impl millpond_source {
    pub(crate) fn open(&self, pond: &millpond::Pond) -> Answer<Source<'_>> {
        reserved(&self.reserved, "millpond_source")?;
        Ok(match millpond_place::of(self.place)? {
            millpond_place::MILLPOND_PLACE_PATH => Source::open(self.path.required("path")?)?,
            millpond_place::MILLPOND_PLACE_FD => {
                Source::file(duplicate(self.fd)?, format!("descriptor {}", self.fd))?
            }
            millpond_place::MILLPOND_PLACE_MEMORY => {
                // SAFETY: the header demands that so many bytes are readable there and do not change during the call.
                let bytes = unsafe { readable(self.data, self.bytes)? };
                Source::reader(Cursor::new(bytes), "memory")
            }
            millpond_place::MILLPOND_PLACE_ZEROES => Source::zeroes(),
            millpond_place::MILLPOND_PLACE_TENSOR => {
                Source::tensor(pond.lease(self.path.required("path")?, GetOptions::read_only())?)
            }
        })
    }
}

impl millpond_sink {
    /// Refuses what cannot be written, before anything moves.
    pub(crate) fn open(&self) -> Answer<Sink<'_>> {
        reserved(&self.reserved, "millpond_sink")?;
        reserved(&[self.reserved_flags.into()], "millpond_sink")?;
        let exclusive = flag(self.exclusive, "exclusive")?;
        Ok(match millpond_place::of(self.place)? {
            millpond_place::MILLPOND_PLACE_PATH => {
                let path = self.path.required("path")?;
                let mut options = File::options();
                options.read(true).write(true);
                let options = if exclusive {
                    options.create_new(true)
                } else {
                    options.create(true).truncate(true)
                };
                let label = format!("'{path}'");
                let file = options.open(path).map_err(|error| in_file(&label, &error))?;
                Sink::file(file, label)?
            }
            millpond_place::MILLPOND_PLACE_FD => {
                Sink::file(duplicate(self.fd)?, format!("descriptor {}", self.fd))?
            }
            millpond_place::MILLPOND_PLACE_MEMORY => {
                // SAFETY: the header demands that so many bytes are writable there and nobody else's during the call.
                let room = unsafe { writable(self.data, self.bytes)? };
                Sink::writer(room, "memory")
            }
            _ => return Err(Failure::invalid("a sink is a path, a descriptor or memory")),
        })
    }

    /// How much room there is, where that is known.
    fn room(&self) -> Option<u64> {
        (self.place == millpond_place::MILLPOND_PLACE_MEMORY as u32).then_some(self.bytes)
    }
}

/// Puts a tensor into the pond: nobody sees it before all of its bytes are there, and if this process dies before,
/// nothing is left of it. Of the spec `name`, `dtype`, `shape`, `gpu`, `audience`, the ends of life and `replace`
/// count. Needs no driver. `progress` and `info` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_put(
    pond: *const millpond_pond,
    spec: Option<&millpond_tensor_spec>,
    source: Option<&millpond_source>,
    progress: millpond_progress,
    user_data: *mut c_void,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let spec = required(spec, "spec")?.put()?;
        let source = required(source, "source")?.open(&pond)?;
        let made = Told { progress, user_data }.during(|tell| {
            Ok(pond.put(spec, source, |progress| tell(progress.done, progress.total))?)
        })?;
        write(info, (&made).into());
        Ok(())
    })
}

/// Fills a whole tensor. It is not published by this: see millpond_tensor_publish_unmapped() and
/// millpond_tensor_put(). Needs no driver. `progress` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_upload(
    pond: *const millpond_pond,
    target: Text,
    source: Option<&millpond_source>,
    progress: millpond_progress,
    user_data: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let target = target.required("target")?;
        let source = required(source, "source")?.open(&pond)?;
        Told { progress, user_data }.during(|tell| {
            pond.upload(target, source, |progress| tell(progress.done, progress.total))?;
            Ok(())
        })
    })
}

/// Writes a published tensor's bytes out. Whoever replaces or deletes it meanwhile does not disturb this. Needs no
/// driver. `progress` and `bytes`, how many were written, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_download(
    pond: *const millpond_pond,
    target: Text,
    sink: Option<&millpond_sink>,
    progress: millpond_progress,
    user_data: *mut c_void,
    bytes: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let target = target.required("target")?;
        let sink = required(sink, "sink")?;
        let lease = pond.lease(target, GetOptions::read_only())?;
        let needed = lease.info().bytes;
        if let Some(given) = sink.room()
            && given < needed
        {
            return Err(Failure::TooSmall { needed, given });
        }
        let sink = sink.open()?;
        let done = Told { progress, user_data }.during(|tell| {
            Ok(lease.save_to(sink, |progress| tell(progress.done, progress.total))?)
        })?;
        write(bytes, done.bytes);
        Ok(())
    })
}

/// Copies a published tensor's bytes into another of the same size, on the same GPU or on another one. Needs no
/// driver. `progress` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_copy(
    pond: *const millpond_pond,
    from: Text,
    to: Text,
    progress: millpond_progress,
    user_data: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let (from, to) = (from.required("from")?, to.required("to")?);
        Told { progress, user_data }.during(|tell| {
            pond.copy(from, to, |progress| tell(progress.done, progress.total))?;
            Ok(())
        })
    })
}

/// Fills a tensor with zeroes. Needs no driver.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_zero(pond: *const millpond_pond, target: Text) -> ResultNumber {
    waiting(|| {
        PONDS.get(pond)?.zero(target.required("target")?)?;
        Ok(())
    })
}

/// Says that a tensor's bytes are complete, where nothing of it is mapped here: work on it must have ended, as it has
/// when millpond_tensor_upload() returns. `generation` may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_publish_unmapped(
    pond: *const millpond_pond,
    target: Text,
    generation: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let id = pond.inspect(target.required("target")?)?.info.tensor;
        write(generation, pond.publish(id)?);
        Ok(())
    })
}
