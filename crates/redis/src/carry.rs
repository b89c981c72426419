//! What each command does in the pond.

use millpond_wire::{Dtype, ErrorKind, GpuUuid, Shape, Token};

use crate::answer::{Code, Fields, Given, Refusal};
use crate::command::{Command, Op};
use crate::core::{Core, Halt, Write};
use crate::store::{Call, Got, Owner, Store};
use crate::truth::Truth;
use crate::view;

/// A list has at most so many tensors: it is one answer.
pub const LISTED: usize = 1000;

/// What became of a command.
#[derive(Debug)]
pub enum Outcome {
    Given(Result<Given, Refusal>),
    /// The answer as it was.
    Said(String),
    /// It is for this node.
    Forward(String),
}

pub type Carried = Result<Result<Given, Refusal>, Halt>;

/// An answer that says no ends the command, and only that.
macro_rules! given {
    ($asked:expr) => {
        match $asked? {
            Ok(given) => given,
            Err(refusal) => return Ok(Err(refusal)),
        }
    };
}

pub(crate) use given;

impl<T: Truth, S: Store> Core<T, S> {
    /// Carries out a command. `gave` is what is remembered of its last time.
    pub fn carry_out(&mut self, command: &Command, gave: Option<&str>) -> Result<Outcome, Halt> {
        if let Some(node) = command.node.as_deref().filter(|node| *node != self.keys.node()) {
            if self.lives(node)? {
                return Ok(Outcome::Forward(node.to_owned()));
            }
            let refusal = Refusal::new(
                Code::Kind(ErrorKind::NotFound),
                format!("node '{node}' does not answer"),
            );
            let refusal = refusal.hint("`millpond redis nodes` lists those that do").node(node);
            return Ok(Outcome::Given(Err(refusal)));
        }
        if let Some(gave) = gave
            && let Some(outcome) = self.again(command, gave)?
        {
            return Ok(outcome);
        }
        let carried = match &command.op {
            Op::Create { name, .. } => self.create(name, command)?,
            Op::Get { name, pid, .. } => self.get(name, *pid, command)?,
            Op::Delete { name, pid } => self.give_up(name, *pid, command.token)?,
            Op::List { prefix } => self.list(prefix, command.node.is_none())?,
            Op::Info { name } => self.info(name)?,
            Op::Clone { from, to, device, pid } => {
                self.copy(from, to, *device, *pid, command.token)?
            }
        };
        match (&carried, command.op.subject()) {
            (Err(refusal), Some(subject)) if refusal.code == Code::Kind(ErrorKind::NotFound) => {
                self.elsewhere(command, subject, carried)
            }
            _ => Ok(Outcome::Given(carried)),
        }
    }

    /// A tensor that this pond does not have may be another node's.
    fn elsewhere(
        &mut self,
        command: &Command,
        subject: &str,
        carried: Result<Given, Refusal>,
    ) -> Result<Outcome, Halt> {
        let Owner::Node(owner) = self.owner(subject)? else {
            return Ok(Outcome::Given(carried));
        };
        // Whoever gets it opens its memory, and can do that on that machine only.
        if command.node.is_none() && !matches!(command.op, Op::Get { .. }) {
            return Ok(Outcome::Forward(owner));
        }
        Ok(Outcome::Given(Err(wrong_node(subject, &owner))))
    }

    /// Whose a name is: another node's if that lives, another application's, or free for this one.
    pub fn owner(&mut self, name: &str) -> Result<Owner, Halt> {
        let node = match self.one(Call::Owner(name.to_owned()))? {
            Got::Owner(Owner::Node(node)) => node,
            Got::Owner(owner) => return Ok(owner),
            _ => return Ok(Owner::Nobody),
        };
        if node == self.keys.node() {
            if self.ask(|truth| truth.inspect(name))?.is_err() {
                // Its event is still on the way, or was missed.
                self.refresh(name)?;
            }
            return Ok(Owner::Nobody);
        }
        Ok(if self.lives(&node)? { Owner::Node(node) } else { Owner::Nobody })
    }

    /// Whether a tensor is as a get says.
    fn is_as_wanted(&mut self, name: &str, op: &Op) -> Result<Result<(), Refusal>, Halt> {
        let Op::Get { device, dtype, shape, .. } = op else { return Ok(Ok(())) };
        if device.is_none() && dtype.is_none() && shape.is_none() {
            return Ok(Ok(()));
        }
        let tensor = given!(self.ask(|truth| truth.inspect(name)));
        let fields = self.fields_with(&tensor, None)?;
        if let Some(device) = device
            && tensor.gpu != given!(self.gpu(*device))
        {
            let right = &fields.value()["device"];
            let message = format!("tensor '{name}' is on device {right}, not on {device}");
            let refusal = Refusal::new(Code::WrongDevice, message);
            return Ok(Err(refusal.hint("leave `device` out, or clone the tensor")));
        }
        let (right, wanted) = (
            (tensor.dtype, &tensor.shape),
            (dtype.unwrap_or(tensor.dtype), shape.as_ref().unwrap_or(&tensor.shape)),
        );
        if right == wanted {
            return Ok(Ok(()));
        }
        let text = |(dtype, shape): (Dtype, &Shape)| {
            format!("{} {}", dtype.name().to_ascii_lowercase(), Fields::shape(shape))
        };
        let message = format!("tensor '{name}' is {}, not {}", text(right), text(wanted));
        let refusal = Refusal::new(Code::Kind(ErrorKind::Exists), message);
        Ok(Err(refusal.hint("leave `dtype` and `shape` out, or get another tensor")))
    }

    fn get(&mut self, name: &str, pid: Option<u32>, command: &Command) -> Carried {
        given!(self.is_as_wanted(name, &command.op));
        let token = command.token;
        let opened = match self.ask(|truth| truth.hold(name, pid, token))? {
            Ok(opened) => opened,
            Err(refusal) => return self.refused(name, refusal),
        };
        self.knows_handle(opened.tensor.id, opened.handle);
        let fields = self.fields_with(&opened.tensor, Some(&opened.handle))?;
        self.write(name.to_owned(), Write::Show(fields.clone()));
        Ok(Ok(Given::Tensor(fields)))
    }

    /// A refusal, in better words where the tensor was not made through Redis.
    fn refused(&mut self, name: &str, refusal: Refusal) -> Carried {
        let found = self.ask(|truth| truth.inspect(name))?;
        let native = found.is_ok_and(|found| found.holds.is_none());
        Ok(Err(if native { not_shared(name) } else { refusal }))
    }

    fn give_up(&mut self, name: &str, pid: Option<u32>, token: Token) -> Carried {
        let tensor = match self.ask(|truth| truth.unhold(name, pid, token))? {
            Ok(tensor) => tensor,
            Err(refusal) => return self.refused(name, refusal),
        };
        self.refresh(name)?;
        Ok(Ok(Given::Left(self.fields_with(&tensor, None)?.without_handle())))
    }

    fn list(&mut self, prefix: &str, everywhere: bool) -> Carried {
        let mut tensors = Vec::new();
        let mut own = given!(self.ask(|truth| truth.list(prefix)));
        own.sort_by(|one, other| one.name.cmp(&other.name));
        let mut truncated = own.len() > LISTED;
        for tensor in own.iter().take(LISTED) {
            tensors.push(self.fields_with(tensor, None)?.without_handle().value());
        }
        if everywhere && !truncated {
            let room = LISTED - tensors.len();
            let mut others = self.others(prefix, room + 1)?;
            truncated = others.len() > room;
            others.truncate(room);
            tensors.extend(others);
        }
        Ok(Ok(Given::List { tensors, truncated }))
    }

    /// Tensors of other nodes, as Redis has them.
    fn others(&mut self, prefix: &str, at_most: usize) -> Result<Vec<serde_json::Value>, Halt> {
        let own = self.keys.node().to_owned();
        loop {
            match view::tensors(&mut self.store, prefix, at_most, |node| node != own) {
                Ok(others) => return Ok(others),
                Err(lost) => self.reconnect(&lost.0)?,
            }
        }
    }

    fn info(&mut self, name: &str) -> Carried {
        let tensor = given!(self.ask(|truth| truth.inspect(name)));
        Ok(Ok(Given::Tensor(self.fields(&tensor)?)))
    }

    /// The GPU at a place of the pond's list.
    pub fn gpu(&mut self, device: u32) -> Result<Result<GpuUuid, Refusal>, Halt> {
        let find = |core: &Self| {
            let gpus = &core.status.as_ref()?.gpus;
            gpus.iter().find(|gpu| gpu.index == device).map(|gpu| gpu.uuid)
        };
        if find(self).is_none() {
            self.look()?;
        }
        let count = self.status.as_ref().map_or(0, |status| status.gpus.len());
        Ok(find(self).ok_or_else(|| {
            let message = format!("there is no GPU {device}; the pond of this node has {count}");
            Refusal::new(Code::Kind(ErrorKind::NoDevice), message)
        }))
    }
}

pub fn wrong_node(name: &str, owner: &str) -> Refusal {
    let message = format!("tensor '{name}' is on node '{owner}'");
    let hint = format!("ask there, from a program of that machine: \"node\":\"{owner}\"");
    Refusal::new(Code::WrongNode, message).hint(hint).node(owner)
}

pub fn not_shared(name: &str) -> Refusal {
    let message = format!("tensor '{name}' was not made through Redis and has no handle here");
    Refusal::new(Code::NotShared, message).hint("clients of the pond get it by its name")
}
