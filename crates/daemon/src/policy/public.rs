//! Names under `public/`: everybody finds them, so not everybody may take them.
//!
//! A program that reads `public/llama` trusts whoever made it. The operator may always make such
//! names, and says who else may. What is there already stays, whoever made it.

use millpond_wire::{ErrorKind, Failure, TensorName};

use super::owner::Caller;
use super::pond::Pond;
use super::ports::Ports;

/// Somebody beside the operator who may make names under `public/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicWriter {
    Everybody,
    User(u32),
    /// A group in the system's sense.
    UnixGroup(u32),
}

impl PublicWriter {
    fn is(self, caller: &Caller) -> bool {
        match self {
            PublicWriter::Everybody => true,
            PublicWriter::User(user) => caller.owner.user == user,
            PublicWriter::UnixGroup(group) => {
                caller.owner.group == group || caller.groups.contains(&group)
            }
        }
    }
}

impl<P: Ports> Pond<P> {
    /// Whether a request comes from the admin socket or from the user who runs the pond: the one
    /// meaning of *operator*. Root on the other socket is a user like others.
    pub(super) fn is_operator(&self, caller: &Caller) -> bool {
        caller.is_admin() || caller.owner.user == self.accounts.own_user()
    }

    /// Whether a caller may make or move something under this name.
    pub(super) fn may_take(&self, caller: &Caller, name: &TensorName) -> Result<(), Failure> {
        let is_one = |writer: &PublicWriter| writer.is(caller);
        if !name.is_public() || self.is_operator(caller) || self.public_writers.iter().any(is_one) {
            return Ok(());
        }
        let message = format!("user {} may not use the name '{name}'", caller.owner.user);
        Err(Failure::new(ErrorKind::Denied, message).hint(
            "take a name outside `public/` and share it with `everybody`, or ask the operator for \
             a place in `public_writers`",
        ))
    }
}
