//! A driver that only counts, in a file that all racers share.
//!
//! Each process has a cell, and holds a lock on its cell through an open *descriptor*, which the
//! kernel closes when the process ends, like a real driver's. A cell without its lock counts
//! nothing.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

pub const CELLS: usize = 64;
const LOCK: i64 = 1 << 40;
const VIOLATIONS: u64 = 4096;
const WORST: u64 = 4104;
const OPERATIONS: u64 = 4112;

pub struct Driver {
    shared: File,
    /// Holds this process's cell.
    own: File,
    cell: usize,
    limit: u64,
}

fn open(folder: &str) -> File {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(format!("{folder}/driver")).unwrap()
}

fn lock(file: &File, command: i32, kind: i32, byte: i64) -> bool {
    // SAFETY: all zeroes are a valid `flock`.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = libc::c_short::try_from(kind).unwrap();
    (range.l_start, range.l_len) = (byte, 1);
    loop {
        // SAFETY: the structure outlives the call.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) };
        if done == 0 && command == libc::F_OFD_GETLK {
            return i32::from(range.l_type) != libc::F_UNLCK;
        }
        if done == 0 {
            return true;
        }
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return false;
        }
    }
}

fn cell_byte(cell: usize) -> i64 {
    LOCK + 1 + i64::try_from(cell).unwrap()
}

fn read(file: &File, at: u64) -> u64 {
    let mut bytes = [0; 8];
    let _ = file.read_at(&mut bytes, at);
    u64::from_le_bytes(bytes)
}

fn write(file: &File, at: u64, value: u64) {
    file.write_all_at(&value.to_le_bytes(), at).unwrap();
}

impl Driver {
    /// Takes a cell; waits until its former owner is quite gone.
    pub fn start(folder: &str, cell: usize, limit: u64) -> Self {
        let driver = Self { shared: open(folder), own: open(folder), cell, limit };
        // Empty in the same instant as it is taken, or what the former owner had would count again.
        let mut taken = false;
        while !taken {
            driver.locked(|| {
                taken = lock(&driver.own, libc::F_OFD_SETLK, libc::F_WRLCK, cell_byte(cell));
                if taken {
                    write(&driver.shared, driver.at(), 0);
                }
            });
        }
        driver
    }

    fn at(&self) -> u64 {
        u64::try_from(self.cell * 8).unwrap()
    }

    fn locked(&self, body: impl FnOnce()) {
        assert!(lock(&self.shared, libc::F_OFD_SETLKW, libc::F_WRLCK, LOCK));
        body();
        lock(&self.shared, libc::F_OFD_SETLK, libc::F_UNLCK, LOCK);
    }

    pub fn allocate(&self, units: u32) {
        self.locked(|| {
            write(&self.shared, self.at(), read(&self.shared, self.at()) + u64::from(units));
            let held = held(&self.shared, Some(self.cell));
            if held > self.limit {
                write(&self.shared, VIOLATIONS, read(&self.shared, VIOLATIONS) + 1);
                write(&self.shared, WORST, read(&self.shared, WORST).max(held));
            }
            write(&self.shared, OPERATIONS, read(&self.shared, OPERATIONS) + 1);
        });
    }

    pub fn free(&self, units: u32) {
        self.locked(|| {
            write(&self.shared, self.at(), read(&self.shared, self.at()) - u64::from(units));
        });
    }
}

/// What living processes hold. A cell's owner does not see its own lock as somebody else's.
fn held(file: &File, own: Option<usize>) -> u64 {
    (0..CELLS)
        .filter(|cell| {
            let at = u64::try_from(cell * 8).unwrap();
            read(file, at) > 0
                && (Some(*cell) == own
                    || lock(file, libc::F_OFD_GETLK, libc::F_WRLCK, cell_byte(*cell)))
        })
        .map(|cell| read(file, u64::try_from(cell * 8).unwrap()))
        .sum()
}

pub struct Result {
    pub held: u64,
    pub violations: u64,
    pub worst: u64,
    pub operations: u64,
}

pub fn result(folder: &str) -> Result {
    let file = open(folder);
    Result {
        held: held(&file, None),
        violations: read(&file, VIOLATIONS),
        worst: read(&file, WORST),
        operations: read(&file, OPERATIONS),
    }
}
