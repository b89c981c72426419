//! What a context is charged: reserved before it is made, at the size that the group has measured.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use millpond_ledger::{Column, UNIT, units_for};

use super::context_size::{Meter, Reading, sizes, taken, with_overhead};
use super::physical;
use super::reserve::Reserve;
use crate::account::{self, Account};
use crate::state::{self, CHARGED, Device};
use crate::types::{Status, status};

/// Charges a context that is there already; says how much.
pub(super) fn charge_existing(account: Account) -> u32 {
    let units = expected_units(account, account.context_bytes());
    account.charge(units);
    account.add_column(Column::Contexts, i64::from(units));
    units
}

/// Charges a primary context that is there already. The caller is alone.
pub(super) fn charge_primary(account: Account, device: &Device) {
    let units = charge_existing(account);
    device.primary_charge.store(CHARGED | u64::from(units), Ordering::Release);
}

/// What a context is taken for.
pub(super) fn expected_units(account: Account, known: Option<u64>) -> u32 {
    let guess = || millpond_ledger::context_bytes(account::real_total(account.ordinal()));
    units_for(known.unwrap_or_else(guess))
}

/// Makes a context between reservation and note; says what it was charged.
pub(super) fn make(ordinal: c_int, call: impl FnOnce() -> Status) -> (Status, u32) {
    let Some(account) = Account::of(ordinal) else { return (status::OUT_OF_MEMORY, 0) };
    let known = account.context_bytes().or_else(|| sizes::kept(ordinal));
    let reserved = expected_units(account, known);
    if !account.reserve(reserved) {
        say_why(account, reserved, known.is_some());
        return (status::OUT_OF_MEMORY, 0);
    }
    let meter = known.is_none().then(|| Meter::new(ordinal)).flatten();
    let book = || account.own_used().saturating_sub(u64::from(reserved)).saturating_mul(UNIT);
    let reading = || Reading {
        nvml: meter.as_ref().and_then(Meter::used),
        book: book(),
        imports: u64::from(physical::imported_units(ordinal)).saturating_mul(UNIT),
    };
    let before = if known.is_none() { reading() } else { Reading::default() };
    let status = call();
    if status != status::SUCCESS {
        account.release(reserved);
        return (status, 0);
    }
    let mut units = reserved;
    if known.is_none() {
        // One that cannot be measured stays what it was taken for, and nobody tries again, unless
        // that was for this process's own reasons.
        let guessed = u64::from(reserved).saturating_mul(UNIT);
        let measured = taken(before, reading()).map(with_overhead);
        if let Some(bytes) = measured {
            sizes::keep(ordinal, bytes);
        }
        let bytes = measured.unwrap_or(guessed);
        if bytes > 0 && (measured.is_some() || before.book == 0) {
            account.note_context_bytes(bytes);
        }
        units = units_for(bytes);
        if units > reserved {
            account.charge(units - reserved);
        } else {
            account.release(reserved - units);
        }
    }
    account.add_column(Column::Contexts, i64::from(units));
    (status, units)
}

/// Says once why there is no context: programs show that as a lack of memory in general.
#[cold]
fn say_why(account: Account, units: u32, measured: bool) {
    let (limit, used) = account.reading();
    let (needs, ordinal) = (Mib(u64::from(units) * UNIT), account.ordinal());
    let guess = if measured { "" } else { " (what it is taken for until one was measured)" };
    let Some(state) = state::get() else { return };
    let (how, place) = match account.limit_place() {
        Some(place) => (" in ", place),
        None => (" with ", "`millpond group set`"),
    };
    if limit < u64::from(units) * UNIT {
        account::complain(
            state,
            format_args!(
                "the limit of {} on GPU {ordinal} is less than a CUDA context takes, {needs}{guess}; \
                 this program gets no GPU memory: set a larger limit{how}{place}",
                Mib(limit)
            ),
        );
    } else {
        account::complain(
            state,
            format_args!(
                "no room for a CUDA context of {needs}{guess} on GPU {ordinal}: {} of the limit of {} \
                 are in use; end other programs of the group or set a larger limit{how}{place}",
                Mib(used),
                Mib(limit)
            ),
        );
    }
}

/// Bytes as people read them.
struct Mib(u64);

impl core::fmt::Display for Mib {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} MiB", self.0 >> 20)
    }
}
