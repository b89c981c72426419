//! Code that `scripts/generate` writes from `schema/*.fbs`.

#![allow(dead_code, missing_docs, clippy::all, clippy::pedantic, clippy::restriction)]

#[rustfmt::skip]
mod journal;
#[rustfmt::skip]
mod manifest;
#[rustfmt::skip]
mod wire;

pub use journal::millpond::journal as record;
pub use manifest::millpond::manifest as contents;
pub use wire::millpond::wire as message;
