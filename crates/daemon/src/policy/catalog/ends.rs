//! When tensors end by themselves.

use std::collections::BTreeSet;

use millpond_wire::TensorId;

use super::{Catalog, Tensor};
use crate::policy::owner::Caller;

/// Which tensors end when.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The earliest end of each tensor that has one, soonest first.
    by_time: BTreeSet<(u64, TensorId)>,
    /// Nobody is known to have leased these for long enough, but a client that has not claimed yet
    /// may hold them.
    held_back: BTreeSet<TensorId>,
    /// Who has said, or can no longer say, what it held from before this daemon, and when.
    settled: Vec<(Caller, u64)>,
}

/// When a tensor ends, as far as is known.
fn end_of(tensor: &Tensor, leased: bool) -> Option<u64> {
    if tensor.is_deleted() {
        return None;
    }
    let life = &tensor.life;
    let unleased = life.linger_ms.filter(|_| !leased);
    let linger = unleased.map(|linger| life.unleased_ms.saturating_add(linger));
    life.expires_ms.into_iter().chain(linger).min()
}

impl Catalog {
    /// Brings a tensor's end up to date, after anything that moves it.
    pub(in crate::policy) fn schedule(&mut self, id: TensorId, leased: bool) {
        let end = self.tensors.get(&id).and_then(|tensor| end_of(tensor, leased));
        self.end_at(id, end);
    }

    /// Sets when a tensor is looked at for its end.
    pub(in crate::policy) fn end_at(&mut self, id: TensorId, at: Option<u64>) {
        let Some(tensor) = self.tensors.get_mut(&id) else { return };
        let before = std::mem::replace(&mut tensor.life.ends_ms, at);
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.ends.by_time.remove(&(before, id));
        }
        if let Some(at) = at {
            self.ends.by_time.insert((at, id));
        }
    }

    /// The tensor is about to be taken out of the books.
    pub(in crate::policy) fn unschedule(&mut self, id: TensorId) {
        self.end_at(id, None);
        self.ends.held_back.remove(&id);
    }

    /// When the next one is to be looked at.
    pub(in crate::policy) fn next_end(&self) -> Option<u64> {
        self.ends.by_time.first().map(|(at, _)| *at)
    }

    /// Takes the first one out whose time has come.
    pub(in crate::policy) fn take_due(&mut self, now_ms: u64) -> Option<TensorId> {
        let (at, id) = self.ends.by_time.first().copied().filter(|(at, _)| *at <= now_ms)?;
        self.ends.by_time.remove(&(at, id));
        if let Some(tensor) = self.tensors.get_mut(&id) {
            tensor.life.ends_ms = None;
        }
        Some(id)
    }

    /// A tensor that would have lingered long enough, if a client did not come back that holds it.
    /// The time that it lives in any case goes on.
    pub(in crate::policy) fn hold_back(&mut self, id: TensorId) {
        self.ends.held_back.insert(id);
        let expires = self.tensors.get(&id).and_then(|tensor| tensor.life.expires_ms);
        self.end_at(id, expires);
    }

    /// A client has said what it held from before, or is gone without having said it. Returns the
    /// tensors that may have waited for it.
    pub(in crate::policy) fn settled(
        &mut self,
        caller: &Caller,
        now_ms: u64,
    ) -> BTreeSet<TensorId> {
        match self.ends.settled.iter_mut().find(|(known, _)| known == caller) {
            Some((_, at)) => *at = now_ms,
            None => self.ends.settled.push((caller.clone(), now_ms)),
        }
        std::mem::take(&mut self.ends.held_back)
    }

    /// When the last one of these came back, or was gone; zero if none did.
    pub(in crate::policy) fn last_settled(&self, of: impl Fn(&Caller) -> bool) -> u64 {
        let settled = self.ends.settled.iter().filter(|(caller, _)| of(caller));
        settled.map(|(_, at)| *at).max().unwrap_or(0)
    }

    /// Nobody is known to hold a tensor since then; an earlier time than is known changes nothing.
    pub(in crate::policy) fn unleased_since(&mut self, id: TensorId, at_ms: u64) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            tensor.life.unleased_ms = tensor.life.unleased_ms.max(at_ms);
        }
    }

    /// One get more was answered.
    pub(in crate::policy) fn count_access(&mut self, id: TensorId, left: u64) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            tensor.life.accesses_left = Some(left);
            tensor.life.accesses = tensor.life.accesses.saturating_add(1);
        }
    }

    /// What the journal says about the gets that are left.
    pub(in crate::policy) fn replay_accesses(&mut self, id: TensorId, left: u64) {
        if let Some(tensor) = self.tensors.get_mut(&id) {
            tensor.life.accesses_left = Some(left);
        }
    }
}
