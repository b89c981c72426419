//! The order in which leases end: the work first, then the mapping, then the pond is told.

use millpond_wire::LeaseId;

/// Leases of one context that their holders have let go of. `M` is what is mapped because of one.
#[derive(Debug)]
pub struct Retiring<M> {
    /// Work may still use these.
    in_use: Vec<(LeaseId, M)>,
    /// Unmapped, but the pond does not know yet.
    unmapped: Vec<LeaseId>,
    /// The context is lost: nobody can tell any more what its work does.
    lost: bool,
}

impl<M> Default for Retiring<M> {
    fn default() -> Self {
        Self { in_use: Vec::new(), unmapped: Vec::new(), lost: false }
    }
}

impl<M> Retiring<M> {
    /// The holder has let go.
    pub fn push(&mut self, lease: LeaseId, mapped: M) {
        self.in_use.push((lease, mapped));
    }

    /// Whether work is to be waited for.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use.len()
    }

    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// All work that was submitted before has ended: these may be unmapped. Each that was, and only
    /// those, is reported with [`Retiring::unmapped`]; what may still be mapped must stay leased.
    pub fn work_ended(&mut self) -> Vec<(LeaseId, M)> {
        if self.lost { Vec::new() } else { std::mem::take(&mut self.in_use) }
    }

    /// Nobody can tell any more when work ends. The mappings and their leases stay until the process
    /// ends; they are handed out to be forgotten.
    pub fn context_lost(&mut self) -> Vec<(LeaseId, M)> {
        self.lost = true;
        std::mem::take(&mut self.in_use)
    }

    pub fn unmapped(&mut self, lease: LeaseId) {
        self.unmapped.push(lease);
    }

    /// What the pond is told next.
    #[must_use]
    pub fn to_release(&self) -> &[LeaseId] {
        &self.unmapped
    }

    /// The pond was told. Returns how many these were.
    pub fn released(&mut self) -> usize {
        let count = self.unmapped.len();
        self.unmapped.clear();
        count
    }
}
