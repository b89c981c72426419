//! The most that a device ever held, for tests of limits.
//!
//! A test that samples can miss the instant; the registry cannot, because every byte is taken under
//! its lock.

use std::io;
use std::path::Path;

use crate::engine::registry::Registry;

#[derive(Debug)]
pub struct Meter(Registry);

impl Meter {
    /// The meter of a device in a folder that some process uses, reset.
    ///
    /// # Errors
    /// No such device, or nobody uses it.
    pub fn open(folder: &Path, device: usize) -> io::Result<Self> {
        let path = folder.join(format!("device-{device}"));
        if !path.is_dir() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let registry = Registry::open(&path, |_| Err(io::ErrorKind::NotConnected.into()), [0, 0])?;
        registry.meter()?;
        Ok(Self(registry))
    }

    /// Counts anew from now on.
    ///
    /// # Errors
    /// The device's files are gone.
    pub fn reset(&self) -> io::Result<()> {
        self.0.meter()
    }

    /// The most bytes that were held at any instant since the last reset.
    ///
    /// # Errors
    /// The device's files are gone.
    pub fn peak(&self) -> io::Result<u64> {
        self.0.peak()
    }

    /// Bytes that are held now.
    ///
    /// # Errors
    /// The device's files are gone.
    pub fn used(&self) -> io::Result<u64> {
        Ok(self.0.usage(&[])?.used)
    }

    /// Bytes that each process made and holds, its contexts included, by process id.
    ///
    /// # Errors
    /// The device's files are gone.
    pub fn processes(&self) -> io::Result<Vec<(u32, u64)>> {
        let readings = self.0.with_processes(|processes, layout| processes.readings(layout))?;
        Ok(readings.iter().map(|reading| (reading.pid, reading.bytes)).collect())
    }
}
