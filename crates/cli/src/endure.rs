//! Signals that mean nothing to keeper, daemon, movers and hosts do not end them.
//!
//! Handlers and not `SIG_IGN`, which other programs that are started from here would inherit. The two
//! that stop a process in the background when it uses its terminal have to be ignored: with a
//! handler the write to the terminal would be tried for ever.

use std::sync::Arc;

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGIO, SIGPROF, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};

/// Sent to machines that run on a battery.
const SIGPWR: i32 = 30;
/// Of a coprocessor that no machine has.
const SIGSTKFLT: i32 = 16;
/// Signals of no meaning but the sender's; the C library keeps those before for itself.
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;

const MEANINGLESS: [i32; 12] = [
    SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU,
    SIGXFSZ, SIGTSTP,
];

/// From now on none of them ends or stops this process.
pub fn meaningless_signals() {
    for signal in MEANINGLESS.into_iter().chain(REAL_TIME) {
        // One that cannot be handled keeps its default; that is no reason to end.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    millpond_wire::fd::ignore_terminal_stops();
}
