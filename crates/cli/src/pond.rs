//! The way to a pond, and what people write for GPUs.

use millpond::Pond;
use millpond_wire::{ErrorKind, Failure, GpuUuid};

use crate::args::Global;
use crate::error::{CommandError, Report};
use crate::exit::Code;

/// What `ps` shows for this program.
const PROGRAM: &str = "millpond";

/// Connects to the pond that the command line or the environment names.
pub fn connect(global: &Global) -> Result<Pond, CommandError> {
    let mut builder = Pond::builder().program(PROGRAM);
    if let Some(folder) = global.runtime_dir() {
        builder = builder.runtime_dir(folder);
    }
    Ok(builder.connect()?)
}

/// A GPU as people write it: its place in the pond's list, or its UUID.
pub fn device(pond: &Pond, text: &str) -> Result<GpuUuid, CommandError> {
    let Ok(index) = text.parse::<u32>() else {
        return text
            .parse()
            .map_err(|_| invalid(format!("'{text}' is neither a GPU's number nor its UUID")));
    };
    let devices = pond.status()?.devices;
    let found = devices.iter().find(|device| device.index == index);
    found.map(|device| device.device).ok_or_else(|| {
        let count = crate::units::count(devices.len() as u64, "GPU");
        Failure::new(ErrorKind::NoDevice, format!("no GPU {index}; the pond has {count}"))
            .hint("millpond status")
            .into()
    })
}

fn invalid(message: String) -> CommandError {
    Failure::new(ErrorKind::Invalid, message).into()
}

impl From<millpond::Error> for CommandError {
    fn from(error: millpond::Error) -> Self {
        if let Some(failure) = error.failure() {
            return failure.clone().into();
        }
        let report = Report::new(Code::Kind(error.kind()), error.to_string());
        match error.hint() {
            Some(hint) => report.hint(hint).into(),
            None => report.into(),
        }
    }
}
