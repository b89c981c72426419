//! The default streams: the legacy one of a context, and each thread's own.
//!
//! A thread's own stream is a lane of its context's queue, made when the thread first uses it and
//! closed when the thread ends. It is a blocking one: it and the legacy stream wait for each other.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use super::contexts::Context;
use super::ids;
use super::queue::LEGACY;

const STREAM_LEGACY: u64 = 1;
const STREAM_PER_THREAD: u64 = 2;

/// This thread's lanes, one in each context where it has one.
#[derive(Default)]
struct Lanes(Vec<(Weak<Context>, u64)>);

impl Drop for Lanes {
    fn drop(&mut self) {
        for (context, lane) in self.0.drain(..) {
            if let Some(context) = context.upgrade() {
                context.queue.close(lane);
            }
        }
    }
}

thread_local! {
    static OWN_IS_DEFAULT: Cell<bool> = const { Cell::new(false) };
    static LANES: RefCell<Lanes> = RefCell::default();
}

/// Runs a call in which stream 0 is the thread's own.
pub fn with_own_stream<T>(call: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            OWN_IS_DEFAULT.set(self.0);
        }
    }
    let _restore = Restore(OWN_IS_DEFAULT.replace(true));
    call()
}

/// True for the numbers of the default streams, which nobody made and nobody can destroy.
pub const fn is_default(stream: u64) -> bool {
    stream <= STREAM_PER_THREAD
}

/// The lane of a default stream in a context.
pub fn lane(context: &Arc<Context>, stream: u64) -> u64 {
    let own = match stream {
        STREAM_LEGACY => false,
        STREAM_PER_THREAD => true,
        _ => OWN_IS_DEFAULT.get(),
    };
    if own { own_lane(context) } else { LEGACY }
}

fn own_lane(context: &Arc<Context>) -> u64 {
    let found = LANES.try_with(|lanes| {
        let lanes = &mut lanes.borrow_mut().0;
        // A primary context that was reset has a new queue under its old number: compare the object.
        lanes.retain(|(held, _)| held.strong_count() > 0);
        if let Some((_, lane)) =
            lanes.iter().find(|(held, _)| held.as_ptr() == Arc::as_ptr(context))
        {
            return *lane;
        }
        let lane = ids::next();
        context.queue.open(lane, true);
        lanes.push((Arc::downgrade(context), lane));
        lane
    });
    // A destructor of the ending thread still calls: its own stream is gone, the legacy one is not.
    found.unwrap_or(LEGACY)
}
