//! What `--json` prints. Names here are stable: fields may be added, none is renamed or removed.
//!
//! Bytes, counts and moments (`_unix_ms`) are integers, GPUs and objects are named by UUID, and
//! what does not exist is `null`. Durations carry their unit in the name.

mod client;
mod coverage;
mod demo;
mod doctor;
mod event;
mod group;
mod model;
mod objects;
mod status;
mod stop;
mod tensor;
mod transfer;
mod upgrade;

use serde::Serialize;

pub use client::{ClientJson, ClientsJson, LeaseJson, ProcessJson};
pub use coverage::{CoverageJson, ExportJson};
pub use demo::{ClaimJson, DemoJson};
pub use doctor::{CheckJson, DoctorJson};
pub use event::EventJson;
pub use group::{AccountJson, GroupDetailsJson, GroupJson, GroupsJson, used_bytes};
pub use model::{
    LoadedJson, ModelVersionJson, ModelsJson, RetiredJson, SavedJson, SlabJson, SwapJson,
    VerifiedJson, VersionDetailsJson, WeightJson,
};
pub use objects::{ObjectsJson, RemovedJson, RenamedJson};
pub use status::StatusJson;
pub use stop::StopJson;
pub use tensor::{CreatedJson, DetailsJson, TensorJson, TensorsJson};
pub use transfer::{CollectedJson, TransferJson};
pub use upgrade::UpgradeJson;

/// `version`.
#[derive(Debug, Serialize)]
pub struct VersionJson {
    /// The program's version.
    pub version: &'static str,
    /// The version of the protocol that it speaks.
    pub protocol: u16,
}
