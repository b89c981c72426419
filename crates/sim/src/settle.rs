//! The end of a schedule: everything that is under way comes to its end, then everything ends.

use std::rc::Rc;

use millpond_daemon::policy::Door;
use millpond_keeper::channel::KeyView;
use millpond_wire::message::{
    ClientInfo, ModelInfo, Reply, ReplyBody, Request, RequestBody, Status, TensorInfo,
};
use millpond_wire::{ClientId, VersionTarget};

use crate::client::first_hello;
use crate::daemon::Daemon;
use crate::oracle::{Violation, ensure};
use crate::socket::Socket;
use crate::world::World;

/// Steps after which a schedule must have come to rest.
const PATIENCE: u32 = 20_000;
/// Turns of the clock after which every request must have been answered.
const TURNS: u32 = 20;

/// What the daemon says about itself.
pub struct Books {
    pub status: Status,
    /// Clients and leases, without the one that asked.
    pub clients: Vec<ClientInfo>,
    pub tensors: Vec<TensorInfo>,
    pub models: Vec<ModelInfo>,
}

impl World {
    /// Lets everything come to rest: nobody starts anything new, nobody is killed.
    ///
    /// # Errors
    /// The rule that is broken on the way, or that rest is never reached.
    pub fn settle(&mut self) -> Result<(), Violation> {
        self.busy = false;
        self.faults = 0;
        self.thieves.hang_up();
        // Who has said goodbye exits.
        for client in 0..self.clients.len() {
            if self.clients[client].alive && self.clients[client].is_closed() {
                self.kill_client(client);
            }
        }
        if let Daemon::Running(running) = &mut self.daemon {
            running.ports.faults = 0;
            running.ports.stuck_locks = false;
        }
        // While anybody has a cache, a slab without room is tried fifty times.
        let most = if self.has_caches { 4 * TURNS } else { TURNS };
        let (mut turns, mut quiet) = (0, 0);
        for _ in 0..PATIENCE {
            if self.step()? {
                quiet = 0;
                continue;
            }
            // Nothing but another daemon helps against a driver that hangs.
            if matches!(&self.daemon, Daemon::Running(running) if running.driver_hangs) {
                self.daemon_dies();
                continue;
            }
            let waits = |client: &crate::client::Client| client.alive && !client.calls.is_empty();
            let short = self.caches.iter().find(|process| process.alive && process.is_busy());
            if let Some(short) = short {
                turns += 1;
                ensure(turns < most, "every wait is answered", || short.what_it_does())?;
                self.tick(2000)?;
                continue;
            }
            let Some(waiting) = self.clients.iter().find(|client| waits(client)) else {
                // What waits for its time gets it.
                quiet += 1;
                if quiet < 3 {
                    self.tick(2000)?;
                    continue;
                }
                // Who is still to die would die under the questions that follow.
                if let Daemon::Running(running) = &mut self.daemon {
                    running.ports.dies_in = None;
                }
                return Ok(());
            };
            turns += 1;
            ensure(turns < most, "every request is answered", || {
                // Without the times, which are those of this run.
                let calls: Vec<_> = waiting.calls.values().map(|asked| &asked.what).collect();
                format!("pid {} waits for {calls:?}", waiting.pid)
            })?;
            self.tick(2000)?;
        }
        Err(Violation::new("the pond comes to rest", format!("not after {PATIENCE} steps")))
    }

    /// Asks the daemon as the operator does.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn books(&mut self) -> Result<Books, Violation> {
        let id = ClientId(self.rng.id());
        let program = "operator".to_owned();
        let hello = first_hello(id, program);
        let asked = [
            RequestBody::Hello(hello),
            RequestBody::PondStatus,
            RequestBody::ClientList,
            RequestBody::TensorList { prefix: String::new(), page: None },
            RequestBody::ModelList { prefix: String::new() },
        ];
        let mut answers = self.as_operator(asked)?;
        let missing = || Violation::new("the operator is answered", "not everything");
        let Some(ReplyBody::Models(models)) = answers.pop() else { return Err(missing()) };
        let Some(ReplyBody::Tensors(tensors)) = answers.pop() else { return Err(missing()) };
        let Some(ReplyBody::Clients(clients)) = answers.pop() else { return Err(missing()) };
        let Some(ReplyBody::Status(status)) = answers.pop() else { return Err(missing()) };
        let clients = clients.into_iter().filter(|client| client.client != Some(id)).collect();
        Ok(Books { status: *status, clients, tensors, models })
    }

    fn as_operator(
        &mut self,
        asked: impl IntoIterator<Item = RequestBody>,
    ) -> Result<Vec<ReplyBody>, Violation> {
        let socket = Socket::connected(1);
        let conn = self.accepted(Rc::clone(&socket), 1, 0, Door::Operator)?;
        let mut builder = planus::Builder::new();
        let mut answers = Vec::new();
        for (number, body) in (1..).zip(asked) {
            let bytes = Request { number, body }.encode(&mut builder).to_vec();
            socket.borrow_mut().to_daemon.push_back((bytes, None));
            self.message(conn)?;
            // The status waits for the card's readings.
            for _ in 0..TURNS {
                if !socket.borrow().to_client.is_empty() {
                    break;
                }
                self.driver_works()?;
                self.driver_says()?;
                self.tick(200)?;
            }
            while let Some((bytes, _)) = socket.borrow_mut().to_client.pop_front() {
                let reply = Reply::decode(&bytes)
                    .map_err(|error| Violation::new("replies can be read", error.to_string()))?;
                answers.push(reply.body);
            }
        }
        socket.borrow_mut().close_client();
        self.message(conn)?;
        Ok(answers)
    }

    /// Everybody goes, everything is deleted: nothing may be left.
    ///
    /// # Errors
    /// What is left.
    pub fn drain(&mut self) -> Result<(), Violation> {
        for client in 0..self.clients.len() {
            if self.clients[client].alive {
                self.kill_client(client);
            }
        }
        for tool in 0..self.tools.len() {
            if self.tools[tool].alive {
                self.end_tool(tool);
            }
        }
        for process in 0..self.caches.len() {
            if self.caches[process].alive {
                self.end_cache(process);
            }
        }
        self.ghosts.clear();
        self.holders.borrow_mut().running.clear();
        self.settle()?;
        self.delete_everything(|_| false)?;
        self.check_adopted_gone()?;
        // The next daemon keeps no empty slabs.
        self.recycle_bytes = 0;
        self.daemon_dies();
        self.settle()?;
        self.check_nothing_charged()?;
        let host = self.hosts.iter().find(|host| host.alive);
        ensure(host.is_none(), "a host that runs has memory", || format!("{host:?}"))?;
        let used = self.card.used();
        ensure(used == 0, "no byte leaks", || format!("{used} bytes are left"))?;
        let keeper = self.keeper.as_ref().map(|keeper| &keeper.holds);
        let left = keeper.into_iter().flatten().map(|(key, _)| key);
        let left: Vec<_> = left
            .filter(|key| {
                matches!(
                    key.view(),
                    KeyView::Slab(_)
                        | KeyView::Client(_)
                        | KeyView::Manifest(_)
                        | KeyView::HostChannel(_)
                        | KeyView::HostProcess(_)
                        | KeyView::Other(_)
                )
            })
            .collect();
        ensure(left.is_empty(), "no descriptor leaks", || format!("{left:?}"))
    }

    /// The operator deletes every tensor and retires every version.
    ///
    /// # Errors
    /// An answer that is neither yes nor `expected`.
    pub(crate) fn delete_everything(
        &mut self,
        expected: impl Fn(&ReplyBody) -> bool,
    ) -> Result<(), Violation> {
        let id = ClientId(self.rng.id());
        let program = "operator".to_owned();
        let hello = first_hello(id, program);
        let books = self.books()?;
        for known in &mut self.oracle.tensors {
            known.may_be_gone = true;
        }
        let gone =
            books.tensors.iter().map(|info| RequestBody::TensorDelete { tensor: info.tensor });
        // The current one goes when no other is left.
        let versions = books.models.iter().flat_map(|model| {
            let mut versions: Vec<_> = model.versions.iter().collect();
            versions.sort_by_key(|version| version.current);
            versions
        });
        let retired =
            versions.map(|version| RequestBody::VersionRetire(VersionTarget::Id(version.version)));
        let asked: Vec<_> =
            std::iter::once(RequestBody::Hello(hello)).chain(gone).chain(retired).collect();
        for answer in self.as_operator(asked)? {
            let well =
                matches!(answer, ReplyBody::Done | ReplyBody::Welcome(_)) || expected(&answer);
            ensure(well, "everything can be deleted", || format!("{answer:?}"))?;
        }
        Ok(())
    }
}
