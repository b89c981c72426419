//! `millpond bench`: every number beside its limit, measured in the same run.

use regex_automata::dfa::{dense, regex::Regex};
use regex_automata::util::syntax;

use crate::ground::Bench;
use crate::json::{BenchJson, RowJson};
use crate::picture;
use crate::programs;
use crate::rows::{Run, SUBJECTS, Subject};
use millpond_console::args::Global;
use millpond_console::companions::BenchArgs;
use millpond_console::error::{CommandError, Outcome, Report, failed};
use millpond_console::exit::Code;
use millpond_console::printer::{Printer, Tone};
use millpond_console::table::{Side, Table};

/// Measures, draws and prints.
pub fn run(args: &BenchArgs, global: &Global, printer: &Printer) -> Outcome {
    let wanted = Wanted::new(args.only.as_deref())?;
    if wanted.subjects(args.pond).next().is_none() {
        let names: Vec<&str> = SUBJECTS.iter().flat_map(|subject| subject.names).copied().collect();
        let message = format!("no such benchmark; there are {}", names.join(", "));
        return Err(Report::new(Code::Usage, message)
            .hint("`millpond bench --help` explains `--only`")
            .into());
    }
    let mut bench = if args.pond {
        Bench::on(millpond_console::connect(global)?, args.quick)?
    } else {
        Bench::on_its_own(programs::core()?, args.quick)?
    };
    printer.note("measuring; nothing else should run on this machine meanwhile");
    let mut rows = Vec::new();
    for subject in wanted.subjects(args.pond) {
        if let Run::Pond(measure) = subject.run {
            printer.note(format_args!("  {}", subject.group()));
            rows.extend(measure(&mut bench)?);
        }
    }
    let ground = bench.end()?;
    for subject in wanted.subjects(args.pond) {
        if let Run::Own(measure) = subject.run {
            printer.note(format_args!("  {}", subject.group()));
            rows.extend(measure(&ground)?);
        }
    }
    rows.retain(|row| wanted.has(row.name));
    let result = BenchJson {
        driver: ground.card.driver,
        software_driver: ground.card.soft,
        device: ground.card.device,
        device_name: ground.card.name,
        quick: args.quick,
        met: rows.iter().all(|row| row.met != Some(false)),
        rows,
    };
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::draw(&result))
            .map_err(|error| failed(format!("writing '{}'", file.display()), error))?;
    }
    if printer.is_json() {
        return printer.json(&result);
    }
    print(&result, printer)
}

/// Memory for a regular expression: a DFA of a hostile one would take all there is.
const EXPRESSION_BYTES: usize = 16 << 20;

/// Which rows are wanted.
struct Wanted(Option<Regex>);

impl Wanted {
    fn new(only: Option<&str>) -> Result<Self, CommandError> {
        let expression = only.map(expression).transpose().map_err(|error| {
            let message = format!("--only is not a regular expression: {}", cause(&error));
            Report::new(Code::Usage, message).hint("millpond bench --only 'attach/.*'")
        })?;
        Ok(Self(expression))
    }

    fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|wanted| wanted.is_match(name))
    }

    /// The subjects with such rows; in a pond that is there nothing is killed.
    fn subjects(&self, pond: bool) -> impl Iterator<Item = &'static Subject> {
        SUBJECTS.iter().filter(move |subject| {
            let possible = !pond || matches!(subject.run, Run::Pond(_));
            possible && subject.names.iter().any(|name| self.has(name))
        })
    }
}

/// Names of rows are ASCII; a DFA knows no other boundaries of words.
fn expression(text: &str) -> Result<Regex, dense::BuildError> {
    let size = Some(EXPRESSION_BYTES);
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .dense(dense::Config::new().dfa_size_limit(size).determinize_size_limit(size))
        .build(text)
}

/// The innermost cause: the outer errors name stages of the build.
fn cause(mut error: &dyn std::error::Error) -> String {
    while let Some(inner) = error.source() {
        error = inner;
    }
    // A drawing of the place comes first.
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

fn print(result: &BenchJson, printer: &Printer) -> Outcome {
    printer.line(format_args!("{}, {}\n", result.device_name, result.driver))?;
    printer.line(table(&result.rows).render())?;
    if !result.met {
        printer.note(printer.paint(Tone::Careful, "\nsome goals are missed"));
    }
    Ok(())
}

fn table(rows: &[RowJson]) -> Table {
    let left = |name| (name, Side::Left);
    let right = |name| (name, Side::Right);
    let mut table = Table::new(&[
        left("NAME"),
        left("WHAT"),
        right("MEDIAN"),
        right("P90"),
        right("P99"),
        right("FLOOR"),
        right("RATIO"),
        left("GOAL"),
        left("MET"),
    ])
    .no_trunc(true);
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for row in rows {
        let show = |value| row.unit.show(value);
        table.row(vec![
            row.name.to_owned(),
            row.what.clone(),
            show(row.median),
            dash(row.p90.map(show)),
            dash(row.p99.map(show)),
            dash(row.floor.map(show)),
            dash(row.ratio.map(show_ratio)),
            dash(row.goal.clone()),
            dash(row.met.map(|met| if met { "yes" } else { "no" }.to_owned())),
        ]);
    }
    table
}

/// A small part keeps its digits.
fn show_ratio(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.5}") } else { format!("{ratio:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Unit;
    use crate::row::Goal;

    #[test]
    fn rows_are_wanted_by_a_regular_expression() {
        let wanted = Wanted::new(Some("^attach/|ping$")).unwrap();
        assert!(wanted.has("attach/2m") && wanted.has("request/ping"));
        assert!(!wanted.has("request/publish"));
        let groups: Vec<&str> = wanted.subjects(false).map(Subject::group).collect();
        assert_eq!(groups, ["request", "attach"]);
        assert!(Wanted::new(Some("(")).is_err());
        let everything = Wanted::new(None).unwrap();
        assert_eq!(everything.subjects(false).count(), SUBJECTS.len());
        assert!(everything.subjects(true).all(|subject| subject.group() != "recovery"));
    }

    #[test]
    fn what_is_not_judged_has_a_dash() {
        let row = |goal| {
            RowJson::value("list/many", "a listing", Unit::Microseconds, 500.0)
                .beside_value("a read", 250.0)
                .goal(goal, true)
        };
        let value = Some(400.0);
        let text = table(&[
            row(Goal::default()),
            row(Goal { value, ..Goal::default() }),
            row(Goal { value, gpu_only: true, ..Goal::default() }),
        ])
        .render();
        let ends: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert_eq!(
            ends[0],
            ["NAME", "WHAT", "MEDIAN", "P90", "P99", "FLOOR", "RATIO", "GOAL", "MET"]
        );
        assert_eq!(ends[1][2..], ["500 us", "-", "-", "250 us", "2.00", "-", "-"]);
        assert_eq!(ends[2][7..], ["under 400 us", "no"]);
        assert_eq!(ends[3][7..], ["under 400 us", "-"]);
    }
}
