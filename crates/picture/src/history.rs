//! Memory over time.
