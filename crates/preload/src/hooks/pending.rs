//! Memory outside of pools that was freed in stream order: charged until somebody waits for the
//! stream, or for everything on its device. Nothing asks the driver, and what is not surely done
//! stays charged.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::pools::stream_device;
use crate::account;
use crate::state::{self, Pending, State};

/// What has to come to its end: a stream, and the device that it is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    key: usize,
    device: u8,
}

const FREE: usize = 0;
/// A thread is at the entry.
const BUSY: usize = 1;
/// Several streams, or one that cannot be waited for by its handle.
const SEVERAL: usize = 2;
/// Added to handles, so that they are none of the above.
const FIRST: usize = 3;
const UNKNOWN: u8 = u8::MAX;

impl Stream {
    /// The stream that a call means. 0 is the legacy stream, or for the calls that end in `_ptsz`
    /// the thread's own, as 2 is for all: whose that is the handle does not say.
    pub(crate) fn of(handle: usize, per_thread: bool) -> Self {
        let handle = match (handle, per_thread) {
            (0, true) => 2,
            (0, false) => 1,
            (handle, _) => handle,
        };
        let key = if handle == 2 { SEVERAL } else { handle.wrapping_add(FIRST) };
        Self { key, device: device_byte(stream_device(handle)) }
    }

    /// Some streams of a device.
    pub(crate) fn several(ordinal: c_int) -> Self {
        Self { key: SEVERAL, device: device_byte(Some(ordinal)) }
    }
}

fn device_byte(ordinal: Option<c_int>) -> u8 {
    ordinal.and_then(|ordinal| u8::try_from(ordinal).ok()).unwrap_or(UNKNOWN)
}

/// What somebody has waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waited {
    Stream(Stream),
    /// An event: nobody knows of which stream.
    Event,
    Device(c_int),
}

impl Waited {
    fn ends(self, stream: Stream) -> bool {
        match self {
            Self::Stream(one) => one == stream && stream.key != SEVERAL,
            Self::Event => false,
            Self::Device(ordinal) => device_byte(Some(ordinal)) == stream.device,
        }
    }
}

fn pack(memory: c_int, device: u8, units: u32) -> u64 {
    u64::from(device) << 40 | u64::from(device_byte(Some(memory))) << 32 | u64::from(units)
}

/// Device of the memory, device of the stream, units.
fn unpack(word: u64) -> (c_int, u8, u32) {
    let [a, b, c, d, memory, device, ..] = word.to_le_bytes();
    (c_int::from(memory), device, u32::from_le_bytes([a, b, c, d]))
}

/// Takes an entry for this thread when `wanted` wants it; gives its key and word. Others are left
/// alone, so that threads with other streams do not miss theirs.
fn take(entry: &Pending, wanted: impl Fn(c_int, Stream) -> bool) -> Option<(usize, u64)> {
    // Another thread is done with it in a moment.
    const PATIENCE: usize = 1000;
    for _ in 0..PATIENCE {
        let key = entry.stream.load(Ordering::Acquire);
        if key == FREE {
            return None;
        }
        let (memory, device, _) = unpack(entry.word.load(Ordering::Relaxed));
        if key != BUSY {
            if !wanted(memory, Stream { key, device }) {
                return None;
            }
            if lock(entry, key) {
                let word = entry.word.load(Ordering::Relaxed);
                let (memory, device, _) = unpack(word);
                if wanted(memory, Stream { key, device }) {
                    return Some((key, word));
                }
                entry.stream.store(key, Ordering::Release);
                return None;
            }
        }
        core::hint::spin_loop();
    }
    None
}

fn lock(entry: &Pending, was: usize) -> bool {
    entry.stream.compare_exchange(was, BUSY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Adds to an entry of the same memory that `wanted` wants; it waits for `key` from now on.
fn join(
    state: &State,
    (ordinal, units, key): (c_int, u32, usize),
    wanted: impl Fn(Stream) -> bool,
) -> bool {
    state.pending.iter().any(|entry| {
        let Some((was, word)) = take(entry, |memory, stream| memory == ordinal && wanted(stream))
        else {
            return false;
        };
        let (memory, device, had) = unpack(word);
        let sum = had.checked_add(units);
        if let Some(sum) = sum {
            entry.word.store(pack(memory, device, sum), Ordering::Relaxed);
        }
        entry.stream.store(if sum.is_some() { key } else { was }, Ordering::Release);
        sum.is_some()
    })
}

/// Gives memory back when its stream has been waited for.
pub(crate) fn add(ordinal: c_int, units: u32, stream: Stream) {
    if let Some(state) = state::get().filter(|_| units > 0) {
        add_to(state, ordinal, units, stream);
    }
}

fn add_to(state: &State, ordinal: c_int, units: u32, stream: Stream) {
    let any = state.pending_count.load(Ordering::Acquire) > 0;
    if any && join(state, (ordinal, units, stream.key), |other| other == stream) {
        return;
    }
    let free = state
        .pending
        .iter()
        .find(|entry| entry.stream.load(Ordering::Relaxed) == FREE && lock(entry, FREE));
    if let Some(entry) = free {
        state.pending_count.fetch_add(1, Ordering::AcqRel);
        entry.word.store(pack(ordinal, stream.device, units), Ordering::Relaxed);
        entry.stream.store(stream.key, Ordering::Release);
        return;
    }
    // Full: it waits with others for everything on the device.
    let near = |other: Stream| other.device == stream.device;
    if !join(state, (ordinal, units, SEVERAL), near) {
        crate::message::say(
            crate::message::Level::Warn,
            format_args!("too many streams to remember; what was freed stays charged"),
        );
    }
}

/// A stream is about to be destroyed, which waits for nothing, and its handle may be another's soon:
/// what it freed waits for everything on the device from now on.
pub(crate) fn stream_ends(state: &State, handle: usize) {
    if state.pending_count.load(Ordering::Acquire) == 0 {
        return;
    }
    let key = handle.wrapping_add(FIRST);
    for entry in &state.pending {
        if take(entry, |_, stream| stream.key == key).is_some() {
            entry.stream.store(SEVERAL, Ordering::Release);
        }
    }
}

/// Gives back what waited for this.
pub(crate) fn release(state: &State, done: Waited) {
    for entry in &state.pending {
        if let Some((_, word)) = take(entry, |_, stream| done.ends(stream)) {
            let (memory, _, units) = unpack(word);
            entry.stream.store(FREE, Ordering::Release);
            state.pending_count.fetch_sub(1, Ordering::AcqRel);
            account::release(memory, units);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_waited_for_by_its_handle_or_with_its_device() {
        let stream = |key, device| Stream { key, device };
        let (one, other) = (stream(0x1000, 0), stream(0x2000, 0));
        assert!(Waited::Stream(one).ends(one) && !Waited::Stream(one).ends(other));
        assert!(!Waited::Stream(stream(0x1000, 1)).ends(one), "default streams of two devices");
        assert!(!Waited::Stream(stream(SEVERAL, 0)).ends(stream(SEVERAL, 0)));
        assert!(Waited::Device(0).ends(one) && !Waited::Device(1).ends(one));
        assert!(Waited::Device(0).ends(stream(SEVERAL, 0)));
        assert!(!Waited::Event.ends(one));
        assert!(!Waited::Device(0).ends(stream(SEVERAL, UNKNOWN)));
    }

    #[test]
    fn what_a_destroyed_stream_freed_is_not_ended_by_the_next_of_its_handle() {
        let place = state::map::<State>(false).unwrap();
        // SAFETY: all zero is a state, and the mapping stays.
        let state: &'static State = unsafe { &*place.as_ptr() };
        let handle = 0x1000;
        let stream = Stream { key: handle + FIRST, device: 0 };
        add_to(state, 0, 7, stream);
        add_to(state, 0, 5, Stream { key: stream.key + 8, device: 0 });
        stream_ends(state, handle);
        release(state, Waited::Stream(stream));
        assert_eq!(state.pending_count.load(Ordering::Relaxed), 2);
        release(state, Waited::Stream(Stream { key: stream.key + 8, device: 0 }));
        assert_eq!(state.pending_count.load(Ordering::Relaxed), 1);
        release(state, Waited::Device(0));
        assert_eq!(state.pending_count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn words_keep_what_they_say() {
        assert_eq!(unpack(pack(15, 3, u32::MAX)), (15, 3, u32::MAX));
    }
}
