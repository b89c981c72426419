//! What happened, the last first.

use super::{Column, Thing, Value, user};

/// The last first.
pub const BY_NUMBER: usize = 4;

pub const COLUMNS: &[Column] = &[
    Column::text("TEXT", 20, 9, |thing, _| match thing {
        Thing::Event(event) => match &event.name {
            Some(name) if event.text.is_empty() => Value::text(name.as_str()),
            Some(name) => Value::owned(format!("{name}: {}", event.text)),
            None => Value::text(&event.text),
        },
        _ => Value::None,
    }),
    Column::number("UTC", 8, 8, |thing, _| match thing {
        Thing::Event(event) => Value::At(event.unix_ms),
        _ => Value::None,
    }),
    Column::text("EVENT", 20, 9, |thing, _| match thing {
        Thing::Event(event) => Value::owned(event.kind.to_string()),
        _ => Value::None,
    }),
    Column::text("OWNER", 10, 5, |thing, overview| match thing {
        Thing::Event(event) => event.user.map_or(Value::None, |owner| user(overview, owner)),
        _ => Value::None,
    }),
    Column::number("NUMBER", 9, 3, |thing, _| match thing {
        Thing::Event(event) => Value::Number(event.sequence),
        _ => Value::None,
    }),
];
