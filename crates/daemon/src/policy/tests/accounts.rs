//! What one user may have, whatever others do, and what is said where that ends.

use millpond_wire::ErrorKind;
use millpond_wire::message::EventKind;

use super::*;

impl Play {
    fn has(&self, user: u32, resource: Resource) -> u64 {
        self.pond.accounts.of(&"local".into(), user).has(resource)
    }

    /// A refused hello.
    fn turned_away(&mut self, user: u32, pid: Option<u32>) -> Failure {
        let conn = self.connect(user);
        if let (Some(connection), Some(pid)) = (self.pond.clients.connection_mut(conn), pid) {
            connection.process = pid.into();
        }
        let client = ClientId::random();
        let pid = pid.unwrap_or(77);
        self.pids.insert(client, pid);
        match self.hello(conn, client, false) {
            ReplyBody::Failure(failure) => failure,
            other => panic!("not refused: {other:?}"),
        }
    }
}

#[test]
fn a_user_has_so_many_clients_silent_ones_included_and_others_still_get_in() {
    let mut play = Play::new();
    play.cap(Resource::Clients, 3);
    let mut conns = Vec::new();
    for number in 1..4 {
        let (conn, _) = play.client(1);
        let held = TensorCreate { lease: Some(LeaseId(1)), ..spec(&format!("x{number}"), 100) };
        play.create(conn, held);
        conns.push(conn);
    }
    for conn in &conns {
        play.pond.hung_up(&mut play.world, *conn);
    }
    assert_eq!(play.has(1, Resource::Clients), 3, "they live, and hold what they held");
    let failure = play.turned_away(1, None);
    assert_eq!(
        (failure.kind, failure.message),
        (ErrorKind::TooMany, "user 1 has 3 clients, the maximum".into())
    );
    let limit = failure.limit.unwrap();
    assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.clients_per_user", 3, 3));
    let hint = failure.hint.unwrap();
    assert!(hint.contains("millpond ps") && hint.contains("limits.clients_per_user"), "{hint}");
    assert_eq!(play.told(EventKind::LimitReached), ["3 clients: `limits.clients_per_user`"]);
    play.client(2);
    play.operator();
    // The next daemon counts the same.
    play.restart();
    play.cap(Resource::Clients, 3);
    assert_eq!(play.has(1, Resource::Clients), 3);
    play.turned_away(1, None);
    play.check_held();
}

#[test]
fn a_process_is_few_clients_and_the_operators_as_many_as_there_may_be() {
    let mut play = Play::new();
    for user in [1, 0] {
        for _ in 0..8 {
            let (conn, client) = (play.connect(user), ClientId::random());
            play.pids.insert(client, 4242);
            assert!(matches!(play.hello(conn, client, false), ReplyBody::Welcome(_)));
        }
    }
    let failure = play.turned_away(1, Some(4242));
    assert_eq!(failure.message, "the process (pid 4242) is 8 clients, the maximum");
    assert_eq!(failure.limit.unwrap().key, "limits.clients_per_process");
    play.client(1);
    let (conn, client) = (play.connect(0), ClientId::random());
    play.pids.insert(client, 4242);
    assert!(matches!(play.hello(conn, client, false), ReplyBody::Welcome(_)));
    // A process that the daemon cannot see has no number, nor have others.
    for _ in 0..20 {
        let (conn, client) = (play.connect(1), ClientId::random());
        play.pids.insert(client, 0);
        assert!(matches!(play.hello(conn, client, false), ReplyBody::Welcome(_)));
    }
}

#[test]
fn all_users_leave_some_clients_to_root_and_the_ponds_own_user() {
    let mut play = Play::new();
    for user in 1..95 {
        play.client(user);
    }
    let failure = play.turned_away(200, None);
    assert_eq!(failure.message, "all users have 94 clients, the maximum");
    assert_eq!(failure.limit.unwrap().key, "limits.clients");
    for _ in 0..6 {
        play.client(0);
    }
    play.turned_away(0, None);
    play.operator();
}

#[test]
fn a_user_has_so_many_leases_and_the_next_daemon_counts_the_claimed_ones() {
    let mut play = Play::new();
    play.cap(Resource::Leases, 3);
    let (one, client) = play.client(1);
    let (two, _) = play.client(1);
    let (info, _) = play.create(one, TensorCreate { zero: true, ..spec("x", 100) });
    let (_, token) = play.get(one, "x", 1);
    play.get(one, "x", 2);
    play.get(two, "x", 1);
    let failure = play.refused(two, get("x", 2, Mode::ReadOnly, 0));
    assert_eq!(failure.message, "user 1 has 3 leases, the maximum");
    assert_eq!(failure.limit.unwrap().key, "limits.leases_per_user");
    play.get(one, "x", 2);
    play.release(one, 2);
    play.get(two, "x", 2);
    play.check_held();
    play.restart();
    play.cap(Resource::Leases, 1);
    let conn = play.connect(1);
    play.hello(conn, client, true);
    let claim =
        LeaseClaim { lease: LeaseId(1), target: info.tensor.into(), mode: Mode::ReadOnly, token };
    assert!(play.claim(conn, vec![claim]).is_empty());
    assert_eq!(play.has(1, Resource::Leases), 1);
    play.refused(conn, get("x", 9, Mode::ReadOnly, 0));
    play.check_held();
}

#[test]
fn a_user_has_so_many_waiting_requests_and_gets_what_is_there_all_the_same() {
    let mut play = Play::new();
    play.cap(Resource::Waits, 2);
    let (one, _) = play.client(1);
    let (two, _) = play.client(1);
    let (other, _) = play.client(2);
    play.create(one, TensorCreate { zero: true, ..spec("there", 100) });
    play.start(one, get("a", 1, Mode::ReadOnly, 1000));
    play.start(two, get("b", 1, Mode::ReadOnly, 1000));
    let failure = play.refused(two, get("c", 2, Mode::ReadOnly, 1000));
    assert_eq!(failure.message, "user 1 has 2 waiting requests, the maximum");
    assert_eq!(failure.limit.unwrap().key, "limits.waits_per_user");
    play.get(two, "there", 3);
    assert_eq!(play.ask(one, RequestBody::Ping), ReplyBody::Done);
    play.start(other, get("c", 1, Mode::ReadOnly, 1000));
    assert_eq!(play.has(2, Resource::Waits), 1);
    play.check_held();
    play.pond.hung_up(&mut play.world, one);
    assert_eq!(play.has(1, Resource::Waits), 1);
    play.later(1000);
    assert_eq!((play.has(1, Resource::Waits), play.has(2, Resource::Waits)), (0, 0));
}

#[test]
fn whoever_comes_looks_only_at_those_who_wait_for_it() {
    let mut play = Play::new();
    play.pond.accounts.set_terms(|terms| terms.with_in_all(Resource::Clients, 1000));
    let conns: Vec<ConnId> = (0..400).map(|user| play.client(user / 10 + 1).0).collect();
    for conn in &conns {
        for number in 0..1000 {
            let name = format!("never/{number}");
            play.start(*conn, get(&name, number + 1, Mode::ReadOnly, 1 << 40));
        }
    }
    assert_eq!(play.pond.accounts.in_all(Resource::Waits), 400_000);
    let (conn, _) = play.client(77);
    let wanted = play.start(conn, get("mine", 1, Mode::ReadOnly, 1000));
    let public = play.start(conn, get("public/ours", 2, Mode::ReadOnly, 1000));
    let looked = play.pond.parked.looked_at.get();
    let (maker, _) = play.client(77);
    play.create(maker, TensorCreate { zero: true, ..spec("mine", 100) });
    play.create(maker, TensorCreate { zero: true, ..spec("public/ours", 100) });
    play.create(maker, TensorCreate { zero: true, ..spec("never/5", 100) });
    for number in [wanted, public] {
        assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    }
    assert!(play.pond.parked.looked_at.get() - looked <= 2, "of 400,000");
}

#[test]
fn one_users_events_do_not_push_out_anothers() {
    let mut play = Play::new();
    let (a, _) = play.client(1);
    let (b, _) = play.client(2);
    let (kept, _) = play.create(a, spec("kept", 100));
    let from = play.pond.events.kept().last().unwrap().sequence;
    for _ in 0..3000 {
        let (info, _) = play.create(b, spec("flood", 100));
        play.delete(b, info.tensor);
    }
    assert_eq!(play.has(2, Resource::Events), 4096);
    play.world.replies.clear();
    play.ask(a, RequestBody::Subscribe { from });
    let seen: Vec<_> = play.world.replies.iter().map(|(_, reply, _)| reply.body.clone()).collect();
    let [ReplyBody::Event(event)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(event.target, Some(kept.tensor.into()), "and no word of what is not A's");
    play.ask(b, RequestBody::Subscribe { from });
    let gap = play.world.replies.iter().find_map(|(_, reply, _)| match &reply.body {
        ReplyBody::Event(event) if event.kind == EventKind::Gap => Some(event.text.clone()),
        _ => None,
    });
    assert!(gap.is_some_and(|text| text.contains("events are missing")));
}

#[test]
fn a_hello_is_answered_without_the_page_where_descriptors_are_short() {
    let mut play = Play::new();
    play.world.no_page = true;
    let conn = play.connect(1);
    let ReplyBody::Welcome(welcome) = play.hello(conn, ClientId::random(), false) else {
        panic!("not welcome")
    };
    assert_eq!(welcome.page_slots, 0);
}

#[test]
fn users_see_their_own_account_and_the_operator_everybodys() {
    let mut play = Play::new();
    let (one, _) = play.client(1);
    play.client(2);
    play.create(one, spec("x", 100));
    let ReplyBody::Accounts { users, all } = play.ask(one, RequestBody::AccountList) else {
        panic!("no accounts")
    };
    assert_eq!((users.len(), users[0].user, all.len()), (1, 1, 0));
    let tensors = users[0].resources.iter().find(|it| it.name == "tensors").unwrap();
    assert_eq!(
        (tensors.has, tensors.cap, tensors.key.as_str()),
        (1, Some(1000), "limits.tensors_per_user")
    );
    for operator in [play.operator(), play.client(0).0] {
        let ReplyBody::Accounts { users, all } = play.ask(operator, RequestBody::AccountList)
        else {
            panic!("no accounts")
        };
        let numbers: Vec<u32> = users.iter().map(|user| user.user).collect();
        assert_eq!((numbers, all.len()), (vec![0, 1, 2], Resource::COUNT));
    }
}

#[test]
fn root_has_a_reserve_and_is_the_operator_only_by_the_admin_socket() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    let (root, _) = play.client(0);
    play.client(2);
    assert!(play.pond.accounts.of(&"local".into(), 0).has_reserve());
    for (conn, sees) in [(root, 1), (play.client(7).0, 3), (play.operator(), 3)] {
        let ReplyBody::Accounts { users, .. } = play.ask(conn, RequestBody::AccountList) else {
            panic!("no accounts")
        };
        assert_eq!(users.len(), sees);
    }
    let failure = play.refused(root, RequestBody::Upgrade { program: "x".into() });
    assert_eq!(failure.kind, ErrorKind::Denied);
}

#[test]
fn a_listing_waits_until_its_user_has_read() {
    let mut play = Play::new();
    play.cap(Resource::ReplyBytes, 100);
    play.pond.turns.set_slice(2);
    let (one, _) = play.client(1);
    let (other, _) = play.client(2);
    for name in ["a", "b", "c", "d"] {
        play.create(one, spec(name, 100));
    }
    let account = play.pond.accounts.of(&"local".into(), 1);
    account.add(Resource::ReplyBytes, 100);
    let list = || RequestBody::TensorList { prefix: String::new(), page: None };
    let (held, free) = (play.start(one, list()), play.start(other, list()));
    (0..20).for_each(|_| play.later(1));
    assert!(play.answer(free).is_some() && play.answer(held).is_none());
    account.give(Resource::ReplyBytes, 60);
    (0..20).for_each(|_| play.later(1));
    assert!(play.answer(held).is_some());
}
