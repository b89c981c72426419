//! The way to a pond, and what people write for GPUs.

use std::path::Path;

use millpond::{IntoTarget, Pond, Target, TensorId};
pub use millpond_console::connect;
use millpond_wire::message::DeviceInfo;
use millpond_wire::{ErrorKind, Failure, GpuUuid, runtime_dir};

use crate::error::CommandError;
use crate::printer::Printer;
use crate::size::Size;

/// A GPU as people write it: its index in the pond's list, as torch writes that, its UUID, or the
/// beginning of that, as tables show it.
pub fn device(pond: &Pond, text: &str) -> Result<GpuUuid, CommandError> {
    if let Ok(uuid) = text.parse() {
        return Ok(uuid);
    }
    let devices = devices(pond)?;
    let Ok(index) = text.strip_prefix("cuda:").unwrap_or(text).parse::<u32>() else {
        let known: Vec<GpuUuid> = devices.iter().map(|device| device.device).collect();
        return by_first_digits(&known, text);
    };
    let found = devices.iter().find(|device| device.index == index);
    found.map(|device| device.device).ok_or_else(|| {
        let count = crate::units::count(devices.len() as u64, "GPU");
        Failure::new(ErrorKind::NoDevice, format!("no GPU {index}; the pond has {count}"))
            .hint("`millpond status` lists the GPUs")
            .into()
    })
}

fn devices(pond: &Pond) -> Result<Vec<DeviceInfo>, CommandError> {
    Ok(pond.status()?.gpus()?.to_vec())
}

/// The only GPU whose UUID begins so, with `GPU-` or without.
fn by_first_digits(known: &[GpuUuid], text: &str) -> Result<GpuUuid, CommandError> {
    let digits = text.get(..4).filter(|start| start.eq_ignore_ascii_case("GPU-"));
    let digits = text[digits.map_or(0, str::len)..].to_ascii_lowercase();
    let is_one = digits.len() >= DIGITS
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let begins = |uuid: &&GpuUuid| {
        let whole = uuid.to_string().to_ascii_lowercase();
        whole.strip_prefix("gpu-").unwrap_or(&whole).starts_with(&digits)
    };
    let found: Vec<GpuUuid> = known.iter().filter(|_| is_one).filter(begins).copied().collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(no_gpu_is_called(text)),
        many => {
            let message = format!("'{text}' begins the UUIDs of {} GPUs", many.len());
            let failure = Failure::new(ErrorKind::Invalid, message);
            Err(failure.hint("`millpond status --json` shows them whole").into())
        }
    }
}

/// What is neither a GPU's index nor its UUID.
pub fn no_gpu_is_called(text: &str) -> CommandError {
    let message = format!("no GPU '{text}': it is neither an index nor a UUID of this pond");
    Failure::new(ErrorKind::Invalid, message).hint("`millpond status` lists the GPUs").into()
}

/// The cards that a budget is about: one, or all.
fn cards(pond: &Pond, device: Option<GpuUuid>) -> Result<Vec<DeviceInfo>, CommandError> {
    let mut cards = devices(pond)?;
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

/// A command line for the pond in this folder, from wherever it is typed.
pub fn command_for(folder: &Path, command: &str) -> String {
    if runtime_dir::unnamed().into_iter().find(|place| place.join(runtime_dir::SOCKET).exists())
        == Some(folder.to_owned())
    {
        return format!("millpond {command}");
    }
    let folder = folder.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let folder = if folder.chars().all(plain) {
        folder
    } else {
        format!("'{}'", folder.replace('\'', r"'\''"))
    };
    format!("millpond --runtime-dir {folder} {command}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_known_by_the_digits_that_tables_show() {
        let known = [GpuUuid([0xdd; 16]), GpuUuid([0xde; 16])];
        let whole = known[0].to_string();
        let found = |text: &str| by_first_digits(&known, text);
        for text in [&whole[..12], &whole[4..12], "gpu-DDDD", "dddd"] {
            assert_eq!(found(text).unwrap(), known[0], "{text}");
        }
        for text in ["GPU-dd", "ffff", "", "GPU-", "name"] {
            let error = found(text).unwrap_err().to_string();
            assert!(error.contains(&format!("no GPU '{text}'")), "{error}");
        }
        let twins = [known[0], known[0]];
        assert!(by_first_digits(&twins, "dddd").unwrap_err().to_string().contains("2 GPUs"));
    }
}
