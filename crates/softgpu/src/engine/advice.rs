//! What a program advised for ranges of managed memory. Nothing migrates, so advice has no effect
//! but on the answers to questions about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::location::Location;

/// The advice for every byte of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub read_mostly: bool,
    pub preferred: Option<Location>,
    pub accessed_by: BTreeSet<Location>,
    /// Where the range was last prefetched to.
    pub prefetched: Option<Location>,
}

/// The ranges of one allocation that have advice, by their first byte: end and advice.
#[derive(Debug, Default)]
pub struct Advised {
    ranges: Mutex<BTreeMap<u64, (u64, Advice)>>,
}

impl Advised {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, (u64, Advice)>> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the advice of `from..to`.
    pub fn change(&self, from: u64, to: u64, change: impl Fn(&mut Advice)) {
        let mut ranges = self.lock();
        split(&mut ranges, from);
        split(&mut ranges, to);
        let mut at = from;
        while at < to {
            let next = ranges.range(at..to).next().map_or(to, |(start, _)| *start);
            if next > at {
                ranges.insert(at, (next, Advice::default()));
            }
            let Some((end, advice)) = ranges.get_mut(&at) else { break };
            change(advice);
            at = *end;
        }
    }

    /// The advice of each part of `from..to`.
    pub fn of(&self, from: u64, to: u64) -> Vec<Advice> {
        let ranges = self.lock();
        let (mut found, mut at) = (Vec::new(), from);
        while at < to {
            let around = ranges.range(..=at).next_back().filter(|(_, (end, _))| *end > at);
            at = if let Some((_, (end, advice))) = around {
                found.push(advice.clone());
                *end
            } else {
                found.push(Advice::default());
                ranges.range(at..to).next().map_or(to, |(start, _)| *start)
            };
        }
        found
    }
}

/// Makes a range begin at `at` where one reaches across it.
fn split(ranges: &mut BTreeMap<u64, (u64, Advice)>, at: u64) {
    let Some((_, (end, advice))) = ranges.range_mut(..at).next_back() else { return };
    if *end > at {
        let rest = (std::mem::replace(end, at), advice.clone());
        ranges.insert(at, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_for_its_range_and_no_other() {
        let advised = Advised::default();
        advised.change(10, 30, |advice| advice.read_mostly = true);
        advised.change(20, 40, |advice| advice.prefetched = Some(Location { kind: 1, id: 0 }));
        let told = |from, to| -> Vec<(bool, bool)> {
            let found = advised.of(from, to);
            found.iter().map(|one| (one.read_mostly, one.prefetched.is_some())).collect()
        };
        assert_eq!(
            told(0, 50),
            [(false, false), (true, false), (true, true), (false, true), (false, false)]
        );
        assert_eq!(told(25, 26), [(true, true)]);
        advised.change(0, 50, |advice| *advice = Advice::default());
        assert!(advised.of(0, 50).iter().all(|one| *one == Advice::default()));
    }
}
