//! The rules of a pond, under a world that the test plays.
