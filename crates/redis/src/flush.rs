//! What was decided, on its way to Redis.

use tracing::{info, warn};

use crate::answer::Fields;
use crate::core::{Core, Halt, PAUSE, Write};
use crate::keys::Source;
use crate::store::{Call, Failed, Got, Lost, Owner, Store, Taken};
use crate::truth::Truth;

impl<T: Truth, S: Store> Core<T, S> {
    /// Writes all that was decided, and takes more commands with the same round trip.
    pub fn flush(&mut self, take: Option<(Source, usize)>) -> Result<Taken, Halt> {
        let (mut taken, mut take, mut pause) = (Taken::default(), take, PAUSE);
        loop {
            let writes: Vec<(String, Write)> =
                std::mem::take(&mut self.writes).into_iter().collect();
            let decided = std::mem::take(&mut self.decided);
            let mut calls: Vec<Call> =
                writes.iter().flat_map(|(name, write)| self.calls(name, write)).collect();
            let spread: Vec<usize> =
                writes.iter().map(|(name, write)| self.calls(name, write).len()).collect();
            calls.extend(decided.iter().cloned());
            calls.extend(take.map(|(source, at_most)| Call::Take { source, at_most }));
            if calls.is_empty() {
                return Ok(taken);
            }
            let gotten = match self.store.call(&calls) {
                Ok(gotten) => gotten,
                Err(Lost(why)) => {
                    // What was taken along is found in the processing list.
                    self.writes.extend(writes);
                    self.decided = decided;
                    self.reconnect(&why)?;
                    if let Some((source, _)) = take.take() {
                        self.flush(None)?;
                        self.recover(source)?;
                    }
                    continue;
                }
            };
            let mut gotten = gotten.into_iter();
            let mut why = None;
            for ((name, write), length) in writes.into_iter().zip(spread) {
                let parts: Vec<_> = gotten.by_ref().take(length).collect();
                self.written(name, write, parts, &mut why)?;
            }
            for decided in decided {
                match gotten.next() {
                    Some(Err(Failed::Later(later))) => {
                        why = Some(later);
                        self.decided.push(decided);
                    }
                    Some(Err(Failed::Never(never))) => self.cannot_be_said(decided, &never),
                    Some(Ok(Got::Is(false))) => self.not_written(&decided),
                    _ => {}
                }
            }
            match gotten.next() {
                Some(Ok(Got::Commands(more))) => {
                    taken = more;
                    take = None;
                }
                Some(Err(Failed::Later(later))) => why = Some(later),
                Some(_) => take = None,
                None => {}
            }
            match why {
                None if self.redis_away.is_back() => info!("Redis takes writes again"),
                None => {}
                Some(why) if why.starts_with("NOSCRIPT") => {}
                Some(why) => pause = self.later(&why, pause)?,
            }
        }
    }

    fn calls(&self, name: &str, write: &Write) -> Vec<Call> {
        let (name, node) = (name.to_owned(), self.keys.node().to_owned());
        match write {
            Write::Show(fields) => {
                vec![Call::Project { name, fields: fields.clone(), force: false }]
            }
            Write::Hide => vec![
                Call::Remove { name: name.clone(), node: node.clone() },
                Call::Forget { names: vec![name], node },
            ],
        }
    }

    /// A command that was not ended must be: otherwise it is carried out again and again.
    fn cannot_be_said(&mut self, decided: Call, why: &str) {
        let why = millpond_console::shown::printable(why).into_owned();
        warn!("an answer cannot be given: {why}");
        let (source, raw, gave) = match decided {
            Call::Answer { source, raw, reply: Some(_), gave } => (source, raw, gave),
            Call::Forward { source, raw, .. } => (source, raw, None),
            _ => return,
        };
        self.decided.push(Call::Answer { source, raw, reply: None, gave });
    }

    fn not_written(&mut self, decided: &Call) {
        if let Call::Answer { reply: Some((key, _)), .. } = decided {
            self.stranger(&format!("key '{key}' is not a list of answers: it stays as it is"));
        }
    }

    /// Looks at what became of a write.
    fn written(
        &mut self,
        name: String,
        write: Write,
        parts: Vec<Result<Got, Failed>>,
        why: &mut Option<String>,
    ) -> Result<(), Halt> {
        for part in parts {
            match part {
                Err(Failed::Later(later)) => {
                    *why = Some(later);
                    self.writes.insert(name, write);
                    return Ok(());
                }
                Err(Failed::Never(never)) => {
                    let never = millpond_console::shown::printable(&never).into_owned();
                    warn!("the hash of '{name}' cannot be written: {never}");
                }
                Ok(Got::Owner(Owner::Foreign)) => {
                    let foreign = self.foreign(&name);
                    self.stranger(&foreign.message);
                    return Ok(());
                }
                Ok(Got::Owner(Owner::Node(owner))) => {
                    if let Write::Show(fields) = write {
                        self.claim(&name, fields, &owner)?;
                    }
                    return Ok(());
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Takes a hash from a node that does not live. Whose it is otherwise.
    pub fn claim(
        &mut self,
        name: &str,
        fields: Fields,
        owner: &str,
    ) -> Result<Option<String>, Halt> {
        if self.lives(owner)? {
            return Ok(Some(owner.to_owned()));
        }
        self.one(Call::Project { name: name.to_owned(), fields, force: true })?;
        Ok(None)
    }
}
