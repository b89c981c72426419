//! The document about the metrics is the table.

use super::table::{self, Metric};

const PAGE: &str = include_str!("../../../../docs/metrics.md");

/// Set to write the table into the document instead of comparing the two.
const WRITE: &str = "MILLPOND_WRITE_DOCS";

fn row(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
    format!(
        "| `{}` | {} | {} | {} |",
        metric.sample_name(),
        metric.kind.word(),
        labels.join(", "),
        metric.help
    )
}

#[test]
fn the_document_has_the_table() {
    let (before, rest) = PAGE.split_once("| --- | --- | --- | --- |\n").unwrap();
    let rows: String = table::all().iter().map(|metric| row(metric) + "\n").collect();
    let after = rest.split_once("\n\n").unwrap().1;
    let written = format!("{before}| --- | --- | --- | --- |\n{rows}\n{after}");
    if std::env::var_os(WRITE).is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
        std::fs::write(path, written).unwrap();
    } else {
        assert_eq!(PAGE, written, "`{WRITE}=1 cargo test -p millpond-web` writes it");
    }
}

/// Every name that documents, rules and dashboards mention.
fn mentioned(text: &str) -> Vec<String> {
    let is_of_a_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let starts = text.match_indices("millpond_").map(|(at, _)| at);
    let whole = starts.filter(|at| !text[..*at].ends_with(is_of_a_name));
    whole.map(|at| text[at..].chars().take_while(|it| is_of_a_name(*it)).collect()).collect()
}

#[test]
fn every_metric_that_is_mentioned_is_there() {
    let mut names: Vec<String> = table::all().iter().map(Metric::sample_name).collect();
    for metric in table::all().iter().filter(|metric| metric.kind == table::Kind::Histogram) {
        let name = metric.sample_name();
        names.extend(["_bucket", "_sum", "_count"].map(|part| format!("{name}{part}")));
    }
    let texts = [
        PAGE,
        include_str!("../../../../docs/see.md"),
        include_str!("../../../../deploy/prometheus/millpond.rules.yml"),
        include_str!("../../../../deploy/grafana/dashboards/millpond.json"),
    ];
    let mut seen = 0;
    for name in texts.into_iter().flat_map(mentioned) {
        seen += 1;
        assert!(names.contains(&name), "{name}");
    }
    assert!(seen > names.len(), "texts were read");
}
