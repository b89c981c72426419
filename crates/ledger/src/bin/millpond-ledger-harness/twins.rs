//! Protocols that lack one rule each: the race must find them.

use millpond_ledger::protocol::{Halves, Outcome, Protocol, Word};

/// Credit is taken without the kernel lock.
pub struct NoLock;

impl Protocol for NoLock {
    const LOCKED: bool = false;

    fn looked() {
        std::thread::yield_now();
    }
}

/// The product's rules, as slow as the twins: what those get wrong is not a matter of speed.
pub struct SlowSound;

impl Protocol for SlowSound {
    fn looked() {
        std::thread::yield_now();
    }
}

/// Looks, and then adds to whatever is there by then.
pub struct CheckThenAdd;

impl Protocol for CheckThenAdd {
    fn reserve<W: Word>(word: &W, units: u32) -> Outcome {
        let now = Halves::unpack(word.load());
        if u64::from(now.used) + u64::from(units) > u64::from(now.credit) {
            return Outcome::Short(units.into());
        }
        std::thread::yield_now();
        let mut old = word.load();
        while let Err(other) = word.swap_if(old, old.wrapping_add(units.into())) {
            old = other;
        }
        Outcome::Done
    }
}
