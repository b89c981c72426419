//! What happens is counted, once.

use millpond_wire::ErrorKind;
use millpond_wire::message::Counts;

use super::*;

impl Play {
    fn counts(&self) -> Counts {
        self.pond.status(&self.world).counters.counts
    }
}

#[test]
fn a_life_of_a_tensor_is_counted_step_by_step() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let made = play.create(conn, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) }).0;
    play.publish(conn, made.tensor);
    play.get(conn, "x", 2);
    // A repeat is not another lease.
    play.get(conn, "x", 2);
    play.release(conn, 2);
    play.release(conn, 2);
    play.delete(conn, made.tensor);
    play.pond.process_gone(&mut play.world, client);
    let counts = play.counts();
    let Counts { leases_granted, leases_released, leases_died, .. } = counts;
    assert_eq!([leases_granted, leases_released, leases_died], [2, 1, 1]);
    let Counts { tensors_created, tensors_published, tensors_deleted, tensors_freed, .. } = counts;
    assert_eq!([tensors_created, tensors_published, tensors_deleted, tensors_freed], [1; 4]);
    assert_eq!([counts.clients_came, counts.clients_died, counts.clients_left], [1, 1, 0]);
    assert_eq!([counts.slabs_made, counts.slabs_made_bytes], [1, 2 * MIB]);
    // A death tainted it, so it was not kept.
    assert_eq!([counts.slabs_given_back, counts.slabs_given_back_bytes], [1, 2 * MIB]);
    assert_eq!(counts.recoveries, 0);
}

#[test]
fn an_empty_slab_that_is_used_again_is_counted_and_a_new_one_is_not() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let both = ["x", "y"].map(|name| play.create(conn, spec(name, 100)).0.tensor);
    assert_eq!(play.counts().slabs_reused, 0, "one slab, two tensors");
    for tensor in both {
        play.delete(conn, tensor);
    }
    play.create(conn, spec("z", 100));
    let counts = play.counts();
    assert_eq!(
        [counts.slabs_made, counts.slabs_reused, counts.slabs_reused_bytes],
        [1, 1, 2 * MIB]
    );
}

#[test]
fn each_end_of_a_life_has_its_own_number() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let live = |name: &str, life: Life| TensorCreate { life, zero: true, ..spec(name, 100) };
    play.create(conn, live("ttl", Life { ttl_ms: Some(10), ..Life::default() }));
    play.create(conn, live("linger", Life { linger_ms: Some(20), ..Life::default() }));
    play.create(conn, live("gets", Life { accesses: Some(1), ..Life::default() }));
    play.get(conn, "gets", 1);
    play.later(30);
    let counts = play.counts();
    let Counts { tensors_expired, tensors_lingered_out, tensors_used_up, .. } = counts;
    assert_eq!([tensors_expired, tensors_lingered_out, tensors_used_up], [1; 3]);
    assert_eq!(counts.tensors_deleted, 3);
}

#[test]
fn a_daemon_begins_with_zero_and_says_that_it_has_recovered() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    play.restart();
    let expected = Counts { recoveries: 1, ..Counts::default() };
    assert_eq!(play.counts(), expected);
}

#[test]
fn what_a_full_card_refuses_is_counted() {
    let mut play = Play::new();
    play.driver_ready(4 * MIB);
    let (conn, _) = play.client(1);
    let refused = play.refused(conn, RequestBody::TensorCreate(spec("x", 64 * MIB)));
    assert_eq!(refused.kind, ErrorKind::GpuFull);
    assert_eq!(play.counts().gpu_full_refusals, 1);
}
