//! A tensor's life ends by itself, never under a reader and never too early.

use millpond_wire::ErrorKind;
use millpond_wire::message::EventKind;

use super::*;

fn with(name: &str, life: Life) -> TensorCreate {
    TensorCreate { zero: true, life, ..spec(name, 100) }
}

fn ttl(ms: u64) -> Life {
    Life { ttl_ms: Some(ms), ..Life::default() }
}

fn linger(ms: u64) -> Life {
    Life { linger_ms: Some(ms), ..Life::default() }
}

fn accesses(count: u64) -> Life {
    Life { accesses: Some(count), ..Life::default() }
}

impl Play {
    fn publish_and_get(&mut self, conn: ConnId, name: &str, lease: u64) {
        let target = Target::Name(name.parse().unwrap());
        let ReplyBody::Details { info, .. } = self.ask(conn, RequestBody::TensorInspect(target))
        else {
            panic!("no tensor {name}");
        };
        self.publish(conn, info.tensor);
        self.get(conn, name, lease);
    }

    /// What somebody holds, as everybody of the tenant is told.
    fn leases_of(&mut self, conn: ConnId) -> Vec<TensorId> {
        match self.ask(conn, RequestBody::ClientList) {
            ReplyBody::Clients(clients) => {
                let leases = clients.iter().flat_map(|it| &it.leases);
                leases.filter_map(|lease| lease.target.tensor()).collect()
            }
            other => panic!("no clients: {other:?}"),
        }
    }
}

fn life_of(play: &mut Play, conn: ConnId, tensor: TensorId) -> Life {
    match play.ask(conn, RequestBody::TensorInspect(Target::Id(tensor))) {
        ReplyBody::Details { info, .. } => info.life,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_time_runs_from_creation_and_only_stops_new_leases() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.now = 5000;
    let (info, _) = play.create(conn, with("x", ttl(1000)));
    play.get(conn, "x", 1);
    assert_eq!(play.pond.tick(&mut play.world), Some(6000));
    play.later(400);
    assert_eq!(life_of(&mut play, conn, info.tensor).ttl_ms, Some(600));
    play.later(599);
    assert!(play.is_alive(info.tensor));
    play.later(1);
    assert!(!play.is_alive(info.tensor) && play.exists(info.tensor), "a reader has it");
    assert_eq!(play.told(EventKind::TensorDeleted), ["its time to live of 1s expired"]);
    assert_eq!(play.pond.tick(&mut play.world), None);
    play.release(conn, 1);
    assert!(!play.exists(info.tensor));
}

#[test]
fn what_is_over_is_not_granted_even_if_nobody_looked_at_the_clock() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, with("x", ttl(10)));
    play.world.now = 10;
    assert_eq!(play.refused(conn, get("x", 1, Mode::ReadOnly, 0)).kind, ErrorKind::NotFound);
}

#[test]
fn lingering_runs_from_the_end_of_the_last_lease_or_from_creation() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (never, _) = play.create(conn, with("never", linger(1000)));
    let (used, _) = play.create(conn, with("used", linger(1000)));
    play.get(conn, "used", 1);
    play.get(conn, "used", 2);
    play.later(900);
    play.release(conn, 1);
    play.later(100);
    assert!(!play.is_alive(never.tensor) && play.is_alive(used.tensor));
    assert_eq!(play.told(EventKind::TensorDeleted), ["it had no lease for 1s"]);
    play.later(10_000);
    assert_eq!(life_of(&mut play, conn, used.tensor).linger_ms, Some(1000));
    play.release(conn, 2);
    play.later(700);
    assert_eq!(life_of(&mut play, conn, used.tensor).linger_ms, Some(300));
    play.get(conn, "used", 3);
    play.later(10_000);
    play.release(conn, 3);
    play.later(999);
    assert!(play.is_alive(used.tensor));
    play.later(1);
    assert!(!play.exists(used.tensor));
    play.check_held();
}

#[test]
fn lingering_for_no_time_ends_with_the_lease() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..with("x", linger(0)) };
    let (info, _) = play.create(conn, create);
    play.later(1000);
    assert!(play.is_alive(info.tensor));
    play.pond.process_gone(&mut play.world, client);
    play.later(0);
    assert!(!play.exists(info.tensor));
}

#[test]
fn gets_are_counted_once_each_and_the_last_one_is_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..with("x", accesses(2)) };
    let (info, _) = play.create(conn, create.clone());
    play.create(conn, create);
    assert_eq!(life_of(&mut play, conn, info.tensor).accesses, Some(2), "its maker's is no get");
    play.get(conn, "x", 2);
    assert_eq!(play.get(conn, "x", 2).0.life.accesses, Some(1), "a repeat is the same get");
    let (reader, _) = play.client(1);
    play.world.did.clear();
    let (last, _) = play.get(reader, "x", 1);
    assert_eq!((last.tensor, last.life.accesses), (info.tensor, Some(0)));
    let journalled = play.world.did.iter().position(|did| *did == Did::Journal("accessed"));
    let answered = play.world.did.iter().position(|did| matches!(did, Did::Reply(_)));
    assert!(journalled.unwrap() < answered.unwrap());
    assert!(!play.is_alive(info.tensor) && play.exists(info.tensor));
    assert_eq!(play.told(EventKind::TensorDeleted), ["its 2 gets were answered"]);
    assert_eq!(play.get(reader, "x", 1).1, play.get(reader, "x", 1).1, "and so is its repeat");
    assert_eq!(play.refused(conn, get("x", 3, Mode::ReadOnly, 0)).kind, ErrorKind::NotFound);
}

#[test]
fn a_create_that_finds_a_tensor_is_a_get_of_it_and_changes_no_life() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (first, _) = play.create(conn, with("x", accesses(5)));
    let again = TensorCreate { lease: Some(LeaseId(1)), ..with("x", ttl(7)) };
    let (second, _) = play.create(conn, again);
    assert_eq!(second.tensor, first.tensor);
    assert_eq!(second.life, accesses(4));
}

#[test]
fn those_who_wait_share_what_is_left() {
    let mut play = Play::new();
    let (writer, _) = play.client(1);
    let (reader, _) = play.client(1);
    let one = play.start(reader, get("x", 1, Mode::ReadOnly, 1000));
    let two = play.start(reader, get("x", 2, Mode::ReadOnly, 1000));
    play.create(writer, with("x", accesses(1)));
    assert!(matches!(play.answer(one), Some(ReplyBody::Tensor(_))));
    assert!(play.answer(two).is_none());
    play.later(1000);
    assert!(matches!(play.answer(two), Some(ReplyBody::Failure(_))));
}

#[test]
fn a_get_that_cannot_be_recorded_is_not_answered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, with("x", accesses(1)));
    let (other, _) = play.create(conn, with("y", linger(1_000_000)));
    play.get(conn, "y", 9);
    play.world.journal_fails = true;
    assert_eq!(play.refused(conn, get("x", 1, Mode::ReadOnly, 0)).kind, ErrorKind::Internal);
    play.world.journal_fails = false;
    assert_eq!(life_of(&mut play, conn, info.tensor), accesses(1));
    assert_eq!(play.pond.leases.count_on(info.tensor), 0);
    assert!(play.is_alive(other.tensor));
}

#[test]
fn an_end_that_cannot_be_recorded_comes_later() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, with("x", ttl(10)));
    play.world.journal_fails = true;
    play.later(10);
    assert!(play.is_alive(info.tensor));
    play.world.journal_fails = false;
    let again = play.pond.tick(&mut play.world).unwrap();
    assert!(again > play.world.now);
    play.world.now = again;
    play.pond.tick(&mut play.world);
    assert!(!play.exists(info.tensor));
}

#[test]
fn lives_of_no_length_are_refused() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    for life in [ttl(0), accesses(0)] {
        let failure = play.refused(conn, RequestBody::TensorCreate(with("x", life)));
        assert_eq!(failure.kind, ErrorKind::Invalid);
    }
    let (info, _) = play.create(conn, with("x", ttl(u64::MAX)));
    play.later(1 << 60);
    assert!(play.is_alive(info.tensor));
}

#[test]
fn nothing_is_left_to_do_for_what_is_deleted() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let life = Life { ttl_ms: Some(10), linger_ms: Some(20), accesses: None };
    let (info, _) = play.create(conn, with("x", life));
    play.delete(conn, info.tensor);
    assert_eq!(play.pond.tick(&mut play.world), None);
}

#[test]
fn a_wall_clock_that_jumps_changes_nothing() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.wall = Some(1_700_000_000_000);
    let (timed, _) = play.create(conn, with("timed", ttl(1000)));
    let (unused, _) = play.create(conn, with("unused", linger(1000)));
    for wall in [0, u64::MAX, 1, 1 << 50] {
        play.world.wall = Some(wall);
        play.later(200);
        assert!(play.is_alive(timed.tensor) && play.is_alive(unused.tensor));
    }
    play.restart();
    play.world.wall = Some(3);
    play.later(199);
    assert!(play.is_alive(timed.tensor), "recorded on the clock that never jumps");
    play.later(1);
    assert!(!play.is_alive(timed.tensor) && play.is_alive(unused.tensor));
}

#[test]
fn after_a_restart_times_go_on_lingering_begins_anew_and_gets_stay_counted() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (timed, _) = play.create(conn, with("timed", ttl(1000)));
    let (unused, _) = play.create(conn, with("unused", linger(1000)));
    let (counted, _) = play.create(conn, with("counted", accesses(2)));
    play.get(conn, "counted", 1);
    play.ask(conn, RequestBody::Goodbye);
    play.later(600);
    for compact in [false, true] {
        if compact {
            play.world.records = play.pond.snapshot();
        }
        play.restart();
    }
    let (conn, _) = play.client(1);
    assert_eq!(life_of(&mut play, conn, timed.tensor).ttl_ms, Some(400));
    assert_eq!(life_of(&mut play, conn, counted.tensor).accesses, Some(1));
    play.later(400);
    assert!(!play.exists(timed.tensor) && play.is_alive(unused.tensor));
    play.later(600);
    assert!(!play.exists(unused.tensor));
    play.get(conn, "counted", 1);
    assert!(!play.is_alive(counted.tensor));
}

#[test]
fn a_daemon_that_died_between_the_last_get_and_the_delete_is_made_up_for() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, with("x", accesses(1)));
    play.get(conn, "x", 1);
    let deleted = |record: &Record| matches!(record, Record::TensorDeleted(_));
    let at = play.world.records.iter().position(deleted).unwrap();
    play.world.records.truncate(at);
    play.restart();
    assert!(!play.is_alive(info.tensor));
    assert!(play.exists(info.tensor), "whoever got it has not claimed yet");
}

/// The daemon dies after it has recorded a get and before it has answered: the repeat is that get.
#[test]
fn a_counted_get_that_was_not_answered_can_be_repeated() {
    for compact in [false, true] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (info, _) = play.create(conn, with("x", accesses(2)));
        for (lease, left) in [(1, 1), (2, 0)] {
            let conn = play.connect(1);
            play.hello(conn, client, false);
            let lost = play.get(conn, "x", lease);
            if compact {
                play.world.records = play.pond.snapshot();
            }
            play.restart();
            let conn = play.connect(1);
            play.hello(conn, client, false);
            assert_eq!(play.get(conn, "x", lease).1, lost.1);
            assert_eq!(life_of(&mut play, conn, info.tensor).accesses, Some(left));
        }
        let conn = play.connect(1);
        play.hello(conn, client, false);
        play.release(conn, 1);
        assert!(play.exists(info.tensor), "the last get has it");
        play.release(conn, 2);
        assert!(!play.exists(info.tensor));
        play.check_held();
    }
}

/// Who has released what it got holds nothing, also after a restart.
#[test]
fn a_counted_get_whose_lease_has_ended_keeps_nothing() {
    for compact in [false, true] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (other, second) = play.client(1);
        let (info, _) = play.create(conn, with("x", accesses(3)));
        play.get(conn, "x", 1);
        let (_, token) = play.get(other, "x", 1);
        play.release(conn, 1);
        if compact {
            play.world.records = play.pond.snapshot();
        }
        play.restart();
        let conn = play.connect(1);
        play.hello(conn, client, false);
        assert_eq!(play.get(conn, "x", 1).0.life.accesses, Some(0), "another get");
        play.release(conn, 1);
        let other = play.connect(1);
        play.hello(other, second, true);
        let lease = LeaseId(1);
        let claim = LeaseClaim { lease, target: info.tensor.into(), mode: Mode::ReadOnly, token };
        assert!(play.claim(other, vec![claim]).is_empty());
        assert!(play.exists(info.tensor));
        play.restart();
        play.pond.process_gone(&mut play.world, second);
        assert!(play.exists(info.tensor), "the first has not said what it holds");
        let conn = play.connect(1);
        play.hello(conn, client, false);
        assert!(!play.exists(info.tensor));
        play.check_held();
    }
}

/// The next daemon would take the lease for one whose answer was lost, and keep it for the client.
#[test]
fn the_release_of_a_counted_lease_that_cannot_be_recorded_is_not_answered_with_done() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, with("x", accesses(2)));
    play.create(conn, spec("y", 100));
    let (_, token) = play.get(conn, "x", 1);
    play.publish_and_get(conn, "y", 2);
    play.world.journal_fails = true;
    let both = RequestBody::LeaseRelease { leases: vec![LeaseId(1), LeaseId(2)] };
    assert_eq!(play.refused(conn, both.clone()).kind, ErrorKind::Later);
    let leases = play.leases_of(conn);
    assert_eq!(leases, [info.tensor], "the other needs no record, and has ended");
    play.world.journal_fails = false;
    let target = info.tensor.into();
    let claim = LeaseClaim { lease: LeaseId(1), target, mode: Mode::ReadOnly, token };
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, true);
    assert!(play.claim(conn, vec![claim]).is_empty(), "it may still be mapped");
    assert_eq!(play.ask(conn, both.clone()), ReplyBody::Done);
    assert_eq!(play.ask(conn, both), ReplyBody::Done, "a repeat gets the same answer");
    play.restart();
    let conn = play.connect(1);
    play.hello(conn, client, false);
    assert!(play.leases_of(conn).is_empty());
    play.delete(conn, info.tensor);
    assert!(!play.exists(info.tensor));
}

/// Its pidfd is let go in any case, and who is not known holds nothing.
#[test]
fn a_goodbye_and_a_death_end_counted_leases_although_nothing_can_be_recorded() {
    for dies in [false, true] {
        let mut play = Play::new();
        let (conn, client) = play.client(1);
        let (info, _) = play.create(conn, with("x", accesses(2)));
        play.get(conn, "x", 1);
        play.world.journal_fails = true;
        match dies {
            true => play.pond.process_gone(&mut play.world, client),
            false => assert_eq!(play.ask(conn, RequestBody::Goodbye), ReplyBody::Done),
        }
        play.world.journal_fails = false;
        play.restart();
        if dies {
            // What it may still write to could not be recorded, so its end is told once more.
            play.pond.process_gone(&mut play.world, client);
        }
        let (other, _) = play.client(1);
        assert!(play.leases_of(other).is_empty());
        play.delete(other, info.tensor);
        assert!(!play.exists(info.tensor));
    }
}

#[test]
fn what_a_silent_client_may_hold_does_not_linger_away() {
    let mut play = Play::new();
    let (reader, client) = play.client(1);
    let (writer, _) = play.client(1);
    let (held, _) = play.create(writer, with("held", linger(1000)));
    let (other, _) = play.create(writer, with("other", linger(1000)));
    let (_, token) = play.get(reader, "held", 1);
    play.restart();
    play.later(5000);
    assert!(play.is_alive(held.tensor) && play.is_alive(other.tensor));
    let conn = play.connect(1);
    play.hello(conn, client, true);
    let claim =
        LeaseClaim { lease: LeaseId(1), target: held.tensor.into(), mode: Mode::ReadOnly, token };
    assert!(play.claim(conn, vec![claim]).is_empty());
    play.later(999);
    assert!(play.is_alive(other.tensor), "it may have had it until it said so");
    play.later(1);
    assert!(!play.is_alive(other.tensor) && play.is_alive(held.tensor));
    play.release(conn, 1);
    play.later(1000);
    assert!(!play.exists(held.tensor));
    assert_eq!(play.pond.tick(&mut play.world), None);
}

#[test]
fn a_silent_client_that_dies_starts_the_clock_of_what_it_may_have_held() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let life = Life { ttl_ms: Some(100_000), linger_ms: Some(1000), accesses: None };
    let (info, _) = play.create(conn, TensorCreate { lease: Some(LeaseId(1)), ..with("x", life) });
    play.restart();
    play.later(5000);
    play.pond.process_gone(&mut play.world, client);
    play.later(999);
    assert!(play.is_alive(info.tensor));
    play.later(1);
    assert!(!play.exists(info.tensor));
}

#[test]
fn a_time_ends_also_what_a_silent_client_may_hold_but_frees_nothing() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let life = Life { ttl_ms: Some(5000), linger_ms: Some(1000), accesses: None };
    let (info, _) = play.create(conn, TensorCreate { lease: Some(LeaseId(1)), ..with("x", life) });
    play.restart();
    play.later(1000);
    assert!(play.is_alive(info.tensor));
    play.later(4000);
    assert!(!play.is_alive(info.tensor) && play.exists(info.tensor));
}
