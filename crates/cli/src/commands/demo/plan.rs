//! Which tensors the demo makes.

use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::units;
use millpond_trial::content;

const MIB: u64 = 1 << 20;
/// Four small tensors fill one shared slab of 2 MiB; the large one has a slab of its own.
const SMALL: u64 = MIB / 2;
const SMALL_COUNT: u64 = 4;
/// What leaves a large tensor that gets a slab of its own.
const LEAST: u64 = SMALL * SMALL_COUNT + 32 * MIB;
/// Sizes are a multiple of the driver's pages, so that slabs hold nothing but tensors.
const PAGE: u64 = 2 * MIB;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub name: String,
    pub bytes: u64,
    /// What they are made from.
    pub seed: u64,
}

/// The tensors, the largest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(Vec<Planned>);

impl Plan {
    /// For so many bytes of the software driver's memory, or of a GPU's.
    pub fn new(size: Option<u64>, soft: bool, total_bytes: u64) -> Result<Self, CommandError> {
        let default = if soft { 256 * MIB } else { 4096 * MIB };
        let asked = size.unwrap_or_else(|| default.min(total_bytes / 2));
        let size = asked / PAGE * PAGE;
        if size < LEAST {
            let message = format!("{} is too small for the demo", units::bytes(asked));
            let hint = format!("try `millpond demo --size {}M`", LEAST / MIB);
            return Err(Report::new(Code::Usage, message).hint(hint).into());
        }
        let large = ("demo/weights".to_owned(), size - SMALL * SMALL_COUNT);
        let small = (0..SMALL_COUNT).map(|index| (format!("demo/layer-{index}"), SMALL));
        let all = std::iter::once(large).chain(small).zip(1..);
        Ok(Self(all.map(|((name, bytes), seed)| Planned { name, bytes, seed }).collect()))
    }

    pub fn tensors(&self) -> &[Planned] {
        &self.0
    }

    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Bytes of all together.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|tensor| tensor.bytes).sum()
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// What their checksums must be.
    pub fn sums(&self) -> Vec<u64> {
        self.0.iter().map(|tensor| content::expected(tensor.seed, tensor.bytes)).collect()
    }

    /// Bytes of the tensors whose checksum is not what it must be, or is missing.
    pub fn wrong_bytes(&self, expected: &[u64], seen: &[u64]) -> u64 {
        let wrong = |index: &usize| seen.get(*index) != expected.get(*index);
        let wrong = (0..self.0.len()).filter(wrong);
        wrong.map(|index| self.0[index].bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_fills_whole_slabs() {
        let plan = Plan::new(None, true, 8 << 30).unwrap();
        assert_eq!((plan.bytes(), plan.count()), (256 * MIB, 5));
        assert_eq!(plan.tensors()[0].bytes, 254 * MIB);
        assert_eq!(Plan::new(None, false, 143 << 30).unwrap().bytes(), 4 << 30);
        assert_eq!(Plan::new(Some(35 * MIB + 5), true, 8 << 30).unwrap().bytes(), 34 * MIB);
        assert!(Plan::new(Some(33 * MIB), true, 8 << 30).is_err());
    }

    #[test]
    fn wrong_and_missing_sums_count_with_their_bytes() {
        let plan = Plan::new(None, true, 8 << 30).unwrap();
        let right = [1, 2, 3, 4, 5];
        assert_eq!(plan.wrong_bytes(&right, &right), 0);
        assert_eq!(plan.wrong_bytes(&right, &[1, 9, 3, 4, 5]), SMALL);
        assert_eq!(plan.wrong_bytes(&right, &[]), 256 * MIB);
    }
}
