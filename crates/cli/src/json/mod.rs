//! What `demo` and `bench` print with `--json`; everything else is in `millpond-view`. Names here are
//! stable: fields may be added, none is renamed or removed.

mod bench;
mod demo;

pub use bench::{BenchJson, RowJson, Unit};
pub use demo::{ClaimJson, DemoJson};
