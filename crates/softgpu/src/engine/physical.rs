//! Physical memory of this process: what it made, what it imported, and the handles to them.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::{Arc, PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::advice::Advised;
use super::board::{Device, GRANULARITY};
use super::ids;
use super::location::Home;
use super::registry::{CreateError, Exporter, Ticket};
use super::system;

/// The handle type of `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
pub const HANDLE_TYPE_FD: u32 = 1;

/// How this process came to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `cuMemCreate`, with the handle types asked for.
    Created(u32),
    /// `cuMemImportFromShareableHandle`: cannot be exported again.
    Imported,
    /// `cuMemAlloc`: has no handle.
    Linear,
    /// `cuMemAllocManaged`: neither.
    Managed,
    /// Taken by the driver for a pool or for graphs; likewise without a handle.
    Own,
    /// `cuIpcOpenMemHandle` or an imported pool: memory that another process offers.
    Legacy,
}

/// One piece of physical memory, held by this process while the value lives.
#[derive(Debug)]
pub struct Allocation {
    pub device: Arc<Device>,
    pub bytes: u64,
    /// How this process came to it.
    pub origin: Origin,
    pub home: Home,
    /// What the program advised for managed memory.
    pub advised: Advised,
    /// The number by which the program knows it.
    pub handle: u64,
    /// What it takes from the device: nothing for a part of another allocation.
    counted: u64,
    ticket: Ticket,
    file: Option<File>,
    /// The number of linear memory in this process; 0 for what has none.
    object: u64,
    /// The block of small memory that another process made: it is what is counted.
    block: Option<Box<Allocation>>,
}

fn failure(error: CreateError) -> Status {
    match error {
        CreateError::Full => Status::OUT_OF_MEMORY,
        CreateError::System(error) => match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Status::OUT_OF_MEMORY,
            _ => Status::OPERATING_SYSTEM,
        },
    }
}

impl Allocation {
    fn new(device: &Arc<Device>, bytes: u64, origin: Origin, ticket: Ticket, file: File) -> Self {
        device.hold(ticket.id);
        Self {
            device: Arc::clone(device),
            bytes,
            origin,
            home: Home::Device,
            advised: Advised::default(),
            handle: ids::next(),
            counted: 0,
            ticket,
            file: Some(file),
            object: 0,
            block: None,
        }
    }

    /// Makes new memory, which reads as zeroes.
    pub fn create(device: &Arc<Device>, bytes: u64, origin: Origin) -> Result<Self, Status> {
        let (file, ticket) = device.registry.create(bytes).map_err(failure)?;
        device.registry.note_created(bytes, true).map_err(|_| Status::OPERATING_SYSTEM)?;
        let mut made = Self::new(device, bytes, origin, ticket, file);
        made.counted = bytes;
        Ok(made)
    }

    /// Makes memory of the driver's own, as a pool takes it.
    pub fn create_own(device: &Arc<Device>, bytes: u64, home: Home) -> Result<Self, Status> {
        let mut made = match home {
            Home::Device | Home::Managed => Self::create(device, bytes, Origin::Own)?,
            Home::Host => {
                let (file, ticket) = device.registry.create_part(bytes).map_err(failure)?;
                Self::new(device, bytes, Origin::Own, ticket, file)
            }
        };
        made.home = home;
        Ok(made)
    }

    /// Makes managed memory.
    pub fn create_managed(device: &Arc<Device>, bytes: u64) -> Result<Self, Status> {
        let mut made = Self::create(device, bytes, Origin::Managed)?;
        made.home = Home::Managed;
        Ok(made)
    }

    /// Makes linear memory that is a part of a block, which is counted in its place.
    pub fn create_part(device: &Arc<Device>, bytes: u64) -> Result<Self, Status> {
        let (file, ticket) = device.registry.create_part(bytes).map_err(failure)?;
        Ok(Self::new(device, bytes, Origin::Linear, ticket, file))
    }

    /// Makes linear memory of whole pages, of which so many bytes are in use, and gives it the number
    /// by which others find it: also those who know the number from memory that had it before.
    pub fn create_linear(device: &Arc<Device>, bytes: u64, pages: u64) -> Result<Self, Status> {
        let mut made = Self::create(device, pages, Origin::Linear)?;
        made.object = device.take_object();
        let offered = device.registry.offer(made.ticket, made.object, pages.saturating_sub(bytes));
        offered.map_err(|_| Status::OPERATING_SYSTEM)?;
        Ok(made)
    }

    /// Takes part in memory that another process made, or this one.
    pub fn import(devices: &[&'static Arc<Device>], fd: RawFd) -> Result<Self, Status> {
        // The real driver answers 999 for every fd that is not one of its own.
        let file = File::from(system::duplicate(fd).map_err(|_| Status::UNKNOWN)?);
        for device in devices {
            if let Some((ticket, bytes)) =
                device.registry.find(&file).map_err(|_| Status::UNKNOWN)?
            {
                return Ok(Self::new(device, bytes, Origin::Imported, ticket, file));
            }
        }
        Err(Status::UNKNOWN)
    }

    /// Takes part in memory that a living process offers; `INVALID_VALUE` when it does not.
    pub fn adopt(device: &Arc<Device>, ticket: Ticket, exporter: Exporter) -> Result<Self, Status> {
        Self::adopted(device, ticket, device.registry.adopt(ticket, exporter))
    }

    /// Takes part in memory that the file of a pool keeps.
    pub fn adopt_from_pool(
        device: &Arc<Device>,
        ticket: Ticket,
        pool: Ticket,
        home: Home,
    ) -> Result<Self, Status> {
        let found = device.registry.adopt_from_pool(ticket, pool);
        let mut adopted = Self::adopted(device, ticket, found)?;
        adopted.home = home;
        Ok(adopted)
    }

    fn adopted(
        device: &Arc<Device>,
        ticket: Ticket,
        found: std::io::Result<Option<(File, u64)>>,
    ) -> Result<Self, Status> {
        let found = found.map_err(|error| failure(error.into()))?;
        let (file, bytes) = found.ok_or(Status::INVALID_VALUE)?;
        Ok(Self::new(device, bytes, Origin::Legacy, ticket, file))
    }

    /// Holds the block that this is a part of, as long as this.
    pub fn keep_block(&mut self, block: Self) {
        self.block = Some(Box::new(block));
    }

    /// Where it stands in the device's registry.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Its number in this process; 0 for what has none.
    pub fn object(&self) -> u64 {
        self.object
    }

    /// The file that is the memory.
    pub fn file(&self) -> Result<&File, Status> {
        self.file.as_ref().ok_or(Status::UNKNOWN)
    }

    fn export(&self) -> Result<OwnedFd, Status> {
        match self.origin {
            Origin::Created(types) if types & HANDLE_TYPE_FD != 0 => {
                self.file()?.as_fd().try_clone_to_owned().map_err(|_| Status::OPERATING_SYSTEM)
            }
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if matches!(self.origin, Origin::Linear | Origin::Own) {
            // While it is held its slot is its own. A failure leaves an offer of what is gone.
            let _ = self.device.registry.withdraw(self.ticket);
        }
        if self.object != 0 {
            self.device.return_object(self.object);
        }
        self.file = None;
        self.device.let_go(self.ticket.id);
        // What cannot be freed here is freed by the next sweep.
        let _ = self.device.registry.discard(self.ticket);
        if self.counted > 0 {
            let _ = self.device.registry.note_created(self.counted, false);
        }
    }
}

#[derive(Debug)]
struct Handle {
    allocation: Arc<Allocation>,
    references: u64,
}

/// The generic allocation handles of this process.
#[derive(Debug, Default)]
pub struct Handles {
    table: RwLock<HashMap<u64, Handle>>,
}

impl Handles {
    /// Makes memory and a handle to it.
    pub fn create(
        &self,
        device: &Arc<Device>,
        bytes: u64,
        handle_types: u32,
    ) -> Result<u64, Status> {
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return Err(Status::INVALID_VALUE);
        }
        Ok(self.insert(Allocation::create(device, bytes, Origin::Created(handle_types))?))
    }

    /// Makes a handle to the memory behind an fd.
    pub fn import(&self, devices: &[&'static Arc<Device>], fd: RawFd) -> Result<u64, Status> {
        Ok(self.insert(Allocation::import(devices, fd)?))
    }

    fn insert(&self, allocation: Allocation) -> u64 {
        let handle = allocation.handle;
        self.table
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(handle, Handle { allocation: Arc::new(allocation), references: 1 });
        handle
    }

    /// One more reference to mapped memory, also when its handle was released long ago.
    pub fn retain(&self, allocation: &Arc<Allocation>) -> Result<u64, Status> {
        if !matches!(allocation.origin, Origin::Created(_) | Origin::Imported) {
            return Err(Status::INVALID_VALUE);
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table
            .entry(allocation.handle)
            .or_insert_with(|| Handle { allocation: Arc::clone(allocation), references: 0 })
            .references += 1;
        Ok(allocation.handle)
    }

    /// One reference less; the memory goes when nothing else holds it.
    pub fn release(&self, handle: u64) -> Result<(), Status> {
        let last = {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            let entry = table.get_mut(&handle).ok_or(Status::INVALID_VALUE)?;
            entry.references -= 1;
            if entry.references == 0 { table.remove(&handle) } else { None }
        };
        drop(last);
        Ok(())
    }

    /// The memory behind a handle.
    pub fn get(&self, handle: u64) -> Result<Arc<Allocation>, Status> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(&handle).map(|entry| Arc::clone(&entry.allocation)).ok_or(Status::INVALID_VALUE)
    }

    /// An fd that holds the memory, for this process or another.
    pub fn export(&self, handle: u64) -> Result<OwnedFd, Status> {
        self.get(handle)?.export()
    }
}
