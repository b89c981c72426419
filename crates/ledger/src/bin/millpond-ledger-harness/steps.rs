//! Kills at every system call (before it and behind it), and some instructions after each.

use std::time::Duration;

use millpond_ledger::{Book, BookSettings, Member, Memory, Patience};

use crate::twins::Hasty;
use crate::{GPU, c};

const PATIENT: Patience = Patience(Duration::from_secs(30));
const LIMIT: u32 = 1000;

/// For each place (and, unless that is 0, `after` instructions later): a child attaches, reserves through the slow path (stripping what a living peer
/// does not use) and through the fast one, and releases; it is killed there. Then the peer must get
/// the whole limit. Writes one line of JSON.
pub fn run(folder: &str, after: u64, memory: Memory) {
    let settings = BookSettings { name: b"steps", owner: None, everyone: false, memory };
    let book = Book::create(&c(folder), settings).unwrap();
    let limit = u64::from(LIMIT);
    book.change(None, PATIENT, |budget| (budget.asked, budget.effective) = (limit, limit)).unwrap();
    let peer = Member::<Hasty>::attach_as(&c(folder)).unwrap();
    let device = peer.device(GPU).unwrap();
    let mut kills = 0_u64;
    loop {
        let each = if after > 0 { 2 } else { 1 };
        let (calls, steps) = (kills / each, kills % each * after);
        // Credit that the child has to strip from us.
        peer.reserve(device, LIMIT).expect("the dead child's memory is back");
        peer.release(device, LIMIT - 100);
        let ended = kill_after(folder, calls, steps);
        let totals = book.totals(GPU).unwrap();
        assert!(totals.credit <= limit, "{totals:?} at place {kills}");
        assert!(totals.used >= 100);
        peer.reserve(device, LIMIT - 100).expect("the dead child's memory is back");
        assert_eq!(peer.group_used(device), limit);
        peer.release(device, LIMIT);
        if ended {
            break;
        }
        kills += 1;
    }
    println!("{{\"kills\":{kills}}}");
}

/// Whether the child had ended by itself before that.
fn kill_after(folder: &str, calls: u64, steps: u64) -> bool {
    let folder = c(folder);
    // SAFETY: this process has one thread, and the child allocates nothing.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: asks to be traced, and stops.
        unsafe {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
            libc::raise(libc::SIGSTOP);
        }
        let code = i32::from(!work(&folder));
        // SAFETY: ends without running the parent's exit code.
        unsafe { libc::_exit(code) };
    }
    let mut ended = wait(child);
    let whole = std::iter::repeat_n(libc::PTRACE_SYSCALL, usize::try_from(calls).unwrap());
    let single = std::iter::repeat_n(libc::PTRACE_SINGLESTEP, usize::try_from(steps).unwrap());
    for request in whole.chain(single) {
        if ended.is_some() {
            break;
        }
        // SAFETY: a stopped child of ours.
        unsafe { libc::ptrace(request, child, 0, 0) };
        ended = wait(child);
    }
    if let Some(code) = ended {
        assert_eq!(code, 0, "the child got no memory");
        return true;
    }
    // SAFETY: a child of ours.
    unsafe { libc::kill(child, libc::SIGKILL) };
    while wait(child).is_none() {}
    false
}

fn work(folder: &std::ffi::CStr) -> bool {
    let Ok(member) = Member::<Hasty>::attach_as(folder) else { return false };
    let Ok(device) = member.device(GPU) else { return false };
    let slow = member.reserve(device, 500).is_ok();
    member.release(device, 300);
    let fast = member.reserve(device, 200).is_ok();
    // Killed or ended while it holds: nothing is released by hand.
    slow && fast
}

/// Its exit code (or that it was killed) once it is gone; `None` while it is only stopped.
fn wait(child: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: a child of ours, and the number outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFEXITED(status) {
        return Some(libc::WEXITSTATUS(status));
    }
    libc::WIFSIGNALED(status).then_some(-1)
}
