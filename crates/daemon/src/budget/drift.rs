//! A process's slot against the card's own reading: what is folded in, and what is a lie.
//!
//! What the card shows and nobody charged (modules that were loaded, say) is added to the process's
//! slot, so that the group pays for it. An allocation that is under way is in one of the two numbers
//! and not yet in the other, so a difference counts only when it was the same twice.

/// Differences below this are the card's rounding.
const NOISE: u64 = (1 << 20) / millpond_ledger::UNIT;
/// Nobody's modules are that large: who holds so much more than it says has written its slot by
/// hand, or has found a way around the hooks.
const FAR_MORE: u64 = (1 << 30) / millpond_ledger::UNIT;
/// What one process may be charged by force beside contexts and what was folded in: the last step of
/// a pool that had grown already.
const FORCED: u64 = (256 << 20) / millpond_ledger::UNIT;

/// One process on one card, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What its slot says that it holds, without what was folded in.
    pub used: u64,
    /// What its slot says that it may hold.
    pub credit: u64,
    /// What was folded in, as the slot says.
    pub folded: u64,
    /// What others pay for; the card may show it at this process as well.
    pub shared: u64,
    /// What the card says, if it says.
    pub physical: Option<u64>,
}

/// What is remembered of a process between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    seen: Option<Seen>,
    /// What was folded in from here.
    folded: u64,
}

/// What is to be done about a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// So much is to be added to its slot, or taken back.
    pub fold: i64,
    /// It says less than it holds.
    pub lies: Option<Lie>,
}

/// How a slot lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// It holds more than it may hold.
    OverCredit,
    /// What was folded in is gone from the slot.
    Unfolded,
    /// The card shows far more than it says.
    FarMore,
}

impl Lie {
    /// In words, after the process's name.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Lie::OverCredit => "has a slot that says more is held than may be held",
            Lie::Unfolded => "took out of its slot what the card had shown",
            Lie::FarMore => "holds far more than its slot says",
        }
    }
}

impl Memory {
    /// Looks at a process once more.
    pub fn look(&mut self, now: Seen) -> Verdict {
        let before = self.seen.replace(now);
        let mut verdict = Verdict::default();
        if now.used > now.credit {
            verdict.lies = Some(Lie::OverCredit);
        }
        if now.folded < self.folded {
            // Said once: from here on what the slot says is the beginning again.
            self.folded = now.folded;
            verdict.lies = Some(Lie::Unfolded);
        }
        let Some(physical) = now.physical else { return verdict };
        if before != Some(now) {
            return verdict;
        }
        let charged = now.used.saturating_add(now.folded);
        let unexplained = physical.saturating_sub(charged.saturating_add(now.shared));
        if unexplained > FAR_MORE.max(charged / 2) {
            verdict.lies = Some(Lie::FarMore);
        }
        let too_much = charged.saturating_sub(physical).min(now.folded);
        if unexplained >= NOISE {
            verdict.fold = i64::try_from(unexplained).unwrap_or(i64::MAX);
        } else if too_much >= NOISE {
            verdict.fold = i64::try_from(too_much).map_or(0, |units| -units);
        }
        verdict
    }

    /// The fold was made.
    pub fn folded(&mut self, units: i64) {
        self.folded = self.folded.saturating_add_signed(units);
        // The slot has changed, so the next look is a first one.
        self.seen = None;
    }
}

/// A group's promises against its limit: more is promised than the limit only after the limit was
/// lowered, or by force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// The highest limit since the last look.
    high: u64,
    /// What was promised at the last look, as far as that was right.
    promised: u64,
    /// What was charged by force then: contexts, what was folded in, and the pond's memory of users
    /// whom the group came to pay for.
    forced: u64,
    strikes: u32,
}

impl Ceiling {
    /// Of a group that an earlier daemon has looked after: what was promised then, and why, is not
    /// known, so the first look takes it as it is.
    #[must_use]
    pub fn of_found() -> Self {
        Self { high: u64::MAX, ..Self::default() }
    }

    /// The limit is about to change from this one.
    pub fn lowered_from(&mut self, effective: u64) {
        self.high = self.high.max(effective);
    }

    /// Looks once more. True if more is promised than can be explained, for the second time in
    /// a row.
    pub fn look(&mut self, effective: u64, promised: u64, forced: u64, processes: u32) -> bool {
        let grown = forced.saturating_sub(self.forced);
        let slack = FORCED.saturating_mul(u64::from(processes));
        let allowed = effective.max(self.high).max(self.promised);
        let most = allowed.saturating_add(grown).saturating_add(slack);
        self.high = effective;
        if promised > most {
            self.strikes += 1;
            return self.strikes >= 2;
        }
        self.strikes = 0;
        self.promised = promised;
        self.forced = forced;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = (1 << 20) / millpond_ledger::UNIT;
    const GIB: u64 = 1024 * MIB;

    fn seen(used: u64, physical: u64) -> Seen {
        Seen { used, credit: used, folded: 0, shared: 0, physical: Some(physical) }
    }

    #[test]
    fn growth_is_folded_in_when_it_was_the_same_twice() {
        let mut memory = Memory::default();
        assert_eq!(memory.look(seen(GIB, GIB + 50 * MIB)).fold, 0);
        assert_eq!(memory.look(seen(GIB, GIB + 60 * MIB)).fold, 0, "it still grows");
        let fold = memory.look(seen(GIB, GIB + 60 * MIB)).fold;
        assert_eq!(fold, i64::try_from(60 * MIB).unwrap());
        memory.folded(fold);
        let after = Seen { folded: 60 * MIB, ..seen(GIB, GIB + 60 * MIB) };
        for _ in 0..3 {
            assert_eq!(memory.look(after), Verdict::default());
        }
        // The modules go again.
        let less = Seen { physical: Some(GIB), ..after };
        memory.look(less);
        assert_eq!(memory.look(less).fold, -i64::try_from(60 * MIB).unwrap());
        // What is allocated meanwhile is charged already: only the rest is taken back.
        let busy = Seen { physical: Some(GIB + 50 * MIB), ..after };
        memory.look(busy);
        assert_eq!(memory.look(busy).fold, -i64::try_from(10 * MIB).unwrap());
    }

    #[test]
    fn what_is_reserved_and_not_yet_made_is_nothing() {
        let mut memory = Memory::default();
        for _ in 0..3 {
            assert_eq!(memory.look(seen(4 * GIB, GIB)), Verdict::default());
        }
    }

    #[test]
    fn what_others_pay_for_is_not_folded_in() {
        let mut memory = Memory::default();
        let now = Seen { shared: 5 * GIB, ..seen(GIB, 6 * GIB) };
        memory.look(now);
        assert_eq!(memory.look(now), Verdict::default());
    }

    #[test]
    fn a_slot_written_by_hand_is_seen() {
        let mut memory = Memory::default();
        memory.look(seen(0, 3 * GIB));
        assert_eq!(memory.look(seen(0, 3 * GIB)).lies, Some(Lie::FarMore));
        let mut memory = Memory::default();
        memory.folded(100);
        assert_eq!(memory.look(seen(GIB, GIB)).lies, Some(Lie::Unfolded));
        assert_eq!(memory.look(seen(GIB, GIB)).lies, None, "it is said once");
        let over = Seen { credit: 0, ..seen(5, 5) };
        assert_eq!(Memory::default().look(over).lies, Some(Lie::OverCredit));
    }

    #[test]
    fn numbers_of_no_sense_do_no_harm() {
        let mut memory = Memory::default();
        let all = Seen {
            used: u64::MAX,
            credit: 0,
            folded: u64::MAX,
            shared: u64::MAX,
            physical: Some(u64::MAX),
        };
        for _ in 0..3 {
            let verdict = memory.look(all);
            memory.folded(verdict.fold);
        }
        let mut ceiling = Ceiling::default();
        for _ in 0..3 {
            ceiling.look(u64::MAX, u64::MAX, u64::MAX, u32::MAX);
        }
    }

    #[test]
    fn more_than_the_limit_is_explained_by_a_lower_limit_or_by_force() {
        let mut ceiling = Ceiling::default();
        assert!(!ceiling.look(10 * GIB, 10 * GIB, 0, 1));
        ceiling.lowered_from(10 * GIB);
        for _ in 0..3 {
            assert!(!ceiling.look(4 * GIB, 10 * GIB, 0, 1), "it was there before");
        }
        assert!(!ceiling.look(4 * GIB, 11 * GIB, GIB, 1), "a context, or modules");
        assert!(!ceiling.look(4 * GIB, 12 * GIB, GIB, 1), "once is a race");
        assert!(ceiling.look(4 * GIB, 12 * GIB, GIB, 1));
    }
}
