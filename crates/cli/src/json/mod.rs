//! What `demo` prints with `--json`; everything else is in `millpond-view`. Names here are
//! stable: fields may be added, none is renamed or removed.

mod demo;

pub use demo::{ClaimJson, DemoJson};
