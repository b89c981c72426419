//! Memory that one process offers and others take part in.

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

use super::super::layout::{ALLOCATION_SLOTS, Offer, PROCESS_SLOTS};
use super::super::system::{self, Lock, to_usize};
use super::{Exporter, Life, Registry, Ticket, file_name};

impl Registry {
    /// This process as others know it.
    pub fn own_process(&self) -> Option<Exporter> {
        self.processes.own().map(|slot| Exporter { slot, pid: std::process::id() })
    }

    /// Offers an allocation that this process holds to others, by its ticket, and by the number that
    /// it has in this process when that is not 0; `spare` bytes at its end are not in use.
    pub fn offer(&self, ticket: Ticket, object: u64, spare: u64) -> io::Result<Exporter> {
        let own = self.own_process().ok_or(io::ErrorKind::NotFound)?;
        let offer = Offer::Process { slot: own.slot, object, spare };
        offer.store(&self.layout.allocation(ticket.slot)?.offer);
        Ok(own)
    }

    /// Lets the file of a pool keep an allocation that this process holds, and offers it to whoever
    /// has that file.
    pub fn keep_in_pool(&self, ticket: Ticket, pool: Ticket) -> io::Result<()> {
        Offer::Pool(pool.id).store(&self.layout.allocation(ticket.slot)?.offer);
        Ok(())
    }

    /// The opposite of both; fine for what was never offered.
    pub fn withdraw(&self, ticket: Ticket) -> io::Result<()> {
        Offer::Nobody.store(&self.layout.allocation(ticket.slot)?.offer);
        Ok(())
    }

    /// Whether a process that offered something is still there.
    pub fn lives(&self, exporter: Exporter) -> io::Result<bool> {
        Ok(exporter.slot < PROCESS_SLOTS
            && self.processes.lives(&self.layout, exporter.slot, exporter.pid)?)
    }

    /// Whether an exporter is this process.
    pub fn is_own(&self, exporter: Exporter) -> bool {
        self.processes.own() == Some(exporter.slot) && exporter.pid == std::process::id()
    }

    /// An allocation that a living process offers, with its size and a lock that keeps it alive;
    /// `None` when there is no such offer any more.
    pub fn adopt(&self, ticket: Ticket, exporter: Exporter) -> io::Result<Option<(File, u64)>> {
        self.adopt_if(ticket, |offer| {
            let by = matches!(offer, Offer::Process { slot, .. } if slot == exporter.slot);
            Ok(by && self.lives(exporter)?)
        })
    }

    /// The same for one that the file of a pool keeps, which the caller has open.
    pub fn adopt_from_pool(&self, ticket: Ticket, pool: Ticket) -> io::Result<Option<(File, u64)>> {
        self.adopt_if(ticket, |offer| Ok(offer == Offer::Pool(pool.id)))
    }

    /// The same for the file of an event, which whoever knows it may open.
    pub fn adopt_part(&self, ticket: Ticket) -> io::Result<Option<File>> {
        if ticket.slot >= ALLOCATION_SLOTS || !self.layout.allocation(ticket.slot)?.is_part() {
            return Ok(None);
        }
        Ok(self.adopt_if(ticket, |_| Ok(true))?.map(|(file, _)| file))
    }

    fn adopt_if(
        &self,
        ticket: Ticket,
        offered: impl FnOnce(Offer) -> io::Result<bool>,
    ) -> io::Result<Option<(File, u64)>> {
        if ticket.id == 0 || ticket.slot >= ALLOCATION_SLOTS {
            return Ok(None);
        }
        let _locked = self.lock()?;
        let slot = self.layout.allocation(ticket.slot)?;
        if slot.id.load(Relaxed) != ticket.id
            || !offered(Offer::load(&slot.offer))?
            || !matches!(self.life(ticket)?, Life::Alive)
        {
            return Ok(None);
        }
        let file = system::open_in(&self.folder, &file_name(ticket.id), false)?;
        system::lock(&file, Lock::Shared, 0, 0, false)?;
        Ok(Some((file, slot.size())))
    }

    /// The allocation that has a number in the process that offers it now, with the bytes in use.
    pub fn object(&self, exporter: Exporter, object: u64) -> io::Result<Option<(Ticket, u64)>> {
        let _locked = self.lock()?;
        for index in 0..to_usize(self.layout.header()?.allocations_end.load(Relaxed)) {
            let slot = self.layout.allocation(index)?;
            let id = slot.id.load(Relaxed);
            if let Offer::Process { slot: by, object: number, spare } = Offer::load(&slot.offer)
                && (id != 0 && by == exporter.slot && number == object)
                && object != 0
            {
                let ticket = Ticket { slot: index, id };
                return Ok(Some((ticket, slot.size().saturating_sub(spare))));
            }
        }
        Ok(None)
    }
}
