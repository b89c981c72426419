//! What a `pondtool` process does with elastic caches: `cache open`, `cache commit` and so on.
//!
//! ```text
//! cache open GROUP NAME [KEY=VALUE]...  see `spec.rs`; says its address, and whether the program is limited
//! cache commit NAME COUNT               the first blocks; commit-range NAME A B, uncommit NAME A B
//! cache commit-all NAME A B [NAME A B]  all or none
//! cache race NAME A B C...              threads that commit A..B, B..C and so on at once
//! cache take NAME COUNT                 blocks of the table; give NAME ID...
//! cache trim NAME BYTES                 says what was given back
//! cache stats NAME                      committed, held and idle bytes
//! cache fill NAME A B SEED              writes every byte of these blocks; check NAME A B SEED compares
//! cache kernel NAME A B MS              reads these blocks for so long, and uncommits them meanwhile
//! cache kernel-end NAME SEED            waits for the kernel, and compares its sum
//! cache offer NAME HOW                  all, nothing, never, soon: its answer under pressure
//! cache churn GROUP NAME SEED [...]     works at random until `churn-stop NAME`; see `churn.rs`
//! ```
//!
//! The kind of an error of a cache is its variant: `never_fits`, `after_freeing` and so on.

mod bytes;
mod churn;
mod held;
mod item;
mod spec;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use millpond::{ElasticCache, ElasticError, Error, Pond};

use super::{Trouble, trouble, wrong};
use churn::Churning;
use held::{Held, Running};

type Said = Result<String, Trouble>;

/// All caches of the process. Handlers look here: one that held its cache would keep it alive.
type Open = Arc<Mutex<BTreeMap<String, Held>>>;

/// What one process has of caches.
#[derive(Default)]
pub(crate) struct Caches {
    open: Open,
    running: BTreeMap<String, Running>,
    churns: BTreeMap<String, Churning>,
}

impl Caches {
    /// Does what the words say.
    pub(crate) fn run(&mut self, pond: &Pond, words: &[&str]) -> Said {
        match *words {
            ["open", group, name, ref options @ ..] => self.reserve(pond, group, name, options),
            ["commit", name, count] => self.held(name)?.commit(number(count)?),
            ["commit-range", name, first, end] => self.held(name)?.commit_range(range(first, end)?),
            ["commit-all", ref rest @ ..] => self.commit_all(rest),
            ["race", name, ref ends @ ..] => self.race(name, ends),
            ["uncommit", name, first, end] => self.held(name)?.uncommit(range(first, end)?),
            ["trim", name, bytes] => {
                let given = self.held(name)?.cache.trim(number(bytes)?);
                given.map(|given| given.to_string()).map_err(of_cache)
            }
            ["take", name, count] => self.held(name)?.take(number(count)?),
            ["give", name, ref blocks @ ..] => self.held(name)?.give(blocks),
            ["stats", name] => {
                let stats = self.held(name)?.cache.stats();
                Ok(format!("{} {} {}", stats.committed_bytes, stats.held_bytes, stats.idle_bytes))
            }
            ["close", name] => {
                // Dropped without the lock, which a handler may wait for.
                let held = lock(&self.open).remove(name);
                held.map(|_| String::new()).ok_or_else(|| nothing(name))
            }
            ["fill", name, first, end, seed] => {
                bytes::fill(&self.held(name)?.cache, range(first, end)?, number(seed)?)
            }
            ["check", name, first, end, seed] => {
                bytes::check(&self.held(name)?.cache, range(first, end)?, number(seed)?)
            }
            ["kernel", name, first, end, ms] => {
                let duration = Duration::from_millis(number(ms)?);
                let running = self.held(name)?.launch(range(first, end)?, duration)?;
                self.running.insert(name.to_owned(), running);
                Ok(String::new())
            }
            ["kernel-end", name, seed] => {
                let running = self.running.remove(name).ok_or_else(|| nothing(name))?;
                running.end(&self.held(name)?.cache, number(seed)?)
            }
            ["offer", name, how] => self.held(name)?.offer(&self.open, how),
            ["churn", group, name, seed, ref options @ ..] => {
                let churn = Churning::start(pond, group, name, number(seed)?, options)?;
                self.churns.insert(name.to_owned(), churn);
                Ok(String::new())
            }
            ["churn-rounds", name] => self.churns.get(name).ok_or_else(|| nothing(name))?.rounds(),
            ["churn-stop", name] => self.churns.remove(name).ok_or_else(|| nothing(name))?.stop(),
            _ => Err(wrong(format!("'cache {}' is no command", words.join(" ")))),
        }
    }

    /// Gives everything back, as a tidy program does.
    pub(crate) fn end(&mut self) {
        self.running.clear();
        let open = std::mem::take(&mut *lock(&self.open));
        drop(open);
    }

    fn held(&self, name: &str) -> Result<Held, Trouble> {
        lock(&self.open).get(name).cloned().ok_or_else(|| nothing(name))
    }

    fn reserve(&mut self, pond: &Pond, group: &str, name: &str, options: &[&str]) -> Said {
        let group = pond.elastic(group).map_err(trouble)?;
        let (spec, broken) = spec::read(options)?;
        let cache = group.reserve(name, spec).map_err(of_cache)?;
        if broken.is_some() {
            cache.break_rule(broken);
        }
        let said = format!("{} {}", cache.device_ptr().0, group.is_limited());
        lock(&self.open).insert(name.to_owned(), Held::new(name, cache));
        Ok(said)
    }

    fn race(&self, name: &str, ends: &[&str]) -> Said {
        let held = self.held(name)?;
        let runs: Result<Vec<_>, _> = ends.windows(2).map(|pair| range(pair[0], pair[1])).collect();
        let threads: Vec<_> = runs?
            .into_iter()
            .map(|blocks| {
                let held = held.clone();
                std::thread::spawn(move || held.commit_range(blocks))
            })
            .collect();
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(wrong("a panic"))));
        // All of them end before one is reported.
        let ended: Vec<Said> = ended.collect();
        ended.into_iter().collect::<Result<Vec<String>, Trouble>>().map(|_| String::new())
    }

    fn commit_all(&self, words: &[&str]) -> Said {
        let mut wanted = Vec::new();
        for part in words.chunks(3) {
            let [name, first, end] = part else { return Err(wrong("NAME A B, please")) };
            wanted.push((self.held(name)?, range(first, end)?));
        }
        let caches: Vec<(&ElasticCache, Range<u64>)> =
            wanted.iter().map(|(held, blocks)| (&held.cache, blocks.clone())).collect();
        ElasticCache::commit_all(&caches).map_err(of_cache)?;
        for (held, blocks) in &wanted {
            held.note(blocks.clone());
        }
        Ok(String::new())
    }
}

/// What went wrong with a cache, by its variant.
fn of_cache(error: impl Into<Error>) -> Trouble {
    let error = error.into();
    let Error::Elastic(cause) = &error else { return trouble(error) };
    let kind = match **cause {
        ElasticError::NeverFits { .. } => "never_fits",
        ElasticError::AfterFreeing { .. } => "after_freeing",
        ElasticError::OverBudget { .. } => "over_budget",
        ElasticError::OverCap { .. } => "over_cap",
        ElasticError::CardFull { .. } => "card_full",
        ElasticError::OutOfRange { .. } => "out_of_range",
        ElasticError::AlreadyCommitted { .. } => "already_committed",
        ElasticError::NotCommitted { .. } => "not_committed",
        ElasticError::InUse(_) => "in_use",
        ElasticError::OtherProcess { .. } => "other_process",
        ElasticError::Driver(_) => "driver",
        ElasticError::Geometry(_) => "geometry",
    };
    (kind.to_owned(), error.to_string())
}

fn nothing(name: &str) -> Trouble {
    wrong(format!("there is no cache '{name}'"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is not a number")))
}

fn range(first: &str, end: &str) -> Result<Range<u64>, Trouble> {
    Ok(number(first)?..number(end)?)
}
