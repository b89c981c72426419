//! Pictures of a pond: a card to scale ([`map`]) and memory over time ([`history`]), as SVG, and a map as
//! text for a terminal ([`text`]).
//!
//! The key decision: pictures are written by hand, without a library that draws. All that is needed are
//! rectangles, lines and labels; names of users come from outside and are escaped in one place
//! (`svg.rs`); and the same pond is the same file, so that pictures in documents can be compared. Area is
//! bytes, without exception: nothing is enlarged to be seen. Each kind has a colour and a pattern, so that no
//! picture has to be seen in colour to be read.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod commands;
mod label;
mod map;
mod style;
mod svg;
mod text;
mod treemap;

pub use map::map;
pub use text::text;
