//! The log of a program beside the core that runs until it is told to end.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::{Style, Target, end_on_panic, install};

/// Starts the log on standard error, written by a thread of its own: nobody who stops reading it stops the
/// program. A panic ends the process after its line. `module` is the program's own in filters, such as
/// `millpond_web`; `verbose` counts the flags `-v`.
///
/// # Errors
/// When this process has a subscriber already.
pub fn start_service(module: &str, quiet: bool, verbose: u8) -> Result<(), TryInitError> {
    let log = install(Target::StandardError, Style::Text);
    end_on_panic();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter(module, quiet, verbose)))
        .with_writer(log.clone())
        .log_internal_errors(false)
        .with_ansi(false)
        .finish()
        .try_init()
}

fn filter(module: &str, quiet: bool, verbose: u8) -> String {
    match (quiet, verbose) {
        (true, _) => "warn".to_owned(),
        (false, 0) => "info".to_owned(),
        (false, 1) => format!("info,{module}=debug"),
        (false, _) => format!("info,millpond=debug,{module}=debug"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_choose_what_is_said() {
        assert_eq!(filter("m", true, 2), "warn");
        assert_eq!(filter("m", false, 0), "info");
        assert_eq!(filter("m", false, 1), "info,m=debug");
        assert_eq!(filter("m", false, 2), "info,millpond=debug,m=debug");
    }
}
