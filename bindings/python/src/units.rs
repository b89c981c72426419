//! Sizes for people.

const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

/// A number of bytes in the largest unit that it fills: `24.6 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut unit = UNITS[0];
    // In tenths, and never lossy: the last digit of a large number is of no interest.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        (unit, tenths) = (next, tenths / 1024);
    }
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {unit}"),
        (whole, tenth) => format!("{whole}.{tenth} {unit}"),
    }
}
