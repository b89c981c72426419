//! What the mover's own context takes of its GPU.

use std::sync::mpsc;

use millpond_cuda::{DeviceUuid, Driver, Nvml, NvmlDevice};

use crate::error::MoverError;
use crate::serve::thread;

/// Reads what this process uses of its GPU. A thread of its own opens NVML while the context is made,
/// and closes it while the mover works already.
pub(crate) struct Meter {
    read: mpsc::Sender<()>,
    bytes: mpsc::Receiver<u64>,
}

impl Meter {
    pub(crate) fn start(driver: &Driver, device: DeviceUuid) -> Result<Meter, MoverError> {
        let ((read, wanted), (says, bytes)) = (mpsc::channel(), mpsc::channel());
        let driver = driver.clone();
        thread("millpond-meter", move || {
            let card = Nvml::open(&driver).ok().and_then(|nvml| nvml.device(device).ok());
            if wanted.recv().is_ok() {
                let _ = says.send(card.as_ref().and_then(NvmlDevice::own_bytes).unwrap_or(0));
            }
        })?;
        Ok(Meter { read, bytes })
    }

    /// 0 if nobody says.
    pub(crate) fn read(self) -> u64 {
        // A thread that is gone has ended the process.
        let _ = self.read.send(());
        self.bytes.recv().unwrap_or(0)
    }
}
