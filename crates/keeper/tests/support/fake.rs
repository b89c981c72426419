//! The processes of a test's pond: a real keeper, and a daemon that only holds.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use millpond_keeper::channel::{Channel, ChannelError, HoldKey, Holding, Message, SEND_TIMEOUT};
use millpond_keeper::config::Config;
use millpond_keeper::daemon_side::{self, DaemonStart, SpawnedKeeper};
use millpond_keeper::{ExitReason, KeeperError};
use millpond_wire::{Backing, HANDLE_BYTES, SlabId, Transport};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::MemfdFlags;
use rustix::process::Signal;

use super::{
    End, Note, is_process, keeper_start, plan, signal, this_binary, thread_states, write_note,
};

/// Enough for three messages.
const SLABS: usize = 250;

fn start_process() -> bool {
    if !is_process() {
        return false;
    }
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    true
}

pub fn keeper_main(run: impl FnOnce() -> Result<ExitReason, KeeperError>) {
    if start_process() {
        let end = match run() {
            Ok(reason) => End { result: format!("{reason:?}"), hint: None },
            Err(error) => End { result: error.to_string(), hint: error.hint() },
        };
        write_note(&format!("end-{}", std::process::id()), &end);
        std::process::exit(0);
    }
}

pub fn new_keeper() -> Result<ExitReason, KeeperError> {
    millpond_keeper::run(keeper_start())
}

pub fn adopting_keeper() -> Result<ExitReason, KeeperError> {
    millpond_keeper::adopt_stdin(this_binary("daemon_process"))
}

pub fn daemon_main() {
    if start_process() {
        let start = daemon_side::connect_stdin().unwrap();
        let plan = plan(start.epoch.0);
        if plan == "fail" {
            std::process::exit(3);
        }
        FakeDaemon::new(start).live(&plan);
    }
}

struct FakeDaemon {
    channel: Channel,
    epoch: millpond_wire::Epoch,
    config: Config,
    keeper_pid: u32,
    keeper_pidfd: OwnedFd,
    keepers: Vec<std::process::Child>,
    held: Vec<(String, u64, u64)>,
    holds: BTreeMap<HoldKey, (Backing, OwnedFd)>,
}

fn identity(key: &HoldKey, backing: Backing, fd: &impl AsFd) -> (String, u64, u64) {
    let stat = rustix::fs::fstat(fd).unwrap();
    let data = backing.transport.data().map_or_else(String::new, |data| format!(" {}", data[0]));
    (format!("{key}{data}"), stat.st_dev, stat.st_ino)
}

fn memfd(text: &str) -> OwnedFd {
    let file = File::from(rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
    file.write_all_at(text.as_bytes(), 0).unwrap();
    file.into()
}

/// Every second one is of a memory pool.
fn slab(number: usize) -> Holding {
    let transport = match u8::try_from(number % 200).unwrap() {
        even if even % 2 == 0 => Transport::Vmm,
        odd => Transport::Mempool([odd; HANDLE_BYTES]),
    };
    let backing = Backing { transport, adopted: false };
    Holding { key: HoldKey::slab(SlabId::random()), backing }
}

fn never<T: Debug>(what: T) -> ! {
    panic!("unexpected: {what:?}")
}

impl FakeDaemon {
    fn new(start: DaemonStart) -> FakeDaemon {
        let DaemonStart { channel, epoch, config, keeper_pid, keeper_pidfd, held } = start;
        let mut held_by_key: Vec<_> =
            held.iter().map(|(Holding { key, backing }, fd)| identity(key, *backing, fd)).collect();
        held_by_key.sort();
        FakeDaemon {
            channel,
            epoch,
            config,
            keeper_pid,
            keeper_pidfd,
            keepers: Vec::new(),
            held: held_by_key,
            holds: held
                .into_iter()
                .map(|(holding, fd)| (holding.key, (holding.backing, fd)))
                .collect(),
        }
    }

    fn hold(&mut self, new: Vec<(Holding, OwnedFd)>) {
        let all = new.iter().map(|(holding, fd)| (holding.clone(), fd.as_fd()));
        let hold = |holdings| Message::Hold { holdings };
        self.channel.send_holdings(hold, all, SEND_TIMEOUT).unwrap();
        self.holds.extend(new.into_iter().map(|(new, fd)| (new.key, (new.backing, fd))));
    }

    fn note(&self, name: &str) {
        let journal = self.holds.get(&HoldKey::journal()).map_or_else(String::new, |(_, fd)| {
            let file = File::from(fd.try_clone().unwrap());
            let mut text = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
            file.read_exact_at(&mut text, 0).unwrap();
            String::from_utf8(text).unwrap()
        });
        let note = Note {
            pid: std::process::id(),
            keeper_pid: self.keeper_pid,
            epoch: self.epoch.0,
            held: self.held.clone(),
            holds: self
                .holds
                .iter()
                .map(|(key, (backing, fd))| identity(key, *backing, fd))
                .collect(),
            journal,
        };
        write_note(name, &note);
    }

    fn live(mut self, plan: &str) -> ! {
        if self.epoch.0 == 1 {
            let slabs = (0..SLABS).map(|number| (slab(number), memfd("slab")));
            let journal = (HoldKey::journal().into(), memfd("written in epoch 1"));
            self.hold(slabs.chain([journal]).collect());
        }
        self.channel.send(&Message::Serving, &[]).unwrap();
        match plan {
            "queue-and-die" => self.queue_and_die(),
            "compact" => self.compact(),
            _ => {}
        }
        self.note(&format!("daemon-{}", self.epoch));
        match plan {
            "hang" => loop {
                std::thread::park();
            },
            "leave" => std::process::exit(0),
            _ => {}
        }
        loop {
            match self.channel.receive() {
                Ok((Message::Ping { number }, _)) => {
                    let _ = self.channel.send(&Message::Pong { number }, &[]);
                    if number == 3 {
                        self.note("pinged");
                    }
                }
                Ok((Message::Stop, _)) if plan == "deaf" => {}
                Ok((Message::Stop, _)) => {
                    write_note("stopped", &());
                    std::process::exit(0);
                }
                Err(ChannelError::HungUp) => {
                    self.start_keeper();
                    if plan == "term-keeper" {
                        signal(self.keeper_pid, Signal::TERM);
                    }
                }
                other => never(other),
            }
        }
    }

    /// With a keeper that stands still, so that everything is in the queue when this daemon dies.
    fn queue_and_die(&mut self) -> ! {
        // It has read everything so far and sleeps in `poll` when it has asked and some time has
        // passed; if not, the test shows less, but does not fail.
        let (ping, _) = self.channel.receive().unwrap();
        assert!(matches!(ping, Message::Ping { .. }), "{ping:?}");
        std::thread::sleep(Duration::from_millis(200));
        signal(self.keeper_pid, Signal::STOP);
        while thread_states(self.keeper_pid).iter().any(|state| *state != 'T') {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.hold(vec![(slab(1), memfd("queued"))]);
        self.hold(vec![(HoldKey::journal().into(), memfd("written by a dead daemon"))]);
        self.note(&format!("daemon-{}", self.epoch));
        signal(std::process::id(), Signal::KILL);
        unreachable!()
    }

    /// Replaces the journal and drops half of the slabs, as a daemon does that was used for long.
    fn compact(&mut self) {
        self.hold(vec![(HoldKey::journal().into(), memfd("compacted"))]);
        let slabs = self.holds.keys().filter(|key| key.as_str().starts_with("slab/"));
        let keys: Vec<_> = slabs.take(SLABS / 3).cloned().collect();
        self.holds.retain(|key, _| !keys.contains(key));
        self.channel.send(&Message::Drop { keys }, &[]).unwrap();
    }

    fn start_keeper(&mut self) {
        rustix::event::poll(&mut [PollFd::new(&self.keeper_pidfd, PollFlags::IN)], None).unwrap();
        let launch = this_binary("adopting_keeper_process");
        let all = self.holds.iter().map(|(key, (backing, fd))| {
            (Holding { key: key.clone(), backing: *backing }, fd.as_fd())
        });
        let SpawnedKeeper { channel, pidfd, child } =
            daemon_side::spawn_keeper(&launch, self.epoch, &self.config, all).unwrap();
        self.keeper_pid = child.id();
        self.channel = channel;
        self.keeper_pidfd = pidfd;
        self.keepers.push(child);
        self.note(&format!("adopted-{}", self.keepers.len()));
    }
}
