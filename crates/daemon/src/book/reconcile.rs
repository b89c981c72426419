//! Slots against the card: what was not charged is folded in, and a group that lies is marked.

use std::sync::Arc;

use millpond_ledger::{Flags, MemberReading, SlotKind};
use millpond_wire::message::{EventKind, drift_bytes};
use millpond_wire::{GpuUuid, GroupName};

use super::Told;
use super::account::{Account, bytes};
use super::listing::program;
use super::shelf::Shelf;
use crate::budget::drift::Seen;
use crate::policy::GroupReading;

impl Shelf {
    /// Compares every slot with what the cards last said.
    pub fn reconcile(&mut self) {
        let names: Vec<GroupName> = self.groups.keys().cloned().collect();
        for name in names {
            let Some(group) = self.groups.get(&name) else { continue };
            let Ok(account) = group.account.clone() else { continue };
            let mut members = Vec::new();
            if account.book.members(|member| members.push(member)).is_err() {
                continue;
            }
            self.look_at(&name, &account, &members);
        }
        self.tell_readings();
    }

    /// Says what the groups have on the cards, if that has changed. Without a group there is nothing
    /// to say: nobody reads the cards then, and an old number would be taken for a new one.
    pub fn tell_readings(&mut self) {
        let readings = if self.is_empty() { Vec::new() } else { self.group_readings() };
        if readings != self.last_readings {
            self.last_readings.clone_from(&readings);
            self.told.push(Told::Readings(readings));
        }
    }

    fn look_at(&mut self, name: &GroupName, account: &Arc<Account>, members: &[MemberReading]) {
        let mut lie = None;
        let devices: Vec<GpuUuid> = self.cards.iter().map(|card| card.uuid).collect();
        for device in devices {
            let mut forced = 0u64;
            let mut processes = 0;
            for member in members.iter().filter(|member| member.alive) {
                let Ok(reading) = account.book.reading(member.slot, device.0) else { continue };
                processes += 1;
                forced = forced.saturating_add(reading.contexts).saturating_add(reading.folded);
                // Of a cache's slot the card knows nothing: it shows the whole process.
                let whole = member.kind == SlotKind::Process;
                let seen = Seen {
                    used: reading.used,
                    credit: reading.credit,
                    folded: reading.folded,
                    shared: reading.shared,
                    physical: whole
                        .then(|| self.physical(device, member).map(|(_, units)| units))
                        .flatten(),
                };
                let Some(group) = self.groups.get_mut(name) else { return };
                let memory = group.memories.entry((member.slot, device)).or_default();
                let verdict = memory.look(seen);
                if let Some(kind) = verdict.lies {
                    lie = Some(format!("{} (pid {}) {}", program(member), member.pid, kind.text()));
                }
                if verdict.fold != 0 {
                    let folded = account.locked_in_turn(&self.waits, |book, patience| {
                        book.fold(member.slot, device.0, verdict.fold, patience)
                    });
                    if folded.is_ok() {
                        memory.folded(verdict.fold);
                    }
                }
            }
            let (Ok(budget), Ok(totals)) = (account.budget(device), account.book.totals(device.0))
            else {
                continue;
            };
            let Some(group) = self.groups.get_mut(name) else { return };
            let promised = totals.credit.saturating_add(totals.pond);
            let forced = forced.saturating_add(totals.pond);
            let ceiling = group.ceiling(device);
            if ceiling.look(budget.effective, promised, forced, processes) {
                lie = Some("its processes are promised more than its limit".to_owned());
            }
        }
        if let Some(group) = self.groups.get_mut(name) {
            let here = |slot| members.iter().any(|member| member.alive && member.slot == slot);
            group.memories.retain(|(slot, _), _| here(*slot));
        }
        if let Some(text) = lie {
            self.mark_lying(name, account, text);
        }
    }

    /// A member has written behind the end of a file. Whoever can write a ledger can write anything
    /// into it, so nothing in it counts as true.
    pub fn too_long(&mut self, name: &GroupName, file: &str, bytes: u64) {
        let Some(group) = self.groups.get(name) else { return };
        let Ok(account) = group.account.clone() else { return };
        self.mark_lying(name, &account, format!("a member has made `{file}` {bytes} bytes long"));
    }

    fn mark_lying(&mut self, name: &GroupName, account: &Account, text: String) {
        let Some(group) = self.groups.get_mut(name) else { return };
        if std::mem::replace(&mut group.lying, true) {
            return;
        }
        let marked = account.locked(|book, patience| {
            let flags = Flags(book.flags()?.0 | Flags::LYING.0);
            book.set_flags(flags, patience)
        });
        group.note(&marked);
        tracing::warn!(group = %name, "{text}");
        self.event(EventKind::GroupLying, name, None, text);
    }

    /// What the card says of a member: its pid here, and what it uses in units.
    pub fn physical(&self, device: GpuUuid, member: &MemberReading) -> Option<(u32, u64)> {
        let card = self.cards.iter().find(|card| card.uuid == device)?;
        let known = card.processes.iter().find(|(_, identity, _)| identity.is(member));
        known.map(|(pid, _, units)| (*pid, *units))
    }

    fn group_readings(&self) -> Vec<GroupReading> {
        let mut readings = Vec::new();
        for state in &self.cards {
            let (mut charged, mut drift) = (0u64, 0i64);
            for group in self.groups.values() {
                let Ok(account) = &group.account else { continue };
                let Ok(totals) = account.book.totals(state.uuid.0) else { continue };
                charged = charged.saturating_add(totals.used);
                let _ = account.book.members(|member| {
                    if member.kind == SlotKind::Cache {
                        return;
                    }
                    let reading = account.book.reading(member.slot, state.uuid.0);
                    if let (Ok(reading), Some((_, physical))) =
                        (reading, self.physical(state.uuid, &member))
                    {
                        let charged = bytes(reading.used.saturating_add(reading.folded));
                        let shared = bytes(reading.shared);
                        drift = drift.saturating_add(drift_bytes(bytes(physical), charged, shared));
                    }
                });
            }
            readings.push(GroupReading {
                device: state.uuid,
                charged_bytes: bytes(charged),
                drift_bytes: drift,
                outside_bytes: bytes(state.card.used.unwrap_or(0).saturating_sub(charged)),
            });
        }
        readings
    }
}
