//! What each command does in the pond.

use millpond_wire::{ErrorKind, GpuUuid, Token};
use uuid::Uuid;

use crate::answer::{Code, Given, Refusal};
use crate::command::{Command, Op};
use crate::core::{Core, Halt, Write};
use crate::store::{Call, Got, Store};
use crate::truth::{Tensor, Truth, Wanted};
use crate::view;

/// A list has at most so many tensors: it is one answer.
pub const LISTED: usize = 1000;
/// Tokens for what follows from a command, in a name space of its token.
const UNDONE: &[u8] = b"undone";

/// What became of a command.
#[derive(Debug)]
pub enum Outcome {
    Given(Result<Given, Refusal>),
    /// It is for this node.
    Forward(String),
}

type Carried = Result<Result<Given, Refusal>, Halt>;

/// An answer that says no ends the command, and only that.
macro_rules! given {
    ($asked:expr) => {
        match $asked? {
            Ok(given) => given,
            Err(refusal) => return Ok(Err(refusal)),
        }
    };
}

impl<T: Truth, S: Store> Core<T, S> {
    pub fn carry_out(&mut self, command: &Command) -> Result<Outcome, Halt> {
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
        let carried = match &command.op {
            Op::Create { name, .. } => self.create(name, command)?,
            Op::Get { name, pid, device } => self.get(name, *pid, *device, command.token)?,
            Op::Delete { name, pid } => self.give_up(name, *pid, command.token)?,
            Op::List { prefix } => self.list(prefix, command.node.is_none())?,
            Op::Info { name } => self.info(name)?,
            Op::Clone { from, to, device } => self.copy(from, to, *device, command.token)?,
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
        let Some(owner) = self.other_owner(subject)? else {
            return Ok(Outcome::Given(carried));
        };
        // Whoever gets it opens its memory, and can do that on that machine only.
        if command.node.is_none() && !matches!(command.op, Op::Get { .. }) {
            return Ok(Outcome::Forward(owner));
        }
        Ok(Outcome::Given(Err(wrong_node(subject, &owner))))
    }

    /// The other node, if it lives, that has a tensor of this name.
    fn other_owner(&mut self, name: &str) -> Result<Option<String>, Halt> {
        let Got::Text(Some(owner)) = self.one(Call::Owner(name.to_owned()))? else {
            return Ok(None);
        };
        if owner == self.keys.node() && self.ask(|truth| truth.inspect(name))?.is_err() {
            // Its event is still on the way, or was missed.
            self.refresh(name)?;
        }
        let other = owner != self.keys.node() && self.lives(&owner)?;
        Ok(other.then_some(owner))
    }

    fn create(&mut self, name: &str, command: &Command) -> Carried {
        let Op::Create { dtype, shape, device, .. } = &command.op else {
            return Ok(Err(Refusal::new(Code::UnknownOp, "not a create")));
        };
        if let Some(owner) = self.other_owner(name)? {
            return Ok(Err(wrong_node(name, &owner)));
        }
        let gpu = given!(self.gpu(*device));
        let (shape, token) = (shape.clone(), command.token);
        let wanted = Wanted { name: name.to_owned(), dtype: *dtype, shape, gpu, token };
        let made = match self.ask(|truth| truth.create(&wanted))? {
            Ok(made) => made,
            // What was made by this command is gone by now.
            Err(refusal) if refusal.code == Code::Kind(ErrorKind::NotFound) => {
                return Ok(Err(refusal.hint("a new command needs a new `id`")));
            }
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.made(name, &made, token)
    }

    /// Shows a new tensor, before anybody is told of it. If another node was first, it goes again.
    fn made(&mut self, name: &str, made: &Tensor, token: Token) -> Carried {
        if made.holds.is_none() {
            return Ok(Err(not_shared(name)));
        }
        self.is_mine(made.id);
        let fields = self.fields(made)?;
        self.one(Call::Index(vec![name.to_owned()]))?;
        // What was to be shown of one before it is old.
        self.writes.remove(name);
        let show = Call::Project { name: name.to_owned(), fields: fields.clone(), force: false };
        if let Got::Text(Some(owner)) = self.one(show)?
            && let Some(owner) = self.claim(name, fields.clone(), &owner)?
        {
            let undo = Token(Uuid::new_v5(&token.0, UNDONE));
            let _ = self.ask(|truth| truth.unhold(name, None, undo))?;
            return Ok(Err(wrong_node(name, &owner)));
        }
        Ok(Ok(Given::Tensor(fields)))
    }

    fn get(&mut self, name: &str, pid: Option<u32>, device: Option<u32>, token: Token) -> Carried {
        if let Some(device) = device {
            let tensor = given!(self.ask(|truth| truth.inspect(name)));
            let gpu = given!(self.gpu(device));
            if tensor.gpu != gpu {
                let fields = self.fields_with(&tensor, None)?.value();
                let right = &fields["device"];
                let message = format!("tensor '{name}' is on device {right}, not on {device}");
                let refusal = Refusal::new(Code::WrongDevice, message);
                return Ok(Err(refusal.hint("leave `device` out, or clone the tensor")));
            }
        }
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

    fn copy(&mut self, from: &str, to: &str, device: u32, token: Token) -> Carried {
        let source = given!(self.ask(|truth| truth.inspect(from)));
        if source.holds.is_none() {
            return Ok(Err(not_shared(from)));
        }
        if let Some(owner) = self.other_owner(to)? {
            return Ok(Err(wrong_node(to, &owner)));
        }
        let gpu = given!(self.gpu(device));
        let (dtype, shape) = (source.dtype, source.shape);
        let wanted = Wanted { name: to.to_owned(), dtype, shape, gpu, token };
        let made = given!(self.ask(|truth| truth.copy(from, &wanted)));
        self.made(to, &made, token)
    }

    /// The GPU at a place of the pond's list.
    fn gpu(&mut self, device: u32) -> Result<Result<GpuUuid, Refusal>, Halt> {
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

fn wrong_node(name: &str, owner: &str) -> Refusal {
    let message = format!("tensor '{name}' is on node '{owner}'");
    let hint = format!("ask there, from a program of that machine: \"node\":\"{owner}\"");
    Refusal::new(Code::WrongNode, message).hint(hint).node(owner)
}

fn not_shared(name: &str) -> Refusal {
    let message = format!("tensor '{name}' was not made through Redis and has no handle here");
    Refusal::new(Code::NotShared, message).hint("clients of the pond get it by its name")
}
