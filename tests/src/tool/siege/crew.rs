//! The clients of the siege as their parent sees them: started ahead, listened to, replaced.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::report::Tally;
use super::rng::Rng;
use super::step::Step;
use crate::{PATIENCE, Process, TestPond};

/// Names that must be there, with the seeds that their bytes may have: while one is replaced, the
/// old or the new one.
type Published = BTreeMap<String, Vec<u64>>;

/// What a client has said about the tensors that must outlive it.
#[derive(Debug, Default)]
struct Said {
    published: Published,
    last: Option<Step>,
    done: bool,
}

#[derive(Debug)]
struct Member {
    child: Child,
    stdin: ChildStdin,
    process: Process,
    said: Arc<Mutex<Said>>,
    slot: Arc<Mutex<Option<usize>>>,
    listener: JoinHandle<()>,
}

#[derive(Debug)]
pub(super) struct Crew<'a> {
    pond: &'a TestPond,
    rng: Rng,
    tally: Arc<Mutex<Tally>>,
    members: Vec<Member>,
    spares: VecDeque<Member>,
    wanted_spares: usize,
    steps: Receiver<(usize, Step)>,
    sender: Sender<(usize, Step)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Crew<'a> {
    pub(super) fn start(
        pond: &'a TestPond,
        count: usize,
        spares: usize,
        seed: u64,
        tally: Arc<Mutex<Tally>>,
    ) -> Self {
        let (sender, steps) = channel();
        let mut crew = Self {
            pond,
            rng: Rng::new(seed),
            tally,
            members: Vec::new(),
            spares: VecDeque::new(),
            wanted_spares: spares + count,
            steps,
            sender,
        };
        crew.top_up();
        for slot in 0..count {
            let member = crew.begin(slot, &Published::new());
            crew.members.push(member);
        }
        crew.wanted_spares = spares;
        crew.top_up();
        crew
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Starts spares; they make themselves ready meanwhile.
    pub(super) fn top_up(&mut self) {
        while self.spares.len() < self.wanted_spares {
            let mut command = self.pond.pondtool();
            command.arg("siege-client");
            let member = Member::start(command, &self.tally, self.sender.clone());
            self.spares.push_back(member);
        }
    }

    /// Puts a spare to work.
    fn begin(&mut self, slot: usize, published: &Published) -> Member {
        self.top_up();
        let mut member = self.spares.pop_front().expect("there is a spare");
        lock(&member.said).published.clone_from(published);
        *lock(&member.slot) = Some(slot);
        let mut line = format!("go {} {slot}", self.rng.next());
        for (name, seeds) in published {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            line.push_str(&format!(" {name}={}", seeds.join(",")));
        }
        // One that is gone already has said why, and is counted when it is listened to.
        let _ = writeln!(member.stdin, "{line}");
        member
    }

    /// The next time that any client is at such a step; whoever it is.
    pub(super) fn await_step(
        &mut self,
        wanted: impl Fn(Step) -> bool,
        patience: Duration,
    ) -> Option<usize> {
        while self.steps.try_recv().is_ok() {}
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (slot, step) = self.steps.recv_timeout(left).ok()?;
            if wanted(step) {
                return Some(slot);
            }
        }
    }

    /// What any client said last.
    pub(super) fn last_step(&self, slot: usize) -> Option<Step> {
        lock(&self.members[slot].said).last
    }

    pub(super) fn stop(&self, slot: usize) {
        self.members[slot].process.stop();
    }

    pub(super) fn kill(&self, slot: usize) {
        self.members[slot].process.kill();
    }

    /// Puts a spare into the place of a killed one, with what that one had published.
    pub(super) fn replace(&mut self, slot: usize) {
        let member = &mut self.members[slot];
        assert!(member.process.wait(PATIENCE), "a killed client does not go");
        let status = member.child.wait();
        // A client that ended by itself before it could be killed has failed.
        if let Some(code) = status.ok().and_then(|status| status.code()) {
            let text = format!("client {slot} ended by itself with {code}");
            lock(&self.tally).violations.push(text);
        }
        while !self.members[slot].listener.is_finished() {
            std::thread::sleep(Duration::from_micros(100));
        }
        let published = std::mem::take(&mut lock(&self.members[slot].said).published);
        self.members[slot] = self.begin(slot, &published);
        self.top_up();
    }

    /// Tells everybody to end, and waits for it.
    pub(super) fn end(mut self) {
        for mut member in std::mem::take(&mut self.members) {
            let _ = writeln!(member.stdin, "stop");
            self.ended(member, true);
        }
        // A spare that is told nothing ends with nothing done.
        for member in std::mem::take(&mut self.spares) {
            self.ended(member, false);
        }
    }

    fn ended(&self, mut member: Member, worked: bool) {
        drop(member.stdin);
        let ended = member.process.wait(2 * PATIENCE);
        if !ended {
            member.process.kill();
        }
        let status = member.child.wait();
        let _ = member.listener.join();
        let done = ended && lock(&member.said).done == worked;
        if !(done && status.as_ref().is_ok_and(std::process::ExitStatus::success)) {
            let slot = *lock(&member.slot);
            let text = format!("client {slot:?} did not end well: {status:?}");
            lock(&self.tally).violations.push(text);
        }
    }
}

impl Member {
    fn start(
        mut command: Command,
        tally: &Arc<Mutex<Tally>>,
        steps: Sender<(usize, Step)>,
    ) -> Self {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.expect("a client can be started");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let (said, slot) = (Arc::default(), Arc::default());
        let ear =
            Ear { tally: tally.clone(), said: Arc::clone(&said), slot: Arc::clone(&slot), steps };
        let listener = std::thread::spawn(move || {
            // A line without an end was cut off by the kill.
            let mut stdout = stdout;
            let mut line = String::new();
            while stdout.read_line(&mut line).is_ok() && line.ends_with('\n') {
                ear.hear(line.trim_end());
                line.clear();
            }
        });
        let stdin = child.stdin.take().expect("it is piped");
        let process = Process::open(child.id()).expect("a child is there until it is waited for");
        Self { child, stdin, process, said, slot, listener }
    }
}

/// Listens to one client.
struct Ear {
    tally: Arc<Mutex<Tally>>,
    said: Arc<Mutex<Said>>,
    slot: Arc<Mutex<Option<usize>>>,
    steps: Sender<(usize, Step)>,
}

impl Ear {
    fn hear(&self, line: &str) {
        let slot = *lock(&self.slot);
        let mut tally = lock(&self.tally);
        tally.heard(slot, line);
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let Some(step) = Step::parse(word) else {
            if word == "done" {
                lock(&self.said).done = true;
            }
            return;
        };
        drop(tally);
        let mut said = lock(&self.said);
        said.last = Some(step);
        match (step, rest.split_once(' ')) {
            (Step::Published, Some((name, seed))) => {
                said.published.insert(name.to_owned(), vec![seed.parse().unwrap_or(0)]);
            }
            (Step::Uploading, Some((name, seed))) => {
                if let Some(seeds) = said.published.get_mut(name) {
                    seeds.push(seed.parse().unwrap_or(0));
                }
            }
            (Step::Deleting, None) => drop(said.published.remove(rest)),
            _ => {}
        }
        drop(said);
        if let Some(slot) = slot {
            let _ = self.steps.send((slot, step));
        }
    }
}
