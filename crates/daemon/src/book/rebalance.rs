//! The limits that members obey, from what all groups hold and are promised.

use std::sync::Arc;

use millpond_ledger::{Budget, NO_LIMIT, Totals};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::EventKind;
use millpond_wire::{GpuUuid, GroupName};

use super::account::{Account, bytes};
use super::listing::program;
use super::shelf::Shelf;
use crate::budget::{Card, Share};

/// Who holds most is said of so many.
const TOP: usize = 3;
/// So much above a limit that others decide is the delay of the readings.
const DELAY: u64 = (64 << 20) / millpond_ledger::UNIT;

struct Standing {
    name: GroupName,
    account: Arc<Account>,
    budget: Budget,
    totals: Totals,
}

impl Standing {
    fn share(&self) -> Share {
        Share {
            asked: self.budget.asked,
            min: self.budget.min,
            held: self.totals.used.saturating_add(self.totals.pond),
            weight: self.budget.weight,
        }
    }
}

impl Shelf {
    /// Writes every limit that has changed.
    pub fn rebalance(&mut self) {
        self.reap_ended();
        let cards: Vec<(GpuUuid, Card, bool)> =
            self.cards.iter().map(|it| (it.uuid, it.card, it.read)).collect();
        for (device, card, read) in cards {
            let standings = self.standings(device);
            let shares: Vec<Share> = standings.iter().map(Standing::share).collect();
            let effective = self.charges.balance(device, &card, read, &shares);
            for index in Card::order(&shares) {
                if let (Some(standing), Some(effective)) =
                    (standings.get(index), effective.get(index))
                {
                    let is_kept = !read && self.is_kept(device, &standing.name);
                    let most = if is_kept { standing.budget.effective } else { NO_LIMIT };
                    self.obey(device, standing, most.min(*effective));
                }
            }
        }
    }

    /// What an earlier daemon allowed counted strangers, whom nobody knows before the first reading:
    /// until then it is only lowered, except where somebody sets it anew.
    fn is_kept(&self, device: GpuUuid, name: &GroupName) -> bool {
        self.groups.get(name).is_some_and(|group| group.found && !group.set_here.contains(&device))
    }

    fn standings(&mut self, device: GpuUuid) -> Vec<Standing> {
        let mut standings = Vec::new();
        for (name, group) in &mut self.groups {
            let Ok(account) = group.account.clone() else { continue };
            let budget = account.budget(device);
            group.note(&budget);
            let totals = account.book.totals(device.0);
            group.note(&totals);
            if let (Ok(budget), Ok(totals)) = (budget, totals) {
                standings.push(Standing { name: name.clone(), account, budget, totals });
            }
        }
        standings
    }

    fn obey(&mut self, device: GpuUuid, standing: &Standing, effective: u64) {
        let Standing { name, account, budget, .. } = standing;
        let Some(group) = self.groups.get_mut(name) else { return };
        if budget.effective != effective {
            group.ceiling(device).lowered_from(budget.effective);
            let set = account.locked_in_turn(&self.waits, |book, patience| {
                book.set_effective(device.0, effective, patience)
            });
            group.note(&set);
        }
        let share = standing.share();
        self.press_over(device, name, share.held.saturating_sub(effective));
        let Some(group) = self.groups.get_mut(name) else { return };
        let is_over = share.held > share.asked || share.held > effective.saturating_add(DELAY);
        if !is_over {
            group.over.remove(&device);
        } else if group.over.insert(device) {
            let text = over_text(account, device, share.held, effective, standing.totals.pond);
            self.event(EventKind::GroupOver, name, None, text);
        }
    }
}

fn over_text(account: &Account, device: GpuUuid, held: u64, effective: u64, pond: u64) -> String {
    let mut holders: Vec<(u64, String)> = Vec::new();
    // What cannot be read is not among the holders.
    let _ = account.book.members(|member| {
        if let Ok(reading) = account.book.reading(member.slot, device.0)
            && let held @ 1.. = reading.used.saturating_add(reading.folded)
        {
            holders.push((held, format!("{} (pid {})", program(&member), member.pid)));
        }
    });
    if pond > 0 {
        holders.push((pond, "the pond".to_owned()));
    }
    holders.sort_by(|a, b| b.cmp(a));
    holders.truncate(TOP);
    let holders: Vec<String> = holders
        .into_iter()
        .map(|(units, who)| format!("{who} {}", format_bytes(bytes(units))))
        .collect();
    format!(
        "it holds {} of {device} and may hold {}; most have {}",
        format_bytes(bytes(held)),
        format_bytes(bytes(effective)),
        holders.join(", ")
    )
}
