//! `millpond redis`, a companion program of `millpond`: Redis as control plane.
//!
//! Programs that speak only Redis and plain CUDA IPC push commands onto a list and read tensors as
//! hashes. The key decision: the daemon is the truth and Redis is a projection. What a user of Redis
//! holds is a hold that the daemon journals, so the bridge leases nothing: its death ends nothing, and
//! a Redis that was emptied is filled again.
//!
//! Refused: state of the bridge's own, which would have to be kept in step with two others; a runtime
//! for asynchronous work, because one thread carries out and four wait; and leases taken on behalf of
//! others, because they would end with this process.

mod again;
mod answer;
mod bridge;
mod carry;
mod command;
mod connect;
mod core;
#[cfg(test)]
mod fake;
mod flush;
mod keys;
mod make;
mod nodes;
mod pond;
mod repair;
mod said;
mod scripts;
mod server;
mod store;
mod truth;
mod view;
mod wait;
mod waiters;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use millpond_console::args::Global;
use millpond_console::companions::{self, RedisArgs, RedisCommand, URL_VARIABLE};
use millpond_console::error::{CommandError, Outcome, Report, failed};
use millpond_console::exit::Code;
use millpond_console::printer::{self, Printer};
use millpond_console::usage;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::bridge::Settings;
use crate::connect::{UrlError, Way};
use crate::keys::Keys;
use crate::store::Store;

/// What to type for help.
const HELP: &str = "millpond help redis";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let (global, args) = match companions::parse::<RedisArgs>("redis", &words) {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(usage::print(&error, HELP).number()),
    };
    let json =
        matches!(&args.command, Some(RedisCommand::Nodes(it) | RedisCommand::Ls(it)) if it.json);
    let printer = Printer::new(&global, json);
    let outcome = run(&args, &global, &printer);
    let code = printer::finish(&printer, outcome);
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    ExitCode::from(code.number())
}

fn run(args: &RedisArgs, global: &Global, printer: &Printer) -> Outcome {
    let way = Way::new(&args.server).map_err(|error| url_report(&error))?;
    let node = args.node.clone().unwrap_or_else(host_name);
    let keys = Keys::new(&args.server.prefix, &node).map_err(|error| {
        CommandError::from(
            Report::new(Code::Usage, error.to_string()).hint("`--node NAME` names it"),
        )
    })?;
    let settings = Settings {
        way: Arc::new(way),
        keys: Arc::new(keys),
        folder: global.runtime_dir(),
        repair_every: args.repair_every.0,
        reply_ttl: args.reply_ttl.0,
    };
    // The library would look for one at its first connection, and panic without.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Some(command) = &args.command {
        let mut server = settings.server();
        server.reconnect().map_err(view::lost)?;
        return match command {
            RedisCommand::Nodes(_) => view::list_nodes(&mut server, printer),
            RedisCommand::Ls(_) => view::list(&mut server, printer),
        };
    }
    millpond_log::start_service("millpond_redis", global.quiet, global.verbose)
        .map_err(|error| failed("starting the log", error))?;
    if args.once {
        return bridge::once(&settings);
    }
    let stop: Arc<AtomicBool> = Arc::default();
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| failed("waiting for signals", error))?;
    }
    bridge::run(&settings, &stop)
}

fn url_report(error: &UrlError) -> CommandError {
    let report = Report::new(Code::Usage, error.to_string());
    match error {
        UrlError::None => {
            report.hint(format!("`--url redis://127.0.0.1:6379`, or the variable {URL_VARIABLE}"))
        }
        UrlError::Several => report,
        UrlError::Unreadable { .. } | UrlError::NoName => {
            report.hint("`--url redis://user:password@host:6379`, `rediss://` or `unix:///path`")
        }
    }
    .into()
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        companions::alone::<RedisArgs>("redis").debug_assert();
    }

    #[test]
    fn flags_may_stand_before_and_after_a_command() {
        for line in [
            "redis nodes --url redis://h --json",
            "redis --url redis://h nodes",
            "redis --url redis://h --url redis://i --cluster ls",
            "redis --url redis://h --node n --prefix p --repair-every 10s --reply-ttl 5s --once -q",
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let (_, args) = companions::parse::<RedisArgs>("redis", &words).unwrap();
            assert_eq!(args.server.url.first().map(String::as_str), Some("redis://h"), "{line}");
        }
    }
}
