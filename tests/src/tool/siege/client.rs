//! One client of the siege: makes, publishes, reads what others made, deletes, until it is told to
//! stop or is killed. It says every step before and after it takes it.
//!
//! It starts ahead of its time, with its driver open and a context made, and waits for one line:
//!
//! ```text
//! go SEED SLOT [NAME=SEED,... ...]    what its predecessor had published, which must be there
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use millpond::{
    Dtype, Error, ErrorKind, GetOptions, Pond, PutSpec, Sink, Source, Tensor, TensorId, TensorSpec,
};
use millpond_cuda::Context;
use rustix::fs::{MemfdFlags, memfd_create};

use super::rng::Rng;
use super::step::Step;
use super::{PREFIX, SABOTAGE, pattern};
use crate::tool::{Trouble, print, trouble, wrong};
use crate::{PATIENCE, driver};

/// Names that one slot uses, of which the first may be large.
const KEYS: u64 = 4;
const HELD: usize = 3;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The program of one client.
pub(crate) fn run() -> Result<(), Trouble> {
    let driver = driver::open().map_err(trouble)?;
    let device = driver.devices().map_err(trouble)?.remove(0);
    // Made ahead: on a card this is most of a client's start.
    let context = Context::primary(&device).map_err(trouble)?;
    say(Step::Connecting, "");
    let pond = Pond::connect().map_err(trouble)?;
    print("ready");
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let Some(line) = lines.next() else { return Ok(()) };
    let mut words = line.split_whitespace();
    let (go, seed, slot) = (words.next(), words.next(), words.next());
    let (Some("go"), Some(seed), Some(slot)) = (go, seed.and_then(|s| s.parse().ok()), slot) else {
        return Err(wrong(format!("'{line}' is no beginning")));
    };
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    drop(lines);
    std::thread::spawn(move || {
        // Any line, or the end of the input: the parent is gone.
        let _ = std::io::stdin().lock().lines().next();
        told.store(true, Ordering::Release);
    });
    let mut client = Client {
        pond,
        slot: format!("{PREFIX}{slot}/"),
        rng: Rng::new(seed),
        own: BTreeMap::new(),
        held: Vec::new(),
        sabotage: std::env::var_os(SABOTAGE).is_some(),
    };
    client.inherit(words)?;
    while !stop.load(Ordering::Acquire) {
        client.turn();
    }
    client.end()?;
    drop(context);
    print("done");
    Ok(())
}

struct Client {
    pond: Pond,
    slot: String,
    rng: Rng,
    /// What this slot has published, by name.
    own: BTreeMap<String, TensorId>,
    /// Mapped by this process, with the seed of their bytes.
    held: Vec<(String, Tensor, u64)>,
    /// Writes a wrong byte now and then, to show that it would be found.
    sabotage: bool,
}

fn say(step: Step, rest: &str) {
    print(format!("{step} {rest}").trim_end());
}

/// What a get of somebody else's tensor may be told: its owner deletes, or is not done.
const OTHERS: &[ErrorKind] = &[ErrorKind::NotFound, ErrorKind::NotReady, ErrorKind::Timeout];

/// Says what failed, and whether it may.
fn failed(step: Step, error: &Error, allowed: &[ErrorKind]) {
    let word = if allowed.contains(&error.kind()) { "refused" } else { "error" };
    print(&format!("{word} {step} {} {}", error.kind(), error.to_string().replace('\n', " ")));
}

impl Client {
    /// What the predecessor had published must be there; the rest of it goes.
    fn inherit<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), Trouble> {
        let expected: BTreeMap<&str, Vec<u64>> = words
            .filter_map(|word| word.split_once('='))
            .map(|(name, seeds)| (name, seeds.split(',').flat_map(str::parse).collect()))
            .collect();
        for (name, seeds) in &expected {
            say(Step::Getting, name);
            let found = self.pond.get_with(*name, GetOptions::read_only());
            let read = found.and_then(|tensor| Ok((tensor.id(), tensor.to_vec()?)));
            match read.map_err(|error| error.to_string()) {
                Ok((id, bytes)) => {
                    let count = bytes.len();
                    match pattern::seed_of(name, &bytes) {
                        Ok(found) if seeds.contains(&found) => {
                            say(Step::Verified, &count.to_string())
                        }
                        Ok(found) => {
                            print(&format!("wrong '{name}' is of seed {found}: {seeds:?}"))
                        }
                        Err(text) => print(&format!("wrong {text}")),
                    }
                    self.own.insert((*name).to_owned(), id);
                }
                Err(text) => print(&format!("lost {name} {text}")),
            }
        }
        say(Step::Listing, "");
        for tensor in self.pond.list(&self.slot).map_err(trouble)? {
            let name = tensor.name.as_ref().map_or("", |name| name.as_str());
            if !expected.contains_key(name) {
                self.remove(name, tensor.tensor, &[ErrorKind::NotFound]);
            }
        }
        Ok(())
    }

    fn turn(&mut self) {
        match self.rng.below(100) {
            0..26 => self.make(),
            26..38 => self.put(),
            38..66 => self.read(),
            66..76 => self.download(),
            76..80 => self.copy(),
            80..88 => self.let_go(),
            88..96 => self.delete(),
            _ => self.look(),
        }
        // A breath, so that eight of these do not keep a small machine from starting the next one.
        std::thread::sleep(Duration::from_micros(self.rng.below(2000)));
    }

    fn bytes(&mut self, key: u64) -> u64 {
        match (key, self.rng.below(10)) {
            (0, 0..6) => self.rng.within(32 * MIB..64 * MIB + 1),
            (0 | 1, _) => self.rng.within(MIB..4 * MIB),
            (_, 0..5) => self.rng.within(64 * KIB..MIB),
            _ => self.rng.within(pattern::LEAST..64 * KIB),
        }
    }

    fn make(&mut self) {
        let (key, seed) = (self.rng.below(KEYS), self.rng.next());
        // An ephemeral one has a name of its own: it goes with its process, and not a moment
        // later must a successor find it under a name that it wants.
        let ephemeral = self.rng.below(8) == 0;
        let tail = if ephemeral { format!("e{seed:x}") } else { key.to_string() };
        let name = format!("{}{tail}", self.slot);
        if let Some(id) = self.own.remove(&name) {
            self.remove(&name, id, &[]);
        }
        let bytes = self.bytes(if ephemeral { 2 } else { key });
        say(Step::Creating, &name);
        let made =
            self.pond.create(TensorSpec::new(&name, Dtype::U8, [bytes]).ephemeral(ephemeral));
        let tensor = match made {
            Ok(tensor) => tensor,
            Err(error) => {
                // A create that the predecessor had sent and nobody had read yet.
                failed(Step::Creating, &error, &[ErrorKind::Exists]);
                if error.kind() == ErrorKind::Exists
                    && let Ok(found) = self.pond.inspect(name.as_str())
                {
                    self.remove(&name, found.info.tensor, &[ErrorKind::NotFound]);
                }
                return;
            }
        };
        say(Step::Writing, &name);
        let mut content = pattern::bytes(&name, bytes, seed);
        if self.sabotage
            && let Some(last) = content.last_mut()
        {
            *last ^= u8::from(self.rng.below(4) == 0);
        }
        if let Err(error) = tensor.copy_from_host(0, &content) {
            return failed(Step::Writing, &error, &[]);
        }
        say(Step::Publishing, &name);
        match tensor.publish() {
            Ok(1) => {}
            Ok(generation) => return print(&format!("wrong '{name}': generation {generation}")),
            Err(error) => return failed(Step::Publishing, &error, &[]),
        }
        if ephemeral {
            say(Step::Published, "");
        } else {
            say(Step::Published, &format!("{name} {seed}"));
        }
        self.own.insert(name.clone(), tensor.id());
        if self.rng.below(3) == 0 {
            self.hold(name, tensor, seed);
        }
    }

    /// Through the mover, in the place of what has the name if there is any.
    fn put(&mut self) {
        let (key, seed) = (self.rng.below(KEYS), self.rng.next());
        let name = format!("{}{key}", self.slot);
        let content = pattern::bytes(&name, self.bytes(key), seed);
        let spec = PutSpec::new(&name, Dtype::U8, [content.len() as u64]).replace(true);
        // From a file, which the mover reads itself, or from anywhere else.
        let source = if self.rng.below(2) == 0 { file(&content) } else { None };
        let source = match source {
            Some(file) => Source::file(file, "memory"),
            None => Ok(Source::reader(content.as_slice(), "memory")),
        };
        say(Step::Uploading, &format!("{name} {seed}"));
        match source.and_then(|source| self.pond.put(spec, source, |_| {})) {
            Ok(info) => {
                say(Step::Published, &format!("{name} {seed}"));
                self.own.insert(name, info.tensor);
            }
            Err(error) => failed(Step::Uploading, &error, &[ErrorKind::Mover]),
        }
    }

    /// Reads what anybody has made through the mover, without mapping it.
    fn download(&mut self) {
        let Some(name) = self.any_name() else { return };
        let mut bytes = Vec::new();
        say(Step::Downloading, &name);
        let sink = Sink::writer(&mut bytes, "memory");
        match self.pond.download(name.as_str(), sink, |_| {}) {
            Ok(_) => drop(judged(&name, &bytes)),
            Err(error) => {
                let allowed = [OTHERS, &[ErrorKind::Mover]].concat();
                failed(Step::Downloading, &error, &allowed);
            }
        }
    }

    /// One of one's own, into a tensor without a name.
    fn copy(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let index = self.rng.index(self.own.len());
        let Some((name, from)) = self.own.iter().nth(index).map(|(n, id)| (n.clone(), *id)) else {
            return;
        };
        say(Step::Copying, &name);
        let copied = self.pond.inspect(from).and_then(|found| {
            let shape = [found.info.bytes];
            let to = self.pond.reserve(TensorSpec::unnamed(Dtype::U8, shape).ephemeral(true))?;
            let moved = self.pond.copy(from, to.tensor, |_| {});
            let read = moved.and_then(|_| {
                self.pond.publish(to.tensor)?;
                self.pond.get(to.tensor)?.to_vec()
            });
            self.pond.delete(to.tensor)?;
            read
        });
        match copied {
            Ok(bytes) => drop(judged(&name, &bytes)),
            Err(error) => failed(Step::Copying, &error, &[ErrorKind::Mover]),
        }
    }

    fn any_name(&mut self) -> Option<String> {
        say(Step::Listing, "");
        let list = match self.pond.list(PREFIX) {
            Ok(list) => list,
            Err(error) => {
                failed(Step::Listing, &error, &[]);
                return None;
            }
        };
        let index = self.rng.index(list.len());
        list.get(index)?.name.as_ref().map(|name| name.as_str().to_owned())
    }

    /// Reads what anybody has made, all of it.
    fn read(&mut self) {
        let Some(name) = self.any_name() else { return };
        say(Step::Getting, &name);
        let wait = Duration::from_millis(self.rng.within(1..60));
        match self.pond.get_with(name.as_str(), GetOptions::read_only().wait(wait)) {
            Ok(tensor) => {
                if let Some(seed) = verified(&name, &tensor) {
                    self.hold(name, tensor, seed);
                }
            }
            Err(error) => failed(Step::Getting, &error, OTHERS),
        }
    }

    fn hold(&mut self, name: String, tensor: Tensor, seed: u64) {
        self.held.push((name, tensor, seed));
        if self.held.len() > HELD {
            self.let_go();
        }
    }

    /// What is held must have the same bytes until the end, whoever has deleted it meanwhile.
    fn let_go(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let index = self.rng.index(self.held.len());
        let (name, tensor, seed) = self.held.swap_remove(index);
        if verified(&name, &tensor).is_some_and(|found| found != seed) {
            print(&format!("wrong '{name}' has changed under its reader"));
        }
        if tensor.is_lost() {
            print(&format!("lost {name} is of another pond"));
        }
        drop(tensor);
        if self.rng.below(4) == 0 {
            say(Step::Releasing, "");
            match self.pond.flush(PATIENCE) {
                Ok(true) => {}
                Ok(false) => print("wrong: the retire list does not become empty"),
                Err(error) => failed(Step::Releasing, &error, &[]),
            }
        }
    }

    fn delete(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let index = self.rng.index(self.own.len());
        let name = self.own.keys().nth(index).cloned().unwrap_or_default();
        if let Some(id) = self.own.remove(&name) {
            self.remove(&name, id, &[]);
        }
    }

    /// By identity: a name may be another tensor's by the time that this is heard.
    fn remove(&mut self, name: &str, id: TensorId, allowed: &[ErrorKind]) {
        say(Step::Deleting, name);
        match self.pond.delete(id) {
            Ok(()) => say(Step::Deleted, name),
            Err(error) => failed(Step::Deleting, &error, allowed),
        }
    }

    fn look(&mut self) {
        say(Step::Listing, "");
        let looked = match self.rng.below(3) {
            0 => self.pond.ping(),
            1 => self.pond.status().map(drop),
            _ => self.pond.clients().map(drop),
        };
        if let Err(error) = looked {
            failed(Step::Listing, &error, &[]);
        }
    }

    fn end(mut self) -> Result<(), Trouble> {
        while !self.held.is_empty() {
            self.let_go();
        }
        for (name, id) in std::mem::take(&mut self.own) {
            self.remove(&name, id, &[]);
        }
        self.pond.close().map_err(trouble)
    }
}

fn verified(name: &str, tensor: &Tensor) -> Option<u64> {
    let bytes = match tensor.to_vec() {
        Ok(bytes) => bytes,
        Err(error) => {
            failed(Step::Getting, &error, &[]);
            return None;
        }
    };
    judged(name, &bytes)
}

fn judged(name: &str, bytes: &[u8]) -> Option<u64> {
    match pattern::seed_of(name, bytes) {
        Ok(seed) => {
            say(Step::Verified, &bytes.len().to_string());
            Some(seed)
        }
        Err(text) => {
            print(&format!("wrong {text}"));
            None
        }
    }
}

/// A file in memory with these bytes.
fn file(bytes: &[u8]) -> Option<File> {
    let mut file = File::from(memfd_create("siege", MemfdFlags::CLOEXEC).ok()?);
    file.write_all(bytes).and_then(|()| file.rewind()).ok()?;
    Some(file)
}
