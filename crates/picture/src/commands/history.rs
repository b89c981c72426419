//! `millpond history`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use millpond_console::args::Global;
use millpond_console::companions::HistoryArgs;
use millpond_console::error::{CommandError, Outcome, Report, failed, wrong};
use millpond_console::exit::Code;
use millpond_console::printer::Printer;
use millpond_console::table::{Side, Table};
use millpond_overview::Series;
use millpond_view::units;
use millpond_wire::ErrorKind;
use serde_json::Value;

use super::http::{Answer, HttpError, Server, quoted};
use super::output;
use crate::history;

/// Points of a picture: one for two pixels, or the file is large and shows no more.
const POINTS: u32 = 400;
/// A file of tokens is a few lines.
const TOKEN_FILE_BYTES: u64 = 64 << 10;

pub(super) fn run(args: &HistoryArgs, _: &Global, printer: &Printer) -> Outcome {
    let server = Server::of_url(&args.url).map_err(|error| refused(&error, args))?;
    let token = args.token_file.as_deref().map(token).transpose()?;
    let since = args.since.0.as_secs().max(1);
    let mut path = format!("/api/v1/history?since_s={since}&most={POINTS}");
    if let Some(gpu) = &args.gpu {
        path.push_str(&format!("&device={}", quoted(gpu)));
    }
    let answer = server.get(&path, token.as_deref()).map_err(|error| refused(&error, args))?;
    let series = series(&answer, args)?;
    if printer.is_json() {
        return printer.json(&series);
    }
    match &args.output {
        Some(file) => output::write(file, &history(&series), printer),
        None => show(&series, printer),
    }
}

/// A table of who had how much: at the end, and at most.
fn show(series: &Series, printer: &Printer) -> Outcome {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else {
        printer.note("there is no sample of this time");
        return Ok(());
    };
    let long = units::long(last.monotonic_ms.saturating_sub(first.monotonic_ms));
    let count = units::count(u64::try_from(series.points.len()).unwrap_or(u64::MAX), "sample");
    printer.line(format_args!("GPU {}  {}  {long}, {count}", series.index, series.name))?;
    let mut table = Table::new(&[
        ("HOLDER", Side::Left),
        ("KIND", Side::Left),
        ("NOW", Side::Right),
        ("LEAST", Side::Right),
        ("MOST", Side::Right),
        ("LIMIT", Side::Right),
    ])
    .dispensable(&["KIND", "LEAST"]);
    for (place, one) in series.holders.iter().enumerate() {
        let bytes = || series.points.iter().filter_map(|point| point.bytes.get(place).copied());
        table.row(vec![
            one.holder.label.clone(),
            one.holder.kind.map_or("-", |kind| kind.title()).to_owned(),
            units::bytes(bytes().next_back().unwrap_or(0)),
            units::bytes(bytes().min().unwrap_or(0)),
            units::bytes(bytes().max().unwrap_or(0)),
            one.limit_bytes.map_or("-".to_owned(), units::bytes),
        ]);
    }
    printer.table(&table)
}

fn series(answer: &Answer, args: &HistoryArgs) -> Result<Series, CommandError> {
    let wrong_answer = || {
        let url = &args.url;
        wrong(format!("'{url}' does not answer as a `millpond web` does: no history was read"))
    };
    if answer.status == 200 {
        return serde_json::from_slice(&answer.body).map_err(|_| wrong_answer());
    }
    let body: Value = serde_json::from_slice(&answer.body).map_err(|_| wrong_answer())?;
    let said = |field: &str| body["error"][field].as_str();
    let message = said("message").ok_or_else(wrong_answer)?;
    let kind = said("kind").and_then(|kind| ErrorKind::ALL.iter().find(|it| it.name() == kind));
    let report = Report::new(kind.map_or(Code::Failed, |kind| Code::Kind(*kind)), message);
    let hint = match (answer.status, said("hint")) {
        (401 | 403, _) if args.token_file.is_none() => {
            Some("`--token-file FILE` names a file with a token of that `millpond web`")
        }
        (_, hint) => hint,
    };
    Err(match hint {
        Some(hint) => report.hint(hint),
        None => report,
    }
    .into())
}

fn refused(error: &HttpError, args: &HistoryArgs) -> CommandError {
    match error {
        HttpError::Url { .. } => Report::new(Code::Usage, error.to_string())
            .hint("an address such as `http://127.0.0.1:7711`")
            .into(),
        HttpError::Connection { .. } => Report::new(Code::Failed, error.to_string())
            .hint(format!("`millpond web` keeps the history; is it what listens at {}?", args.url))
            .into(),
        HttpError::Answer { .. } => Report::new(Code::Failed, error.to_string()).into(),
    }
}

/// The first token of a file of tokens.
fn token(file: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    File::open(file)
        .and_then(|found| found.take(TOKEN_FILE_BYTES).read_to_string(&mut text))
        .map_err(|error| failed(format!("reading '{}'", file.display()), error))?;
    let mut lines = text.lines().map(str::trim);
    let token = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let is_token = |token: &&str| token.bytes().all(|byte| byte.is_ascii_graphic());
    token
        .filter(is_token)
        .map(str::to_owned)
        .ok_or_else(|| wrong(format!("'{}' has no token", file.display())))
}
