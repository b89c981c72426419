//! Results as a file, as a table on a terminal, and as a table of a page.

use crate::cell::{Place, Row};
use crate::error::TraceError;
use crate::outcome::Sample;
use crate::way::Way;
use millpond_console::table::{Side, Table};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// What was played, and what came of it. The same form for simulations and replays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// `simulation`, or `replay` with real memory.
    pub kind: Kind,
    /// The card: a modelled one, or a name.
    pub device: String,
    /// The first seed; none where a trace was read.
    pub seed: Option<u64>,
    /// How many seeds.
    pub seeds: u64,
    /// Length of each trace.
    pub seconds: u64,
    /// Who has no block after so long is refused.
    pub patience_us: u64,
    /// One for each number of models, load, pattern and way.
    pub rows: Vec<Row>,
    /// Memory over time; of replays only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
}

/// Where times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A clock that nobody waits for.
    Simulation,
    /// The clock on the wall, and real memory.
    Replay,
}

/// Memory over time, of one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// How memory was divided.
    pub way: Way,
    /// What all models may have together.
    pub limit_bytes: u64,
    /// Names, in the order of the numbers below.
    pub models: Vec<String>,
    /// When, and what each model holds and uses from then on.
    pub samples: Vec<Moment>,
}

/// One moment of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Since the beginning.
    pub at_ms: u64,
    /// What only this model can have.
    pub held_bytes: Vec<u64>,
    /// What of it is under blocks.
    pub used_bytes: Vec<u64>,
}

/// More moments than a picture has columns say nothing more.
const MOST_MOMENTS: u64 = 600;

impl Timeline {
    /// The last sample of each of at most some hundred equal parts of the time.
    #[must_use]
    pub fn new(way: Way, limit_bytes: u64, models: Vec<String>, samples: &[Sample]) -> Self {
        let millis = |sample: &Sample| u64::try_from(sample.at.as_millis()).unwrap_or(u64::MAX);
        let step = (samples.last().map_or(0, millis) / MOST_MOMENTS).max(1);
        let mut thin: Vec<Moment> = Vec::new();
        for sample in samples {
            let at_ms = millis(sample) / step * step;
            let (held_bytes, used_bytes) = (sample.held_bytes.clone(), sample.used_bytes.clone());
            if thin.last().is_some_and(|last| last.at_ms == at_ms) {
                thin.pop();
            }
            thin.push(Moment { at_ms, held_bytes, used_bytes });
        }
        Self { way, limit_bytes, models, samples: thin }
    }
}

impl Report {
    /// The text of the file: one line for each row.
    ///
    /// # Errors
    /// Never, for what this program makes.
    pub fn json(&self) -> Result<String, TraceError> {
        let head = Self { rows: Vec::new(), timelines: Vec::new(), ..self.clone() };
        let head = line(&head)?;
        // All but the empty list at its end.
        let mut text = format!("{}\n\"rows\":[\n", head.trim_end_matches(r#""rows":[]}"#));
        let rows: Vec<String> = self.rows.iter().map(line).collect::<Result<_, _>>()?;
        text.push_str(&rows.join(",\n"));
        if !self.timelines.is_empty() {
            text.push_str("\n],\n\"timelines\":[\n");
            let lines: Vec<String> = self.timelines.iter().map(line).collect::<Result<_, _>>()?;
            text.push_str(&lines.join(",\n"));
        }
        text.push_str("\n]}\n");
        Ok(text)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), TraceError> {
        Ok(std::fs::write(file, self.json()?)?)
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// It is no such text.
    pub fn read(text: &str) -> Result<Self, TraceError> {
        Ok(serde_json::from_str(text).map_err(std::io::Error::from)?)
    }

    /// The row of a place and a way.
    #[must_use]
    pub fn row(&self, place: Place, way: Way) -> Option<&Row> {
        self.rows.iter().find(|row| row.place == place && row.way == way)
    }

    /// Places in the order of their rows.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for row in &self.rows {
            if !places.contains(&row.place) {
                places.push(row.place);
            }
        }
        places
    }

    /// For a terminal.
    #[must_use]
    pub fn table(&self) -> Table {
        let right = |name| (name, Side::Right);
        let mut table = Table::new(&[
            right("MODELS"),
            right("LOAD"),
            ("ARRIVALS", Side::Left),
            ("WAY", Side::Left),
            right("REQUESTS"),
            right("REFUSED"),
            right("PREEMPTED"),
            right("FIRST BLOCK"),
            right("P99"),
            right("FIRST TOKEN"),
            right("P99"),
            right("USED"),
            right("PEAK"),
        ]);
        for row in &self.rows {
            let time = |micros| millpond_view::units::time(Duration::from_micros(micros));
            table.row(vec![
                row.place.models.to_string(),
                format!("{} %", row.place.load_percent),
                format!("{:?}", row.place.pattern).to_lowercase(),
                row.way.title().to_owned(),
                row.requests.to_string(),
                row.refused.to_string(),
                row.preemptions.to_string(),
                time(row.first_block_us.mean),
                time(row.first_block_us.p99),
                time(row.first_token_us.mean),
                time(row.first_token_us.p99),
                percent(row.used_permille.mean),
                percent(row.used_permille.peak),
            ]);
        }
        table
    }

    /// For a page: what a first token waits for on average, and who was refused.
    #[must_use]
    pub fn markdown(&self) -> String {
        let ways =
            [Way::StaticEqual, Way::StaticByLoad, Way::Elastic, Way::ElasticFine, Way::Oracle];
        let mut text = String::from("| models, load |");
        ways.iter().for_each(|way| text.push_str(&format!(" {} |", way.title())));
        text.push_str(" static over elastic |\n|");
        text.push_str(&" --- |".repeat(ways.len() + 2));
        text.push('\n');
        for place in self.places() {
            // Writing to a string cannot fail.
            let _ = write!(text, "| {} |", title(place));
            for way in ways {
                let cell = self.row(place, way).map_or_else(|| "-".to_owned(), cell);
                let _ = write!(text, " {cell} |");
            }
            let _ = writeln!(text, " {} |", self.gain(place).unwrap_or_default());
        }
        text
    }

    /// How many times as long the first token takes with each static split.
    fn gain(&self, place: Place) -> Option<String> {
        let elastic = self.row(place, Way::Elastic)?.first_token_us.mean.max(1);
        let over = |way| {
            let mean = self.row(place, way)?.first_token_us.mean;
            Some(times((mean * 100 + elastic / 2) / elastic))
        };
        Some(format!("{}, {}", over(Way::StaticEqual)?, over(Way::StaticByLoad)?))
    }
}

/// `4, 50 %`, and what is unusual about it.
fn title(place: Place) -> String {
    let steady = match place.pattern {
        crate::arrivals::Pattern::Bursty => "",
        crate::arrivals::Pattern::Steady => ", all busy",
    };
    format!("{}, {} %{steady}", place.models, place.load_percent)
}

fn cell(row: &Row) -> String {
    let micros = row.first_token_us.mean;
    let time = match micros {
        0..1_000_000 => format!("{} ms", (micros + 500) / 1000),
        _ => format!("{} s", tenths((micros + 50_000) / 100_000)),
    };
    match row.refused {
        0 => time,
        refused => {
            // The next tenth of a percent: what is not nothing is not shown as nothing.
            let permille = (refused * 1000).div_ceil(row.requests.max(1));
            format!("{time}, {} refused", percent(permille))
        }
    }
}

/// Hundredths as a factor; large ones are whole numbers.
fn times(hundredths: u64) -> String {
    match hundredths {
        0..1000 => format!("{}.{:02}x", hundredths / 100, hundredths % 100),
        _ => format!("{}x", (hundredths + 50) / 100),
    }
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Thousandths as percent.
fn percent(permille: u64) -> String {
    format!("{} %", tenths(permille))
}

/// One line of JSON.
fn line(value: &impl Serialize) -> Result<String, TraceError> {
    Ok(serde_json::to_string(value).map_err(std::io::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Pattern, Plan};
    use crate::sweep::of_plan;

    #[test]
    fn what_is_written_is_read_again() {
        let cells = of_plan(&Plan { seconds: 10, ..Plan::new(2, 50, 1) }).unwrap();
        let sample = |ms| Sample {
            at: Duration::from_millis(ms),
            used_bytes: vec![ms, 1],
            held_bytes: vec![ms, 2],
        };
        let samples: Vec<Sample> = (0..5000).map(sample).collect();
        let names = vec!["a".to_owned(), "b".to_owned()];
        let timeline = Timeline::new(Way::Elastic, 7, names, &samples);
        assert!(timeline.samples.len() <= 700 && timeline.samples.len() > 500);
        assert_eq!(timeline.samples.last().unwrap().used_bytes, [4999, 1]);
        let mut report = Report {
            kind: Kind::Simulation,
            device: "a \"card\"".to_owned(),
            seed: Some(1),
            seeds: 1,
            seconds: 10,
            patience_us: 10_000_000,
            rows: Row::of(&cells),
            timelines: Vec::new(),
        };
        assert_eq!(Report::read(&report.json().unwrap()).unwrap(), report);
        report.timelines.push(timeline);
        assert_eq!(Report::read(&report.json().unwrap()).unwrap(), report);
        assert_eq!(report.rows.len(), Way::ALL.len());
        let text = report.markdown();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().nth(2).unwrap().starts_with("| 2, 50 % | "), "{text}");
    }

    #[test]
    fn numbers_for_people() {
        let place = Place { models: 8, load_percent: 75, pattern: Pattern::Steady };
        assert_eq!(title(place), "8, 75 %, all busy");
        assert_eq!((times(7).as_str(), times(2549).as_str()), ("0.07x", "25x"));
        assert_eq!((percent(5), percent(1000)), ("0.5 %".to_owned(), "100.0 %".to_owned()));
    }
}
