//! Calls about groups: whoever shares a limit.

use std::path::PathBuf;

use millpond_wire::message::{
    GroupDetails, GroupInfo, GroupJoin, GroupLimit, GroupSet, ReplyBody, RequestBody,
};
use millpond_wire::{GpuUuid, GroupName, Token};

use crate::answer::not_an_answer;
use crate::{Pond, Result};

/// A place in a group, for a program that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSeat {
    /// The group's name, also if nobody gave it one.
    pub name: GroupName,
    /// Where its ledger and its limits are: what `MILLPOND_LEDGER` of the program must say.
    pub folder: PathBuf,
    /// It ends with its last process.
    pub anonymous: bool,
}

impl Pond {
    /// Makes or changes a group. Only for the operator and the user who runs the pond.
    ///
    /// # Errors
    /// `denied`, `not_found`, `gpu_full` if not every `min` fits the card, `in_use` if a process
    /// keeps the group's lock, and what else the pond answers.
    pub fn set_group(&self, set: GroupSet) -> Result<GroupDetails> {
        self.group_details("a change of a group", RequestBody::GroupSet(set))
    }

    /// Takes a place in a group for a program that this process is about to become or to start: in
    /// a group of its own if there is no name. The group of a name that nobody has is made if there
    /// is a limit for it.
    ///
    /// # Errors
    /// `not_found`, `denied`, `exists` if the group has another limit, and what else the pond
    /// answers.
    pub fn join_group(
        &self,
        group: Option<GroupName>,
        limit: Option<GroupLimit>,
        device: Option<GpuUuid>,
    ) -> Result<GroupSeat> {
        const WHAT: &str = "a place in a group";
        let join = GroupJoin { token: Token::random(), group, device, limit };
        match self.core().link.ask(WHAT, RequestBody::GroupJoin(join))?.body {
            ReplyBody::GroupJoined { name, folder, anonymous } => {
                Ok(GroupSeat { name, folder: folder.into(), anonymous })
            }
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Every group, with what it holds on each GPU.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn groups(&self) -> Result<Vec<GroupInfo>> {
        const WHAT: &str = "a listing of groups";
        match self.core().link.ask(WHAT, RequestBody::GroupList)?.body {
            ReplyBody::Groups(groups) => Ok(groups),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Everything about one group: its processes as well.
    ///
    /// # Errors
    /// `not_found`, `denied`, and what else the pond answers.
    pub fn group(&self, group: GroupName) -> Result<GroupDetails> {
        self.group_details("an inspection of a group", RequestBody::GroupInspect { group })
    }

    /// Removes a group that has no processes.
    ///
    /// # Errors
    /// `not_found`, `denied`, `in_use` while it has processes, and what else the pond answers.
    pub fn remove_group(&self, group: GroupName) -> Result<()> {
        self.core().link.ask_done("the end of a group", RequestBody::GroupRemove { group })
    }

    fn group_details(&self, what: &'static str, body: RequestBody) -> Result<GroupDetails> {
        match self.core().link.ask(what, body)?.body {
            ReplyBody::GroupDetails(details) => Ok(*details),
            _ => Err(not_an_answer(what)),
        }
    }
}
