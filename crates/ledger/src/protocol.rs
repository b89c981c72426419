//! The rules of the words: how credit is used, given, taken back.
//!
//! Everything that decides is here, generic over the words: the product runs it on shared memory
//! and on words of a file, the model in `tests/model.rs` runs the same code under a checker of
//! interleavings. [`Protocol`] is the place where that model's broken twins differ; the product
//! knows [`Sound`].

use core::sync::atomic::{AtomicU64, Ordering};

/// The most spare credit that one grant adds: 64 MiB. A grant costs a few microseconds and a lock
/// that all members share; with 2 MiB blocks that is one grant for 32 allocations, and 8 members
/// together keep half a GiB of credit from others only until somebody needs it ([`strip`]).
const SPARE_MOST: u64 = 64 * 1024 * 1024 / crate::UNIT;
/// Spare credit is at most this part of the room that is left: near the limit it goes to zero, so
/// that members there do not take it from each other in turns.
const SPARE_PART: u64 = 16;
/// A word that changes so often under a caller is being vandalised.
const ATTEMPTS: u32 = 100_000;

/// An atomic 64-bit word.
pub trait Word {
    /// Reads it.
    fn load(&self) -> u64;
    /// Replaces `old` by `new`, or says what is there instead.
    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64>;
    /// Overwrites it: right only for a slot without an owner, under the lock.
    fn overwrite(&self, new: u64);
    /// Whether the word is out of reach: no further attempt succeeds.
    #[inline]
    fn is_lost(&self) -> bool {
        false
    }
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Acquire)
    }
    #[inline]
    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
    fn overwrite(&self, new: u64) {
        AtomicU64::store(self, new, Ordering::Release);
    }
}

/// The most that a word can hold, in units: 8 TiB.
pub const CREDIT_MOST: u32 = u32::MAX >> 1;
const TIGHT: u64 = 1 << 63;

/// What a word says, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Halves {
    /// The group is over its limit: what is released goes back to the group at once.
    pub tight: bool,
    /// What its owner may hold, at most [`CREDIT_MOST`].
    pub credit: u32,
    /// What its owner holds.
    pub used: u32,
}

impl Halves {
    /// From a word.
    #[inline]
    pub fn unpack(word: u64) -> Self {
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Self { tight: word & TIGHT != 0, credit: half(word >> 32) & CREDIT_MOST, used: half(word) }
    }

    /// To a word.
    #[inline]
    pub fn pack(self) -> u64 {
        let tight = if self.tight { TIGHT } else { 0 };
        tight | u64::from(self.credit & CREDIT_MOST) << 32 | u64::from(self.used)
    }

    /// What this word takes from the group's room, also when its owner wrote nonsense.
    pub fn claim(self) -> u64 {
        u64::from(self.credit.max(self.used))
    }
}

/// Whether a caller got what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of it.
    Done,
    /// Nothing; so many units are missing.
    Short(u64),
}

/// Where a broken twin may differ.
pub trait Protocol {
    /// Whether credit is taken under the kernel lock.
    const LOCKED: bool = true;

    /// Whether the dead are given no grace: for a driver that has everything back when a process
    /// ends, as the one of the tests.
    const HASTY: bool = false;

    /// Whether credit is assigned to a waiter under the kernel lock.
    const ASSIGNS_LOCKED: bool = true;

    /// Whether room that waiters are owed is left to them.
    const LEAVES_OWED: bool = true;

    /// Between looking at the others' credit and taking one's own: nothing. A twin dawdles here.
    #[inline]
    fn looked() {}

    /// See [`reserve`].
    #[inline]
    fn reserve<W: Word>(word: &W, units: u32) -> Outcome {
        reserve(word, units)
    }

    /// See [`strip`].
    fn strip<W: Word>(word: &W, keep: u32) -> u32 {
        strip(word, keep)
    }
}

/// The protocol of the product.
#[derive(Debug, Clone, Copy)]
pub struct Sound;

impl Protocol for Sound {}

/// Replaces the word by what `next` makes of it, until that holds or `next` gives up.
#[inline]
fn update<W: Word, E>(
    word: &W,
    vandalised: E,
    next: impl Fn(Halves) -> Result<Halves, E>,
) -> Result<(Halves, Halves), E> {
    let mut now = word.load();
    for _ in 0..ATTEMPTS {
        let old = Halves::unpack(now);
        let new = next(old)?;
        match word.swap_if(now, new.pack()) {
            Ok(()) => return Ok((old, new)),
            Err(_) if word.is_lost() => break,
            Err(other) => now = other,
        }
    }
    Err(vandalised)
}

/// Uses credit that is there. The hot path: one load, one compare-and-swap.
#[inline]
pub fn reserve<W: Word>(word: &W, units: u32) -> Outcome {
    let mut now = word.load();
    for _ in 0..ATTEMPTS {
        let old = Halves::unpack(now);
        match old.used.checked_add(units) {
            Some(used) if used <= old.credit => {}
            _ => return Outcome::Short(missing(old, units)),
        }
        // The sum fits into its half, so the rest of the word stays as it is.
        match word.swap_if(now, now.wrapping_add(u64::from(units))) {
            Ok(()) => return Outcome::Done,
            Err(_) if word.is_lost() => break,
            Err(other) => now = other,
        }
    }
    Outcome::Short(u64::from(units))
}

/// Stops using. The credit stays, unless the group is over its limit: its owner needs no lock to
/// use it again, and others can take it.
#[inline]
pub fn release<W: Word>(word: &W, units: u32) {
    let mut now = word.load();
    for _ in 0..ATTEMPTS {
        let old = Halves::unpack(now);
        let used = old.used.saturating_sub(units);
        let new = if old.tight {
            Halves { used, credit: used.min(old.credit), ..old }.pack()
        } else {
            // Not below nothing, so the rest of the word stays as it is.
            now.wrapping_sub(u64::from(old.used - used))
        };
        match word.swap_if(now, new) {
            Ok(()) => return,
            Err(_) if word.is_lost() => return,
            Err(other) => now = other,
        }
    }
}

/// Uses what already exists, whether there is credit or not; says whether there was.
pub fn charge<W: Word>(word: &W, units: u32) -> bool {
    let done = update(word, (), |now| {
        let used = now.used.saturating_add(units).min(CREDIT_MOST);
        Ok(Halves { used, credit: now.credit.max(used), ..now })
    });
    done.is_ok_and(|(old, new)| old.credit == new.credit)
}

/// Takes back unused credit but for `keep` units of it, and says how much. Others do this under the
/// lock; its owner may do it at any time, because less credit never passes a limit.
pub fn strip<W: Word>(word: &W, keep: u32) -> u32 {
    let done = update(word, (), |now| {
        let credit = now.used.saturating_add(keep);
        if now.credit > credit { Ok(Halves { credit, ..now }) } else { Err(()) }
    });
    done.map_or(0, |(old, new)| old.credit.saturating_sub(new.credit))
}

/// Gives a waiter credit for `wanted` more than it uses, when the group has `room`; again changes
/// nothing. Only under the lock.
pub fn assign<W: Word>(word: &W, wanted: u32, room: u64) -> Outcome {
    let done = update(word, u64::from(wanted), |now| {
        let credit = u64::from(now.used) + u64::from(wanted);
        if credit > u64::from(CREDIT_MOST) {
            return Err(u64::from(wanted));
        }
        let need = credit.saturating_sub(now.claim());
        if need > room {
            return Err(need - room);
        }
        Ok(Halves { tight: false, credit: now.credit.max(fitting(credit)), ..now })
    });
    done.map_or_else(Outcome::Short, |_| Outcome::Done)
}

/// [`strip`] in a group that is over its limit: until its owner is granted something again, what
/// it releases is not its own any more. Only under the lock.
pub fn tighten<W: Word>(word: &W) {
    let _ = update(word, (), |now| match now {
        Halves { credit: 0, used: 0, .. } => Err(()),
        _ => Ok(Halves { credit: now.credit.min(now.used), tight: true, ..now }),
    });
}

/// Gives credit for `units` and uses it at once, when the group has `room`. Only under the lock.
pub fn grant<W: Word>(word: &W, units: u32, room: u64) -> Outcome {
    let done = update(word, u64::from(units), |now| {
        let wanted = u64::from(now.used) + u64::from(units);
        if wanted > u64::from(CREDIT_MOST) {
            return Err(u64::from(units));
        }
        // More used than credit is nonsense, and was counted as its used half: see `claim`.
        let need = wanted.saturating_sub(now.claim());
        let left = room.checked_sub(need).ok_or(need.saturating_sub(room))?;
        let credit = if need == 0 { now.credit.into() } else { wanted + spare(left) };
        Ok(Halves { tight: false, credit: fitting(credit), used: fitting(wanted) })
    });
    done.map_or_else(Outcome::Short, |_| Outcome::Done)
}

/// Takes credit for `units` from the group and uses it: from what is free, then from the dead, then
/// from what living members do not use. Only under the lock.
pub fn take<W: Word, E>(
    own: &W,
    units: u32,
    limit: u64,
    claims: impl Fn() -> u64,
    reap: impl FnOnce() -> Result<(), E>,
    strip_others: impl FnOnce(u64) -> u64,
) -> Result<Outcome, E> {
    let attempt = || grant(own, units, room(limit, claims()));
    if attempt() == Outcome::Done {
        return Ok(Outcome::Done);
    }
    reap()?;
    let Outcome::Short(missing) = attempt() else {
        return Ok(Outcome::Done);
    };
    strip_others(missing);
    Ok(attempt())
}

/// Looks for room for `units` of the pond's memory under `limit`, which is without the pond's part:
/// in what is free, then with the dead, then in what living members do not use. `None` when there is
/// enough; else whether members that are ending (`dying`) have what is missing. Only under the lock.
pub fn room_for_pond<R, E>(
    units: u64,
    limit: u64,
    claims: impl Fn() -> u64,
    reap: impl FnOnce() -> Result<R, E>,
    strip_all: impl FnOnce(u64) -> u64,
    dying: impl FnOnce(&R) -> u64,
) -> Result<Option<bool>, E> {
    let missing = || units.saturating_sub(room(limit, claims()));
    if missing() == 0 {
        return Ok(None);
    }
    let reaped = reap()?;
    strip_all(missing());
    let missing = missing();
    Ok((missing > 0).then(|| dying(&reaped) >= missing))
}

/// Takes back credit so that `limit` holds from now on: where the group is over it, also what its
/// members release from now on. Only under the lock.
pub fn settle(
    limit: u64,
    claims: impl FnOnce() -> u64,
    strip_all: impl FnOnce(u64) -> u64,
    tighten_all: impl FnOnce(),
) {
    let over = claims().saturating_sub(limit);
    if over > strip_all(over) {
        tighten_all();
    }
}

/// What is left of a limit.
pub fn room(limit: u64, claimed: u64) -> u64 {
    limit.saturating_sub(claimed)
}

fn missing(now: Halves, units: u32) -> u64 {
    (u64::from(now.used) + u64::from(units)).saturating_sub(u64::from(now.credit))
}

fn spare(left: u64) -> u64 {
    (left / SPARE_PART).min(SPARE_MOST)
}

fn fitting(units: u64) -> u32 {
    u32::try_from(units).unwrap_or(CREDIT_MOST).min(CREDIT_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(credit: u32, used: u32) -> AtomicU64 {
        AtomicU64::new(Halves { tight: false, credit, used }.pack())
    }

    fn halves(word: &AtomicU64) -> (u32, u32) {
        let Halves { credit, used, .. } = Halves::unpack(Word::load(word));
        (credit, used)
    }

    #[test]
    fn reserve_uses_credit_to_the_last_unit_and_no_further() {
        let w = word(10, 0);
        assert_eq!(reserve(&w, 10), Outcome::Done);
        assert_eq!(reserve(&w, 1), Outcome::Short(1));
        assert_eq!(halves(&w), (10, 10));
        release(&w, 4);
        assert_eq!(reserve(&w, 5), Outcome::Short(1));
        assert_eq!(reserve(&w, 4), Outcome::Done);
    }

    #[test]
    fn reserve_and_release_change_what_they_name_and_nothing_else() {
        let edges = [0, 1, 2, 7, CREDIT_MOST - 1, CREDIT_MOST, CREDIT_MOST + 1, u32::MAX];
        for (credit, used, units) in edges
            .into_iter()
            .flat_map(|credit| edges.map(|used| (credit, used)))
            .flat_map(|(credit, used)| edges.map(|units| (credit & CREDIT_MOST, used, units)))
        {
            for tight in [false, true] {
                let before = Halves { tight, credit, used };
                let w = AtomicU64::new(before.pack());
                let sum = used.checked_add(units).filter(|sum| *sum <= credit);
                assert_eq!(reserve(&w, units) == Outcome::Done, sum.is_some());
                let after = Halves { used: sum.unwrap_or(used), ..before };
                assert_eq!(Halves::unpack(Word::load(&w)), after);
                let w = AtomicU64::new(before.pack());
                release(&w, units);
                let left = used.saturating_sub(units);
                let credit = if tight { left.min(credit) } else { credit };
                let after = Halves { tight, credit, used: left };
                assert_eq!(Halves::unpack(Word::load(&w)), after);
            }
        }
    }

    #[test]
    fn numbers_at_the_edge_neither_wrap_nor_pass() {
        let w = word(CREDIT_MOST, CREDIT_MOST - 1);
        assert!(matches!(reserve(&w, u32::MAX), Outcome::Short(_)));
        assert!(matches!(grant(&w, u32::MAX, u64::MAX), Outcome::Short(_)));
        assert_eq!(halves(&w), (CREDIT_MOST, CREDIT_MOST - 1));
        charge(&w, u32::MAX);
        assert_eq!(halves(&w), (CREDIT_MOST, CREDIT_MOST));
        let w = word(5, 3);
        release(&w, 5);
        assert_eq!(halves(&w), (5, 0));
        for nonsense in [u64::MAX, u64::from(u32::MAX), 1 << 63, 1] {
            let w = AtomicU64::new(nonsense);
            strip(&w, 0);
            assign(&w, 5, 0);
            tighten(&w);
            release(&w, 7);
            charge(&w, 7);
            assert!(matches!(reserve(&w, u32::MAX), Outcome::Short(_)));
            let before = Halves::unpack(Word::load(&w)).claim();
            grant(&w, 3, 0);
            assert!(Halves::unpack(Word::load(&w)).claim() <= before);
        }
    }

    #[test]
    fn over_the_limit_what_is_released_is_gone_until_the_next_grant() {
        let w = word(12, 10);
        tighten(&w);
        assert_eq!(halves(&w), (10, 10));
        release(&w, 6);
        assert_eq!(halves(&w), (4, 4));
        assert_eq!(reserve(&w, 1), Outcome::Short(1));
        assert_eq!(grant(&w, 1, 1), Outcome::Done);
        release(&w, 1);
        assert_eq!(halves(&w), (5, 4));
        let untouched = AtomicU64::new(0);
        tighten(&untouched);
        assert_eq!(Word::load(&untouched), 0);
    }

    #[test]
    fn a_grant_never_passes_the_room() {
        for room in [0_u64, 1, 7, 16, 17, 1000, 1 << 20, 1 << 40] {
            for used in [0_u32, 3, 1000] {
                for credit in [0_u32, 3, 2000] {
                    for units in [1_u32, 5, 999] {
                        let w = word(credit, used);
                        let before = Halves { tight: false, credit, used }.claim();
                        let got = grant(&w, units, room);
                        let after = Halves::unpack(Word::load(&w));
                        match got {
                            Outcome::Done => {
                                assert!(after.claim() <= before + room);
                                assert!(after.used <= after.credit);
                                assert_eq!(after.used, used + units);
                            }
                            Outcome::Short(_) => {
                                assert_eq!((after.credit, after.used), (credit, used))
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn strip_takes_what_is_unused_and_leaves_nonsense_alone() {
        let w = word(10, 4);
        assert_eq!(strip(&w, 0), 6);
        assert_eq!(halves(&w), (4, 4));
        let w = word(4, 10);
        assert_eq!(strip(&w, 0), 0);
        assert_eq!(Halves::unpack(Word::load(&w)).claim(), 10);
    }

    #[test]
    fn what_is_kept_for_a_waiter_is_not_stripped_and_an_assignment_again_changes_nothing() {
        let w = word(10, 4);
        assert_eq!(assign(&w, 5, 0), Outcome::Done, "it has that much unused");
        assert_eq!(assign(&w, 8, 1), Outcome::Short(1));
        assert_eq!(assign(&w, 8, 2), Outcome::Done);
        assert_eq!(assign(&w, 8, 0), Outcome::Done);
        assert_eq!(halves(&w), (12, 4));
        assert_eq!(strip(&w, 8), 0);
        assert_eq!(strip(&w, 5), 3);
        assert_eq!(reserve(&w, 5), Outcome::Done);
        assert_eq!(strip(&w, 5), 0, "it is used by now");
    }

    #[test]
    fn charge_may_pass_and_then_nothing_is_granted() {
        let w = word(4, 4);
        charge(&w, 100);
        assert_eq!(halves(&w), (104, 104));
        assert_eq!(grant(&w, 1, room(50, 104)), Outcome::Short(1));
    }
}
