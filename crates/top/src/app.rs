//! The loop: keys, news and signals come in, the state decides, the screen follows.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use millpond_view::units;
use ratatui::crossterm::event;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use crate::input::{self, Input};
use crate::source::{News, Source, Way};
use crate::state::{Order, State};
use crate::terminal::{self, Screen};
use crate::view;
use crate::view::look::Look;

/// How often the clock is looked at, and whether the terminal is still there.
const TICK: Duration = Duration::from_secs(1);
/// So many messages are taken before the screen is drawn.
const AT_ONCE: usize = 256;

/// What the loop waits for.
#[derive(Debug)]
enum Message {
    Input(Input),
    News(News),
    Signal(i32),
    /// The terminal cannot be read.
    Lost,
}

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

/// Shows the pond until somebody quits.
///
/// # Errors
/// What the terminal says.
pub fn run(way: Way, every: Duration, mut state: State, look: Look) -> io::Result<()> {
    let (sender, messages) = channel();
    // Before the terminal is taken: from then on a signal must not end this process by itself.
    watch_signals(sender.clone())?;
    let mut screen = Screen::take()?;
    watch_keys(sender.clone());
    let source = Source::start(way, every, sending(sender.clone()));
    let mut app = App { source, sender, look };
    let outcome = app.turn(&messages, &mut state, &mut screen);
    // A terminal that is gone is no error: whoever closed it knows.
    if terminal::is_still_there() { outcome } else { Ok(()) }
}

struct App {
    source: Source,
    sender: Sender<Message>,
    look: Look,
}

impl App {
    fn turn(
        &mut self,
        messages: &Receiver<Message>,
        state: &mut State,
        screen: &mut Screen,
    ) -> io::Result<()> {
        state.ticked(units::now_unix_ms());
        loop {
            if state.take_stale() {
                let size = terminal::size()?;
                state.resized_to(size);
                screen.draw(size, |buffer| view::draw(buffer, state, self.look))?;
                state.take_stale();
            }
            let first = match messages.recv_timeout(TICK) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) if !terminal::is_still_there() => return Ok(()),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            state.ticked(units::now_unix_ms());
            for message in first.into_iter().chain(messages.try_iter().take(AT_ONCE)) {
                if self.take(message, state, screen)? == Then::End {
                    return Ok(());
                }
            }
        }
    }

    fn take(
        &mut self,
        message: Message,
        state: &mut State,
        screen: &mut Screen,
    ) -> io::Result<Then> {
        match message {
            Message::Input(Input::Resized) => state.redraw(),
            Message::Input(Input::Key(key)) => {
                if let Some(order) = state.pressed(key) {
                    return self.carry_out(order, state, screen);
                }
            }
            Message::News(News::Picture(overview)) => state.received(overview),
            Message::News(News::Events(events)) => state.happened(events),
            Message::News(News::Away(reason)) => state.lost(reason, units::now_unix_ms()),
            Message::News(News::Answer(about, answer)) => state.answered(&about, answer),
            Message::News(News::Acted(action, outcome)) => state.acted(&action, outcome),
            Message::Signal(SIGTSTP) => return self.carry_out(Order::Suspend, state, screen),
            Message::Signal(SIGCONT) => {
                screen.resume()?;
                state.redraw();
            }
            Message::Signal(_) | Message::Lost => return Ok(Then::End),
        }
        Ok(Then::GoOn)
    }

    fn carry_out(
        &mut self,
        order: Order,
        state: &mut State,
        screen: &mut Screen,
    ) -> io::Result<Then> {
        match order {
            Order::Quit => return Ok(Then::End),
            Order::Suspend => {
                screen.suspend()?;
                state.redraw();
            }
            Order::Act(action) => self.source.act(action, sending(self.sender.clone())),
            Order::Inspect(subject) => self.source.inspect(subject),
            Order::Narrow(prefix) => self.source.narrow(prefix),
        }
        Ok(Then::GoOn)
    }
}

fn sending(sender: Sender<Message>) -> impl Fn(News) -> bool + Clone + Send + 'static {
    move |news| sender.send(Message::News(news)).is_ok()
}

fn watch_signals(sender: Sender<Message>) -> io::Result<()> {
    let wanted = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT];
    let mut signals = Signals::new(wanted)?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(Message::Signal(signal)).is_err() {
                break;
            }
        }
    });
    Ok(())
}

fn watch_keys(sender: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let message = match event::read() {
                Ok(event) => input::read(&event).map(Message::Input),
                Err(_) => Some(Message::Lost),
            };
            let is_lost = matches!(message, Some(Message::Lost));
            if message.is_some_and(|message| sender.send(message).is_err()) || is_lost {
                break;
            }
        }
    });
}
