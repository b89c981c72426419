//! The group pays: credit from its ledger, in shared memory.

use std::ffi::CStr;
use std::sync::Arc;

use millpond_elastic::{Credit, Short, Verdict, Why};
use millpond_ledger::{DeviceIndex, Member, NO_LIMIT, Refused, UNIT, units_for};
use millpond_wire::message::CacheSlot;
use millpond_wire::{ErrorKind, Failure, GpuUuid};

use super::waiter::Waiter;
use crate::{Result, process};

/// What was assigned may be used up before its turn ends, by a thread that does not wait.
const TRIES: u32 = 8;

/// The group of a cache, as its payer.
#[derive(Debug)]
pub struct GroupCredit {
    /// `None` in a program that is limited itself: its driver takes and gives.
    seat: Option<Seat>,
    waiter: Arc<Waiter>,
}

/// A slot in the ledger. Its memory is not there in a forked child, which must not touch it.
#[derive(Debug)]
struct Seat {
    member: Option<Member>,
    device: DeviceIndex,
    pid: u32,
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.pid != process::current() {
            std::mem::forget(self.member.take());
        }
    }
}

impl Seat {
    fn member(&self) -> Option<&Member> {
        self.member.as_ref().filter(|_| self.pid == process::current())
    }

    /// What the limit is, and what is used of it, in bytes.
    fn reading(&self) -> (u64, u64) {
        let (limit, used) = self.member().map_or((0, 0), |member| member.reading(self.device));
        let bytes = |units: u64| units.saturating_mul(UNIT);
        (if limit == NO_LIMIT { u64::MAX } else { bytes(limit) }, bytes(used))
    }

    fn reserve(&self, units: u32) -> Result<(), Refused> {
        self.member().map_or(Err(Refused::Limit), |member| member.reserve(self.device, units))
    }
}

impl GroupCredit {
    /// Takes a slot in the ledger of this folder, or none where the program is limited itself.
    pub(super) fn new(folder: Option<&CStr>, device: GpuUuid, waiter: Arc<Waiter>) -> Result<Self> {
        let seat = folder
            .map(|folder| -> Result<Seat> {
                let refused = |error: millpond_ledger::LedgerError| {
                    Failure::new(ErrorKind::Internal, format!("the group's ledger: {error}"))
                };
                let member = Member::attach_cache(folder).map_err(refused)?;
                let device = member.device(device.0).map_err(refused)?;
                Ok(Seat { member: Some(member), device, pid: process::current() })
            })
            .transpose()?;
        Ok(Self { seat, waiter })
    }

    /// How the pond knows the slot.
    pub(super) fn slot(&self) -> Option<CacheSlot> {
        let slot = self.seat.as_ref()?.member()?.slot_index();
        let index = u32::try_from(slot.get()).ok()?;
        Some(CacheSlot { index, serial: slot.serial() })
    }

    /// What was given back is others' to have at once.
    pub(super) fn surrender(&self) {
        if let Some(seat) = &self.seat
            && let Some(member) = seat.member()
        {
            member.give_back(seat.device);
        }
    }

    fn short(&self, seat: &Seat, asked: u64) -> Short {
        let (limit, used) = seat.reading();
        let verdict = match () {
            () if asked > limit => Verdict::Never,
            () if used > limit => Verdict::OverBudget,
            () => Verdict::AfterFreeing,
        };
        Short { asked, limit, used, holders: Vec::new(), verdict }
    }
}

impl Credit for GroupCredit {
    fn take(&self, bytes: u64, why: Why) -> Result<(), Short> {
        let Some(seat) = &self.seat else { return Ok(()) };
        let units = units_for(bytes);
        let until = self.waiter.until();
        let mut turn = None;
        for _ in 0..TRIES {
            match seat.reserve(units) {
                Ok(()) => {
                    // What another thread waits for stays its own.
                    if turn.is_some()
                        && let Some(member) = seat.member()
                    {
                        member.waited(seat.device);
                    }
                    return Ok(());
                }
                Err(Refused::Broken(error)) => {
                    tracing::warn!(%error, "the group's ledger gives no credit");
                    return Err(self.short(seat, bytes));
                }
                Err(Refused::Limit) => {}
            }
            let short = self.short(seat, bytes);
            if why == Why::Ahead || short.verdict == Verdict::Never {
                return Err(short);
            }
            if turn.is_none() {
                // Whoever had it may have left something.
                turn = Some(self.waiter.turn());
                continue;
            }
            // What the ledger says is newer than any answer, and there without one.
            self.waiter.want(bytes, until).map_err(|holders| Short { holders, ..short })?;
        }
        Err(self.short(seat, bytes))
    }

    fn give(&self, bytes: u64) {
        if let Some(seat) = &self.seat
            && let Some(member) = seat.member()
        {
            member.release(seat.device, units_for(bytes));
        }
    }

    fn idle(&self, bytes: u64) {
        if let Some(seat) = &self.seat
            && let Some(member) = seat.member()
        {
            member.set_idle(seat.device, bytes / UNIT);
        }
    }
}
