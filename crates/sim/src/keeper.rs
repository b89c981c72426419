//! The simulated keeper: it holds what the daemon sends and starts the next daemon.

use std::collections::BTreeMap;
use std::rc::Rc;

use millpond_keeper::channel::{HoldKey, Message};

use crate::card::Fd;
use crate::daemon::{Daemon, Start};
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::socket::{Channel, SharedChannel};
use crate::world::World;

#[derive(Debug)]
pub struct Keeper {
    pub holds: BTreeMap<HoldKey, Fd>,
    pub channel: SharedChannel,
    /// Of the last daemon.
    pub epoch: u64,
}

impl Keeper {
    /// One that holds this.
    #[must_use]
    pub fn new(holds: BTreeMap<HoldKey, Fd>, epoch: u64) -> Self {
        Self { holds, channel: Channel::pair(), epoch }
    }

    /// Takes one message.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn take(&mut self) -> Result<bool, Violation> {
        let Some((bytes, fds)) = self.channel.borrow_mut().to_keeper.pop_front() else {
            return Ok(false);
        };
        let message = Message::decode(&bytes)
            .map_err(|error| Violation::new("the keeper can read", error.to_string()))?;
        match message {
            Message::Hold { holdings } => {
                let keys = holdings.into_iter().map(|holding| holding.key);
                self.holds.extend(keys.zip(fds));
            }
            Message::Drop { keys } => {
                for key in &keys {
                    self.holds.remove(key);
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

impl World {
    /// The daemon's pidfd has fired: what it had sent counts, and then the next one is started.
    /// The hand-over is in the new daemon's socket before anybody can be killed again: a keeper
    /// that dies while it sends, with the daemon dead, is the one loss that is allowed.
    pub(crate) fn daemon_gone(&mut self) -> Result<(), Violation> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        if self.mutation == Some(Mutation::QueueNotRead) {
            keeper.channel.borrow_mut().to_keeper.clear();
        }
        while keeper.take()? {}
        if self.mutation != Some(Mutation::EpochRepeats) || keeper.epoch == 0 {
            keeper.epoch += 1;
        }
        keeper.channel = Channel::pair();
        self.daemon = Daemon::Starting(Start {
            held: keeper.holds.clone(),
            channel: Rc::clone(&keeper.channel),
            epoch: keeper.epoch,
        });
        Ok(())
    }

    /// The daemon has seen the keeper's pidfd fire: it starts another and sends it everything. Not
    /// interrupted, for the same reason.
    pub(crate) fn keeper_gone(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let keeper = Keeper::new(BTreeMap::new(), running.epoch.0);
        for (key, fd) in &running.ports.held {
            if self.mutation == Some(Mutation::HandOverIncomplete)
                && key.as_str().starts_with("slab/")
            {
                continue;
            }
            let message = Message::Hold { holdings: vec![key.clone().into()] };
            let bytes = message
                .encode()
                .map_err(|error| Violation::new("the keeper can read", error.to_string()))?;
            keeper.channel.borrow_mut().to_keeper.push_back((bytes, vec![fd.clone()]));
        }
        running.ports.keeper_replaced(Rc::clone(&keeper.channel));
        self.keeper = Some(keeper);
        self.event(|pond, ports| pond.keeper_replaced(ports, 2))
    }

    /// The keeper takes one message, and whoever waited for room goes on.
    pub(crate) fn keeper_takes(&mut self) -> Result<(), Violation> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        keeper.take()?;
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        running.ports.flush_to_keeper();
        if running.pond.awaits_keeper() { self.event(|_, _| {}) } else { Ok(()) }
    }

    /// Ends the keeper: what it held and had not read is closed.
    pub(crate) fn kill_keeper(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            self.trace.say(|| "KILL the keeper".to_owned());
            let mut channel = keeper.channel.borrow_mut();
            channel.keeper_open = false;
            channel.to_keeper.clear();
        }
    }
}
