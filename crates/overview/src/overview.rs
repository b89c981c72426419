//! Everything that is shown of a pond, as it was at one moment.

use std::collections::BTreeMap;

use millpond_view as view;
use serde::{Deserialize, Serialize};

use crate::{Card, TensorGroup};

/// Whose objects a connection is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sees {
    /// Those of all users.
    Everything,
    /// Those that the caller may use.
    Own,
}

/// A pond at one moment. The answers that it is made of come one after the other, so two of them can
/// differ by what happened between.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// When it was collected.
    pub at_unix_ms: u64,
    /// Whose objects are in it.
    pub sees: Sees,
    /// The pond, its movers, its hosts, its counters.
    pub status: view::Status,
    /// One for each GPU of the pond, in the order of `status`.
    pub cards: Vec<Card>,
    /// Models with their versions.
    pub models: Vec<view::Model>,
    /// Groups with limit and use by GPU.
    pub groups: Vec<view::Group>,
    /// The processes of each group; empty unless [`Options::members`](crate::Options::members) is set.
    pub members: Vec<GroupMembers>,
    /// Elastic caches.
    pub caches: Vec<view::Cache>,
    /// Processes that are connected, or silent and alive.
    pub processes: Vec<view::Process>,
    /// What users have of everything that is counted; empty where the pond does not say.
    pub users: Vec<view::UserUse>,
    /// The largest tensors, and equal ones by name.
    pub tensors: Vec<view::Tensor>,
    /// How many tensors there are.
    pub tensors_total: u64,
    /// How many of them are in `tensors`.
    pub tensors_shown: u64,
    /// All others, by GPU, owner and first component of the name.
    pub tensor_groups: Vec<TensorGroup>,
    /// Names of the users that are mentioned and that this machine knows.
    pub user_names: BTreeMap<u32, String>,
}

/// The processes of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMembers {
    /// The group's name.
    pub group: String,
    /// As `ps --group` shows them.
    pub processes: Vec<view::Member>,
}

impl Overview {
    /// The card that a person means, as [`Card::find`] finds it.
    #[must_use]
    pub fn card(&self, text: &str) -> Option<&Card> {
        Card::find(&self.cards, text)
    }

    /// The name of a user, or the number where the machine knows no name.
    #[must_use]
    pub fn user_name(&self, user: u32) -> String {
        self.user_names.get(&user).cloned().unwrap_or_else(|| user.to_string())
    }
}
