//! Moves are asked for: checked, queued, answered.

use std::collections::BTreeSet;

use millpond_mover::channel::{Pieces, Rights};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{MoveWork, ReplyBody, Target, TensorMove};
use millpond_wire::{
    ClientId, ContentHash, ErrorKind, Failure, GpuUuid, PiecesKind, Run, SlabId, TensorId,
    TensorName,
};

use super::Moving;
use crate::accounts::{Charge, Resource};
use crate::policy::answer::{Answer, Answered, now};
use crate::policy::get::{lost, orphaned};
use crate::policy::owner::{Caller, Owner};
use crate::policy::parked::{RequestId, Until, Wish};
use crate::policy::pond::Pond;
use crate::policy::ports::{ConnId, Ports};

impl<P: Ports> Pond<P> {
    /// A move that is wanted: it is answered when every byte has landed.
    pub(in crate::policy) fn move_bytes(
        &mut self,
        ports: &mut P,
        by: RequestId,
        mut what: TensorMove,
        file: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        // A repeat joins the move that is under way: two of them would race.
        if let Some(job) = self.movers.same(client, what.token) {
            // The move goes on, but the earlier request for it does not: each is answered once.
            let message = "the same move was requested again, and that request gets the answer";
            let earlier = self.parked.first(Until::Moved(job));
            self.answer_parked(ports, earlier, Err(Failure::new(ErrorKind::Invalid, message)));
            self.park(by, Wish::Move(job), None);
            return Ok(Answered::Parked);
        }
        let (device, slab) = self.may_move(client, &caller, what.tensor, &what, true)?;
        let from = match what.work {
            MoveWork::Copy { from, from_offset } => {
                let source = TensorMove { tensor: from, offset: from_offset, ..what.clone() };
                let (other, slab) = self.may_move(client, &caller, from, &source, false)?;
                if other != device {
                    let message =
                        format!("tensor {from} lies on {other}, {} on {device}", what.tensor);
                    return Err(Failure::new(ErrorKind::Invalid, message)
                        .hint("a copy between GPUs goes through the host: get it and put it"));
                }
                let apart = from_offset.abs_diff(what.offset) >= what.bytes;
                if from == what.tensor && !apart {
                    let message = format!("the two ranges of tensor {from} overlap");
                    return Err(Failure::new(ErrorKind::Invalid, message));
                }
                Some(slab)
            }
            _ => None,
        };
        self.check_pieces(&mut what, slab)?;
        if what.bytes == 0 {
            return now(ReplyBody::Moved { bytes: 0, hashes: Vec::new() });
        }
        self.check_file_limit(ports, by.conn, &what)?;
        let charges = self.room_for_move(ports, &caller, what.bytes)?;
        // So that nothing is moved for a process that is gone.
        self.watch_client(ports, client)?;
        let Owner { user, group, .. } = caller.owner;
        let rights = Rights { user, group, groups: caller.groups.to_vec() };
        let moving = Moving {
            client,
            by: rights,
            what,
            file,
            slab,
            from,
            told_ms: 0,
            cancelled: false,
            _charges: charges,
        };
        let job = self.movers.queue(device, moving);
        self.park(by, Wish::Move(job), None);
        self.feed_mover(ports, device);
        Ok(Answered::Parked)
    }

    /// Starts a mover ahead of a client's moves, unless the bytes are to get a name that the caller may
    /// not take: then nothing starts, and the caller need not move anything to learn that. While the driver has not said which GPUs there are,
    /// nothing is started: the moves wait for their slabs longer than for a mover.
    pub(in crate::policy) fn moves_expected(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        device: Option<GpuUuid>,
        name: Option<&TensorName>,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        if let Some(name) = name {
            self.may_take(caller, name)?;
        }
        if let Some(device) = self.gpus.choose(device)? {
            self.expect_moves(ports, device);
        }
        now(ReplyBody::Done)
    }

    /// Whether these bytes of a tensor may be written, or read; and where they lie.
    fn may_move(
        &self,
        client: ClientId,
        caller: &Caller,
        id: TensorId,
        what: &TensorMove,
        is_target: bool,
    ) -> Result<(GpuUuid, SlabId), Failure> {
        let target = Target::Id(id);
        self.find(caller, &target)?;
        self.may_touch(caller, id)?;
        let Some(tensor) = self.catalog.get(id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("tensor {id} not found")));
        };
        let Some(slab) = self.slabs.get(tensor.slab) else { return Err(lost(&id.to_string())) };
        if slab.is_lost() {
            return Err(lost(&id.to_string()));
        }
        if slab.orphan {
            return Err(orphaned(&id.to_string()));
        }
        let name = tensor.label(id);
        // Who holds a lease may go on with what no new lease is given for.
        let leased = self.leases.holds(client, id);
        if tensor.is_deleted() && !leased {
            let message = format!("tensor '{name}' was deleted");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        let writes = is_target && what.work.writes();
        if tensor.is_part() {
            self.may_use_part(client, &caller.as_user(), id, writes)?;
        }
        let leased = leased || tensor.is_part();
        if !writes && !tensor.is_ready() && !leased {
            let message = format!("tensor '{name}' is still being written");
            return Err(Failure::new(ErrorKind::NotReady, message).hint("wait for its publish"));
        }
        if !writes && tensor.life.accesses_left.is_some() && !leased {
            let message = format!("gets of tensor '{name}' are counted");
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("take a lease first, which is one get, and move under it"));
        }
        let spans: &mut dyn Iterator<Item = (u64, u64)> = match &what.work {
            // These bytes are the file's alone.
            MoveWork::Pieces { kind: PiecesKind::HashFile, .. } => &mut std::iter::empty(),
            MoveWork::Pieces { pieces, .. } => {
                &mut pieces.iter().map(|piece| (piece.offset, piece.bytes))
            }
            _ => &mut std::iter::once((what.offset, what.bytes)),
        };
        for (offset, bytes) in spans {
            if offset.checked_add(bytes).is_none_or(|end| end > tensor.bytes) {
                let message = format!(
                    "{bytes} bytes from byte {offset} are beyond tensor '{name}' of {} bytes",
                    tensor.bytes
                );
                return Err(Failure::new(ErrorKind::Invalid, message));
            }
        }
        Ok((slab.class.device, tensor.slab))
    }

    /// Whether a mover takes these pieces: it ends itself, and with it the moves of others, over
    /// what it does not.
    fn check_pieces(&self, what: &mut TensorMove, slab: SlabId) -> Result<(), Failure> {
        let base = self.catalog.get(what.tensor).map_or(0, |tensor| tensor.offset);
        let MoveWork::Pieces { kind, pieces, runs } = &mut what.work else { return Ok(()) };
        let (all, their_runs) = (std::mem::take(pieces), std::mem::take(runs));
        let job = Pieces { kind: *kind, slab, base, pieces: all, runs: their_runs };
        let checked = job.check();
        (*pieces, *runs) = (job.pieces, job.runs);
        checked.map_err(|why| Failure::new(ErrorKind::Invalid, why))
    }

    /// Whether the process that asks may write a file that long. The mover cannot take over this
    /// limit: it has one for all its threads.
    fn check_file_limit(&self, ports: &P, conn: ConnId, what: &TensorMove) -> Result<(), Failure> {
        let end = match &what.work {
            MoveWork::Get { file_offset } => file_offset.saturating_add(what.bytes),
            MoveWork::Pieces { kind: PiecesKind::Save, runs, .. } => {
                let end = |run: &Run| run.file_offset.saturating_add(run.bytes);
                runs.iter().map(end).max().unwrap_or(0)
            }
            _ => return Ok(()),
        };
        let pid = self.clients.connection(conn).and_then(|connection| connection.process.number());
        match pid.and_then(|pid| ports.file_limit(pid)) {
            Some(most) if end > most => {
                let message = format!(
                    "the file would have {} at least; your process may write files of {}",
                    format_bytes(end),
                    format_bytes(most)
                );
                Err(Failure::new(ErrorKind::File, message).hint("raise it with `ulimit -f`"))
            }
            _ => Ok(()),
        }
    }

    /// Charges a move to its user; one that is larger than the cap goes alone.
    fn room_for_move(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        bytes: u64,
    ) -> Result<[Charge; 2], Failure> {
        let account = self.account(&caller.owner);
        let is_alone = account.has(Resource::Moves) == 0;
        let checked = account.check(Resource::Moves, 1).and_then(|()| {
            if is_alone { Ok(()) } else { account.check(Resource::MoveBytes, bytes) }
        });
        checked.map_err(|refused| self.cap_reached(ports, &account, refused))?;
        Ok([
            Charge::new(&account, Resource::Moves, 1),
            Charge::new(&account, Resource::MoveBytes, bytes),
        ])
    }

    pub(super) fn end_move(
        &mut self,
        ports: &mut P,
        (job, moving): (u64, &Moving<P::Fd>),
        result: Result<Vec<ContentHash>, Failure>,
    ) {
        let bytes = moving.what.bytes;
        self.counts.moves_failed += u64::from(result.is_err());
        let answer = result.and_then(|hashes| now(ReplyBody::Moved { bytes, hashes }));
        // Who hung up meanwhile asks again.
        let ticket = self.parked.first(Until::Moved(job));
        self.answer_parked(ports, ticket, answer);
        self.end_if_idle(ports, moving.client, "hung up, and its moves have ended");
    }

    /// Nobody waits for these any more; what runs, runs to its end.
    pub(in crate::policy) fn forget_moves(&mut self, ports: &mut P, jobs: &BTreeSet<u64>) {
        self.movers.forget(jobs);
        self.movers.unmap_all_unwanted(ports);
    }

    /// The client of these moves is gone: what has not begun does not, what runs is stopped.
    pub(in crate::policy) fn cancel_moves(&mut self, ports: &mut P, client: ClientId) {
        for (job, moving) in self.movers.cancel(ports, client) {
            let failure = Failure::new(ErrorKind::Invalid, "the client of this move has ended");
            self.end_move(ports, (job, &moving), Err(failure));
        }
        self.movers.unmap_all_unwanted(ports);
    }

    /// Moves that have not begun are refused.
    pub(in crate::policy) fn refuse_moves(&mut self, ports: &mut P, failure: &Failure) {
        for (job, moving) in self.movers.take_waiting() {
            self.end_move(ports, (job, &moving), Err(failure.clone()));
        }
        self.movers.unmap_all_unwanted(ports);
    }
}
