//! Tensors, and sums of those that are too many to list.

use super::{Column, Thing, Value, gpu, user};

/// The largest first.
pub const BY_SIZE: usize = 1;

pub const COLUMNS: &[Column] = &[
    Column::text("NAME", 20, 9, |thing, _| match thing {
        Thing::Tensors(group) => {
            let count = millpond_view::units::thousands(group.count);
            Value::owned(match &group.prefix {
                Some(prefix) => format!("{count} more in {prefix}/"),
                None => format!("{count} more"),
            })
        }
        Thing::Tensor(tensor) => match &tensor.name {
            Some(name) => Value::text(name.as_str()),
            None => Value::owned(tensor.id.to_string()),
        },
        _ => Value::None,
    }),
    Column::number("SIZE", 10, 8, |thing, _| match thing {
        Thing::Tensor(tensor) => Value::Bytes(tensor.bytes),
        Thing::Tensors(group) => Value::Bytes(group.bytes),
        _ => Value::None,
    }),
    Column::number("GPU", 3, 3, |thing, overview| match thing {
        Thing::Tensor(tensor) => gpu(overview, &tensor.device.to_string()),
        Thing::Tensors(group) => gpu(overview, &group.device),
        _ => Value::None,
    }),
    Column::text("DTYPE", 8, 4, |thing, _| match thing {
        Thing::Tensor(tensor) => Value::text(tensor.dtype.name()),
        _ => Value::None,
    }),
    Column::text("SHAPE", 16, 2, |thing, _| match thing {
        Thing::Tensor(tensor) => {
            let dims: Vec<String> = tensor.shape.0.dims().iter().map(u64::to_string).collect();
            Value::owned(if dims.is_empty() { "scalar".to_owned() } else { dims.join("x") })
        }
        _ => Value::None,
    }),
    Column::text("STATE", 8, 5, |thing, _| match thing {
        Thing::Tensor(tensor) => Value::owned(tensor.state.to_string()),
        _ => Value::None,
    }),
    Column::number("LEASES", 6, 7, |thing, _| match thing {
        Thing::Tensor(tensor) => Value::Count(u64::from(tensor.lease_count)),
        Thing::Tensors(group) => Value::Count(group.lease_count),
        _ => Value::None,
    }),
    Column::text("OWNER", 8, 6, |thing, overview| match thing {
        Thing::Tensor(tensor) => user(overview, tensor.user),
        Thing::Tensors(group) => group.user.map_or(Value::None, |owner| user(overview, owner)),
        _ => Value::None,
    }),
    Column::number("AGE", 5, 1, |thing, _| match thing {
        Thing::Tensor(tensor) => Value::Since(tensor.created_unix_ms),
        _ => Value::None,
    }),
];
