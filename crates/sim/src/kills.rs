//! Who is killed when. Keeper and daemon are never dead at once: that is the one loss which the
//! design allows.
//!
//! The daemon may be killed while a keeper lives that was sent everything; the keeper while a
//! daemon lives that was sent everything. Both hand-overs are complete when they are in the socket,
//! because whoever is at the other end reads them whether the sender lives or not.

use crate::client::Client;
use crate::daemon::Daemon;
use crate::rng::Rng;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// At this call of its ports, counted from now.
    Daemon(u64),
    Keeper,
    Mover,
    Client,
    Host,
    /// A client whose memory others use.
    Owner,
}

/// The kills of one schedule.
#[derive(Clone, Debug)]
pub struct Plan {
    pub steps: u64,
    kills: Vec<(u64, Victim)>,
    boots: Vec<u64>,
}

impl Plan {
    pub fn draw(rng: &mut Rng) -> Self {
        let steps = 50 + rng.below(100);
        let kills = 1 + rng.below(5);
        let mut kills: Vec<_> = (0..kills)
            .map(|_| {
                let victim = match rng.below(8) {
                    0..=3 => Victim::Daemon(rng.below(12)),
                    4 => Victim::Keeper,
                    5 => Victim::Mover,
                    _ => Victim::Client,
                };
                (10 + rng.below(steps - 10), victim)
            })
            .collect();
        kills.sort_by_key(|(step, _)| *step);
        let boots = (0..rng.below(2)).map(|_| rng.below(6)).collect();
        Self { steps, kills, boots }
    }

    /// A schedule with hosts and memory of clients: a longer way, and more who can die.
    pub fn add_homes(&mut self, rng: &mut Rng) {
        self.steps += 100;
        for _ in 0..rng.below(4) {
            let victim = match rng.below(4) {
                0 => Victim::Owner,
                1 => Victim::Daemon(rng.below(12)),
                _ => Victim::Host,
            };
            self.kills.push((10 + rng.below(self.steps - 10), victim));
        }
        self.kills.sort_by_key(|(step, _)| *step);
    }

    /// At which call a daemon that takes over dies, if it does.
    pub fn boot_kill(&mut self) -> Option<u64> {
        self.boots.pop()
    }
}

impl World {
    /// Kills whoever is due; who may not be killed now is killed later.
    pub(crate) fn kill_due(&mut self, step: u64) {
        let due = self.plan.kills.iter().position(|(at, victim)| *at <= step && self.may(*victim));
        let Some(due) = due else { return };
        match self.plan.kills.remove(due).1 {
            Victim::Daemon(calls) => self.doom_daemon(calls),
            Victim::Keeper => self.kill_keeper(),
            Victim::Mover => {
                if let Some(mover) = self.movers.iter().position(|mover| mover.alive) {
                    self.end_mover(mover);
                }
            }
            Victim::Host => {
                let living: Vec<usize> =
                    (0..self.hosts.len()).filter(|at| self.hosts[*at].alive).collect();
                if let Some(&host) = self.rng.pick(&living) {
                    self.trace.say(|| "KILL a host".to_owned());
                    self.end_host(host);
                }
            }
            Victim::Owner => {
                if let Some(owner) = self.clients.iter().position(Client::is_home) {
                    self.kill_client(owner);
                }
            }
            Victim::Client => {
                let living: Vec<usize> =
                    (0..self.clients.len()).filter(|at| self.clients[*at].alive).collect();
                if let Some(&client) = self.rng.pick(&living) {
                    self.kill_client(client);
                }
            }
        }
    }

    fn may(&self, victim: Victim) -> bool {
        match victim {
            Victim::Daemon(_) => self.keeper.is_some() && self.daemon_stands(),
            Victim::Keeper => self.keeper.is_some() && self.daemon_stands(),
            Victim::Mover => self.movers.iter().any(|mover| mover.alive),
            Victim::Client => self.clients.iter().any(|client| client.alive),
            Victim::Host => self.hosts.iter().any(|host| host.alive),
            Victim::Owner => self.clients.iter().any(Client::is_home),
        }
    }

    /// Alive, and not about to die.
    fn daemon_stands(&self) -> bool {
        match &self.daemon {
            Daemon::Dead => false,
            Daemon::Starting(start) => start.channel.borrow().keeper_open,
            Daemon::Running(running) => {
                running.ports.dies_in.is_none() && running.ports.channel.borrow().keeper_open
            }
        }
    }

    fn doom_daemon(&mut self, calls: u64) {
        self.trace.say(|| format!("DOOM the daemon in {calls} calls"));
        match &mut self.daemon {
            Daemon::Running(running) if calls > 0 => running.ports.dies_in = Some(calls - 1),
            Daemon::Running(_) | Daemon::Starting(_) => self.daemon_dies(),
            Daemon::Dead => {}
        }
    }
}
