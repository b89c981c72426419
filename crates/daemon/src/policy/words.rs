//! Numbers in sentences for people, as everywhere.

pub use millpond_view::units::{count, long as ago, span};
