//! Pictures of a pond as SVG, written by hand: no dependency draws, so that what a name holds is escaped in one
//! place, and the same pond is the same file.

#![deny(missing_docs)]
#![forbid(unsafe_code)]
