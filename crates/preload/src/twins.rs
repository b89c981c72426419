//! The ledger's member as this library uses it. With a feature `broken-...` it lacks one rule: such
//! a library is built by the tests alone, which must find it out.

#[cfg(not(any(feature = "broken-no-lock", feature = "broken-check-then-add", feature = "slow")))]
pub(crate) type Rules = millpond_ledger::protocol::Sound;
#[cfg(all(
    feature = "slow",
    not(any(feature = "broken-no-lock", feature = "broken-check-then-add"))
))]
pub(crate) type Rules = broken::Slow;
#[cfg(feature = "broken-no-lock")]
pub(crate) type Rules = broken::NoLock;
#[cfg(all(feature = "broken-check-then-add", not(feature = "broken-no-lock")))]
pub(crate) type Rules = broken::CheckThenAdd;

pub(crate) type Member = millpond_ledger::Member<Rules>;

#[cfg(any(feature = "broken-no-lock", feature = "broken-check-then-add", feature = "slow"))]
mod broken {
    use millpond_ledger::protocol::{Halves, Outcome, Protocol, Word};

    /// Lets others run where the rule would have kept them out.
    fn dawdle() {
        // SAFETY: no conditions.
        unsafe { libc::usleep(200) };
    }

    /// Credit is taken without the kernel lock.
    #[allow(dead_code, reason = "one of the three")]
    pub struct NoLock;

    impl Protocol for NoLock {
        const LOCKED: bool = false;

        fn looked() {
            dawdle();
        }
    }

    /// Every rule, and as slow as the others: what those get wrong is not a matter of speed.
    #[allow(dead_code, reason = "one of the three")]
    pub struct Slow;

    impl Protocol for Slow {
        fn looked() {
            dawdle();
        }
    }

    /// Looks, and then adds to whatever is there by then.
    #[allow(dead_code, reason = "one of the three")]
    pub struct CheckThenAdd;

    impl Protocol for CheckThenAdd {
        fn reserve<W: Word>(word: &W, units: u32) -> Outcome {
            let now = Halves::unpack(word.load());
            if u64::from(now.used) + u64::from(units) > u64::from(now.credit) {
                return Outcome::Short(units.into());
            }
            dawdle();
            let mut old = word.load();
            while let Err(other) = word.swap_if(old, old.wrapping_add(units.into())) {
                old = other;
            }
            Outcome::Done
        }
    }
}
