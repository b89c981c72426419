//! The ways to divide the memory of a card between models.

use crate::card::Card;
use crate::counted::{Counted, equal_shares, shares_by_load};
use crate::elastic::{Elastic, Making};
use crate::engine::play;
use crate::error::TraceError;
use crate::outcome::Run;
use crate::pace::Pace;
use crate::trace::Trace;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How memory is divided.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Every model has the same, from the beginning on.
    StaticEqual,
    /// Every model has its part of the mean load, from the beginning on.
    StaticByLoad,
    /// Elastic caches under one limit.
    Elastic,
    /// The same, with two rows of pages made ahead.
    ElasticAhead,
    /// Elastic caches with all layers of a block side by side: rows of 4 MiB.
    ElasticFine,
    /// One budget, of which every block can be anybody's at once and for nothing.
    Oracle,
}

impl Way {
    /// All of them, as they are shown.
    pub const ALL: [Self; 6] = [
        Self::StaticEqual,
        Self::StaticByLoad,
        Self::Elastic,
        Self::ElasticAhead,
        Self::ElasticFine,
        Self::Oracle,
    ];

    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::StaticEqual => "static, equal",
            Self::StaticByLoad => "static, by load",
            Self::Elastic => "elastic",
            Self::ElasticAhead => "elastic, ahead",
            Self::ElasticFine => "elastic, fine",
            Self::Oracle => "oracle",
        }
    }

    /// Plays a trace this way, on a modelled card whose memory for blocks has so many bytes.
    ///
    /// # Errors
    /// As for [`play`]; a model of which not even a row fits.
    pub fn simulate(
        self,
        trace: &Trace,
        bytes: u64,
        patience: Duration,
    ) -> Result<Run, TraceError> {
        let split = |shares: &[u64]| Counted::split(trace, shares);
        let elastic = |is_ahead, is_fine| {
            Elastic::new(trace, bytes, Making { is_ahead, is_fine }, Card::new(bytes))
        };
        let pace = Pace::Virtual;
        match self {
            Self::StaticEqual => play(trace, split(&equal_shares(trace, bytes)), patience, pace),
            Self::StaticByLoad => play(trace, split(&shares_by_load(trace, bytes)), patience, pace),
            Self::Elastic => play(trace, elastic(false, false)?, patience, pace),
            Self::ElasticAhead => play(trace, elastic(true, false)?, patience, pace),
            Self::ElasticFine => play(trace, elastic(false, true)?, patience, pace),
            Self::Oracle => play(trace, Counted::ideal(trace, bytes), patience, pace),
        }
    }
}
