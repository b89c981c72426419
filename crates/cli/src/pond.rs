//! The way to a pond, and what people write for GPUs.

use millpond::{IntoTarget, Pond, Target, TensorId};
use millpond_wire::message::DeviceInfo;
use millpond_wire::{ErrorKind, Failure, GpuUuid};

use crate::args::Global;
use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::printer::Printer;
use crate::size::Size;

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
        return text.parse().map_err(|_| no_gpu_is_called(text));
    };
    let devices = pond.status()?.devices;
    let found = devices.iter().find(|device| device.index == index);
    found.map(|device| device.device).ok_or_else(|| {
        let count = crate::units::count(devices.len() as u64, "GPU");
        Failure::new(ErrorKind::NoDevice, format!("no GPU {index}; the pond has {count}"))
            .hint("`millpond status` lists the GPUs")
            .into()
    })
}

/// What is neither a GPU's place nor its UUID.
pub fn no_gpu_is_called(text: &str) -> CommandError {
    let message = format!("'{text}' is neither the index nor the UUID of a GPU");
    Failure::new(ErrorKind::Invalid, message).hint("`millpond status` lists the GPUs").into()
}

/// The cards that a budget is about: one, or all.
fn cards(pond: &Pond, device: Option<GpuUuid>) -> Result<Vec<DeviceInfo>, CommandError> {
    let mut cards = pond.status()?.devices;
    cards.retain(|card| device.is_none_or(|device| card.device == device));
    Ok(cards)
}

/// A size in bytes; a part is of the smallest card that it is about.
pub fn bytes_on_cards(
    pond: &Pond,
    size: Size,
    device: Option<GpuUuid>,
) -> Result<u64, CommandError> {
    let cards = cards(pond, device)?;
    Ok(cards.iter().map(|card| size.on_card(card.total_bytes)).min().unwrap_or(size.on_card(0)))
}

/// Says so where a limit is more than there is; then the card's size holds.
pub fn warn_if_larger(
    pond: &Pond,
    limit: Size,
    device: Option<GpuUuid>,
    printer: &Printer,
) -> Result<(), CommandError> {
    for card in cards(pond, device)? {
        if card.total_bytes > 0 && limit.on_card(card.total_bytes) > card.total_bytes {
            let (index, size) = (card.index, crate::units::bytes(card.total_bytes));
            printer.note(format_args!(
                "warning: a limit of {limit} is larger than GPU {index}: its {size} are the limit there"
            ));
        }
    }
    Ok(())
}

/// The fewest digits of an identity that stand for it.
const DIGITS: usize = 4;

/// A tensor as people write it: its name, or its identity or the first digits of that, as listings
/// show them. A name comes first.
pub fn target(pond: &Pond, text: &str) -> Result<Target, CommandError> {
    let target = text.into_target()?;
    let is_prefix = text.len() >= DIGITS
        && text.len() < 36
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_prefix {
        return Ok(target);
    }
    match pond.inspect(&target) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => return Ok(target),
    }
    let text = text.to_ascii_lowercase();
    let mut found: Vec<TensorId> = pond.list("")?.iter().map(|info| info.tensor).collect();
    found.retain(|id| id.to_string().starts_with(&text));
    match found.as_slice() {
        [] => Ok(target),
        [id] => Ok(Target::Id(*id)),
        many => {
            let count = crate::units::count(many.len() as u64, "tensor");
            let message = format!("'{text}' begins the identities of {count}");
            Err(Failure::new(ErrorKind::Invalid, message)
                .hint("millpond tensor ls --no-trunc")
                .into())
        }
    }
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
