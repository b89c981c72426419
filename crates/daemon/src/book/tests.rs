//! The groups of a pond, without its sockets.
