//! Sizes as people write them: `10G`, `10GB` and `10GiB` are the same; `50%` is a part of a card.

use crate::error::BadSize;

/// A size as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A number of bytes.
    Bytes(u64),
    /// A part of the card, in thousandths.
    Permille(u32),
}

impl Size {
    /// In bytes, of a card with so many.
    pub fn of(self, card: u64) -> u64 {
        match self {
            Size::Bytes(bytes) => bytes,
            Size::Permille(part) => {
                u64::try_from(u128::from(card) * u128::from(part) / 1000).unwrap_or(card)
            }
        }
    }
}

/// Digits behind the point that count; more would be less than a byte in any unit.
const DIGITS: u32 = 18;

/// Reads a size: a number, an optional fraction, and a unit (`K`, `M`, `G`, `T`, `P`, `E`, each also
/// with `B`, `i` or `iB`, in either case; all of them powers of 1,024) or `%`. A bare number is bytes, and so is
/// one with `B`, `byte` or `bytes`. Spaces around number and unit do not matter.
pub fn parse_size(text: &[u8]) -> Result<Size, BadSize> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(BadSize::Empty);
    }
    if let Some(rest) = text.strip_prefix(b"-") {
        let number = rest.first().is_some_and(u8::is_ascii_digit);
        return Err(if number { BadSize::Negative } else { BadSize::NotANumber });
    }
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.');
    let (number, unit) = text.split_at_checked(end.unwrap_or(text.len())).unwrap_or((text, b""));
    let (whole, part) = read_number(number)?;
    let unit = unit.trim_ascii();
    if unit == b"%" {
        return thousandths(whole, part);
    }
    let factor = factor(unit).ok_or(BadSize::UnknownUnit)?;
    if factor == 1 && part > 0 {
        return Err(BadSize::FractionOfByte);
    }
    let scale = 10_u128.pow(DIGITS);
    let bytes = u128::from(whole) * u128::from(factor) + part * u128::from(factor) / scale;
    match u64::try_from(bytes) {
        Ok(0) => Err(BadSize::Zero),
        Ok(bytes) => Ok(Size::Bytes(bytes)),
        Err(_) => Err(BadSize::TooLarge),
    }
}

/// [`parse_size`] where only bytes make sense.
pub fn parse_bytes(text: &[u8]) -> Result<u64, BadSize> {
    match parse_size(text)? {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Permille(_) => Err(BadSize::NotBytes),
    }
}

/// The number, and what is behind its point in units of ten to the minus [`DIGITS`].
fn read_number(text: &[u8]) -> Result<(u64, u128), BadSize> {
    let mut halves = text.splitn(2, |byte| *byte == b'.');
    let whole = halves.next().unwrap_or(b"");
    let fraction = halves.next();
    if whole.is_empty()
        || fraction.is_some_and(|digits| digits.is_empty() || digits.contains(&b'.'))
    {
        return Err(BadSize::NotANumber);
    }
    let digit = |byte: u8| u64::from(byte.saturating_sub(b'0'));
    let number = whole
        .iter()
        .try_fold(0_u64, |sum, byte| sum.checked_mul(10)?.checked_add(digit(*byte)))
        .ok_or(BadSize::TooLarge)?;
    let mut part = 0_u128;
    let mut scale = 10_u128.pow(DIGITS);
    for byte in fraction.unwrap_or(b"") {
        scale /= 10;
        part += u128::from(digit(*byte)) * scale;
    }
    Ok((number, part))
}

fn thousandths(whole: u64, part: u128) -> Result<Size, BadSize> {
    let behind = u64::try_from(part / 10_u128.pow(DIGITS - 1)).unwrap_or(0);
    match whole.saturating_mul(10).saturating_add(behind) {
        0 => Err(BadSize::Zero),
        part @ 1..=1000 => u32::try_from(part).map(Size::Permille).map_err(|_| BadSize::Percent),
        _ => Err(BadSize::Percent),
    }
}

fn factor(unit: &[u8]) -> Option<u64> {
    if [b"".as_slice(), b"B", b"BYTE", b"BYTES"].iter().any(|one| unit.eq_ignore_ascii_case(one)) {
        return Some(1);
    }
    let (letter, rest) = match unit {
        [] => return None,
        [letter, rest @ ..] => (letter.to_ascii_uppercase(), rest),
    };
    let known = [b"".as_slice(), b"B", b"I", b"IB"];
    if !known.iter().any(|tail| rest.eq_ignore_ascii_case(tail)) {
        return None;
    }
    let power = [b'K', b'M', b'G', b'T', b'P', b'E'].iter().position(|known| *known == letter)?;
    1024_u64.checked_pow(u32::try_from(power).ok()?.checked_add(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: u64 = 1 << 30;

    #[test]
    fn sizes_that_are_understood() {
        for (text, bytes) in [
            ("10G", 10 * G),
            ("10g", 10 * G),
            ("10GB", 10 * G),
            ("10gb", 10 * G),
            ("10GiB", 10 * G),
            ("10gib", 10 * G),
            ("10Gi", 10 * G),
            (" 10 GiB ", 10 * G),
            ("0.5G", G / 2),
            ("1.25M", 1_310_720),
            ("512M", 512 << 20),
            ("512m", 512 << 20),
            ("4K", 4096),
            ("2T", 2 << 40),
            ("2PiB", 2 << 50),
            ("1.5E", 3 << 59),
            ("1", 1),
            ("4096B", 4096),
            ("4096byte", 4096),
            ("4096 Bytes", 4096),
            ("10737418240", 10 * G),
            ("18446744073709551615", u64::MAX),
            ("1.0", 1),
        ] {
            assert_eq!(parse_bytes(text.as_bytes()), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn parts_of_a_card() {
        assert_eq!(parse_size(b"50%"), Ok(Size::Permille(500)));
        assert_eq!(parse_size(b"12.5 %"), Ok(Size::Permille(125)));
        assert_eq!(parse_size(b"100%"), Ok(Size::Permille(1000)));
        assert_eq!(parse_size(b"100.1%"), Err(BadSize::Percent));
        assert_eq!(parse_size(b"0%"), Err(BadSize::Zero));
        assert_eq!(parse_bytes(b"50%"), Err(BadSize::NotBytes));
        assert_eq!(Size::Permille(500).of(140 * G), 70 * G);
        assert_eq!(Size::Permille(1000).of(u64::MAX), u64::MAX);
        assert_eq!(Size::Bytes(7).of(G), 7);
    }

    #[test]
    fn every_mistake_has_its_name() {
        for (text, error) in [
            ("", BadSize::Empty),
            ("  ", BadSize::Empty),
            ("0", BadSize::Zero),
            ("0G", BadSize::Zero),
            ("0.0G", BadSize::Zero),
            ("0.0000000000001G", BadSize::Zero),
            ("-1", BadSize::Negative),
            ("-10G", BadSize::Negative),
            ("0.5", BadSize::FractionOfByte),
            ("1.5B", BadSize::FractionOfByte),
            ("G", BadSize::NotANumber),
            (".5G", BadSize::NotANumber),
            ("5.G", BadSize::NotANumber),
            ("1.2.3G", BadSize::NotANumber),
            ("-", BadSize::NotANumber),
            ("+1G", BadSize::NotANumber),
            ("ten", BadSize::NotANumber),
            ("\\u{ff}", BadSize::NotANumber),
            ("NaN", BadSize::NotANumber),
            ("10X", BadSize::UnknownUnit),
            ("10GG", BadSize::UnknownUnit),
            ("10 G B", BadSize::UnknownUnit),
            ("10Gib2", BadSize::UnknownUnit),
            ("10Gbytes", BadSize::UnknownUnit),
            ("(1024 * 1024 * 1024 * 10)", BadSize::NotANumber),
            ("1e9", BadSize::UnknownUnit),
            ("18446744073709551616", BadSize::TooLarge),
            ("99999999999T", BadSize::TooLarge),
        ] {
            assert_eq!(parse_bytes(text.as_bytes()), Err(error), "{text}");
        }
    }
}
