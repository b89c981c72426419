//! Exit codes: the command line's own, and one for each kind of error.

use millpond_wire::ErrorKind;

/// How a command ended, as a shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Ok,
    /// Something went wrong, or a check or claim was false.
    Failed,
    /// The command line was not understood.
    Usage,
    /// The pond, or the way to it, said no.
    Kind(ErrorKind),
    /// A program to run could not be executed.
    NotExecutable,
    /// A program to run does not exist.
    NoProgram,
}

/// One line of the table for people.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub number: u8,
    /// The name that JSON errors carry.
    pub name: &'static str,
    pub meaning: &'static str,
}

impl Code {
    pub const fn number(self) -> u8 {
        match self {
            Code::Ok => 0,
            Code::Failed => 1,
            Code::Usage => 2,
            Code::Kind(kind) => kind.exit_code(),
            // As shells have it.
            Code::NotExecutable => 126,
            Code::NoProgram => 127,
        }
    }

    /// The name that JSON errors carry.
    pub const fn name(self) -> &'static str {
        match self {
            Code::Ok => "ok",
            Code::Failed => "failed",
            Code::Usage => "usage",
            Code::Kind(kind) => kind.name(),
            Code::NotExecutable => "not_executable",
            Code::NoProgram => "no_program",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Code::Ok => "Success; also when the reader of the output went away.",
            Code::Failed => "A check or a claim was false, or something failed on this side.",
            Code::Usage => "The command line was not understood.",
            Code::Kind(kind) => kind.describe(),
            Code::NotExecutable => "The program of `run`, or a companion, cannot be executed.",
            Code::NoProgram => "The program of `run`, or a companion, does not exist.",
        }
    }
}

/// Every exit code in the order of its number.
pub fn table() -> Vec<Row> {
    let own = [Code::Ok, Code::Failed, Code::Usage, Code::NotExecutable, Code::NoProgram];
    let kinds = ErrorKind::ALL.iter().map(|kind| Code::Kind(*kind));
    let row =
        |code: Code| Row { number: code.number(), name: code.name(), meaning: code.meaning() };
    let mut rows: Vec<Row> = own.into_iter().chain(kinds).map(row).collect();
    rows.sort_by_key(|row| row.number);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_commands_has_every_code() {
        let page = include_str!("../../../docs/cli.md");
        for row in table() {
            let begin = format!("| {} | `{}` |", row.number, row.name);
            let line = page.lines().find(|line| line.starts_with(&begin));
            let line = line.unwrap_or_else(|| panic!("no line for {begin}"));
            assert!(line.contains(row.meaning.trim_end_matches('.')), "{line}");
        }
    }

    #[test]
    fn no_number_and_no_name_has_two_meanings() {
        let rows = table();
        assert_eq!(rows.len(), ErrorKind::ALL.len() + 5);
        assert!(rows.windows(2).all(|pair| pair[0].number < pair[1].number));
        let mut names: Vec<_> = rows.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows.len());
    }
}
