//! A mover is started, speaks, hangs, dies, and is replaced.

use millpond_mover::channel::{FromMover, ToMover, Why};
use millpond_wire::message::{Counts, EventKind, MoveWork, MoverInfo, TensorMove};
use millpond_wire::{ClientId, ErrorKind, Failure, GpuUuid, PiecesKind};

use super::{Mover, Phase};
use crate::policy::clients::Client;
use crate::policy::owner::{Caller, Door, LOCAL_TENANT, Owner};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

impl<P: Ports> Pond<P> {
    /// Starts a mover where there is work and none, and gives one what it can take.
    pub(super) fn feed_mover(&mut self, ports: &mut P, device: GpuUuid) {
        let Some(mover) = self.movers.by_device.get(&device) else { return };
        match mover.phase {
            Phase::Absent if !mover.is_idle() => self.start_mover(ports, device),
            Phase::Ready => {
                let rested = mover.sent.is_empty() && mover.sent_tasks.is_empty();
                self.send_tasks(ports, device);
                while self.send_next(ports, device) {}
                // Of one that is at work, more work is no sign of life.
                if rested {
                    self.movers.await_sign(device, ports.monotonic_ms(), self.caps.movers);
                }
            }
            _ => {}
        }
    }

    /// Starts a mover ahead of moves that are about to be asked for: its context takes longer than
    /// whatever has to happen before them. One that gets no work ends like any other.
    pub(in crate::policy) fn expect_moves(&mut self, ports: &mut P, device: GpuUuid) {
        if self.movers.by_device.entry(device).or_default().phase == Phase::Absent {
            self.start_mover(ports, device);
        }
    }

    fn start_mover(&mut self, ports: &mut P, device: GpuUuid) {
        // One that an earlier daemon left behind still writes.
        let left = |(id, client): (ClientId, &Client<P::Fd>)| {
            client.mover && self.movers.device_of(id).is_none()
        };
        if self.clients.iter().any(left) {
            return;
        }
        if let Some(mover) = self.movers.by_device.get_mut(&device) {
            mover.phase = Phase::Starting;
        }
        self.movers.await_sign(device, ports.monotonic_ms(), self.caps.movers);
        ports.start_mover(device);
    }

    /// The process of a mover runs; it has not said anything yet.
    pub fn mover_started(&mut self, ports: &mut P, device: GpuUuid, pid: u32, pidfd: P::Fd) {
        let id = ClientId(ports.random_id());
        let tenant = self.clients.tenant(LOCAL_TENANT);
        let owner = Owner { tenant, user: self.accounts.own_user(), group: 0 };
        ports.watch(id, &pidfd);
        self.clients.insert(
            id,
            Client {
                // It may have to map anything.
                caller: Caller { owner, groups: [].into(), door: Door::Operator },
                process: pid.into(),
                program: "millpond mover".to_owned(),
                since_ms: ports.now_ms(),
                pidfd: Some(pidfd),
                conn: None,
                unclaimed: false,
                recorded: false,
                announced: true,
                mover: true,
                account: self.accounts.of_the_pond(),
            },
        );
        let mover = self.movers.by_device.entry(device).or_default();
        mover.client = Some(id);
        mover.moved_bytes = 0;
        let text = format!("pid {pid} for {device}");
        self.counts.movers_started += 1;
        self.happened(ports, EventKind::MoverStarted, None, None, None, text);
    }

    /// There is no mover, and this is why; nobody waits for one any more.
    pub fn mover_not_started(&mut self, ports: &mut P, device: GpuUuid, text: &str) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        if mover.client.is_none() {
            mover.phase = Phase::Absent;
            mover.deadline_ms = None;
        }
        let failure = Failure::new(ErrorKind::Mover, format!("no mover for {device}: {text}"))
            .hint("run `millpond doctor`");
        let waiting = std::mem::take(&mut mover.waiting);
        for (job, moving) in waiting {
            self.end_move(ports, (job, &moving), Err(failure.clone()));
        }
        self.fail_tasks(ports, device, text);
    }

    /// A mover has said something.
    pub fn mover_said(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        said: FromMover,
        fd: Option<P::Fd>,
    ) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        if mover.phase == Phase::Ending && !matches!(said, FromMover::Done { .. }) {
            return;
        }
        match said {
            FromMover::Ready { context_bytes } => {
                mover.phase = Phase::Ready;
                mover.context_bytes = context_bytes;
            }
            FromMover::Failed { text } => {
                mover.phase = Phase::Ending;
                self.mover_not_started(ports, device, &text);
            }
            FromMover::Mapped { .. } => {}
            FromMover::Unmapped { slab } => {
                mover.unmapped(slab);
                self.free_in_hosts(ports);
            }
            FromMover::PoolMade { slab, data } => self.pool_made(ports, device, slab, data, fd),
            FromMover::PoolFailed { slab, out_of_memory, text } => {
                self.pool_failed(ports, device, slab, out_of_memory, text);
            }
            FromMover::Proved { slab } => self.proof_done(ports, device, slab, Ok(())),
            FromMover::NotProved { slab, why, text } => {
                self.proof_done(ports, device, slab, Err((why, text)));
            }
            FromMover::MapFailed { slab, why, text } => {
                // Its jobs fail one by one, each with its own answer; this one says why.
                tracing::error!(%slab, ?why, "the mover of {device} cannot map a slab: {text}");
            }
            FromMover::Done { job, hashes } => {
                if let Some(moving) = mover.sent.remove(&job) {
                    mover.moved_bytes = mover.moved_bytes.saturating_add(moving.what.bytes);
                    let took_ms = ports.monotonic_ms().saturating_sub(moving.told_ms);
                    count_move(&mut self.counts, &moving.what, took_ms);
                    self.let_job_go(ports, device, &moving, true);
                    self.end_move(ports, (job, &moving), Ok(hashes));
                }
            }
            FromMover::JobFailed { job, why: Why::Driver, text } => {
                // Whether it still writes is not known: its process has to go first.
                tracing::error!(job, "the mover of {device} failed: {text}");
                self.lose_mover(ports, device, &text);
            }
            FromMover::JobFailed { job, why, text } => {
                if let Some(moving) = mover.sent.remove(&job) {
                    let kind = match why {
                        Why::File => ErrorKind::File,
                        Why::Range => ErrorKind::Driver,
                        Why::Unsupported => ErrorKind::Unsupported,
                        Why::Denied => ErrorKind::Denied,
                        Why::Cancelled => ErrorKind::Invalid,
                        Why::Epoch | Why::Driver => ErrorKind::Internal,
                    };
                    // One that was only stopped says nothing against its mappings.
                    self.let_job_go(ports, device, &moving, why == Why::Cancelled);
                    self.end_move(ports, (job, &moving), Err(Failure::new(kind, text)));
                }
            }
        }
        self.feed_mover(ports, device);
        // What it says is one.
        self.movers.await_sign(device, ports.monotonic_ms(), self.caps.movers);
    }

    /// A mover's channel has ended: it dies, and its pidfd says when it is gone.
    pub fn mover_hung_up(&mut self, ports: &mut P, device: GpuUuid) {
        let ending = |mover: &Mover<P::Fd>| mover.phase == Phase::Ending;
        if !self.movers.by_device.get(&device).is_some_and(ending) {
            self.lose_mover(ports, device, "it hung up");
        }
    }

    /// Kills a mover that cannot be trusted; what it had is answered when it is gone.
    fn lose_mover(&mut self, ports: &mut P, device: GpuUuid, why: &str) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        mover.phase = Phase::Ending;
        let client = mover.client.and_then(|client| self.clients.get(client));
        if let Some(pidfd) = client.and_then(|client| client.pidfd.as_ref()) {
            ports.kill(pidfd);
        }
        let text = format!("the mover of {device}: {why}");
        tracing::warn!("{text}; killing it");
        self.happened(ports, EventKind::MoverLost, None, None, None, text);
        self.movers.await_sign(device, ports.monotonic_ms(), self.caps.movers);
    }

    /// A mover that was killed and does not go: nobody waits for it, but no other is started, and
    /// what it may still write to stays its own.
    fn give_up_on_mover(&mut self, ports: &mut P, device: GpuUuid) {
        self.lose_mover(ports, device, "it does not end");
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        let sent = std::mem::take(&mut mover.sent).into_iter();
        let all: Vec<_> = sent.chain(mover.waiting.drain(..)).collect();
        for (job, moving) in all {
            let message = format!("the mover of {device} hangs in the kernel and cannot be ended");
            let failure = Failure::new(ErrorKind::Mover, message);
            let failure = failure.hint("look at the machine's kernel log");
            self.end_move(ports, (job, &moving), Err(failure));
        }
        self.fail_tasks(ports, device, "the mover hangs in the kernel and cannot be ended");
    }

    /// The process of a mover is gone: nothing of it can land any more.
    pub(in crate::policy) fn mover_gone(&mut self, ports: &mut P, client: ClientId) {
        let Some(device) = self.movers.device_of(client) else {
            // An earlier daemon's; what waited for its end can begin.
            let devices: Vec<GpuUuid> = self.movers.by_device.keys().copied().collect();
            for device in devices {
                self.feed_mover(ports, device);
            }
            return;
        };
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        let was_lost = !mover.sent.is_empty() || mover.phase != Phase::Ending;
        let sent = std::mem::take(&mut mover.sent);
        mover.phase = Phase::Absent;
        mover.client = None;
        mover.context_bytes = 0;
        mover.slabs.clear();
        mover.unmapping.clear();
        mover.leases.clear();
        mover.deadline_ms = None;
        for (job, moving) in sent {
            let failure = Failure::new(
                ErrorKind::Mover,
                format!("the mover of {device} died during a {}", moving.what.work.name()),
            );
            let failure = failure.hint("try again: another mover is being started");
            self.end_move(ports, (job, &moving), Err(failure));
        }
        if was_lost {
            self.counts.movers_lost += 1;
            tracing::warn!("the mover of {device} is gone");
        }
        self.tasks_lost(ports, device, "the mover died of it");
        self.free_in_hosts(ports);
        self.feed_mover(ports, device);
    }

    /// Ends movers that hang or have nothing to do. Returns when to come again.
    pub(in crate::policy) fn care_for_movers(&mut self, ports: &mut P) -> Option<u64> {
        let now = ports.monotonic_ms();
        let due: Vec<GpuUuid> = self
            .movers
            .by_device
            .iter()
            .filter(|(_, mover)| mover.deadline_ms.is_some_and(|at| at <= now))
            .map(|(device, _)| *device)
            .collect();
        for device in due {
            let Some(mover) = self.movers.by_device.get_mut(&device) else { continue };
            match mover.phase {
                Phase::Ready if mover.is_idle() => {
                    mover.phase = Phase::Ending;
                    ports.tell_mover(device, ToMover::Stop, None);
                    let text = format!("the mover of {device} had nothing to do");
                    self.happened(ports, EventKind::MoverStopped, None, None, None, text);
                    self.movers.await_sign(device, ports.monotonic_ms(), self.caps.movers);
                }
                Phase::Ending => self.give_up_on_mover(ports, device),
                _ => self.lose_mover(ports, device, "it said nothing for too long"),
            }
        }
        self.movers.by_device.values().filter_map(|mover| mover.deadline_ms).min()
    }

    /// Movers that run, for `status`.
    pub(in crate::policy) fn mover_list(&self) -> Vec<MoverInfo> {
        let running = self.movers.by_device.iter().filter_map(|(device, mover)| {
            let client = self.clients.get(mover.client?)?;
            Some(MoverInfo {
                device: *device,
                pid: client.process.pid,
                moves: u32::try_from(mover.sent.len() + mover.waiting.len()).unwrap_or(u32::MAX),
                moved_bytes: mover.moved_bytes,
                context_bytes: mover.context_bytes,
            })
        });
        running.collect()
    }
}

/// A move is done.
fn count_move(counts: &mut Counts, what: &TensorMove, took_ms: u64) {
    counts.moves += 1;
    counts.moved_bytes = counts.moved_bytes.saturating_add(what.bytes);
    counts.move_ms = counts.move_ms.saturating_add(took_ms);
    if matches!(what.work, MoveWork::Pieces { kind: PiecesKind::Load, .. }) {
        counts.loads += 1;
        counts.loaded_bytes = counts.loaded_bytes.saturating_add(what.bytes);
        counts.load_ms = counts.load_ms.saturating_add(took_ms);
    }
}
