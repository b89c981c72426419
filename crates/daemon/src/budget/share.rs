//! What each group may have of one card: arithmetic, and nothing else.
//!
//! `effective = min(asked, card - what every other group holds or is promised - what strangers hold)`.
//! A promise is a `min`. All numbers are units of [`millpond_ledger::UNIT`] bytes.
//!
//! The card is shared by whoever comes first, and the readings are a tenth of a second old: two
//! groups can take the same free memory at once, and then the card itself says no. Dividing the
//! free memory between them was refused: most of it would lie idle.

use millpond_ledger::NO_LIMIT;

/// Limits that the rest of the card decides are given in steps of 2 MiB, the card's own, so that
/// they do not change with every small allocation.
pub const STEP: u64 = (2 << 20) / millpond_ledger::UNIT;

/// A group's share of one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The limit that was asked for, or [`NO_LIMIT`].
    pub asked: u64,
    /// What others leave it.
    pub min: u64,
    /// What it holds, the pond's part included.
    pub held: u64,
    /// Lighter ones give way first.
    pub weight: u32,
}

impl Share {
    /// What others must leave it: what it has, or what it was promised.
    fn claim(&self) -> u64 {
        self.held.max(self.min)
    }
}

/// What is known of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub total: u64,
    /// What the card says is in use, by anybody; `None` while it has not said.
    pub used: Option<u64>,
}

impl Card {
    /// What belongs to nobody whom these groups know: at least what the pond has that no group pays
    /// for, which the reading may not have yet.
    #[must_use]
    pub fn strangers(&self, groups: &[Share], unpaid: u64) -> u64 {
        let known = groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.held));
        self.used.unwrap_or(0).saturating_sub(known).max(unpaid)
    }

    /// What strangers and all groups have, or were promised. A slot may say anything: the sum must
    /// not saturate, or it would hide what others have.
    fn claims(&self, groups: &[Share], unpaid: u64) -> u128 {
        let strangers = u128::from(self.strangers(groups, unpaid));
        groups.iter().fold(strangers, |sum, group| sum + u128::from(group.claim()))
    }

    /// What is left for more memory that no group pays for; `None` if nothing was promised, and the
    /// card itself is the limit.
    #[must_use]
    pub fn unpromised(&self, groups: &[Share], unpaid: u64) -> Option<u64> {
        if !groups.iter().any(|group| group.min > 0) {
            return None;
        }
        let claims = u64::try_from(self.claims(groups, unpaid)).unwrap_or(u64::MAX);
        Some(self.total.saturating_sub(claims))
    }

    /// The limit that each group's members obey, in the same order.
    #[must_use]
    pub fn effective(&self, groups: &[Share], unpaid: u64) -> Vec<u64> {
        let claims = self.claims(groups, unpaid);
        let promises = groups.iter().filter(|group| group.min > 0).count();
        groups
            .iter()
            .map(|group| {
                let others_are_promised = promises > usize::from(group.min > 0);
                if group.asked == NO_LIMIT && !others_are_promised {
                    // The card itself is the limit, and knows it without delay.
                    return NO_LIMIT;
                }
                let others = claims - u128::from(group.claim());
                let rest = self.total.saturating_sub(u64::try_from(others).unwrap_or(u64::MAX));
                if group.asked <= rest { group.asked } else { rest / STEP * STEP }
            })
            .collect()
    }

    /// The order in which limits are changed: lighter groups first, so that they have given way
    /// when the heavier ones grow. It decides the order, not the number.
    #[must_use]
    pub fn order(groups: &[Share]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|index| groups.get(*index).map(|group| group.weight));
        order
    }
}

/// Why a promise cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPromises {
    pub others: u64,
    /// What is left of the card for this one.
    pub left: u64,
}

/// Whether a `min` fits the card beside those of the others.
///
/// # Errors
/// [`TooManyPromises`] with the numbers.
pub fn fits(
    total: u64,
    min: u64,
    others: impl Iterator<Item = u64>,
) -> Result<(), TooManyPromises> {
    let others = others.fold(0u64, u64::saturating_add);
    let left = total.saturating_sub(others);
    if min <= left { Ok(()) } else { Err(TooManyPromises { others, left }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GIB: u64 = (1 << 30) / millpond_ledger::UNIT;

    fn share(asked: u64, min: u64, held: u64) -> Share {
        Share { asked, min, held, weight: 1 }
    }

    #[test]
    fn three_groups_share_a_card() {
        let card = Card { total: 100 * GIB, used: Some(35 * GIB) };
        let groups = [
            share(60 * GIB, 0, 10 * GIB),
            share(80 * GIB, 20 * GIB, 5 * GIB),
            share(NO_LIMIT, 0, 10 * GIB),
        ];
        // Strangers have 10; the first leaves 20 to the second and 10 to the third.
        assert_eq!(card.strangers(&groups, 0), 10 * GIB);
        assert_eq!(card.effective(&groups, 0), [60 * GIB, 70 * GIB, 60 * GIB]);
    }

    #[test]
    fn without_promises_and_limits_the_card_is_the_limit() {
        let card = Card { total: GIB, used: None };
        assert_eq!(card.effective(&[share(NO_LIMIT, 0, 5)], 0), [NO_LIMIT]);
        assert_eq!(card.effective(&[share(NO_LIMIT, 7, 5)], 0), [NO_LIMIT], "its own promise");
        let one = [share(NO_LIMIT, 0, 0), share(5, 5, 0)];
        assert_eq!(card.effective(&one, 0)[0], (GIB - 5) / STEP * STEP);
    }

    #[test]
    fn a_limit_over_the_card_is_the_card() {
        let card = Card { total: 10 * GIB, used: Some(0) };
        assert_eq!(card.effective(&[share(20 * GIB, 0, 0)], 0), [10 * GIB]);
    }

    #[test]
    fn promises_are_kept_from_memory_that_no_group_pays_for() {
        let card = Card { total: 100 * GIB, used: Some(30 * GIB) };
        let groups = [share(60 * GIB, 0, 10 * GIB), share(80 * GIB, 20 * GIB, 5 * GIB)];
        // Strangers have 15, the first group 10, the second is promised 20.
        assert_eq!(card.unpromised(&groups, 0), Some(55 * GIB));
        assert_eq!(card.unpromised(&groups[..1], 0), None, "nothing is promised");
        assert_eq!(Card { used: Some(200 * GIB), ..card }.unpromised(&groups, 0), Some(0));
        // What the card does not say, or not yet, the pond knows of itself.
        assert_eq!(card.unpromised(&groups, 15 * GIB), Some(55 * GIB));
        assert_eq!(card.unpromised(&groups, 25 * GIB), Some(45 * GIB));
        assert_eq!(Card { used: None, ..card }.unpromised(&groups, 25 * GIB), Some(45 * GIB));
        assert_eq!(card.effective(&groups, 25 * GIB), [55 * GIB, 65 * GIB]);
    }

    #[test]
    fn lighter_groups_come_first() {
        let groups = [3, 1, 2].map(|weight| Share { weight, ..share(1, 0, 0) });
        assert_eq!(Card::order(&groups), [1, 2, 0]);
    }

    #[test]
    fn promises_fit_or_say_by_how_much_not() {
        assert_eq!(fits(10, 4, [3, 3].into_iter()), Ok(()));
        let error = fits(10, 5, [3, 3].into_iter()).unwrap_err();
        assert_eq!(error, TooManyPromises { others: 6, left: 4 });
    }

    fn shares() -> impl Strategy<Value = Vec<Share>> {
        let number = || prop_oneof![0..1000u64, Just(NO_LIMIT), any::<u64>()];
        let one = (number(), 0..300u64, number(), 0..5u32)
            .prop_map(|(asked, min, held, weight)| Share { asked, min, held, weight });
        prop::collection::vec(one, 0..6)
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_asked_and_promises_stay_free(
            groups in shares(), total in 0..1000u64, used in prop::option::of(any::<u64>())
        ) {
            let card = Card { total, used };
            let effective = card.effective(&groups, 0);
            prop_assert_eq!(effective.len(), groups.len());
            for (index, (group, effective)) in groups.iter().zip(&effective).enumerate() {
                prop_assert!(*effective <= group.asked);
                let others: Vec<&Share> =
                    groups.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, it)| it).collect();
                if *effective != NO_LIMIT && others.iter().any(|other| other.min > 0) {
                    // Were it to take all of it, every other would still have what it has or was
                    // promised, as far as the card goes.
                    let claims = others.iter().fold(0u128, |sum, it| sum + u128::from(it.claim()));
                    prop_assert!(*effective == 0 || u128::from(*effective) + claims <= u128::from(total));
                }
            }
        }

        #[test]
        fn more_use_by_others_never_raises_a_limit(
            groups in shares(), total in 0..1000u64, more in 0..1000u64
        ) {
            prop_assume!(groups.len() >= 2);
            let card = Card { total, used: None };
            let before = card.effective(&groups, 0);
            let mut later = groups.clone();
            later[0].held = later[0].held.saturating_add(more);
            let after = card.effective(&later, 0);
            for index in 1..groups.len() {
                prop_assert!(after[index] <= before[index]);
            }
        }
    }
}
