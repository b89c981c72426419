//! Which driver is under test, and what that means for sizes and readings.

use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond_cuda::{Driver, DriverChoice, DriverError};

/// Real hardware, or software in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cuda,
    Soft,
}

/// The choice of the environment; the software driver unless something is said, so that
/// `cargo test` never takes a card that somebody works with.
#[must_use]
pub fn choice() -> DriverChoice {
    match std::env::var_os(DriverChoice::VARIABLE) {
        Some(text) if !text.is_empty() => DriverChoice::from(text),
        _ => DriverChoice::Soft,
    }
}

/// The driver under test.
#[must_use]
pub fn driver() -> Kind {
    if choice() == DriverChoice::Soft { Kind::Soft } else { Kind::Cuda }
}

/// Whether the software driver is under test.
#[must_use]
pub fn is_soft() -> bool {
    driver() == Kind::Soft
}

/// Opens it in this process; only workers do.
///
/// # Errors
/// No driver.
pub fn open() -> Result<Driver, DriverError> {
    Driver::open(choice(), Some(&millpond_softgpu::PROVIDER))
}

/// Bytes that two readings of the card may differ by although nothing of the pond's has changed.
///
/// None on the software driver: its devices belong to one test. On a card, contexts of processes
/// that just ended go a little later, and the driver keeps some megabytes for every process that
/// called `cuInit` (4 MiB measured); a daemon that is started again is such a process.
#[must_use]
pub fn tolerance() -> u64 {
    if is_soft() { 0 } else { 96 << 20 }
}

/// Bytes of a tensor that no tolerance can hide.
#[must_use]
pub fn plenty() -> u64 {
    if is_soft() { 36 << 20 } else { 512 << 20 }
}

/// One pond per GPU: on a card the ponds of this executable wait for each other.
pub(crate) fn alone(choice: &DriverChoice) -> Option<MutexGuard<'static, ()>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let is_card = *choice != DriverChoice::Soft;
    is_card.then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner))
}
