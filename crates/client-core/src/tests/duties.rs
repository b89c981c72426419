//! What is done while nobody calls.

use millpond_wire::caps::LEASES_PER_MESSAGE;

use super::*;
use crate::Duty;

#[test]
fn a_session_that_holds_nothing_has_no_duty_but_to_watch() {
    let mut bench = Bench::up();
    assert_eq!(bench.session.duty(), Duty::Watch(1));
    bench.hang_up();
    assert_eq!(bench.session.duty(), Duty::Sleep, "the next call connects");
    bench.session.remember();
    assert_eq!(bench.session.duty(), Duty::Reconnect, "a new daemon waits for this process");
    let _claims = bench.session.connecting();
    assert_eq!(bench.session.duty(), Duty::Sleep, "a caller connects");
}

#[test]
fn whoever_holds_a_lease_claims_it_without_being_called() {
    let mut bench = Bench::up();
    bench.lease();
    bench.hang_up();
    assert_eq!(bench.session.duty(), Duty::Reconnect);
}

#[test]
fn strays_go_back_in_messages_that_fit_and_come_back_if_that_fails() {
    let mut bench = Bench::up();
    let strays: Vec<LeaseId> = (1..=LEASES_PER_MESSAGE as u64 + 3).map(LeaseId).collect();
    bench.session.stray(&strays);
    let Duty::Release(first) = bench.session.duty() else { panic!() };
    let Duty::Release(rest) = bench.session.duty() else { panic!() };
    assert_eq!((first.len(), rest.len()), (LEASES_PER_MESSAGE, 3));
    assert_eq!(bench.session.duty(), Duty::Watch(1));
    bench.session.stray(&rest);
    bench.hang_up();
    assert_eq!(bench.session.duty(), Duty::Reconnect);
}

#[test]
fn the_end_waits_for_leases_and_not_for_a_pond_that_is_gone() {
    let mut bench = Bench::up();
    let lease = bench.lease();
    bench.session.end();
    assert_eq!(bench.session.duty(), Duty::Watch(1), "the lease is still in use");
    let body = bench.session.release(vec![lease]);
    let mut call = bench.call(Ask::new(body));
    bench.send(&mut call);
    assert!(bench.answer(&mut call, ReplyBody::Done));
    call.end(&mut bench.session, Ended::Well);
    assert_eq!(bench.session.duty(), Duty::End);

    let mut bench = Bench::up();
    bench.session.stray(&[LeaseId(1)]);
    bench.session.end();
    bench.hang_up();
    assert_eq!(bench.session.duty(), Duty::End, "it ends with the process");
}
