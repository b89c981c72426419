//! The program of this package at a desk of its own, and on a terminal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

pub mod terminal;

pub use millpond_tests::desk::{
    Desk as Place, PATIENCE, Ran, Serving, copy_program, signal, until, wait, write_script,
};
pub use millpond_tests::skip;
