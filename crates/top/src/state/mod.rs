//! What is shown and what the keys do, without a terminal, a pond or a clock: keys, pictures and times come
//! in, orders go out.

mod act;
mod alerts;
mod list;
mod mode;

use std::sync::Arc;

use millpond_overview::Overview;
use millpond_view::Event;

use crate::actions::{Action, Refusal};
use crate::input::Key;
use crate::keys::{Meaning, meaning};
use crate::layout::Layout;
use crate::panes::{Pane, Thing};

pub use alerts::Alert;
pub use list::{List, Move};
pub use mode::{Answer, Details, LimitInput, Mode, Subject};

/// A picture of a second ago is a live one.
const OLD_MS: u64 = 5_000;
/// So many events are remembered.
const EVENTS: usize = 1000;
/// A filter is a part of a name.
const FILTER_CHARS: usize = 255;

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    Quit,
    Suspend,
    Act(Action),
    /// Ask the pond about this as long as it is looked at; nothing ends that.
    Inspect(Option<Subject>),
    /// List tensors whose names begin so, where there are too many to list all.
    Narrow(String),
}

/// Whether the pond answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    Starting,
    There,
    Away { since_unix_ms: u64, reason: String },
}

/// A line that says what was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    pub good: bool,
}

/// Everything that decides what is drawn.
#[derive(Clone, Debug)]
pub struct State {
    overview: Option<Arc<Overview>>,
    /// What came while the picture was held.
    held_back: Option<Arc<Overview>>,
    events: Vec<Event>,
    contact: Contact,
    paused: bool,
    pane: Pane,
    lists: Vec<List>,
    filter: String,
    mode: Mode,
    notice: Option<Notice>,
    size: (u16, u16),
    now_unix_ms: u64,
    /// This user.
    me: u32,
    /// Why nothing may be changed, if so.
    refusal: Option<Refusal>,
    /// Whether what is on the screen is not what would be drawn.
    stale: bool,
}

impl State {
    pub fn new(size: (u16, u16), me: u32, refusal: Option<Refusal>) -> Self {
        Self {
            overview: None,
            held_back: None,
            events: Vec::new(),
            contact: Contact::Starting,
            paused: false,
            pane: Pane::Tensors,
            lists: Pane::ALL.map(List::new).into(),
            filter: String::new(),
            mode: Mode::Browse,
            notice: None,
            size,
            now_unix_ms: 0,
            me,
            refusal,
            stale: true,
        }
    }

    pub fn overview(&self) -> Option<&Overview> {
        self.overview.as_deref()
    }

    pub const fn contact(&self) -> &Contact {
        &self.contact
    }

    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    pub const fn is_readonly(&self) -> bool {
        self.refusal.is_some()
    }

    pub const fn pane(&self) -> Pane {
        self.pane
    }

    pub fn list(&self) -> Option<&List> {
        self.lists.get(self.pane.index())
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub const fn mode(&self) -> &Mode {
        &self.mode
    }

    pub const fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub const fn now_unix_ms(&self) -> u64 {
        self.now_unix_ms
    }

    /// Whether the picture is so old that people should know, although nobody says that the pond is away: it
    /// hangs, or has so much to tell that it is asked less often.
    pub fn is_old(&self) -> bool {
        let at = self.overview.as_ref().map_or(self.now_unix_ms, |overview| overview.at_unix_ms);
        self.now_unix_ms.saturating_sub(at) >= OLD_MS
    }

    /// What is wrong, the worst first.
    pub fn alerts(&self) -> Vec<Alert> {
        self.overview().map(alerts::of).unwrap_or_default()
    }

    /// How many rows each pane would list without a filter.
    pub fn counts(&self) -> [u64; 6] {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let Some(overview) = self.overview() else { return [0; 6] };
        Pane::ALL.map(|pane| match pane {
            Pane::Tensors => overview.tensors_total,
            Pane::Models => count(overview.models.len()),
            Pane::Groups => count(overview.groups.len()),
            Pane::Caches => count(overview.caches.len()),
            Pane::Processes => count(overview.processes.len()),
            Pane::Events => count(self.events.len()),
        })
    }

    /// Where everything is on the screen; nothing if it is too small.
    pub fn layout(&self) -> Option<Layout> {
        let cards = self.overview().map_or(0, |overview| overview.cards.len());
        Layout::new(self.size.0, self.size.1, cards, self.alerts().len())
    }

    /// Whether something is to be drawn; it is from now on.
    pub const fn take_stale(&mut self) -> bool {
        std::mem::replace(&mut self.stale, false)
    }

    /// The same, where nobody has said whether it is another size.
    pub fn resized_to(&mut self, size: (u16, u16)) {
        if size != self.size {
            self.resized(size);
        }
    }

    pub fn resized(&mut self, size: (u16, u16)) {
        self.size = size;
        self.stale = true;
        let height = self.list_height();
        self.lists.iter_mut().for_each(|list| list.settle(height));
    }

    /// Draw again what is there.
    pub const fn redraw(&mut self) {
        self.stale = true;
    }

    /// A new picture.
    pub fn received(&mut self, overview: Arc<Overview>) {
        self.contact = Contact::There;
        self.now_unix_ms = self.now_unix_ms.max(overview.at_unix_ms);
        self.stale = true;
        if self.paused {
            self.held_back = Some(overview);
            return;
        }
        let is_same = self.overview.as_ref().is_some_and(|shown| looks_the_same(shown, &overview));
        self.overview = Some(overview);
        if !is_same {
            self.refill();
        }
    }

    /// What happened.
    pub fn happened(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        self.events.extend(events);
        let over = self.events.len().saturating_sub(EVENTS);
        self.events.drain(..over);
        self.stale = true;
        if self.pane == Pane::Events && !self.paused {
            self.refill();
        }
    }

    /// The pond does not answer.
    pub fn lost(&mut self, reason: String, now_unix_ms: u64) {
        self.now_unix_ms = now_unix_ms;
        self.stale = true;
        let since_unix_ms = match self.contact {
            Contact::Away { since_unix_ms, .. } => since_unix_ms,
            _ => now_unix_ms,
        };
        self.contact = Contact::Away { since_unix_ms, reason };
    }

    /// The time goes on: what is shown of it is drawn again where that says more than a picture does.
    pub fn ticked(&mut self, now_unix_ms: u64) {
        let before = std::mem::replace(&mut self.now_unix_ms, now_unix_ms);
        let is_counted = self.paused || self.contact != Contact::There || self.is_old();
        if is_counted && now_unix_ms / 1000 != before / 1000 {
            self.stale = true;
        }
    }

    /// What the pond says about a thing that is looked at.
    pub fn answered(&mut self, about: &Subject, answer: Answer) {
        if let Mode::Details(details) = &mut self.mode
            && details.subject.as_ref() == Some(about)
        {
            details.answer = Some(answer);
            self.stale = true;
        }
    }

    /// What became of a change.
    pub fn acted(&mut self, action: &Action, outcome: Result<(), Refusal>) {
        self.stale = true;
        match outcome {
            Ok(()) => self.notice = Some(Notice { text: action.done(), good: true }),
            Err(refusal) => {
                self.notice = Some(Notice { text: refusal.message.clone(), good: false });
                if matches!(self.mode, Mode::Browse) {
                    self.mode = Mode::Refused(refusal);
                }
            }
        }
    }

    /// A key.
    pub fn pressed(&mut self, key: Key) -> Option<Order> {
        self.stale = true;
        // These hold wherever the keys go, so that nobody is caught in a box.
        match key {
            Key::Control('c') => return Some(Order::Quit),
            Key::Control('z') => return Some(Order::Suspend),
            _ => {}
        }
        match std::mem::take(&mut self.mode) {
            Mode::Browse => self.browse(key),
            Mode::Filter { before } => self.write_filter(key, before),
            Mode::Help { top } => {
                let (top, is_open) = scrolled(key, top);
                if is_open {
                    self.mode = Mode::Help { top };
                }
                None
            }
            Mode::Details(mut details) => {
                let (top, is_open) = scrolled(key, details.top);
                if !is_open {
                    return Some(Order::Inspect(None));
                }
                details.top = top;
                self.mode = Mode::Details(details);
                None
            }
            Mode::Ask(action) => self.answer_question(key, action),
            Mode::Limit(input) => {
                self.write_limit(key, input);
                None
            }
            Mode::Refused(_) => None,
        }
    }

    fn browse(&mut self, key: Key) -> Option<Order> {
        let page = self.list_height().saturating_sub(1).max(1);
        self.notice = None;
        match meaning(key)? {
            Meaning::Help => self.mode = Mode::Help { top: 0 },
            Meaning::Pane => {
                let Key::Char(digit) = key else { return None };
                let at = digit.to_digit(10).and_then(|at| usize::try_from(at).ok());
                if let Some(pane) = at.and_then(|at| Pane::ALL.get(at.checked_sub(1)?)) {
                    self.show(*pane);
                }
            }
            Meaning::NextPane => self.show(self.neighbour(1)),
            Meaning::PreviousPane => self.show(self.neighbour(Pane::ALL.len() - 1)),
            Meaning::Up => self.go(Move::Up(1)),
            Meaning::Down => self.go(Move::Down(1)),
            Meaning::PageUp => self.go(Move::Up(page)),
            Meaning::PageDown => self.go(Move::Down(page)),
            Meaning::First => self.go(Move::First),
            Meaning::Last => self.go(Move::Last),
            Meaning::Inspect => return self.inspect(),
            Meaning::Close => {
                if !self.filter.is_empty() {
                    self.filter.clear();
                    self.refill();
                    return Some(Order::Narrow(String::new()));
                }
            }
            Meaning::Filter => self.mode = Mode::Filter { before: self.filter.clone() },
            Meaning::Sort => self.change_order(List::sort_by_next),
            Meaning::Reverse => self.change_order(List::reverse),
            Meaning::Pause => self.pause(),
            Meaning::Swap | Meaning::Rollback | Meaning::Retire | Meaning::Limit => {
                self.ask_for(meaning(key)?);
            }
            Meaning::Suspend => return Some(Order::Suspend),
            Meaning::Quit => return Some(Order::Quit),
        }
        None
    }

    fn pause(&mut self) {
        self.paused = !self.paused;
        if let Some(overview) = self.held_back.take() {
            self.overview = Some(overview);
        }
        self.refill();
    }

    fn write_filter(&mut self, key: Key, before: String) -> Option<Order> {
        match key {
            Key::Enter => return None,
            Key::Escape => self.filter = before,
            Key::Char(character) if self.filter.chars().count() < FILTER_CHARS => {
                self.filter.push(character);
                self.mode = Mode::Filter { before };
            }
            Key::Backspace => {
                self.filter.pop();
                self.mode = Mode::Filter { before };
            }
            Key::Control('u') => {
                self.filter.clear();
                self.mode = Mode::Filter { before };
            }
            _ => {
                self.mode = Mode::Filter { before };
                return None;
            }
        }
        self.refill();
        Some(Order::Narrow(self.filter.clone()))
    }

    fn inspect(&mut self) -> Option<Order> {
        let (identity, title, subject) = {
            let thing = self.selected()?;
            let subject = match thing {
                Thing::Tensor(tensor) => Some(Subject::Tensor(tensor.id.0)),
                Thing::Version(_, Some(version)) => Some(Subject::Version(version.id.0)),
                Thing::Group(group, _) => Some(Subject::Group(group.name.0.clone())),
                _ => None,
            };
            (thing.identity(), thing.name(), subject)
        };
        let details = Details { pane: self.pane, identity, title, subject, answer: None, top: 0 };
        let order = Order::Inspect(details.subject.clone());
        self.mode = Mode::Details(Box::new(details));
        Some(order)
    }

    /// What the selected row shows.
    pub fn selected(&self) -> Option<Thing<'_>> {
        let row = self.list()?.selected_row()?;
        row.thing(self.pane, self.overview()?, &self.events)
    }

    fn show(&mut self, pane: Pane) {
        self.pane = pane;
        self.refill();
    }

    fn neighbour(&self, by: usize) -> Pane {
        let at = (self.pane.index() + by) % Pane::ALL.len();
        Pane::ALL.get(at).copied().unwrap_or(self.pane)
    }

    fn change_order(&mut self, change: impl FnOnce(&mut List)) {
        if let Some(list) = self.lists.get_mut(self.pane.index()) {
            change(list);
        }
        self.refill();
    }

    fn go(&mut self, way: Move) {
        let height = self.list_height();
        let overview = self.overview.clone();
        let events = &self.events;
        if let (Some(overview), Some(list)) = (overview, self.lists.get_mut(self.pane.index())) {
            list.go(way, &overview, events, height);
        }
    }

    /// Sorts and filters the pane on the screen anew. The others are when they are shown.
    fn refill(&mut self) {
        let height = self.list_height();
        let overview = self.overview.clone();
        let (events, filter) = (&self.events, &self.filter);
        if let (Some(overview), Some(list)) = (overview, self.lists.get_mut(self.pane.index())) {
            list.fill(&overview, events, filter, height);
        }
    }

    fn list_height(&self) -> usize {
        self.layout().map_or(1, |layout| usize::from(layout.list_rows))
    }
}

/// Whether two pictures differ in nothing that a list is made of. A pond counts our own questions, so they
/// are never the same.
fn looks_the_same(one: &Overview, two: &Overview) -> bool {
    one.tensors_total == two.tensors_total
        && one.tensors == two.tensors
        && one.tensor_groups == two.tensor_groups
        && one.models == two.models
        && one.groups == two.groups
        && one.caches == two.caches
        && one.processes == two.processes
        && one.cards == two.cards
        && one.user_names == two.user_names
}

/// The first line after a key in a text that is scrolled, and whether the text stays open.
fn scrolled(key: Key, top: usize) -> (usize, bool) {
    const PAGE: usize = 10;
    match meaning(key) {
        Some(Meaning::Up) => (top.saturating_sub(1), true),
        Some(Meaning::Down) => (top.saturating_add(1), true),
        Some(Meaning::PageUp) => (top.saturating_sub(PAGE), true),
        Some(Meaning::PageDown) => (top.saturating_add(PAGE), true),
        Some(Meaning::First) => (0, true),
        Some(Meaning::Close | Meaning::Quit | Meaning::Inspect | Meaning::Help) => (top, false),
        _ => (top, true),
    }
}

#[cfg(test)]
pub(crate) mod tests;
