//! Opening a driver.

use super::choice::DriverChoice;
use super::device::Device;
use super::uuid::DeviceUuid;
use crate::error::{CudaError, DriverError};
use crate::result;
use crate::sys::{
    CudaTable, Library, MissingSymbol, Provider, Status, global_symbol, library_containing,
};
use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the CUDA driver is looked for, in this order.
const CUDA_CANDIDATES: [&str; 4] = [
    "libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
];

/// A driver, opened. Cheap to clone; all threads may use it.
#[derive(Clone)]
pub struct Driver {
    inner: Arc<Inner>,
}

struct Inner {
    table: CudaTable,
    version: DriverVersion,
    library: PathBuf,
    source: Source,
    initialised: Mutex<bool>,
}

/// Where the functions come from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Library(&'static Library),
    /// A library that was asked for by path.
    Path(&'static Library),
    Provider(&'static Provider),
}

/// Real hardware, or software in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverKind {
    /// A `libcuda` that was loaded.
    Cuda,
    /// The software driver inside this program.
    Soft,
}

/// The CUDA version that a driver implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion(pub i32);

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

impl Driver {
    /// Opens the chosen driver. Only [`DriverChoice::Auto`] initialises it, because it must know
    /// whether the real one works.
    ///
    /// # Errors
    /// No library, a missing symbol, or (for `Auto` without a software driver) no working device.
    pub fn open(
        choice: DriverChoice,
        soft: Option<&'static Provider>,
    ) -> Result<Self, DriverError> {
        match choice {
            DriverChoice::Cuda => Self::real(),
            DriverChoice::Path(path) => Self::from_library(&[path], true),
            DriverChoice::Soft => Self::from_provider(soft.ok_or(DriverError::NoSoftDriver)?),
            DriverChoice::Auto => Self::working().or_else(|error| match soft {
                Some(provider) => {
                    tracing::debug!(%error, "no real driver, using the software driver");
                    Self::from_provider(provider)
                }
                None => Err(error),
            }),
        }
    }

    /// The machine's own driver, with at least one device.
    pub(super) fn working() -> Result<Self, DriverError> {
        Self::real().and_then(Self::with_a_device)
    }

    fn real() -> Result<Self, DriverError> {
        Self::from_library(&CUDA_CANDIDATES.map(PathBuf::from), false)
    }

    fn with_a_device(self) -> Result<Self, DriverError> {
        self.init()?;
        if result::device::count(self.table())? < 1 {
            return Err(DriverError::NoDevice { library: self.library().to_owned() });
        }
        Ok(self)
    }

    fn from_library(candidates: &[PathBuf], by_path: bool) -> Result<Self, DriverError> {
        // SAFETY: the fixed names are the driver's, and a path is the user's explicit wish.
        let library = unsafe { Library::open(candidates) }
            .map_err(|error| DriverError::library("the CUDA driver", error))?;
        // Never unloaded anyway: kept for symbols that are not in the table.
        let library: &'static Library = Box::leak(Box::new(library));
        let source = if by_path { Source::Path(library) } else { Source::Library(library) };
        // A bare name can be found anywhere; a path stays what the user wrote, so that what lies
        // beside it is found beside it.
        let found = match source {
            Source::Path(_) => None,
            _ => library_containing(library.symbol("cuInit")),
        };
        let path = found.unwrap_or_else(|| library.path().to_owned());
        // What this crate imports is the pond's, and its owner pays: where the preloaded library
        // keeps a limit, its own import says so. Otherwise every importer would be charged in full.
        let shared = [
            ("cuMemImportFromShareableHandle", global_symbol(c"millpond_preload_import")),
            ("cuIpcOpenMemHandle_v2", global_symbol(c"millpond_preload_open")),
            ("cuMemPoolImportPointer", global_symbol(c"millpond_preload_import_pointer")),
        ];
        let lookup = |name: &'static str| {
            let shared = shared.iter().find(|(of, symbol)| *of == name && !symbol.is_null());
            shared.map_or_else(|| library.symbol(name), |(_, symbol)| *symbol)
        };
        // SAFETY: a libcuda exports these symbols with these signatures, and is never unloaded; the
        // preloaded library's import has the signature of the one that it stands for.
        unsafe { Self::from_lookup(lookup, path, source) }
    }

    fn from_provider(provider: &'static Provider) -> Result<Self, DriverError> {
        let source = Source::Provider(provider);
        // SAFETY: a provider promises the signatures of the list, and is part of the program.
        unsafe { Self::from_lookup(provider.cuda_symbol, provider.name.into(), source) }
    }

    /// # Safety
    /// As for [`CudaTable::fill`].
    unsafe fn from_lookup(
        lookup: impl Fn(&'static str) -> *const c_void,
        library: PathBuf,
        source: Source,
    ) -> Result<Self, DriverError> {
        // SAFETY: as for the caller.
        let table = unsafe { CudaTable::fill(&lookup) }.map_err(|MissingSymbol(symbol)| {
            // SAFETY: as for the caller.
            let version = unsafe { version_alone(lookup("cuDriverGetVersion")) };
            let version = version.map(|version| format!("CUDA {version}"));
            DriverError::MissingSymbol { symbol, library: library.clone(), version }
        })?;
        let version = DriverVersion(result::driver::version(&table)?);
        let initialised = Mutex::new(false);
        Ok(Self { inner: Arc::new(Inner { table, version, library, source, initialised }) })
    }

    /// Initialises the driver once; later calls return at once. Takes about 0.1 s on a real
    /// driver, so a server calls it beside its main thread.
    ///
    /// # Errors
    /// No device, no permission, or a driver that does not match its kernel module. A failed
    /// initialisation can be tried again.
    pub fn init(&self) -> Result<(), CudaError> {
        let mut initialised = self.inner.initialised.lock().unwrap_or_else(PoisonError::into_inner);
        if !*initialised {
            result::driver::init(self.table())?;
            *initialised = true;
        }
        Ok(())
    }

    /// Real hardware or software. A library loaded by path counts as real.
    #[must_use]
    pub fn kind(&self) -> DriverKind {
        match self.inner.source {
            Source::Library(_) | Source::Path(_) => DriverKind::Cuda,
            Source::Provider(_) => DriverKind::Soft,
        }
    }

    /// `cuda`, or the name of the provider.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.inner.source {
            Source::Library(_) | Source::Path(_) => "cuda",
            Source::Provider(provider) => provider.name,
        }
    }

    /// The file that was loaded, or the name of the provider.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.inner.library
    }

    /// The CUDA version that the driver implements.
    #[must_use]
    pub fn version(&self) -> DriverVersion {
        self.inner.version
    }

    /// The functions, for the `result` layer.
    #[must_use]
    pub fn table(&self) -> &CudaTable {
        &self.inner.table
    }

    /// The address of any function that the driver exports, also one that is not in the table;
    /// `None` when it has none of that name. This is `dlsym`, not `cuGetProcAddress`.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<NonNull<c_void>> {
        let address = match self.inner.source {
            Source::Library(library) | Source::Path(library) => library.symbol(name),
            Source::Provider(provider) => (provider.cuda_symbol)(name),
        };
        NonNull::new(address.cast_mut())
    }

    pub(crate) fn source(&self) -> Source {
        self.inner.source
    }

    /// All devices, in the driver's order. Initialises the driver.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn devices(&self) -> Result<Vec<Device>, CudaError> {
        self.init()?;
        (0..result::device::count(self.table())?)
            .map(|ordinal| Device::new(self, ordinal))
            .collect()
    }

    /// The device of that name.
    ///
    /// # Errors
    /// `NO_DEVICE` when this process cannot see it.
    pub fn device_by_uuid(&self, uuid: DeviceUuid) -> Result<Device, CudaError> {
        self.devices()?.into_iter().find(|device| device.uuid() == uuid).ok_or_else(|| CudaError {
            call: "Driver::device_by_uuid",
            status: Status::NO_DEVICE,
            detail: Some(uuid.to_string()),
        })
    }

    /// The driver's own name for a code, for example `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a code that the driver does not know.
    pub fn error_name(&self, status: Status) -> Result<String, CudaError> {
        result::driver::error_name(self.table(), status)
    }

    /// The driver's own description of a code.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a code that the driver does not know.
    pub fn error_text(&self, status: Status) -> Result<String, CudaError> {
        result::driver::error_text(self.table(), status)
    }

    /// Asks the driver itself for a symbol, as it was in a CUDA version.
    ///
    /// # Errors
    /// What the driver answers other than "not found".
    pub fn proc_address(
        &self,
        symbol: &CStr,
        version: DriverVersion,
    ) -> Result<Option<NonNull<c_void>>, CudaError> {
        result::driver::proc_address(self.table(), symbol, version.0)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("name", &self.name())
            .field("library", &self.library())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// The version of a driver whose table could not be filled.
///
/// # Safety
/// `address` is null or `cuDriverGetVersion`.
unsafe fn version_alone(address: *const c_void) -> Option<DriverVersion> {
    if address.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller vouches for the signature.
    let function = unsafe {
        std::mem::transmute::<*const c_void, unsafe extern "C" fn(*mut i32) -> Status>(address)
    };
    let mut version = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { function(&raw mut version) }.is_success().then_some(DriverVersion(version))
}
