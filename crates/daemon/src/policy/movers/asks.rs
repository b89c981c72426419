//! Moves are asked for: checked, queued, answered.

use millpond_mover::channel::Pieces;
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{MoveWork, ReplyBody, Target, TensorMove};
use millpond_wire::{
    ClientId, ContentHash, ErrorKind, Failure, GpuUuid, PiecesKind, SlabId, TensorId,
};

use super::{Mover, Moving};
use crate::policy::get::lost;
use crate::policy::owner::Caller;
use crate::policy::pond::{Answer, Pond, now};
use crate::policy::ports::{ConnId, Ports};

impl<P: Ports> Pond<P> {
    /// A move that is wanted: it is answered when every byte has landed.
    pub(in crate::policy) fn move_bytes(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        mut what: TensorMove,
        file: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(conn)?;
        // A repeat joins the move that is under way: two of them would race.
        for mover in self.movers.by_device.values_mut() {
            let all = mover.sent.values_mut();
            let mut all = all.chain(mover.waiting.iter_mut().map(|(_, moving)| moving));
            if let Some(same) = all.find(|it| it.client == client && it.what.token == what.token) {
                let before = std::mem::replace(&mut same.conn, conn);
                let earlier = std::mem::replace(&mut same.number, number);
                self.superseded(ports, before, earlier);
                return Ok(None);
            }
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
        self.room_for_move(ports, &caller, what.bytes)?;
        let user = caller.owner.user;
        let moving = Moving { conn, number, client, user, what, file, slab, from };
        let job = self.movers.next_job;
        self.movers.next_job += 1;
        self.movers.by_device.entry(device).or_default().waiting.push_back((job, moving));
        self.feed_mover(ports, device);
        Ok(None)
    }

    /// The move goes on, but this request for it does not: every request is answered once.
    fn superseded(&mut self, ports: &mut P, conn: ConnId, number: u64) {
        if self.clients.conns.contains_key(&conn) {
            let message = "the same move was asked for again; that request gets its answer";
            let body = ReplyBody::Failure(Failure::new(ErrorKind::Invalid, message));
            self.answer_later(ports, conn, number, body, Vec::new());
        }
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
        let Some(tensor) = self.catalog.get(id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("tensor {id} not found")));
        };
        let Some(slab) = self.slabs.get(tensor.slab) else { return Err(lost(&id.to_string())) };
        if slab.is_lost() {
            return Err(lost(&id.to_string()));
        }
        slab.backing.supported()?;
        let name = tensor.name.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
        // Who holds a lease may go on with what no new lease is given for.
        let leased = tensor.leases.iter().any(|(holder, _)| *holder == client);
        if tensor.deleted && !leased {
            let message = format!("tensor '{name}' was deleted");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        let writes = is_target && what.work.writes();
        if tensor.part {
            self.may_use_part(client, caller, id, writes)?;
        }
        let leased = leased || tensor.part;
        if !writes && !tensor.ready && !leased {
            let message = format!("tensor '{name}' is still being written");
            return Err(Failure::new(ErrorKind::NotReady, message).hint("wait for its publish"));
        }
        if !writes && tensor.accesses_left.is_some() && !leased {
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
        Ok((slab.pool.device, tensor.slab))
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

    fn room_for_move(&mut self, ports: &mut P, caller: &Caller, bytes: u64) -> Result<(), Failure> {
        let (most, most_bytes) = (self.limits.moves_per_user, self.limits.move_bytes_per_user);
        let user = caller.owner.user;
        let (mut count, mut sum) = (0_usize, 0_u64);
        for moving in self.movers.by_device.values().flat_map(Mover::all) {
            if moving.user == user {
                count += 1;
                sum = sum.saturating_add(moving.what.bytes);
            }
        }
        let (what, key) = if count >= most {
            (format!("{most} moves under way"), "limits.moves_per_user")
        } else if count > 0 && sum.saturating_add(bytes) > most_bytes {
            (format!("{} in moves", format_bytes(most_bytes)), "limits.move_bytes_per_user")
        } else {
            return Ok(());
        };
        Err(self.limit_reached(ports, &caller.owner, &what, key))
    }

    pub(super) fn end_move(
        &mut self,
        ports: &mut P,
        moving: &Moving<P::Fd>,
        result: Result<Vec<ContentHash>, Failure>,
    ) {
        let body = match result {
            Ok(hashes) => ReplyBody::Moved { bytes: moving.what.bytes, hashes },
            Err(failure) => ReplyBody::Failure(failure),
        };
        // Who hung up meanwhile asks again.
        if self.clients.conns.contains_key(&moving.conn) {
            self.answer_later(ports, moving.conn, moving.number, body, Vec::new());
        }
    }

    /// Nobody waits for these any more; what runs, runs to its end.
    pub(in crate::policy) fn forget_moves(&mut self, ports: &mut P, conn: ConnId) {
        for mover in self.movers.by_device.values_mut() {
            mover.waiting.retain(|(_, moving)| moving.conn != conn);
        }
        self.unmap_all_unwanted(ports);
    }

    fn unmap_all_unwanted(&mut self, ports: &mut P) {
        let devices: Vec<GpuUuid> = self.movers.by_device.keys().copied().collect();
        for device in devices {
            self.unmap_unwanted(ports, device);
        }
    }

    /// Moves that have not begun are refused.
    pub(in crate::policy) fn refuse_moves(&mut self, ports: &mut P, failure: &Failure) {
        let waiting: Vec<Moving<P::Fd>> = self
            .movers
            .by_device
            .values_mut()
            .flat_map(|mover| mover.waiting.drain(..))
            .map(|(_, moving)| moving)
            .collect();
        for moving in waiting {
            self.end_move(ports, &moving, Err(failure.clone()));
        }
        self.unmap_all_unwanted(ports);
    }
}
