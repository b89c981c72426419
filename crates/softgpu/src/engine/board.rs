//! The devices of one folder, opened by `cuInit` or `nvmlInit`, whichever comes first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::registry::{Registry, Usage};
use super::system::{self, to_u64};
use crate::config::{Config, ConfigError, configuration};
use crate::profiles::Profile;

/// Sizes of physical memory are multiples of this.
pub const GRANULARITY: u64 = 2 << 20;

/// Why the driver could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The environment was refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The folder cannot be used.
    #[error("cannot use the folder '{folder}' (MILLPOND_SOFT_DIR): {source}")]
    Folder {
        folder: String,
        #[source]
        source: io::Error,
    },
}

/// One device as this process sees it.
#[derive(Debug)]
pub struct Device {
    pub index: usize,
    /// What it claims to be.
    pub profile: &'static Profile,
    pub registry: Registry,
    held: Mutex<BTreeMap<u64, usize>>,
    /// The numbers that linear memory of this process has: legacy handles are made of them.
    objects: Mutex<BTreeSet<u64>>,
}

impl Device {
    /// Notes that this process holds an allocation: nobody needs to ask whether it lives.
    pub fn hold(&self, id: u64) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(0) += 1;
    }

    /// The opposite of [`Device::hold`].
    pub fn let_go(&self, id: u64) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                held.remove(&id);
            }
        }
    }

    /// The lowest number that no linear memory of this process has. As on the card, the number of
    /// memory that was freed is given to the next.
    pub fn take_object(&self) -> u64 {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (1..).find(|number| !objects.contains(number)).unwrap_or_default();
        objects.insert(free);
        free
    }

    /// The opposite of [`Device::take_object`].
    pub fn return_object(&self, number: u64) {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// Bytes in use now.
    pub fn usage(&self) -> io::Result<Usage> {
        // Held allocations stay alive while the list is used only if nobody lets go meanwhile; then
        // one reading counts them once more, and the next does not.
        let held: Vec<u64> =
            self.held.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect();
        self.registry.usage(&held)
    }

    /// The device's name for ever, in the order in which it is printed.
    pub fn uuid(&self) -> io::Result<[u8; 16]> {
        let [high, low] = self.registry.uuid()?;
        Ok(((u128::from(high) << 64) | u128::from(low)).to_be_bytes())
    }

    /// The uuid as NVML prints it.
    pub fn uuid_text(&self) -> io::Result<String> {
        let hex: String = self.uuid()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
        Ok(format!(
            "GPU-{}-{}-{}-{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32)
        ))
    }
}

/// All devices, and the settings under which this process opened them.
#[derive(Debug)]
pub struct Board {
    pub config: Config,
    /// The devices by ordinal.
    pub devices: Vec<Arc<Device>>,
    pid: u32,
}

static BOARD: Mutex<Option<&'static Board>> = Mutex::new(None);

/// The board of this process, opened on first use. A forked child opens its own.
pub fn board() -> Result<&'static Board, StartError> {
    let mut board = BOARD.lock().unwrap_or_else(PoisonError::into_inner);
    match *board {
        Some(open) if open.pid == std::process::id() => Ok(open),
        _ => {
            let opened: &'static Board = Box::leak(Box::new(Board::open(configuration()?)?));
            if opened.config.faults.is_set() {
                crate::faults::install(Arc::clone(&opened.config.faults));
            }
            *board = Some(opened);
            Ok(opened)
        }
    }
}

impl Board {
    fn open(config: Config) -> Result<Self, StartError> {
        let failed =
            |source| StartError::Folder { folder: config.folder.display().to_string(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&config.folder).map_err(failed)?;
        let folder = File::open(&config.folder).map_err(failed)?;
        if config.folder_is_default && folder.metadata().map_err(failed)?.uid() != system::user_id()
        {
            return Err(failed(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it belongs to another user",
            )));
        }
        let canonical = config.folder.canonicalize().map_err(failed)?;
        let devices = (0..config.devices)
            .map(|index| open_device(&config, &canonical, index).map(Arc::new))
            .collect::<io::Result<Vec<_>>>()
            .map_err(failed)?;
        Ok(Self { config, devices, pid: std::process::id() })
    }
}

fn open_device(config: &Config, folder: &Path, index: usize) -> io::Result<Device> {
    let total = |opened: &File| {
        let bytes = match config.memory_bytes {
            Some(bytes) => bytes,
            None => {
                system::file_system_free(opened)?.min(system::memory_available()?)
                    / 2
                    / to_u64(config.devices)
            }
        };
        Ok((bytes.min(config.profile.total_bytes) / GRANULARITY).max(1) * GRANULARITY)
    };
    let path = folder.join(format!("device-{index}"));
    let registry = Registry::open(&path, total, derive_uuid(folder, index))?;
    Ok(Device {
        index,
        profile: config.profile,
        registry,
        held: Mutex::default(),
        objects: Mutex::default(),
    })
}

/// A name from the folder and the ordinal: the same for every process, another in every folder.
fn derive_uuid(folder: &Path, index: usize) -> [u64; 2] {
    // FNV-1a with 128 bits; the version nibble says "custom", the variant is the usual one. The
    // ordinal comes first: the last bytes hardly reach the digits that people read.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let head = [b'/', u8::try_from(index).unwrap_or(u8::MAX)];
    for byte in head.iter().chain(folder.as_os_str().as_encoded_bytes()) {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    let hash = (hash & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let bytes = hash.to_be_bytes();
    let half = |from: usize| {
        bytes.iter().skip(from).take(8).fold(0, |sum: u64, byte| (sum << 8) | u64::from(*byte))
    };
    [half(0), half(8)]
}

/// A device of its own in a folder, for the engine's tests.
#[cfg(test)]
pub fn test_device(folder: &Path, bytes: u64) -> Device {
    let registry = Registry::open(folder, |_| Ok(bytes), [1, 2]).unwrap();
    let profile = crate::profiles::PROFILES[0];
    Device { index: 0, profile, registry, held: Mutex::default(), objects: Mutex::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_differ_by_folder_and_ordinal() {
        let uuid = derive_uuid(Path::new("/a"), 0);
        assert_eq!(uuid, derive_uuid(Path::new("/a"), 0));
        assert_ne!(uuid[0] >> 32, derive_uuid(Path::new("/a"), 1)[0] >> 32);
        assert_ne!(uuid, derive_uuid(Path::new("/b"), 0));
        assert_eq!((uuid[0] >> 12) & 0xf, 8);
        assert_eq!(uuid[1] >> 62, 2);
    }
}
