//! `millpond tensor put`, `get`, `copy` and `zero`: bytes into tensors and out of them.

mod input;
mod save;

use std::time::{Duration, Instant};

use millpond::{GetOptions, Pond, PutSpec, Source};
use millpond_view as view;
use millpond_wire::ErrorKind;
use millpond_wire::message::TensorInfo;

use crate::args::{CopyArgs, Global, PutArgs, ZeroArgs};
use crate::commands::tensor::shown_name;
use crate::error::{CommandError, Outcome};
use crate::pond;
use crate::printer::Printer;
use crate::progress::Bar;
use crate::units;

pub use save::get;

/// Puts a file into the pond.
pub fn put(args: &PutArgs, global: &Global, printer: &Printer) -> Outcome {
    let (source, dtype, shape) = input::open(args)?;
    let pond = pond::connect(global)?;
    let spec = PutSpec::new(args.name.as_str(), dtype, shape.dims())
        .share(args.place.share.into())
        .life(args.life.life())
        .replace(args.replace);
    let spec = on_device(spec, &pond, args.place.device.as_deref())?;
    put_from(&pond, spec, source, args.name.as_str(), printer)
}

pub fn copy(args: &CopyArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    let from = pond.lease(pond::target(&pond, &args.from)?, GetOptions::read_only());
    let from = from.map_err(|error| {
        let hint = "copy it when it is published; `millpond ps` shows who writes it";
        CommandError::from(error).hint_for(ErrorKind::NotReady, hint)
    })?;
    let info = from.info();
    let spec = PutSpec::new(args.to.as_str(), info.dtype, info.shape.dims())
        .device(info.device)
        .share(args.place.share.into())
        .life(args.life.life())
        .replace(args.replace);
    let spec = on_device(spec, &pond, args.place.device.as_deref())?;
    put_from(&pond, spec, Source::tensor(from), args.to.as_str(), printer)
}

/// Fills a tensor with zeroes.
pub fn zero(args: &ZeroArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    let tensor = pond.inspect(pond::target(&pond, &args.name)?)?.info.tensor;
    let mut bar = Bar::new(printer, args.name.as_str());
    let moved = pond.upload(tensor, Source::zeroes(), |progress| bar.at(progress))?;
    drop(bar);
    pond.publish(tensor)?;
    say(&pond.inspect(tensor)?.info, moved.elapsed, printer)
}

fn on_device(spec: PutSpec, pond: &Pond, device: Option<&str>) -> Result<PutSpec, CommandError> {
    Ok(match device {
        Some(device) => spec.device(pond::device(pond, device)?),
        None => spec,
    })
}

fn put_from(
    pond: &Pond,
    spec: PutSpec,
    source: Source<'_>,
    name: &str,
    printer: &Printer,
) -> Outcome {
    let begun = Instant::now();
    let mut bar = Bar::new(printer, name);
    let put = pond.put(spec, source, |progress| bar.at(progress));
    let info = put.map_err(|error| {
        let hint = format!("`--replace` replaces it, `millpond tensor rm {name}` deletes it");
        CommandError::from(error).hint_for(ErrorKind::Exists, hint)
    })?;
    drop(bar);
    say(&info, begun.elapsed(), printer)
}

fn say(info: &TensorInfo, elapsed: Duration, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::Transferred::new(info, None, elapsed));
    }
    printer.line(shown_name(info))?;
    printer.note(speed(info, elapsed));
    Ok(())
}

/// How much, where, and how fast.
fn speed(info: &TensorInfo, elapsed: Duration) -> String {
    let rate = units::rate(info.bytes, elapsed);
    let (size, time) = (units::bytes(info.bytes), units::time(elapsed));
    format!("{} {} ({size}) in {time} ({rate})", info.dtype, info.shape)
}
