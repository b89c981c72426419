//! Tables like those of `docker ps`: upper-case headers, no borders, as wide as needed.

use std::fmt::Write as _;

/// What stands between two columns.
const GAP: &str = "   ";
/// A cell longer than this is cut, unless asked not to.
const CELL_CHARACTERS: usize = 48;

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
        let cells = cells.into_iter().map(|cell| if self.cut { cut(cell) } else { cell });
        self.rows.push(cells.collect());
    }

    /// The table as text, without a line end at the end.
    pub fn render(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|column| column.0.to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(&self.rows).collect();
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
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
            // Writing to a string cannot fail.
            let _ = match column.1 {
                Side::Left => write!(line, "{cell:<width$}"),
                Side::Right => write!(line, "{cell:>width$}"),
            };
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Keeps the end of a long cell, because that is where path-like names differ.
fn cut(cell: String) -> String {
    let characters = cell.chars().count();
    if characters <= CELL_CHARACTERS {
        return cell;
    }
    let end: String = cell.chars().skip(characters - (CELL_CHARACTERS - 3)).collect();
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
    fn long_cells_keep_their_end() {
        let long = "layers/".repeat(20) + "wq";
        let mut table = Table::new(&[("NAME", Side::Left)]);
        table.row(vec![long.clone()]);
        let cell = table.render().lines().nth(1).unwrap().to_owned();
        assert!(cell.starts_with("...") && cell.ends_with("/wq"));
        assert_eq!(cell.chars().count(), CELL_CHARACTERS);
        let mut whole = Table::new(&[("NAME", Side::Left)]).no_trunc(true);
        whole.row(vec![long.clone()]);
        assert!(whole.render().ends_with(&long));
    }
}
