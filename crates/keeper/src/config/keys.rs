//! The one table of settings.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use millpond_view::size::ByteSize;

use super::{Config, PublicWriter, StartModel};

#[derive(Debug)]
pub struct Key {
    /// In the file; a dot means a table.
    pub name: &'static str,
    pub environment: &'static str,
    /// The default, as it would be written.
    pub default: &'static str,
    /// One line for the reference.
    pub doc: &'static str,
    set: fn(&mut Config, Input) -> Result<(), String>,
}

impl Key {
    /// The command line flag.
    #[must_use]
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace(['_', '.'], "-"))
    }

    pub(super) fn apply(&self, config: &mut Config, input: Input) -> Result<(), String> {
        (self.set)(config, input)
    }
}

/// A value as it came. From the environment and from flags everything is text.
#[derive(Debug)]
pub(super) enum Input {
    Text(String),
    List(Vec<String>),
    Table(Vec<(String, String)>),
    /// Several tables, as `[[load]]` writes them.
    Tables(Vec<Vec<(String, String)>>),
}

impl Input {
    fn text(self) -> Result<String, String> {
        match self {
            Input::Text(text) => Ok(text),
            Input::List(_) => Err("one value is expected, not a list".to_owned()),
            Input::Table(_) | Input::Tables(_) => {
                Err("one value is expected, not a table".to_owned())
            }
        }
    }

    fn parsed<T: FromStr<Err: Display>>(self) -> Result<T, String> {
        self.text()?.parse().map_err(|error: T::Err| error.to_string())
    }

    fn number(self, min: u64, max: u64) -> Result<u64, String> {
        let text = self.text()?;
        let number = text.trim().parse().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| format!("'{text}' is not a whole number from {min} to {max}"))
    }

    fn reply_bytes(self) -> Result<ByteSize, String> {
        let size: ByteSize = self.parsed()?;
        if size.0 < LEAST_REPLY_BYTES {
            return Err("at least 1MiB is needed, or nobody gets a listing".to_owned());
        }
        Ok(size)
    }

    fn list<T: FromStr<Err: Display>>(self) -> Result<Vec<T>, String> {
        let items = match self {
            Input::Text(text) => split(&text),
            Input::List(items) => items,
            Input::Table(_) | Input::Tables(_) => {
                return Err("a list is expected, not a table".to_owned());
            }
        };
        items.iter().map(|item| item.parse().map_err(|error: T::Err| error.to_string())).collect()
    }

    fn table(self) -> Result<Vec<(String, String)>, String> {
        match self {
            Input::Table(items) => Ok(items),
            Input::List(_) | Input::Tables(_) => Err("a table is expected, not a list".to_owned()),
            Input::Text(text) => split(&text)
                .iter()
                .map(|item| {
                    let pair = item.split_once('=').ok_or("write it like `UUID=90%,UUID=10G`")?;
                    Ok((pair.0.trim().to_owned(), pair.1.trim().to_owned()))
                })
                .collect(),
        }
    }
}

impl Input {
    fn start_models(self) -> Result<Vec<StartModel>, String> {
        match self {
            Input::Text(text) => {
                split(&text).iter().map(|one| StartModel::from_text(one)).collect()
            }
            Input::List(list) => list.iter().map(|one| StartModel::from_text(one)).collect(),
            Input::Tables(tables) => tables.into_iter().map(StartModel::from_table).collect(),
            Input::Table(_) => Err("write `[[load]]`, not `[load]`".to_owned()),
        }
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// An hour: longer waits for a daemon are a mistake of the unit.
const MOST_SECONDS: u64 = 3600;
/// A cap on caps: the journal counts with 32 bits.
const MOST_OBJECTS: u64 = 100_000_000;

/// Each is as large as its model: more is a mistake.
const MOST_PREVIOUS: u64 = 1000;

/// Groups that one pond keeps: each costs two megabytes, and the daemon can guard a thousand files.
const MOST_GROUPS: u64 = 1000;

/// A few lines: with less, the older files would hold nothing worth reading.
const LEAST_LOG_FILE_BYTES: u64 = 4096;

/// More than any card holds; the settings must stay small enough to be handed on.
const MOST_START_MODELS: usize = 64;

const LEAST_REPLY_BYTES: u64 = 1 << 20;

pub const KEYS: &[Key] = &[
    Key {
        name: "runtime_dir",
        environment: millpond_wire::runtime_dir::ENVIRONMENT,
        default: "",
        doc: "Folder of the sockets and the lock; by default `$XDG_RUNTIME_DIR/millpond`, without that variable `/run/millpond` for root and `/dev/shm/millpond-UID/pond` for others",
        set: |config, input| {
            let text = input.text()?;
            config.runtime_dir = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
    },
    Key {
        name: "driver",
        environment: "MILLPOND_DRIVER",
        default: "auto",
        doc: "`auto` (a GPU if there is one), `cuda`, `soft` (the software driver), or the path of a libcuda; a path has a `/`",
        set: |config, input| {
            let text = input.text()?;
            if !["auto", "cuda", "soft"].contains(&text.as_str()) && !text.contains('/') {
                return Err(format!(
                    "'{text}' is not a driver; use `auto`, `cuda`, `soft` or a path with a `/`"
                ));
            }
            config.driver = text;
            Ok(())
        },
    },
    Key {
        name: "log",
        environment: "MILLPOND_LOG",
        default: "info",
        doc: "What is logged: a level, or a filter such as `info,millpond_daemon=debug`",
        set: |config, input| input.text().map(|text| config.log = text),
    },
    Key {
        name: "log_format",
        environment: "MILLPOND_LOG_FORMAT",
        default: "text",
        doc: "How log lines look: `text` or `json`",
        set: |config, input| input.parsed().map(|format| config.log_format = format),
    },
    Key {
        name: "log_file",
        environment: "MILLPOND_LOG_FILE",
        default: "",
        doc: "File that the log is appended to, mode 0600; standard error if no file is named",
        set: |config, input| {
            let text = input.text()?;
            config.log_file = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
    },
    Key {
        name: "log_file_bytes",
        environment: "MILLPOND_LOG_FILE_BYTES",
        default: "16MiB",
        doc: "Size at which the log file is renamed to `.1` and a new one is begun, at least `4KiB`; `.1` to `.3` are kept; `0` never renames it",
        set: |config, input| {
            let size: ByteSize = input.parsed()?;
            if (1..LEAST_LOG_FILE_BYTES).contains(&size.0) {
                return Err("at least 4KiB is needed, or 0 to never rename the file".to_owned());
            }
            config.log_file_bytes = size;
            Ok(())
        },
    },
    Key {
        name: "socket_group",
        environment: "MILLPOND_SOCKET_GROUP",
        default: "",
        doc: "UNIX group, by name or number, whose members may use the pond; by default everybody for root's pond in `/run/millpond` and nobody else for others",
        set: |config, input| input.text().map(|text| config.socket_group = text),
    },
    Key {
        name: "watch_group",
        environment: "MILLPOND_WATCH_GROUP",
        default: "",
        doc: "UNIX group, by name or number, whose members may see everything of all users at `watch.sock`, and change nothing; by default only the user who runs the pond may",
        set: |config, input| input.text().map(|text| config.watch_group = text),
    },
    Key {
        name: "public_writers",
        environment: "MILLPOND_PUBLIC_WRITERS",
        default: "",
        doc: "Who may make names under `public/`, beside the user who runs the pond: users by name or number, UNIX groups as `@GROUP`, `everybody`, or `nobody`",
        set: |config, input| {
            let writers = PublicWriter::list(input.list()?)?;
            config.public_writers = writers;
            Ok(())
        },
    },
    Key {
        name: "load",
        environment: "MILLPOND_LOAD",
        default: "",
        doc: "Models to load when the pond starts; as text `NAME=PATH,NAME@VERSION=PATH`, in the file `[[load]]` tables",
        set: |config, input| {
            let models = input.start_models()?;
            if models.len() > MOST_START_MODELS {
                return Err(format!("at most {MOST_START_MODELS} models are loaded at the start"));
            }
            config.load = models;
            Ok(())
        },
    },
    Key {
        name: "devices",
        environment: "MILLPOND_DEVICES",
        default: "",
        doc: "GPUs to serve, by UUID or index; none named means all",
        set: |config, input| input.list().map(|devices| config.devices = devices),
    },
    Key {
        name: "capacity",
        environment: "MILLPOND_CAPACITY",
        default: "95%",
        doc: "How much of each GPU's memory the pond may use: a share (`0.9`, `90%`) or a size (`100G`); never more than the card has",
        set: |config, input| input.parsed().map(|capacity| config.capacity = capacity),
    },
    Key {
        name: "capacity_by_gpu",
        environment: "MILLPOND_CAPACITY_BY_GPU",
        default: "",
        doc: "Capacity of single GPUs, by UUID; as text `UUID=90%,UUID=100G`",
        set: |config, input| {
            let parse = |(gpu, capacity): (String, String)| {
                let uuid = gpu.parse().map_err(|_| format!("'{gpu}' is not a GPU's UUID"))?;
                Ok((uuid, Input::Text(capacity).parsed()?))
            };
            config.capacity_by_gpu =
                input.table()?.into_iter().map(parse).collect::<Result<_, String>>()?;
            Ok(())
        },
    },
    Key {
        name: "recycle_bytes",
        environment: "MILLPOND_RECYCLE_BYTES",
        default: "1GiB",
        doc: "Empty slabs kept for reuse on each GPU; `0` gives all memory back at once",
        set: |config, input| input.parsed().map(|size| config.recycle_bytes = size),
    },
    Key {
        name: "drain_seconds",
        environment: "MILLPOND_DRAIN_SECONDS",
        default: "10",
        doc: "How long a stop waits for running work, 0 to 3600",
        set: |config, input| {
            input.number(0, MOST_SECONDS).map(|seconds| config.drain_seconds = seconds)
        },
    },
    Key {
        name: "watchdog_seconds",
        environment: "MILLPOND_WATCHDOG_SECONDS",
        default: "10",
        doc: "Kill and restart a daemon that does not answer for this long, 1 to 3600; clients wait 15 s for it",
        set: |config, input| {
            input.number(1, MOST_SECONDS).map(|seconds| config.watchdog_seconds = seconds)
        },
    },
    Key {
        name: "mover_seconds",
        environment: "MILLPOND_MOVER_SECONDS",
        default: "30",
        doc: "Kill a mover that is silent for this long beyond what its work may take, 1 to 3600",
        set: |config, input| {
            input.number(1, MOST_SECONDS).map(|seconds| config.mover_seconds = seconds)
        },
    },
    Key {
        name: "mover_idle_seconds",
        environment: "MILLPOND_MOVER_IDLE_SECONDS",
        default: "60",
        doc: "End a mover that has had no work for this long, which frees its memory, 1 to 3600",
        set: |config, input| {
            input.number(1, MOST_SECONDS).map(|seconds| config.mover_idle_seconds = seconds)
        },
    },
    Key {
        name: "models.keep_previous",
        environment: "MILLPOND_MODELS_KEEP_PREVIOUS",
        default: "1",
        doc: "Versions of a model that were current before and are kept for a rollback, 0 to 1000",
        set: |config, input| {
            input.number(0, MOST_PREVIOUS).map(|n| config.models.keep_previous = n)
        },
    },
    Key {
        name: "limits.clients",
        environment: "MILLPOND_LIMITS_CLIENTS",
        default: "20000",
        doc: "Client processes at a time, silent ones included; the last sixteenth is for root and the pond's own user",
        set: |config, input| input.number(1, MOST_OBJECTS).map(|n| config.limits.clients = n),
    },
    Key {
        name: "limits.clients_per_user",
        environment: "MILLPOND_LIMITS_CLIENTS_PER_USER",
        default: "4096",
        doc: "Clients of one user, silent ones included, and at most a quarter of the descriptors that the daemon has for clients; root and the pond's own user have no share of their own",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.clients_per_user = n)
        },
    },
    Key {
        name: "limits.clients_per_process",
        environment: "MILLPOND_LIMITS_CLIENTS_PER_PROCESS",
        default: "64",
        doc: "Clients that one process of a user may be, silent ones included: each `Pond` that a program opens is one, and a process that reconnects stays the same; root and the pond's own user may be more",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.clients_per_process = n)
        },
    },
    Key {
        name: "limits.tensors",
        environment: "MILLPOND_LIMITS_TENSORS",
        default: "1000000",
        doc: "Tensors in the pond; the last sixteenth is for root and the pond's own user",
        set: |config, input| input.number(1, MOST_OBJECTS).map(|n| config.limits.tensors = n),
    },
    Key {
        name: "limits.tensors_per_user",
        environment: "MILLPOND_LIMITS_TENSORS_PER_USER",
        default: "500000",
        doc: "Tensors of one user",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.tensors_per_user = n)
        },
    },
    Key {
        name: "limits.versions_per_user",
        environment: "MILLPOND_LIMITS_VERSIONS_PER_USER",
        default: "1000",
        doc: "Versions of one user's models; their slabs are not among the user's tensors",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.versions_per_user = n)
        },
    },
    Key {
        name: "limits.connections_per_user",
        environment: "MILLPOND_LIMITS_CONNECTIONS_PER_USER",
        default: "4096",
        doc: "Connections of one user, and at most a quarter of the descriptors that the daemon has for clients unless it is root or the pond's own user; those to the admin socket are not counted",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.connections_per_user = n)
        },
    },
    Key {
        name: "limits.reply_bytes",
        environment: "MILLPOND_LIMITS_REPLY_BYTES",
        default: "2GiB",
        doc: "Replies that are not read, of all users together; the last sixteenth is for root and the pond's own user. Beyond it a user who has read everything still gets one more, until there are twice as many; at least `1MiB`",
        set: |config, input| input.reply_bytes().map(|size| config.limits.reply_bytes = size),
    },
    Key {
        name: "limits.reply_bytes_per_user",
        environment: "MILLPOND_LIMITS_REPLY_BYTES_PER_USER",
        default: "256MiB",
        doc: "Replies of one user that are not read, sent ones in memfds included; beyond it nothing more is read from that user until half of them are read; at least `1MiB`",
        set: |config, input| {
            input.reply_bytes().map(|size| config.limits.reply_bytes_per_user = size)
        },
    },
    Key {
        name: "limits.descriptors_in_flight",
        environment: "MILLPOND_LIMITS_DESCRIPTORS_IN_FLIGHT",
        default: "262144",
        doc: "Descriptors that are sent to clients and not read, in all; at most a quarter of what the daemon may open, because the kernel has one count for all that it sends, to the keeper too",
        set: |config, input| {
            input.number(128, MOST_OBJECTS).map(|n| config.limits.descriptors_in_flight = n)
        },
    },
    Key {
        name: "limits.descriptors_in_flight_per_user",
        environment: "MILLPOND_LIMITS_DESCRIPTORS_IN_FLIGHT_PER_USER",
        default: "4096",
        doc: "The same for one user, and at most a quarter of all; what is beyond it is sent when the user has read",
        set: |config, input| {
            input
                .number(128, MOST_OBJECTS)
                .map(|n| config.limits.descriptors_in_flight_per_user = n)
        },
    },
    Key {
        name: "limits.leases",
        environment: "MILLPOND_LIMITS_LEASES",
        default: "4000000",
        doc: "Leases in the pond, some 125 bytes each; the last sixteenth is for root and the pond's own user",
        set: |config, input| input.number(1, MOST_OBJECTS).map(|n| config.limits.leases = n),
    },
    Key {
        name: "limits.leases_per_user",
        environment: "MILLPOND_LIMITS_LEASES_PER_USER",
        default: "500000",
        doc: "Leases of one user, as many as tensors: some 60 MiB of the daemon",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.leases_per_user = n)
        },
    },
    Key {
        name: "limits.leases_per_client",
        environment: "MILLPOND_LIMITS_LEASES_PER_CLIENT",
        default: "200000",
        doc: "Leases of one client process",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.leases_per_client = n)
        },
    },
    Key {
        name: "limits.waits",
        environment: "MILLPOND_LIMITS_WAITS",
        default: "262144",
        doc: "Requests that wait, in all; the last sixteenth is for root and the pond's own user",
        set: |config, input| input.number(1, MOST_OBJECTS).map(|n| config.limits.waits = n),
    },
    Key {
        name: "limits.waits_per_user",
        environment: "MILLPOND_LIMITS_WAITS_PER_USER",
        default: "16384",
        doc: "Requests of one user that wait for a tensor, a version, memory or a move: sixteen connections with as many as one may have, some 6 MiB",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.waits_per_user = n)
        },
    },
    Key {
        name: "limits.events_per_user",
        environment: "MILLPOND_LIMITS_EVENTS_PER_USER",
        default: "4096",
        doc: "Events about one user that are kept for late subscribers; beyond it the user's own oldest go",
        set: |config, input| {
            input.number(16, MOST_OBJECTS).map(|n| config.limits.events_per_user = n)
        },
    },
    Key {
        name: "limits.moves_per_user",
        environment: "MILLPOND_LIMITS_MOVES_PER_USER",
        default: "256",
        doc: "Moves of one user that wait or run at a time",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.moves_per_user = n)
        },
    },
    Key {
        name: "limits.move_bytes_per_user",
        environment: "MILLPOND_LIMITS_MOVE_BYTES_PER_USER",
        default: "64GiB",
        doc: "Bytes of one user's moves at a time",
        set: |config, input| input.parsed().map(|bytes| config.limits.move_bytes_per_user = bytes),
    },
    Key {
        name: "limits.groups",
        environment: "MILLPOND_LIMITS_GROUPS",
        default: "1000",
        doc: "Groups in the pond, with a name and without, 10 to 1000; the last tenth is for the operator, and one user has at most half as many of a kind as are left for others",
        set: |config, input| input.number(10, MOST_GROUPS).map(|n| config.limits.groups = n),
    },
    Key {
        name: "limits.groups_per_user",
        environment: "MILLPOND_LIMITS_GROUPS_PER_USER",
        default: "64",
        doc: "Groups with a name that one user may have made; they stay when their programs have ended",
        set: |config, input| {
            input.number(1, MOST_GROUPS).map(|n| config.limits.groups_per_user = n)
        },
    },
    Key {
        name: "limits.runs_per_user",
        environment: "MILLPOND_LIMITS_RUNS_PER_USER",
        default: "300",
        doc: "Groups without a name of one user; each ends with its program",
        set: |config, input| input.number(1, MOST_GROUPS).map(|n| config.limits.runs_per_user = n),
    },
    Key {
        name: "limits.holds_per_user",
        environment: "MILLPOND_LIMITS_HOLDS_PER_USER",
        default: "100000",
        doc: "Tensors that one user holds without a lease, counted for each process that they are held for: some 40 MiB of the daemon and its journal",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.holds_per_user = n)
        },
    },
    Key {
        name: "limits.holders_per_user",
        environment: "MILLPOND_LIMITS_HOLDERS_PER_USER",
        default: "1024",
        doc: "Processes that one user holds tensors for, a descriptor of the daemon each, and at most a quarter of those that it has for clients; beyond it a hold is refused",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.holders_per_user = n)
        },
    },
    Key {
        name: "limits.hosts_per_user",
        environment: "MILLPOND_LIMITS_HOSTS_PER_USER",
        default: "4",
        doc: "Processes that own the memory of one user's `ipc` tensors, on all GPUs together; each has a CUDA context, some 500 MiB, on the user's account",
        set: |config, input| {
            input.number(1, MOST_OBJECTS).map(|n| config.limits.hosts_per_user = n)
        },
    },
];
