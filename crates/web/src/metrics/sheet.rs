//! Samples of one scrape, and the text they become.

use std::fmt;
use std::fmt::Write as _;

use millpond_wire::characters;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeMetric, LabelSetEncoder, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit as Written};

use super::table::{Kind, Metric, PREFIX, Unit};

/// What a sample says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Count(u64),
    Signed(i64),
    Float(f64),
    /// Sum, and how many lie up to each bound but above the one before.
    Spread { sum: f64, classes: Vec<(f64, u64)> },
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Count(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

impl From<bool> for Value {
    fn from(is_so: bool) -> Self {
        Self::Count(is_so.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Signed(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

#[derive(Clone, Debug)]
struct Sample {
    labels: Vec<String>,
    value: Value,
}

#[derive(Clone, Debug)]
struct Family {
    metric: Metric,
    samples: Vec<Sample>,
}

/// Samples, by metric, in the order in which metrics were first given.
#[derive(Clone, Debug, Default)]
pub struct Sheet(Vec<Family>);

impl Sheet {
    /// Adds a sample, with the values of the metric's labels in their order.
    pub fn add(&mut self, metric: Metric, labels: &[&str], value: impl Into<Value>) {
        debug_assert_eq!(labels.len(), metric.labels.len(), "{metric:?}");
        let labels = labels.iter().map(|label| characters::shown(label).into_owned()).collect();
        let sample = Sample { labels, value: value.into() };
        match self.0.iter_mut().find(|family| family.metric.name == metric.name) {
            Some(family) => family.samples.push(sample),
            None => self.0.push(Family { metric, samples: vec![sample] }),
        }
    }

    /// Adds a sample where there is one.
    pub fn add_some(&mut self, metric: Metric, labels: &[&str], value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(metric, labels, value);
        }
    }

    /// As OpenMetrics text.
    pub fn open_metrics(self) -> Result<String, fmt::Error> {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        encode_registry(&mut text, &registry)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// The text for readers of the older format: there a counter's family has the name of its samples, as an
/// info's has, and units and the end are comments that nobody asks for.
pub fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if line.starts_with("# HELP ") {
            help = line;
        } else if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').unwrap_or((family, ""));
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                other => ("", other),
            };
            let words = help.strip_prefix("# HELP ").and_then(|help| help.strip_prefix(name));
            let _ = writeln!(text, "# HELP {name}{suffix}{}", words.unwrap_or_default());
            let _ = writeln!(text, "# TYPE {name}{suffix} {kind}");
        } else if !line.starts_with('#') {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

impl Collector for Sheet {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in &self.0 {
            let unit = unit(family.metric.unit);
            let bare = match &unit {
                None => family.metric.name,
                Some(unit) => {
                    let name = family.metric.name.strip_suffix(unit.as_str());
                    name.and_then(|name| name.strip_suffix('_')).ok_or(fmt::Error)?
                }
            };
            let name = format!("{PREFIX}_{bare}");
            let kind = family.metric_type();
            let mut into =
                encoder.encode_descriptor(&name, family.metric.help, unit.as_ref(), kind)?;
            family.write(&mut into)?;
        }
        Ok(())
    }
}

fn unit(unit: Unit) -> Option<Written> {
    match unit {
        Unit::None => None,
        Unit::Bytes => Some(Written::Bytes),
        Unit::Seconds => Some(Written::Seconds),
        Unit::Celsius => Some(Written::Celsius),
        Unit::Ratio | Unit::Watts => Some(Written::Other(unit.word().to_owned())),
    }
}

impl Family {
    fn metric_type(&self) -> MetricType {
        match self.metric.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
            Kind::Info => MetricType::Info,
        }
    }

    fn write(&self, encoder: &mut MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for sample in &self.samples {
            let labels = Labels { names: self.metric.labels, values: &sample.labels };
            if self.metric.kind == Kind::Info {
                encoder.encode_info(&labels)?;
            } else if labels.names.is_empty() {
                sample.write(self.metric.kind, encoder)?;
            } else {
                sample.write(self.metric.kind, &mut encoder.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

impl Sample {
    fn write(&self, kind: Kind, encoder: &mut MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let is_counter = kind == Kind::Counter;
        match &self.value {
            Value::Count(count) if is_counter => {
                encoder.encode_counter::<NoLabelSet, _, u64>(count, None)
            }
            Value::Float(number) if is_counter => {
                encoder.encode_counter::<NoLabelSet, _, u64>(number, None)
            }
            Value::Count(count) => encoder.encode_gauge(count),
            Value::Signed(number) => encoder.encode_gauge(number),
            Value::Float(number) => encoder.encode_gauge(number),
            Value::Spread { sum, classes } => {
                let count = classes.iter().map(|(_, count)| count).sum();
                encoder.encode_histogram::<NoLabelSet>(*sum, count, classes, None)
            }
        }
    }
}

#[derive(Debug)]
struct Labels<'a> {
    names: &'static [&'static str],
    values: &'a [String],
}

impl EncodeLabelSet for Labels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, value) in self.names.iter().zip(self.values) {
            use prometheus_client::encoding::EncodeLabel;
            (*name, value.as_str()).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add(table::UP, &[], true);
        sheet.add(table::POND, &["p", "1", "d\"\\\n\u{202e}", "true"], true);
        sheet.add(table::REQUESTS, &["ping", "answered"], 3_u64);
        sheet.add(table::DRIFT, &["GPU-1"], -5_i64);
        let classes = vec![(0.1, 2), (1.0, 0), (f64::INFINITY, 1)];
        sheet.add(table::REQUEST_SECONDS, &["ping"], Value::Spread { sum: 2.5, classes });
        sheet.add_some(table::FAN, &["GPU-1"], None::<f64>);
        sheet
    }

    #[test]
    fn samples_are_written_as_openmetrics() {
        let text = sheet().open_metrics().unwrap();
        for line in [
            "# TYPE millpond_up gauge\nmillpond_up 1\n",
            "# TYPE millpond_pond info\n\
             millpond_pond_info{pond=\"p\",version=\"1\",driver=\"d\\\"\\\\\\\\n\\\\u{202e}\",software=\"true\"} 1\n",
            "# TYPE millpond_requests counter\n\
             millpond_requests_total{kind=\"ping\",result=\"answered\"} 3\n",
            "# UNIT millpond_gpu_drift_bytes bytes\nmillpond_gpu_drift_bytes{gpu=\"GPU-1\"} -5\n",
            "millpond_request_duration_seconds_bucket{le=\"1.0\",kind=\"ping\"} 2\n",
            "millpond_request_duration_seconds_bucket{le=\"+Inf\",kind=\"ping\"} 3\n",
            "millpond_request_duration_seconds_count{kind=\"ping\"} 3\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n") && !text.contains("fan"), "{text}");
    }

    #[test]
    fn the_older_format_has_the_names_of_samples() {
        let text = classic(&sheet().open_metrics().unwrap());
        assert!(text.contains("# TYPE millpond_requests_total counter\nmillpond_requests_total{"));
        assert!(text.contains("# TYPE millpond_pond_info gauge\nmillpond_pond_info{"));
        assert!(text.contains("# HELP millpond_up Whether the pond answers (1) or not (0).\n"));
        assert!(!text.contains("UNIT") && !text.contains("EOF"));
    }
}
