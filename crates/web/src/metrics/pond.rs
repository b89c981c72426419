//! The pond and what its daemon has counted.

use millpond_view::{Counters, Status};
use millpond_wire::message::Counts;

use super::sheet::{Sheet, Value};
use super::table;

pub fn add(sheet: &mut Sheet, status: &Status) {
    let software = if status.software { "true" } else { "false" };
    let pond = status.pond.to_string();
    sheet.add(table::POND, &[&pond, &status.version, &status.driver, software], true);
    sheet.add(table::EPOCH, &[], status.epoch);
    sheet.add(table::STARTED, &[], seconds(status.started_unix_ms));
    sheet.add(table::RESIDENT, &[], status.daemon_resident_bytes);
    sheet.add(table::JOURNAL, &[], status.journal_bytes);
    let connected = status.clients.saturating_sub(status.silent_clients);
    sheet.add(table::CLIENTS, &["connected"], connected);
    sheet.add(table::CLIENTS, &["silent"], status.silent_clients);
    sheet.add(table::LEASES, &[], status.leases);
    sheet.add(table::LOST, &[], status.lost_tensors);
    counters(sheet, &status.counters);
}

fn counters(sheet: &mut Sheet, counters: &Counters) {
    for request in &counters.requests {
        sheet.add(table::REQUESTS, &[&request.kind, "answered"], request.answered);
        sheet.add(table::REQUESTS, &[&request.kind, "refused"], request.refused);
    }
    for request in &counters.requests {
        let bounds = counters.lengths_seconds.iter().copied().chain([f64::INFINITY]);
        let classes = bounds.zip(request.by_length.iter().copied()).collect();
        let spread = Value::Spread { sum: request.seconds, classes };
        sheet.add(table::REQUEST_SECONDS, &[&request.kind], spread);
    }
    for refusal in &counters.refusals {
        sheet.add(table::REFUSALS, &[refusal.kind], refusal.count);
    }
    for counter in Counts::ALL {
        sheet.add_some(table::of_counter(counter), &[], value(counters, counter.name));
    }
}

/// Looks up counters by their names, which the table of the wire has.
macro_rules! value_of {
    (
        $counters:ident $name:ident
        numbers { $($number:ident $number_doc:literal;)* }
        bytes { $($bytes:ident $bytes_doc:literal;)* }
        seconds { $($shown:ident from $time:ident $time_doc:literal;)* }
    ) => {
        match $name {
            $(stringify!($number) => Some(Value::from($counters.$number)),)*
            $(stringify!($bytes) => Some(Value::from($counters.$bytes)),)*
            $(stringify!($shown) => Some(Value::from($counters.$shown)),)*
            _ => None,
        }
    };
}

fn value(counters: &Counters, name: &str) -> Option<Value> {
    millpond_wire::counters!(value_of counters name)
}

/// A moment, as exporters have it.
#[expect(clippy::cast_precision_loss, reason = "2^53 milliseconds end in the year 287,000")]
pub fn seconds(unix_ms: u64) -> f64 {
    unix_ms as f64 / 1e3
}
