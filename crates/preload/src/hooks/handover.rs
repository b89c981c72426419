//! Memory that a program has made and somebody else pays for: what it gives to the pond without a
//! copy. Its charge ends here as the pond's begins, and comes back when the pond has it no more.
//!
//! What becomes of the memory itself says the program, not this: freed, it is shown no longer, and
//! nothing is given back for it. Memory of pools stays charged: a pool is charged by what it holds
//! of the card, of which one allocation is no part that could be told.

use super::{linear, physical};
use crate::settings;
use crate::state;

/// Somebody else pays for the memory at an address from now on. Whether this process was or is
/// charged with so much there; said again, it changes nothing.
#[must_use]
pub fn hand_over(pointer: u64, bytes: u64) -> bool {
    set_payer(pointer, bytes, true)
}

/// Nobody else pays for the memory at an address any more. What is still there is charged again, and
/// cannot be refused. Whether it is charged now.
#[must_use]
pub fn take_back(pointer: u64, bytes: u64) -> bool {
    set_payer(pointer, bytes, false)
}

fn set_payer(pointer: u64, bytes: u64, elsewhere: bool) -> bool {
    if !settings::limited() {
        return false;
    }
    let Some(state) = state::get() else { return false };
    linear::set_payer(state, pointer, bytes, elsewhere)
        || physical::set_payer(state, pointer, bytes, elsewhere)
}
