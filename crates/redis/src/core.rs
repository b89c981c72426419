//! The one thread that carries commands out and writes hashes, so that no write overtakes another.
//!
//! The order of a command is: the daemon, then the hash, then the answer, then its removal from the
//! processing list. What was decided is kept until Redis has it: a lost connection repeats the writes,
//! never the command.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use millpond_wire::TensorId;
use tracing::{info, warn};

use crate::again;
use crate::answer::{Fields, Place, Refusal};
use crate::carry::Outcome;
use crate::command;
use crate::keys::{self, Keys, Source};
use crate::said::{Away, Strangers};
use crate::store::{BATCH, Call, Failed, Got, Lost, Pushed, Store, Taken};
use crate::truth::{Status, Tensor, Told, Trouble, Truth};

/// Before something that is away is tried again, at first and at most.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Batches of one list before others have their turn.
const TURN: usize = 8;
/// More than the commands of a few batches: their events come within that time.
const RECENT: usize = 4 * BATCH;
/// Handles that are remembered: some 400 KiB, and a question less for each get, delete and info.
const HANDLES: usize = 4096;

/// Why the core gives up what it is doing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Halt {
    #[error("the bridge was told to end")]
    Stop,
    /// Only where nobody waits: with `--once`.
    #[error("{0}")]
    Away(String),
}

/// What a hash is to become.
#[derive(Clone, Debug)]
pub enum Write {
    Show(Fields),
    Hide,
}

pub struct Core<T, S> {
    pub truth: T,
    pub store: S,
    pub keys: Arc<Keys>,
    pub status: Option<Status>,
    /// Hashes that Redis does not have yet.
    pub(crate) writes: BTreeMap<String, Write>,
    /// Commands that are decided: what is left is to say so.
    pub(crate) decided: Vec<Call>,
    stop: Arc<AtomicBool>,
    /// Whether something that is away is waited for.
    patient: bool,
    pub repair_due: bool,
    pub(crate) redis_away: Away,
    pond_away: Away,
    strangers: Strangers,
    /// Tensors that this bridge made itself: the event is no news.
    recent: VecDeque<TensorId>,
    /// Names of tensors that are gone, and that processes still hold.
    pub(crate) ghosts: BTreeSet<String>,
    /// Of tensors that commands were about lately.
    handles: BTreeMap<TensorId, [u8; millpond_wire::HANDLE_BYTES]>,
}

impl<T: Truth, S: Store> Core<T, S> {
    pub fn new(truth: T, store: S, keys: Arc<Keys>, stop: Arc<AtomicBool>, patient: bool) -> Self {
        Self {
            truth,
            store,
            keys,
            status: None,
            writes: BTreeMap::new(),
            decided: Vec::new(),
            stop,
            patient,
            repair_due: true,
            redis_away: Away::default(),
            pond_away: Away::default(),
            strangers: Strangers::default(),
            recent: VecDeque::with_capacity(RECENT),
            ghosts: BTreeSet::new(),
            handles: BTreeMap::new(),
        }
    }

    /// Carries out a command, and what waits behind it in the same list.
    pub fn work(&mut self, source: Source, first: Taken) -> Result<(), Halt> {
        let mut batch = first;
        for turn in 1.. {
            // Behind one that came alone there is rarely more: to look for one costs less.
            let at_most = if turn == 1 { 1 } else { BATCH };
            self.carry_all(source, batch)?;
            let take = (turn < TURN).then_some((source, at_most));
            batch = self.flush(take)?;
            if batch.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Carries out what was taken from a list and not answered. Nobody else has any of it: whoever
    /// waits at that list waits for this to end.
    pub fn recover(&mut self, source: Source) -> Result<(), Halt> {
        let mut before = Taken::default();
        loop {
            let Got::Commands(left) = self.one(Call::Waiting(source))? else { return Ok(()) };
            if left.is_empty() {
                return Ok(());
            }
            if left == before {
                let count = counted(left.commands.len());
                warn!("{count} cannot be taken from the processing list");
                return Ok(());
            }
            before.clone_from(&left);
            let count = counted(left.commands.len());
            info!("{count} that a lost connection or bridge left behind");
            self.carry_all(source, left)?;
            self.flush(None)?;
        }
    }

    /// Carries out all that waits in a list, without waiting for more.
    pub fn drain(&mut self, source: Source) -> Result<(), Halt> {
        loop {
            let take = Call::Take { source, at_most: BATCH };
            let Got::Commands(batch) = self.one(take)? else { return Ok(()) };
            if batch.is_empty() {
                return Ok(());
            }
            self.carry_all(source, batch)?;
            self.flush(None)?;
        }
    }

    fn carry_all(&mut self, source: Source, taken: Taken) -> Result<(), Halt> {
        if taken.removed > 0 {
            self.stranger(&format!(
                "{} removed unread, {} bytes long; a command has at most {}",
                millpond_view::units::count(taken.removed, "command"),
                taken.longest,
                command::COMMAND_BYTES,
            ));
        }
        taken.commands.into_iter().try_for_each(|pushed| self.carry(source, pushed))
    }

    fn carry(&mut self, source: Source, Pushed { raw, gave }: Pushed) -> Result<(), Halt> {
        let parsed = command::parse(&raw);
        let reply = parsed.envelope.reply.clone();
        let wrong_reply = reply.as_deref().is_some_and(|key| !self.keys.is_reply(key));
        let op = parsed.command.as_ref().ok().map(|command| command.op.word());
        let write = |outcome| crate::answer::write(&parsed.envelope, op, outcome);
        let said = match parsed.command {
            Ok(_) if wrong_reply => {
                let wanted = self.keys.reply_prefix();
                self.stranger(&format!("a command wants its answer elsewhere than in {wanted}"));
                None
            }
            Ok(command) => match self.carry_out(&command, gave.as_deref())? {
                Outcome::Forward(node) => {
                    self.decided.push(Call::Forward { source, raw, node });
                    return Ok(());
                }
                Outcome::Said(answer) => Some((answer, None)),
                Outcome::Given(given) => {
                    let answer = write(&given);
                    let memory = again::memory(&command.op, &given, &answer);
                    Some((answer, memory.filter(|_| parsed.envelope.id.is_some())))
                }
            },
            Err(refusal) => {
                self.stranger(&refusal.message);
                Some((write(&Err(refusal)), None))
            }
        };
        let (answer, gave) = said.unzip();
        let reply = reply.filter(|_| !wrong_reply).zip(answer);
        self.decided.push(Call::Answer { source, raw, reply, gave: gave.flatten() });
        Ok(())
    }

    /// Says what strangers did wrong, so often that it is of use and no more.
    pub fn stranger(&mut self, what: &str) {
        if let Some(more) = self.strangers.is_news(Instant::now()) {
            let what = millpond_console::shown::printable(what).into_owned();
            let what: String = what.chars().take(400).collect();
            match more {
                0 => warn!("refused: {what}"),
                more => warn!("refused: {what} (and {more} more since)"),
            }
        }
    }

    /// Remembers that a tensor's beginning is this bridge's own work.
    pub fn is_mine(&mut self, id: TensorId) {
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(id);
    }

    /// Whether it is.
    pub fn was_mine(&self, id: TensorId) -> bool {
        self.recent.contains(&id)
    }

    /// Remembers what a hash is to become.
    pub fn write(&mut self, name: String, write: Write) {
        if keys::is_shown(&name) {
            self.writes.insert(name, write);
        }
    }

    /// The fields of a tensor, with its handle if it was made through Redis.
    pub fn fields(&mut self, tensor: &Tensor) -> Result<Fields, Halt> {
        let held = tensor.holds.is_some() && tensor.state == millpond_wire::TensorState::Ready;
        if !held {
            return self.fields_with(tensor, None);
        }
        let handle = match self.handles.get(&tensor.id) {
            Some(handle) => Some(*handle),
            None => self.ask(|truth| truth.peek(tensor.id))?.ok(),
        };
        if let Some(handle) = handle {
            self.knows_handle(tensor.id, handle);
        }
        self.fields_with(tensor, handle.as_ref())
    }

    /// A tensor's handle stays the same for as long as its memory can be opened.
    pub fn knows_handle(&mut self, id: TensorId, handle: [u8; millpond_wire::HANDLE_BYTES]) {
        if self.handles.len() >= HANDLES {
            self.handles.clear();
        }
        self.handles.insert(id, handle);
    }

    pub fn fields_with(
        &mut self,
        tensor: &Tensor,
        handle: Option<&[u8; millpond_wire::HANDLE_BYTES]>,
    ) -> Result<Fields, Halt> {
        let knows = |status: &Status| status.gpus.iter().any(|gpu| gpu.uuid == tensor.gpu);
        if !self.status.as_ref().is_some_and(knows) {
            self.look()?;
        }
        let (mut device, mut epoch) = (0, 0);
        if let Some(status) = &self.status {
            let gpu = status.gpus.iter().find(|gpu| gpu.uuid == tensor.gpu);
            (device, epoch) = (gpu.map_or(0, |gpu| gpu.index), status.epoch);
        }
        let place = Place { node: self.keys.node(), epoch, device, now_unix_ms: now_unix_ms() };
        Ok(Fields::of(tensor, handle, place))
    }

    /// Asks the pond how it is.
    pub fn look(&mut self) -> Result<(), Halt> {
        let status = self.ask(T::status)?;
        self.status = status.ok().or(self.status.take());
        Ok(())
    }

    /// Asks the pond, and waits for one that is away.
    pub fn ask<R>(
        &mut self,
        mut call: impl FnMut(&mut T) -> Told<R>,
    ) -> Result<Result<R, Refusal>, Halt> {
        let mut pause = PAUSE;
        loop {
            match call(&mut self.truth) {
                Ok(given) => {
                    if self.pond_away.is_back() {
                        info!("the pond answers again");
                        self.repair_due = true;
                    }
                    return Ok(Ok(given));
                }
                Err(Trouble::No(refusal)) => return Ok(Err(refusal)),
                Err(Trouble::Away(why)) => {
                    if !self.patient {
                        return Err(Halt::Away(why));
                    }
                    if self.pond_away.is_news(Instant::now()) {
                        warn!("waiting for the pond: {why}");
                    }
                    pause = self.pause(pause)?;
                }
            }
        }
    }

    /// One call of Redis, as often as it needs.
    pub fn one(&mut self, call: Call) -> Result<Got, Halt> {
        let mut pause = PAUSE;
        loop {
            let why = match self.store.call(std::slice::from_ref(&call)) {
                Err(Lost(why)) => {
                    self.reconnect(&why)?;
                    continue;
                }
                Ok(mut gotten) => match gotten.pop() {
                    Some(Ok(got)) => return Ok(got),
                    Some(Err(Failed::Never(why))) => {
                        warn!("Redis refuses: {}", millpond_console::shown::printable(&why));
                        return Ok(Got::Nothing);
                    }
                    Some(Err(Failed::Later(why))) => why,
                    None => return Ok(Got::Nothing),
                },
            };
            pause = self.later(&why, pause)?;
        }
    }

    /// Connects, for as long as it takes.
    pub fn reconnect(&mut self, why: &str) -> Result<(), Halt> {
        let mut pause = PAUSE;
        tracing::debug!("connecting to Redis: {why}");
        self.repair_due = true;
        while let Err(Lost(why)) = self.store.reconnect() {
            pause = self.later(&why, pause)?;
        }
        if self.redis_away.is_back() {
            info!("Redis answers again");
        }
        Ok(())
    }

    /// Redis cannot just now.
    pub(crate) fn later(&mut self, why: &str, pause: Duration) -> Result<Duration, Halt> {
        if !self.patient {
            return Err(Halt::Away(format!("Redis: {why}")));
        }
        // Whoever is back may have forgotten.
        self.repair_due = true;
        if self.redis_away.is_news(Instant::now()) {
            warn!("waiting for Redis: {}", millpond_console::shown::printable(why));
        }
        self.pause(pause)
    }

    /// Waits a moment for a pond that cannot just now.
    pub fn wait_for_pond(&mut self) -> Result<(), Halt> {
        if !self.patient {
            return Err(Halt::Away("the pond refuses a listing".to_owned()));
        }
        self.pause(PAUSE * 4).map(drop)
    }

    /// Waits a moment for a Redis that cannot just now.
    pub fn wait_for_redis(&mut self, why: &str) -> Result<(), Halt> {
        self.later(why, PAUSE * 4).map(drop)
    }

    fn pause(&self, pause: Duration) -> Result<Duration, Halt> {
        if self.is_stopped() {
            return Err(Halt::Stop);
        }
        std::thread::sleep(pause);
        Ok((pause * 2).min(LONGEST_PAUSE))
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether another node lives.
    pub fn lives(&mut self, node: &str) -> Result<bool, Halt> {
        if !keys::is_node(node) {
            return Ok(false);
        }
        Ok(self.one(Call::Heartbeat(node.to_owned()))? == Got::Is(true))
    }
}

fn counted(commands: usize) -> String {
    millpond_view::units::count(u64::try_from(commands).unwrap_or(u64::MAX), "command")
}

/// The time as hashes have it.
pub fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
