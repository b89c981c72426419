//! Generated readers and writers of `schema/*.fbs`.
//!
//! `scripts/generate` writes every file in `generated/`. They are a crate of their own because they
//! are fifty times as long as the schemas: an edit of `millpond-wire`, their only user, does not
//! compile them again. Nothing written by hand belongs here; caps and checks are the reader's, in
//! `millpond-wire`.

#![allow(rustdoc::all, clippy::all, clippy::pedantic, clippy::restriction)]

#[rustfmt::skip]
#[path = "generated/journal.rs"]
mod journal;
#[rustfmt::skip]
#[path = "generated/manifest.rs"]
mod manifest;
#[rustfmt::skip]
#[path = "generated/wire.rs"]
mod wire;

pub use journal::millpond::journal as record;
pub use manifest::millpond::manifest as contents;
pub use wire::millpond::wire as message;
