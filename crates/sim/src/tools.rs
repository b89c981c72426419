//! Processes that ask about groups: the operator's commands, and programs that run in a group.
//!
//! Each makes one request, and repeats it over the next connection when the answer was lost. A
//! program allocates in its group's ledger afterwards, with or without a daemon, until it ends.

use std::rc::Rc;

use millpond_daemon::policy::Door;
use millpond_wire::message::{
    GroupJoin, GroupLimit, GroupSet, Reply, ReplyBody, Request, RequestBody,
};
use millpond_wire::{ClientId, ErrorKind, GroupName, Token};

use crate::client::first_hello;
use crate::groups::Expected;
use crate::oracle::{Violation, ensure};
use crate::rng::Rng;
use crate::shelf::units;
use crate::socket::{SharedSocket, Socket};
use crate::world::World;

/// Tools have pids from here on.
const FIRST_TOOL: u32 = 1_000_000;
/// Tools at a time.
const TOOLS: usize = 4;
/// The number of each request; the hello has the one below.
const NUMBER: u64 = 2;
const MIB: u64 = 1 << 20;

#[derive(Debug)]
pub struct Tool {
    /// As the kernel knows it.
    pub pid: u32,
    pub alive: bool,
    /// What it asks, until it is answered.
    pub call: Option<RequestBody>,
    pub line: Option<SharedSocket>,
    /// The group that it runs in.
    pub member_of: Option<GroupName>,
    /// What it holds, in units.
    held: Vec<u32>,
    sends: u32,
}

impl Tool {
    /// Whether it asks as the operator.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        self.call.as_ref().is_some_and(|call| !matches!(call, RequestBody::GroupJoin(_)))
    }

    /// Whether there is something to read on its connection, or its end.
    #[must_use]
    pub fn may_read(&self) -> bool {
        let Some(line) = &self.line else { return false };
        let line = line.borrow();
        !line.to_client.is_empty() || !line.daemon_open
    }
}

impl World {
    /// Whether one more may start.
    #[must_use]
    pub fn wants_tool(&self) -> bool {
        self.busy && self.has_groups && self.tools.iter().filter(|tool| tool.alive).count() < TOOLS
    }

    pub(crate) fn start_tool(&mut self) {
        // One command of the operator at a time: what was answered last holds.
        let busy = self.tools.iter().any(|tool| tool.alive && tool.is_operator());
        let rng = &mut self.rng;
        let mut call = if busy || rng.once_in(4) { join(rng) } else { command(rng) };
        if self.has_caches {
            about_caches(&mut call, rng);
        }
        let pid = FIRST_TOOL + u32::try_from(self.tools.len()).unwrap_or(0);
        self.trace.say(|| format!("  pid {pid} asks {call:?}"));
        self.tools.push(Tool {
            pid,
            alive: true,
            call: Some(call),
            line: None,
            member_of: None,
            held: Vec::new(),
            sends: 0,
        });
    }

    pub(crate) fn tool_connects(&mut self, tool: usize) -> Result<(), Violation> {
        let id = ClientId(self.rng.id());
        let tool = &mut self.tools[tool];
        let Some(call) = tool.call.clone() else { return Ok(()) };
        let operator = tool.is_operator();
        let socket = Socket::connected(tool.pid);
        tool.line = Some(Rc::clone(&socket));
        tool.sends += 1;
        let program = "tool".to_owned();
        let hello = first_hello(id, program);
        let mut builder = planus::Builder::new();
        for (number, body) in [(1, RequestBody::Hello(hello)), (NUMBER, call)] {
            let bytes = Request { number, body }.encode(&mut builder).to_vec();
            socket.borrow_mut().to_daemon.push_back((bytes, None));
        }
        let (pid, user) = (tool.pid, if operator { 0 } else { 1 });
        let door = if operator { Door::Operator } else { Door::Users };
        self.accepted(socket, pid, user, door).map(|_| ())
    }

    /// Reads one reply, or notices the end of the connection.
    pub(crate) fn tool_reads(&mut self, at: usize) -> Result<(), Violation> {
        let tool = &mut self.tools[at];
        let Some(line) = tool.line.clone() else { return Ok(()) };
        let next = line.borrow_mut().to_client.pop_front();
        let Some((bytes, _)) = next else {
            line.borrow_mut().close_client();
            tool.line = None;
            return Ok(());
        };
        let Reply { number, body } = Reply::decode(&bytes)
            .map_err(|error| Violation::new("replies can be read", error.to_string()))?;
        if number != NUMBER {
            let welcome = matches!(body, ReplyBody::Welcome(_));
            return ensure(welcome, "a living client is welcome", || format!("{body:?}"));
        }
        line.borrow_mut().close_client();
        tool.line = None;
        let (Some(call), repeated) = (tool.call.take(), tool.sends > 1) else { return Ok(()) };
        match (call, body) {
            (RequestBody::GroupSet(set), body) => self.set_answered(&set, body)?,
            (RequestBody::GroupRemove { group }, body) => {
                self.remove_answered(&group, &body, repeated)?;
            }
            (RequestBody::GroupInspect { group }, body) => self.inspected(&group, &body)?,
            (RequestBody::GroupJoin(join), body) => return self.joined(at, &join, body),
            (_, ReplyBody::Groups(_)) => {}
            (RequestBody::CacheList { .. }, ReplyBody::Caches(_)) => {}
            (call, body) => {
                let detail = format!("{call:?}: {body:?}");
                return Err(Violation::new("an answer fits its request", detail));
            }
        }
        self.end_tool(at);
        Ok(())
    }

    fn set_answered(&mut self, set: &GroupSet, body: ReplyBody) -> Result<(), Violation> {
        let name = &set.group;
        let ReplyBody::GroupDetails(details) = body else {
            let ReplyBody::Failure(failure) = &body else {
                return Err(Violation::new("an answer fits its request", format!("{body:?}")));
            };
            match failure.kind {
                // Some of it may be written.
                ErrorKind::InUse => self.expected.remove(name).map_or((), drop),
                ErrorKind::NotFound => {
                    let known = self.expected.contains_key(name);
                    ensure(!known, "a group that was made is there", || format!("{failure:?}"))?;
                }
                ErrorKind::Exists | ErrorKind::Invalid | ErrorKind::GpuFull => {}
                _ => return Err(Violation::new("no reason to fail", format!("{failure:?}"))),
            }
            return Ok(());
        };
        let expected = self.expected.entry(name.clone()).or_default();
        expected.set(set);
        let fits = expected.is(&details.info);
        ensure(fits, "a group is as it was set", || format!("{set:?} made it {details:?}"))
    }

    fn remove_answered(
        &mut self,
        name: &GroupName,
        body: &ReplyBody,
        repeated: bool,
    ) -> Result<(), Violation> {
        match body {
            ReplyBody::Done => self.expected.remove(name).map_or((), drop),
            ReplyBody::Failure(failure) if failure.kind == ErrorKind::InUse => {
                // The first of several may have removed it, and a join made it again.
                if repeated {
                    self.expected.remove(name);
                }
            }
            ReplyBody::Failure(failure) if failure.kind == ErrorKind::NotFound => {
                // The first of several may have removed it.
                let known = self.expected.remove(name).is_some() && !repeated;
                ensure(!known, "a group that was made is there", || format!("{failure:?}"))?;
            }
            body => return Err(Violation::new("no reason to fail", format!("{body:?}"))),
        }
        Ok(())
    }

    fn inspected(&self, name: &GroupName, body: &ReplyBody) -> Result<(), Violation> {
        let fits = match (self.expected.get(name), body) {
            (Some(expected), ReplyBody::GroupDetails(details)) => expected.is(&details.info),
            (None, ReplyBody::GroupDetails(_)) => true,
            (expected, ReplyBody::Failure(failure)) => {
                failure.kind == ErrorKind::NotFound && expected.is_none()
            }
            _ => false,
        };
        ensure(fits, "a group is as it was set", || format!("{body:?}"))
    }

    /// A program has its place, and takes a slot in the ledger.
    fn joined(&mut self, at: usize, join: &GroupJoin, body: ReplyBody) -> Result<(), Violation> {
        match body {
            ReplyBody::GroupJoined { name, anonymous, .. } => {
                let mut groups = self.groups.borrow_mut();
                let tool = &mut self.tools[at];
                match groups.get_mut(&name) {
                    Some(file) => {
                        let limit = join.limit.filter(|_| anonymous).map(units);
                        let asked = file.budget.asked;
                        ensure(
                            limit.is_none_or(|limit| limit == asked),
                            "a program runs under the limit that it asked for",
                            || format!("{join:?} got a limit of {asked} units"),
                        )?;
                        file.attach(tool.pid);
                        tool.member_of = Some(name);
                        return Ok(());
                    }
                    None => ensure(!anonymous, "a group lasts as long as its program", || {
                        format!("pid {} was to run in {name}", tool.pid)
                    })?,
                }
            }
            ReplyBody::Failure(failure) => {
                let fits = match failure.kind {
                    ErrorKind::NotFound => join.group.is_some(),
                    ErrorKind::Exists => join.group.is_some() && join.limit.is_some(),
                    kind => kind == ErrorKind::InUse,
                };
                ensure(fits, "no reason to fail", || format!("{join:?}: {failure:?}"))?;
            }
            body => {
                let detail = format!("{join:?}: {body:?}");
                return Err(Violation::new("an answer fits its request", detail));
            }
        }
        // Removed before it came.
        self.end_tool(at);
        Ok(())
    }

    /// A program allocates or frees, without asking any daemon.
    pub(crate) fn member_acts(&mut self, at: usize) -> Result<(), Violation> {
        let now_ms = self.clock.get();
        let tool = &mut self.tools[at];
        let Some(name) = tool.member_of.clone() else { return Ok(()) };
        let groups = Rc::clone(&self.groups);
        let mut groups = groups.borrow_mut();
        let Some(file) = groups.get_mut(&name) else { return Ok(()) };
        let frees = self.rng.once_in(3).then(|| tool.held.pop()).flatten();
        if let Some(units) = frees {
            file.release(tool.pid, units);
            return Ok(());
        }
        let bytes = MIB * (1 + self.rng.below(48));
        let units = u32::try_from(bytes / millpond_ledger::UNIT).unwrap_or(u32::MAX);
        if !file.reserve(tool.pid, units, now_ms) {
            return Ok(());
        }
        let pid = tool.pid;
        tool.held.push(units);
        self.trace.say(|| format!("  pid {pid} takes {bytes} bytes in {name}"));
        drop(groups);
        self.check_limit(&name)
    }

    /// Ends a process: nothing is called.
    pub(crate) fn end_tool(&mut self, at: usize) {
        let now_ms = self.clock.get();
        let tool = &mut self.tools[at];
        let pid = tool.pid;
        self.trace.say(|| format!("  pid {pid} ends"));
        tool.alive = false;
        tool.call = None;
        if let Some(line) = tool.line.take() {
            line.borrow_mut().close_client();
        }
        if let Some(name) = tool.member_of.take()
            && let Some(file) = self.groups.borrow_mut().get_mut(&name)
        {
            file.ended(pid, now_ms);
        }
        self.gone.borrow_mut().insert(pid);
    }
}

fn name(rng: &mut Rng) -> Option<GroupName> {
    GroupName::new(*rng.pick(&["a", "b"])?).ok()
}

fn limit(rng: &mut Rng) -> GroupLimit {
    let limits = [4, 66, 100, 160, 256].map(|mib| GroupLimit::Bytes(mib * MIB));
    if rng.once_in(6) {
        return GroupLimit::Unlimited;
    }
    rng.pick(&limits).copied().unwrap_or(GroupLimit::Unlimited)
}

/// A command of the operator.
fn command(rng: &mut Rng) -> RequestBody {
    let Some(group) = name(rng) else { return RequestBody::GroupList };
    match rng.below(10) {
        0 => RequestBody::GroupRemove { group },
        1 => RequestBody::GroupInspect { group },
        2 => RequestBody::GroupList,
        _ => {
            let users = [vec![], vec![1], vec![2], vec![1, 2], vec![1]];
            let mins = [0, 0, 32 * MIB, 64 * MIB];
            RequestBody::GroupSet(GroupSet {
                limit: (!rng.once_in(4)).then(|| limit(rng)),
                min_bytes: rng.once_in(4).then(|| rng.pick(&mins).copied().unwrap_or(0)),
                users: (!rng.once_in(3)).then(|| rng.pick(&users).cloned().unwrap_or_default()),
                create: !rng.once_in(5),
                ..GroupSet::of(group)
            })
        }
    }
}

/// Some commands are about caches where there are any.
fn about_caches(call: &mut RequestBody, rng: &mut Rng) {
    match call {
        RequestBody::GroupList => *call = RequestBody::CacheList { group: None },
        RequestBody::GroupSet(set) => set.ends_silent = rng.once_in(4).then(|| rng.once_in(2)),
        _ => {}
    }
}

/// A program that is to run in a group, or in one of its own.
fn join(rng: &mut Rng) -> RequestBody {
    let group = if rng.once_in(3) { None } else { name(rng) };
    let limit = (group.is_none() || rng.once_in(2)).then(|| limit(rng));
    let token = Token(rng.id());
    RequestBody::GroupJoin(GroupJoin { token, group, device: None, limit })
}

/// What an answer has said about a group.
impl Expected {
    fn set(&mut self, set: &GroupSet) {
        self.limit = set.limit.or(self.limit);
        if let Some(users) = &set.users {
            self.users = Some(users.clone());
        }
    }
}
