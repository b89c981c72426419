//! `millpond web`, a companion program of `millpond`: the page, the metrics, and the same data as JSON.
//!
//! It is one more client of the pond. The key decision: it connects to `watch.sock`, which shows everything
//! and changes nothing, so whoever breaks into this program or finds a hole in it can look and no more.
//! Actions need a token and go over another connection, with the rights of the user who runs this program.
//!
//! Refused: HTTP in the daemon, which must not parse what strangers send; a page that is built from parts or
//! loaded from elsewhere, because machines with GPUs have no way out; and a collection for each reader,
//! because a thousand of them would be a thousand times the work of the daemon.

mod actions;
mod api;
mod collect;
mod connection;
mod events;
mod gate;
mod live;
mod metrics;
mod page;
mod peer;
mod refusal;
mod seats;
mod serve;
mod tokens;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use millpond_console::args::Global;
use millpond_console::companions::{self, WebArgs};
use millpond_console::error::{CommandError, Outcome, Report, failed};
use millpond_console::exit::Code;
use millpond_console::printer::{self, Printer};
use millpond_console::usage;
use millpond_picture::commands;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::api::Server;
use crate::collect::Place;
use crate::gate::Gate;
use crate::tokens::Tokens;

/// What to type for help.
const HELP: &str = "millpond help web";
/// Threads for questions and actions that wait for the pond.
const BLOCKING: usize = 4;
/// How long open pages may take to be told that this ends.
const END_WITHIN: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = commands::run(companions::started_for("web", &words), &words) {
        return ExitCode::from(code.number());
    }
    let (global, args) = match companions::parse::<WebArgs>("web", &words) {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(usage::print(&error, HELP).number()),
    };
    let printer = Printer::new(&global, false);
    let outcome = run(&args, &global, &printer);
    let code = printer::finish(&printer, outcome);
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    ExitCode::from(code.number())
}

fn run(args: &WebArgs, global: &Global, printer: &Printer) -> Outcome {
    let gate = Arc::new(gate(args)?);
    if !args.listen.ip().is_loopback() && !gate.has_tokens() {
        let message = format!("others reach {}, and nothing lets them in", args.listen);
        return Err(Report::new(Code::Usage, message)
            .hint("`--token-file FILE` names tokens that do; `--listen 127.0.0.1:7711` is for this machine")
            .into());
    }
    millpond_log::start_service("millpond_web", global.quiet, global.verbose)
        .map_err(|error| failed("starting the log", error))?;
    // A thousand readers have a descriptor each.
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        all_descriptors(rustix::process::getrlimit(rustix::process::Resource::Nofile)),
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING)
        .build()
        .map_err(|error| failed("starting the server", error))?;
    let served = runtime.block_on(serve(args, global, gate, printer));
    // Threads that wait for the pond are not waited for.
    runtime.shutdown_background();
    served
}

fn all_descriptors(limit: rustix::process::Rlimit) -> rustix::process::Rlimit {
    rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum }
}

async fn serve(args: &WebArgs, global: &Global, gate: Arc<Gate>, printer: &Printer) -> Outcome {
    let starting = |error| failed("starting the server", error);
    let mut ends = [
        signal(SignalKind::terminate()).map_err(starting)?,
        signal(SignalKind::interrupt()).map_err(starting)?,
    ];
    let listener = TcpListener::bind(args.listen).await.map_err(|error| taken(args, &error))?;
    let address = listener.local_addr().map_err(starting)?;
    let place = Place { folder: global.runtime_dir() };
    let watched = collect::start(place.clone()).map_err(starting)?;
    let events = events::start(place.clone(), Arc::clone(&watched)).map_err(starting)?;
    let server = Arc::new(Server::new(Arc::clone(&watched), events, place));
    let app = api::router(server, Arc::clone(&gate));
    printer.line(format_args!("http://{}/", shown(address, args)))?;
    let [terminate, interrupt] = &mut ends;
    tokio::select! {
        () = serve::run(listener, app, gate) => {}
        () = api::beat(Arc::clone(&watched)) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    watched.hub.close();
    tokio::time::sleep(END_WITHIN).await;
    Ok(())
}

/// The address as a browser on this machine takes it.
fn shown(address: SocketAddr, args: &WebArgs) -> String {
    match (args.host.first(), address.ip().is_unspecified()) {
        (Some(host), true) => format!("{host}:{}", address.port()),
        (None, true) => format!("localhost:{}", address.port()),
        (_, false) => address.to_string(),
    }
}

fn taken(args: &WebArgs, error: &io::Error) -> CommandError {
    let address = args.listen;
    let (message, hint) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            format!("another program listens on {address}"),
            "`--listen 127.0.0.1:0` takes a free port; `ss -ltnp` shows who listens".to_owned(),
        ),
        io::ErrorKind::AddrNotAvailable => (
            format!("this machine has no address {}", address.ip()),
            "`ip address` shows those that it has".to_owned(),
        ),
        io::ErrorKind::PermissionDenied => (
            format!("port {} is for root", address.port()),
            "`--listen` takes another one, from 1024 on".to_owned(),
        ),
        _ => return failed(format_args!("listening on {address}"), error),
    };
    Report::new(Code::Failed, message).hint(hint).into()
}

fn gate(args: &WebArgs) -> Result<Gate, CommandError> {
    let read = |path: Option<&Path>| match path {
        None => Ok(Tokens::default()),
        Some(path) => Tokens::read(path).map_err(|error| {
            let hint = error.hint();
            CommandError::from(Report::new(Code::Failed, error.to_string()).hint(hint))
        }),
    };
    let actors = match args.readonly {
        true => Tokens::default(),
        false => read(args.actions_token_file.as_deref())?,
    };
    Ok(Gate {
        user: rustix::process::geteuid().as_raw(),
        readers: read(args.token_file.as_deref())?,
        actors,
        hosts: args.host.iter().map(|host| host.to_ascii_lowercase()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        companions::alone::<WebArgs>("web").debug_assert();
    }
}
