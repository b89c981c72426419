//! Every key and its meaning: the one table from which keys are read, the help is drawn, and the table of
//! `docs/top.md` is compared.

use crate::input::Key;

/// What a key is for while a pane is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Help,
    NextPane,
    PreviousPane,
    Pane,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Inspect,
    Close,
    Filter,
    Sort,
    Reverse,
    Pause,
    Swap,
    Rollback,
    Retire,
    Limit,
    Suspend,
    Quit,
}

/// Keys of one meaning.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub keys: &'static [Key],
    /// How people read them; names of keys are apart by a blank.
    pub shown: &'static str,
    pub means: Meaning,
    pub describe: &'static str,
}

/// All of them, in the order in which they are listed.
pub const BINDINGS: [Binding; 22] = [
    Binding {
        keys: &[Key::Char('?'), Key::Char('h'), Key::Function(1)],
        shown: "? h F1",
        means: Meaning::Help,
        describe: "List the keys, and what the bars mean",
    },
    Binding {
        keys: &[
            Key::Char('1'),
            Key::Char('2'),
            Key::Char('3'),
            Key::Char('4'),
            Key::Char('5'),
            Key::Char('6'),
        ],
        shown: "1 2 3 4 5 6",
        means: Meaning::Pane,
        describe: "Show tensors, models, groups, caches, processes, events",
    },
    Binding {
        keys: &[Key::Tab, Key::Right],
        shown: "Tab Right",
        means: Meaning::NextPane,
        describe: "Show the next pane",
    },
    Binding {
        keys: &[Key::BackTab, Key::Left],
        shown: "Shift-Tab Left",
        means: Meaning::PreviousPane,
        describe: "Show the pane before",
    },
    Binding {
        keys: &[Key::Up, Key::Char('k')],
        shown: "Up k",
        means: Meaning::Up,
        describe: "Go up a row",
    },
    Binding {
        keys: &[Key::Down, Key::Char('j')],
        shown: "Down j",
        means: Meaning::Down,
        describe: "Go down a row",
    },
    Binding {
        keys: &[Key::PageUp, Key::Control('b')],
        shown: "PgUp Ctrl-B",
        means: Meaning::PageUp,
        describe: "Go up a page",
    },
    Binding {
        keys: &[Key::PageDown, Key::Control('f')],
        shown: "PgDn Ctrl-F",
        means: Meaning::PageDown,
        describe: "Go down a page",
    },
    Binding {
        keys: &[Key::Home, Key::Char('g')],
        shown: "Home g",
        means: Meaning::First,
        describe: "Go to the first row",
    },
    Binding {
        keys: &[Key::End, Key::Char('G')],
        shown: "End G",
        means: Meaning::Last,
        describe: "Go to the last row",
    },
    Binding {
        keys: &[Key::Enter, Key::Char('i')],
        shown: "Enter i",
        means: Meaning::Inspect,
        describe: "Inspect the selected row: leases, readers, members",
    },
    Binding {
        keys: &[Key::Escape],
        shown: "Esc",
        means: Meaning::Close,
        describe: "Close what is open; then remove the filter",
    },
    Binding {
        keys: &[Key::Char('/'), Key::Function(4)],
        shown: "/ F4",
        means: Meaning::Filter,
        describe: "Filter all panes by a part of a name",
    },
    Binding {
        keys: &[Key::Char('s'), Key::Function(6)],
        shown: "s F6",
        means: Meaning::Sort,
        describe: "Sort by the next column",
    },
    Binding {
        keys: &[Key::Char('S')],
        shown: "S",
        means: Meaning::Reverse,
        describe: "Reverse the order",
    },
    Binding {
        keys: &[Key::Char(' ')],
        shown: "Space",
        means: Meaning::Pause,
        describe: "Hold the picture, and let it go on",
    },
    Binding {
        keys: &[Key::Char('w')],
        shown: "w",
        means: Meaning::Swap,
        describe: "Make the selected version current (asks first)",
    },
    Binding {
        keys: &[Key::Char('r')],
        shown: "r",
        means: Meaning::Rollback,
        describe: "Make a model's previous version current (asks first)",
    },
    Binding {
        keys: &[Key::Char('x')],
        shown: "x",
        means: Meaning::Retire,
        describe: "Retire the selected version (asks first)",
    },
    Binding {
        keys: &[Key::Char('L')],
        shown: "L",
        means: Meaning::Limit,
        describe: "Change the limit of the selected group (asks first)",
    },
    Binding {
        keys: &[Key::Control('z')],
        shown: "Ctrl-Z",
        means: Meaning::Suspend,
        describe: "Go to the background; `fg` comes back",
    },
    Binding {
        keys: &[Key::Char('q'), Key::Control('c'), Key::Function(10)],
        shown: "q Ctrl-C F10",
        means: Meaning::Quit,
        describe: "Quit",
    },
];

/// What a key means.
pub fn meaning(key: Key) -> Option<Meaning> {
    let binding = BINDINGS.iter().find(|binding| binding.keys.contains(&key));
    binding.map(|binding| binding.means)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn no_key_has_two_meanings() {
        let keys: Vec<Key> = BINDINGS.iter().flat_map(|binding| binding.keys).copied().collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key), "{key:?}");
        }
        for binding in &BINDINGS {
            assert_eq!(binding.shown.split(' ').count(), binding.keys.len(), "{binding:?}");
            assert!(binding.keys.iter().all(|key| meaning(*key) == Some(binding.means)));
        }
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../docs/top.md");
        let mut table = String::from("| key | does |\n| --- | --- |\n");
        for binding in &BINDINGS {
            let keys: Vec<String> =
                binding.shown.split(' ').map(|key| format!("`{key}`")).collect();
            let _ = writeln!(table, "| {} | {} |", keys.join(" "), binding.describe);
        }
        assert!(page.contains(&table), "docs/top.md needs this table:\n{table}");
    }
}
