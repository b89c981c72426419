//! What a daemon has counted since its start.
//!
//! [`counters!`](crate::counters) is the one list of what is counted: the message, the data that is
//! shown and whoever exports them are made from it.

use millpond_schema::message as fb;

use super::list::{Entries, list};
use super::read::{self, Read};
use crate::{ErrorKind, caps};

/// Hands the table of counters to another macro: `counters!(callback rest)` becomes
/// `callback! { rest numbers { name "doc"; … } bytes { … } seconds { name from field "doc"; … } }`.
/// Names end in their unit. A time is shown in seconds and travels in the unit of its field.
#[macro_export]
macro_rules! counters {
    ($callback:ident $($rest:tt)*) => {
        $callback! {
            $($rest)*
            numbers {
                leases_granted "Leases that were granted to clients.";
                leases_claimed "Leases of an earlier daemon that their clients have claimed.";
                leases_released "Leases that clients have given up.";
                leases_died "Leases that ended with the death of their process.";
                tensors_created "Tensors that were made.";
                tensors_adopted "Tensors that were made of memory of a client.";
                tensors_published "Publishes: of new tensors, and of new contents.";
                tensors_deleted "Tensors that were deleted, for any reason.";
                tensors_expired "Tensors whose time to live expired.";
                tensors_lingered_out "Tensors that had no lease for as long as they were to linger.";
                tensors_used_up "Tensors whose last allowed get was answered.";
                tensors_orphaned "Tensors whose memory went with the process that kept it.";
                tensors_freed "Tensors whose memory was freed.";
                versions_staged "Versions of models that were begun.";
                versions_committed "Versions of models that became ready.";
                versions_retired "Versions of models that take no new readers any more.";
                swaps "Times that a model got another current version, rollbacks included.";
                rollbacks "Swaps back to an earlier version that did not name it.";
                moves "Moves of bytes that were done.";
                moves_failed "Moves of bytes that failed.";
                loads "Moves that loaded parts of a checkpoint.";
                slabs_made "Slabs that were made.";
                slabs_reused "Empty slabs that were used again.";
                slabs_given_back "Slabs that were given back to the driver.";
                gpu_full_refusals "Requests that were refused because a GPU was full.";
                clients_came "Clients that said hello for the first time.";
                clients_left "Clients that said goodbye, or hung up and held nothing.";
                clients_died "Clients whose process ended without a goodbye.";
                connections_accepted "Connections that were accepted.";
                connections_refused "Connections that were refused: a cap was reached.";
                pressure_requests "Requests to caches for pages.";
                silent_caches_ended "Processes that were ended because a cache of theirs did not answer.";
                recoveries "Recoveries from the journal of an earlier daemon: one, or none.";
                movers_started "Movers that were started.";
                movers_lost "Movers that died or were killed.";
                hosts_started "Hosts that were started.";
                hosts_lost "Hosts that died with tensors.";
            }
            bytes {
                moved_bytes "Bytes that moves have moved.";
                loaded_bytes "Those of them that loaded parts of a checkpoint.";
                slabs_made_bytes "Bytes of slabs that were made.";
                slabs_reused_bytes "Bytes of empty slabs that were used again.";
                slabs_given_back_bytes "Bytes of slabs that were given back to the driver.";
                pressure_asked_bytes "Bytes that caches were asked for.";
                pressure_given_bytes "Bytes that caches say they gave.";
            }
            seconds {
                move_seconds from move_ms
                    "Time of the moves that were done, from the mover's being told to its answer, each by itself.";
                load_seconds from load_ms "That of loads alone.";
                daemon_cpu_seconds from daemon_cpu_ms "Processor time of the daemon's process.";
            }
        }
    };
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterUnit {
    Number,
    Bytes,
    /// Shown in seconds.
    Milliseconds,
}

/// A line of the table of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// As it is shown.
    pub name: &'static str,
    pub unit: CounterUnit,
    /// One line for people.
    pub describe: &'static str,
}

macro_rules! define_counts {
    (
        numbers { $($number:ident $number_doc:literal;)* }
        bytes { $($bytes:ident $bytes_doc:literal;)* }
        seconds { $($shown:ident from $time:ident $time_doc:literal;)* }
    ) => {
        /// The counters of the table, each a plain number.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $(#[doc = $number_doc] pub $number: u64,)*
            $(#[doc = $bytes_doc] pub $bytes: u64,)*
            $(#[doc = $time_doc] pub $time: u64,)*
        }

        impl Counts {
            /// The table.
            pub const ALL: &'static [Counter] = &[
                $(Counter {
                    name: stringify!($number),
                    unit: CounterUnit::Number,
                    describe: $number_doc,
                },)*
                $(Counter {
                    name: stringify!($bytes),
                    unit: CounterUnit::Bytes,
                    describe: $bytes_doc,
                },)*
                $(Counter {
                    name: stringify!($shown),
                    unit: CounterUnit::Milliseconds,
                    describe: $time_doc,
                },)*
            ];

            /// One of each, as `value` says.
            pub fn of(mut value: impl FnMut(&'static Counter) -> u64) -> Self {
                let mut all = Self::ALL.iter().map(|counter| value(counter));
                let mut next = || all.next().unwrap_or(0);
                // Fields are set in the order in which they are written, which is the table's.
                Self { $($number: next(),)* $($bytes: next(),)* $($time: next(),)* }
            }

            /// Every line of the table with its value.
            pub fn values(&self) -> impl Iterator<Item = (&'static Counter, u64)> {
                let values = [$(self.$number,)* $(self.$bytes,)* $(self.$time,)*];
                Self::ALL.iter().zip(values)
            }

            fn write(&self, requests: Vec<fb::RequestCount>, refusals: Vec<fb::RefusalCount>)
                -> fb::Counters
            {
                fb::Counters {
                    requests: Some(requests),
                    refusals: Some(refusals),
                    $($number: self.$number,)*
                    $($bytes: self.$bytes,)*
                    $($time: self.$time,)*
                }
            }

            fn read(counters: &fb::CountersRef<'_>) -> Read<Self> {
                Ok(Self {
                    $($number: counters.$number()?,)*
                    $($bytes: counters.$bytes()?,)*
                    $($time: counters.$time()?,)*
                })
            }
        }
    };
}
crate::counters!(define_counts);

/// The longest times of all classes of length but the last, which has no end.
pub const LENGTHS_NANOSECONDS: [u64; 8] =
    [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];

/// Classes of length.
pub const LENGTHS: usize = LENGTHS_NANOSECONDS.len() + 1;

/// What one kind of request has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCount {
    /// The word for its kind.
    pub kind: String,
    pub answered: u64,
    pub refused: u64,
    /// From the reading of a request until its answer is on its way, all of them together.
    pub nanoseconds: u64,
    /// How many took up to each of [`LENGTHS_NANOSECONDS`], and how many longer.
    pub by_length: [u64; LENGTHS],
}

/// How often a request was refused for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalCount {
    pub kind: ErrorKind,
    pub count: u64,
}

/// What a daemon has counted since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub counts: Counts,
    /// Kinds of requests that have come, in the order of their table.
    pub requests: Vec<RequestCount>,
    /// Of requests that could not be read, too.
    pub refusals: Vec<RefusalCount>,
}

pub(super) fn write_counters(counters: &Counters) -> fb::Counters {
    let requests = counters.requests.iter().map(|request| fb::RequestCount {
        kind: Some(request.kind.clone()),
        answered: request.answered,
        refused: request.refused,
        nanoseconds: request.nanoseconds,
        by_length: Some(request.by_length.to_vec()),
    });
    let refusals = counters
        .refusals
        .iter()
        .map(|refusal| fb::RefusalCount { kind: refusal.kind.code(), count: refusal.count });
    counters.counts.write(requests.collect(), refusals.collect())
}

pub(super) fn read_counters(
    counters: Option<fb::CountersRef<'_>>,
    entries: &Entries,
) -> Read<Counters> {
    // A daemon that counts nothing yet has counted nothing.
    let Some(counters) = counters else { return Ok(Counters::default()) };
    Ok(Counters {
        counts: Counts::read(&counters)?,
        requests: list("requests", counters.requests()?, entries, read_request)?,
        refusals: list("refusals", counters.refusals()?, entries, |refusal| {
            Ok(RefusalCount {
                kind: ErrorKind::from_code(refusal.kind()?),
                count: refusal.count()?,
            })
        })?,
    })
}

fn read_request(request: fb::RequestCountRef<'_>) -> Read<RequestCount> {
    let mut by_length = [0; LENGTHS];
    if let Some(lengths) = request.by_length()? {
        read::at_most("by_length", lengths.len(), LENGTHS)?;
        for (into, count) in by_length.iter_mut().zip(lengths) {
            *into = count;
        }
    }
    Ok(RequestCount {
        kind: read::text_up_to("kind", request.kind()?, caps::NAME_BYTES)?,
        answered: request.answered()?,
        refused: request.refused()?,
        nanoseconds: request.nanoseconds()?,
        by_length,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_different_and_end_in_their_units() {
        let names: BTreeSet<&str> = Counts::ALL.iter().map(|counter| counter.name).collect();
        assert_eq!(names.len(), Counts::ALL.len());
        for Counter { name, unit, describe } in Counts::ALL {
            assert_eq!(name.ends_with("_bytes"), *unit == CounterUnit::Bytes, "{name}");
            assert_eq!(name.ends_with("_seconds"), *unit == CounterUnit::Milliseconds, "{name}");
            assert!(describe.ends_with('.') && !name.ends_with("_total"), "{name}");
        }
    }

    #[test]
    fn every_counter_has_its_own_place() {
        let mut number = 0;
        let counts = Counts::of(|_| {
            number += 1;
            number
        });
        let values: Vec<u64> = counts.values().map(|(_, value)| value).collect();
        assert_eq!(values, (1..=number).collect::<Vec<_>>());
        assert_eq!((counts.leases_granted, counts.daemon_cpu_ms), (1, number));
    }
}
