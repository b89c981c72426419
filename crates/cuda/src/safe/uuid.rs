//! The name of a GPU outside one call.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The identity of a GPU, shown as `GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
///
/// Ordinals change with `CUDA_VISIBLE_DEVICES` and mean different cards in different processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceUuid(pub [u8; 16]);

/// Text that is not a GPU's UUID.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a GPU UUID: expected `GPU-` and 32 hexadecimal digits in five groups")]
pub struct ParseUuidError(pub String);

/// Lengths of the groups of digits in the text.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 0 | 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for DeviceUuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, ParseUuidError> {
        parse(text).ok_or_else(|| ParseUuidError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<DeviceUuid> {
    let groups: Vec<&str> = text.strip_prefix("GPU-")?.split('-').collect();
    if groups.iter().map(|group| group.len()).ne(GROUPS) {
        return None;
    }
    let digits = groups.concat();
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(*pair.get(1)?).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(DeviceUuid(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        let text = "GPU-01234567-89ab-cdef-0011-223344556677";
        let uuid: DeviceUuid = text.parse().unwrap();
        assert_eq!(uuid.0[..5], [0x01, 0x23, 0x45, 0x67, 0x89]);
        assert_eq!(uuid.to_string(), text);
    }

    #[test]
    fn wrong_text_is_refused() {
        for text in [
            "",
            "GPU-",
            "01234567-89ab-cdef-0011-223344556677",
            "GPU-01234567-89ab-cdef-0011-22334455667",
            "GPU-0123456789ab-cdef-0011-223344556677",
            "GPU-0123456g-89ab-cdef-0011-223344556677",
            "GPU-+1234567-89ab-cdef-0011-223344556677",
            "GPU-é123456-89ab-cdef-0011-223344556677",
        ] {
            assert_eq!(text.parse::<DeviceUuid>(), Err(ParseUuidError(text.to_owned())));
        }
    }
}
