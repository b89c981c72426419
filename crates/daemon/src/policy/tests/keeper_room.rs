//! The keeper takes nothing for a while: whoever needs it waits, and nobody else.

use millpond_wire::ErrorKind;

use super::*;

impl Play {
    /// The keeper has read everything.
    fn keeper_reads(&mut self) {
        self.world.keeper_takes = None;
        self.pond.keeper_has_room(&mut self.world);
    }

    /// A request that is parked until the keeper has room.
    fn waits_for_keeper(&mut self, conn: ConnId, body: RequestBody) -> u64 {
        let number = self.next_number;
        assert_eq!(self.try_ask(conn, body), None);
        assert!(self.pond.awaits_keeper());
        number
    }
}

fn leased(name: &str, lease: u64) -> RequestBody {
    RequestBody::TensorCreate(TensorCreate { lease: Some(LeaseId(lease)), ..spec(name, 100) })
}

fn is_granted(answer: Option<ReplyBody>) -> bool {
    matches!(answer, Some(ReplyBody::Tensor(grant)) if grant.lease.is_some())
}

#[test]
fn a_slab_that_the_keeper_has_no_room_for_is_used_only_when_it_is_held() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.keeper_takes = Some(0);
    play.world.did.clear();
    let number = play.waits_for_keeper(conn, RequestBody::TensorCreate(spec("x", 40 * MIB)));
    play.pond.keeper_has_room(&mut play.world);
    assert!(play.world.did.is_empty() && play.answer(number).is_none());
    play.keeper_reads();
    assert!(matches!(play.world.did[0], Did::Hold(Held::Slab(_))), "{:?}", play.world.did);
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))));
    assert!(!play.pond.awaits_keeper());
    play.check_held();
}

#[test]
fn who_needs_nothing_of_a_keeper_that_is_full_is_answered() {
    let mut play = Play::new();
    let (known, _) = play.client(1);
    let (info, _) = play.create(known, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    play.publish(known, info.tensor);
    play.world.keeper_takes = Some(0);
    let (new, _) = play.client(2);
    play.get(known, "x", 2);
    play.release(known, 2);
    play.create(known, spec("y", 100));
    assert_eq!(play.ask(new, RequestBody::Ping), ReplyBody::Done);
    play.delete(known, info.tensor);
    assert!(!play.pond.awaits_keeper());
}

#[test]
fn the_first_lease_of_a_client_waits_until_the_keeper_has_its_process() {
    let mut play = Play::new();
    let (maker, _) = play.client(1);
    let (info, _) = play.create(maker, spec("x", 100));
    play.publish(maker, info.tensor);
    let (first, first_id) = play.client(1);
    let (second, second_id) = play.client(1);
    play.world.keeper_takes = Some(0);
    let get_first = play.waits_for_keeper(first, get("x", 1, Mode::ReadOnly, 0));
    let create = play.waits_for_keeper(second, leased("y", 1));
    // There is room for one of them.
    play.world.keeper_takes = Some(1);
    play.pond.keeper_has_room(&mut play.world);
    assert!(is_granted(play.answer(get_first)) && play.answer(create).is_none());
    assert!(play.world.held.contains_key(&Held::Client(first_id)));
    play.keeper_reads();
    assert!(is_granted(play.answer(create)));
    assert!(play.world.held.contains_key(&Held::Client(second_id)));
    play.check_held();
}

#[test]
fn a_get_that_is_woken_while_the_keeper_is_full_waits_on() {
    let mut play = Play::new();
    let (maker, _) = play.client(1);
    let (info, _) = play.create(maker, spec("x", 100));
    let (reader, _) = play.client(1);
    let number = play.start(reader, get("x", 1, Mode::ReadOnly, 1000));
    play.world.keeper_takes = Some(0);
    play.publish(maker, info.tensor);
    assert_eq!(play.answer(number), None);
    play.keeper_reads();
    assert!(is_granted(play.answer(number)));
}

#[test]
fn what_cannot_wait_is_wanted_again_later() {
    let mut play = Play::new();
    let (maker, client) = play.client(1);
    let create = TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) };
    let (info, token) = play.create(maker, create);
    let claim = LeaseClaim {
        lease: LeaseId(1),
        target: info.tensor.into(),
        mode: Mode::ReadWrite,
        token: token.unwrap(),
    };
    play.release(maker, 1);
    // It is known no more, and comes back with a claim.
    play.pond.forget_client(&mut play.world, client);
    play.world.keeper_takes = Some(0);
    let body = RequestBody::Claim(Claim { leases: vec![claim], last: true });
    let failure = play.refused(maker, body);
    assert_eq!(failure.kind, ErrorKind::Later);
    assert!(failure.message.contains("keeper") && failure.hint.is_some(), "{failure:?}");
    play.keeper_reads();
    assert_eq!(play.claim(maker, vec![claim]), []);
}

#[test]
fn who_hangs_up_or_drains_waits_for_no_keeper() {
    let mut play = Play::new();
    let (maker, _) = play.client(1);
    play.create(maker, spec("x", 100));
    let ((gone, _), (drained, _)) = (play.client(1), play.client(1));
    play.world.keeper_takes = Some(0);
    play.waits_for_keeper(gone, leased("y", 1));
    let number = play.waits_for_keeper(drained, leased("z", 1));
    play.pond.hung_up(&mut play.world, gone);
    play.pond.drain(&mut play.world);
    let refused = play.answer(number);
    assert!(matches!(refused, Some(ReplyBody::Failure(it)) if it.kind == ErrorKind::Draining));
    assert!(!play.pond.awaits_keeper());
}
