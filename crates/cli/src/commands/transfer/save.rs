//! `millpond tensor get`.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond::{GetOptions, Lease, Sink, npy};
use millpond_view as view;
use millpond_wire::ErrorKind;
use millpond_wire::message::TensorInfo;

use crate::args::{Format, GetArgs, Global};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::output::Output;
use crate::pond;
use crate::printer::Printer;
use crate::progress::Bar;

pub fn get(args: &GetArgs, global: &Global, printer: &Printer) -> Outcome {
    let to_stdout = is_stdout(&args.output);
    if to_stdout && io::stdout().is_terminal() {
        let message = "refusing to write binary data to a terminal";
        return Err(Report::new(Code::Usage, message)
            .hint("write to a file with `-o FILE`, or to a pipe")
            .into());
    }
    let pond = pond::connect(global)?;
    let wait = args.wait.map_or(Duration::ZERO, |span| span.0);
    // Who waits does so for a name.
    let target = if wait.is_zero() { Some(pond::target(&pond, &args.name)?) } else { None };
    let options = GetOptions::read_only().wait(wait);
    let lease = match target {
        Some(target) => pond.lease(target, options),
        None => pond.lease(args.name.as_str(), options),
    };
    let lease = lease.map_err(|error| {
        let hint = "`--wait 5s` waits for its publish; `millpond ps` shows who writes";
        CommandError::from(error).hint_for(ErrorKind::NotReady, hint)
    })?;
    let header = header(args, lease.info())?;
    let begun = Instant::now();
    let bar = Bar::new(printer, args.name.as_str());
    if to_stdout {
        let file = io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let file = file.map_err(|error| not_written("standard output", &error))?;
        save(&lease, &file, "standard output", &header, bar)?;
        printer.note(super::speed(lease.info(), begun.elapsed()));
        return Ok(());
    }
    let output = Output::create(&args.output, args.force)?;
    let label = format!("'{}'", args.output.display());
    save(&lease, output.file(), &label, &header, bar)?;
    output.finish()?;
    say(lease.info(), &args.output, header.len(), begun.elapsed(), printer)
}

/// Whether this is another name of standard output, where nothing but the bytes may go.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// What stands before the bytes.
fn header(args: &GetArgs, info: &TensorInfo) -> Result<Vec<u8>, CommandError> {
    let ending = args.output.extension();
    let other = ending.is_some_and(|ending| !ending.eq_ignore_ascii_case("npy"));
    let format = args.format.unwrap_or(if other { Format::Raw } else { Format::Npy });
    match format {
        Format::Raw => Ok(Vec::new()),
        Format::Npy => npy::write_header(info.dtype, &info.shape).map_err(|error| {
            let report = Report::new(Code::Kind(ErrorKind::Invalid), error.to_string());
            report.hint("`--format raw` writes just the bytes").into()
        }),
    }
}

fn save(lease: &Lease, mut file: &File, label: &str, header: &[u8], mut bar: Bar) -> Outcome {
    file.write_all(header).map_err(|error| not_written(label, &error))?;
    let file = file.try_clone().map_err(|error| not_written(label, &error))?;
    let sink = Sink::file(file, label)?;
    match lease.save_to(sink, |progress| bar.at(progress)) {
        Ok(_) => Ok(()),
        // Whoever read has enough.
        Err(millpond::Error::File { reason: Some(io::ErrorKind::BrokenPipe), .. }) => {
            Err(CommandError::Closed)
        }
        Err(error) => Err(error.into()),
    }
}

fn say(
    info: &TensorInfo,
    path: &Path,
    header: usize,
    elapsed: Duration,
    printer: &Printer,
) -> Outcome {
    if printer.is_json() {
        let file_bytes = Some(info.bytes + header as u64);
        return printer.json(&view::Transferred::new(info, file_bytes, elapsed));
    }
    printer.line(path.display())?;
    printer.note(super::speed(info, elapsed));
    Ok(())
}

fn not_written(label: &str, error: &io::Error) -> CommandError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return CommandError::Closed;
    }
    let message = format!("writing {label}: {error}");
    Report::new(Code::Kind(ErrorKind::File), message).into()
}
