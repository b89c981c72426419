//! Clients at work, without a pause: make, publish, get, compare, delete.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use millpond::{Dtype, Pond, TensorSpec};

use super::{Trouble, trouble, wrong};
use crate::content;

/// Alternating classes of slabs: shared small ones, shared middle ones.
const BYTES: [u64; 3] = [4 << 10, 64 << 10, 1 << 20];

/// Work in a thread of its own until it is stopped.
pub(crate) struct Churn {
    shared: Arc<Shared>,
    thread: JoinHandle<Vec<Trouble>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    rounds: AtomicU64,
}

impl Churn {
    pub(crate) fn start(pond: &Pond, prefix: &str) -> Self {
        let shared = Arc::new(Shared::default());
        let (inner, pond, prefix) = (Arc::clone(&shared), pond.clone(), prefix.to_owned());
        let thread = std::thread::spawn(move || {
            let mut failed = Vec::new();
            while !inner.stop.load(Ordering::Acquire) {
                let number = inner.rounds.load(Ordering::Acquire);
                if let Err(error) = round(&pond, &prefix, number) {
                    failed.push(error);
                }
                inner.rounds.fetch_add(1, Ordering::AcqRel);
            }
            failed
        });
        Self { shared, thread }
    }

    pub(crate) fn rounds(&self) -> u64 {
        self.shared.rounds.load(Ordering::Acquire)
    }

    /// How many rounds there were; an error if one of them failed.
    pub(crate) fn stop(self) -> Result<String, Trouble> {
        self.shared.stop.store(true, Ordering::Release);
        let failed = self.thread.join().map_err(|_| wrong("the thread panicked"))?;
        let rounds = self.shared.rounds.load(Ordering::Acquire);
        match failed.first() {
            None => Ok(rounds.to_string()),
            Some((kind, message)) => {
                let count = failed.len();
                Err((kind.clone(), format!("{message} (the first of {count} in {rounds} rounds)")))
            }
        }
    }
}

fn round(pond: &Pond, prefix: &str, number: u64) -> Result<(), Trouble> {
    let bytes = BYTES[usize::try_from(number % 3).unwrap_or(0)];
    let name = format!("{prefix}/{number}");
    let content = content::bytes(bytes, number);
    let made = pond.create(TensorSpec::new(&name, Dtype::U8, [bytes])).map_err(trouble)?;
    made.copy_from_host(0, &content).map_err(trouble)?;
    let generation = made.publish().map_err(trouble)?;
    if generation != 1 {
        return Err(wrong(format!("'{name}' was published {generation} times")));
    }
    let got = pond.get(&name).map_err(trouble)?;
    if got.to_vec().map_err(trouble)? != content {
        return Err(wrong(format!("'{name}' has other bytes")));
    }
    if made.is_lost() || got.is_lost() {
        return Err(wrong(format!("'{name}' is lost")));
    }
    pond.delete(&name).map_err(trouble)
}

/// So many threads on one connection.
pub(crate) fn threads(pond: &Pond, count: u64, rounds: u64) -> Result<String, Trouble> {
    let threads: Vec<_> = (0..count)
        .map(|thread| {
            let pond = pond.clone();
            std::thread::spawn(move || {
                (0..rounds).try_for_each(|number| round(&pond, &format!("thread/{thread}"), number))
            })
        })
        .collect();
    for thread in threads {
        thread.join().map_err(|_| wrong("a thread panicked"))??;
    }
    Ok((count * rounds).to_string())
}
