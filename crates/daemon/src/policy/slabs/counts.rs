//! What has become of slabs since this daemon began.

use millpond_wire::message::Counts;

use super::Slab;

/// How many, and of how many bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    number: u64,
    bytes: u64,
}

impl Tally {
    pub(super) fn add(&mut self, bytes: u64) {
        self.number += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlabCounts {
    pub made: Tally,
    reused: Tally,
    pub given_back: Tally,
}

impl SlabCounts {
    /// A tensor comes into a slab; the first one into an empty slab may not be its first.
    pub(super) fn place_in<F>(&mut self, slab: &mut Slab<F>) {
        if std::mem::replace(&mut slab.was_used, true) && slab.tensors == 0 {
            self.reused.add(slab.bytes);
        }
    }

    pub(super) fn count_into(&self, counts: &mut Counts) {
        let Self { made, reused, given_back } = self;
        (counts.slabs_made, counts.slabs_made_bytes) = (made.number, made.bytes);
        (counts.slabs_reused, counts.slabs_reused_bytes) = (reused.number, reused.bytes);
        (counts.slabs_given_back, counts.slabs_given_back_bytes) =
            (given_back.number, given_back.bytes);
    }
}
