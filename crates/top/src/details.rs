//! A thing looked at closely, as lines of a label and a text.

use millpond_overview::Overview;
use millpond_view::{Lease, Member, Tensor, Version, pid_text, units};

use crate::panes::{Row, Thing, short_age};
use crate::state::{Answer, Details, State, Subject};

/// A line; one without a label goes on with the one before.
pub type Line = (&'static str, String);

/// A text longer than this goes on in the next line: names and sources can be longer than a screen is wide.
const TEXT_CHARS: usize = 44;
/// So many leases, readers and members are listed.
const LISTED: usize = 500;

/// All lines about what is looked at.
pub fn lines(state: &State, details: &Details) -> Vec<Line> {
    let Some(overview) = state.overview() else { return Vec::new() };
    let mut lines = Lines { all: Vec::new(), now_unix_ms: state.now_unix_ms() };
    let rows = Row::all(details.pane, overview, state.events());
    let thing = rows.into_iter().find_map(|row| {
        let thing = row.thing(details.pane, overview, state.events())?;
        (thing.identity() == details.identity).then_some(thing)
    });
    match thing {
        Some(thing) => lines.thing(&thing, overview),
        None => lines.say("state", "gone since it was selected"),
    }
    match &details.answer {
        Some(Answer::Leases(leases)) => lines.leases(leases),
        Some(Answer::Members(members)) => lines.members(members),
        Some(Answer::Refused(why)) => lines.say(asked(details), why),
        None if details.subject.is_some() => lines.say(asked(details), "asked for"),
        None => {}
    }
    lines.all
}

/// What the pond is asked about a thing.
const fn asked(details: &Details) -> &'static str {
    match details.subject {
        Some(Subject::Group(_)) => "members",
        _ => "leases",
    }
}

struct Lines {
    all: Vec<Line>,
    now_unix_ms: u64,
}

impl Lines {
    fn say(&mut self, label: &'static str, text: impl AsRef<str>) {
        let characters: Vec<char> = text.as_ref().chars().collect();
        let mut label = label;
        for part in characters.chunks(TEXT_CHARS) {
            self.all.push((label, part.iter().collect()));
            label = "";
        }
    }

    fn bytes(&mut self, label: &'static str, bytes: u64) {
        let exact = units::thousands(bytes);
        self.say(label, format!("{} ({exact} bytes)", units::bytes(bytes)));
    }

    fn age(&mut self, label: &'static str, unix_ms: u64) {
        let age = units::long(self.now_unix_ms.saturating_sub(unix_ms));
        self.say(label, format!("{age} ago"));
    }

    fn thing(&mut self, thing: &Thing<'_>, overview: &Overview) {
        self.say("name", thing.name());
        match thing {
            Thing::Tensor(tensor) => self.tensor(tensor, overview),
            Thing::Tensors(group) => {
                self.say("tensors", units::thousands(group.count));
                self.bytes("size", group.bytes);
                self.say("leases", units::thousands(group.lease_count));
                self.say("device", &group.device);
                self.say("hint", "write a filter (/) that begins as their names do");
            }
            Thing::Version(_, Some(version)) => self.version(version, overview),
            Thing::Version(model, None) => {
                self.say("owner", overview.user_name(model.user));
                self.say("versions", "none");
            }
            Thing::Group(group, device) => {
                self.say("folder", &group.folder);
                if let Some(device) = device {
                    let limit =
                        |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), units::bytes);
                    self.bytes("used", device.used_bytes);
                    self.say("limit", limit(device.limit_bytes));
                    self.say("holds now", limit(device.effective_bytes));
                    self.say("minimum", units::bytes(device.min_bytes));
                    self.say("weight", device.weight.to_string());
                    self.bytes("programs", device.process_bytes);
                    self.bytes("in pond", device.pond_bytes);
                    self.bytes("contexts", device.context_bytes);
                    self.say("device", device.device.to_string());
                }
                let users: Vec<String> =
                    group.users.iter().map(|user| overview.user_name(*user)).collect();
                self.say("users", if users.is_empty() { "none".into() } else { users.join(" ") });
            }
            Thing::Cache(cache) => {
                self.say("process", format!("{} ({})", cache.program, pid_text(cache.pid)));
                self.say("owner", overview.user_name(cache.user));
                self.say("group", cache.group.to_string());
                self.bytes("reserved", cache.reserved_bytes);
                self.bytes("held", cache.held_bytes);
                self.bytes("committed", cache.committed_bytes);
                self.bytes("idle", cache.idle_bytes);
                self.say("page", units::bytes(cache.granule_bytes));
                self.say("minimum", units::bytes(cache.min_bytes));
                self.say("weight", cache.weight.to_string());
                self.bytes("waits for", cache.wanted_bytes);
                self.bytes("asked for", cache.asked_bytes);
                self.bytes("given", cache.given_bytes);
                self.bytes("got", cache.got_bytes);
                self.say("device", cache.device.to_string());
            }
            Thing::Process(process) => {
                self.say("owner", overview.user_name(process.user));
                self.say("state", process.state());
                self.age("known", process.since_unix_ms);
                self.say("clients", process.connections.to_string());
                self.bytes("holds", process.held_bytes);
                self.say("leases", process.lease_count.to_string());
                for name in &process.holds {
                    self.say("on", name);
                }
                if process.lease_count > process.holds.len() {
                    self.say("", "... `millpond ps` lists all");
                }
            }
            Thing::Event(event) => {
                self.say("kind", event.kind.to_string());
                self.age("when", event.unix_ms);
                if let Some(name) = &event.name {
                    self.say("about", name.to_string());
                }
                if let Some(tensor) = &event.tensor {
                    self.say("identity", tensor.to_string());
                }
                if let Some(user) = event.user {
                    self.say("owner", overview.user_name(user));
                }
                self.say("why", &event.text);
            }
        }
    }

    fn tensor(&mut self, tensor: &Tensor, overview: &Overview) {
        self.say("identity", tensor.id.to_string());
        self.say("owner", overview.user_name(tensor.user));
        self.say("state", tensor.state.to_string());
        let dims: Vec<String> = tensor.shape.0.dims().iter().map(u64::to_string).collect();
        self.say("type", format!("{} [{}]", tensor.dtype.name(), dims.join(", ")));
        self.bytes("size", tensor.bytes);
        self.say("device", tensor.device.to_string());
        self.say("slab", tensor.slab.to_string());
        self.bytes("offset", tensor.slab_offset_bytes);
        self.say("transport", tensor.transport.to_string());
        self.say("survives", tensor.survives.to_string());
        self.say("share", tensor.share.to_string());
        self.say("generation", tensor.generation.to_string());
        self.age("made", tensor.created_unix_ms);
        let left = |ms: Option<u64>| ms.map(units::long);
        if let Some(left) = left(tensor.life.ttl_left_ms) {
            self.say("ends in", left);
        }
        if let Some(left) = left(tensor.life.linger_left_ms) {
            self.say("lingers", left);
        }
        if let Some(holds) = tensor.holds {
            self.say("holds", holds.to_string());
        }
    }

    fn version(&mut self, version: &Version, overview: &Overview) {
        self.say("identity", version.id.to_string());
        self.say("owner", overview.user_name(version.user));
        self.say("state", crate::panes::version_state(version));
        self.say("tensors", units::thousands(u64::from(version.tensor_count)));
        self.bytes("size", version.slab_bytes);
        self.bytes("own", version.own_bytes);
        self.bytes("shared", version.shared_bytes);
        self.say("device", version.device.to_string());
        self.say("share", version.share.to_string());
        self.age("begun", version.created_unix_ms);
        if let Some(pid) = version.stager_pid {
            self.say("staged by", pid.to_string());
        }
        self.say("source", &version.source);
    }

    fn leases(&mut self, leases: &[Lease]) {
        let count = units::count(u64::try_from(leases.len()).unwrap_or(u64::MAX), "lease");
        self.say("leases", count);
        for lease in leases.iter().take(LISTED) {
            let age = short_age(self.now_unix_ms.saturating_sub(lease.since_unix_ms));
            let mode = lease.mode.to_string();
            self.say("", format!("{mode} {} ({}) {age}", lease.program, pid_text(lease.pid)));
        }
        self.rest(leases.len());
    }

    fn members(&mut self, members: &[Member]) {
        let count = units::count(u64::try_from(members.len()).unwrap_or(u64::MAX), "member");
        self.say("members", count);
        for member in members.iter().take(LISTED) {
            let charged = member
                .devices
                .iter()
                .fold(0u64, |sum, device| sum.saturating_add(device.charged_bytes));
            let cache = match &member.cache {
                Some(cache) => format!(", cache {cache}"),
                None => String::new(),
            };
            let pid = member.pid.unwrap_or(member.own_pid);
            let bytes = units::bytes(charged);
            self.say("", format!("{bytes} {} ({pid}){cache}", member.program));
        }
        self.rest(members.len());
    }

    fn rest(&mut self, count: usize) {
        if let Some(left @ 1..) = count.checked_sub(LISTED) {
            self.say("", format!("... and {left} more"));
        }
    }
}
