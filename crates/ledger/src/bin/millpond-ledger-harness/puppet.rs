//! One process that does what it is told, a line at a time, and answers with a line.

use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;

use millpond_ledger::{Member, Refused};

use crate::{GPU, c};

const GROUP_LOCK: i64 = 1 << 40;

/// `attach`, `reserve N`, `release N`, `charge N`, `used`, `scribble CREDIT USED`, `close-all`,
/// `fork` (the child goes on, and answers from then on; the parent answers nothing more), `exec`,
/// `lock` (holds the group's lock until the end), `slow-driver` (holds a lock on `driver` like a
/// driver's descriptor, between files that take long to close), `room BYTES` (how long the files
/// that it writes may be), `exit`.
pub fn run(folder: &str) {
    let mut member: Option<Member> = None;
    let mut known = None;
    loop {
        let mut line = String::new();
        // One byte at a time: a forked child or an `exec` must not lose what was read ahead.
        let end = read_line(&mut line);
        if end {
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |n: usize| words.get(n).and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
        let answer = match words.first().copied().unwrap_or("") {
            "attach" => match Member::attach(&c(folder)) {
                Ok(new) => {
                    let slot = new.slot();
                    (member, known) = (Some(new), None);
                    format!("slot {slot}")
                }
                Err(error) => format!("error {error}"),
            },
            "fork" => {
                // SAFETY: this process has one thread.
                match unsafe { libc::fork() } {
                    0 => {
                        // What a preload's wiped memory does: the parent's slot is not the child's.
                        std::mem::forget(member.take());
                        format!("child {}", std::process::id())
                    }
                    _ => loop {
                        // SAFETY: waits for a signal.
                        unsafe { libc::pause() };
                    },
                }
            }
            "exec" => {
                let program = std::env::current_exe().unwrap();
                say("exec");
                let error = std::process::Command::new(program).args(["puppet", folder]).exec();
                panic!("{error}");
            }
            "close-all" => {
                for fd in 3..1024 {
                    // SAFETY: nothing in this process uses a descriptor above 2.
                    unsafe { libc::close(fd) };
                }
                "closed".into()
            }
            "lock" => hold_lock(&format!("{folder}/ledger"), GROUP_LOCK),
            "slow-driver" => {
                let fillers = [filler(), hold_lock(&format!("{folder}/driver"), 0), filler()];
                fillers.join(" ")
            }
            "room" => {
                let limit = libc::rlimit { rlim_cur: number(1).into(), rlim_max: number(1).into() };
                // SAFETY: the structure outlives the call.
                let done = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
                format!("room {done}")
            }
            "pid" => format!("pid {}", std::process::id()),
            "exit" => return,
            word => match &member {
                None => "not attached".into(),
                Some(member) => {
                    let device = known.map_or_else(|| member.device(GPU), Ok);
                    known = device.ok();
                    match (word, device) {
                        ("reserve", Ok(device)) => match member.reserve(device, number(1)) {
                            Ok(()) => "ok".into(),
                            Err(Refused::Limit) => "limit".into(),
                            Err(Refused::Broken(error)) => format!("broken {error}"),
                        },
                        ("release", Ok(device)) => {
                            member.release(device, number(1));
                            "ok".into()
                        }
                        ("charge", Ok(device)) => {
                            member.charge(device, number(1));
                            "ok".into()
                        }
                        ("scribble", Ok(device)) => {
                            member.scribble(device, number(1), number(2));
                            "ok".into()
                        }
                        ("used", Ok(device)) => format!("used {}", member.group_used(device)),
                        (_, Err(error)) => format!("error {error}"),
                        _ => "unknown".into(),
                    }
                }
            },
        };
        say(&answer);
    }
}

fn say(answer: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{answer}").unwrap();
    out.flush().unwrap();
}

fn read_line(into: &mut String) -> bool {
    let mut input = std::io::BufReader::with_capacity(1, std::io::stdin());
    matches!(input.read_line(into), Ok(0) | Err(_))
}

/// Locks a byte of a file until the end, through a descriptor.
fn hold_lock(path: &str, byte: i64) -> String {
    let path = c(path);
    // SAFETY: the path ends with a zero; the descriptor is kept until the end; all zeroes are a
    // valid `flock`.
    let done = unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600);
        let mut range: libc::flock = std::mem::zeroed();
        range.l_type = libc::c_short::try_from(libc::F_WRLCK).unwrap();
        (range.l_start, range.l_len) = (byte, 1);
        libc::fcntl(fd, libc::F_OFD_SETLKW, &raw mut range)
    };
    if done == 0 { "locked".into() } else { "error".into() }
}

/// A file whose memory takes the kernel a while to free when the process ends.
fn filler() -> String {
    // SAFETY: no memory is involved; the descriptor is kept until the end.
    let done = unsafe {
        let fd = libc::memfd_create(c"filler".as_ptr(), 0);
        libc::fallocate(fd, 0, 0, 128 << 20)
    };
    if done == 0 { "filled".into() } else { "error".into() }
}
