//! Clients in their world: they act, speak, and die.

use std::rc::Rc;

use millpond_wire::LeaseId;
use millpond_wire::message::RequestBody;

use crate::client::{Around, Lease, Stage, What};
use crate::oracle::Violation;
use crate::world::{Ghost, World};

impl World {
    pub(crate) fn act(&mut self, client: usize) -> Result<(), Violation> {
        let mut stage = Stage {
            oracle: &mut self.oracle,
            rng: &mut self.rng,
            mutation: self.mutation,
            sizes: self.sizes,
            models: self.models,
            trace: &self.trace,
        };
        self.clients[client].act(&mut stage)
    }

    pub(crate) fn connect(&mut self, client: usize) {
        let client = &mut self.clients[client];
        self.listener.push_back(client.connect());
        client.greet(self.mutation);
    }

    pub(crate) fn send(&mut self, client: usize, number: u64) {
        let client = &mut self.clients[client];
        let generation = client.generation;
        let Some(call) = client.calls.get_mut(&number) else { return };
        call.sends += 1;
        call.sent_on = Some(generation);
        if let What::Create(tensor) = call.what {
            self.oracle.tensors[tensor].sends += 1;
        }
        if let What::Get(Some(tensor)) | What::Publish(tensor) = call.what {
            let known = &self.oracle.tensors[tensor];
            call.expects = known.user == client.user && self.oracle.must_exist(known, false);
        }
        let (body, fd) = (call.body.clone(), call.fd.clone());
        client.send(number, body, fd);
    }

    /// What is unmapped, and what nobody has taken, goes back.
    pub(crate) fn release(&mut self, client: usize) {
        let client = &mut self.clients[client];
        let mut leases: Vec<LeaseId> = client.unmapped();
        leases.extend(std::mem::take(&mut client.strays));
        for lease in &leases {
            if let Some(lease) = client.leases.get_mut(lease) {
                lease.ending = true;
            }
        }
        let body = RequestBody::LeaseRelease { leases: leases.clone() };
        client.ask(body, What::Release(leases), None);
    }

    pub(crate) fn read(&mut self, client: usize) -> Result<(), Violation> {
        let client = &mut self.clients[client];
        let Some(socket) = client.socket().map(Rc::clone) else { return Ok(()) };
        let next = socket.borrow_mut().to_client.pop_front();
        let Some((bytes, fds)) = next else {
            client.hang_up();
            return Ok(());
        };
        let mut around = Around {
            oracle: &mut self.oracle,
            rng: &mut self.rng,
            mutation: self.mutation,
            faults: self.faulted,
        };
        client.read(&bytes, fds, &mut around)
    }

    pub(crate) fn kernel(&mut self, client: usize) -> Result<(), Violation> {
        let client = &mut self.clients[client];
        let at = self.rng.index(client.kernels.len());
        let kernel = client.kernels.swap_remove(at);
        self.oracle.write(kernel.tensor, &kernel.memory, &format!("pid {}", client.pid))
    }

    /// Ends a process, from outside or by itself: nothing is called.
    pub(crate) fn kill_client(&mut self, client: usize) {
        let rng = &mut self.rng;
        let client = &mut self.clients[client];
        let mapped: Vec<_> = client
            .mapped()
            .flat_map(|(_, lease)| lease.ranges())
            .map(|(tensor, memory)| (tensor, Rc::clone(memory)))
            .collect();
        let mut writes: Vec<_> =
            client.kernels.drain(..).map(|kernel| (kernel.tensor, kernel.memory)).collect();
        for lease in client.writable() {
            let ranges = client.leases[&lease].ranges();
            writes.extend(ranges.map(|(tensor, memory)| (tensor, Rc::clone(memory))));
        }
        client.hang_up();
        client.alive = false;
        self.gone.borrow_mut().insert(client.pid);
        client.leases.clear();
        client.calls.clear();
        let pid = client.pid;
        self.trace.say(|| format!("KILL pid {pid}"));
        if !mapped.is_empty() && !rng.once_in(4) {
            self.ghosts.push(Ghost { pid, writes, mapped });
        }
    }

    /// A tensor got its place: nobody may still use what was there before.
    pub(crate) fn check_place(&self, tensor: usize) -> Result<(), Violation> {
        let Some(place) = self.oracle.tensors[tensor].place else { return Ok(()) };
        let overlaps = |other: usize| {
            let other = self.oracle.tensors[other].place.filter(|_| other != tensor);
            other.is_some_and(|other| other.overlaps(&place))
        };
        for client in self.clients.iter().filter(|client| client.alive) {
            let uses = |lease: &Lease| lease.ranges().any(|(tensor, _)| overlaps(tensor));
            if let Some((_, lease)) = client.mapped().find(|(_, lease)| uses(lease)) {
                let detail = format!("{place:?}, but pid {} has {lease:?}", client.pid);
                return Err(Violation::new("leased memory is not handed out again", detail));
            }
        }
        for mover in self.movers.iter().filter(|mover| mover.alive) {
            if let Some(job) = mover.jobs.iter().find(|job| overlaps(job.tensor)) {
                let detail = format!("{place:?}, but mover {} works: {job:?}", mover.pid);
                return Err(Violation::new("leased memory is not handed out again", detail));
            }
        }
        for ghost in &self.ghosts {
            let mut all = ghost.mapped.iter().chain(&ghost.writes);
            if let Some((other, _)) = all.find(|(other, _)| overlaps(*other)) {
                let other = self.oracle.tensors[*other].id;
                let detail = format!("{place:?}, where pid {} died with {other}", ghost.pid);
                return Err(Violation::new("only released memory is recycled", detail));
            }
        }
        Ok(())
    }
}
