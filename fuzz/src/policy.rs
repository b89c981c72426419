//! A whole pond under any sequence of events, with restarts in between.

use std::collections::BTreeMap;

use millpond_daemon::policy::{ConnId, DriverFailure, Owner, Pond};
use millpond_wire::Epoch;
use millpond_wire::message::{Hello, Request, RequestBody, VERSION};
use millpond_wire::record::Record;

use crate::bytes::Bytes;
use crate::memory;
use crate::requests;
use crate::world::{self, CAPACITY, LIMITS, World};

/// Steps after which an input is long enough: more of the same only takes time.
const STEPS: usize = 300;

/// The bytes are decisions about what happens next.
pub fn check(data: &[u8]) {
    memory::within(data, 8192, || {
        let mut decide = Bytes(data);
        let mut play = Play::new();
        for _ in 0..STEPS {
            if decide.is_empty() {
                break;
            }
            play.step(&mut decide);
            play.end_closed();
            play.check();
        }
        play.finish();
    });
}

struct Play {
    pond: Pond<World>,
    world: World,
    /// Connections, with the process behind each.
    conns: Vec<ConnId>,
    last_conn: u64,
    last_number: u64,
    epoch: u64,
}

impl Play {
    fn new() -> Self {
        let mut world = World { now: 1, ..World::default() };
        let pond = Pond::new(&mut world, [7; 16], Epoch(1), LIMITS).expect("a new pond");
        Self { pond, world, conns: Vec::new(), last_conn: 0, last_number: 0, epoch: 1 }
    }

    fn step(&mut self, decide: &mut Bytes<'_>) {
        match decide.below(24) {
            0 | 1 => self.connect(decide),
            2..=4 => self.hello(decide),
            5..=10 => {
                let body = requests::body(decide, &self.world.granted);
                self.ask(decide, |number| Ok(Request { number, body }));
            }
            11 => {
                let length = decide.byte();
                let bytes = decide.take(length.into());
                self.ask(decide, |number| match Request::decode(bytes) {
                    Ok(request) => Ok(Request { number, ..request }),
                    Err((_, error)) => Err((number, error)),
                });
            }
            12 | 13 => self.slab(decide, true),
            14 => self.slab(decide, false),
            15 => {
                if let Some(conn) = self.conn(decide) {
                    self.hang_up(conn);
                }
            }
            16 => {
                let client = requests::client(decide);
                self.pond.process_gone(&mut self.world, client);
            }
            17 | 18 => {
                self.world.now += 1 << decide.below(42);
                self.pond.tick(&mut self.world);
            }
            19 => self.restart(),
            20 => self.world.failing = u32::from(decide.byte() % 4),
            21 if decide.flag() => world::driver_ready(&mut self.pond, &mut self.world),
            21 => self.pond.driver_failed(&mut self.world, "broken".to_owned()),
            22 => self.world.backlog = usize::from(decide.byte()) * 4,
            _ => match decide.below(3) {
                0 => self.world.records = self.pond.snapshot(),
                1 => self.pond.physical(&mut self.world, &[(world::GPU, 1)]),
                _ => self.pond.keeper_replaced(&mut self.world, 5),
            },
        }
    }

    fn connect(&mut self, decide: &mut Bytes<'_>) {
        self.last_conn += 1;
        let conn = ConnId(self.last_conn);
        // Users are one process each, so that a client can come back on another connection.
        let user = decide.below(3) as u32 + 1;
        let tenant = self.pond.tenant("local");
        let owner = Owner { tenant, user, group: user % 2 };
        let admin = decide.byte() == 1;
        self.pond.connected(conn, owner, &[2], admin, user, conn.0);
        self.conns.push(conn);
    }

    fn conn(&self, decide: &mut Bytes<'_>) -> Option<ConnId> {
        self.conns.get(decide.below(self.conns.len().max(1))).copied()
    }

    fn hello(&mut self, decide: &mut Bytes<'_>) {
        let client = requests::client(decide);
        let version = if decide.byte() == 255 { 0 } else { VERSION };
        let claims = decide.flag();
        let program = "fuzz".to_owned();
        let body = RequestBody::Hello(Hello { version, capabilities: 0, client, program, claims });
        self.ask(decide, |number| Ok(Request { number, body }));
    }

    fn ask(
        &mut self,
        decide: &mut Bytes<'_>,
        request: impl FnOnce(u64) -> Result<Request, (u64, millpond_wire::message::DecodeError)>,
    ) {
        let Some(conn) = self.conn(decide) else { return };
        self.last_number += 1;
        self.world.open.insert((conn, self.last_number));
        self.pond.message(&mut self.world, conn, request(self.last_number));
    }

    fn slab(&mut self, decide: &mut Bytes<'_>, works: bool) {
        if self.world.asked.is_empty() {
            return;
        }
        let slab = self.world.asked.swap_remove(decide.below(self.world.asked.len()));
        let result = if works {
            self.world.last_fd += 1;
            Ok(self.world.last_fd)
        } else {
            Err(DriverFailure { out_of_memory: decide.flag(), text: "no".to_owned() })
        };
        self.pond.slab_made(&mut self.world, slab, result);
    }

    fn hang_up(&mut self, conn: ConnId) {
        self.conns.retain(|other| *other != conn);
        self.pond.hung_up(&mut self.world, conn);
    }

    /// What the policy wants to end, the event loop ends when all is sent.
    fn end_closed(&mut self) {
        for conn in std::mem::take(&mut self.world.closed) {
            self.hang_up(conn);
        }
    }

    fn restart(&mut self) {
        let before = lasting(&self.pond.snapshot());
        let mut world = self.world.after_death();
        self.epoch += 1;
        let (records, held) = (world.records.clone(), world.held.clone());
        let (pond, found) =
            Pond::recover(&mut world, records, held, Epoch(self.epoch), LIMITS).expect("recovery");
        (self.pond, self.world) = (pond, world);
        self.conns.clear();
        assert_eq!(found.lost_tensors, 0);
        assert_eq!(lasting(&self.pond.snapshot()), before, "a restart loses nothing");
    }

    fn check(&self) {
        let books = self.pond.snapshot();
        world::check_books(&books, &self.world.held);
        let (mut slab_bytes, mut expected) = (0, 0);
        for record in &books {
            match record {
                Record::SlabMade(made) => {
                    slab_bytes += made.bytes;
                    expected += 1;
                }
                Record::ClientSeen(_) => expected += 1,
                _ => {}
            }
        }
        assert!(slab_bytes <= CAPACITY, "{slab_bytes} bytes of slabs");
        assert_eq!(expected, self.world.held.len(), "everything in the books is held");
    }

    /// Everybody who still waits gets an answer when the pond shuts down.
    fn finish(mut self) {
        self.world.failing = 0;
        self.pond.drain(&mut self.world);
        while let Some(slab) = self.world.asked.pop() {
            let failure = DriverFailure { out_of_memory: false, text: "no".to_owned() };
            self.pond.slab_made(&mut self.world, slab, Err(failure));
        }
        for _ in 0..2 {
            self.world.now += 1 << 43;
            self.pond.tick(&mut self.world);
        }
        while let Some(slab) = self.world.asked.pop() {
            let failure = DriverFailure { out_of_memory: false, text: "no".to_owned() };
            self.pond.slab_made(&mut self.world, slab, Err(failure));
        }
        let waiting = self.world.open.iter().find(|(conn, _)| self.conns.contains(conn));
        assert!(waiting.is_none(), "{waiting:?} was never answered");
    }
}

/// What the books say about tensors that do not end with a process.
fn lasting(books: &[Record]) -> BTreeMap<String, String> {
    books
        .iter()
        .filter_map(|record| match record {
            Record::TensorMade(made) if !made.ephemeral && !made.deleted => {
                Some((made.tensor.to_string(), format!("{made:?}")))
            }
            _ => None,
        })
        .collect()
}
