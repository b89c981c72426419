//! Tables like those of `docker ps`: upper-case headers, no borders.
//!
//! A table is as wide as it needs to be, or fits a terminal: then columns that were named as
//! dispensable are left out, and the widest cells of the others are cut.

use crate::shown::{columns, columns_of, printable};

/// What stands between two columns.
const GAP: usize = 3;
/// The same where room is short.
const NARROW_GAP: usize = 2;
/// A column is not cut below this.
const LEAST_COLUMNS: usize = 8;
/// A cell wider than this is cut, unless asked not to.
const CELL_COLUMNS: usize = 48;

/// Which side a column's cells stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
    cut: bool,
    dispensable: Vec<&'static str>,
}

impl Table {
    /// An empty table. Headers are given as they are printed: in upper case.
    pub fn new(columns: &[(&'static str, Side)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), cut: true, dispensable: Vec::new() }
    }

    /// Names the columns that go where room is short, the first of them first. Before any of them go
    /// columns that hold nothing but dashes.
    pub fn dispensable(mut self, columns: &[&'static str]) -> Self {
        self.dispensable = columns.to_vec();
        self
    }

    /// Shows long cells whole.
    pub fn no_trunc(mut self, no_trunc: bool) -> Self {
        self.cut = !no_trunc;
        self
    }

    /// Adds a row with one cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        let cells = cells.into_iter().map(|cell| printable(&cell).into_owned());
        self.rows.push(cells.map(|cell| if self.cut { cut(cell) } else { cell }).collect());
    }

    /// The table as text, as wide as it needs to be, without a line end at the end.
    pub fn render(&self) -> String {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        self.lines(&all, &self.widths(), GAP)
    }

    /// The table as text that fits so many columns of a terminal, if that can be done.
    pub fn render_within(&self, limit: usize) -> String {
        let mut widths = self.widths();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let total = |kept: &[usize], widths: &[usize], gap: usize| {
            let cells: usize = kept.iter().filter_map(|column| widths.get(*column)).sum();
            cells + gap * kept.len().saturating_sub(1)
        };
        if !self.cut || total(&kept, &widths, GAP) <= limit {
            return self.render();
        }
        let mut order = self.dispensable.clone();
        order.sort_by_key(|name| !self.is_blank(name));
        for name in order {
            if total(&kept, &widths, NARROW_GAP) <= limit {
                break;
            }
            kept.retain(|column| self.columns.get(*column).is_none_or(|it| it.0 != name));
        }
        while let Some(over) = total(&kept, &widths, NARROW_GAP).checked_sub(limit + 1) {
            let words = kept.iter().copied().filter(|column| self.is_cuttable(*column));
            let widest = words.max_by_key(|column| widths.get(*column).copied());
            let Some(width) = widest.and_then(|column| widths.get_mut(column)) else { break };
            let less = width.saturating_sub(over + 1).max(LEAST_COLUMNS);
            if less >= *width {
                break;
            }
            // One by one, so that two long columns share what has to go.
            *width = less.max(*width - 1);
        }
        self.lines(&kept, &widths, NARROW_GAP)
    }

    fn is_cuttable(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|it| it.1 == Side::Left)
    }

    fn is_blank(&self, name: &str) -> bool {
        let column = self.columns.iter().position(|column| column.0 == name);
        let cells = self.rows.iter().filter_map(|row| row.get(column?));
        column.is_some() && cells.clone().all(|cell| cell == "-")
    }

    fn widths(&self) -> Vec<usize> {
        let width = |(column, header): (usize, &(&'static str, Side))| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| columns(cell)).chain([header.0.len()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(width).collect()
    }

    fn lines(&self, kept: &[usize], widths: &[usize], gap: usize) -> String {
        let header: Vec<String> = self.columns.iter().map(|column| column.0.to_owned()).collect();
        let lines = std::iter::once(&header).chain(&self.rows);
        lines.map(|cells| self.line(cells, kept, widths, gap)).collect::<Vec<_>>().join("\n")
    }

    fn line(&self, cells: &[String], kept: &[usize], widths: &[usize], gap: usize) -> String {
        let mut line = String::new();
        for (index, column) in kept.iter().enumerate() {
            let (Some(cell), Some(width)) = (cells.get(*column), widths.get(*column)) else {
                continue;
            };
            if index > 0 {
                line.push_str(&" ".repeat(gap));
            }
            let cell = cut_to(cell.clone(), *width);
            let room = " ".repeat(width.saturating_sub(columns(&cell)));
            let (first, second) = match self.columns.get(*column).map(|it| it.1) {
                Some(Side::Right) => (room.as_str(), cell.as_str()),
                _ => (cell.as_str(), room.as_str()),
            };
            line.push_str(first);
            line.push_str(second);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A long cell in a table that may be as wide as it needs to be.
fn cut(cell: String) -> String {
    cut_to(cell, CELL_COLUMNS)
}

/// Keeps the end of a long cell, because that is where path-like names differ.
pub fn cut_to(cell: String, most: usize) -> String {
    if columns(&cell) <= most {
        return cell;
    }
    let mut room = most.saturating_sub(3);
    let fits = |character: &char| {
        let left = room.checked_sub(columns_of(*character));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let end: Vec<char> = cell.chars().rev().take_while(fits).collect();
    let end: String = end.into_iter().rev().collect();
    format!("...{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_tail() {
        let mut table = Table::new(&[("NAME", Side::Left), ("SIZE", Side::Right)]);
        table.row(vec!["acts/x".into(), "8 B".into()]);
        table.row(vec!["модель".into(), "32.0 MiB".into()]);
        let text = table.render();
        assert_eq!(text, "NAME         SIZE\nacts/x        8 B\nмодель   32.0 MiB");
        assert_eq!(Table::new(&[("A", Side::Left), ("B", Side::Left)]).render(), "A   B");
    }

    #[test]
    fn columns_line_up_on_a_terminal_whatever_is_in_them() {
        let mut table = Table::new(&[("NAME", Side::Left), ("SIZE", Side::Right)]);
        table.row(vec!["模型/x".into(), "8 B".into()]);
        table.row(vec!["a\u{1b}[1m".into(), "32 MiB".into()]);
        assert_eq!(
            table.render(),
            "NAME           SIZE\n模型/x          8 B\na\\u{1b}[1m   32 MiB"
        );
        let mut long = Table::new(&[("NAME", Side::Left)]);
        long.row(vec!["模".repeat(40)]);
        let cell = long.render().lines().nth(1).unwrap().to_owned();
        assert_eq!(cell, format!("...{}", "模".repeat(22)));
    }

    #[test]
    fn long_cells_keep_their_end() {
        let long = "layers/".repeat(20) + "wq";
        let mut table = Table::new(&[("NAME", Side::Left)]);
        table.row(vec![long.clone()]);
        let cell = table.render().lines().nth(1).unwrap().to_owned();
        assert!(cell.starts_with("...") && cell.ends_with("/wq"));
        assert_eq!(cell.chars().count(), CELL_COLUMNS);
        let mut whole = Table::new(&[("NAME", Side::Left)]).no_trunc(true);
        whole.row(vec![long.clone()]);
        assert!(whole.render().ends_with(&long));
    }

    fn wide() -> Table {
        let mut table = Table::new(&[
            ("NAME", Side::Left),
            ("ID", Side::Left),
            ("SIZE", Side::Right),
            ("OTHERS", Side::Right),
        ])
        .dispensable(&["ID", "OTHERS"]);
        table.row(vec![
            "layers/0/attention/wq".into(),
            "01234567".into(),
            "8 MiB".into(),
            "-".into(),
        ]);
        table
    }

    #[test]
    fn where_room_is_short_columns_go_and_then_cells_are_cut() {
        let table = wide();
        let shown = |limit: usize| {
            let text = table.render_within(limit);
            assert!(text.lines().all(|line| columns(line) <= limit), "{limit}:\n{text}");
            text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(table.render_within(80), table.render());
        assert_eq!(shown(40), "NAME ID SIZE", "what is blank goes first");
        assert_eq!(shown(30), "NAME SIZE");
        assert_eq!(shown(20), "NAME SIZE");
        assert!(table.render_within(20).contains("...tention/wq"));
        assert_eq!(wide().no_trunc(true).render_within(20), wide().no_trunc(true).render());
        // There is an end to it.
        assert!(table.render_within(1).contains("/wq"));
    }
}
