//! What is to be done while nobody calls.

use millpond_wire::LeaseId;
use millpond_wire::caps::LEASES_PER_MESSAGE;

use crate::session::{Line, Session};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Nothing is held and nobody is left: [`Session::closed`] is next.
    End,
    /// Leases that nobody has taken; at most one message of them. They are not strays any more: if
    /// their release fails, [`Session::stray`] takes them back.
    Release(Vec<LeaseId>),
    /// Replies of this connection are read: among them may be a lease whose caller has given up, or a
    /// message that nobody asked for.
    Listen(u64),
    /// The end of this connection is looked out for.
    Watch(u64),
    /// A connection is made, over which leases are claimed.
    Reconnect,
    /// Nothing, until something changes.
    Sleep,
}

impl<F, E: Clone> Session<F, E> {
    /// Whether the pond must still be told something about leases.
    #[must_use]
    pub fn has_duties(&self) -> bool {
        !(self.leases.is_empty() && self.strays.is_empty() && self.late.is_empty())
    }

    /// Whether leases wait for their release.
    #[must_use]
    pub fn has_strays(&self) -> bool {
        !self.strays.is_empty()
    }

    /// Whether a grant may come whose caller has given up.
    #[must_use]
    pub fn expects_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// No handle is left.
    pub fn end(&mut self) {
        self.ending = true;
    }

    #[must_use]
    pub fn duty(&mut self) -> Duty {
        if self.ending && !self.has_duties() {
            return Duty::End;
        }
        match self.line {
            Line::Closed => Duty::End,
            Line::Up if !self.strays.is_empty() => {
                let count = self.strays.len().min(LEASES_PER_MESSAGE);
                Duty::Release(self.strays.drain(..count).collect())
            }
            Line::Up if !self.late.is_empty() || self.listens => Duty::Listen(self.generation()),
            Line::Up => Duty::Watch(self.generation()),
            // Nothing is mapped: what the pond may have granted ends with the process.
            Line::Down if self.ending && self.leases.is_empty() => Duty::End,
            Line::Down if self.has_duties() || self.remembered || self.listens => Duty::Reconnect,
            Line::Down | Line::Connecting => Duty::Sleep,
        }
    }
}
