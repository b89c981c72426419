//! What the panes list: each has columns, and a column has one function, from which cells are drawn and
//! rows are sorted.

mod caches;
mod events;
mod groups;
mod models;
mod processes;
mod tensors;
mod thing;
mod value;

use millpond_console::table::Side;
use millpond_overview::Overview;

pub use models::state as version_state;
pub use thing::{Row, Thing};
pub use value::{Value, short_age};

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Tensors,
    Models,
    Groups,
    Caches,
    Processes,
    Events,
}

/// A column of a pane.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub title: &'static str,
    pub side: Side,
    /// Columns on the screen; the first column of a pane gets what is left and needs at least so many.
    pub width: u16,
    /// Columns with a smaller number go first where room is short.
    pub rank: u8,
    /// Whether the order begins with the largest.
    pub falls: bool,
    pub value: for<'a> fn(Thing<'a>, &'a Overview) -> Value<'a>,
}

impl Column {
    /// A column of words, which is sorted from A on.
    const fn text(
        title: &'static str,
        width: u16,
        rank: u8,
        value: for<'a> fn(Thing<'a>, &'a Overview) -> Value<'a>,
    ) -> Self {
        Self { title, side: Side::Left, width, rank, falls: false, value }
    }

    /// A column of numbers, which begins with the largest.
    const fn number(
        title: &'static str,
        width: u16,
        rank: u8,
        value: for<'a> fn(Thing<'a>, &'a Overview) -> Value<'a>,
    ) -> Self {
        Self { title, side: Side::Right, width, rank, falls: true, value }
    }
}

impl Pane {
    pub const ALL: [Self; 6] =
        [Self::Tensors, Self::Models, Self::Groups, Self::Caches, Self::Processes, Self::Events];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Tensors => "Tensors",
            Self::Models => "Models",
            Self::Groups => "Groups",
            Self::Caches => "Caches",
            Self::Processes => "Processes",
            Self::Events => "Events",
        }
    }

    /// Its place among all panes.
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0)
    }

    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Tensors => tensors::COLUMNS,
            Self::Models => models::COLUMNS,
            Self::Groups => groups::COLUMNS,
            Self::Caches => caches::COLUMNS,
            Self::Processes => processes::COLUMNS,
            Self::Events => events::COLUMNS,
        }
    }

    /// The column that rows are sorted by at first.
    pub const fn first_sort(self) -> usize {
        match self {
            Self::Tensors => tensors::BY_SIZE,
            Self::Models => models::BY_NAME,
            Self::Groups => groups::BY_USE,
            Self::Caches => caches::BY_USE,
            Self::Processes => processes::BY_SIZE,
            Self::Events => events::BY_NUMBER,
        }
    }

    /// What is said where there is nothing to list, and how something comes to be.
    pub const fn empty(self) -> (&'static str, &'static str) {
        match self {
            Self::Tensors => {
                ("no tensors", "millpond tensor create acts/x --dtype bf16 --shape 4096,4096")
            }
            Self::Models => ("no models", "millpond load llama ./model.safetensors"),
            Self::Groups => ("no groups", "millpond group set team-a --limit 10G"),
            Self::Caches => ("no elastic caches", "programs make them: docs/elastic.md"),
            Self::Processes => ("no other processes are connected", "millpond ps"),
            Self::Events => ("no events yet", "millpond events"),
        }
    }
}

/// The GPU of that UUID as people call it.
fn gpu<'a>(overview: &'a Overview, device: &str) -> Value<'a> {
    let card = overview.cards.iter().find(|card| card.device == device);
    card.map_or(Value::None, |card| Value::Count(u64::from(card.index)))
}

/// A user's name.
fn user(overview: &Overview, user: u32) -> Value<'_> {
    match overview.user_names.get(&user) {
        Some(name) => Value::text(name),
        None => Value::owned(user.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pane_has_a_name_and_is_sorted_by_a_column() {
        for pane in Pane::ALL {
            assert_eq!(Pane::ALL[pane.index()], pane);
            assert!(pane.first_sort() < pane.columns().len(), "{pane:?}");
            let least: u16 = pane.columns()[0].width;
            assert!((12..=40).contains(&least), "{pane:?}");
        }
    }
}
