//! What the cards say, asked by a thread of its own: a card that hangs keeps nobody else waiting.

use std::sync::mpsc::{Receiver, Sender};

use millpond_cuda::{Nvml, NvmlDevice};
use millpond_wire::GpuUuid;

use super::Ask;

/// Cards that can be read.
pub trait Cards: Send {
    /// Which, and how large they are.
    fn list(&self) -> Vec<(GpuUuid, u64)>;
    fn used(&self, device: GpuUuid) -> Option<u64>;
    /// Bytes in use by each process that the card knows.
    fn processes(&self, device: GpuUuid) -> Option<Vec<(u32, u64)>>;
}

/// One card at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardReading {
    pub device: GpuUuid,
    pub used_bytes: Option<u64>,
    /// By process, if that was asked.
    pub processes: Option<Vec<(u32, u64)>>,
}

/// Cards as NVML shows them.
pub struct NvmlCards {
    cards: Vec<(GpuUuid, u64, Option<NvmlDevice>)>,
}

impl NvmlCards {
    /// These cards; without NVML only their sizes are known.
    #[must_use]
    pub fn new(nvml: Option<&Nvml>, cards: impl IntoIterator<Item = (GpuUuid, u64)>) -> Self {
        let card = |(uuid, total): (GpuUuid, u64)| {
            let device = nvml.and_then(|nvml| nvml.device(millpond_cuda::DeviceUuid(uuid.0)).ok());
            (uuid, total, device)
        };
        Self { cards: cards.into_iter().map(card).collect() }
    }

    fn device(&self, uuid: GpuUuid) -> Option<&NvmlDevice> {
        self.cards.iter().find(|(known, ..)| *known == uuid)?.2.as_ref()
    }
}

impl Cards for NvmlCards {
    fn list(&self) -> Vec<(GpuUuid, u64)> {
        self.cards.iter().map(|(uuid, total, _)| (*uuid, *total)).collect()
    }

    fn used(&self, device: GpuUuid) -> Option<u64> {
        Some(self.device(device)?.memory().ok()?.used_bytes)
    }

    fn processes(&self, device: GpuUuid) -> Option<Vec<(u32, u64)>> {
        let processes = self.device(device)?.processes().ok()?;
        Some(processes.into_iter().filter_map(|it| Some((it.pid, it.used_bytes?))).collect())
    }
}

impl std::fmt::Debug for NvmlCards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NvmlCards").field("cards", &self.cards.len()).finish()
    }
}

/// Reads whenever it is asked, with processes or without, and tells the book.
pub(super) fn serve(cards: &dyn Cards, asked: &Receiver<bool>, book: &Sender<Ask>) {
    for with_processes in asked {
        let read = |(device, _): (GpuUuid, u64)| CardReading {
            device,
            used_bytes: cards.used(device),
            processes: with_processes.then(|| cards.processes(device)).flatten(),
        };
        let readings = cards.list().into_iter().map(read).collect();
        if book.send(Ask::Read { readings, with_processes }).is_err() {
            return;
        }
    }
}
