//! What a stream-ordered pool stands on: pages that somebody pays for, and streams.

use crate::elastic_error::ElasticError;
use crate::pages::PageError;
use std::ops::Range;

/// Pages under one range of addresses, and the streams that work there. No lock of the pool is held
/// during any of these calls.
pub trait Ground: Send + Sync {
    /// A queue of work. Clones are the same one.
    type Stream: Clone + Send + Sync;
    /// A place in a stream that the device passes once.
    type Mark: Send + Sync;

    /// The number of this process, which a fork changes. It is asked for with every block.
    fn process(&self) -> u32 {
        std::process::id()
    }

    /// The first address.
    fn base(&self) -> u64;

    /// The size of a page.
    fn granule(&self) -> u64;

    /// The most that is given back at once. Memory that was added together may be one handle of that
    /// size, which ends as a whole, at a multiple of its size.
    fn largest_handle(&self) -> u64 {
        self.granule()
    }

    /// How many addresses there are, in bytes.
    fn bytes(&self) -> u64;

    /// Puts memory under whole pages that have none.
    ///
    /// # Errors
    /// Nobody pays, the card is full, or the driver failed: nothing has changed then.
    fn commit(&self, bytes: Range<u64>, patience: Patience) -> Result<(), ElasticError>;

    /// Ends the use of pages. The host has seen the end of all work on them.
    ///
    /// # Errors
    /// What the driver answers. The pages are not used any more even so.
    fn uncommit(&self, bytes: Range<u64>) -> Result<(), ElasticError>;

    /// Gives pages back that are not used.
    ///
    /// # Errors
    /// What the driver answers.
    fn trim(&self, bytes: u64) -> Result<u64, ElasticError>;

    /// Hears about how many bytes no block uses: what a trim of the pool could give back.
    fn offer(&self, _bytes: u64) {}

    /// Waits until all work that was submitted before this call is done. Breaks captures.
    ///
    /// # Errors
    /// What the work met.
    fn settle(&self) -> Result<(), PageError>;

    /// Tells streams apart that live at the same time, also in captures. It makes no call.
    fn handle(&self, stream: &Self::Stream) -> u64;

    /// A number that no other stream ever has. It is not asked for while the stream captures: that would
    /// break the capture.
    ///
    /// # Errors
    /// A stream that does not belong here, and what the driver answers.
    fn id(&self, stream: &Self::Stream) -> Result<u64, PageError>;

    /// Whether a clone of the stream keeps it alive. One that somebody else made may be destroyed.
    fn lasts(&self, stream: &Self::Stream) -> bool;

    /// The number of the capture that the stream's work is written into; `None` when it is done.
    ///
    /// # Errors
    /// What the driver answers.
    fn capture(&self, stream: &Self::Stream) -> Result<Option<u64>, PageError>;

    /// Marks the end of what the stream has been given so far. A mark that is not needed any more may
    /// be used again.
    ///
    /// # Errors
    /// A stream that captures, or whose work waits for one that does; what the driver answers.
    fn record(
        &self,
        stream: &Self::Stream,
        again: Option<Self::Mark>,
    ) -> Result<Self::Mark, PageError>;

    /// Whether the host can see that the device has passed a mark.
    ///
    /// # Errors
    /// What the work before it met.
    fn is_passed(&self, mark: &Self::Mark) -> Result<bool, PageError>;

    /// Waits on the host until the device has passed a mark. Captures go on meanwhile.
    ///
    /// # Errors
    /// What the work before it met.
    fn finish(&self, mark: &Self::Mark) -> Result<(), PageError>;

    /// Lets later work of a stream wait for a mark.
    ///
    /// # Errors
    /// What the driver answers.
    fn wait(&self, stream: &Self::Stream, mark: &Self::Mark) -> Result<(), PageError>;
}

/// How much is done for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// What is free is taken. Nobody is asked, and nothing is waited for.
    Quick,
    /// Others are asked to give way, and waited for.
    Patient,
}
