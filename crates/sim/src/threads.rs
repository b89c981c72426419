//! The daemon's side threads: the driver thread, which charges a slab and then makes it, and the
//! steps of the book thread. They go with the daemon, which dies in any of their calls.

use millpond_daemon::budget::{Holding, Payer};
use millpond_daemon::policy::{DriverFailure, Pond};
use millpond_wire::{SlabId, TransportKind};

use crate::book::{BookAsk, BookTold};
use crate::card::Fd;
use crate::daemon::Daemon;
use crate::driver_thread::{Ask, Told};
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::ports::SimPorts;
use crate::world::{GPU, World};

impl World {
    /// What a daemon tells its threads before it serves.
    pub(crate) fn start_threads(&mut self, pond: &Pond<SimPorts>, ports: &mut SimPorts) {
        let slabs = pond.slab_charges().into_iter();
        let adopted = slabs.filter(|_| self.mutation != Some(Mutation::SlabsNotAdopted));
        let holding = |(slab, device, bytes, user)| (slab, Holding::new(device, bytes, user));
        ports.charges.adopt(adopted.map(holding));
        ports.stuck_locks = self.busy && self.stuck_locks;
        if !pond.known_cards().is_empty() {
            ports.book.asks.push_back(BookAsk::Known);
        }
        if !self.has_groups {
            // There is nothing to read.
            ports.book.open = true;
            ports.charges.promised_elsewhere(false);
        }
    }

    /// The driver thread does the next thing that it was asked.
    pub(crate) fn driver_works(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(ask) = running.ports.asks.pop_front() else { return Ok(()) };
        match ask {
            Ask::Make { slab, bytes, user, had_room } => {
                self.make_charged(slab, bytes, user, had_room)?;
            }
            Ask::Charge { slab, bytes, user, had_room } => {
                let charged = self.charge(slab, bytes, user, had_room);
                let is_charged = charged.is_ok();
                let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
                running.ports.told.push_back(Told::Charged(slab, charged));
                if let (Payer::Group(group), true) =
                    (running.ports.charges.payer_of(user), is_charged)
                {
                    self.check_limit(&group)?;
                }
            }
            Ask::Count { slab, bytes, user } => {
                self.slab_users.insert(slab, user);
                running.ports.charges.adopt([(slab, Holding::new(GPU, bytes, user))]);
            }
            Ask::SlabGone(slab) => running.ports.give_back_slab(slab),
            Ask::Read => running.ports.told.push_back(Told::Used(self.card.used())),
            Ask::Close(fd) => drop(fd),
        }
        self.end_if_dead();
        Ok(())
    }

    /// Charges the owner's payer for memory that is about to be made.
    fn charge(
        &mut self,
        slab: SlabId,
        bytes: u64,
        user: u32,
        had_room: bool,
    ) -> Result<(), DriverFailure> {
        let forced = self.mutation == Some(Mutation::LimitBeforePending) && had_room;
        self.slab_users.insert(slab, user);
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        running.ports.charge_forced = forced;
        running.ports.charge_now(slab, bytes, user)
    }

    /// Charges the owner's payer, then makes the slab.
    fn make_charged(
        &mut self,
        slab: SlabId,
        bytes: u64,
        user: u32,
        had_room: bool,
    ) -> Result<(), Violation> {
        let charged = self.charge(slab, bytes, user, had_room);
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let ports = &mut running.ports;
        let payer = ports.charges.payer_of(user);
        if let Err(refused) = charged {
            ports.told.push_back(Told::Made(slab, Err(refused)));
            return Ok(());
        }
        if !ports.lives() {
            return Ok(());
        }
        let failure = |out_of_memory, text: &str| {
            Err(DriverFailure { out_of_memory, text: text.to_owned(), over_limit: None })
        };
        let made = if self.busy && self.rng.once_in(15) {
            failure(self.rng.once_in(2), "a fault")
        } else {
            let made = self.card.make(TransportKind::Vmm, bytes);
            made.map_or_else(|| failure(true, "full"), |it| Ok(Fd::Memory(it)))
        };
        let is_made = made.is_ok();
        if !is_made {
            ports.give_back_slab(slab);
        }
        ports.told.push_back(Told::Made(slab, made));
        match payer {
            Payer::Group(group) if is_made => self.check_limit(&group),
            _ => Ok(()),
        }
    }

    /// What the card says is in use, once this daemon can read it.
    fn reading(&self) -> Option<u64> {
        match &self.daemon {
            Daemon::Running(running) if running.driver_ready => Some(self.card.used()),
            _ => None,
        }
    }

    pub(crate) fn book_works(&mut self) {
        let reading = self.reading();
        if let Daemon::Running(running) = &mut self.daemon {
            running.ports.book_works(reading);
        }
        self.end_if_dead();
    }

    pub(crate) fn book_says(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(told) = running.ports.book.told.pop_front() else { return Ok(()) };
        self.event(|pond, ports| match told {
            BookTold::Answer(conn, number, answer) => {
                pond.group_answered(ports, conn, number, answer);
            }
            BookTold::Payers(payers) => pond.payers(ports, payers),
            BookTold::Press(conn, request) => pond.press(ports, conn, *request),
            BookTold::Event { kind, group, user, text } => {
                pond.group_event(ports, kind, &group, Some(user), &text);
            }
            BookTold::EndSilent(conn) => pond.end_silent(ports, conn),
        })
    }

    pub(crate) fn book_looks(&mut self) {
        let reading = self.reading();
        if let Daemon::Running(running) = &mut self.daemon {
            running.ports.book_looks(reading);
        }
    }

    /// The book thread looks after waits and requests whose time has come.
    pub(crate) fn look_at_pressure(&mut self) {
        if let Daemon::Running(running) = &mut self.daemon {
            running.ports.look_at_pressure();
        }
        self.end_if_dead();
    }

    fn end_if_dead(&mut self) {
        if matches!(&self.daemon, Daemon::Running(running) if running.ports.dead) {
            self.daemon_dies();
        }
    }
}
