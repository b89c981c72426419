//! Keeps a truncated ledger from killing the operator's processes.
//!
//! The daemon maps files that tenants can truncate, and one tenant must not end the daemon. So a
//! SIGBUS inside such a mapping puts zeroes there and marks the group as broken; any other goes to
//! whoever handled it before. Only [`crate::Book`] uses this: members live in strangers' programs,
//! whose signals are not ours.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::LedgerError;
use crate::layout::LEN;
use crate::region::Region;

const MOST: usize = 1024;
const EMPTY: usize = 0;

struct Watched {
    base: AtomicUsize,
    hit: AtomicBool,
}

static WATCHED: [Watched; MOST] =
    [const { Watched { base: AtomicUsize::new(EMPTY), hit: AtomicBool::new(false) } }; MOST];
static INSTALLED: AtomicBool = AtomicBool::new(false);
static BEFORE: Before = Before(core::cell::UnsafeCell::new(MaybeUninit::zeroed()));

struct Before(core::cell::UnsafeCell<MaybeUninit<libc::sigaction>>);
// SAFETY: written by the one caller that won `INSTALLED`, inside the call that makes it readable.
unsafe impl Sync for Before {}

/// A region whose truncation is survived, for as long as this exists.
#[derive(Debug)]
pub(crate) struct Guard {
    place: usize,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(watched) = WATCHED.get(self.place) {
            watched.base.store(EMPTY, Ordering::Release);
        }
    }
}

impl Guard {
    pub(crate) fn watch(region: &Region) -> Result<Self, LedgerError> {
        install()?;
        let base = region.base().as_ptr().expose_provenance();
        for (place, watched) in WATCHED.iter().enumerate() {
            if watched
                .base
                .compare_exchange(EMPTY, base, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
            {
                watched.hit.store(false, Ordering::Release);
                return Ok(Self { place });
            }
        }
        Err(LedgerError::System { call: "guard", errno: libc::EMFILE })
    }

    /// Whether the region was truncated under us: then it is zeroes, and nothing it says counts.
    pub(crate) fn was_hit(&self) -> bool {
        WATCHED.get(self.place).is_some_and(|watched| watched.hit.load(Ordering::Acquire))
    }
}

fn install() -> Result<(), LedgerError> {
    if INSTALLED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    // SAFETY: all zeroes are a valid `sigaction`; the handler touches only atomics, `mmap` and
    // `sigaction`, which are safe in a signal handler.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        if libc::sigaction(libc::SIGBUS, &raw const action, BEFORE.0.get().cast()) != 0 {
            return Err(LedgerError::System { call: "sigaction", errno: crate::sys::errno() });
        }
    }
    Ok(())
}

extern "C" fn on_bus_error(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel gives a valid structure, and SIGBUS has an address in it.
    let address = unsafe { (*info).si_addr() }.addr();
    for watched in &WATCHED {
        let base = watched.base.load(Ordering::Acquire);
        if base != EMPTY && (base..base.saturating_add(LEN)).contains(&address) {
            watched.hit.store(true, Ordering::Release);
            let at = core::ptr::with_exposed_provenance_mut::<c_void>(base);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: replaces a mapping of ours, which stays mapped for those who use it.
            unsafe { libc::mmap(at, LEN, protection, flags, -1, 0) };
            return;
        }
    }
    // SAFETY: written before this handler could run; the fault comes again, to its owner.
    unsafe { libc::sigaction(libc::SIGBUS, BEFORE.0.get().cast::<libc::sigaction>(), null_mut()) };
}
