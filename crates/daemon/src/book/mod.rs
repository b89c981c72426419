//! The book thread: it owns the folders of groups, and moves budget between them.
//!
//! A group's files are its whole state: its members obey them without a daemon, and a daemon that
//! starts finds them. This thread makes and removes the folders, writes the limits that members obey
//! ten times a second, and compares the slots with the card once a second. It is asked by channel,
//! like the driver thread, so that no request waits for a group's lock; nor does it wait for the
//! card, which a thread of its own reads. It holds no lock while it waits for anything.

mod account;
mod caches;
mod charges;
mod folders;
mod join;
mod listing;
mod processes;
mod readings;
mod rebalance;
mod reconcile;
mod rights;
mod set;
mod shelf;
mod sizes;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use millpond_wire::message::{EventKind, Pressure, ReplyBody};
use millpond_wire::{Failure, GpuUuid, GroupName};

pub use charges::ChargedAccounts;
pub use readings::{CardReading, Cards, NvmlCards};
pub use rights::GroupCaps;

use crate::accounts::Refused;
use crate::budget::Payers;
use crate::policy::{ConnId, GroupAsk, GroupReading, OwnedGroups};
use crate::side_thread::{Inside, SideThread, Speaker};
use folders::Folders;
use shelf::Shelf;
use sizes::Sizes;

/// How often limits follow what others hold, while anybody is there to obey them.
const BALANCE_EVERY: Duration = Duration::from_millis(100);
/// How often slots are compared with the card, and everything else is looked after.
const RECONCILE_EVERY: Duration = Duration::from_secs(1);

/// What the thread is asked.
pub enum Ask {
    /// Something that a client wants.
    Group(Box<GroupAsk>),
    /// Cards that an earlier daemon saw, while the driver has not answered.
    Known(Vec<(GpuUuid, u64)>),
    /// The cards can be read from now on.
    Cards(Box<dyn Cards>),
    /// What the cards say.
    Read { readings: Vec<CardReading>, with_processes: bool },
    /// A member has made one of its group's files longer than its format; it was cut.
    TooLong { group: GroupName, file: &'static str, bytes: u64 },
    /// Change nothing more: another daemon takes over.
    Stop,
}

/// What the thread says.
#[derive(Debug)]
pub enum Told {
    Answer {
        conn: ConnId,
        number: u64,
        answer: Box<Result<ReplyBody, Failure>>,
    },
    /// Something happened to a group.
    Event {
        kind: EventKind,
        group: GroupName,
        user: Option<u32>,
        text: String,
    },
    /// What groups hold on the cards.
    Readings(Vec<GroupReading>),
    /// Which group pays for whose memory in the pond.
    Payers(Payers),
    /// How many groups users have made.
    Owned(OwnedGroups),
    /// A user was refused another group.
    CapReached {
        user: u32,
        refused: Refused,
    },
    /// Pages are wanted back from whoever is at this connection.
    Press {
        conn: ConnId,
        request: Box<Pressure>,
    },
    /// The process at this connection has not answered, and is to be ended.
    EndSilent {
        conn: ConnId,
    },
}

/// The thread, from outside.
pub type BookThread = SideThread<Ask, Told>;

/// Starts the thread for the groups of a pond. `charges` say who pays for which slab; the driver
/// thread uses them as well.
///
/// # Errors
/// What the system says.
pub fn start(
    runtime_dir: &Path,
    charges: Arc<ChargedAccounts>,
    caps: GroupCaps,
) -> std::io::Result<BookThread> {
    let folders = Folders::of_pond(runtime_dir);
    SideThread::start("millpond-book", move |Inside { asks, asked, speaker, ends }| {
        let shelf = Shelf::open(folders, charges, caps);
        Serving::new(shelf, speaker, asks).serve(&asked, &ends);
    })
}

struct Serving {
    shelf: Shelf,
    speaker: Speaker<Told>,
    asks: Sender<Ask>,
    /// Asks the reader, if there is one.
    reader: Option<Sender<bool>>,
    /// Cards that there is no thread for yet, and whether that was said.
    unread: Option<Box<dyn Cards>>,
    said_unread: bool,
    /// The reader has not answered yet.
    reading: bool,
    /// It was time to read processes as well, and the reader has not been asked yet.
    owes_processes: bool,
    balanced: Instant,
    reconciled: Instant,
    /// Where members are others than who runs the pond.
    sizes: Option<Sizes>,
}

impl Serving {
    fn new(shelf: Shelf, speaker: Speaker<Told>, asks: Sender<Ask>) -> Self {
        let now = Instant::now();
        let sizes = shelf.folders.has_many_users().then(|| Sizes::new(asks.clone()));
        Self {
            sizes,
            shelf,
            speaker,
            asks,
            reader: None,
            unread: None,
            said_unread: false,
            reading: false,
            owes_processes: false,
            balanced: now,
            reconciled: now,
        }
    }

    fn serve(mut self, asked: &Receiver<Ask>, ends: &AtomicBool) {
        loop {
            self.say();
            let ask = if self.shelf.is_empty() {
                asked.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                asked.recv_timeout(self.wake().saturating_duration_since(Instant::now()))
            };
            if ends.load(Ordering::Relaxed) {
                // Who was not answered asks the next daemon.
                return;
            }
            match ask {
                Ok(Ask::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(ask) => self.take(ask),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.shelf.look_at_pressure();
            // Whoever waits for memory does not wait for a look at all groups as well.
            self.say();
            // Also while somebody asks without an end.
            if !self.shelf.is_empty() && Instant::now() >= self.due() {
                self.tick();
            }
        }
    }

    fn say(&mut self) {
        // Before anybody is told of a new group.
        if let Some(sizes) = &self.sizes {
            sizes.follow(self.shelf.groups.keys(), |name| self.shelf.folders.of(name));
        }
        self.shelf.tell_owned();
        for told in self.shelf.told.drain(..) {
            self.speaker.say(told);
        }
    }

    /// When it is time to look at everything again.
    fn due(&self) -> Instant {
        self.balanced + if self.shelf.has_members { BALANCE_EVERY } else { RECONCILE_EVERY }
    }

    /// When to come back from waiting: also for who waits for pages.
    fn wake(&self) -> Instant {
        let due = self.due();
        self.shelf.pressure_due().map_or(due, |pressure| pressure.min(due))
    }

    fn take(&mut self, ask: Ask) {
        match ask {
            Ask::Group(ask) => self.shelf.asked(*ask),
            Ask::Known(cards) => self.shelf.cards_are(&cards),
            Ask::Cards(cards) => {
                self.shelf.cards_are(&cards.list());
                self.start_reader(cards);
            }
            Ask::Read { readings, with_processes } => {
                self.reading = false;
                self.shelf.read(readings);
                if with_processes {
                    self.shelf.reconcile();
                }
                self.rebalance();
            }
            Ask::TooLong { group, file, bytes } => self.shelf.too_long(&group, file, bytes),
            Ask::Stop => {}
        }
    }

    /// Reads the cards in a thread that may hang.
    fn start_reader(&mut self, cards: Box<dyn Cards>) {
        let (ask, asked) = channel();
        let book = self.asks.clone();
        // Handed to the thread when it runs: without a thread the cards stay here.
        let (give, take) = channel::<Box<dyn Cards>>();
        let started =
            std::thread::Builder::new().name("millpond-cards".to_owned()).spawn(move || {
                if let Ok(cards) = take.recv() {
                    readings::serve(&*cards, &asked, &book);
                }
            });
        match started {
            Ok(_) => {
                drop(give.send(cards));
                self.reader = Some(ask);
            }
            Err(error) => {
                if !std::mem::replace(&mut self.said_unread, true) {
                    tracing::error!("the cards cannot be read yet: {error}");
                }
                self.unread = Some(cards);
                self.shelf.unreadable();
            }
        }
        // At once: no limit of an earlier daemon is raised before.
        self.ask_reader();
    }

    fn ask_reader(&mut self) {
        if !self.reading
            && let Some(reader) = &self.reader
        {
            self.reading = reader.send(self.owes_processes).is_ok();
            self.owes_processes &= !self.reading;
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        let reconcile = now.duration_since(self.reconciled) >= RECONCILE_EVERY;
        self.owes_processes |= reconcile;
        let is_late = self.reading;
        self.ask_reader();
        if reconcile {
            self.reconciled = now;
            self.shelf.look_after(now);
            if let Some(cards) = self.unread.take() {
                self.start_reader(cards);
            }
            if self.reader.is_none() {
                self.shelf.reconcile();
            }
        }
        if self.reading && !is_late {
            // Limits follow what the card says now, in a moment.
            self.balanced = now;
        } else {
            self.rebalance();
        }
    }

    fn rebalance(&mut self) {
        self.shelf.rebalance();
        // From its end, so that there is time for requests however long it takes.
        self.balanced = Instant::now();
    }
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ask::Group(_) => "Group",
            Ask::Known(_) => "Known",
            Ask::Cards(_) => "Cards",
            Ask::Read { .. } => "Read",
            Ask::TooLong { .. } => "TooLong",
            Ask::Stop => "Stop",
        })
    }
}
