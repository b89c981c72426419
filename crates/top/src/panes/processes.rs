//! Processes that are connected, or silent and alive.

use super::{Column, Thing, Value, user};

/// Those that hold most first.
pub const BY_SIZE: usize = 3;

pub const COLUMNS: &[Column] = &[
    Column::text("PROGRAM", 16, 9, |thing, _| match thing {
        Thing::Process(process) => Value::text(&process.program),
        _ => Value::None,
    }),
    Column::number("PID", 8, 8, |thing, _| match thing {
        Thing::Process(process) => Value::pid(process.pid),
        _ => Value::None,
    }),
    Column::text("OWNER", 10, 5, |thing, overview| match thing {
        Thing::Process(process) => user(overview, process.user),
        _ => Value::None,
    }),
    Column::number("HOLDS", 10, 8, |thing, _| match thing {
        Thing::Process(process) => Value::Bytes(process.held_bytes),
        _ => Value::None,
    }),
    Column::number("LEASES", 6, 7, |thing, _| match thing {
        Thing::Process(process) => {
            Value::Count(u64::try_from(process.lease_count).unwrap_or(u64::MAX))
        }
        _ => Value::None,
    }),
    Column::text("STATE", 9, 6, |thing, _| match thing {
        Thing::Process(process) => Value::text(process.state()),
        _ => Value::None,
    }),
    Column::number("AGE", 5, 3, |thing, _| match thing {
        Thing::Process(process) => Value::Since(process.since_unix_ms),
        _ => Value::None,
    }),
    Column::text("NAMES", 24, 2, |thing, _| match thing {
        Thing::Process(process) => Value::owned(process.holds.join(" ")),
        _ => Value::None,
    }),
];
