//! How wide a text is, nearly, and what of it fits. Nobody can measure a font without having it, so a label
//! is cut a little early rather than late.

/// The width of a text in a sans-serif font of so many pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(of_character).sum::<f64>() * size
}

/// In parts of the size of the font.
fn of_character(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.3,
        'f' | 't' | 'r' | ' ' | '/' | '(' | ')' | '-' | '[' | ']' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        'A'..='Z' => 0.7,
        '\0'..='\u{2ff}' => 0.58,
        '\u{300}'..='\u{36f}' => 0.0,
        '\u{370}'..='\u{10ff}' => 0.64,
        _ => 1.0,
    }
}

/// The text, or its beginning with `…`; nothing where not even three letters fit.
pub(crate) fn fitting(text: &str, size: f64, most: f64) -> Option<String> {
    let shown = millpond_wire::characters::shown(text);
    if width(&shown, size) <= most {
        return Some(shown.into_owned());
    }
    let room = most / size - of_character('…');
    let mut taken = 0.0;
    let cut: String = shown
        .chars()
        .take_while(|character| {
            taken += of_character(*character);
            taken <= room
        })
        .collect();
    (cut.chars().count() >= 3).then(|| format!("{}…", cut.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_as_long_as_there_is_room() {
        assert_eq!(fitting("acts/layer0", 11.0, 200.0).as_deref(), Some("acts/layer0"));
        let cut = fitting("acts/layer0/very/long", 11.0, 60.0).unwrap();
        assert!(
            cut.starts_with("acts/") && cut.ends_with('…') && width(&cut, 11.0) <= 60.0,
            "{cut}"
        );
        assert_eq!(fitting("abcdef", 11.0, 10.0), None);
        assert!(width("模型", 10.0) > width("ab", 10.0));
    }
}
