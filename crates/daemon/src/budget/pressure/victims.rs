//! Who gives how much: arithmetic, and nothing else. All numbers are units of [`millpond_ledger::UNIT`].
//!
//! Idle pages come first, because nobody notices that they are gone. What they cannot give comes from
//! whoever has most above its `min` for its weight, so that all are left with the same for each unit
//! of weight (weighted max-min). Taking in proportion to size was refused: it takes from a cache that
//! has little while another has much more than its share.

/// A cache that could give something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<K> {
    pub key: K,
    pub held: u64,
    /// The part of `held` that it can give back at once.
    pub idle: u64,
    /// Nobody but itself knows how much that is: it can be asked for that, and has its say.
    pub is_idle_hidden: bool,
    /// What others leave it.
    pub min: u64,
    pub weight: u32,
    /// It has had what it holds for long enough to be asked for more than its idle pages.
    pub settled: bool,
}

impl<K> Holder<K> {
    fn above(&self) -> u64 {
        self.held.saturating_sub(self.min)
    }

    fn weight(&self) -> u128 {
        u128::from(self.weight.max(1))
    }
}

/// What a cache is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand<K> {
    pub key: K,
    pub units: u64,
    /// The part of `units` that its idle pages cannot give.
    pub beyond_idle: u64,
}

/// Asks for `missing` units, or for as much of it as these can give. Idle pages that nobody can see
/// come after those that everybody can: they may not be there.
#[must_use]
pub fn plan<K: Copy>(missing: u64, holders: &[Holder<K>]) -> Vec<Demand<K>> {
    let idle: Vec<(u64, u128)> =
        holders.iter().map(|holder| (holder.idle.min(holder.above()), holder.weight())).collect();
    let from_idle = level(missing, &idle);
    let left = missing.saturating_sub(from_idle.iter().sum());
    let rest: Vec<(u64, u128)> = holders
        .iter()
        .zip(&from_idle)
        .map(|(holder, taken)| match holder.settled || holder.is_idle_hidden {
            true => (holder.above().saturating_sub(*taken), holder.weight()),
            false => (0, holder.weight()),
        })
        .collect();
    let beyond = level(left, &rest);
    holders
        .iter()
        .zip(from_idle.iter().zip(&beyond))
        .map(|(holder, (idle, beyond))| Demand {
            key: holder.key,
            units: idle + beyond,
            beyond_idle: if holder.settled { *beyond } else { 0 },
        })
        .filter(|demand| demand.units > 0)
        .collect()
}

/// Takes `missing` from these so that what is left is as level for each unit of weight as can be.
fn level(missing: u64, from: &[(u64, u128)]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..from.len()).collect();
    let part = |index: &usize| from.get(*index).copied().unwrap_or((0, 1));
    // Largest amount per weight first: a/w > b/v as a*v > b*w.
    order.sort_by(|a, b| {
        let ((amount_a, weight_a), (amount_b, weight_b)) = (part(a), part(b));
        (u128::from(amount_b) * weight_a).cmp(&(u128::from(amount_a) * weight_b))
    });
    let (mut amounts, mut weights) = (0u128, 0u128);
    // The level down to which the first ones are taken, as a fraction.
    let mut at = (0u128, 1u128);
    for (place, index) in order.iter().enumerate() {
        let (amount, weight) = part(index);
        amounts += u128::from(amount);
        weights += weight;
        at = (amounts.saturating_sub(missing.into()), weights);
        let next = order.get(place + 1).map(part);
        if next.is_none_or(|(amount, weight)| at.0 * weight >= u128::from(amount) * at.1) {
            break;
        }
    }
    let mut left = missing;
    let mut taken = vec![0u64; from.len()];
    for index in &order {
        let (amount, weight) = part(index);
        let keep = u64::try_from(at.0 * weight / at.1).unwrap_or(u64::MAX);
        let take = amount.saturating_sub(keep).min(left);
        left -= take;
        if let Some(place) = taken.get_mut(*index) {
            *place = take;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holder(key: u32, held: u64, idle: u64, min: u64, weight: u32) -> Holder<u32> {
        Holder { key, held, idle, is_idle_hidden: false, min, weight, settled: true }
    }

    fn units(demands: &[Demand<u32>]) -> Vec<(u32, u64, u64)> {
        demands.iter().map(|it| (it.key, it.units, it.beyond_idle)).collect()
    }

    #[test]
    fn idle_pages_come_first_whoever_has_them() {
        let all = [holder(1, 1000, 0, 0, 1), holder(2, 100, 60, 0, 1)];
        assert_eq!(units(&plan(50, &all)), [(2, 50, 0)]);
        assert_eq!(units(&plan(80, &all)), [(1, 20, 20), (2, 60, 0)]);
    }

    #[test]
    fn who_has_most_above_its_min_for_its_weight_gives_first() {
        let all = [holder(1, 500, 0, 400, 1), holder(2, 300, 0, 0, 1), holder(3, 400, 0, 0, 2)];
        // Above: 100, 300, 400 of weight 2. Down to 150 for each weight.
        assert_eq!(units(&plan(250, &all)), [(2, 150, 150), (3, 100, 100)]);
        assert_eq!(units(&plan(10_000, &all)), [(1, 100, 100), (2, 300, 300), (3, 400, 400)]);
    }

    #[test]
    fn a_min_is_left_and_who_has_just_got_something_gives_only_what_is_idle() {
        let recent = Holder { settled: false, ..holder(1, 500, 30, 0, 1) };
        let all = [recent, holder(2, 100, 100, 90, 1)];
        assert_eq!(units(&plan(200, &all)), [(1, 30, 0), (2, 10, 0)]);
        assert!(plan(0, &all).is_empty());
        assert!(plan::<u32>(5, &[]).is_empty());
    }

    #[test]
    fn idle_pages_that_nobody_can_see_are_asked_for_after_the_others() {
        let hidden = Holder { settled: false, is_idle_hidden: true, ..holder(1, 500, 0, 0, 1) };
        let all = [hidden, holder(2, 100, 100, 0, 1)];
        assert_eq!(units(&plan(100, &all)), [(2, 100, 0)]);
        assert_eq!(units(&plan(130, &all)), [(1, 30, 0), (2, 100, 0)]);
        let settled = Holder { settled: true, ..hidden };
        assert_eq!(units(&plan(30, &[settled])), [(1, 30, 30)]);
    }

    fn any_holders() -> impl Strategy<Value = Vec<Holder<u32>>> {
        let number = || prop_oneof![0..200u64, Just(u64::MAX), any::<u64>()];
        let one = (number(), number(), number(), 0..5u32, any::<(bool, bool)>());
        prop::collection::vec(one, 0..6).prop_map(|all| {
            let holder = |(key, (held, idle, min, weight, (settled, is_idle_hidden)))| Holder {
                key: u32::try_from(key).unwrap(),
                held: held >> 3,
                idle: idle >> 3,
                is_idle_hidden,
                min,
                weight,
                settled,
            };
            all.into_iter().enumerate().map(holder).collect()
        })
    }

    proptest! {
        #[test]
        fn nobody_gives_more_than_it_can_and_nothing_is_asked_for_twice(
            holders in any_holders(), missing in prop_oneof![0..500u64, any::<u64>()]
        ) {
            let demands = plan(missing, &holders);
            let mut sum = 0u128;
            for demand in &demands {
                let holder = holders.iter().find(|it| it.key == demand.key).unwrap();
                prop_assert!(demand.units <= holder.above());
                let idle = demand.units - demand.beyond_idle;
                prop_assert!(holder.is_idle_hidden || idle <= holder.idle);
                prop_assert!(holder.settled || demand.beyond_idle == 0);
                sum += u128::from(demand.units);
            }
            let can = |holder: &Holder<u32>| match holder.settled || holder.is_idle_hidden {
                true => holder.above(),
                false => holder.above().min(holder.idle),
            };
            let all: u128 = holders.iter().map(|holder| u128::from(can(holder))).sum();
            prop_assert_eq!(sum, all.min(missing.into()), "as much as there is, and no more");
        }

        #[test]
        fn what_is_left_is_level(
            held in prop::collection::vec((0..1000u64, 1..4u32), 2..6), missing in 0..3000u64
        ) {
            let holders: Vec<_> = held.iter().enumerate()
                .map(|(key, (held, weight))| holder(u32::try_from(key).unwrap(), *held, 0, 0, *weight))
                .collect();
            let demands = plan(missing, &holders);
            let left = |holder: &Holder<u32>| {
                let taken = demands.iter().find(|it| it.key == holder.key).map_or(0, |it| it.units);
                holder.held - taken
            };
            let gives = |holder: &&Holder<u32>| demands.iter().any(|it| it.key == holder.key);
            for giver in holders.iter().filter(gives) {
                for other in &holders {
                    // Rounding takes at most one unit more from each.
                    let slack = u64::from(giver.weight) * holders.len() as u64;
                    let level = left(other) * u64::from(giver.weight) / u64::from(other.weight);
                    prop_assert!(left(giver) + slack >= level);
                }
            }
        }
    }
}
