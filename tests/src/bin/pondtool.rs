//! A client for tests and scripts that does what it is told; see [`millpond_tests::tool`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    millpond_tests::tool::main()
}
