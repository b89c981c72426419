//! Who uses a device: one slot per process, alive while the process holds its byte's lock.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::layout::{Layout, PROCESS_SLOTS};
use super::system::{self, Lock, to_u64, to_usize};

/// What a process holds, for NVML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessReading {
    pub pid: u32,
    /// Bytes that it made and holds, its contexts' included.
    pub bytes: u64,
    /// True when it has a context on the device.
    pub has_context: bool,
}

/// The lock file of the process slots, and the slot of this process.
#[derive(Debug)]
pub struct Processes {
    file: File,
    own: OnceLock<usize>,
}

impl Processes {
    pub fn new(file: File) -> Self {
        Self { file, own: OnceLock::new() }
    }

    fn is_alive(&self, index: usize) -> io::Result<bool> {
        Ok(self.own.get() == Some(&index)
            || system::is_locked_by_others(&self.file, to_u64(index), 1)?)
    }

    /// The slot of this process, once it has entered.
    pub fn own(&self) -> Option<usize> {
        self.own.get().copied()
    }

    /// Whether the process that was in a slot is still there.
    pub fn lives(&self, layout: &Layout, index: usize, pid: u32) -> io::Result<bool> {
        Ok(layout.process(index)?.pid.load(Relaxed) == u64::from(pid) && self.is_alive(index)?)
    }

    /// The slots of living processes.
    fn living(&self, layout: &Layout) -> io::Result<Vec<usize>> {
        let end = to_usize(layout.header()?.processes_end.load(Relaxed)).min(PROCESS_SLOTS);
        let mut living = Vec::new();
        for index in 0..end {
            if layout.process(index)?.pid.load(Relaxed) != 0 && self.is_alive(index)? {
                living.push(index);
            }
        }
        Ok(living)
    }

    /// True when any process uses the device.
    pub fn any_alive(&self, layout: &Layout) -> io::Result<bool> {
        Ok(!self.living(layout)?.is_empty())
    }

    /// Takes a slot for this process, once. Called under the registry's lock.
    pub fn enter(&self, layout: &Layout) -> io::Result<()> {
        if self.own.get().is_some() {
            return Ok(());
        }
        let living = self.living(layout)?;
        let free = (0..PROCESS_SLOTS).find(|index| living.binary_search(index).is_err());
        let index = free.ok_or(io::ErrorKind::QuotaExceeded)?;
        system::lock(&self.file, Lock::Exclusive, to_u64(index), 1, false)?;
        let slot = layout.process(index)?;
        slot.created.store(0, Relaxed);
        slot.context.store(0, Relaxed);
        slot.contexts.store(0, Relaxed);
        slot.pid.store(u64::from(std::process::id()), Relaxed);
        let end = living.last().map_or(0, |last| last + 1).max(index + 1);
        layout.header()?.processes_end.store(to_u64(end), Relaxed);
        let _ = self.own.set(index);
        Ok(())
    }

    /// Counts a context of this process, and what it costs.
    pub fn add_context(&self, layout: &Layout, bytes: u64) -> io::Result<()> {
        if let Some(index) = self.own.get() {
            let slot = layout.process(*index)?;
            slot.context.fetch_add(bytes, Relaxed);
            slot.contexts.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    /// The opposite of [`Processes::add_context`].
    pub fn remove_context(&self, layout: &Layout, bytes: u64) -> io::Result<()> {
        if let Some(index) = self.own.get() {
            let slot = layout.process(*index)?;
            slot.context.fetch_sub(bytes, Relaxed);
            slot.contexts.fetch_sub(1, Relaxed);
        }
        Ok(())
    }

    /// The bytes that living processes' contexts take.
    pub fn context_bytes(&self, layout: &Layout) -> io::Result<u64> {
        let mut sum = 0_u64;
        for index in self.living(layout)? {
            sum = sum.saturating_add(layout.process(index)?.context.load(Relaxed));
        }
        Ok(sum)
    }

    /// Notes that this process holds more or less of what it made.
    pub fn note_created(&self, layout: &Layout, bytes: u64, more: bool) -> io::Result<()> {
        if let Some(index) = self.own.get() {
            let created = &layout.process(*index)?.created;
            if more {
                created.fetch_add(bytes, Relaxed)
            } else {
                created.fetch_sub(bytes, Relaxed)
            };
        }
        Ok(())
    }

    pub fn readings(&self, layout: &Layout) -> io::Result<Vec<ProcessReading>> {
        let mut readings = Vec::new();
        for index in self.living(layout)? {
            let slot = layout.process(index)?;
            readings.push(ProcessReading {
                pid: u32::try_from(slot.pid.load(Relaxed)).unwrap_or(u32::MAX),
                bytes: slot.created.load(Relaxed).saturating_add(slot.context.load(Relaxed)),
                has_context: slot.contexts.load(Relaxed) > 0,
            });
        }
        Ok(readings)
    }
}
