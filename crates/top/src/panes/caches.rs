//! Elastic caches.

use super::{Column, Thing, Value, gpu};

/// The fullest first.
pub const BY_USE: usize = 1;

pub const COLUMNS: &[Column] = &[
    Column::text("CACHE", 16, 9, |thing, _| match thing {
        Thing::Cache(cache) => Value::text(cache.name.as_str()),
        _ => Value::None,
    }),
    Column::number("HELD OF RESERVED", 32, 9, |thing, _| match thing {
        Thing::Cache(cache) => {
            Value::Bar { used: cache.held_bytes, limit: Some(cache.reserved_bytes) }
        }
        _ => Value::None,
    }),
    Column::number("IDLE", 10, 7, |thing, _| match thing {
        Thing::Cache(cache) => Value::Bytes(cache.idle_bytes),
        _ => Value::None,
    }),
    Column::number("WANTED", 10, 6, |thing, _| match thing {
        Thing::Cache(cache) => Value::Bytes(cache.wanted_bytes),
        _ => Value::None,
    }),
    Column::number("ASKED", 10, 5, |thing, _| match thing {
        Thing::Cache(cache) => Value::Bytes(cache.asked_bytes),
        _ => Value::None,
    }),
    Column::number("GIVEN", 10, 2, |thing, _| match thing {
        Thing::Cache(cache) => Value::Bytes(cache.given_bytes),
        _ => Value::None,
    }),
    Column::number("GOT", 10, 1, |thing, _| match thing {
        Thing::Cache(cache) => Value::Bytes(cache.got_bytes),
        _ => Value::None,
    }),
    Column::text("GROUP", 12, 8, |thing, _| match thing {
        Thing::Cache(cache) => Value::text(cache.group.as_str()),
        _ => Value::None,
    }),
    Column::number("PID", 7, 4, |thing, _| match thing {
        Thing::Cache(cache) => Value::pid(cache.pid),
        _ => Value::None,
    }),
    Column::number("GPU", 3, 3, |thing, overview| match thing {
        Thing::Cache(cache) => gpu(overview, &cache.device.to_string()),
        _ => Value::None,
    }),
];
