//! `millpond tensor handle`.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use millpond::{Error, Pond, Target, TensorHandle};
use millpond_view as view;
use millpond_wire::Failure;
use rustix::event::{PollFd, PollFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::tensor::shown_name;
use crate::args::{Global, HandleArgs};
use crate::error::{CommandError, Outcome, failed};
use crate::pond;
use crate::printer::{Printer, Tone};

/// How long the end waits for the pond to know that the lease has ended.
const GOODBYE: Duration = Duration::from_secs(5);

/// Prints the handle, and holds the tensor if that is wanted.
pub fn run(args: &HandleArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    let target = pond::target(&pond, &args.name)?;
    // Before anything is printed: who reads the handle may send the signal at once.
    let signals = args.hold.then(signals).transpose();
    let signals = signals.map_err(|error| failed("waiting for signals", error))?;
    let handle = taken(&pond, target)?;
    show(&handle, printer)?;
    let name = shown_name(handle.info());
    match signals {
        None => printer.note(format_args!(
            "note: nothing keeps tensor '{name}' while the handle is used; `--hold` does"
        )),
        Some(signals) => {
            printer.note(format_args!(
                "holding tensor '{name}' until Ctrl-C or the end of standard input"
            ));
            until_the_end(signals).map_err(|error| failed("waiting for signals", error))?;
        }
    }
    drop(handle);
    let _ = pond.flush(GOODBYE);
    Ok(())
}

fn taken(pond: &Pond, target: Target) -> Result<TensorHandle, CommandError> {
    pond.handle(target).map_err(|error| match &error {
        Error::NoHandle { .. } => no_handle(&error).into(),
        _ => error.into(),
    })
}

/// Only one transport has handles; the way to one in this program's words.
fn no_handle(error: &Error) -> Failure {
    let hint = "`millpond tensor create NAME --transport ipc` makes one that has";
    Failure::new(error.kind(), error.to_string()).hint(hint)
}

fn show(handle: &TensorHandle, printer: &Printer) -> Outcome {
    let shown = view::Handle::new(handle.memory(), handle.event(), handle.info());
    if printer.is_json() {
        return printer.json(&shown);
    }
    if printer.is_quiet() {
        return printer.line(shown.memory);
    }
    for (name, value) in [
        ("memory", shown.memory),
        ("event", shown.event.unwrap_or_else(|| "-".to_owned())),
        ("device", shown.device.to_string()),
        ("offset", shown.offset.to_string()),
        ("bytes", shown.bytes.to_string()),
        ("dtype", shown.dtype.to_string()),
        ("shape", shown.shape.0.to_string()),
    ] {
        let name = printer.paint(Tone::Dim, format!("{name:<6}"));
        printer.line(format_args!("{name} {value}"))?;
    }
    Ok(())
}

/// The end of a pipe that gets a byte for each signal.
fn signals() -> io::Result<OwnedFd> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

/// Waits for a signal, or for the end of standard input where that can end: a background job of a
/// script has an empty file there.
fn until_the_end(signals: OwnedFd) -> io::Result<()> {
    // In the background of a terminal a read would stop this process.
    millpond_wire::fd::ignore_terminal_stops();
    let mut input = Some(File::from(io::stdin().as_fd().try_clone_to_owned()?)).filter(can_end);
    let mut ignored = [0; 4096];
    loop {
        let signal = PollFd::new(&signals, PollFlags::IN);
        let mut fds = vec![signal];
        fds.extend(input.as_ref().map(|input| PollFd::new(input, PollFlags::IN)));
        match rustix::event::poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let is_ready = |fd: Option<&PollFd<'_>>| fd.is_some_and(|fd| !fd.revents().is_empty());
        let (signalled, readable) = (is_ready(fds.first()), is_ready(fds.get(1)));
        if signalled {
            return Ok(());
        }
        if readable {
            match input.as_mut().map_or(Ok(0), |input| input.read(&mut ignored)) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A terminal that is another job's says nothing about this one.
                Err(_) => input = None,
            }
        }
    }
}

fn can_end(input: &File) -> bool {
    let kind = input.metadata().map(|found| found.file_type());
    let is_pipe = kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket());
    is_pipe || io::IsTerminal::is_terminal(input)
}

#[cfg(test)]
mod tests {
    use millpond_wire::TransportKind;

    use super::*;

    #[test]
    fn only_one_transport_has_handles_and_the_refusal_names_it() {
        for transport in [TransportKind::Vmm, TransportKind::Mempool] {
            let failure = no_handle(&Error::NoHandle { tensor: "'x'".to_owned(), transport });
            assert!(failure.message.contains("tensor 'x'"), "{failure}");
            assert!(failure.message.contains(&format!("'{transport}'")), "{failure}");
            assert!(failure.hint.is_some_and(|hint| hint.contains("--transport ipc")));
        }
    }

    #[test]
    fn an_empty_file_never_ends_and_a_pipe_does() {
        assert!(!can_end(&File::open("/dev/null").unwrap()));
        let (read, _write) = rustix::pipe::pipe().unwrap();
        assert!(can_end(&File::from(read)));
    }
}
