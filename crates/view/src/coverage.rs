//! Which functions of a driver are watched.

use serde::Serialize;

/// `coverage`.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// Whether no unknown function looks as if it could take memory.
    pub ok: bool,
    /// The library that was read.
    pub library: String,
    /// How many functions are hooked.
    pub hooked: u64,
    /// How many are let through because they take no memory of a GPU.
    pub passed: u64,
    /// How many are let through because nobody can say how much they take; the daemon finds it.
    pub watched: u64,
    /// How many are unknown to this version.
    pub unknown: u64,
    /// The unknown ones, or with `--all` every one.
    pub exports: Vec<Export>,
}

/// One function.
#[derive(Clone, Debug, Serialize)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// `hooked`, `passed`, `watched` or `unknown`.
    pub class: &'static str,
    /// Why it is let through.
    pub reason: Option<&'static str>,
    /// Whether its name says that it could take memory; only asked of unknown ones.
    pub may_allocate: bool,
}
