//! Commands that were carried out before: the same bytes with the same `id`.
//!
//! The pond remembers the last thousand changes of a user, and all programs of a bridge are one user. So
//! what a command gave is remembered in Redis too, in the step that ends the command, for as long as an
//! answer waits. Between the pond's answer and that step only the pond knows, which is short.

use millpond_wire::{ErrorKind, TensorId, TensorState};

use crate::answer::{Code, Given, Refusal};
use crate::carry::Outcome;
use crate::command::{Command, Op};
use crate::core::{Core, Halt};
use crate::store::{Owner, Store};
use crate::truth::Truth;

/// What is remembered of a command: the answer of a delete, and of what handed memory out the tensor
/// alone. Its handle may open something else by the time of the repeat.
pub fn memory(op: &Op, given: &Result<Given, Refusal>, answer: &str) -> Option<String> {
    match (op, given) {
        (Op::Delete { .. }, Ok(_)) => Some(answer.to_owned()),
        (Op::Info { .. } | Op::List { .. }, _) => None,
        (_, Ok(Given::Tensor(fields))) => fields.id(),
        _ => None,
    }
}

impl<T: Truth, S: Store> Core<T, S> {
    /// What a repeat gives, from what is remembered. None if that is nothing to go by.
    pub fn again(&mut self, command: &Command, gave: &str) -> Result<Option<Outcome>, Halt> {
        let name = match &command.op {
            Op::Delete { .. } => return Ok(Some(Outcome::Said(gave.to_owned()))),
            Op::Create { name, .. } | Op::Get { name, .. } | Op::Clone { to: name, .. } => name,
            Op::Info { .. } | Op::List { .. } => return Ok(None),
        };
        let Ok(id) = gave.parse::<TensorId>() else { return Ok(None) };
        let given = match self.ask(|truth| truth.inspect_id(id))? {
            Ok(tensor) if tensor.state == TensorState::Ready => {
                Ok(Given::Tensor(self.fields(&tensor)?))
            }
            Err(refusal) if refusal.code != Code::Kind(ErrorKind::NotFound) => Err(refusal),
            _ => {
                if let (Owner::Node(node), None) = (self.owner(name)?, &command.node) {
                    return Ok(Some(Outcome::Forward(node)));
                }
                let message = format!("the tensor '{name}' of this command no longer exists");
                let refusal = Refusal::new(Code::Kind(ErrorKind::NotFound), message);
                Err(refusal.hint("a new command needs a new `id`"))
            }
        };
        Ok(Some(Outcome::Given(given)))
    }
}
