//! What requests come to: how many of each kind, how they ended, and how long they took.
//!
//! The policy knows no clock but its ports, so time is measured here: from the reading of a message
//! until its answer is on its way. All of it are plain numbers of the event loop.

use std::time::{Duration, Instant};

use millpond_wire::ErrorKind;
use millpond_wire::caps::WAITING_REQUESTS;
use millpond_wire::message::{
    Counters, LENGTHS, LENGTHS_NANOSECONDS, RefusalCount, Reply, ReplyBody, Request, RequestBody,
    RequestCount,
};

/// Requests of one connection that are remembered: more than may wait at a time.
const UNANSWERED: usize = 2 * WAITING_REQUESTS;

/// A request that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    number: u64,
    /// Its kind's place in the table.
    kind: usize,
    at: Instant,
}

/// The requests of one connection that have no answer yet, oldest first.
#[derive(Debug, Default)]
pub struct Unanswered(Vec<Asked>);

impl Unanswered {
    /// A request was read at this time.
    pub fn add(&mut self, request: &Request, at: Instant) {
        if self.0.len() == UNANSWERED {
            self.0.remove(0);
        }
        let kind = request.body.place();
        self.0.push(Asked { number: request.number, kind, at });
    }

    /// The latest with this number: most are answered before the next one is read.
    fn take(&mut self, number: u64) -> Option<Asked> {
        let place = self.0.iter().rposition(|asked| asked.number == number)?;
        Some(self.0.remove(place))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct OfKind {
    answered: u64,
    refused: u64,
    nanoseconds: u64,
    by_length: [u64; LENGTHS],
}

/// Everything that was counted.
#[derive(Debug)]
pub struct Meter {
    kinds: [OfKind; RequestBody::KINDS.len()],
    refusals: [u64; ErrorKind::ALL.len()],
    pub connections_accepted: u64,
    pub connections_refused: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            kinds: [OfKind::default(); RequestBody::KINDS.len()],
            refusals: [0; ErrorKind::ALL.len()],
            connections_accepted: 0,
            connections_refused: 0,
        }
    }
}

impl Meter {
    /// A message goes to a connection: the answer to one of its requests, or an event.
    pub fn replied(&mut self, unanswered: &mut Unanswered, reply: &Reply) {
        let refusal = match &reply.body {
            ReplyBody::Failure(failure) => Some(failure.kind),
            _ => None,
        };
        if let Some(kind) = refusal
            && let Some(place) = ErrorKind::ALL.iter().position(|known| *known == kind)
        {
            self.refusals[place] += 1;
        }
        // An event has no number, and a message that could not be read no kind.
        if let Some(asked) = unanswered.take(reply.number) {
            self.count(asked.kind, refusal.is_some(), asked.at.elapsed());
        }
    }

    fn count(&mut self, kind: usize, refused: bool, took: Duration) {
        let Some(of_kind) = self.kinds.get_mut(kind) else { return };
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let longest = LENGTHS_NANOSECONDS.iter().position(|longest| nanoseconds <= *longest);
        of_kind.by_length[longest.unwrap_or(LENGTHS - 1)] += 1;
        of_kind.nanoseconds = of_kind.nanoseconds.saturating_add(nanoseconds);
        of_kind.refused += u64::from(refused);
        of_kind.answered += u64::from(!refused);
    }

    /// Says all of it, and what this process has cost.
    pub fn count_into(&self, counters: &mut Counters) {
        let came = |(_, of_kind): &(&&str, &OfKind)| of_kind.answered + of_kind.refused > 0;
        let kinds = RequestBody::KINDS.iter().zip(&self.kinds).filter(came);
        counters.requests.extend(kinds.map(|(kind, of_kind)| RequestCount {
            kind: (*kind).to_owned(),
            answered: of_kind.answered,
            refused: of_kind.refused,
            nanoseconds: of_kind.nanoseconds,
            by_length: of_kind.by_length,
        }));
        let refusals = ErrorKind::ALL.iter().zip(self.refusals).filter(|(_, count)| *count > 0);
        counters.refusals.extend(refusals.map(|(kind, count)| RefusalCount { kind: *kind, count }));
        counters.counts.connections_accepted = self.connections_accepted;
        counters.counts.connections_refused = self.connections_refused;
        counters.counts.daemon_cpu_ms = cpu_ms();
    }
}

/// Processor time of this process, all threads together.
fn cpu_ms() -> u64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let used = Duration::try_from(used).unwrap_or_default();
    u64::try_from(used.as_millis()).unwrap_or(u64::MAX)
}

/// What the kernel says that this process has in memory; zero if it does not say it.
pub fn resident_bytes() -> u64 {
    let said = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = said.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    pages.saturating_mul(rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use millpond_wire::Failure;

    use super::*;

    fn asked(number: u64, body: RequestBody) -> Request {
        Request { number, body }
    }

    fn counted(meter: &Meter) -> Counters {
        let mut counters = Counters::default();
        meter.count_into(&mut counters);
        counters
    }

    #[test]
    fn every_answer_is_counted_once_with_its_kind_and_its_length() {
        let (mut meter, mut unanswered) = (Meter::default(), Unanswered::default());
        let now = Instant::now();
        unanswered.add(&asked(7, RequestBody::Ping), now);
        unanswered.add(&asked(8, RequestBody::PondStatus), now);
        let done = |number| Reply { number, body: ReplyBody::Done };
        let failure = Failure::new(ErrorKind::Denied, "no");
        let refused = |number| Reply { number, body: ReplyBody::Failure(failure.clone()) };
        meter.replied(&mut unanswered, &refused(8));
        meter.replied(&mut unanswered, &done(7));
        // Neither an event nor a second answer is an answer.
        meter.replied(&mut unanswered, &done(0));
        meter.replied(&mut unanswered, &done(7));
        // What could not be read is refused as well, and is of no kind.
        meter.replied(&mut unanswered, &refused(0));
        let Counters { requests, refusals, .. } = counted(&meter);
        let ends: Vec<_> = requests.iter().map(|it| (&*it.kind, it.answered, it.refused)).collect();
        assert_eq!(ends, [("ping", 1, 0), ("status", 0, 1)]);
        assert!(requests.iter().all(|it| it.by_length.iter().sum::<u64>() == 1));
        assert_eq!(refusals, [RefusalCount { kind: ErrorKind::Denied, count: 2 }]);
    }

    #[test]
    fn a_length_is_in_the_first_class_that_holds_it() {
        let mut meter = Meter::default();
        for (nanoseconds, class) in [
            (0, 0),
            (1_000, 0),
            (1_001, 1),
            (999_999, 3),
            (10_000_000_000, 7),
            (10_000_000_001, 8),
            (u64::MAX, 8),
        ] {
            let before = meter.kinds[0].by_length[class];
            meter.count(0, false, Duration::from_nanos(nanoseconds));
            assert_eq!(meter.kinds[0].by_length[class], before + 1, "{nanoseconds}");
        }
        assert_eq!(meter.kinds[0].nanoseconds, u64::MAX, "and never less again");
    }

    #[test]
    fn what_is_never_answered_does_not_grow_for_ever() {
        let (mut meter, mut unanswered) = (Meter::default(), Unanswered::default());
        for number in 1..=3 * UNANSWERED as u64 {
            unanswered.add(&asked(number, RequestBody::Ping), Instant::now());
        }
        assert_eq!(unanswered.0.len(), UNANSWERED);
        let last = Reply { number: 3 * UNANSWERED as u64, body: ReplyBody::Done };
        meter.replied(&mut unanswered, &last);
        assert_eq!(counted(&meter).requests[0].answered, 1);
    }

    #[test]
    fn a_process_has_memory() {
        assert!(resident_bytes() > 1 << 20);
    }
}
