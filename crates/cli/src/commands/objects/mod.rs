//! Models and tensors alike: listing, removing and renaming them.

mod find;
mod list;
mod object;
mod remove;
mod rename;

pub use find::glob;
pub use list::list;
pub use remove::{remove, remove_tensors};
pub use rename::rename;
