//! `millpond serve`, with one flag for each setting of the keeper's table.

use std::path::PathBuf;

use clap::Args;
use millpond_keeper::config::{ConfigOverrides, KEYS};

use super::{named, path_or_nothing};

/// Start a pond; `--detach` runs it in the background
///
/// Holds the memory and starts the daemon, again and again if need be. Ctrl-C or SIGTERM stops it:
/// then the memory is given back. Settings come from flags, the environment (`millpond help
/// environment`) and one configuration file, in this order.
///
/// The pond goes into `$XDG_RUNTIME_DIR/millpond` if that variable is set, else into `/run/millpond` as
/// root and into `/dev/shm/millpond-UID/pond` as another user; `--runtime-dir` names another folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond serve
  millpond serve --detach             in the background; then `millpond logs`, `millpond stop`
  millpond serve --load llama=./checkpoint
  millpond serve --capacity 80% --devices 0,1
  MILLPOND_DRIVER=soft millpond serve --runtime-dir /tmp/pond --log debug")]
pub struct ServeArgs {
    /// Configuration file [default: the first of `~/.config/millpond/config.toml` and `/etc/millpond/config.toml`]
    #[arg(long, value_name = "FILE", env = millpond_keeper::config::CONFIG_VARIABLE, hide_env_values = true, value_parser = path_or_nothing())]
    config: Option<PathBuf>,
    #[arg(long, value_name = "DRIVER", help = doc("driver"))]
    driver: Option<String>,
    #[arg(long, value_name = "GROUP", help = doc("socket_group"))]
    socket_group: Option<String>,
    #[arg(long, value_name = "GROUP", help = doc("watch_group"))]
    watch_group: Option<String>,
    #[arg(long, value_name = "USER,@GROUP...", help = doc("public_writers"))]
    public_writers: Vec<String>,
    #[arg(long, value_name = "NAME=PATH", help = doc("load"))]
    load: Vec<String>,
    #[arg(long, value_name = "GPU,GPU...", help = doc("devices"))]
    devices: Vec<String>,
    #[arg(long, value_name = "SIZE", help = doc("capacity"))]
    capacity: Option<String>,
    #[arg(long, value_name = "UUID=SIZE", help = doc("capacity_by_gpu"))]
    capacity_by_gpu: Vec<String>,
    #[arg(long, value_name = "BYTES", help = doc("recycle_bytes"))]
    recycle_bytes: Option<String>,
    #[arg(long, value_name = "SECONDS", help = doc("drain_seconds"))]
    drain_seconds: Option<String>,
    #[arg(long, value_name = "SECONDS", help = doc("watchdog_seconds"))]
    watchdog_seconds: Option<String>,
    #[arg(long, value_name = "SECONDS", help = doc("mover_seconds"))]
    mover_seconds: Option<String>,
    #[arg(long, value_name = "SECONDS", help = doc("mover_idle_seconds"))]
    mover_idle_seconds: Option<String>,
    #[command(flatten)]
    pub log: LogArgs,
    /// Start the pond in the background, and return when it serves
    ///
    /// Prints the folder, the process and the log file. Without `--log-file` the log goes to
    /// `~/.local/state/millpond/` (`$XDG_STATE_HOME/millpond/`), as root to `/var/log/millpond/`.
    #[arg(short, long)]
    pub detach: bool,
    /// This process is the one in the background
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// What is logged, and where.
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    #[arg(long, value_name = "FILTER", help = doc("log"))]
    pub log: Option<String>,
    #[arg(long, value_name = "FORMAT", help = doc("log_format"))]
    pub log_format: Option<String>,
    #[arg(long, value_name = "FILE", help = doc("log_file"))]
    pub log_file: Option<String>,
    #[arg(long, value_name = "BYTES", help = doc("log_file_bytes"))]
    pub log_file_bytes: Option<String>,
}

impl ServeArgs {
    /// The configuration file that was named.
    pub fn config(&self) -> Option<PathBuf> {
        named(self.config.as_ref())
    }

    /// The flags as the keeper takes them.
    pub fn overrides(&self, runtime_dir: Option<PathBuf>) -> ConfigOverrides {
        ConfigOverrides {
            runtime_dir,
            driver: self.driver.clone(),
            log: self.log.log.clone(),
            log_format: self.log.log_format.clone(),
            log_file: self.log.log_file.clone(),
            log_file_bytes: self.log.log_file_bytes.clone(),
            socket_group: self.socket_group.clone(),
            watch_group: self.watch_group.clone(),
            public_writers: self.public_writers.clone(),
            load: self.load.clone(),
            devices: self.devices.clone(),
            capacity: self.capacity.clone(),
            capacity_by_gpu: self.capacity_by_gpu.clone(),
            recycle_bytes: self.recycle_bytes.clone(),
            drain_seconds: self.drain_seconds.clone(),
            watchdog_seconds: self.watchdog_seconds.clone(),
            mover_seconds: self.mover_seconds.clone(),
            mover_idle_seconds: self.mover_idle_seconds.clone(),
        }
    }
}

/// A setting's documentation and default, from the one table.
fn doc(name: &str) -> String {
    let Some(key) = KEYS.iter().find(|key| key.name == name) else { return String::new() };
    let env = format!("[env: {}]", key.environment);
    match key.default {
        "" => format!("{} {env}", key.doc),
        default => format!("{} [default: {default}] {env}", key.doc),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_setting_outside_a_table_is_a_flag_with_its_documentation() {
        let mut root = Cli::command();
        root.build();
        let serve = root.find_subcommand("serve").unwrap();
        for key in KEYS.iter().filter(|key| !key.name.contains('.')) {
            let flag = key.flag();
            let long = flag.trim_start_matches('-');
            let arg = serve.get_arguments().find(|arg| arg.get_long() == Some(long));
            let help = arg.and_then(|arg| arg.get_help()).map(ToString::to_string);
            let variable = format!("[env: {}", key.environment);
            let is_said = help.is_some_and(|help| help.contains(&variable));
            assert!(is_said || long == "runtime-dir", "{}", key.name);
        }
    }
}
