//! Tied weights of a checkpoint: compared here, stored once.

use std::ops::ControlFlow;

use millpond_weights::ties::{Pair, Stretch, pairs};
use millpond_weights::{Checkpoint, PlannedTensor};

use super::LoadPhase;
use super::files::unreadable;
use super::stop::Stop;
use super::teller::Teller;
use crate::Result;
use crate::transfer::lanes;

/// Tensors that are left out, each as a further name of another one.
#[derive(Debug, Default)]
pub(super) struct Ties {
    /// The further name, and the tensor that it is a name of.
    pub(super) names: Vec<(String, String)>,
    /// Bytes that are stored once instead of twice.
    pub(super) bytes: u64,
    /// Bytes that were read to find that out.
    pub(super) bytes_read: u64,
}

impl Ties {
    /// Compares the pairs of a checkpoint, and takes the heads that are equal out of `planned`.
    pub(super) fn take(
        checkpoint: &Checkpoint,
        planned: &mut Vec<PlannedTensor>,
        told: &mut Teller<'_>,
        stop: &Stop,
    ) -> Result<Self> {
        let (mut ties, mut heads) = (Self::default(), Vec::new());
        for pair in pairs(checkpoint, planned) {
            if !heads.contains(&pair.head)
                && ties.is_equal(&pair, checkpoint, planned, told, stop)?
            {
                let name = |at: usize| planned.get(at).map(|one| one.name.clone());
                ties.names.extend(name(pair.head).zip(name(pair.embedding)));
                ties.bytes += pair.bytes;
                heads.push(pair.head);
            }
        }
        let mut at = 0;
        planned.retain(|_| {
            at += 1;
            !heads.contains(&(at - 1))
        });
        Ok(ties)
    }

    fn is_equal(
        &mut self,
        pair: &Pair,
        checkpoint: &Checkpoint,
        planned: &[PlannedTensor],
        told: &mut Teller<'_>,
        stop: &Stop,
    ) -> Result<bool> {
        told.begin(LoadPhase::Checking, 2 * pair.bytes);
        let (mut equal, bytes_read) = (true, &mut self.bytes_read);
        let work = |stretch: Stretch<'_>| {
            stretch.is_equal().map(|same| (same, 2 * stretch.bytes)).map_err(unreadable)
        };
        let mut landed = |(same, bytes): (bool, u64)| {
            *bytes_read += bytes;
            told.add(bytes);
            equal &= same;
            if equal { stop.flow() } else { ControlFlow::Break(()) }
        };
        let mut stretches = pair.stretches(checkpoint, planned);
        if let Some(first) = stretches.next()
            && landed(work(first)?).is_continue()
        {
            lanes::run(lanes::lanes(pair.count(), pair.bytes), stretches, work, &mut landed)?;
        }
        stop.check()?;
        Ok(equal)
    }
}
