//! Keys as the state knows them: without a terminal's spelling of them.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, with Shift where it needs that.
    Char(char),
    /// A letter with Control.
    Control(char),
    /// A function key.
    Function(u8),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}

/// What a terminal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// The terminal has another size.
    Resized,
}

/// What an event of the terminal means; nothing for what this program does not use.
pub fn read(event: &Event) -> Option<Input> {
    match event {
        Event::Resize(..) => Some(Input::Resized),
        Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Input::Key),
        _ => None,
    }
}

fn key_of(event: &KeyEvent) -> Option<Key> {
    let with = |modifier| event.modifiers.contains(modifier);
    if with(KeyModifiers::ALT) || with(KeyModifiers::SUPER) || with(KeyModifiers::META) {
        return None;
    }
    Some(match event.code {
        KeyCode::Char(letter) if with(KeyModifiers::CONTROL) => {
            Key::Control(letter.to_ascii_lowercase())
        }
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::F(number) => Key::Function(number),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
        read(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn a_key_is_the_same_however_the_terminal_spells_it() {
        let control = KeyModifiers::CONTROL;
        for code in [KeyCode::Char('c'), KeyCode::Char('C')] {
            assert_eq!(pressed(code, control), Some(Input::Key(Key::Control('c'))));
        }
        let shifted = pressed(KeyCode::Char('S'), KeyModifiers::SHIFT);
        assert_eq!(shifted, Some(Input::Key(Key::Char('S'))));
        assert_eq!(pressed(KeyCode::Char('q'), KeyModifiers::ALT), None);
        assert_eq!(read(&Event::Resize(1, 1)), Some(Input::Resized));
        assert_eq!(read(&Event::FocusGained), None);
    }
}
