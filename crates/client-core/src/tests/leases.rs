//! Leases: granted, lost, late, released.

use std::sync::atomic::Ordering;

use millpond_wire::message::ReplyBody;
use millpond_wire::{ErrorKind, TensorId};

use super::*;
use crate::{Duty, End, Retiring};

/// Has the pond told, and confirmed.
fn release(bench: &mut Bench, leases: Vec<LeaseId>) -> Vec<TensorId> {
    let body = bench.session.release(leases);
    let mut call = bench.call(Ask::new(body));
    bench.send(&mut call);
    assert!(bench.answer(&mut call, ReplyBody::Done));
    call.end(&mut bench.session, Ended::Well)
}

#[test]
fn a_lease_is_held_from_its_grant_to_the_confirmation_of_its_end() {
    let mut bench = Bench::up();
    let (one, two) = (bench.lease(), bench.lease());
    assert_eq!(bench.claimed(), [one, two]);
    assert_eq!(bench.session.leases().bytes(), 256);
    let body = bench.session.release(vec![one]);
    assert_eq!(bench.claimed(), [two], "what is unmapped is not claimed");
    assert_eq!(bench.session.leases().len(), 2, "but the pond is still to be told");
    let mut call = bench.call(Ask::new(body));
    bench.send(&mut call);
    bench.hang_up();
    bench.connect(&[]);
    bench.send(&mut call);
    assert!(bench.answer(&mut call, ReplyBody::Done));
    assert!(call.concerns_leases());
    call.end(&mut bench.session, Ended::Well);
    assert_eq!(bench.session.leases().len(), 1);
    assert_eq!(bench.session.leases().known(&[one, two]), [two]);
}

#[test]
fn refused_claims_and_another_pond_lose_leases() {
    let mut bench = Bench::up();
    let leases = [bench.lease(), bench.lease()];
    bench.hang_up();
    let claims = bench.session.connecting();
    assert_eq!(claims.len(), 2);
    let unheard_of = LeaseId(99);
    let arrival = bench.arrive(&[leases[0], unheard_of]).unwrap();
    assert!(!arrival.other_pond);
    assert_eq!(arrival.lost, [claims[0]]);
    bench.hang_up();
    let _claims = bench.session.connecting();
    bench.pond = PondId::random();
    let arrival = bench.arrive(&[]).unwrap();
    assert!(arrival.other_pond);
    assert_eq!(arrival.lost, [claims[1]]);
    assert!(bench.session.leases().is_empty());
}

#[test]
fn a_lost_lease_says_so_to_its_holder() {
    let mut bench = Bench::up();
    let (lease, ask) = bench.get(None);
    let mut call = bench.call(ask);
    bench.send(&mut call);
    bench.reply(call.number(), grant(lease));
    let Next::Answered(Ok(answer)) = bench.next(&mut call) else { panic!() };
    let lost = answer.lost.unwrap();
    assert!(!lost.load(Ordering::Acquire));
    bench.hang_up();
    bench.connect(&[lease]);
    assert!(lost.load(Ordering::Acquire));
}

/// How a call for a lease may go wrong, and whether its lease must go back.
#[test]
fn a_lease_goes_back_wherever_it_may_have_been_granted() {
    type Story = fn(&mut Bench, &mut Call, LeaseId) -> Ended;
    let stories: [(&str, Story, bool); 7] = [
        (
            "refused",
            |bench, call, _| {
                assert!(bench.answer(call, failure(ErrorKind::NotFound)));
                Ended::Refused
            },
            false,
        ),
        (
            "granted",
            |bench, call, lease| {
                assert!(bench.answer(call, grant(lease)));
                Ended::Well
            },
            false,
        ),
        (
            "given up, then refused",
            |bench, call, _| {
                call.give_up(&mut bench.session);
                bench.reply(call.number(), failure(ErrorKind::NotFound));
                Ended::Badly
            },
            false,
        ),
        (
            "given up, then granted",
            |bench, call, lease| {
                call.give_up(&mut bench.session);
                assert_eq!(bench.session.duty(), Duty::Listen(1));
                bench.reply(call.number(), grant(lease));
                Ended::Badly
            },
            true,
        ),
        (
            "given up, then the connection breaks",
            |bench, call, _| {
                call.give_up(&mut bench.session);
                bench.hang_up();
                bench.connect(&[]);
                Ended::Badly
            },
            true,
        ),
        (
            "the answer is lost, and the repeat refused",
            |bench, call, _| {
                bench.hang_up();
                bench.connect(&[]);
                bench.send(call);
                assert!(bench.answer(call, failure(ErrorKind::NotFound)));
                Ended::Refused
            },
            true,
        ),
        (
            "the answer cannot be understood",
            |bench, call, _| {
                bench.reply(call.number(), ReplyBody::Done);
                assert!(matches!(bench.next(call), Next::Answered(Ok(_))));
                assert!(call.judge(Verdict::Bad, bench.now));
                Ended::Badly
            },
            true,
        ),
    ];
    for (story, play, goes_back) in stories {
        let mut bench = Bench::up();
        let (lease, ask) = bench.get(None);
        let mut call = bench.call(ask);
        bench.send(&mut call);
        let ended = play(&mut bench, &mut call, lease);
        call.end(&mut bench.session, ended);
        let duty = bench.session.duty();
        let goes = duty == Duty::Release(vec![lease]);
        assert_eq!(goes, goes_back, "{story}: {duty:?}");
    }
}

#[test]
fn a_tensor_without_a_name_is_deleted_with_the_lease_that_nobody_took() {
    let mut bench = Bench::up();
    let (tensor, lease) = (TensorId::random(), bench.session.new_lease());
    let mut call = bench.call(unnamed(tensor, lease));
    bench.send(&mut call);
    call.give_up(&mut bench.session);
    let number = call.number();
    call.end(&mut bench.session, Ended::Badly);
    bench.reply(number, grant(lease));
    let Duty::Release(leases) = bench.session.duty() else { panic!() };
    assert_eq!(release(&mut bench, leases), [tensor]);
    assert!(!bench.session.has_duties());

    // One that was taken stays.
    let lease = bench.session.new_lease();
    let mut call = bench.call(unnamed(TensorId::random(), lease));
    bench.send(&mut call);
    assert!(bench.answer(&mut call, grant(lease)));
    call.end(&mut bench.session, Ended::Well);
    assert_eq!(release(&mut bench, vec![lease]), []);
}

#[test]
fn a_tensor_that_was_never_asked_for_is_not_remembered() {
    type Story = fn(&mut Bench, &mut Call) -> Ended;
    let stories: [(&str, Story, bool); 7] = [
        ("never sent", |_, _| Ended::Badly, false),
        (
            "it did not get out",
            |bench, call| {
                assert!(matches!(bench.next(call), Next::Send(_)));
                call.unsent(&mut bench.session);
                Ended::Badly
            },
            false,
        ),
        (
            "put off until its time was over",
            |bench, call| {
                bench.send(call);
                assert!(!bench.answer(call, failure(ErrorKind::Later)));
                bench.session.closed();
                bench.pass(Duration::from_secs(1));
                assert!(matches!(bench.next(call), Next::Failed(End::Closed)));
                Ended::Badly
            },
            false,
        ),
        (
            "refused when it is given up",
            |bench, call| {
                bench.send(call);
                bench.reply(call.number(), failure(ErrorKind::GpuFull));
                call.give_up(&mut bench.session);
                Ended::Badly
            },
            false,
        ),
        (
            "its repeat is refused when it is given up",
            |bench, call| {
                bench.send(call);
                bench.hang_up();
                bench.connect(&[]);
                bench.send(call);
                bench.reply(call.number(), failure(ErrorKind::GpuFull));
                call.give_up(&mut bench.session);
                Ended::Badly
            },
            true,
        ),
        (
            "given up on its way",
            |bench, call| {
                bench.send(call);
                call.give_up(&mut bench.session);
                Ended::Badly
            },
            true,
        ),
        (
            "on its way when the connection breaks, and not sent again",
            |bench, call| {
                bench.send(call);
                bench.hang_up();
                bench.connect(&[]);
                assert!(matches!(bench.next(call), Next::Send(_)));
                call.unsent(&mut bench.session);
                Ended::Badly
            },
            true,
        ),
    ];
    for (story, play, is_remembered) in stories {
        let mut bench = Bench::up();
        let (tensor, lease) = (TensorId::random(), bench.session.new_lease());
        let mut call = bench.call(unnamed(tensor, lease));
        let ended = play(&mut bench, &mut call);
        call.end(&mut bench.session, ended);
        let gone = bench.session.released(&[lease]);
        assert_eq!(gone == [tensor], is_remembered, "{story}");
    }
}

#[test]
fn leases_end_after_their_work_and_after_their_mappings() {
    let mut retiring = Retiring::default();
    retiring.push(LeaseId(1), "slab");
    retiring.push(LeaseId(2), "arena");
    assert_eq!((retiring.in_use(), retiring.to_release()), (2, &[][..]));
    assert_eq!(retiring.work_ended(), [(LeaseId(1), "slab"), (LeaseId(2), "arena")]);
    assert_eq!(retiring.to_release(), [], "still mapped");
    // The other one could not be unmapped, and stays leased.
    retiring.unmapped(LeaseId(2));
    assert_eq!(retiring.to_release(), [LeaseId(2)]);
    retiring.push(LeaseId(3), "slab");
    assert_eq!(retiring.context_lost().len(), 1);
    retiring.push(LeaseId(4), "slab");
    assert_eq!(retiring.work_ended(), [], "nobody can tell");
    assert_eq!(retiring.released(), 1);
    assert_eq!(retiring.to_release(), []);
}
