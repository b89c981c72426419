//! Commands that make a tensor: it is made, held, shown, and only then told of.

use millpond_wire::{ErrorKind, Token};
use uuid::Uuid;

use crate::answer::{Code, Given, Refusal};
use crate::carry::{Carried, given, not_shared, wrong_node};
use crate::command::{Command, Op};
use crate::core::{Core, Halt};
use crate::store::{Call, Got, Owner, Store};
use crate::truth::{Tensor, Truth, Wanted};

/// Tokens for what follows from a command, in a name space of its token.
const UNDONE: &[u8] = b"undone";
const HELD: &[u8] = b"held";
const GIVEN: &[u8] = b"given";

impl<T: Truth, S: Store> Core<T, S> {
    pub fn create(&mut self, name: &str, command: &Command) -> Carried {
        let Op::Create { dtype, shape, device, pid, .. } = &command.op else {
            return Ok(Err(Refusal::new(Code::UnknownOp, "not a create")));
        };
        given!(self.is_free(name));
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
        self.made(name, made, *pid, token)
    }

    /// Shows a new tensor, before anybody is told of it. If another node was first, it goes again.
    fn made(&mut self, name: &str, made: Tensor, pid: Option<u32>, token: Token) -> Carried {
        if made.holds.is_none() {
            return Ok(Err(not_shared(name)));
        }
        self.is_mine(made.id);
        let made = match pid {
            Some(pid) => given!(self.pass_on(name, pid, token)),
            None => made,
        };
        let fields = self.fields(&made)?;
        self.one(Call::Index(vec![name.to_owned()]))?;
        // What was to be shown of one before it is old.
        self.writes.remove(name);
        let show = Call::Project { name: name.to_owned(), fields: fields.clone(), force: false };
        let refusal = match self.one(show)? {
            Got::Owner(Owner::Foreign) => Some(self.foreign(name)),
            Got::Owner(Owner::Node(owner)) => {
                let owner = self.claim(name, fields.clone(), &owner)?;
                owner.map(|owner| wrong_node(name, &owner))
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            self.undo(name, pid, token)?;
            return Ok(Err(refusal));
        }
        Ok(Ok(Given::Tensor(fields)))
    }

    /// Makes the hold of a new tensor that of a process. The tensor is held by one or the other at any
    /// time, and every step is the same in a repeat.
    fn pass_on(
        &mut self,
        name: &str,
        pid: u32,
        token: Token,
    ) -> Result<Result<Tensor, Refusal>, Halt> {
        let step = |what| Token(Uuid::new_v5(&token.0, what));
        let opened = match self.ask(|truth| truth.hold(name, Some(pid), step(HELD)))? {
            Ok(opened) => opened,
            Err(refusal) => {
                self.undo(name, None, token)?;
                return Ok(Err(refusal));
            }
        };
        self.knows_handle(opened.tensor.id, opened.handle);
        let left = self.ask(|truth| truth.unhold(name, None, step(GIVEN)))?;
        // Refused: another program has given the first hold up already.
        Ok(Ok(left.unwrap_or(opened.tensor)))
    }

    /// Gives up what a command has made.
    fn undo(&mut self, name: &str, pid: Option<u32>, token: Token) -> Result<(), Halt> {
        let undo = Token(Uuid::new_v5(&token.0, UNDONE));
        self.ask(|truth| truth.unhold(name, pid, undo)).map(drop)
    }

    pub fn copy(
        &mut self,
        from: &str,
        to: &str,
        device: u32,
        pid: Option<u32>,
        token: Token,
    ) -> Carried {
        let source = given!(self.ask(|truth| truth.inspect(from)));
        if source.holds.is_none() {
            return Ok(Err(not_shared(from)));
        }
        given!(self.is_free(to));
        let gpu = given!(self.gpu(device));
        let (dtype, shape) = (source.dtype, source.shape);
        let wanted = Wanted { name: to.to_owned(), dtype, shape, gpu, token };
        let made = given!(self.ask(|truth| truth.copy(from, &wanted)));
        self.made(to, made, pid, token)
    }

    /// Whether a tensor of this name can be made here.
    fn is_free(&mut self, name: &str) -> Result<Result<(), Refusal>, Halt> {
        Ok(match self.owner(name)? {
            Owner::Nobody => Ok(()),
            Owner::Node(owner) => Err(wrong_node(name, &owner)),
            Owner::Foreign => Err(self.foreign(name)),
        })
    }

    /// The refusal of a name whose key another application has.
    pub fn foreign(&self, name: &str) -> Refusal {
        let key = self.keys.tensor(name);
        let message = format!("key '{key}' exists and is not the hash of a tensor");
        let hint = format!(
            "choose another name, delete the key (`DEL {key}`), or run the bridge with `--prefix`"
        );
        Refusal::new(Code::Kind(ErrorKind::Exists), message).hint(hint)
    }
}
