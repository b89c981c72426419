//! Who lives.
//!
//! A slot's owner holds a lock on the slot's own byte through an open file description that only a
//! mapping keeps: no descriptor to close, not in a forked child, dropped by the kernel at exit,
//! `kill -9` and `exec`. The mapping is never touched, so the file's length does not matter to it.

use core::ffi::CStr;
use core::ptr::NonNull;

use crate::error::LedgerError;
use crate::layout::byte;
use crate::path::Path;
use crate::slots::Identity;
use crate::sys::{self, Fd};

const PAGE: usize = 4096;

/// Holds a slot for as long as it exists.
#[derive(Debug)]
pub(crate) struct Liveness {
    at: NonNull<u8>,
}

// SAFETY: the mapping is never touched; it only exists.
unsafe impl Send for Liveness {}
// SAFETY: as above.
unsafe impl Sync for Liveness {}

impl Drop for Liveness {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody can reach it.
        unsafe { sys::unmap(self.at, PAGE) };
    }
}

impl Liveness {
    /// Keeps the description, and with it the lock it holds, beyond its descriptor.
    pub(crate) fn keep(fd: Fd) -> Result<Self, LedgerError> {
        let at = fd.map_untouchable(PAGE)?;
        let kept = Self { at };
        // SAFETY: the mapping is ours and that long.
        unsafe { sys::keep_from_children(at, PAGE)? };
        Ok(kept)
    }
}

/// The caller's pid namespace; 0 when it cannot be known, or when `/proc` shows another one (then
/// its numbers mean other processes).
pub(crate) fn own_namespace() -> u64 {
    let mut digits = [0; 10];
    let mut link = [0; 16];
    let shown = sys::read_link(c"/proc/self", &mut link);
    if shown != decimal(sys::pid(), &mut digits) {
        return 0;
    }
    sys::inode_of(c"/proc/self/ns/pid").unwrap_or(0)
}

pub(crate) fn slot_byte(slot: usize) -> i64 {
    byte::SLOTS.saturating_add(i64::try_from(slot).unwrap_or(0))
}

/// Where a slot's owner is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Living,
    /// Its memory map is gone; its files are being closed.
    Ending,
    /// It has ended. A driver gives memory back up to 21 ms later (measured on a card, when the
    /// process had several threads), and nothing says when; so it counts for this time longer.
    Ended {
        grace_ms: u64,
    },
}

/// Twice what was measured after the end of a process.
const GRACE_MS: u64 = 50;
/// Where only the lock can be seen: it goes about 30 ms before the process has ended.
const GRACE_BY_LOCK_MS: u64 = 100;

/// Whether a slot's owner lives. The lock says that its memory map is there; where its pid means
/// something here, the end of the process is waited for.
pub(crate) fn life_of(
    fd: &Fd,
    slot: usize,
    who: &Identity,
    namespace: u64,
) -> Result<Life, LedgerError> {
    let ended = Life::Ended { grace_ms: GRACE_MS };
    let by_lock = Life::Ended { grace_ms: GRACE_BY_LOCK_MS };
    let locked = fd.is_locked(slot_byte(slot), 1)?;
    if who.pid <= 0 || namespace == 0 || who.namespace != namespace {
        return Ok(if locked { Life::Living } else { by_lock });
    }
    if !sys::pid_exists(who.pid) {
        // Also when a child that was forked in the wrong instant still has the description.
        return Ok(ended);
    }
    if locked {
        return Ok(Life::Living);
    }
    Ok(match Process::read(who.pid) {
        Some(now) if now.start != who.start || now.has_memory || now.is_zombie => ended,
        Some(_) => Life::Ending,
        None => by_lock,
    })
}

/// A line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// In clock ticks since boot.
    pub start: u64,
    /// Its last thread has left the kernel's exit path.
    pub is_zombie: bool,
    /// It has a memory map: a process that holds no slot's lock and has one called `exec`.
    pub has_memory: bool,
}

impl Process {
    pub(crate) fn read(pid: i32) -> Option<Self> {
        let mut digits = [0; 10];
        let path = Path::of(&[b"/proc/", decimal(pid, &mut digits), b"/stat"]).ok()?;
        Self::read_from(path.as_c())
    }

    pub(crate) fn own() -> Option<Self> {
        Self::read_from(c"/proc/self/stat")
    }

    fn read_from(path: &CStr) -> Option<Self> {
        let fd = sys::open(path, libc::O_RDONLY, 0).ok()?;
        let mut line = [0; 1024];
        let len = fd.read_at(&mut line, 0).ok()?;
        Self::parse(line.get(..len)?)
    }

    /// The name is in brackets and may hold anything, brackets too: count from the last one.
    fn parse(line: &[u8]) -> Option<Self> {
        let after = line.iter().rposition(|byte| *byte == b')')?;
        let mut fields = line.get(after.checked_add(2)?..)?.split(|byte| *byte == b' ');
        let state = *fields.next()?.first()?;
        // Of proc(5)'s fields these are 4 and up.
        let threads = number(fields.nth(16)?)?;
        let start = number(fields.nth(1)?)?;
        let size = number(fields.next()?)?;
        let ended = matches!(state, b'Z' | b'X' | b'x');
        Some(Self { start, is_zombie: ended && threads <= 1, has_memory: size > 0 })
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_suffix(b"\n").unwrap_or(digits);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

fn decimal(number: i32, into: &mut [u8; 10]) -> &[u8] {
    let mut rest = number.unsigned_abs();
    let mut begin = into.len();
    for place in into.iter_mut().rev() {
        *place = b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or(0));
        rest /= 10;
        begin = begin.saturating_sub(1);
        if rest == 0 {
            break;
        }
    }
    into.get(begin..).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SlotKind;

    #[test]
    fn reads_itself() {
        let own = Process::read(sys::pid()).unwrap();
        assert!(own.has_memory && !own.is_zombie && own.start > 0);
        assert_eq!(Process::read(i32::MAX), None);
    }

    /// A pid that was given to another process does not keep the dead one's slot.
    #[test]
    fn a_reused_pid_is_not_mistaken() {
        let file = std::env::temp_dir().join(std::format!("millpond-liveness-{}", sys::pid()));
        let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
        let open = || sys::open(&path, libc::O_RDWR | libc::O_CREAT, 0o600).unwrap();
        let (asking, holding) = (open(), open());
        std::fs::remove_file(&file).unwrap();
        let namespace = own_namespace();
        assert_ne!(namespace, 0);
        let start = Process::own().unwrap().start;
        let who = |pid, start, namespace| Identity {
            serial: 1,
            kind: SlotKind::Process,
            pid,
            namespace,
            start,
            program: [0; 16],
        };
        let gone = |who: Identity| life_of(&asking, 3, &who, namespace).unwrap() != Life::Living;
        let init = Process::read(1).unwrap().start;

        assert!(holding.lock_try(slot_byte(3), 1).unwrap());
        assert!(!gone(who(sys::pid(), start, namespace)));
        // Whatever the numbers say, a lock that is held belongs to somebody who lives...
        assert!(!gone(who(1, init + 1, namespace)));
        assert!(!gone(who(0, 0, namespace)));
        assert!(!gone(who(i32::MAX, 5, namespace + 1)));
        // ...unless no process has that pid: then a forked child has the description.
        assert!(gone(who(i32::MAX, 5, namespace)));

        holding.unlock(slot_byte(3), 1);
        assert!(gone(who(1, init + 1, namespace)), "another process has the pid now");
        assert!(gone(who(1, init, namespace)), "the same process after exec");
        assert!(gone(who(1, init, namespace + 1)), "in another namespace only the lock counts");
        assert!(gone(who(-1, 0, namespace)));
        let foreign = life_of(&asking, 3, &who(1, init, namespace + 1), namespace).unwrap();
        assert_eq!(foreign, Life::Ended { grace_ms: GRACE_BY_LOCK_MS });
    }

    #[test]
    fn a_name_may_hold_brackets_and_spaces() {
        let line = b"7 (a) Z 1 (b) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 3 0 12345 8192 1 2\n";
        let process = Process::parse(line).unwrap();
        assert_eq!(process, Process { start: 12345, is_zombie: false, has_memory: true });
        assert_eq!(Process::parse(b"garbage"), None);
        assert_eq!(Process::parse(b"1 (x) Z 1 2"), None);
    }

    #[test]
    fn a_dead_leader_with_living_threads_is_no_zombie() {
        let line = b"7 (a) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 3 0 9 0 0\n";
        assert!(!Process::parse(line).unwrap().is_zombie);
        let line = b"7 (a) Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n";
        assert!(Process::parse(line).unwrap().is_zombie);
    }

    #[test]
    fn numbers_in_decimal() {
        let mut buffer = [0; 10];
        for (number, text) in [(0, "0"), (7, "7"), (i32::MAX, "2147483647"), (4_194_304, "4194304")]
        {
            assert_eq!(decimal(number, &mut buffer), text.as_bytes());
        }
    }
}
