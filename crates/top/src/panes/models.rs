//! Models: one row for each version.

use millpond_view::Version;

use super::{Column, Thing, Value, gpu, user};

/// From A on, the versions of a model in the order in which they were begun.
pub const BY_NAME: usize = 0;

pub const COLUMNS: &[Column] = &[
    Column::text("MODEL", 18, 9, |thing, _| match thing {
        Thing::Version(model, _) => Value::text(model.name.as_str()),
        _ => Value::None,
    }),
    Column::text("VERSION", 12, 9, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::owned(version.version.to_string()),
        _ => Value::None,
    }),
    Column::text("STATE", 9, 8, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::text(state(version)),
        _ => Value::None,
    }),
    Column::number("READERS", 7, 7, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::Count(u64::from(version.readers)),
        _ => Value::None,
    }),
    Column::number("SIZE", 10, 6, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::Bytes(version.slab_bytes),
        _ => Value::None,
    }),
    Column::number("SHARED", 10, 2, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::Bytes(version.shared_bytes),
        _ => Value::None,
    }),
    Column::number("TENSORS", 7, 3, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::Count(u64::from(version.tensor_count)),
        _ => Value::None,
    }),
    Column::number("GPU", 3, 4, |thing, overview| match thing {
        Thing::Version(_, Some(version)) => gpu(overview, &version.device.to_string()),
        _ => Value::None,
    }),
    Column::text("OWNER", 10, 5, |thing, overview| match thing {
        Thing::Version(model, _) => user(overview, model.user),
        _ => Value::None,
    }),
    Column::number("AGE", 5, 1, |thing, _| match thing {
        Thing::Version(_, Some(version)) => Value::Since(version.created_unix_ms),
        _ => Value::None,
    }),
];

/// The word for where a version stands.
pub fn state(version: &Version) -> &'static str {
    match (version.lost, version.current, version.previous) {
        (true, _, _) => "lost",
        (_, true, _) => "current",
        (_, _, true) => "previous",
        _ => version.state.name(),
    }
}
