//! Streams: bytes that are no file go through memfds, which are read or written on one side while
//! the mover works on the other.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, mpsc};
use std::thread;

use millpond_wire::TensorId;
use millpond_wire::message::{MoveWork, TensorInfo};
use rustix::fs::MemfdFlags;

use super::moves::{self, Job, Landed};
use super::{Progress, Told};
use crate::link::Link;
use crate::{Error, Result, cancel};

const CHUNK_BYTES: u64 = 64 << 20;
/// One is filled while the other is emptied.
const CHUNKS: usize = 2;
/// What is read or written with one call.
const COPY_BYTES: usize = 1 << 20;

/// Bytes of the stream in a memfd.
struct Chunk {
    file: OwnedFd,
    offset: u64,
    bytes: u64,
}

/// An empty memfd for at most so many bytes.
fn memfd(bytes: u64) -> Result<OwnedFd> {
    let failed = |error: io::Error| Error::system("making memory for a stream", error);
    let fd = rustix::fs::memfd_create("millpond-stream", MemfdFlags::CLOEXEC)
        .map_err(|errno| failed(errno.into()))?;
    rustix::fs::ftruncate(&fd, bytes).map_err(|errno| failed(errno.into()))?;
    Ok(fd)
}

/// The memfd for the next chunk: the same one, unless somebody may still work at it.
fn next(file: OwnedFd, landed: Landed, bytes: u64) -> Result<OwnedFd> {
    match landed {
        Landed::Cleanly => Ok(file),
        Landed::Repeated => memfd(bytes),
    }
}

fn chunks(total: u64) -> (u64, usize) {
    let bytes = CHUNK_BYTES.min(total);
    (bytes, usize::try_from(total.div_ceil(bytes.max(1))).unwrap_or(CHUNKS).min(CHUNKS))
}

fn thread_failed(error: io::Error) -> Error {
    Error::system("starting a thread for a stream", error)
}

/// Reads a stream to its end and moves it into a tensor.
pub(super) fn upload(
    link: &Arc<Link>,
    to: &TensorInfo,
    reader: &mut dyn Read,
    label: &str,
    name: &str,
    told: Told<'_>,
) -> Result<()> {
    let total = to.bytes;
    let (size, count) = chunks(total);
    told(Progress { done: 0, total });
    thread::scope(|scope| {
        let (fill, filled) = mpsc::channel::<Chunk>();
        let (empty, emptied) = mpsc::channel::<Result<(OwnedFd, u64)>>();
        for _ in 0..count {
            // Its other end is here.
            let _ = empty.send(Ok((memfd(size)?, 0)));
        }
        let tensor = to.tensor;
        let lane = move || {
            for Chunk { file, offset, bytes } in filled {
                let job = Job { tensor, offset, bytes, work: MoveWork::Put { file_offset: 0 } };
                let landed = moves::one(link, job, Some(&file));
                let back = landed.and_then(|landed| Ok((next(file, landed, size)?, bytes)));
                let over = back.is_err();
                if empty.send(back).is_err() || over {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("millpond-move".to_owned())
            .spawn_scoped(scope, cancel::inherited(lane))
            .map_err(thread_failed)?;
        let (mut offset, mut done) = (0, 0);
        let mut buffer = vec![0; COPY_BYTES];
        let mut take_back = || {
            let (file, moved) = cancel::receive(&emptied).unwrap_or_else(|| Err(lane_gone()))?;
            if moved > 0 {
                done += moved;
                told(Progress { done, total });
            }
            Ok::<_, Error>(file)
        };
        while offset < total {
            let file = File::from(take_back()?);
            let bytes = size.min(total - offset);
            let got = read_into(reader, &file, bytes, &mut buffer, label)?;
            if got < bytes {
                let have = offset + got;
                return Err(Error::file(format!(
                    "{label} ended after {have} bytes; tensor '{name}' takes {total}"
                )));
            }
            if fill.send(Chunk { file: file.into(), offset, bytes }).is_err() {
                // Why it is gone is the last that comes back.
                loop {
                    take_back()?;
                }
            }
            offset += bytes;
        }
        if read(reader, &mut buffer[..1], label)? > 0 {
            return Err(Error::file(format!(
                "{label} has more than the {total} bytes that tensor '{name}' takes"
            )));
        }
        drop(fill);
        for _ in 0..count {
            take_back()?;
        }
        Ok(())
    })
}

/// Moves a tensor out part by part, in order, and hands each part to `with`.
pub(super) fn download(
    link: &Arc<Link>,
    tensor: TensorId,
    total: u64,
    told: Told<'_>,
    mut with: impl FnMut(&OwnedFd, u64, u64) -> Result<Landed>,
) -> Result<()> {
    let (size, count) = chunks(total);
    told(Progress { done: 0, total });
    thread::scope(|scope| {
        let (empty, emptied) = mpsc::channel::<OwnedFd>();
        let (fill, filled) = mpsc::channel::<Result<(Chunk, Landed)>>();
        for _ in 0..count {
            // Its other end is here.
            let _ = empty.send(memfd(size)?);
        }
        let lane = move || {
            let mut offset = 0;
            while offset < total {
                let Ok(file) = emptied.recv() else { return };
                let bytes = size.min(total - offset);
                let job = Job { tensor, offset, bytes, work: MoveWork::Get { file_offset: 0 } };
                let landed = moves::one(link, job, Some(&file));
                let over = landed.is_err();
                let chunk = Chunk { file, offset, bytes };
                if fill.send(landed.map(|landed| (chunk, landed))).is_err() || over {
                    return;
                }
                offset += bytes;
            }
        };
        thread::Builder::new()
            .name("millpond-move".to_owned())
            .spawn_scoped(scope, cancel::inherited(lane))
            .map_err(thread_failed)?;
        let mut done = 0;
        while done < total {
            let (chunk, landed) = cancel::receive(&filled).unwrap_or_else(|| Err(lane_gone()))?;
            let used = with(&chunk.file, chunk.offset, chunk.bytes)?;
            done += chunk.bytes;
            told(Progress { done, total });
            let landed = if used == Landed::Repeated { used } else { landed };
            // The last ones are not taken any more.
            let _ = empty.send(next(chunk.file, landed, size)?);
        }
        Ok(())
    })
}

/// Fills a memfd from its beginning; less than was wanted means that the stream has ended.
fn read_into(
    reader: &mut dyn Read,
    file: &File,
    bytes: u64,
    buffer: &mut [u8],
    label: &str,
) -> Result<u64> {
    let mut got = 0;
    while got < bytes {
        let want = usize::try_from(bytes - got).unwrap_or(usize::MAX).min(buffer.len());
        let some = read(reader, &mut buffer[..want], label)?;
        if some == 0 {
            break;
        }
        file.write_all_at(&buffer[..some], got)
            .map_err(|error| Error::system("keeping a chunk of a stream", error))?;
        got += some as u64;
    }
    Ok(got)
}

fn read(reader: &mut dyn Read, buffer: &mut [u8], label: &str) -> Result<usize> {
    loop {
        match reader.read(buffer) {
            Ok(some) => return Ok(some),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::in_file(format_args!("reading {label}"), &error)),
        }
    }
}

/// Copies so many bytes from the beginning of a memfd to a writer.
pub(super) fn write_out(
    file: &OwnedFd,
    bytes: u64,
    writer: &mut dyn io::Write,
    label: &str,
) -> Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut done = 0;
    while done < bytes {
        let want = usize::try_from(bytes - done).unwrap_or(usize::MAX).min(buffer.len());
        let some = rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut buffer[..want], done))
            .map_err(|errno| Error::system("reading a chunk of a stream", errno))?;
        if some == 0 {
            return Err(Error::Protocol("the pond cut off a memfd".to_owned()));
        }
        writer
            .write_all(&buffer[..some])
            .map_err(|error| Error::in_file(format_args!("writing {label}"), &error))?;
        done += some as u64;
    }
    Ok(())
}

fn lane_gone() -> Error {
    Error::system("moving a stream", "its thread has ended")
}
