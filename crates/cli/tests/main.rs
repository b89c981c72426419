//! The program as a user starts it. `scripts/run-tests` runs each module in a process of its own.

mod background;
mod common;
mod companion;
mod demo;
mod elastic;
mod help;
mod library;
mod no_pond;
mod objects;
mod pond;
mod run;
mod terminal;
mod tour;
mod transfer;
mod transports;
mod users;
