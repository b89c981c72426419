//! The transitions that must not be seen half done: one Lua file each.

use redis::Script;

/// All scripts, with their sums.
pub struct Scripts {
    pub project: Script,
    pub remove: Script,
    pub reply: Script,
    pub answer: Script,
    pub acknowledge: Script,
    pub forward: Script,
    pub take: Script,
    pub waiting: Script,
    pub sweep: Script,
}

impl Scripts {
    pub fn new() -> Self {
        Self {
            project: Script::new(include_str!("lua/project.lua")),
            remove: Script::new(include_str!("lua/remove.lua")),
            reply: Script::new(include_str!("lua/reply.lua")),
            answer: Script::new(include_str!("lua/answer.lua")),
            acknowledge: Script::new(include_str!("lua/acknowledge.lua")),
            forward: Script::new(include_str!("lua/forward.lua")),
            take: Script::new(include_str!("lua/take.lua")),
            waiting: Script::new(include_str!("lua/waiting.lua")),
            sweep: Script::new(include_str!("lua/sweep.lua")),
        }
    }

    fn all(&self) -> [&Script; 9] {
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
        ]
    }

    /// Has the server know all of them: a restarted one has forgotten.
    pub fn load(&self, connection: &mut dyn redis::ConnectionLike) -> redis::RedisResult<()> {
        self.all().iter().try_for_each(|script| script.load(connection).map(drop))
    }
}

#[cfg(test)]
mod tests;
