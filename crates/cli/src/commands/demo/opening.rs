//! The first half: a pond, workers, tensors, one copy.

use std::time::Duration;

use super::account::Account;
use super::state::Demo;
use crate::error::{CommandError, Outcome, wrong};
use crate::units;
use millpond_trial::protocol::Order;
use millpond_trial::{Worker, until};

/// What mapping may cost in page tables: one part in a hundred of what is mapped, and a little.
const MAPPING_COST_DIVISOR: u64 = 100;
const MAPPING_COST_BYTES: u64 = 32 << 20;
/// How long the card's reading may take to settle after a process has ended.
const SETTLE: Duration = Duration::from_secs(5);

impl Demo<'_> {
    pub fn start_the_pond(&mut self) -> Outcome {
        let kind = if self.card.soft { ": host memory, no GPU" } else { "" };
        let text = format!("{}, {}{kind}", self.card.name, self.card.driver);
        self.story.step("A pond in a folder of its own")?;
        self.story.fact(text)?;
        // Nothing is kept for reuse, so that the account goes down to zero at the end.
        let device = self.card.device.clone();
        let (status, time) = self.trial()?.serve(&device, &["--recycle-bytes", "0"])?;
        self.facts.times.start_ms = Some(units::millis(time));
        let pond = self.trial()?.connect("demo")?;
        self.pond = Some(pond);
        let folder = self.trial()?.folder().display().to_string();
        self.story.fact(format_args!("folder {folder}"))?;
        let text = format!(
            "it answers after {}: keeper pid {}, daemon pid {}",
            units::time(time),
            status.keeper_pid,
            status.daemon_pid
        );
        self.story.claim(true, text)
    }

    /// Starts the workers and lets each make a context, which costs memory of its own.
    pub fn start_the_workers(&mut self) -> Outcome {
        self.story.step(format_args!("{} worker processes, nothing mapped yet", self.count))?;
        self.pond_reading = self.meter.used_bytes()?;
        let device = self.card.device.clone();
        for number in 1..=self.count {
            let mut worker = self.trial()?.worker(&format!("demo worker {number}"))?;
            worker.tell(&Order::MakeContext { device: device.clone() })?;
            self.workers.push(worker);
        }
        for worker in &mut self.workers {
            worker.hear()?;
        }
        self.contexts_reading = self.meter.used_bytes()?;
        let each = self.contexts_reading.saturating_sub(self.pond_reading) / self.facts.workers;
        self.facts.context_bytes = Some(each);
        self.story.fact(format_args!(
            "each has a context of the driver, which takes {} by itself (not the pond's)",
            units::bytes(each)
        ))
    }

    /// Lets one more process write the tensors, and end.
    pub fn write_the_tensors(&mut self) -> Outcome {
        let (count, bytes) = (self.plan.count(), self.plan.bytes());
        let what = format!("{} in {}", units::bytes(bytes), units::count(count, "tensor"));
        self.story.step(format_args!("A writer puts {what} into the pond, and exits"))?;
        let mut writer = self.trial()?.worker("demo writer")?;
        let plan = self.plan.clone();
        let sums = std::thread::spawn(move || plan.sums());
        for tensor in self.plan.tensors() {
            let (name, bytes, seed) = (tensor.name.clone(), tensor.bytes, tensor.seed);
            writer.order(&Order::Write { name, bytes, seed })?;
        }
        let pid = writer.pid();
        writer.end()?;
        self.sums = sums.join().map_err(|_| wrong("the checksums could not be made"))?;
        let account = Account { tensors: count, tensor_bytes: bytes, ..self.account()? };
        self.story.fact(format_args!("the writer (pid {pid}) is gone"))?;
        self.claim_account(Account { leases: 0, ..account })?;
        self.facts.slab_bytes = Some(self.account()?.slab_bytes);
        Ok(())
    }

    /// Lets every worker map everything, and counts the copies.
    pub fn map_the_tensors(&mut self) -> Outcome {
        let (bytes, names) = (self.plan.bytes(), self.plan.names());
        let slab_bytes = self.account()?.slab_bytes;
        self.story.step(format_args!("{} workers map all of it, read-only", self.workers.len()))?;
        // The writer's context goes a little after the writer.
        let expected = self.contexts_reading + slab_bytes + MAPPING_COST_BYTES;
        let before = self.settled_reading(expected)?;
        for worker in &mut self.workers {
            worker.tell(&Order::Map { names: names.clone() })?;
        }
        let times: Vec<Vec<Duration>> =
            self.workers.iter_mut().map(Worker::heard_times).collect::<Result<_, _>>()?;
        let after = self.meter.used_bytes()?;
        self.note_attach_times(&times)?;
        let wrong = self.checked_by_all()?;
        let text = format!("every worker reads the right bytes; wrong: {}", units::bytes(wrong));
        self.story.claim(wrong == 0, text)?;
        self.facts.lost_bytes = Some(wrong);

        let growth = after.saturating_sub(before);
        let physical = after.saturating_sub(self.contexts_reading);
        self.facts.mapping_bytes = Some(growth);
        self.facts.physical_bytes = Some(physical);
        self.facts.copies = units::ratio(physical, slab_bytes);
        let workers = self.facts.workers;
        // Never so much that a second copy could hide in it.
        let allowed = bytes * workers / MAPPING_COST_DIVISOR + MAPPING_COST_BYTES;
        let allowed = allowed.min(bytes / 4);
        let text = format!(
            "{workers} workers use {} and the card's used bytes grew by {} ({})",
            units::bytes(bytes * workers),
            units::bytes(growth),
            self.card.reading
        );
        self.story.claim(growth <= allowed, text)?;
        let text = format!(
            "one copy: the card holds {} for {} of tensors",
            units::bytes(physical),
            units::bytes(bytes)
        );
        let one = physical.abs_diff(slab_bytes) <= allowed && slab_bytes < 2 * bytes;
        self.story.claim(one, text)
    }

    /// The card's used bytes, once they are no more than expected or have had time enough.
    pub fn settled_reading(&mut self, expected: u64) -> Result<u64, CommandError> {
        let start = std::time::Instant::now();
        let (reading, _) = until("the card's used bytes", || {
            let reading = self.meter.used_bytes()?;
            Ok((reading <= expected || start.elapsed() > SETTLE).then_some(reading))
        })?;
        Ok(reading)
    }

    fn note_attach_times(&mut self, times: &[Vec<Duration>]) -> Outcome {
        let mut largest: Vec<Duration> =
            times.iter().filter_map(|times| times.first().copied()).collect();
        largest.sort_unstable();
        let median = largest.get(largest.len() / 2).copied().unwrap_or_default();
        let slowest = times.iter().flatten().max().copied().unwrap_or_default();
        self.facts.times.attach_us = Some(units::micros(median));
        self.facts.times.attach_slowest_us = Some(units::micros(slowest));
        let size = units::bytes(self.plan.tensors().first().map_or(0, |tensor| tensor.bytes));
        self.story.fact(format_args!(
            "mapping {size} took {} (median of the workers, all at once)",
            units::time(median)
        ))
    }

    /// Bytes that any worker reads wrongly.
    fn checked_by_all(&mut self) -> Result<u64, CommandError> {
        for worker in &mut self.workers {
            worker.tell(&Order::Check)?;
        }
        let mut worst = 0;
        for worker in &mut self.workers {
            worst = worst.max(self.plan.wrong_bytes(&self.sums, &worker.heard_sums()?));
        }
        Ok(worst)
    }
}
