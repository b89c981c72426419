//! The slots in the ledger's memory: who owns them, sums over them, giving back.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::error::LedgerError;
use crate::layout::{
    Column, DEVICES, DeviceIndex, DeviceReading, HEAD, LINE, LINES, OWNER, OWNERS_AT, SLOTS,
    SlotKind, Uuid, head, line, owner,
};
use crate::liveness::{self, Life, Process, own_namespace};
use crate::protocol::{self, Halves, Protocol, Sound, Word};
use crate::region::Region;
use crate::sys::{self, Fd};

/// Who owns a slot, as its owner wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub serial: u32,
    pub kind: SlotKind,
    pub pid: i32,
    pub namespace: u64,
    pub start: u64,
    pub program: [u8; 16],
}

#[derive(Debug, Default)]
pub(crate) struct Reaped {
    /// Slots that are free now.
    pub freed: usize,
    /// Slots whose owners are on their way: what they had will be free soon.
    pub dying: SlotSet,
}

/// Some of the slots.
#[derive(Debug, Default)]
pub(crate) struct SlotSet([u64; SLOTS / 64]);

impl SlotSet {
    fn mark(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
    }

    fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..SLOTS).filter(|index| {
            self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
        })
    }
}

#[inline]
fn at(index: usize, device: DeviceIndex, offset: usize) -> usize {
    HEAD.saturating_add(device.get().saturating_mul(LINES))
        .saturating_add(index.saturating_mul(LINE))
        .saturating_add(offset)
}

fn owner_at(index: usize, offset: usize) -> usize {
    OWNERS_AT.saturating_add(index.saturating_mul(OWNER)).saturating_add(offset)
}

/// Where a slot's bit is: the word's offset, and the bit in it.
fn bit_of(index: usize) -> (usize, u64) {
    (head::TAKEN_SLOTS.saturating_add(index / 64 * 8), 1 << (index % 64))
}

pub(crate) fn devices() -> impl Iterator<Item = DeviceIndex> {
    (0..DEVICES).filter_map(|index| u8::try_from(index).ok().map(DeviceIndex))
}

impl Region {
    /// The word that counts.
    #[inline]
    pub(crate) fn held(&self, index: usize, device: DeviceIndex) -> &AtomicU64 {
        self.word(at(index, device, line::WORD))
    }

    pub(crate) fn column(&self, index: usize, device: DeviceIndex, column: Column) -> &AtomicU64 {
        let offset = match column {
            Column::Contexts => line::CONTEXTS,
            Column::Shared => line::SHARED,
            Column::Folded => line::FOLDED,
            Column::Idle => line::IDLE,
        };
        self.word(at(index, device, offset))
    }

    pub(crate) fn wanted(&self, index: usize, device: DeviceIndex) -> &AtomicU64 {
        self.word(at(index, device, line::WANTED))
    }

    pub(crate) fn kept(&self, index: usize, device: DeviceIndex) -> &AtomicU64 {
        self.word(at(index, device, line::KEPT))
    }

    pub(crate) fn until(&self, index: usize, device: DeviceIndex) -> &AtomicU64 {
        self.word(at(index, device, line::UNTIL))
    }

    /// What a slot's owner waits for, and what of its credit nobody strips; nothing once its time is
    /// over.
    pub(crate) fn wait_of(&self, index: usize, device: DeviceIndex, now: u64) -> (u64, u64) {
        if self.until(index, device).load(Ordering::Acquire) <= now {
            return (0, 0);
        }
        let load = |word: &AtomicU64| word.load(Ordering::Acquire);
        (load(self.wanted(index, device)), load(self.kept(index, device)))
    }

    /// What waiters are owed on a device: everybody but one slot's owner leaves it.
    pub(crate) fn owed(&self, device: DeviceIndex, but: Option<usize>, now: u64) -> u64 {
        let others = self.slots().filter(|index| Some(*index) != but);
        others.fold(0, |sum: u64, index| sum.saturating_add(self.wait_of(index, device, now).0))
    }

    pub(crate) fn reading(&self, index: usize, device: DeviceIndex) -> DeviceReading {
        let Halves { credit, used, .. } = Halves::unpack(Word::load(self.held(index, device)));
        let column = |column| self.column(index, device, column).load(Ordering::Relaxed);
        DeviceReading {
            credit: credit.into(),
            used: used.into(),
            contexts: column(Column::Contexts),
            shared: column(Column::Shared),
            folded: column(Column::Folded),
            idle: column(Column::Idle),
            wanted: self.wait_of(index, device, sys::monotonic_nanos()).0,
        }
    }

    /// Slots that were ever taken; the others are zero.
    pub(crate) fn slots(&self) -> core::ops::Range<usize> {
        0..usize::try_from(self.load(head::HIGH_WATER)).unwrap_or(SLOTS).min(SLOTS)
    }

    /// Sums of (claims, uses) over all slots, each with what the reconciler added.
    pub(crate) fn sums(&self, device: DeviceIndex) -> (u64, u64) {
        self.slots().fold((0, 0), |(claims, uses): (u64, u64), index| {
            let halves = Halves::unpack(Word::load(self.held(index, device)));
            let folded = self.column(index, device, Column::Folded).load(Ordering::Relaxed);
            (
                claims.saturating_add(halves.claim()).saturating_add(folded),
                uses.saturating_add(halves.used.into()).saturating_add(folded),
            )
        })
    }

    /// Who owns a slot; `None` when nobody does.
    pub(crate) fn owner(&self, index: usize) -> Option<Identity> {
        if !self.is_taken(index) {
            return None;
        }
        let load = |offset| self.load(owner_at(index, offset));
        let mut program = [0; 16];
        for (offset, place) in (owner::PROGRAM..).step_by(8).zip(program.chunks_exact_mut(8)) {
            place.copy_from_slice(&load(offset).to_le_bytes());
        }
        let (kind, pid) = split_kind(load(owner::PID));
        Some(Identity {
            serial: u32::try_from(load(owner::SERIAL)).unwrap_or(0),
            kind,
            pid,
            namespace: load(owner::NAMESPACE),
            start: load(owner::START),
            program,
        })
    }

    /// Takes back unused credit of all but one slot until `enough` was found; says how much. What is
    /// kept for waiters stays.
    pub(crate) fn strip<P: Protocol>(
        &self,
        device: DeviceIndex,
        but: Option<usize>,
        enough: u64,
    ) -> u64 {
        let now = sys::monotonic_nanos();
        let kept = |index| self.wait_of(index, device, now).1;
        self.strip_but::<P>(device, but, enough, kept)
    }

    fn strip_but<P: Protocol>(
        &self,
        device: DeviceIndex,
        but: Option<usize>,
        enough: u64,
        kept: impl Fn(usize) -> u64,
    ) -> u64 {
        let mut found = 0_u64;
        for index in self.slots().filter(|index| Some(*index) != but) {
            if found >= enough {
                break;
            }
            let keep = u32::try_from(kept(index)).unwrap_or(u32::MAX);
            found = found.saturating_add(P::strip(self.held(index, device), keep).into());
        }
        found
    }

    /// See [`protocol::settle`]; `limit` is without the pond's part.
    pub(crate) fn settle(&self, device: DeviceIndex, limit: u64) {
        protocol::settle(
            limit,
            || self.sums(device).0,
            // A lower limit holds from the next allocation on, also for who has waited.
            |over| self.strip_but::<Sound>(device, None, over, |_| 0),
            || self.slots().for_each(|index| protocol::tighten(self.held(index, device))),
        );
    }

    /// Gives back what dead owners had, once the driver has it too. Only under the lock. `hasty`
    /// leaves the grace away: for drivers that need none.
    pub(crate) fn reap(&self, fd: &Fd, hasty: bool) -> Result<Reaped, LedgerError> {
        let namespace = own_namespace();
        let now = sys::monotonic_nanos().max(1);
        let mut reaped = Reaped::default();
        for index in self.slots() {
            let Some(who) = self.owner(index) else { continue };
            let ended = self.word(owner_at(index, owner::ENDED));
            let grace_ms = match liveness::life_of(fd, index, &who, namespace)? {
                Life::Living => {
                    ended.store(0, Ordering::Relaxed);
                    continue;
                }
                Life::Ending => {
                    reaped.dying.mark(index);
                    continue;
                }
                Life::Ended { grace_ms } => grace_ms,
            };
            let since = match ended.load(Ordering::Relaxed) {
                // The clock of another boot, or nonsense: begin anew.
                since if since == 0 || since > now => {
                    ended.store(now, Ordering::Relaxed);
                    now
                }
                since => since,
            };
            if hasty || now.saturating_sub(since) >= grace_ms.saturating_mul(1_000_000) {
                self.clear(index);
                reaped.freed = reaped.freed.saturating_add(1);
            } else {
                reaped.dying.mark(index);
            }
        }
        Ok(reaped)
    }

    /// What some slots take from the room of a device.
    pub(crate) fn claims_of(&self, set: &SlotSet, device: DeviceIndex) -> u64 {
        set.slots().fold(0, |sum: u64, index| {
            let halves = Halves::unpack(Word::load(self.held(index, device)));
            let folded = self.column(index, device, Column::Folded).load(Ordering::Relaxed);
            sum.saturating_add(halves.claim()).saturating_add(folded)
        })
    }

    /// Whoever is killed half way leaves a slot that the next one clears again.
    fn clear(&self, index: usize) {
        for device in devices() {
            self.held(index, device).overwrite(0);
            let columns = [Column::Contexts, Column::Shared, Column::Folded, Column::Idle];
            for word in columns
                .map(|column| self.column(index, device, column))
                .into_iter()
                .chain([self.wanted(index, device), self.kept(index, device)])
                .chain([self.until(index, device)])
            {
                word.store(0, Ordering::Relaxed);
            }
        }
        self.store(owner_at(index, owner::ENDED), 0);
        let (word, bit) = bit_of(index);
        self.word(word).fetch_and(!bit, Ordering::AcqRel);
    }

    fn is_taken(&self, index: usize) -> bool {
        let (word, bit) = bit_of(index);
        self.load(word) & bit != 0
    }

    /// Takes a free slot. Only under the lock that `fd` holds; `own` is the description that will
    /// live with the slot, and holds its lock from here on.
    pub(crate) fn claim(
        &self,
        fd: &Fd,
        own: &Fd,
        kind: SlotKind,
        hasty: bool,
    ) -> Result<usize, LedgerError> {
        let index = match self.first_free(own)? {
            Some(index) => index,
            None => {
                self.reap(fd, hasty)?;
                self.first_free(own)?.ok_or(LedgerError::Full)?
            }
        };
        self.clear(index);
        let pid = sys::pid();
        let store = |offset, value| self.store(owner_at(index, offset), value);
        let serial =
            self.load(owner_at(index, owner::SERIAL)).wrapping_add(1) & u64::from(u32::MAX);
        store(owner::SERIAL, serial);
        store(owner::PID, join_kind(kind, pid));
        store(owner::NAMESPACE, own_namespace());
        store(owner::START, Process::own().map_or(0, |process| process.start));
        for (offset, part) in (owner::PROGRAM..).step_by(8).zip(sys::program_name().chunks_exact(8))
        {
            store(offset, part.try_into().map_or(0, u64::from_le_bytes));
        }
        let water = u64::try_from(index.saturating_add(1)).unwrap_or(0);
        self.word(head::HIGH_WATER).fetch_max(water, Ordering::AcqRel);
        let (word, bit) = bit_of(index);
        self.word(word).fetch_or(bit, Ordering::AcqRel);
        Ok(index)
    }

    /// The first slot without an owner whose lock can be had: then it is held.
    fn first_free(&self, own: &Fd) -> Result<Option<usize>, LedgerError> {
        for index in 0..SLOTS {
            if !self.is_taken(index) && own.lock_try(liveness::slot_byte(index))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// A device's number, if any member has used it.
    pub(crate) fn find_device(&self, uuid: &Uuid) -> Option<DeviceIndex> {
        let (low, high) = split(uuid);
        devices().find(|device| {
            self.load(device_at(*device, head::TAKEN)) != 0
                && self.load(device_at(*device, head::UUID_LOW)) == low
                && self.load(device_at(*device, head::UUID_HIGH)) == high
        })
    }

    /// A device's number, taken if need be. Only under the lock.
    pub(crate) fn claim_device(&self, uuid: &Uuid) -> Result<DeviceIndex, LedgerError> {
        if let Some(device) = self.find_device(uuid) {
            return Ok(device);
        }
        let free = devices().find(|device| self.load(device_at(*device, head::TAKEN)) == 0);
        let device = free.ok_or(LedgerError::TooManyDevices)?;
        let (low, high) = split(uuid);
        self.store(device_at(device, head::UUID_LOW), low);
        self.store(device_at(device, head::UUID_HIGH), high);
        self.store(device_at(device, head::TAKEN), 1);
        Ok(device)
    }

    pub(crate) fn uuid(&self, device: DeviceIndex) -> Uuid {
        let low = self.load(device_at(device, head::UUID_LOW));
        let high = self.load(device_at(device, head::UUID_HIGH));
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }

    /// What a context takes on a device, in bytes; 0 is unknown.
    pub(crate) fn context(&self, device: DeviceIndex) -> &AtomicU64 {
        self.word(device_at(device, head::CONTEXT))
    }
}

const CACHE: u64 = 1 << 32;

fn join_kind(kind: SlotKind, pid: i32) -> u64 {
    let pid = u64::try_from(pid).unwrap_or(0);
    match kind {
        SlotKind::Process => pid,
        SlotKind::Cache => pid | CACHE,
    }
}

fn split_kind(word: u64) -> (SlotKind, i32) {
    let kind = if word & CACHE == 0 { SlotKind::Process } else { SlotKind::Cache };
    (kind, i32::try_from(word & u64::from(u32::MAX)).unwrap_or(0))
}

fn device_at(device: DeviceIndex, offset: usize) -> usize {
    head::TABLE.saturating_add(device.get().saturating_mul(head::DEVICE)).saturating_add(offset)
}

fn split(uuid: &Uuid) -> (u64, u64) {
    let all = u128::from_le_bytes(*uuid);
    let low = u64::try_from(all & u128::from(u64::MAX)).unwrap_or(0);
    (low, u64::try_from(all >> 64).unwrap_or(0))
}
