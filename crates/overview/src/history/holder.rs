//! Who holds memory, each with a number while a sample mentions it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::MOST_HOLDERS;
use crate::{Card, Segment, SegmentKind};

/// The number of a holder.
pub(super) type Slot = u16;

/// So many holders are known at a time. Names are users' to choose, so beyond that they are put together.
const MOST_KNOWN: usize = 1024;
/// A longer label is cut.
const LABEL_BYTES: usize = 120;

/// Whoever holds memory, as histories tell it: a version, a group, the tensors of a user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// What it is; nothing for all smaller holders together.
    pub kind: Option<SegmentKind>,
    /// Its name for people.
    pub label: String,
}

impl Holder {
    fn rest() -> Self {
        Self { kind: None, label: "all smaller holders".to_owned() }
    }

    /// Whose a segment is. Free memory is nobody's.
    fn of(segment: &Segment) -> Option<Self> {
        let user = || match (&segment.owner, segment.user) {
            (Some(name), _) => name.clone(),
            (None, Some(user)) => format!("user {user}"),
            (None, None) => "several users".to_owned(),
        };
        let (kind, label) = match segment.kind {
            SegmentKind::Free => return None,
            SegmentKind::Tensor | SegmentKind::Tensors | SegmentKind::Ipc => {
                (SegmentKind::Tensor, format!("tensors of {}", user()))
            }
            SegmentKind::HostContext | SegmentKind::MoverContext => {
                (SegmentKind::HostContext, "contexts of hosts and movers".to_owned())
            }
            kind => (kind, segment.label.clone()),
        };
        Some(Self { kind: Some(kind), label: cut(label) })
    }
}

fn cut(mut label: String) -> String {
    let end = (0..=LABEL_BYTES.min(label.len())).rev().find(|end| label.is_char_boundary(*end));
    label.truncate(end.unwrap_or(0));
    label
}

/// All holders that some sample mentions.
#[derive(Debug, Default)]
pub(super) struct Holders {
    slots: Vec<Option<Known>>,
    numbers: HashMap<Holder, Slot>,
    free: Vec<Slot>,
}

#[derive(Debug)]
struct Known {
    holder: Holder,
    samples: u32,
    limit_bytes: Option<u64>,
}

impl Holders {
    /// What a card's holders have, the largest apart; they are kept until [`Holders::forget`].
    pub(super) fn of_card(&mut self, card: &Card) -> Vec<(Slot, u64)> {
        let mut all: BTreeMap<Holder, (u64, Option<u64>)> = BTreeMap::new();
        for segment in &card.segments {
            let Some(holder) = Holder::of(segment) else { continue };
            let held = all.entry(holder).or_default();
            held.0 = held.0.saturating_add(segment.bytes);
            held.1 = segment.limit_bytes;
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|(a, (x, _)), (b, (y, _))| y.cmp(x).then_with(|| a.cmp(b)));
        let mut rest = 0u64;
        let mut held = Vec::new();
        for (place, (holder, (bytes, limit))) in all.into_iter().enumerate() {
            // One place is for the rest.
            let slot = if place < MOST_HOLDERS - 1 { self.number(&holder, limit) } else { None };
            match slot {
                Some(slot) => held.push((slot, bytes)),
                None => rest = rest.saturating_add(bytes),
            }
        }
        if rest > 0
            && let Some(slot) = self.number(&Holder::rest(), None)
        {
            held.push((slot, rest));
        }
        let slots: Vec<_> = held.iter().map(|(slot, _)| *slot).collect();
        self.keep(&slots);
        held
    }

    fn number(&mut self, holder: &Holder, limit_bytes: Option<u64>) -> Option<Slot> {
        if let Some(slot) = self.numbers.get(holder) {
            if let Some(Some(known)) = self.slots.get_mut(usize::from(*slot)) {
                known.limit_bytes = limit_bytes;
            }
            return Some(*slot);
        }
        // The last place is for the rest, which has to have one.
        let most = if holder.kind.is_some() { MOST_KNOWN - 1 } else { MOST_KNOWN };
        if self.numbers.len() >= most {
            return None;
        }
        let known = Some(Known { holder: holder.clone(), samples: 0, limit_bytes });
        let slot = match self.free.pop() {
            Some(slot) => {
                *self.slots.get_mut(usize::from(slot))? = known;
                slot
            }
            None => {
                self.slots.push(known);
                u16::try_from(self.slots.len() - 1).ok()?
            }
        };
        self.numbers.insert(holder.clone(), slot);
        Some(slot)
    }

    pub(super) fn keep(&mut self, slots: &[Slot]) {
        for slot in slots {
            if let Some(Some(known)) = self.slots.get_mut(usize::from(*slot)) {
                known.samples += 1;
            }
        }
    }

    pub(super) fn forget(&mut self, slots: &[Slot]) {
        for slot in slots {
            let Some(place) = self.slots.get_mut(usize::from(*slot)) else { continue };
            let Some(known) = place else { continue };
            known.samples = known.samples.saturating_sub(1);
            if known.samples == 0 {
                self.numbers.remove(&known.holder);
                *place = None;
                self.free.push(*slot);
            }
        }
    }

    /// A holder and its last limit.
    pub(super) fn get(&self, slot: Slot) -> Option<(&Holder, Option<u64>)> {
        let known = self.slots.get(usize::from(slot))?.as_ref()?;
        Some((&known.holder, known.limit_bytes))
    }

    pub(super) fn held_bytes(&self) -> usize {
        let label = |known: &Known| 2 * known.holder.label.len();
        self.slots.len() * 2 * size_of::<Known>()
            + self.slots.iter().flatten().map(label).sum::<usize>()
    }
}
