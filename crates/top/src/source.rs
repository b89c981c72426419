//! The pond, from threads that may wait for it: whoever draws never does.
//!
//! One thread collects pictures and asks about what is looked at, one follows the events, and each change has
//! its own. All of them come back as [`News`].

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use millpond::{ErrorKind, EventKind, GroupSet, Pond, PondBuilder};
use millpond_overview::{Collector, Options, Overview, Sees, Selection};
use millpond_view::{self as view, Event, Tags};

use crate::actions::{Action, Refusal};
use crate::state::{Answer, Subject};

/// What `ps` shows for this program.
const PROGRAM: &str = "millpond top";
/// A daemon that was killed is back sooner; one that is away longer is said to be away.
const RECONNECT: Duration = Duration::from_millis(250);
/// A pond that says nothing for so long is away.
const REQUEST: Duration = Duration::from_secs(10);
/// Whoever has confirmed a change waits for a daemon that is just coming back.
const RECONNECT_TO_ACT: Duration = Duration::from_secs(5);
/// Between two looks for a pond that is away.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// After collecting, a rest so many times as long: a large pond is asked less often.
const REST: u32 = 4;
/// No rest is longer: what took long may have been a daemon that hung for once.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// So many tensors are listed one by one; the others are sums.
const TENSORS: usize = 10_000;
/// A page of a listing.
const PAGE: NonZeroU32 = NonZeroU32::new(4096).unwrap();
/// Events that come together are shown together.
const GATHER: Duration = Duration::from_millis(200);
/// The number of a pond's first event.
const FIRST: u64 = 1;
/// So many events at once are a heap.
const GATHERED: usize = 1000;

/// Which socket is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `watch.sock` where this user may, else `sock`.
    Best,
    Watch,
    Own,
}

/// How to come to the pond.
#[derive(Clone, Debug)]
pub struct Way {
    pub folder: Option<PathBuf>,
    pub door: Door,
}

/// What comes from the pond.
#[derive(Debug)]
pub enum News {
    Picture(Arc<Overview>),
    Events(Vec<Event>),
    Away(String),
    Answer(Subject, Answer),
    Acted(Action, Result<(), Refusal>),
}

/// What a pond is asked for beside pictures.
#[derive(Debug)]
enum Ask {
    Inspect(Option<Subject>),
    Narrow(String),
    Now,
}

/// The threads.
#[derive(Debug)]
pub struct Source {
    asks: Sender<Ask>,
    way: Way,
}

impl Source {
    /// Starts them. They end with the process, or when nobody takes their news.
    pub fn start(
        way: Way,
        every: Duration,
        news: impl Fn(News) -> bool + Clone + Send + 'static,
    ) -> Self {
        let (asks, asked) = channel();
        let (for_events, tell) = (way.clone(), news.clone());
        thread::spawn(move || follow(&for_events, &tell));
        let for_pictures = way.clone();
        thread::spawn(move || collect(&for_pictures, every, &asked, &news));
        Self { asks, way }
    }

    pub fn inspect(&self, subject: Option<Subject>) {
        let _ = self.asks.send(Ask::Inspect(subject));
    }

    pub fn narrow(&self, prefix: String) {
        let _ = self.asks.send(Ask::Narrow(prefix));
    }

    /// Does what was confirmed, and then has a picture that shows it.
    pub fn act(&self, action: Action, news: impl Fn(News) -> bool + Send + 'static) {
        let (way, asks) = (self.way.clone(), self.asks.clone());
        thread::spawn(move || {
            let outcome = act(&way, &action);
            news(News::Acted(action, outcome));
            let _ = asks.send(Ask::Now);
        });
    }
}

/// One picture, for whoever wants no more.
///
/// # Errors
/// What the pond says.
pub fn once(way: &Way) -> Result<Overview, millpond::Error> {
    connect(way)?.collect()
}

fn builder(folder: Option<&Path>, reconnect: Duration) -> PondBuilder {
    let builder = Pond::builder().program(PROGRAM);
    let builder = builder.reconnect_timeout(reconnect).request_timeout(REQUEST);
    match folder {
        Some(folder) => builder.runtime_dir(folder),
        None => builder,
    }
}

fn open(way: &Way) -> Result<(Pond, Sees), millpond::Error> {
    let builder = builder(way.folder.as_deref(), RECONNECT);
    if way.door == Door::Own {
        return Ok((builder.connect()?, Sees::Own));
    }
    match builder.clone().watch().connect() {
        Ok(pond) => Ok((pond, Sees::Everything)),
        Err(error) if way.door == Door::Watch => Err(error),
        // A pond without that socket is of an earlier version, or is none.
        Err(error) if matches!(error.kind(), ErrorKind::Denied | ErrorKind::NoPond) => {
            Ok((builder.connect().map_err(|_| error)?, Sees::Own))
        }
        Err(error) => Err(error),
    }
}

fn connect(way: &Way) -> Result<Collector, millpond::Error> {
    let (pond, sees) = open(way)?;
    Ok(Collector::new(
        pond,
        sees,
        Options { tensors: TENSORS, readings: true, ..Options::default() },
    ))
}

fn collect(
    way: &Way,
    every: Duration,
    asked: &Receiver<Ask>,
    news: &impl Fn(News) -> bool,
) -> Option<()> {
    let tell = |it: News| news(it).then_some(());
    let mut looker = Looker { collector: None, last: None, prefix: String::new(), subject: None };
    loop {
        let begun = Instant::now();
        let looked = looker.look(way);
        let took = begun.elapsed();
        let pause = match &looked {
            Ok(_) => every.saturating_sub(took).max(took.saturating_mul(REST).min(LONGEST_REST)),
            Err(_) => every.min(LOOK_AGAIN),
        };
        tell(looked.map_or_else(|error| News::Away(error.to_string()), News::Picture))?;
        if let Some(answer) = looker.inspect() {
            tell(answer)?;
        }
        let until = Instant::now() + pause;
        loop {
            let first = match asked.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(ask) => ask,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            let (mut is_narrowed, mut is_inspected, mut is_due) = (false, false, false);
            // Somebody who types asks faster than a large pond answers: only the last one counts.
            for ask in std::iter::once(first).chain(asked.try_iter()) {
                match ask {
                    Ask::Inspect(subject) => (looker.subject, is_inspected) = (subject, true),
                    Ask::Narrow(prefix) => (looker.prefix, is_narrowed) = (prefix, true),
                    Ask::Now => is_due = true,
                }
            }
            if let Some(answer) = is_inspected.then(|| looker.inspect()).flatten() {
                tell(answer)?;
            }
            if is_due {
                break;
            }
            // What fails here fails again in a moment, and is said then.
            if let Some(Ok(picture)) = is_narrowed.then(|| looker.narrowed()).flatten() {
                tell(News::Picture(picture))?;
            }
        }
    }
}

/// Who looks at the pond again and again.
struct Looker {
    collector: Option<Collector>,
    /// The last picture, with nothing added to it.
    last: Option<Arc<Overview>>,
    prefix: String,
    subject: Option<Subject>,
}

impl Looker {
    fn look(&mut self, way: &Way) -> Result<Arc<Overview>, millpond::Error> {
        let looked = self.overview(way);
        if looked.is_err() {
            // Another pond may be there next time, behind another socket.
            self.collector = None;
        }
        let overview = Arc::new(looked?);
        self.last = Some(Arc::clone(&overview));
        self.narrowed().unwrap_or(Ok(overview))
    }

    fn overview(&mut self, way: &Way) -> Result<Overview, millpond::Error> {
        match &mut self.collector {
            Some(collector) => collector.collect(),
            none => none.insert(connect(way)?).collect(),
        }
    }

    /// The last picture with the tensors that the filter asks for.
    fn narrowed(&self) -> Option<Result<Arc<Overview>, millpond::Error>> {
        let (collector, last) = (self.collector.as_ref()?, self.last.as_ref()?);
        if self.prefix.is_empty() || last.tensors_total <= last.tensors_shown {
            return Some(Ok(Arc::clone(last)));
        }
        let mut overview = Overview::clone(last);
        Some(narrow(collector, &mut overview, &self.prefix).map(|()| Arc::new(overview)))
    }

    fn inspect(&self) -> Option<News> {
        let (collector, subject) = (self.collector.as_ref()?, self.subject.as_ref()?);
        Some(News::Answer(subject.clone(), inspect(collector, subject)))
    }
}

/// Adds the tensors whose names begin so to those that are listed.
fn narrow(
    collector: &Collector,
    overview: &mut Overview,
    prefix: &str,
) -> Result<(), millpond::Error> {
    let mut selection = Selection::new(TENSORS);
    for page in collector.pond().list_pages(prefix, PAGE) {
        selection.add(&page?);
    }
    let (found, _, total) = selection.finish();
    let known: std::collections::HashSet<_> =
        overview.tensors.iter().map(|tensor| tensor.id.0).collect();
    if total <= u64::try_from(found.len()).unwrap_or(u64::MAX) {
        // All of them are listed one by one now.
        overview
            .tensor_groups
            .retain(|group| group.prefix.as_deref().is_none_or(|other| !other.starts_with(prefix)));
    }
    overview.tensors.extend(found.into_iter().filter(|tensor| !known.contains(&tensor.id.0)));
    Ok(())
}

fn inspect(collector: &Collector, subject: &Subject) -> Answer {
    let pond = collector.pond();
    let none = Tags::default();
    let answer = match subject {
        Subject::Tensor(tensor) => pond.inspect(*tensor).map(|details| {
            Answer::Leases(details.leases.iter().map(|it| view::Lease::new(it, &none)).collect())
        }),
        Subject::Version(version) => pond.version(*version).map(|details| {
            Answer::Leases(details.leases.iter().map(|it| view::Lease::new(it, &none)).collect())
        }),
        Subject::Group(group) => pond.group(group.clone()).map(|details| {
            Answer::Members(details.members.iter().map(view::Member::from).collect())
        }),
    };
    answer.unwrap_or_else(|error| Answer::Refused(error.to_string()))
}

fn follow(way: &Way, news: &impl Fn(News) -> bool) -> Option<()> {
    // All that the pond has kept; a gap before that is what a pond that is not new has.
    let mut from = FIRST;
    loop {
        if let Ok((pond, _)) = open(way)
            && let Ok(mut events) = pond.events(from)
        {
            // Ends when the pond is away for longer than a daemon's restart.
            while let Ok(first) = events.next_timeout(REQUEST) {
                let Some(first) = first else { continue };
                let mut gathered = vec![first];
                if from == FIRST {
                    gathered.retain(|event| event.kind != EventKind::Gap);
                }
                let until = Instant::now() + GATHER;
                while gathered.len() < GATHERED {
                    let left = until.saturating_duration_since(Instant::now());
                    match events.next_timeout(left) {
                        Ok(Some(event)) => gathered.push(event),
                        _ => break,
                    }
                }
                from = gathered.last().map_or(from, |event| event.sequence.saturating_add(1));
                let gathered = gathered.iter().map(Event::from).collect();
                news(News::Events(gathered)).then_some(())?;
            }
        }
        thread::sleep(LOOK_AGAIN);
    }
}

fn act(way: &Way, action: &Action) -> Result<(), Refusal> {
    let pond = builder(way.folder.as_deref(), RECONNECT_TO_ACT).connect()?;
    match action {
        Action::Swap { model, tag, .. } => pond.swap(model, tag).map(drop)?,
        Action::Rollback { model, to, .. } => rollback(&pond, model, to)?,
        Action::Retire { version, .. } => pond.retire(*version)?,
        Action::Limit { group, device, limit, .. } => {
            let set = GroupSet {
                device: Some(*device),
                limit: Some(limit.wire()),
                ..GroupSet::of(group.clone())
            };
            pond.set_group(set).map(drop)?;
        }
    }
    Ok(())
}

/// Rolls back to what was confirmed: another version may be the previous one by now.
fn rollback(pond: &Pond, model: &str, to: &str) -> Result<(), millpond::Error> {
    pond.swap(model, to).map(drop)
}
