//! Events between processes: a file of marks that every process of the event maps.
//!
//! Each record of the event is a mark with the next number. Its recorder says when the work before it
//! is done; a recorder that has died is done too. The file lives while anybody has the event, so that
//! it outlives its maker.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use millpond_cuda::sys::Status;

use super::Engine;
use super::board::Device;
use super::ipc::HANDLE_BYTES;
use super::registry::{CreateError, Exporter, Ticket};
use super::system::{SharedView, to_u64, to_usize};

const MAGIC: u64 = u64::from_le_bytes(*b"mpevent\x01");

/// How many records can be under way before one has to wait for the oldest.
const MARKS: u64 = 512;

/// How often somebody who waits looks again. Long against a look, short against what is waited for.
const LOOK: Duration = Duration::from_micros(200);

/// The start of the file.
#[repr(C)]
#[derive(Debug)]
struct Head {
    magic: AtomicU64,
    /// The number of the last mark; 0 when there is none.
    last: AtomicU64,
}

#[repr(C)]
#[derive(Debug)]
struct Mark {
    number: AtomicU64,
    /// Not 0 once the work before it is done.
    done: AtomicU64,
    /// Whose work that is: slot and process id.
    process: AtomicU64,
}

const FILE_BYTES: usize = size_of::<Head>() + to_usize(MARKS) * size_of::<Mark>();

/// An event of several processes, as one of them has it.
#[derive(Debug)]
pub struct SharedEvent {
    device: Arc<Device>,
    ticket: Ticket,
    /// Whether another process made it.
    pub is_opened: bool,
    /// None only while it is dropped.
    open: Option<(SharedView, File)>,
}

/// The place of a mark in a stream of this process. What is dropped before its turn came, because its
/// context is lost, is done as well: nobody shall wait for it.
#[derive(Debug)]
pub struct Signal {
    event: Arc<SharedEvent>,
    pub number: u64,
}

impl Signal {
    pub fn give(&self) {
        if let Ok(mark) = self.event.mark(self.number) {
            mark.done.store(1, Release);
        }
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.give();
    }
}

impl SharedEvent {
    fn new(device: &Arc<Device>, ticket: Ticket, file: File, is_opened: bool) -> io::Result<Self> {
        let view = SharedView::new(&file, FILE_BYTES)?;
        Ok(Self { device: Arc::clone(device), ticket, is_opened, open: Some((view, file)) })
    }

    pub fn create(device: &Arc<Device>) -> Result<Self, Status> {
        let made = device.registry.create_part(to_u64(FILE_BYTES));
        let (file, ticket) = made.map_err(|error| match error {
            CreateError::Full => Status::OUT_OF_MEMORY,
            CreateError::System(_) => Status::OPERATING_SYSTEM,
        })?;
        let made = Self::new(device, ticket, file, false).map_err(failed)?;
        made.head().map_err(failed)?.magic.store(MAGIC, Release);
        Ok(made)
    }

    fn open(device: &Arc<Device>, ticket: Ticket) -> Result<Self, Status> {
        let file = device.registry.adopt_part(ticket).map_err(failed)?;
        let file =
            file.filter(|file| file.metadata().is_ok_and(|meta| meta.len() == to_u64(FILE_BYTES)));
        let opened = Self::new(device, ticket, file.ok_or(Status::INVALID_HANDLE)?, true);
        let opened = opened.map_err(failed)?;
        let is_event = opened.head().map_err(failed)?.magic.load(Acquire) == MAGIC;
        if is_event { Ok(opened) } else { Err(Status::INVALID_HANDLE) }
    }

    fn part<T>(&self, at: usize) -> io::Result<&T> {
        let view = self.open.as_ref().map(|(view, _)| view);
        // SAFETY: only called for the two structures above, which consist of atomics.
        view.and_then(|view| unsafe { view.get(at) }).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn head(&self) -> io::Result<&Head> {
        self.part(0)
    }

    fn mark(&self, number: u64) -> io::Result<&Mark> {
        self.part(size_of::<Head>() + to_usize(number % MARKS) * size_of::<Mark>())
    }

    /// The number of the last record; 0 when there is none.
    pub fn last(&self) -> Result<u64, Status> {
        Ok(self.head().map_err(failed)?.last.load(Acquire))
    }

    /// Takes the next number for a record of this process.
    pub fn record(self: &Arc<Self>) -> Result<Signal, Status> {
        let own = self.device.registry.own_process().ok_or(Status::UNKNOWN)?;
        loop {
            // Under the lock of the device: a kill in here leaves the last number as it was.
            let taken = self.device.registry.with_processes(|_, _| {
                let head = self.head()?;
                let number = head.last.load(Acquire) + 1;
                let mark = self.mark(number)?;
                if !self.is_passed(mark.number.load(Acquire))? {
                    return Ok(None);
                }
                mark.done.store(0, Release);
                mark.process.store(to_u64(own.slot) << 32 | u64::from(own.pid), Release);
                mark.number.store(number, Release);
                head.last.store(number, Release);
                Ok(Some(number))
            });
            if let Some(number) = taken.map_err(failed)? {
                return Ok(Signal { event: Arc::clone(self), number });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn is_passed(&self, number: u64) -> io::Result<bool> {
        let mark = self.mark(number)?;
        // A mark is used again when it was passed.
        if number == 0 || mark.number.load(Acquire) != number || mark.done.load(Acquire) != 0 {
            return Ok(true);
        }
        let process = mark.process.load(Acquire);
        let pid = u32::try_from(process & u64::from(u32::MAX)).unwrap_or_default();
        Ok(!self.device.registry.lives(Exporter { slot: to_usize(process >> 32), pid })?)
    }

    /// Whether the work before a record is done.
    pub fn query(&self, number: u64) -> Result<(), Status> {
        if self.is_passed(number).map_err(failed)? { Ok(()) } else { Err(Status::NOT_READY) }
    }

    /// Waits for the work before a record.
    pub fn wait(&self, number: u64) -> Result<(), Status> {
        while !self.is_passed(number).map_err(failed)? {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

fn failed(_: io::Error) -> Status {
    Status::OPERATING_SYSTEM
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        // The file first: what nobody has any more is freed at once.
        self.open = None;
        let _ = self.device.registry.discard(self.ticket);
    }
}

impl Engine {
    /// `cuIpcGetEventHandle`: of events that were made for it, here.
    pub fn export_event(&self, event: u64) -> Result<[u8; HANDLE_BYTES], Status> {
        let shared = self.events.shared(event)?.filter(|shared| !shared.is_opened);
        let shared = shared.ok_or(Status::INVALID_HANDLE)?;
        let own = shared.device.registry.own_process().ok_or(Status::UNKNOWN)?;
        let process = to_u64(own.slot) << 32 | u64::from(own.pid);
        let words = [MAGIC, to_u64(shared.ticket.slot), shared.ticket.id, process];
        let mut bytes = [0; HANDLE_BYTES];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let content = words.chain(shared.device.uuid().map_err(failed)?);
        bytes.iter_mut().zip(content).for_each(|(to, from)| *to = from);
        Ok(bytes)
    }

    /// `cuIpcOpenEventHandle`.
    pub fn open_event(&self, bytes: &[u8; HANDLE_BYTES]) -> Result<u64, Status> {
        let context = self.contexts.current()?;
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        let (Some(MAGIC), Some(slot), Some(id), Some(process)) =
            (word(0), word(1), word(2), word(3))
        else {
            return Err(Status::INVALID_VALUE);
        };
        let name = bytes.get(32..48);
        let is_it = |device: &&&Arc<Device>| device.uuid().ok().as_ref().map(|n| &n[..]) == name;
        let device = *self.visible.iter().find(is_it).ok_or(Status::INVALID_HANDLE)?;
        let pid = u32::try_from(process & u64::from(u32::MAX)).unwrap_or_default();
        if device.registry.is_own(Exporter { slot: to_usize(process >> 32), pid }) {
            // As for memory: it is one's own.
            return Err(Status::INVALID_CONTEXT);
        }
        let shared = SharedEvent::open(device, Ticket { slot: to_usize(slot), id })?;
        Ok(self.events.adopt(context, shared))
    }
}
