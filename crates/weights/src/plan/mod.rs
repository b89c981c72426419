//! What a rank takes of a checkpoint: whole tensors, their part of a split, or slices, by rules.

mod cut;
mod glob;

use millpond_wire::{Dtype, Run, Shape, caps};
use serde::Deserialize;

use crate::checkpoint::{Checkpoint, SourceTensor};
use crate::shown;
use cut::Cut;

pub use cut::MOST_RUNS;
pub use glob::Glob;

/// Rules, the first that matches a tensor's name counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    rank: u64,
    world: u64,
    rules: Vec<Rule>,
    otherwise: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    glob: Glob,
    action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Replicate,
    Skip,
    /// This rank's part of a dimension.
    Split(usize),
    /// So much of each dimension.
    Slice(Vec<Option<(u64, u64)>>),
}

/// A tensor as it will be in the version, and where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Shape,
    pub bytes: u64,
    /// Which of the checkpoint's files.
    pub file: usize,
    /// Its bytes in the file, one after the other; none follows the one before it directly.
    pub runs: Vec<Run>,
}

/// Why a plan is refused.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON, or not of the kind.
    #[error("the plan cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A rank that is not there.
    #[error("the plan is for rank {rank} of {world}; ranks go from 0 to world - 1")]
    Rank {
        rank: u64,
        /// How many there are.
        world: u64,
    },
    /// A pattern that cannot be read.
    #[error("rule {rule} of the plan: the pattern '{}' has a '[' that is not closed", shown(.pattern))]
    Pattern {
        /// Its place, from 1.
        rule: usize,
        pattern: String,
    },
    /// Both or none of split and slice.
    #[error("rule {rule} of the plan: say either \"split\" or \"slice\"")]
    Action {
        /// Its place, from 1.
        rule: usize,
    },
    /// A dimension that does not divide.
    #[error("tensor '{}' of shape {shape}: dimension {dimension} cannot be split for {world} ranks", shown(.name))]
    Indivisible { name: String, shape: Shape, dimension: usize, world: u64 },
    /// A dimension that is not there.
    #[error("tensor '{}' of shape {shape} has no dimension {dimension} to cut; use \"split\": \"replicate\" for it", shown(.name))]
    NoDimension { name: String, shape: Shape, dimension: usize },
    /// A slice that is empty, or outside the tensor.
    #[error("tensor '{}' of shape {shape}: the slice [{start}, {end}] of dimension {dimension} is empty or not inside", shown(.name))]
    Slice { name: String, shape: Shape, dimension: usize, start: u64, end: u64 },
    /// A cut between two elements that share a byte.
    #[error("tensor '{}' of shape {shape}: its {dtype} elements share bytes, and this cut goes through one", shown(.name))]
    InsideByte { name: String, shape: Shape, dtype: Dtype },
    #[error("tensor '{}' of shape {shape} would be read in {runs} runs; at most {MOST_RUNS}: cut it along an earlier dimension", shown(.name))]
    TooManyRuns { name: String, shape: Shape, runs: u64 },
    /// Everything was left out.
    #[error("the plan takes none of the {0} tensors")]
    Nothing(usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanText {
    #[serde(default)]
    rank: u64,
    #[serde(default = "one")]
    world: u64,
    #[serde(default)]
    rules: Vec<RuleText>,
    #[serde(default)]
    otherwise: Otherwise,
}

fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    #[serde(rename = "match")]
    pattern: String,
    split: Option<SplitText>,
    slice: Option<Vec<Option<(u64, u64)>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SplitText {
    Column,
    Row,
    Replicate,
    Skip,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Otherwise {
    #[default]
    Replicate,
    Skip,
}

impl Plan {
    #[must_use]
    pub fn everything() -> Self {
        Self { rank: 0, world: 1, rules: Vec::new(), otherwise: Action::Replicate }
    }

    /// Reads a plan in JSON.
    ///
    /// # Errors
    /// [`PlanError`] that names the rule.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let read: PlanText = serde_json::from_str(text)?;
        let (rank, world) = (read.rank, read.world);
        if rank >= world {
            return Err(PlanError::Rank { rank, world });
        }
        let rules = read.rules.into_iter().enumerate();
        let rules =
            rules.map(|(index, rule)| Rule::new(index + 1, rule)).collect::<Result<_, _>>()?;
        let otherwise = match read.otherwise {
            Otherwise::Replicate => Action::Replicate,
            Otherwise::Skip => Action::Skip,
        };
        Ok(Self { rank, world, rules, otherwise })
    }

    /// What it takes of a checkpoint, in the checkpoint's order.
    ///
    /// # Errors
    /// [`PlanError`] that names the tensor.
    pub fn apply(&self, checkpoint: &Checkpoint) -> Result<Vec<PlannedTensor>, PlanError> {
        self.apply_to(&checkpoint.tensors)
    }

    /// As [`Plan::apply`], without the files.
    ///
    /// # Errors
    /// [`PlanError`] that names the tensor.
    pub fn apply_to(&self, tensors: &[SourceTensor]) -> Result<Vec<PlannedTensor>, PlanError> {
        let mut planned = Vec::with_capacity(tensors.len());
        for tensor in tensors {
            planned.extend(self.take(tensor)?);
        }
        if planned.is_empty() { Err(PlanError::Nothing(tensors.len())) } else { Ok(planned) }
    }

    fn take(&self, tensor: &SourceTensor) -> Result<Option<PlannedTensor>, PlanError> {
        let rule = self.rules.iter().find(|rule| rule.glob.matches(&tensor.name));
        let cut = match rule.map_or(&self.otherwise, |rule| &rule.action) {
            Action::Skip => return Ok(None),
            Action::Replicate => Cut::whole(tensor),
            Action::Split(dimension) => Cut::split(tensor, *dimension, self.rank, self.world)?,
            Action::Slice(slices) => Cut::slice(tensor, slices)?,
        };
        cut.read(tensor).map(Some)
    }
}

impl Rule {
    fn new(rule: usize, text: RuleText) -> Result<Self, PlanError> {
        let Some(glob) = Glob::new(&text.pattern) else {
            return Err(PlanError::Pattern { rule, pattern: text.pattern });
        };
        let action = match (text.split, text.slice) {
            (Some(SplitText::Column), None) => Action::Split(0),
            (Some(SplitText::Row), None) => Action::Split(1),
            (Some(SplitText::Replicate), None) => Action::Replicate,
            (Some(SplitText::Skip), None) => Action::Skip,
            (None, Some(slices)) if slices.len() <= caps::DIMENSIONS => Action::Slice(slices),
            _ => return Err(PlanError::Action { rule }),
        };
        Ok(Self { glob, action })
    }
}

#[cfg(test)]
mod tests;
