//! Brings what is charged for a pool to what the pool holds, although threads read and write in any
//! order.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::account::Account;

/// The units in a word of changes and units.
#[inline]
pub(super) fn charged_units(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Brings a charge to what is there now, with `held` units already reserved for it.
#[inline]
pub(super) fn settle(
    word: &AtomicU64,
    account: Account,
    held: u32,
    taken: bool,
    read: impl Fn() -> Option<u32>,
) {
    match settled(word, held, taken, read, changes_soon) {
        Change::More(units) => account.charge(units),
        Change::Less(units) => account.release(units),
    }
}

/// Whether another thread changes the word in a moment: some microseconds, which is little beside what
/// it takes a pool to grow.
fn changes_soon(word: &AtomicU64, seen: u64) -> bool {
    const SPINS: u32 = 250;
    (0..SPINS).any(|_| {
        core::hint::spin_loop();
        word.load(Ordering::Relaxed) != seen
    })
}

/// What the account needs to say what a word says.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    More(u32),
    Less(u32),
}

/// Writes down what is there now. When it cannot be read, what was reserved for a call that went well
/// (`taken`) stays charged until it can.
///
/// A charge never falls below what is there, although threads read and write in any order. The word's
/// count goes up with each change, so a reading that another change has overtaken is taken again. A
/// call that finds what is charged changes nothing, so it overtakes nobody: therefore who lowers the
/// charge reads once more before anything is given back. If the pool has grown since, either that
/// reading shows it, or the one who made it grow has seen the lower charge.
///
/// More than was charged and held is mostly what other threads hold for calls that are about to settle:
/// they are waited for a moment (`soon`), because charged here it would be counted twice until then.
#[inline]
fn settled(
    word: &AtomicU64,
    held: u32,
    taken: bool,
    read: impl Fn() -> Option<u32>,
    soon: impl Fn(&AtomicU64, u64) -> bool,
) -> Change {
    let before = word.load(Ordering::SeqCst);
    let reading = read();
    if held > 0 && reading == Some(charged_units(before)) {
        return Change::Less(held);
    }
    settled_anew(word, (held, taken), (before, reading), read, soon)
}

/// [`settled`] where the charge changes, or a call failed; `first` are word and pool as it found them.
#[cold]
fn settled_anew(
    word: &AtomicU64,
    (mut held, mut taken): (u32, bool),
    first: (u64, Option<u32>),
    read: impl Fn() -> Option<u32>,
    soon: impl Fn(&AtomicU64, u64) -> bool,
) -> Change {
    let mut first = Some(first);
    let mut patience = 8_u32;
    loop {
        let look = || {
            let before = word.load(Ordering::SeqCst);
            (before, read())
        };
        let (before, reading) = first.take().unwrap_or_else(look);
        let old = charged_units(before);
        let kept = if taken { old.saturating_add(held) } else { old };
        let now = reading.unwrap_or(kept);
        if now == old && held > 0 {
            return Change::Less(held);
        }
        let has = old.saturating_add(held);
        let waits = now > has && patience > 0;
        let noted = if waits { has } else { now };
        let next = ((before >> 32).wrapping_add(1) << 32) | u64::from(noted);
        if word.compare_exchange(before, next, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            continue;
        }
        if waits {
            held = 0;
            patience = if soon(word, next) { patience - 1 } else { 0 };
            continue;
        }
        if now < old && read().is_none_or(|again| again > now) {
            // What it was charged before is in this now, and stays if the pool says nothing more.
            (held, taken) = (has - now, true);
            continue;
        }
        return if now > has { Change::More(now - has) } else { Change::Less(has - now) };
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// A word with this charge.
    fn charged(units: u64) -> AtomicU64 {
        AtomicU64::new(7 << 32 | units)
    }

    fn units(word: &AtomicU64) -> u32 {
        charged_units(word.load(Ordering::Relaxed))
    }

    fn settle_alone(
        word: &AtomicU64,
        held: u32,
        taken: bool,
        read: impl Fn() -> Option<u32>,
    ) -> Change {
        settled(word, held, taken, read, |_, _| false)
    }

    #[test]
    fn a_charge_becomes_what_is_there() {
        let word = charged(0);
        assert_eq!(settle_alone(&word, 10, true, || Some(8)), Change::Less(2));
        assert_eq!(settle_alone(&word, 8, true, || Some(8)), Change::Less(8));
        assert_eq!(settle_alone(&word, 8, true, || Some(20)), Change::More(4));
        assert_eq!(settle_alone(&word, 0, true, || Some(4)), Change::Less(16));
        assert_eq!(units(&word), 4);
        // Unreadable: a call that went well keeps what it had, another gives it back.
        assert_eq!(settle_alone(&word, 3, true, || None), Change::Less(0));
        assert_eq!(settle_alone(&word, 3, false, || None), Change::Less(3));
        assert_eq!(units(&word), 7);
    }

    #[test]
    fn what_grows_while_a_charge_is_lowered_stays_charged() {
        // One thread has waited and reads 32 of 64. Before it writes that down, another makes the pool
        // grow again, finds 64 as charged, and gives its reservation back.
        let (word, pool, reads) = (charged(64), Cell::new(32_u32), Cell::new(0));
        let change = settle_alone(&word, 0, true, || {
            let seen = pool.get();
            if reads.replace(reads.get() + 1) == 0 {
                pool.set(64);
                let other = settle_alone(&word, 32, true, || Some(pool.get()));
                assert_eq!(other, Change::Less(32));
            }
            Some(seen)
        });
        assert_eq!((change, units(&word)), (Change::Less(0), 64));
        // After it has written: the other sees the lower charge, and keeps its reservation.
        let (word, pool) = (charged(64), Cell::new(32_u32));
        assert_eq!(settle_alone(&word, 0, true, || Some(pool.get())), Change::Less(32));
        pool.set(64);
        assert_eq!(settle_alone(&word, 32, true, || Some(pool.get())), Change::Less(0));
        assert_eq!(units(&word), 64);
    }

    #[test]
    fn what_others_hold_for_their_growth_is_not_charged_twice() {
        // Two threads have made a pool grow by 32 each, and hold that. The first to look sees both.
        let word = charged(0);
        let first = settled(
            &word,
            32,
            true,
            || Some(64),
            |word, _| {
                assert_eq!(settle_alone(word, 32, true, || Some(64)), Change::Less(0));
                true
            },
        );
        assert_eq!((first, units(&word)), (Change::Less(0), 64));
        // Nobody holds it: then it is charged here.
        let word = charged(0);
        let alone = settled(&word, 32, true, || Some(64), |_, _| false);
        assert_eq!((alone, units(&word)), (Change::More(32), 64));
        // Others that come and go do not keep it for ever.
        let busy = |word: &AtomicU64, _: u64| word.fetch_add(1 << 32, Ordering::Relaxed) != 0;
        let word = charged(0);
        assert_eq!(settled(&word, 32, true, || Some(64), busy), Change::More(32));
    }
}
