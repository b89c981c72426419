//! Protocols that lack one rule each: the race must find them.

use millpond_ledger::protocol::{Halves, Outcome, Protocol, Word};

/// The product's rules, without the grace for the dead: the test's driver has everything back when a
/// process ends, and a race with hundreds of kills is not to wait for each.
pub struct Hasty;

impl Protocol for Hasty {
    const HASTY: bool = true;
}

/// Credit is taken without the kernel lock.
pub struct NoLock;

impl Protocol for NoLock {
    const LOCKED: bool = false;
    const HASTY: bool = true;

    fn looked() {
        std::thread::yield_now();
    }
}

/// The product's rules, as slow as the twins: what those get wrong is not a matter of speed.
pub struct SlowSound;

impl Protocol for SlowSound {
    const HASTY: bool = true;

    fn looked() {
        std::thread::yield_now();
    }
}

/// Looks, and then adds to whatever is there by then.
pub struct CheckThenAdd;

impl Protocol for CheckThenAdd {
    const HASTY: bool = true;

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
