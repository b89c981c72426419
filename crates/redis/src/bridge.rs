//! The threads of a bridge: one that carries out, and those that wait.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use millpond_console::error::{CommandError, Outcome, Report, failed};
use millpond_console::exit::Code;
use millpond_wire::ErrorKind;
use tracing::info;

use crate::connect::Way;
use crate::core::{Core, Halt};
use crate::keys::{Keys, Source};
use crate::nodes;
use crate::pond::{PondEvents, PondTruth};
use crate::server::Server;
use crate::store::Store;
use crate::truth::{Happened, Truth};
use crate::wait::Bell;
use crate::waiters::{self, Message, News};

/// How often the core looks whether it is told to end.
const LOOK: Duration = Duration::from_millis(200);
/// A bridge that is told to end is gone after this, whatever hangs.
const END_WITHIN: Duration = Duration::from_secs(4);
/// A thread that waits needs little.
const STACK: usize = 256 * 1024;

/// How a bridge is to run.
#[derive(Clone, Debug)]
pub struct Settings {
    pub way: Arc<Way>,
    pub keys: Arc<Keys>,
    pub folder: Option<PathBuf>,
    pub repair_every: Duration,
    pub reply_ttl: Duration,
}

impl Settings {
    pub fn server(&self) -> Server {
        Server::new(Arc::clone(&self.way), Arc::clone(&self.keys), self.reply_ttl)
    }

    fn core(&self, stop: &Arc<AtomicBool>, patient: bool) -> Core<PondTruth, Server> {
        let truth = PondTruth::new(self.folder.clone());
        Core::new(truth, self.server(), Arc::clone(&self.keys), Arc::clone(stop), patient)
    }
}

/// Carries out what waits, repairs, and ends.
pub fn once(settings: &Settings) -> Outcome {
    let stop = Arc::default();
    let mut core = settings.core(&stop, false);
    let run = |core: &mut Core<PondTruth, Server>| {
        core.reconnect("not connected")?;
        core.look()?;
        if let Some(status) = core.status.clone() {
            let registered = nodes::register(
                &mut core.store,
                &settings.keys,
                &status,
                crate::core::now_unix_ms(),
            );
            registered.map_err(|lost| Halt::Away(format!("Redis: {lost}")))?;
        }
        for source in [Source::Any, Source::Own] {
            core.recover(source)?;
            core.drain(source)?;
        }
        core.repair().map(drop)
    };
    run(&mut core).map_err(|halt| {
        let report = Report::new(Code::Kind(ErrorKind::NoPond), halt.to_string());
        report.hint("`--once` waits for nobody: start the pond and Redis first").into()
    })
}

/// Runs until it is told to end.
pub fn run(settings: &Settings, stop: &Arc<AtomicBool>) -> Outcome {
    let (inbox, messages) = mpsc::channel();
    let (resume_any, any) = mpsc::channel();
    let (resume_own, own) = mpsc::channel();
    let news = Arc::new(News::default());
    info!("node '{}' on Redis at {}", settings.keys.node(), settings.way.shown());
    let mut threads =
        vec![heart(settings, &news, &inbox, stop)?, listener(settings, &news, &inbox, stop)?];
    for (source, resume) in [(Source::Any, any), (Source::Own, own)] {
        let mut bell = Bell::new(Arc::clone(&settings.way), Arc::clone(&settings.keys));
        let (inbox, stop) = (inbox.clone(), Arc::clone(stop));
        threads.push(spawn("commands", move || {
            waiters::commands(&mut bell, source, &inbox, &resume, &stop);
        })?);
    }
    let mut core = settings.core(stop, true);
    let every = settings.repair_every;
    let resume = move |source| {
        let to = if source == Source::Any { &resume_any } else { &resume_own };
        // A thread that has ended needs nothing.
        let _ = to.send(());
    };
    let core = spawn_core(move || {
        let halted = serve(&mut core, &messages, &news, every, resume);
        if halted != Halt::Stop {
            tracing::error!("{halted}");
        }
    })?;
    threads.push(core);
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    let until = Instant::now() + END_WITHIN;
    while Instant::now() < until && !threads.iter().all(JoinHandle::is_finished) {
        std::thread::sleep(Duration::from_millis(20));
    }
    info!("ended");
    Ok(())
}

/// The core's loop; only an end comes back.
fn serve<T: Truth, S: Store>(
    core: &mut Core<T, S>,
    messages: &mpsc::Receiver<Message>,
    news: &News,
    every: Duration,
    resume: impl Fn(Source),
) -> Halt {
    let mut repaired = Instant::now();
    let mut turn = |core: &mut Core<T, S>| -> Result<(), Halt> {
        if core.is_stopped() {
            return Err(Halt::Stop);
        }
        if core.repair_due || repaired.elapsed() >= every {
            core.repair()?;
            repaired = Instant::now();
        }
        match messages.recv_timeout(LOOK.min(every)) {
            Ok(Message::Commands(source, taken)) => {
                core.work(source, taken)?;
                resume(source);
            }
            Ok(Message::Connected(source)) => {
                core.recover(source)?;
                resume(source);
            }
            Ok(Message::News) => {
                for happened in news.take() {
                    core.happened(happened)?;
                }
                core.flush(None)?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Halt::Stop),
        }
        Ok(())
    };
    if let Err(halt) = core.reconnect("not connected") {
        return halt;
    }
    loop {
        if let Err(halt) = turn(core) {
            return halt;
        }
    }
}

fn heart(
    settings: &Settings,
    news: &Arc<News>,
    inbox: &Sender<Message>,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, CommandError> {
    let mut truth = PondTruth::new(settings.folder.clone());
    let (mut server, keys, stop) =
        (settings.server(), Arc::clone(&settings.keys), Arc::clone(stop));
    let (news, inbox) = (Arc::clone(news), inbox.clone());
    spawn("heartbeat", move || {
        let emptied = || {
            waiters::tell(&news, &inbox, Happened::Everything);
        };
        nodes::beat(&mut truth, &mut server, &keys, &stop, emptied);
    })
}

fn listener(
    settings: &Settings,
    news: &Arc<News>,
    inbox: &Sender<Message>,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<()>, CommandError> {
    let events = PondEvents::new(PondTruth::new(settings.folder.clone()));
    let (news, inbox, stop) = (Arc::clone(news), inbox.clone(), Arc::clone(stop));
    spawn("events", move || waiters::happenings(events, &news, &inbox, &stop))
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, CommandError> {
    let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    builder.spawn(body).map_err(|error| failed("starting a thread", error))
}

/// The core reads what strangers wrote, so its stack is as large as any.
fn spawn_core(body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, CommandError> {
    let builder = std::thread::Builder::new().name("core".to_owned());
    builder.spawn(body).map_err(|error| failed("starting a thread", error))
}
