//! The account book of GPU memory limits, in memory or a file that all processes of a group share.
//!
//! A **group** is whoever shares a limit. Its folder has two files: `ledger`, which the members
//! write, and `limits`, which they only read. Each process has one slot in the ledger, and in it
//! per device one word that packs `credit` (what it may hold) and `used` (what it holds).
//!
//! The key decision: **room is `limit - sum of credits`, and nothing else is stored**. A process
//! reserves from its own credit by one compare-and-swap on its own word; more credit is taken under
//! a kernel lock. A process that is killed at any instruction leaves a slot whose lock the kernel
//! has dropped, and room comes back by not counting it: there is nothing to repair. One shared
//! counter was refused: it costs fifteen times as much under contention, and nobody knows what a
//! dead process had added to it.
//!
//! # Who waits
//!
//! A member that is refused may wait: the operator notes in its slot what it waits for, and from then
//! on nobody else gets that room ([`Book::want`]). The operator assigns it under the lock, the first
//! waiter first ([`Book::assign`]); what is assigned and not used yet is not taken back. A wait has a
//! time, after which it counts for nothing.
//!
//! # Where the slots are
//!
//! In a **System V segment** where all members are one user's and in one IPC namespace: a word is an
//! atomic, and a reservation costs nanoseconds. A segment cannot be shortened by anybody.
//!
//! In the ledger **file** where containers or several users share a group. A member finds the file by
//! a path, in a mount namespace of its own, also while no daemon runs. Members write the file, so they
//! can shorten it, punch holes into it and fill its file system, and each of these ends a program that
//! has the file mapped. **So no process maps it**: a word is read by `pread`, and changed by
//! compare-and-write under a lock on its own bytes ([`by_lock`]). The kernel drops the lock of a process that
//! dies in between; that process has written all eight bytes or none. A failed call, a short read, a
//! wrong head or a lock that is kept refuses memory, and nothing else. What is released meanwhile is
//! counted with the next call. Refused were:
//!
//! - a sealed memfd: a living server has to hand it out, and a container finds no path to it
//! - seals on a file of tmpfs: such files are born sealed against seals
//! - a handler for SIGBUS: a library has no say over the signals of its program
//! - one file for each user: taking back unused credit writes into the file of a neighbour
//! - a kept descriptor: a program that closes all of its own, or uses that number again, would have
//!   words written into its files
//!
//! # What a process's death and a broken file do
//!
//! | what | then |
//! | --- | --- |
//! | `kill -9` at any instruction | the kernel drops the slot's lock; who next needs room does not count the slot any more, once the driver has had time to give the memory back (50 ms after the end was first seen); allocations that need just that wait for it |
//! | fork | the child has no slot: no memory of the ledger is mapped there, and it attaches anew |
//! | `exec` | like death; the new program attaches anew |
//! | all descriptors closed | nothing: none is kept |
//! | ledger removed, truncated, replaced, garbage | members are refused, by name, until the file is right again; with a segment they go on with the credit they have |
//! | a lock kept for ever | in a file: members wait some seconds once, then refuse quickly; in a segment they wait for their user's own process |
//! | the last member ends | the segment goes with it; the folder stays until somebody makes another group, or lists them, and takes it away |
//! | limits removed, truncated, garbage | the same, until the file is right again |
//! | nonsense in a slot | counts as much as it says, so its group may get no more until its owner ends |
//!
//! What is left, known and accepted:
//!
//! - A thread that forks while another one has a lock gives the child a copy of the lock's descriptor. The lock is given back explicitly, so that is harmless, unless
//!   the parent is killed in those microseconds *and* the child never calls `exec`: then the lock
//!   is held until the child ends.
//! - A program that changes its root, mount namespace or user after attaching may not reach the folder
//!   any more: it is refused more than its credit, and with a file everything.
//! - A member can overwrite the words of the others: it hides what they hold, or takes their credit.
//!   It is their own group.
//! - Removing a ledger while its members live and making a new one gives the group a second limit:
//!   those of the old one keep what they hold, and get no more.
//! - A member of another pid namespace counts as ended when its lock is gone, and for 100 ms longer:
//!   its process cannot be seen. A driver that takes longer holds more than the limit meanwhile.
//! - Where nobody but members has the segment open (no daemon), it ends with the last of them: who comes
//!   within the grace of that last one does not see what it held. A lock that is still held is waited
//!   for.
//! - While the kernel still tears down a killed process (its lock is held), what it has counts and
//!   is not waited for: allocations are refused.
//!
//! # Parts
//!
//! - [`Member`]: a process that allocates; used inside strangers' programs, so this crate is
//!   `no_std`, never allocates, never panics, takes no lock but the kernel's, and holds no
//!   descriptor between calls
//! - [`Book`]: the operator's side (daemon, command line)
//! - [`Observer`]: reads only, without a slot
//! - [`establish`]: makes a group's folder where there is no daemon; [`sweep_abandoned`] takes away
//!   those that nobody is in any more
//! - [`parse_size`], [`parse_bytes`]: sizes as people write them
//! - [`protocol`]: the words' rules, generic over the words so that a model checker can run them
//! - [`by_lock`]: a word of a file, by steps that the same checker runs

#![deny(missing_docs)]
#![no_std]

#[cfg(test)]
extern crate std;

mod book;
pub mod by_lock;
mod error;
mod establish;
mod file;
mod layout;
mod limits;
mod liveness;
mod lock;
mod member;
mod observer;
mod path;
pub mod protocol;
mod region;
mod remove;
mod size;
mod slots;
mod sys;
mod view;

/// A user's own folder, without the user's number at its end: groups without a daemon are in it,
/// and the pond of a user whose session has no folder.
pub const HOME: &str = "/dev/shm/millpond-";
/// That pond's folder in it. No group has this name.
pub const POND: &str = "pond";

pub use book::{Book, BookSettings, Flags, MemberReading, Patience};
pub use error::{BadSize, LedgerError, PondRefused, Refused};
pub use establish::{Established, LimitOf, establish};
pub use file::Memory;
pub use layout::{
    Column, DEVICES, DeviceIndex, DeviceReading, LEDGER_BYTES, NO_LIMIT, OWNERS, SLOTS, SlotIndex,
    SlotKind, Totals, UNIT, Uuid, units_for,
};
pub use limits::{Budget, NAME_MAX, Name};
pub use member::Member;
pub use observer::Observer;
pub use remove::{REST, remove_abandoned, sweep_abandoned};
pub use size::{Size, parse_bytes, parse_size};

/// The estimate of a context on a card of that size, until one has been measured: more than any
/// that was seen, and less on cards so small that only the software driver has them.
#[must_use]
pub const fn context_bytes(card_bytes: u64) -> u64 {
    const MOST: u64 = 640 << 20;
    const PART: u64 = 16;
    if card_bytes / PART < MOST { card_bytes / PART } else { MOST }
}
