//! Groups: one row for each GPU that a group has a budget on.

use millpond_view::Group;

use super::{Column, Thing, Value, gpu};

/// The fullest first.
pub const BY_USE: usize = 1;

pub const COLUMNS: &[Column] = &[
    Column::text("GROUP", 16, 9, |thing, _| match thing {
        Thing::Group(group, _) => Value::text(group.name.as_str()),
        _ => Value::None,
    }),
    Column::number("USED OF LIMIT", 32, 9, |thing, _| match thing {
        Thing::Group(_, Some(device)) => {
            Value::Bar { used: device.used_bytes, limit: device.effective_bytes }
        }
        _ => Value::None,
    }),
    Column::number("GPU", 3, 7, |thing, overview| match thing {
        Thing::Group(_, Some(device)) => gpu(overview, &device.device.to_string()),
        _ => Value::None,
    }),
    Column::number("PROCS", 5, 6, |thing, _| match thing {
        Thing::Group(_, Some(device)) => Value::Count(u64::from(device.process_count)),
        Thing::Group(group, None) => Value::Count(u64::from(group.process_count)),
        _ => Value::None,
    }),
    Column::number("IN POND", 10, 4, |thing, _| match thing {
        Thing::Group(_, Some(device)) => Value::Bytes(device.pond_bytes),
        _ => Value::None,
    }),
    Column::number("MIN", 10, 3, |thing, _| match thing {
        Thing::Group(_, Some(device)) => Value::Bytes(device.min_bytes),
        _ => Value::None,
    }),
    Column::number("WEIGHT", 6, 2, |thing, _| match thing {
        Thing::Group(_, Some(device)) => Value::Count(u64::from(device.weight)),
        _ => Value::None,
    }),
    Column::text("STATE", 7, 8, |thing, _| match thing {
        Thing::Group(group, device) => {
            let is_over = device.is_some_and(|device| {
                device.effective_bytes.is_some_and(|limit| device.used_bytes > limit)
            });
            Value::text(state(group, is_over))
        }
        _ => Value::None,
    }),
];

/// The word for a group's state, the worst one first, as `group ls` has it.
pub const fn state(group: &Group, is_over: bool) -> &'static str {
    match (group.broken, group.stuck, group.lying, is_over) {
        (true, ..) => "broken",
        (_, true, ..) => "stuck",
        (_, _, true, _) => "lying",
        (.., true) => "over",
        _ => "ok",
    }
}
