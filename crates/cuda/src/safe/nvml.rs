//! NVML: what the card says about itself, over all processes.

use super::choice::DriverChoice;
use super::driver::{Driver, Source};
use super::uuid::DeviceUuid;
use crate::error::{DriverError, NvmlError};
use crate::result::nvml;
use crate::sys::{self, Library, MissingSymbol, NvmlStatus, NvmlTable, library_containing};
use std::ffi::{CString, c_void};
use std::fmt;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

/// Where NVML is looked for, in this order.
const NVML_CANDIDATES: [&str; 4] = [
    "libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
];

/// NVML, opened and initialised. Cheap to clone. Optional for every caller: a machine may have
/// CUDA without it.
#[derive(Clone)]
pub struct Nvml {
    inner: Arc<Inner>,
}

struct Inner {
    table: NvmlTable,
    library: PathBuf,
    lookup: Lookup,
}

/// Where symbols beyond the table come from.
#[derive(Clone, Copy)]
enum Lookup {
    Library(&'static Library),
    Provider(&'static sys::Provider),
}

impl Lookup {
    fn symbol(self, name: &str) -> *const c_void {
        match self {
            Self::Library(library) => library.symbol(name),
            Self::Provider(provider) => (provider.nvml_symbol)(name),
        }
    }
}

/// One GPU as NVML sees it.
#[derive(Clone)]
pub struct NvmlDevice {
    nvml: Nvml,
    raw: sys::NvmlDevice,
}

// SAFETY: an NVML device is a handle that any thread may use; the library locks inside.
unsafe impl Send for NvmlDevice {}
// SAFETY: as above.
unsafe impl Sync for NvmlDevice {}

/// Physical memory of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmlMemoryInfo {
    /// Bytes on the card.
    pub total_bytes: u64,
    /// Bytes that nobody uses.
    pub free_bytes: u64,
    /// Bytes in use, the driver's own included.
    pub used_bytes: u64,
}

/// How busy a card is, in percent of its last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmlBusy {
    /// Of the time a kernel ran.
    pub kernels_percent: u32,
    /// Of the time memory was read or written.
    pub memory_percent: u32,
}

/// A process that computes on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmlProcess {
    /// Process id in the pid namespace of the driver, which need not be ours.
    pub pid: u32,
    /// Memory it uses, when the driver says.
    pub used_bytes: Option<u64>,
}

impl Nvml {
    /// Opens the NVML that belongs to a driver and initialises it: the same provider, the
    /// library beside a driver loaded by path, or the system's.
    ///
    /// # Errors
    /// No library, a missing symbol, or a failed initialisation.
    pub fn open(driver: &Driver) -> Result<Self, DriverError> {
        match driver.source() {
            Source::Provider(provider) => {
                // SAFETY: a provider promises the signatures of the list.
                unsafe { Self::from_lookup(Lookup::Provider(provider), provider.name.into()) }
            }
            Source::Path(_) => {
                let beside = driver.library().with_file_name("libnvidia-ml.so.1");
                Self::from_library(std::iter::once(beside))
            }
            Source::Library(_) => Self::from_library(std::iter::empty()),
        }
    }

    /// Opens the NVML of the driver that would be opened for this choice, without that driver: readings
    /// need neither `cuInit` nor a libcuda.
    ///
    /// # Errors
    /// As for [`Nvml::open`].
    pub fn of_choice(
        choice: &DriverChoice,
        soft: Option<&'static sys::Provider>,
    ) -> Result<Self, DriverError> {
        let provided = || {
            let provider = soft.ok_or(DriverError::NoSoftDriver)?;
            // SAFETY: a provider promises the signatures of the list.
            unsafe { Self::from_lookup(Lookup::Provider(provider), provider.name.into()) }
        };
        match choice {
            DriverChoice::Soft => provided(),
            DriverChoice::Path(path) => {
                let beside = path.with_file_name("libnvidia-ml.so.1");
                Self::from_library(std::iter::once(beside))
            }
            DriverChoice::Cuda => Self::from_library(std::iter::empty()),
            DriverChoice::Auto => Self::from_library(std::iter::empty())
                .or_else(|error| if soft.is_some() { provided() } else { Err(error) }),
        }
    }

    fn from_library(first: impl Iterator<Item = PathBuf>) -> Result<Self, DriverError> {
        let candidates: Vec<_> = first.chain(NVML_CANDIDATES.map(PathBuf::from)).collect();
        // SAFETY: these are NVML's names, or a neighbour of the driver that the user chose.
        let library = unsafe { Library::open(&candidates) }
            .map_err(|error| DriverError::library("NVML", error))?;
        // Never unloaded anyway: kept for symbols that are not in the table.
        let library: &'static Library = Box::leak(Box::new(library));
        let found = library_containing(library.symbol("nvmlInit_v2"));
        let path = found.unwrap_or_else(|| library.path().to_owned());
        // SAFETY: NVML exports these symbols with these signatures, and is never unloaded.
        unsafe { Self::from_lookup(Lookup::Library(library), path) }
    }

    /// # Safety
    /// As for [`NvmlTable::fill`].
    unsafe fn from_lookup(lookup: Lookup, library: PathBuf) -> Result<Self, DriverError> {
        // SAFETY: as for the caller.
        let table = unsafe { NvmlTable::fill(|name| lookup.symbol(name)) }.map_err(
            |MissingSymbol(symbol)| DriverError::MissingSymbol {
                symbol,
                library: library.clone(),
                version: None,
            },
        )?;
        nvml::init(&table)?;
        Ok(Self { inner: Arc::new(Inner { table, library, lookup }) })
    }

    /// The functions, for the `result` layer.
    #[must_use]
    pub fn table(&self) -> &NvmlTable {
        &self.inner.table
    }

    /// The address of any function that NVML exports, also one that is not in the table.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<NonNull<c_void>> {
        NonNull::new(self.inner.lookup.symbol(name).cast_mut())
    }

    /// The file that was loaded, or the name of the provider.
    #[must_use]
    pub fn library(&self) -> &std::path::Path {
        &self.inner.library
    }

    /// The version of the kernel driver, for example `580.159.04`.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn driver_version(&self) -> Result<String, NvmlError> {
        nvml::driver_version(self.table())
    }

    /// Count of cards, those hidden by `CUDA_VISIBLE_DEVICES` included.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn device_count(&self) -> Result<u32, NvmlError> {
        nvml::count(self.table())
    }

    /// The card of that name.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub fn device(&self, uuid: DeviceUuid) -> Result<NvmlDevice, NvmlError> {
        let text = CString::new(uuid.to_string()).map_err(|_| NvmlError {
            call: "Nvml::device",
            status: NvmlStatus::INVALID_ARGUMENT,
        })?;
        let raw = nvml::device_by_uuid(self.table(), &text)?;
        Ok(NvmlDevice { nvml: self.clone(), raw })
    }
}

impl NvmlDevice {
    /// Physical memory, over all processes.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn memory(&self) -> Result<NvmlMemoryInfo, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        let memory = unsafe { nvml::memory(self.nvml.table(), self.raw) }?;
        Ok(NvmlMemoryInfo {
            total_bytes: memory.total,
            free_bytes: memory.free,
            used_bytes: memory.used,
        })
    }

    /// Processes with a context on the card.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn processes(&self) -> Result<Vec<NvmlProcess>, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        let infos = unsafe { nvml::processes(self.nvml.table(), self.raw) }?;
        let process = |info: sys::NvmlProcessInfo| NvmlProcess {
            pid: info.pid,
            used_bytes: (info.used_gpu_memory != u64::MAX).then_some(info.used_gpu_memory),
        };
        Ok(infos.into_iter().map(process).collect())
    }

    /// What this process uses of the card, memory that it has imported included. Nothing where the driver
    /// does not say, and in another pid namespace than the driver's, where it does not find itself.
    #[must_use]
    pub fn own_bytes(&self) -> Option<u64> {
        let processes = self.processes().ok()?;
        let own = processes.iter().find(|process| process.pid == std::process::id());
        own.and_then(|process| process.used_bytes)
    }

    /// How busy the card is.
    ///
    /// # Errors
    /// What NVML answers; `NOT_SUPPORTED` under MIG.
    pub fn busy(&self) -> Result<NvmlBusy, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        let rates = unsafe { nvml::utilization(self.nvml.table(), self.raw) }?;
        Ok(NvmlBusy { kernels_percent: rates.gpu, memory_percent: rates.memory })
    }

    /// Temperature of the GPU in degrees Celsius.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn temperature_celsius(&self) -> Result<u32, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::temperature(self.nvml.table(), self.raw) }
    }

    /// Power that the card takes.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn power_milliwatts(&self) -> Result<u32, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::power(self.nvml.table(), self.raw) }
    }

    /// Power that the card may take.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn power_limit_milliwatts(&self) -> Result<u32, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::power_limit(self.nvml.table(), self.raw) }
    }

    /// Speed of the fan, in percent of what it is made for.
    ///
    /// # Errors
    /// What NVML answers; `NOT_SUPPORTED` for a card without a fan.
    pub fn fan_percent(&self) -> Result<u32, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::fan(self.nvml.table(), self.raw) }
    }

    /// The product's name.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn name(&self) -> Result<String, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::name(self.nvml.table(), self.raw) }
    }

    /// The name that all processes agree on, as text.
    ///
    /// # Errors
    /// What NVML answers.
    pub fn uuid(&self) -> Result<String, NvmlError> {
        // SAFETY: the handle came from this NVML, which we keep initialised.
        unsafe { nvml::uuid(self.nvml.table(), self.raw) }
    }
}

impl fmt::Debug for Nvml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nvml").field("library", &self.inner.library).finish_non_exhaustive()
    }
}

impl fmt::Debug for NvmlDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NvmlDevice").field("raw", &self.raw).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: gives back our one initialisation; every device held a clone of this.
        if let Err(error) = unsafe { nvml::shutdown(&self.table) } {
            tracing::debug!(%error, "NVML was not shut down");
        }
    }
}
