//! Clients in their world: they act, speak, and die.

use std::rc::Rc;

use crate::client::{Around, Mapping, Scene, What};
use crate::oracle::Violation;
use crate::world::{Ghost, World};

impl World {
    pub(crate) fn act(&mut self, client: usize) -> Result<(), Violation> {
        let mut scene = Scene {
            oracle: &mut self.oracle,
            rng: &mut self.rng,
            mutation: self.mutation,
            sizes: self.sizes,
            models: self.models,
            transports: self.transports,
            holds: self.has_holds,
            card: &mut self.card,
            legacy: &self.legacy,
            trace: &self.trace,
        };
        self.clients[client].act(&mut scene)
    }

    pub(crate) fn connect(&mut self, client: usize) {
        let socket = self.clients[client].connect(&self.oracle, &mut self.rng);
        self.listener.push_back(socket);
    }

    pub(crate) fn send(&mut self, client: usize, number: u64) {
        let oracle = &mut self.oracle;
        self.clients[client].send_call(number, |asked, user| match asked.what {
            What::Create(tensor) | What::Adopt(tensor) => oracle.tensors[tensor].sends += 1,
            What::Get(Some(tensor)) | What::Publish(tensor) => {
                let known = &oracle.tensors[tensor];
                asked.expects = known.user == user && oracle.must_exist(known, false);
            }
            _ => {}
        });
    }

    /// What is unmapped, and what nobody has taken, goes back.
    pub(crate) fn release(&mut self, client: usize) {
        self.clients[client].release();
    }

    pub(crate) fn read(&mut self, client: usize) -> Result<(), Violation> {
        let client = &mut self.clients[client];
        let Some(socket) = client.socket().map(Rc::clone) else { return Ok(()) };
        let next = socket.borrow_mut().to_client.pop_front();
        let Some((bytes, fds)) = next else {
            client.hang_up();
            return Ok(());
        };
        let legacy = &self.legacy;
        let mut around = Around { oracle: &mut self.oracle, faults: self.faulted, legacy };
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
        let mapped: Vec<_> =
            client.mappings.values().flat_map(|mapping| mapping.ranges.clone()).collect();
        let mut writes: Vec<_> =
            client.kernels.drain(..).map(|kernel| (kernel.tensor, kernel.memory)).collect();
        for lease in client.writable() {
            writes.extend(client.mappings[&lease].ranges.clone());
        }
        client.hang_up();
        client.alive = false;
        self.gone.borrow_mut().insert(client.pid);
        client.mappings.clear();
        client.calls.clear();
        client.lent.clear();
        self.legacy.borrow_mut().end(client.pid);
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
            let uses = |it: &&Mapping| it.ranges.iter().any(|(tensor, _)| overlaps(*tensor));
            if let Some(mapping) = client.mappings.values().find(uses) {
                let detail = format!("{place:?}, but pid {} has {mapping:?}", client.pid);
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
