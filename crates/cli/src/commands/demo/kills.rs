//! The second half: everything is killed with -9, one after the other.

use std::time::{Duration, Instant};

use millpond_wire::message::Status;

use super::account::Account;
use super::state::Demo;
use crate::error::{CommandError, Outcome, failed, wrong};
use crate::units;
use millpond_trial::process::Process;
use millpond_trial::protocol::{Order, Spun};
use millpond_trial::{PATIENCE, until};

/// What a client may wait for the next daemon at most, as the design promises.
const RECOVERY: Duration = Duration::from_millis(200);

impl Demo<'_> {
    /// Kills the last worker.
    pub fn kill_a_worker(&mut self) -> Outcome {
        let before = self.account()?;
        let victim = self.workers.pop().ok_or_else(|| wrong("no worker is left"))?;
        let pid = victim.pid();
        self.story.step(format_args!("kill -9 of a worker (pid {pid})"))?;
        let process = open(pid)?;
        let pond = self.pond()?.clone();
        let killed = kill(&process)?;
        let is_gone = |silent_counts: bool| {
            let clients = pond.clients()?;
            let known = clients.iter().find(|client| client.pid == pid);
            let gone = known.is_none_or(|client| silent_counts && client.silent);
            Ok(gone.then(|| killed.elapsed()))
        };
        let (noticed, _) = until("the worker's death to be noticed", || is_gone(true))?;
        bury(&process)?;
        let (ended, _) = until("the worker's leases to end", || is_gone(false))?;
        victim.bury();
        self.facts.times.worker_noticed_ms = Some(units::millis(noticed));
        self.facts.times.worker_leases_ended_ms = Some(units::millis(ended));
        let (noticed, ended) = (units::time(noticed), units::time(ended));
        let text = format!("noticed after {noticed}, its leases ended after {ended}");
        self.story.claim(true, text)?;
        self.claim_after_a_kill(before.without_leases(self.plan.count()))?;
        self.survived("worker");
        Ok(())
    }

    pub fn kill_the_daemon(&mut self) -> Outcome {
        let (before, status) = (self.account()?, self.status()?);
        self.story.step(format_args!("kill -9 of the daemon (pid {})", status.daemon_pid))?;
        let (time, spun) = self.kill_a_daemon(&status)?;
        self.facts.times.daemon_recovery_ms = Some(units::millis(time));
        self.facts.times.daemon_reader_pause_ms = Some(pause_ms(&spun));
        self.claim_reader(&spun)?;
        self.claim_after_a_kill(before)?;
        self.survived("daemon");
        Ok(())
    }

    /// Kills the keeper, and then the daemon once more: only what the new keeper holds can come
    /// back then.
    pub fn kill_the_keeper(&mut self) -> Outcome {
        let (before, status) = (self.account()?, self.status()?);
        self.story.step(format_args!("kill -9 of the keeper (pid {})", status.keeper_pid))?;
        self.spin()?;
        let process = open(status.keeper_pid)?;
        let killed = kill(&process)?;
        self.pond()?.ping()?;
        let answer = killed.elapsed();
        self.trial()?.reap();
        let pond = self.pond()?.clone();
        let ((), _) = until("a new keeper", || {
            let now = pond.status()?.keeper_pid;
            Ok((now != 0 && now != status.keeper_pid).then_some(()))
        })?;
        let time = killed.elapsed();
        let spun = self.rest()?;
        self.facts.times.keeper_answer_ms = Some(units::millis(answer));
        self.facts.times.keeper_recovery_ms = Some(units::millis(time));
        self.facts.times.keeper_reader_pause_ms = Some(pause_ms(&spun));
        let now = self.status()?;
        let text = format!(
            "the daemon answers after {}, and has started a new keeper (pid {}) after {}",
            units::time(answer),
            now.keeper_pid,
            units::time(time)
        );
        self.story.claim(now.epoch == status.epoch, text)?;
        self.claim_reader(&spun)?;
        self.claim_after_a_kill(before)?;

        let pid = now.daemon_pid;
        self.story.fact(format_args!("and the daemon once more (pid {pid})"))?;
        let (time, spun) = self.kill_a_daemon(&now)?;
        self.facts.times.second_daemon_recovery_ms = Some(units::millis(time));
        self.claim_reader(&spun)?;
        self.claim_after_a_kill(before)?;
        self.survived("keeper");
        Ok(())
    }

    /// Kills the daemon while a worker reads, and waits for the next one's first answer.
    fn kill_a_daemon(&mut self, status: &Status) -> Result<(Duration, Spun), CommandError> {
        self.spin()?;
        let process = open(status.daemon_pid)?;
        let killed = kill(&process)?;
        bury(&process)?;
        // A new client, as a program that starts at just this moment.
        let client = self.trial()?.connect("demo newcomer")?;
        let (next, _) = until("the next daemon", || {
            let next = client.status()?;
            Ok((next.epoch > status.epoch).then_some(next))
        })?;
        let time = killed.elapsed();
        client.close()?;
        self.epoch = Some(next.epoch);
        let spun = self.rest()?;
        let text = format!(
            "the next one (pid {}, epoch {}) answers after {}",
            next.daemon_pid,
            next.epoch,
            units::time(time)
        );
        self.story.claim(next.keeper_pid != 0 && next.lost_tensors == 0, text)?;
        if time > RECOVERY {
            self.story.fact(format_args!("that is more than {}", units::time(RECOVERY)))?;
        }
        Ok((time, spun))
    }

    fn claim_after_a_kill(&mut self, before: Account) -> Outcome {
        self.claim_bytes()?;
        self.claim_account(before)?;
        Ok(())
    }

    /// Lets the first worker read on and on.
    fn spin(&mut self) -> Outcome {
        let reader = self.workers.first_mut().ok_or_else(|| wrong("no worker is left"))?;
        reader.order(&Order::Spin)
    }

    fn rest(&mut self) -> Result<Spun, CommandError> {
        let reader = self.workers.first_mut().ok_or_else(|| wrong("no worker is left"))?;
        reader.rest()
    }

    fn claim_reader(&mut self, spun: &Spun) -> Outcome {
        let text = format!(
            "a worker went on reading meanwhile: {}, longest pause {}, wrong or failed {}",
            units::count(spun.reads, "read"),
            units::time(Duration::from_nanos(spun.longest_pause_ns)),
            spun.wrong + spun.failed
        );
        self.story.claim(spun.reads > 0 && spun.wrong + spun.failed == 0, text)
    }

    fn survived(&mut self, what: &'static str) {
        if self.story.step_was_true() {
            self.facts.kills_survived.push(what);
        }
    }
}

fn open(pid: u32) -> Result<Process, CommandError> {
    Process::open(pid).map_err(|error| failed(format!("finding pid {pid}"), error))
}

/// The moment of the kill.
fn kill(process: &Process) -> Result<Instant, CommandError> {
    let killed = Instant::now();
    process.kill().map_err(|error| failed(format!("killing pid {}", process.pid), error))?;
    Ok(killed)
}

/// Waits until the process is gone.
fn bury(process: &Process) -> Outcome {
    let what = || format!("the end of pid {}", process.pid);
    match process.wait(PATIENCE).map_err(|error| failed(what(), error))? {
        true => Ok(()),
        false => Err(failed(what(), "it does not come")),
    }
}

fn pause_ms(spun: &Spun) -> f64 {
    units::millis(Duration::from_nanos(spun.longest_pause_ns))
}
