//! What is found through an index is what a look through everything would find.

use proptest::prelude::*;

use super::*;

impl Play {
    /// Compares every index over tensors with the tensors.
    pub(super) fn check_indexes(&self) {
        let tensors = || self.pond.catalog.iter();
        let unfreed = tensors().filter(|(id, it)| it.is_deleted() && !self.pond.is_in_use(*id));
        let unfreed: Vec<TensorId> = unfreed.map(|(id, _)| id).collect();
        assert_eq!(Vec::from_iter(self.pond.unfreed.all()), unfreed);
        let ephemeral = || tensors().filter(|(_, it)| it.is_ephemeral() && !it.is_deleted());
        let creators: BTreeSet<ClientId> = ephemeral().map(|(_, it)| it.creator).collect();
        assert_eq!(self.pond.catalog.creators_of_ephemeral(), Vec::from_iter(creators));
        for creator in tensors().map(|(_, it)| it.creator).collect::<BTreeSet<_>>() {
            let theirs = ephemeral().filter(|(_, it)| it.creator == creator);
            let theirs: Vec<TensorId> = theirs.map(|(id, _)| id).collect();
            let indexed: Vec<TensorId> = self.pond.catalog.ephemeral_of(creator).collect();
            assert_eq!(indexed, theirs);
        }
    }
}

/// Two users with two clients each.
const CLIENTS: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Create {
        name: Option<u8>,
        ephemeral: bool,
        lease: bool,
        audience: Audience,
    },
    Get {
        name: u8,
    },
    /// The youngest tensor without a name gets this one.
    Name {
        name: u8,
    },
    Delete {
        name: u8,
    },
    ReleaseOne,
    Die,
    HangUp,
    /// A client that was silent or unclaimed comes back, and claims all or nothing.
    Return {
        claims: bool,
    },
    Restart,
    Compact,
    Journal {
        works: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let audience =
        prop_oneof![Just(Audience::User), Just(Audience::Group), Just(Audience::Everybody)];
    prop_oneof![
        6 => (prop::option::of(0u8..4), any::<bool>(), any::<bool>(), audience).prop_map(
            |(name, ephemeral, lease, audience)| Step::Create { name, ephemeral, lease, audience }
        ),
        3 => (0u8..4).prop_map(|name| Step::Get { name }),
        2 => (0u8..4).prop_map(|name| Step::Name { name }),
        4 => (0u8..4).prop_map(|name| Step::Delete { name }),
        2 => Just(Step::ReleaseOne),
        1 => Just(Step::Die),
        1 => Just(Step::HangUp),
        4 => any::<bool>().prop_map(|claims| Step::Return { claims }),
        1 => Just(Step::Restart),
        1 => Just(Step::Compact),
        1 => Just(Step::Journal { works: false }),
        2 => Just(Step::Journal { works: true }),
    ]
}

/// One process, as the test knows it.
struct Process {
    id: ClientId,
    user: u32,
    conn: Option<ConnId>,
    leases: BTreeMap<u64, LeaseClaim>,
    unnamed: Vec<TensorId>,
}

impl Process {
    fn new(user: u32) -> Self {
        let (leases, unnamed) = (BTreeMap::new(), Vec::new());
        Self { id: ClientId::random(), user, conn: None, leases, unnamed }
    }

    fn took(&mut self, body: Option<ReplyBody>) {
        let Some(ReplyBody::Tensor(grant)) = body else { return };
        if let Some((lease, mode, token)) = grant.lease {
            let claim = LeaseClaim { lease, target: grant.info.tensor.into(), mode, token };
            self.leases.insert(lease.0, claim);
        }
        if grant.info.name.is_none() {
            self.unnamed.push(grant.info.tensor);
        }
    }
}

fn play_step(play: &mut Play, process: &mut Process, step: &Step, next: u64) {
    match step {
        Step::Die => {
            if let Some(conn) = process.conn {
                play.pond.hung_up(&mut play.world, conn);
            }
            play.pond.process_gone(&mut play.world, process.id);
            *process = Process::new(process.user);
        }
        Step::Return { claims } => {
            let conn = play.connect(process.user);
            if !matches!(play.hello(conn, process.id, *claims), ReplyBody::Welcome(_)) {
                return;
            }
            process.conn = Some(conn);
            if *claims {
                let leases = process.leases.values().cloned().collect();
                play.ask(conn, RequestBody::Claim(Claim { leases, last: true }));
            }
        }
        Step::Restart => {
            play.restart();
        }
        Step::Compact => play.world.records = play.pond.snapshot(),
        Step::Journal { works } => play.world.journal_fails = !works,
        _ => {
            let Some(conn) = process.conn else { return };
            asked(play, process, conn, step, next);
        }
    }
}

fn asked(play: &mut Play, process: &mut Process, conn: ConnId, step: &Step, next: u64) {
    match step {
        Step::Create { name, ephemeral, lease, audience } => {
            let named = spec(&format!("t{}", name.unwrap_or(0)), 100);
            let create = TensorCreate {
                name: named.name.clone().filter(|_| name.is_some()),
                ephemeral: *ephemeral,
                zero: true,
                lease: lease.then_some(LeaseId(next)),
                audience: *audience,
                ..named
            };
            let body = play.try_ask(conn, RequestBody::TensorCreate(create));
            process.took(body);
        }
        Step::Get { name } => {
            let body = play.try_ask(conn, get(&format!("t{name}"), next, Mode::ReadOnly, 0));
            process.took(body);
        }
        Step::Name { name } => {
            let Some(tensor) = process.unnamed.pop() else { return };
            let name = Some(format!("t{name}").parse().unwrap());
            let token = millpond_wire::Token::random();
            let publish = TensorPublish { tensor, token, name, replace: true };
            play.ask(conn, RequestBody::TensorPublish(publish));
        }
        Step::Delete { name } => {
            let target = Target::Name(format!("t{name}").parse().unwrap());
            if let ReplyBody::Details { info, .. } =
                play.ask(conn, RequestBody::TensorInspect(target))
            {
                play.ask(conn, RequestBody::TensorDelete { tensor: info.tensor });
            }
        }
        Step::ReleaseOne => {
            if let Some((lease, _)) = process.leases.pop_first() {
                play.release(conn, lease);
            }
        }
        _ => {
            play.pond.hung_up(&mut play.world, conn);
            process.conn = None;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_indexes_agree_with_a_look_through_everything(
        steps in prop::collection::vec((0..CLIENTS, step()), 1..80)
    ) {
        let mut play = Play::new();
        let mut processes: Vec<Process> =
            (0..CLIENTS).map(|index| Process::new(1 + u32::try_from(index / 2).unwrap())).collect();
        for process in &mut processes {
            play_step(&mut play, process, &Step::Return { claims: false }, 0);
        }
        for (next, (who, step)) in (1..).zip(steps) {
            play_step(&mut play, &mut processes[who], &step, next);
            if matches!(step, Step::Restart) {
                processes.iter_mut().for_each(|process| process.conn = None);
            }
            play.check_indexes();
        }
        // Once everybody is gone, nothing that was deleted or ephemeral is left.
        play.world.journal_fails = false;
        // Also those whose end an earlier daemon could not record: their pidfds fire again.
        let known: Vec<ClientId> = play.pond.clients.iter().map(|(id, _)| id).collect();
        for client in known {
            play.pond.process_gone(&mut play.world, client);
        }
        play.client(1);
        play.check_indexes();
        prop_assert!(play.pond.unfreed.all().is_empty());
    }
}

#[test]
fn what_the_journal_did_not_take_is_freed_when_the_next_client_comes() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, _) = play.create(conn, create);
    play.delete(conn, info.tensor);
    play.world.journal_fails = true;
    play.release(conn, 1);
    assert!(play.exists(info.tensor));
    play.check_indexes();
    play.world.journal_fails = false;
    play.client(2);
    assert!(!play.exists(info.tensor));
}

#[test]
fn what_one_user_has_not_claimed_waits_while_anothers_is_freed() {
    let mut play = Play::new();
    let mut theirs = Vec::new();
    for user in [1, 2] {
        let (conn, client) = play.client(user);
        let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
        let (info, _) = play.create(conn, create);
        play.delete(conn, info.tensor);
        theirs.push((info.tensor, client));
    }
    play.restart();
    play.check_indexes();
    play.pond.process_gone(&mut play.world, theirs[0].1);
    assert!(!play.exists(theirs[0].0) && play.exists(theirs[1].0));
    play.client(3);
    assert!(play.exists(theirs[1].0));
    play.pond.process_gone(&mut play.world, theirs[1].1);
    assert!(!play.exists(theirs[1].0));
    play.check_indexes();
}
