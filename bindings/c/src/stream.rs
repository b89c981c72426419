//! Streams of the caller.

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use millpond::cuda::{Context, Stream};

/// A stream of the caller's, for one call.
pub(crate) struct Foreign(ManuallyDrop<Stream>);

impl Foreign {
    /// A `CUstream` or `cudaStream_t`; NULL is the legacy default stream.
    pub(crate) fn of(context: &Context, stream: *mut c_void) -> Self {
        // SAFETY: the header demands a stream that lives until the call is over; the driver refuses one of another
        // context where it is used.
        let stream = unsafe { Stream::from_raw(context, stream.cast()) };
        Self(ManuallyDrop::new(stream))
    }
}

impl std::ops::Deref for Foreign {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.0
    }
}
