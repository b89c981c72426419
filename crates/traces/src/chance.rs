//! The only source of chance: a trace follows from its seed, on every machine.
//!
//! Logarithm and exponential are written here, of additions, multiplications and divisions: those of
//! the system's library differ in their last bits between machines, and one bit is another trace.

use std::f64::consts::{LN_2, SQRT_2};

/// A small generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The generator of a seed. Equal seeds give equal numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Another generator, so that two parts do not disturb each other.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.bits())
    }

    /// An index of something so long.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.bits() % (length.max(1) as u64)).unwrap_or(0)
    }

    /// Above 0, and 1 at most.
    pub fn part(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A wait until the next of things that happen independently, so long on average.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -ln(self.part()) * mean
    }

    /// A size around its median, with a long tail: nearly log-normal. Twelve equal chances stand for
    /// a normal one, so that nothing is further out than six spreads.
    pub fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.part()).sum::<f64>() - 6.0;
        median * exp(normal * spread)
    }
}

/// The natural logarithm of a number above 0.
pub(crate) fn ln(value: f64) -> f64 {
    let (mut mantissa, mut exponent) = (value, 0.0);
    while mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    while mantissa < SQRT_2 / 2.0 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let square = part * part;
    // 2 * atanh: its next term is below the last bit.
    let series = (0..13).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent * LN_2 + 2.0 * part * series
}

/// The exponential of a number that is not huge.
fn exp(value: f64) -> f64 {
    let halvings = (value / LN_2).round();
    let rest = value - halvings * LN_2;
    let series = (1..=18).rev().fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    let (mut result, mut left) = (series, halvings);
    while left > 0.0 {
        result *= 2.0;
        left -= 1.0;
    }
    while left < 0.0 {
        result /= 2.0;
        left += 1.0;
    }
    result
}

/// The nearest whole number; sizes and times here are far below what a float counts exactly.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_functions_are_those_of_everybody() {
        for value in [1e-9, 0.1, 0.5, 0.999, 1.0, 1.5, 2.0, 10.0, 12345.678] {
            let error = (ln(value) - value.ln()).abs();
            assert!(error <= 1e-14 * value.ln().abs().max(1.0), "ln {value}: {error}");
        }
        for value in [-20.0, -1.0, -0.1, 0.0, 0.3, 1.0, 6.0, 20.0] {
            let error = (exp(value) / value.exp() - 1.0).abs();
            assert!(error < 1e-14, "exp {value}: {error}");
        }
    }

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut chance = Chance::new(1);
        assert_eq!(chance.bits(), 0x910a_2dec_8902_5cc1);
        let sizes: Vec<u64> = (0..4).map(|_| whole(chance.log_normal(600.0, 1.0))).collect();
        let waits: Vec<u64> = (0..4).map(|_| whole(chance.exponential(1e6))).collect();
        assert_eq!(
            (sizes, waits),
            (vec![2230, 273, 430, 3569], vec![91_359, 1_197_804, 2_028_103, 1_121_829])
        );
    }

    #[test]
    fn means_are_what_was_asked_for() {
        let mut chance = Chance::new(7);
        let count = 20_000;
        let mean: f64 =
            (0..count).map(|_| chance.exponential(10.0)).sum::<f64>() / f64::from(count);
        assert!((9.7..10.3).contains(&mean), "{mean}");
        let mut sizes: Vec<u64> =
            (0..count).map(|_| whole(chance.log_normal(600.0, 1.0))).collect();
        sizes.sort_unstable();
        assert!((570..630).contains(&sizes[sizes.len() / 2]), "{}", sizes[sizes.len() / 2]);
    }
}
