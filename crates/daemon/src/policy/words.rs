//! Numbers in sentences for people.

/// A number with its word: `1 slab`, `3 slabs`.
pub fn count(number: u64, word: &str) -> String {
    let plural = match (number, word.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {word}{plural}")
}

/// A length of time as people write one: `250ms`, `1h30m`.
pub fn span(ms: u64) -> String {
    let parts = [
        (ms / 86_400_000, "d"),
        (ms / 3_600_000 % 24, "h"),
        (ms / 60_000 % 60, "m"),
        (ms / 1000 % 60, "s"),
        (ms % 1000, "ms"),
    ];
    let shown = parts.iter().filter(|(number, _)| *number > 0);
    let text: String = shown.map(|(number, unit)| format!("{number}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// How long ago something was, with one unit: `5 seconds`, `3 hours`.
pub fn ago(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..120 => count(seconds, "second"),
        120..7_200 => count(seconds / 60, "minute"),
        7_200..172_800 => count(seconds / 3600, "hour"),
        _ => count(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_write_them() {
        assert_eq!([0, 250, 5_400_000].map(span), ["0s", "250ms", "1h30m"]);
        assert_eq!([900, 1000, 125_000].map(ago), ["0 seconds", "1 second", "2 minutes"]);
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "slab")), ["0 slabs", "1 slab", "2 slabs"]);
        assert_eq!([1, 2].map(|number| count(number, "process")), ["1 process", "2 processes"]);
    }
}
