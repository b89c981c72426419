//! The thread that asks the pond, and what it last saw.
//!
//! The pond is asked at most once a second, however many ask here: everybody gets the same answer, written
//! once. While a page is open it is asked every second; when nobody looks, only often enough for the history.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use bytes::Bytes;
use millpond::{ErrorKind, Pond, PondBuilder};
use millpond_overview::{Collector, History, Options, Overview, Sees, Series, connect_to_see};
use millpond_view::units::now_unix_ms;
use serde::Serialize;
use tokio::sync::watch;

use crate::live::{Hub, Kind};
use crate::metrics;
use crate::refusal::Refusal;

/// What `ps` shows for this program.
pub const PROGRAM: &str = "millpond-web";
/// Between two questions, and how old an answer may be.
pub const GAP: Duration = Duration::from_secs(1);
/// Between two questions while nobody looks.
const IDLE: Duration = Duration::from_secs(5);
/// How long a daemon that restarts is waited for before the pond counts as away.
const RECONNECT: Duration = Duration::from_secs(2);
/// A daemon that says nothing for so long hangs.
const ANSWER: Duration = Duration::from_secs(5);
/// How long somebody waits here for the next answer of the pond.
const PATIENCE: Duration = Duration::from_secs(15);
/// Many readers of much data get it less often: so many bytes in a second, all together.
const BYTES_A_SECOND: usize = 64 << 20;
/// Tensors that are shown one by one unless somebody asks for another number.
pub const TENSORS: usize = 1000;

/// Whether the pond answers, as it is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PondState {
    /// `up` or `away`.
    pub state: &'static str,
    pub since_unix_ms: u64,
    /// Why it is away.
    pub reason: Option<String>,
}

/// What collecting costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    pub at_unix_ms: u64,
    pub took: Duration,
    pub collections: u64,
    pub failures: u64,
    pub readers: usize,
}

/// An overview, and what it is written as when somebody wants it.
#[derive(Debug)]
pub struct Seen {
    pub overview: Overview,
    frame: OnceLock<Bytes>,
}

impl Seen {
    /// As readers are told it.
    pub fn frame(&self) -> Bytes {
        self.frame.get_or_init(|| Kind::Overview.frame(&self.overview)).clone()
    }

    /// As JSON, in the same memory.
    pub fn json(&self) -> Bytes {
        Kind::Overview.json(&self.frame())
    }
}

/// What is known.
#[derive(Debug)]
pub struct Now {
    /// Rises with each question to the pond.
    number: u64,
    asked: Instant,
    pub pond: PondState,
    pub seen: Option<Arc<Seen>>,
    work: Work,
    scrape: OnceLock<Bytes>,
}

impl Now {
    fn new(number: u64, pond: PondState, seen: Option<Arc<Seen>>, work: Work) -> Self {
        Self { number, asked: Instant::now(), pond, seen, work, scrape: OnceLock::new() }
    }

    /// The overview, if the pond answers.
    pub fn overview(&self) -> Result<&Arc<Seen>, Refusal> {
        self.seen.as_ref().ok_or_else(|| self.away())
    }

    /// Why there is no overview.
    pub fn away(&self) -> Refusal {
        let reason = self.pond.reason.clone().unwrap_or_else(|| "the pond does not answer".into());
        Refusal::new(ErrorKind::NoPond, reason).hint("`millpond serve` starts a pond")
    }

    /// As OpenMetrics text.
    pub fn scrape(&self) -> Bytes {
        let write = || {
            let overview = self.seen.as_ref().map(|seen| &seen.overview);
            metrics::text(overview, &self.work).unwrap_or_default().into()
        };
        self.scrape.get_or_init(write).clone()
    }
}

/// Everybody's view of the pond.
#[derive(Debug)]
pub struct Watched {
    now: watch::Sender<Arc<Now>>,
    wake: SyncSender<()>,
    history: Mutex<History>,
    pub hub: Hub,
}

impl Watched {
    /// The history of a card, by its UUID.
    pub fn history(&self, device: &str, since: Duration, most: usize) -> Option<Series> {
        let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.series(device, since_ms, most)
    }

    /// What is known now, at most [`GAP`] old unless the pond takes longer to answer.
    pub async fn fresh(&self) -> Arc<Now> {
        let mut now = self.now.subscribe();
        let known = Arc::clone(&now.borrow_and_update());
        if known.number > 0 && known.asked.elapsed() < GAP {
            return known;
        }
        self.wake();
        let newer = now.wait_for(|now| now.number > known.number);
        match tokio::time::timeout(PATIENCE, newer).await {
            Ok(Ok(newer)) => Arc::clone(&newer),
            _ => known,
        }
    }

    /// What is known, without a question.
    pub fn known(&self) -> Arc<Now> {
        Arc::clone(&self.now.borrow())
    }

    /// Has the pond be asked soon.
    pub fn wake(&self) {
        // One that waits already is enough.
        let _ = self.wake.try_send(());
    }
}

/// Where the pond is.
#[derive(Clone, Debug)]
pub struct Place {
    pub folder: Option<PathBuf>,
}

impl Place {
    fn builder(&self) -> PondBuilder {
        let builder =
            Pond::builder().program(PROGRAM).reconnect_timeout(RECONNECT).request_timeout(ANSWER);
        match &self.folder {
            Some(folder) => builder.runtime_dir(folder),
            None => builder,
        }
    }

    /// Connects to see as much as the runner may.
    pub fn connect(&self) -> millpond::Result<(Pond, Sees)> {
        connect_to_see(self.builder())
    }

    /// Connects as the runner's own program, which may change what the runner may.
    pub fn connect_to_act(&self) -> millpond::Result<Pond> {
        self.builder().connect()
    }
}

/// Starts the thread.
pub fn start(place: Place) -> std::io::Result<Arc<Watched>> {
    let (wake, woken) = sync_channel(1);
    let pond = PondState {
        state: "away",
        since_unix_ms: now_unix_ms(),
        reason: Some("the pond has not answered yet".to_owned()),
    };
    let (now, _) = watch::channel(Arc::new(Now::new(0, pond, None, Work::default())));
    let watched = Arc::new(Watched { now, wake, history: Mutex::default(), hub: Hub::default() });
    let thread = Thread {
        place,
        watched: Arc::clone(&watched),
        woken,
        collector: None,
        work: Work::default(),
    };
    Builder::new().name("collector".into()).spawn(move || thread.run())?;
    Ok(watched)
}

struct Thread {
    place: Place,
    watched: Arc<Watched>,
    woken: Receiver<()>,
    collector: Option<Collector>,
    work: Work,
}

impl Thread {
    fn run(mut self) {
        let started = Instant::now();
        let mut told: Option<Overview> = None;
        loop {
            let begun = Instant::now();
            let collected = self.collect();
            if let Ok(overview) = &collected {
                let monotonic = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let history = &self.watched.history;
                let mut history = history.lock().unwrap_or_else(PoisonError::into_inner);
                history.record(monotonic, overview.at_unix_ms, &overview.cards);
            }
            self.work.took = begun.elapsed();
            self.work.at_unix_ms = now_unix_ms();
            self.work.collections += 1;
            self.work.failures += u64::from(collected.is_err());
            self.work.readers = self.watched.hub.readers();
            let bytes = self.tell(collected, &mut told);
            let pace = Duration::from_secs_f64(share(bytes, self.work.readers)).max(GAP);
            if self.wait(begun + pace).is_err() {
                return;
            }
        }
    }

    fn collect(&mut self) -> millpond::Result<Overview> {
        let collector = match &mut self.collector {
            Some(collector) => collector,
            None => {
                let (pond, sees) = self.place.connect()?;
                let options = Options { tensors: TENSORS, members: true, readings: true };
                self.collector.insert(Collector::new(pond, sees, options))
            }
        };
        let collected = collector.collect();
        if collected.is_err() {
            // Whatever was wrong with the connection, the next one has its own.
            self.collector = None;
        }
        collected
    }

    /// Makes it known, and returns how many bytes each reader is sent.
    fn tell(&self, collected: millpond::Result<Overview>, told: &mut Option<Overview>) -> usize {
        let before = self.watched.known();
        let number = before.number + 1;
        let pond = match &collected {
            Ok(_) => PondState { state: "up", since_unix_ms: now_unix_ms(), reason: None },
            Err(error) => PondState {
                state: "away",
                since_unix_ms: now_unix_ms(),
                reason: Some(error.to_string()),
            },
        };
        let is_news = pond.state != before.pond.state || number == 1;
        let pond = if is_news {
            pond
        } else {
            PondState { since_unix_ms: before.pond.since_unix_ms, ..pond }
        };
        let seen =
            collected.ok().map(|overview| Arc::new(Seen { overview, frame: OnceLock::new() }));
        let now = Arc::new(Now::new(number, pond, seen, self.work));
        // Before readers are told: one that comes in between begins with this.
        self.watched.now.send_replace(Arc::clone(&now));
        if is_news {
            match &now.pond.reason {
                None => tracing::info!("the pond answers"),
                Some(reason) => tracing::warn!("the pond is away: {reason}"),
            }
            self.watched.hub.publish(Kind::Pond, &Kind::Pond.frame(&now.pond));
        }
        let mut bytes = 0;
        if let Some(seen) = now.seen.as_ref().filter(|_| self.work.readers > 0) {
            let is_new = told.as_ref().is_none_or(|told| differs(told, &seen.overview));
            if is_new || is_news {
                let message = seen.frame();
                bytes = message.len();
                self.watched.hub.publish(Kind::Overview, &message);
                *told = Some(seen.overview.clone());
            }
        }
        bytes
    }

    /// Waits until somebody wants to know more, but not less than until `until`.
    fn wait(&self, until: Instant) -> Result<(), ()> {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        let looked_at = self.watched.hub.readers() > 0 || self.collector.is_none();
        let idle = if looked_at { Duration::ZERO } else { IDLE };
        match self.woken.recv_timeout(idle) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }
}

/// Seconds that sending so much to everybody may take.
#[expect(clippy::cast_precision_loss, reason = "a pace")]
fn share(bytes: usize, readers: usize) -> f64 {
    bytes.saturating_mul(readers) as f64 / BYTES_A_SECOND as f64
}

/// Whether two overviews differ by more than their time and what asking itself changes.
fn differs(told: &Overview, now: &Overview) -> bool {
    let mut now = Overview { at_unix_ms: told.at_unix_ms, ..now.clone() };
    now.status.counters = told.status.counters.clone();
    now.status.daemon_resident_bytes = told.status.daemon_resident_bytes;
    now != *told
}
