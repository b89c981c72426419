//! Tables like those of `docker ps`: upper-case headers, no borders, as wide as needed.

use crate::shown::{columns, columns_of, printable};

/// What stands between two columns.
const GAP: &str = "   ";
/// A cell wider than this is cut, unless asked not to.
const CELL_COLUMNS: usize = 48;

/// Which side a column's cells stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows under headers.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<String>>,
    cut: bool,
}

impl Table {
    /// An empty table. Headers are given as they are printed: in upper case.
    pub fn new(columns: &[(&'static str, Side)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), cut: true }
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

    /// The table as text, without a line end at the end.
    pub fn render(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|column| column.0.to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(&self.rows).collect();
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| columns(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let rendered: Vec<String> = lines.iter().map(|cells| self.line(cells, &widths)).collect();
        rendered.join("\n")
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (index, ((cell, width), column)) in
            cells.iter().zip(widths).zip(&self.columns).enumerate()
        {
            if index > 0 {
                line.push_str(GAP);
            }
            let room = " ".repeat(width.saturating_sub(columns(cell)));
            let (first, second) = match column.1 {
                Side::Left => (cell.as_str(), room.as_str()),
                Side::Right => (room.as_str(), cell.as_str()),
            };
            line.push_str(first);
            line.push_str(second);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Keeps the end of a long cell, because that is where path-like names differ.
fn cut(cell: String) -> String {
    if columns(&cell) <= CELL_COLUMNS {
        return cell;
    }
    let mut room = CELL_COLUMNS - 3;
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
}
