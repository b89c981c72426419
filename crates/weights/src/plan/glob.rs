//! Patterns over tensor names: `*`, `?` and `[a-z]`; everything else means itself.

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// Any number of characters, none too; dots as well.
    Star,
    Any,
    One(char),
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Token::Star | Token::Any => true,
            Token::One(one) => *one == c,
            Token::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

impl Glob {
    /// Reads a pattern; `None` where a `[` is not closed or empty.
    #[must_use]
    pub fn new(pattern: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut rest = pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let token = match c {
                '*' => Token::Star,
                '?' => Token::Any,
                '[' => {
                    let negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
                    let mut ranges = Vec::new();
                    loop {
                        let low = rest.next()?;
                        // As everywhere, a bracket that comes first means itself.
                        if low == ']' && !ranges.is_empty() {
                            break;
                        }
                        let mut ahead = rest.clone();
                        match (ahead.next(), ahead.next()) {
                            (Some('-'), Some(high)) if high != ']' => {
                                rest = ahead;
                                ranges.push((low, high));
                            }
                            _ => ranges.push((low, low)),
                        }
                    }
                    Token::Set { negated, ranges }
                }
                c => Token::One(c),
            };
            // Two stars are one.
            if token != Token::Star || tokens.last() != Some(&Token::Star) {
                tokens.push(token);
            }
        }
        Some(Self(tokens))
    }

    /// Whether the whole name is of this kind. At most length times length steps.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut at) = (0, 0);
        // The last star, and how far it has eaten.
        let mut star: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.0.get(token) {
                Some(Token::Star) => {
                    star = Some((token, at));
                    token += 1;
                }
                Some(other) if other.takes(name[at]) => {
                    token += 1;
                    at += 1;
                }
                _ => match star {
                    Some((place, eaten)) => {
                        star = Some((place, eaten + 1));
                        token = place + 1;
                        at = eaten + 1;
                    }
                    None => return false,
                },
            }
        }
        self.0[token..].iter().all(|rest| *rest == Token::Star)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("*.q_proj.weight", "model.layers.0.q_proj.weight", true),
            ("*.q_proj.weight", "q_proj.weight", false),
            ("lm_head.*", "lm_head.weight", true),
            ("lm_head.*", "lm_headXweight", false),
            ("a*b*c", "a-b-b-c-c", true),
            ("a**c", "ac", true),
            ("a*b*c", "a-c-b", false),
            ("layers.?.w", "layers.7.w", true),
            ("layers.?.w", "layers.77.w", false),
            ("layers.[0-9].w", "layers.7.w", true),
            ("layers.[!0-3].w", "layers.2.w", false),
            ("layers.[!0-3].w", "layers.5.w", true),
            ("[]x]", "]", true),
            ("[a-]", "-", true),
            ("?", "é", true),
        ];
        for (pattern, name, matches) in cases {
            assert_eq!(Glob::new(pattern).unwrap().matches(name), matches, "{pattern} {name}");
        }
        for bad in ["[", "[a", "[]", "[!"] {
            assert_eq!(Glob::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn many_stars_end() {
        let glob = Glob::new(&"a*".repeat(100)).unwrap();
        assert!(!glob.matches(&"ab".repeat(99)));
    }
}
