//! The nodes that share a Redis: this one says that it lives, and those that do not are taken away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tracing::{info, warn};

use crate::core::now_unix_ms;
use crate::keys::Keys;
use crate::said::Away;
use crate::store::{Call, Got, Lost, Store, one};
use crate::truth::{Status, Truth};

/// A fifth of the time that a heartbeat lasts.
const EVERY: Duration = Duration::from_secs(2);
/// How often dead nodes are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// A bridge that is told to end does not wait longer.
const NAP: Duration = Duration::from_millis(100);

/// Says that this node lives, for as long as its pond answers, and takes away nodes that do not.
/// A node without its pond has nothing to show, and is dead to the others.
///
/// A Redis that does not know this node has lost what was in it, and one that was started or promoted
/// since may have: `emptied` is called then.
pub fn beat(
    truth: &mut impl Truth,
    store: &mut impl Store,
    keys: &Keys,
    stop: &Arc<AtomicBool>,
    emptied: impl Fn(),
) {
    let (started, mut away, mut pond_away) = (now_unix_ms(), Away::default(), Away::default());
    let mut servers = Servers::default();
    let mut swept = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let sweep = swept.elapsed() >= SWEEP_EVERY;
        let done = match truth.status() {
            Ok(status) => {
                pond_away.is_back();
                register(store, keys, &status, started).and_then(|is_new| {
                    if servers.are_new(store)? || is_new {
                        emptied();
                    }
                    if sweep { sweep_all(store, keys) } else { Ok(()) }
                })
            }
            Err(trouble) => {
                if pond_away.is_news(Instant::now()) {
                    warn!("no heartbeat, waiting for the pond: {trouble}");
                }
                store.reconnect().and_then(|()| lives(store, keys.node())).map(drop)
            }
        };
        match done {
            Ok(()) => drop(away.is_back()),
            Err(Lost(why)) => {
                if away.is_news(Instant::now()) {
                    let why = millpond_console::shown::printable(&why);
                    warn!("no heartbeat, waiting for Redis: {why}");
                }
            }
        }
        if sweep {
            swept = Instant::now();
        }
        let until = Instant::now() + EVERY;
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(NAP);
        }
    }
}

/// The servers that answered last time.
#[derive(Debug, Default)]
struct Servers {
    known: Vec<String>,
}

impl Servers {
    /// Whether one of them has begun to answer since. A user who may not ask is never told.
    fn are_new(&mut self, store: &mut impl Store) -> Result<bool, Lost> {
        let Some(Ok(Got::Names(now))) = store.call(&[Call::Servers])?.pop() else {
            return Ok(false);
        };
        let is_new = |server: &String| !self.known.contains(server);
        let new = !self.known.is_empty() && now.iter().any(is_new);
        self.known = now;
        Ok(new)
    }
}

/// Says that this node lives; whether nobody knew it.
pub fn register(
    store: &mut impl Store,
    keys: &Keys,
    status: &Status,
    started_unix_ms: u64,
) -> Result<bool, Lost> {
    store.reconnect()?;
    let gpus = serde_json::to_string(&status.gpus).unwrap_or_default();
    let fields = vec![
        ("node", keys.node().to_owned()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("pid", std::process::id().to_string()),
        ("started_at", started_unix_ms.to_string()),
        ("gpus", gpus),
        ("tensors", status.tensors.to_string()),
        ("epoch", status.epoch.to_string()),
        ("pond", status.pond.clone()),
    ];
    Ok(one(store, Call::Register(fields))? == Got::Is(true))
}

/// Takes away every node that gives no sign of life.
pub fn sweep_all(store: &mut impl Store, keys: &Keys) -> Result<(), Lost> {
    let mut cursor = 0;
    loop {
        let Got::Page(next, nodes) = one(store, Call::Nodes { cursor })? else { return Ok(()) };
        for node in nodes.into_iter().filter(|node| node != keys.node()) {
            if !crate::keys::is_node(&node) {
                one(store, Call::Unregister(node))?;
            } else if !lives(store, &node)? {
                sweep(store, &node)?;
            }
        }
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

fn lives(store: &mut impl Store, node: &str) -> Result<bool, Lost> {
    Ok(one(store, Call::Heartbeat(node.to_owned()))? == Got::Is(true))
}

/// Takes away a dead node's hashes, some at a time. It may come back meanwhile.
fn sweep(store: &mut impl Store, node: &str) -> Result<(), Lost> {
    let mut removed = 0;
    loop {
        let node = node.to_owned();
        let page = Call::Names { node: node.clone(), cursor: 0 };
        let Got::Page(next, names) = one(store, page)? else { break };
        if names.is_empty() && next == 0 {
            break;
        }
        if lives(store, &node)? {
            return Ok(());
        }
        removed += names.len();
        let remove = |name: &String| Call::Remove { name: name.clone(), node: node.clone() };
        let mut calls: Vec<Call> = names.iter().map(remove).collect();
        if !names.is_empty() {
            calls.push(Call::Forget { names, node });
        }
        let failed = store.call(&calls)?.into_iter().find_map(Result::err);
        if let Some(crate::store::Failed::Later(why) | crate::store::Failed::Never(why)) = failed {
            return Err(Lost(why));
        }
    }
    if lives(store, node)? {
        return Ok(());
    }
    one(store, Call::Unregister(node.to_owned()))?;
    info!("node '{node}' gives no sign of life: {removed} of its names are gone");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeStore, a_tensor, status};

    #[test]
    fn a_redis_that_was_emptied_or_started_again_is_noticed() {
        let keys = Keys::new("", "n1").unwrap();
        let mut store = FakeStore::new("n1");
        assert!(register(&mut store, &keys, &status(1), 5).unwrap(), "nobody knew it");
        assert!(!register(&mut store, &keys, &status(1), 5).unwrap());
        store.nodes.clear();
        assert!(register(&mut store, &keys, &status(1), 5).unwrap());

        let mut servers = Servers::default();
        let mut look = |ids: &[&str]| {
            store.servers = ids.iter().map(|id| (*id).to_owned()).collect();
            servers.are_new(&mut store).unwrap()
        };
        assert!(!look(&[]) && !look(&["a", "b", "c"]), "the first look is none");
        assert!(
            !look(&["a", "b", "c"]) && !look(&["c", "a"]),
            "one that is away has lost nothing yet"
        );
        assert!(look(&["a", "d", "c"]), "another start of the same server, or a replica");
        assert!(!look(&["d", "a", "c"]));
    }

    #[test]
    fn a_dead_nodes_hashes_go_and_nobody_elses() {
        let keys = Keys::new("", "n1").unwrap();
        let mut store = FakeStore::new("n1");
        register(&mut store, &keys, &status(1), 5).unwrap();
        for (name, node) in [("a", "n2"), ("b", "n2"), ("c", "n3"), ("d", "n1")] {
            store.put(&a_tensor(name, Some(1)), node);
        }
        // Taken over meanwhile: the index of the dead node still has it.
        store.index.entry("n2".into()).or_default().insert("d".into());
        store.nodes.extend(["n2".to_owned(), "n3".to_owned()]);
        store.beats.insert("n3".into());
        sweep_all(&mut store, &keys).unwrap();
        let left: Vec<&str> = store.hashes.keys().map(String::as_str).collect();
        assert_eq!(left, ["c", "d"]);
        assert!(!store.nodes.contains("n2") && store.nodes.contains("n3"));
        assert!(store.beats.contains("n1"));
    }
}
