//! Sessions that a test drives: it says what happens, and when.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod calls;
mod connections;
mod duties;
mod leases;

use std::time::{Duration, Instant};

use millpond_wire::message::{
    Life, Reply, ReplyBody, Request, RequestBody, Target, TensorCreate, TensorGet, TensorGrant,
    TensorInfo, VERSION, Welcome,
};
use millpond_wire::{
    Audience, Backing, ClientId, Dtype, Epoch, ErrorKind, Failure, LeaseId, Mode, PondId, Shape,
    TensorId, samples,
};

use crate::{Ask, Call, Ended, Next, Received, Session, Verdict};

const PATIENCE: Duration = Duration::from_secs(30);
const MS: Duration = Duration::from_millis(1);

type Reason = &'static str;

/// A session, a clock, and everything that was sent.
struct Bench {
    session: Session<u32, Reason>,
    now: Instant,
    pond: PondId,
    sent: Vec<(u64, Request)>,
}

fn welcome_of(pond: PondId) -> Welcome {
    Welcome {
        version: VERSION,
        capabilities: 0,
        pond,
        epoch: Epoch(1),
        daemon_version: "0".into(),
        tenant: "local".into(),
        user: 1000,
        admin: false,
        watch: false,
        page_slots: 0,
        token: Some([7; 16]),
    }
}

impl Bench {
    fn down() -> Self {
        let session = Session::new(ClientId::random(), PATIENCE);
        Self { session, now: Instant::now(), pond: PondId::random(), sent: Vec::new() }
    }

    fn up() -> Self {
        let mut bench = Self::down();
        bench.connect(&[]);
        bench
    }

    fn connect(&mut self, refused: &[LeaseId]) {
        let _claims = self.session.connecting();
        self.arrive(refused).unwrap();
    }

    fn arrive(&mut self, refused: &[LeaseId]) -> Option<crate::Arrival> {
        self.session.connected(self.session.client(), &welcome_of(self.pond), refused)
    }

    fn hang_up(&mut self) {
        let generation = self.session.generation();
        assert!(self.session.hung_up(generation, self.now));
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn call(&mut self, ask: Ask) -> Call {
        Call::new(&mut self.session, ask, self.now)
    }

    fn next(&mut self, call: &mut Call) -> Next<u32, Reason> {
        let next = call.next(&mut self.session, self.now);
        if let Next::Send(generation) = &next {
            self.sent.push((*generation, call.request().clone()));
        }
        next
    }

    /// Has it sent, and leaves it waiting.
    fn send(&mut self, call: &mut Call) {
        let next = self.next(call);
        assert!(matches!(next, Next::Send(_)), "{next:?}");
        let next = self.next(call);
        assert!(matches!(next, Next::Read(_)), "{next:?}");
    }

    fn reply(&mut self, number: u64, body: ReplyBody) -> Received<u32> {
        let generation = self.session.generation();
        self.session.received(generation, Reply { number, body }, vec![7])
    }

    /// Answers a call, and looks at the answer.
    fn answer(&mut self, call: &mut Call, body: ReplyBody) -> bool {
        let verdict = match &body {
            ReplyBody::Failure(failure) => Verdict::Refused(failure.kind),
            _ => Verdict::Good,
        };
        assert!(matches!(self.reply(call.number(), body), Received::Answer(_)));
        assert!(matches!(self.next(call), Next::Answered(Ok(_))));
        call.judge(verdict, self.now)
    }

    /// A lease that was granted and taken.
    fn lease(&mut self) -> LeaseId {
        let (lease, ask) = self.get(None);
        let mut call = self.call(ask);
        self.send(&mut call);
        assert!(self.answer(&mut call, grant(lease)));
        call.end(&mut self.session, Ended::Well);
        lease
    }

    /// The request for a lease.
    fn get(&mut self, deadline: Option<Instant>) -> (LeaseId, Ask) {
        let lease = self.session.new_lease();
        let target = Target::Name("acts/x".parse().unwrap());
        let get = TensorGet { target, lease, mode: Mode::ReadOnly, wait_ms: 0 };
        let ask = Ask::new(RequestBody::TensorGet(get));
        (lease, Ask { lease: Some(lease), deadline, ..ask })
    }

    fn claimed(&mut self) -> Vec<LeaseId> {
        self.session.leases().claims().iter().map(|claim| claim.lease).collect()
    }
}

fn ping() -> Ask {
    Ask::new(RequestBody::Ping)
}

fn failure(kind: ErrorKind) -> ReplyBody {
    ReplyBody::Failure(Failure::new(kind, "no"))
}

fn grant(lease: LeaseId) -> ReplyBody {
    let info = TensorInfo { tensor: TensorId::random(), bytes: 128, ..samples::tensor_info() };
    let (lease, backing) = (Some((lease, Mode::ReadOnly, [1; 16])), Backing::default());
    ReplyBody::Tensor(TensorGrant { info, lease, existed: false, backing, event: None })
}

fn unnamed(tensor: TensorId, lease: LeaseId) -> Ask {
    let create = TensorCreate {
        tensor,
        name: None,
        dtype: Dtype::U8,
        shape: Shape::new([128]).unwrap(),
        device: None,
        audience: Audience::User,
        ephemeral: false,
        zero: false,
        lease: Some(lease),
        life: Life::default(),
        transport: millpond_wire::TransportKind::Vmm,
        hold: None,
    };
    Ask { lease: Some(lease), ..Ask::new(RequestBody::TensorCreate(create)) }
}
