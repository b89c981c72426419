//! The transitions that must not be seen half done: one Lua file each.

use redis::{Cmd, RedisResult, Script, Value};

use crate::keys::{Keys, Source};
use crate::store::{BATCH, Pushed, Taken};

/// After so many bytes no more commands are taken at once: large ones are read one by one.
const BATCH_BYTES: usize = 1 << 20;
/// A longer command is removed without a look, and one that is only larger than
/// [`COMMAND_BYTES`](crate::command::COMMAND_BYTES) is answered.
const LONGEST: usize = 2 << 20;

/// A script with what all of them share before it.
macro_rules! lua {
    ($file:literal) => {
        Script::new(concat!(include_str!("lua/common.lua"), include_str!(concat!("lua/", $file))))
    };
}

/// All scripts, with their sums.
pub struct Scripts {
    pub project: Script,
    pub remove: Script,
    pub reply: Script,
    pub answer: Script,
    pub acknowledge: Script,
    pub forward: Script,
    take: Script,
    waiting: Script,
    pub sweep: Script,
    pub owner: Script,
    pub fields: Script,
    pub record: Script,
    pub names: Script,
}

impl Scripts {
    pub fn new() -> Self {
        Self {
            project: lua!("project.lua"),
            remove: lua!("remove.lua"),
            reply: lua!("reply.lua"),
            answer: lua!("answer.lua"),
            acknowledge: lua!("acknowledge.lua"),
            forward: lua!("forward.lua"),
            take: lua!("take.lua"),
            waiting: lua!("waiting.lua"),
            sweep: lua!("sweep.lua"),
            owner: lua!("owner.lua"),
            fields: lua!("fields.lua"),
            record: lua!("record.lua"),
            names: lua!("names.lua"),
        }
    }

    fn all(&self) -> [&Script; 13] {
        [
            &self.project,
            &self.remove,
            &self.reply,
            &self.answer,
            &self.acknowledge,
            &self.forward,
            &self.take,
            &self.waiting,
            &self.sweep,
            &self.owner,
            &self.fields,
            &self.record,
            &self.names,
        ]
    }

    /// Takes commands from a list, without waiting.
    pub fn take_some(&self, keys: &Keys, source: Source, at_most: usize) -> Cmd {
        let both = [keys.commands(source), keys.processing(source)];
        collect(&self.take, &both, keys, at_most)
    }

    /// The commands that were taken and not answered.
    pub fn waiting(&self, keys: &Keys, source: Source) -> Cmd {
        collect(&self.waiting, &[keys.processing(source)], keys, BATCH)
    }

    /// What a wait has taken, or why it could not.
    pub fn waited(&self, keys: &Keys, source: Source) -> Cmd {
        let both = [keys.processing(source), keys.commands(source)];
        collect(&self.waiting, &both, keys, BATCH)
    }

    /// Has the server know all of them: a restarted one has forgotten.
    pub fn load(&self, connection: &mut dyn redis::ConnectionLike) -> RedisResult<()> {
        self.all().iter().try_for_each(|script| script.load(connection).map(drop))
    }
}

/// A call of a script.
pub fn call(script: &Script, keys: &[String]) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.get_hash()).arg(keys.len()).arg(keys);
    command
}

fn collect(script: &Script, lists: &[String], keys: &Keys, at_most: usize) -> Cmd {
    let mut command = call(script, lists);
    command.arg(keys.memory()).arg(at_most).arg(BATCH_BYTES).arg(LONGEST);
    command
}

/// What the two scripts that collect commands return.
pub fn taken(value: Value) -> RedisResult<Taken> {
    type Collected = (Vec<Vec<u8>>, Vec<Option<Vec<u8>>>, u64, u64);
    let (commands, gave, removed, longest): Collected = redis::from_redis_value(value)?;
    let commands = commands.into_iter().zip(gave);
    let commands = commands.map(|(raw, gave)| {
        let gave = gave.and_then(|gave| String::from_utf8(gave).ok());
        Pushed { raw, gave }
    });
    let commands = commands.collect();
    Ok(Taken { commands, removed, longest })
}

#[cfg(test)]
mod tests;
