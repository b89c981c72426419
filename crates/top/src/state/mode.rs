//! What lies above the list: help, details, questions.

use millpond::{GpuUuid, GroupName, TensorId, VersionId};
use millpond_view::{Lease, Member};

use crate::actions::{Action, Refusal};
use crate::panes::Pane;

/// What the keys go to.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    #[default]
    Browse,
    /// The filter is written; what it was before.
    Filter {
        before: String,
    },
    /// The keys are listed, from this line on.
    Help {
        top: usize,
    },
    Details(Box<Details>),
    /// Something is about to be done, and asked for first.
    Ask(Action),
    /// A new limit is written.
    Limit(LimitInput),
    /// Something was refused.
    Refused(Refusal),
}

/// A thing that is looked at closely.
#[derive(Clone, Debug)]
pub struct Details {
    pub pane: Pane,
    /// Which one, in this picture and the next.
    pub identity: String,
    pub title: String,
    /// What only the pond can say about it.
    pub subject: Option<Subject>,
    pub answer: Option<Answer>,
    /// The first line on the screen.
    pub top: usize,
}

/// What the pond is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Tensor(TensorId),
    Version(VersionId),
    Group(GroupName),
}

/// What it says.
#[derive(Clone, Debug)]
pub enum Answer {
    Leases(Vec<Lease>),
    Members(Vec<Member>),
    Refused(String),
}

/// The limit of a group that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitInput {
    pub group: GroupName,
    pub device: GpuUuid,
    pub gpu: Option<u32>,
    pub limit_bytes: Option<u64>,
    pub used_bytes: u64,
    pub text: String,
    /// What is wrong with the text.
    pub wrong: Option<String>,
}
