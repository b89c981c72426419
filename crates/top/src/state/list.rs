//! A list with a cursor: sorted, filtered, and as high as the screen has room.

use std::cmp::Ordering;

use millpond_overview::Overview;
use millpond_view::Event;

use crate::panes::{Pane, Row, Thing};

/// Rows of one pane, and the one that is selected.
#[derive(Clone, Debug)]
pub struct List {
    pane: Pane,
    rows: Vec<Row>,
    /// The selected row among them.
    cursor: usize,
    /// The first row on the screen.
    top: usize,
    /// What the selected row shows; nothing while the first row is selected, whatever that is.
    selected: Option<String>,
    column: usize,
    falls: bool,
}

/// A way to move the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Up(usize),
    Down(usize),
    First,
    Last,
}

impl List {
    pub fn new(pane: Pane) -> Self {
        let column = pane.first_sort();
        Self {
            pane,
            rows: Vec::new(),
            cursor: 0,
            top: 0,
            selected: None,
            column,
            falls: falls(pane, column),
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows that are on the screen, and which of them is selected.
    pub fn page(&self, height: usize) -> (&[Row], usize) {
        let end = self.top.saturating_add(height).min(self.rows.len());
        let page = self.rows.get(self.top..end).unwrap_or_default();
        (page, self.cursor.saturating_sub(self.top))
    }

    /// The place of the selected row, from 1 on, and how many there are.
    pub fn place(&self) -> (usize, usize) {
        ((self.cursor + 1).min(self.rows.len()), self.rows.len())
    }

    pub fn selected_row(&self) -> Option<Row> {
        self.rows.get(self.cursor).copied()
    }

    /// The column that rows are sorted by, and whether the largest is first.
    pub const fn order(&self) -> (usize, bool) {
        (self.column, self.falls)
    }

    pub fn sort_by_next(&mut self) {
        self.column = (self.column + 1) % self.pane.columns().len().max(1);
        self.falls = falls(self.pane, self.column);
    }

    pub const fn reverse(&mut self) {
        self.falls = !self.falls;
    }

    /// Takes the rows of a picture that pass the filter, in order. The cursor stays on its thing.
    pub fn fill(&mut self, overview: &Overview, events: &[Event], filter: &str, height: usize) {
        let thing = |row: Row| row.thing(self.pane, overview, events);
        let mut rows = Row::all(self.pane, overview, events);
        if !filter.is_empty() {
            rows.retain(|row| thing(*row).is_some_and(|it| it.matches(filter, overview)));
        }
        let Some(column) = self.pane.columns().get(self.column) else { return };
        let value = |row: &Row| thing(*row).map(|it| (column.value)(it, overview));
        let mut keyed: Vec<_> = rows.into_iter().map(|row| (value(&row), row)).collect();
        keyed.sort_by(|(one, _), (two, _)| {
            let order = match (one, two) {
                (Some(one), Some(two)) => one.order(two),
                (one, two) => one.is_some().cmp(&two.is_some()),
            };
            if self.falls { order.reverse() } else { order }
        });
        self.rows = keyed.into_iter().map(|(_, row)| row).collect();
        if let Some(selected) = &self.selected {
            let is_it = |row: &Row| {
                let thing = row.thing(self.pane, overview, events);
                thing.is_some_and(|thing| thing.identity() == *selected)
            };
            // Mostly it is where it was.
            let here = self.rows.get(self.cursor).is_some_and(is_it);
            if !here && let Some(cursor) = self.rows.iter().position(is_it) {
                self.cursor = cursor;
            }
        } else {
            self.cursor = 0;
        }
        self.settle(height);
    }

    /// Moves the cursor.
    pub fn go(&mut self, way: Move, overview: &Overview, events: &[Event], height: usize) {
        let last = self.rows.len().saturating_sub(1);
        self.cursor = match way {
            Move::Up(by) => self.cursor.saturating_sub(by),
            Move::Down(by) => self.cursor.saturating_add(by).min(last),
            Move::First => 0,
            Move::Last => last,
        };
        let thing = self.selected_row().and_then(|row| row.thing(self.pane, overview, events));
        self.selected = thing.filter(|_| self.cursor > 0).map(|thing: Thing<'_>| thing.identity());
        self.settle(height);
    }

    /// Has the selected row on the screen, and no room left where there are rows.
    pub fn settle(&mut self, height: usize) {
        let height = height.max(1);
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        let lowest = self.cursor.saturating_sub(height - 1);
        self.top = match self.top.cmp(&lowest) {
            Ordering::Less => lowest,
            _ => self.top.min(self.cursor),
        };
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }
}

fn falls(pane: Pane, column: usize) -> bool {
    pane.columns().get(column).is_some_and(|column| column.falls)
}
