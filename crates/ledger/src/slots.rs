//! The slots in the ledger's memory: who owns them, sums over them, giving back.

use crate::error::LedgerError;
use crate::layout::{
    Column, DEVICES, DeviceIndex, DeviceReading, HEAD, LINE, LINES, OWNER, OWNERS_AT, SLOTS,
    SlotKind, Uuid, head, line, owner,
};
use crate::liveness::{self, Life, Process, own_namespace};
use crate::protocol::{self, Halves, Protocol, Sound};
use crate::sys::{self, Fd};
use crate::view::{Place, View};

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

    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..SLOTS).filter(|index| self.has(*index))
    }
}

#[inline]
fn at(index: usize, device: DeviceIndex, offset: usize) -> usize {
    HEAD.saturating_add(device.get().saturating_mul(LINES))
        .saturating_add(index.saturating_mul(LINE))
        .saturating_add(offset)
}

fn column_at(index: usize, device: DeviceIndex, column: Column) -> usize {
    let offset = match column {
        Column::Contexts => line::CONTEXTS,
        Column::Shared => line::SHARED,
        Column::Folded => line::FOLDED,
        Column::Idle => line::IDLE,
    };
    at(index, device, offset)
}

fn owner_at(index: usize, offset: usize) -> usize {
    OWNERS_AT.saturating_add(index.saturating_mul(OWNER)).saturating_add(offset)
}

/// Where the word of a slot is that counts.
#[inline]
pub(crate) fn held_at(index: usize, device: DeviceIndex) -> usize {
    at(index, device, line::WORD)
}

/// Where a slot's bit is: the word's offset, and the bit in it.
fn bit_of(index: usize) -> (usize, u64) {
    (head::TAKEN_SLOTS.saturating_add(index / 64 * 8), 1 << (index % 64))
}

pub(crate) fn devices() -> impl Iterator<Item = DeviceIndex> {
    (0..DEVICES).filter_map(|index| u8::try_from(index).ok().map(DeviceIndex))
}

/// What one process has on one device, as it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line([u64; WORDS]);

const WORDS: usize = LINE / 8;
/// Lines that are read at once.
const CHUNK: usize = 16;

impl Line {
    fn at(&self, offset: usize) -> u64 {
        self.0.get(offset / 8).copied().unwrap_or(0)
    }

    fn halves(&self) -> Halves {
        Halves::unpack(self.at(line::WORD))
    }

    /// What its owner waits for, and what of its credit nobody strips; nothing once its time is
    /// over.
    pub(crate) fn wait(&self, now: u64) -> (u64, u64) {
        match self.at(line::UNTIL) {
            until if until <= now => (0, 0),
            _ => (self.at(line::WANTED), self.at(line::KEPT)),
        }
    }
}

impl View<'_> {
    /// The word that counts.
    pub(crate) fn held(&self, index: usize, device: DeviceIndex) -> Place<'_> {
        self.word(at(index, device, line::WORD))
    }

    pub(crate) fn column(&self, index: usize, device: DeviceIndex, column: Column) -> Place<'_> {
        self.word(column_at(index, device, column))
    }

    /// Writes a column that only one writes at a time.
    pub(crate) fn set_column(&self, index: usize, device: DeviceIndex, column: Column, units: u64) {
        self.store(column_at(index, device, column), units);
    }

    pub(crate) fn set_wanted(&self, index: usize, device: DeviceIndex, units: u64) {
        self.store(at(index, device, line::WANTED), units);
    }

    pub(crate) fn set_kept(&self, index: usize, device: DeviceIndex, units: u64) {
        self.store(at(index, device, line::KEPT), units);
    }

    pub(crate) fn set_until(&self, index: usize, device: DeviceIndex, nanos: u64) {
        self.store(at(index, device, line::UNTIL), nanos);
    }

    pub(crate) fn line(&self, index: usize, device: DeviceIndex) -> Line {
        let mut line = Line([0; WORDS]);
        self.read(at(index, device, 0), &mut line.0);
        line
    }

    /// Calls `each` for the lines of a device, until it says no.
    fn each_line(&self, device: DeviceIndex, mut each: impl FnMut(usize, Line) -> bool) {
        let mut words = [0; CHUNK * WORDS];
        let mut slots = self.slots();
        while !slots.is_empty() {
            let count = slots.len().min(CHUNK);
            let words = words.get_mut(..count.saturating_mul(WORDS)).unwrap_or_default();
            self.read(at(slots.start, device, 0), words);
            for (words, index) in words.chunks_exact(WORDS).zip(slots.by_ref()) {
                if !each(index, Line(words.try_into().unwrap_or([0; WORDS]))) {
                    return;
                }
            }
        }
    }

    /// What waiters are owed on a device: everybody but one slot's owner leaves it.
    pub(crate) fn owed(&self, device: DeviceIndex, but: Option<usize>, now: u64) -> u64 {
        let mut sum = 0_u64;
        self.each_line(device, |index, line| {
            if Some(index) != but {
                sum = sum.saturating_add(line.wait(now).0);
            }
            true
        });
        sum
    }

    pub(crate) fn reading(&self, index: usize, device: DeviceIndex) -> DeviceReading {
        let line = self.line(index, device);
        let Halves { credit, used, .. } = line.halves();
        DeviceReading {
            credit: credit.into(),
            used: used.into(),
            contexts: line.at(line::CONTEXTS),
            shared: line.at(line::SHARED),
            folded: line.at(line::FOLDED),
            idle: line.at(line::IDLE),
            wanted: line.wait(sys::monotonic_nanos()).0,
        }
    }

    /// Slots that were ever taken; the others are zero.
    fn slots(&self) -> core::ops::Range<usize> {
        0..usize::try_from(self.load(head::HIGH_WATER)).unwrap_or(SLOTS).min(SLOTS)
    }

    /// Sums of (claims, uses) over all slots, each with what the reconciler added.
    pub(crate) fn sums(&self, device: DeviceIndex) -> (u64, u64) {
        let (mut claims, mut uses) = (0_u64, 0_u64);
        self.each_line(device, |_, line| {
            let (halves, folded) = (line.halves(), line.at(line::FOLDED));
            claims = claims.saturating_add(halves.claim()).saturating_add(folded);
            uses = uses.saturating_add(halves.used.into()).saturating_add(folded);
            true
        });
        (claims, uses)
    }

    /// Slots that have an owner.
    pub(crate) fn taken(&self) -> SlotSet {
        let mut taken = SlotSet::default();
        self.read(head::TAKEN_SLOTS, &mut taken.0);
        taken
    }

    /// Who owns a slot; `None` when nobody does.
    pub(crate) fn owner(&self, index: usize) -> Option<Identity> {
        self.taken().has(index).then(|| self.identity(index))
    }

    /// Who owns a slot that is taken.
    pub(crate) fn identity(&self, index: usize) -> Identity {
        let mut words = [0; (owner::PROGRAM + 16) / 8];
        self.read(owner_at(index, 0), &mut words);
        let word = |offset: usize| words.get(offset / 8).copied().unwrap_or(0);
        let mut program = [0; 16];
        for (offset, place) in (owner::PROGRAM..).step_by(8).zip(program.chunks_exact_mut(8)) {
            place.copy_from_slice(&word(offset).to_le_bytes());
        }
        let (kind, pid) = split_kind(word(owner::PID));
        Identity {
            serial: u32::try_from(word(owner::SERIAL)).unwrap_or(0),
            kind,
            pid,
            namespace: word(owner::NAMESPACE),
            start: word(owner::START),
            program,
        }
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
        self.strip_but::<P>(device, but, enough, |line| line.wait(now).1)
    }

    fn strip_but<P: Protocol>(
        &self,
        device: DeviceIndex,
        but: Option<usize>,
        enough: u64,
        kept: impl Fn(&Line) -> u64,
    ) -> u64 {
        let mut found = 0_u64;
        self.each_line(device, |index, line| {
            let keep = u32::try_from(kept(&line)).unwrap_or(u32::MAX);
            let Halves { credit, used, .. } = line.halves();
            if Some(index) != but && credit > used.saturating_add(keep) {
                found = found.saturating_add(P::strip(&self.held(index, device), keep).into());
            }
            found < enough
        });
        found
    }

    /// See [`protocol::settle`]; `limit` is without the pond's part.
    pub(crate) fn settle(&self, device: DeviceIndex, limit: u64) {
        protocol::settle(
            limit,
            || self.sums(device).0,
            // A lower limit holds from the next allocation on, also for who has waited.
            |over| self.strip_but::<Sound>(device, None, over, |_| 0),
            || {
                self.each_line(device, |index, line| {
                    if line.at(line::WORD) != 0 {
                        protocol::tighten(&self.held(index, device));
                    }
                    true
                });
            },
        );
    }

    /// Gives back what dead owners had, once the driver has it too. Only under the lock. `hasty`
    /// leaves the grace away: for drivers that need none.
    pub(crate) fn reap(&self, fd: &Fd, hasty: bool) -> Result<Reaped, LedgerError> {
        let namespace = own_namespace();
        let now = sys::monotonic_nanos().max(1);
        let mut reaped = Reaped::default();
        for index in self.taken().slots() {
            let who = self.identity(index);
            self.whole()?;
            let ended = owner_at(index, owner::ENDED);
            let grace_ms = match liveness::life_of(fd, index, &who, namespace)? {
                Life::Living => {
                    if self.load(ended) != 0 {
                        self.store(ended, 0);
                    }
                    continue;
                }
                Life::Ending => {
                    reaped.dying.mark(index);
                    continue;
                }
                Life::Ended { grace_ms } => grace_ms,
            };
            let since = match self.load(ended) {
                // The clock of another boot, or nonsense: begin anew.
                since if since == 0 || since > now => {
                    self.store(ended, now);
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
        self.whole()?;
        Ok(reaped)
    }

    /// What some slots take from the room of a device.
    pub(crate) fn claims_of(&self, set: &SlotSet, device: DeviceIndex) -> u64 {
        set.slots().fold(0, |sum: u64, index| {
            let line = self.line(index, device);
            sum.saturating_add(line.halves().claim()).saturating_add(line.at(line::FOLDED))
        })
    }

    /// Whoever is killed half way leaves a slot that the next one clears again.
    fn clear(&self, index: usize) {
        for device in devices() {
            if self.line(index, device).0 != [0; WORDS] {
                self.write(at(index, device, 0), &[0; WORDS]);
            }
        }
        self.store(owner_at(index, owner::ENDED), 0);
        let (word, bit) = bit_of(index);
        self.store(word, self.load(word) & !bit);
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
        let serial =
            self.load(owner_at(index, owner::SERIAL)).wrapping_add(1) & u64::from(u32::MAX);
        let mut record = [0; (owner::PROGRAM + 16) / 8];
        let mut set = |offset: usize, value| {
            if let Some(place) = record.get_mut(offset / 8) {
                *place = value;
            }
        };
        set(owner::SERIAL, serial);
        set(owner::PID, join_kind(kind, sys::pid()));
        set(owner::NAMESPACE, own_namespace());
        set(owner::START, Process::own().map_or(0, |process| process.start));
        for (offset, part) in (owner::PROGRAM..).step_by(8).zip(sys::program_name().chunks_exact(8))
        {
            set(offset, part.try_into().map_or(0, u64::from_le_bytes));
        }
        self.write(owner_at(index, 0), &record);
        let water = u64::try_from(index.saturating_add(1)).unwrap_or(0);
        self.store(head::HIGH_WATER, self.load(head::HIGH_WATER).max(water));
        let (word, bit) = bit_of(index);
        self.store(word, self.load(word) | bit);
        self.whole()?;
        Ok(index)
    }

    /// The first slot without an owner whose lock can be had: then it is held.
    fn first_free(&self, own: &Fd) -> Result<Option<usize>, LedgerError> {
        let taken = self.taken();
        for index in (0..SLOTS).filter(|index| !taken.has(*index)) {
            if own.lock_try(liveness::slot_byte(index), 1)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The table of devices.
    fn table(&self) -> [u64; TABLE] {
        let mut table = [0; TABLE];
        self.read(head::TABLE, &mut table);
        table
    }

    /// A device's number, if any member has used it.
    pub(crate) fn find_device(&self, uuid: &Uuid) -> Option<DeviceIndex> {
        let ((low, high), table) = (split(uuid), self.table());
        devices().find(|device| {
            let entry = |offset| entry_of(&table, *device, offset);
            entry(head::TAKEN) != 0
                && entry(head::UUID_LOW) == low
                && entry(head::UUID_HIGH) == high
        })
    }

    /// A device's number, taken if need be. Only under the lock.
    pub(crate) fn claim_device(&self, uuid: &Uuid) -> Result<DeviceIndex, LedgerError> {
        if let Some(device) = self.find_device(uuid) {
            return Ok(device);
        }
        let table = self.table();
        let free = devices().find(|device| entry_of(&table, *device, head::TAKEN) == 0);
        let device = free.ok_or(LedgerError::TooManyDevices)?;
        self.whole()?;
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
    pub(crate) fn context(&self, device: DeviceIndex) -> u64 {
        self.load(device_at(device, head::CONTEXT))
    }

    pub(crate) fn set_context(&self, device: DeviceIndex, bytes: u64) {
        self.store(device_at(device, head::CONTEXT), bytes);
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

const TABLE: usize = DEVICES * head::DEVICE / 8;

fn entry_of(table: &[u64; TABLE], device: DeviceIndex, offset: usize) -> u64 {
    let place = device_at(device, offset).saturating_sub(head::TABLE) / 8;
    table.get(place).copied().unwrap_or(0)
}

fn device_at(device: DeviceIndex, offset: usize) -> usize {
    head::TABLE.saturating_add(device.get().saturating_mul(head::DEVICE)).saturating_add(offset)
}

fn split(uuid: &Uuid) -> (u64, u64) {
    let all = u128::from_le_bytes(*uuid);
    let low = u64::try_from(all & u128::from(u64::MAX)).unwrap_or(0);
    (low, u64::try_from(all >> 64).unwrap_or(0))
}
