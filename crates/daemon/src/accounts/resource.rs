//! The one list of what is counted for each user.

use millpond_view::units::bytes as format_bytes;

/// Something of which a user has so much, and may have so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Resource {
    /// Processes that are connected, and those that hung up with a lease and live on.
    Clients,
    /// Sockets, with or without a hello; those of the admin socket are not counted.
    Connections,
    Leases,
    /// Requests that are not answered yet.
    Waits,
    Tensors,
    /// Versions of models, those whose slabs are being made included.
    Versions,
    Moves,
    MoveBytes,
    /// Descriptors that were sent and are not read.
    Descriptors,
    /// Replies that are not read, those in memfds included.
    ReplyBytes,
    /// Events that are kept for late subscribers.
    Events,
    /// Groups with a name, which stay when their programs have ended: a folder each.
    Groups,
    /// Groups without a name, which end with their program: a folder each.
    Runs,
    /// Holders of tensors: each process on each tensor is one, however often it holds it.
    Holds,
    /// Processes whose end is watched for holds: a descriptor each.
    Holders,
    /// Hosts of `ipc` tensors, those that are ending included: a context each.
    Hosts,
}

struct Row {
    name: &'static str,
    key: &'static str,
    /// The setting of the cap for all users together, where there is one.
    key_in_all: Option<&'static str>,
    /// One and many, as they are said.
    nouns: [&'static str; 2],
    way_out: &'static str,
}

const ROWS: [Row; Resource::COUNT] = [
    Row {
        name: "clients",
        key: "limits.clients_per_user",
        key_in_all: Some("limits.clients"),
        nouns: ["client", "clients"],
        way_out: "`millpond ps` shows them: end some, silent ones too",
    },
    Row {
        name: "connections",
        key: "limits.connections_per_user",
        key_in_all: None,
        nouns: ["connection", "connections"],
        way_out: "`millpond ps` shows who is connected: end some",
    },
    Row {
        name: "leases",
        key: "limits.leases_per_user",
        key_in_all: Some("limits.leases"),
        nouns: ["lease", "leases"],
        way_out: "release some; `millpond ps` shows who holds them",
    },
    Row {
        name: "waits",
        key: "limits.waits_per_user",
        key_in_all: Some("limits.waits"),
        nouns: ["waiting request", "waiting requests"],
        way_out: "wait for fewer names at a time",
    },
    Row {
        name: "tensors",
        key: "limits.tensors_per_user",
        key_in_all: Some("limits.tensors"),
        nouns: ["tensor", "tensors"],
        way_out: "delete some; `millpond tensor ls` shows them",
    },
    Row {
        name: "versions",
        key: "limits.versions_per_user",
        key_in_all: None,
        nouns: ["version of models", "versions of models"],
        way_out: "retire some; `millpond models` shows them",
    },
    Row {
        name: "moves",
        key: "limits.moves_per_user",
        key_in_all: None,
        nouns: ["move under way", "moves under way"],
        way_out: "wait until some have landed",
    },
    Row {
        name: "move_bytes",
        key: "limits.move_bytes_per_user",
        key_in_all: None,
        nouns: ["in moves", "in moves"],
        way_out: "wait until some have landed",
    },
    Row {
        name: "descriptors",
        key: "limits.descriptors_in_flight_per_user",
        key_in_all: Some("limits.descriptors_in_flight"),
        nouns: ["descriptor that is not read", "descriptors that are not read"],
        way_out: "read the replies",
    },
    Row {
        name: "reply_bytes",
        key: "limits.reply_bytes_per_user",
        key_in_all: Some("limits.reply_bytes"),
        nouns: ["in replies that are not read", "in replies that are not read"],
        way_out: "read the replies",
    },
    Row {
        name: "events",
        key: "limits.events_per_user",
        key_in_all: None,
        nouns: ["kept event", "kept events"],
        way_out: "the oldest of them are dropped",
    },
    Row {
        name: "groups",
        key: "limits.groups_per_user",
        key_in_all: Some("limits.groups"),
        nouns: ["named group", "named groups"],
        way_out: "`millpond group rm NAME` removes one without processes; without `--group` a \
                  program has one that ends with it",
    },
    Row {
        name: "runs",
        key: "limits.runs_per_user",
        key_in_all: Some("limits.groups"),
        nouns: ["unnamed group", "unnamed groups"],
        way_out: "run the programs in one group: `millpond run --group NAME --limit ... -- \
                  PROGRAM`",
    },
    Row {
        name: "holds",
        key: "limits.holds_per_user",
        key_in_all: None,
        nouns: ["held tensor", "held tensors"],
        way_out: "give some up; `millpond tensor ls` shows the tensors",
    },
    Row {
        name: "holders",
        key: "limits.holders_per_user",
        key_in_all: None,
        nouns: ["process with holds", "processes with holds"],
        way_out: "end some of them, or hold for nobody in particular",
    },
    Row {
        name: "hosts",
        key: "limits.hosts_per_user",
        key_in_all: None,
        nouns: ["host of `ipc` tensors", "hosts of `ipc` tensors"],
        way_out: "delete all `ipc` tensors of one host (`millpond status` shows hosts), use the \
                  transport `vmm`",
    },
];

impl Resource {
    pub const COUNT: usize = 16;

    /// All, in the order in which they are shown.
    pub const ALL: [Resource; Self::COUNT] = [
        Resource::Clients,
        Resource::Connections,
        Resource::Leases,
        Resource::Waits,
        Resource::Tensors,
        Resource::Versions,
        Resource::Moves,
        Resource::MoveBytes,
        Resource::Descriptors,
        Resource::ReplyBytes,
        Resource::Events,
        Resource::Groups,
        Resource::Runs,
        Resource::Holds,
        Resource::Holders,
        Resource::Hosts,
    ];

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    const fn row(self) -> &'static Row {
        &ROWS[self.index()]
    }

    /// The word for it in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The setting of a user's cap.
    #[must_use]
    pub const fn key(self) -> &'static str {
        self.row().key
    }

    /// The setting of the cap for all users together.
    #[must_use]
    pub const fn key_in_all(self) -> Option<&'static str> {
        self.row().key_in_all
    }

    /// What can be ended to have room again.
    #[must_use]
    pub const fn way_out(self) -> &'static str {
        self.row().way_out
    }

    #[must_use]
    pub const fn is_bytes(self) -> bool {
        matches!(self, Resource::MoveBytes | Resource::ReplyBytes)
    }

    /// So much of it, for people.
    #[must_use]
    pub fn amount(self, number: u64) -> String {
        let [one, many] = self.row().nouns;
        match (self.is_bytes(), number) {
            (true, _) => format!("{} {many}", format_bytes(number)),
            (false, 1) => format!("1 {one}"),
            (false, _) => format!("{number} {many}"),
        }
    }
}
