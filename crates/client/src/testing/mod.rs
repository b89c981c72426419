//! A pond in a thread, for tests.
