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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "slab")), ["0 slabs", "1 slab", "2 slabs"]);
        assert_eq!([1, 2].map(|number| count(number, "process")), ["1 process", "2 processes"]);
    }
}
