//! Placeholder while the crate is written.
pub mod sys;
