//! This thread's attitude to stream captures elsewhere in the process.

use super::driver::Driver;
use super::report_drop;
use crate::error::CudaError;
use crate::result;
use crate::sys::constants;
use std::marker::PhantomData;

impl Driver {
    /// Lets this thread make memory calls although another one captures a stream, until the
    /// guard is dropped.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn relax_capture(&self) -> Result<CaptureModeGuard<'_>, CudaError> {
        let old = result::driver::exchange_capture_mode(self.table(), constants::CAPTURE_RELAXED)?;
        Ok(CaptureModeGuard { driver: self, old, not_send: PhantomData })
    }
}

/// Restores this thread's capture mode when dropped.
#[derive(Debug)]
pub struct CaptureModeGuard<'a> {
    driver: &'a Driver,
    old: u32,
    not_send: PhantomData<*mut ()>,
}

impl CaptureModeGuard<'_> {
    /// The mode that will be restored.
    #[must_use]
    pub fn previous(&self) -> u32 {
        self.old
    }
}

impl Drop for CaptureModeGuard<'_> {
    fn drop(&mut self) {
        report_drop(result::driver::exchange_capture_mode(self.driver.table(), self.old).map(drop));
    }
}
