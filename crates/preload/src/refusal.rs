//! The line about an allocation that the limit refuses: to the program it is an ordinary lack of
//! memory, and only this line says whose.

use core::ffi::{CStr, c_char};
use core::fmt;
use core::sync::atomic::Ordering;

use millpond_ledger::UNIT;

use crate::account::Account;
use crate::message::{Level, Shown, say};
use crate::state;

unsafe extern "C" {
    static program_invocation_short_name: *const c_char;
}

/// Says that so many units were refused: the first time, the tenth, the hundredth. Frameworks ask
/// again and again, and free what they keep in between.
#[cold]
pub(crate) fn note(account: Account, units: u32) {
    let Some(state) = state::get() else { return };
    let count = state.refusals.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    let level = if is_power_of_ten(count) { Level::Warn } else { Level::Debug };
    // An error explains every refusal that follows it.
    if !level.is_said() || state.said.load(Ordering::Relaxed) != 0 {
        return;
    }
    let (limit, used) = account.reading();
    let group = account.group();
    let group = group.as_ref().map_or(&b"?"[..], |name| name.as_bytes());
    say(
        level,
        format_args!(
            "{} (pid {}) asked for {} of GPU {} and gets no more: {} of {} in use; {}{} sets the \
             limit; see `millpond ps --group {}`; refusal {count}",
            Shown(program()),
            // SAFETY: no conditions.
            unsafe { libc::getpid() },
            Bytes(u64::from(units) * UNIT),
            account.ordinal(),
            Bytes(used),
            Bytes(limit),
            if account.limit_place().is_none() { "group " } else { "" },
            Shown(account.limit_place().map_or(group, str::as_bytes)),
            Shown(group),
        ),
    );
}

fn is_power_of_ten(mut count: u32) -> bool {
    while count > 0 && count.is_multiple_of(10) {
        count /= 10;
    }
    count == 1
}

/// The program's name, as `ps` has it.
fn program() -> &'static [u8] {
    // SAFETY: the C library sets it before any code of the program runs; whoever changes it leaves a
    // text there.
    unsafe {
        let name = program_invocation_short_name;
        if name.is_null() { b"?" } else { CStr::from_ptr(name).to_bytes() }
    }
}

/// Bytes in the largest unit that shows them exactly.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            whole if whole.is_multiple_of(1 << 20) => write!(f, "{} MiB", whole >> 20),
            rest => write!(f, "{} KiB", rest >> 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_the_tenth_and_the_hundredth_are_said() {
        let said: Vec<u32> = (0..=1000).filter(|count| is_power_of_ten(*count)).collect();
        assert_eq!(said, [1, 10, 100, 1000]);
    }
}
