//! The middle layer: one module per family, verbs inside, every call returning a `Result`.
//!
//! Nothing here owns anything. A function is `unsafe` when it takes a raw handle or address,
//! because the driver trusts most of them; functions that only take numbers it checks are safe.

/// Calls one entry point of a table and turns its status into a result.
macro_rules! call {
    ($table:expr, $name:ident ( $( $argument:expr ),* $(,)? )) => {
        $crate::error::CudaError::check(stringify!($name), ($table.$name)($( $argument ),*))
    };
}

pub mod context;
pub mod copy;
pub mod device;
pub mod driver;
pub mod event;
pub mod graph;
pub mod host;
pub mod linear;
pub mod mem;
pub mod module;
pub mod nvml;
pub mod pointer;
pub mod pool;
pub mod stream;

/// Reads the text up to the first NUL of a buffer that C filled.
fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
