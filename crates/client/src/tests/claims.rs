//! Restarts of the daemon: reconnection, claims, repeats.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use millpond_wire::message::{
    Claim, Hello, LeaseClaim, Proof, ReplyBody, Request, RequestBody, Target, TensorGet,
};
use millpond_wire::{ErrorKind, LeaseId, Mode, PondId, TensorId, Token};

use crate::answer::Answer;
use crate::link::{Ask, Link};
use crate::testing::{
    Does, FakePond, an_fd, eventually, failure, grant, info, publication, welcome, welcome_of,
};
use crate::{Dtype, Error, Result, TensorInfo, TensorSpec};

fn get(link: &Arc<Link>, timeout: Duration) -> (LeaseId, Result<Answer>) {
    let lease = link.new_lease();
    let target = Target::Name("acts/x".parse().unwrap());
    let get = TensorGet { target, lease, mode: Mode::ReadOnly, wait_ms: 60_000 };
    let now = Instant::now();
    let answer = link.call(
        Ask {
            what: "a request for a tensor",
            body: RequestBody::TensorGet(get),
            lease: Some(lease),
            deadline: Some(now + timeout),
            waits_until: Some(now + Duration::from_secs(60)),
        },
        None,
    );
    (lease, answer)
}

/// Grants every lease that is asked for; `other` decides about the rest.
fn granting(other: impl Fn(usize, &Request) -> Does + Send + Sync + 'static) -> FakePond {
    let tensor = info("acts/x");
    FakePond::start(move |number, request| match &request.body {
        RequestBody::TensorGet(get) => {
            Does::ReplyWith(grant(tensor.clone(), get.lease, get.mode), vec![an_fd()])
        }
        _ => other(number, request),
    })
}

#[test]
fn a_restart_is_claimed_and_requests_are_repeated_with_the_same_identities() {
    let pond = granting(|connection, request| match &request.body {
        RequestBody::TensorPublish { .. } if connection == 0 => Does::HangUp,
        RequestBody::Hello(_) => Does::Reply(welcome(connection as u64 + 1)),
        _ => Does::Polite,
    });
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_secs(5));
    let answer = answer.unwrap();
    let ReplyBody::Tensor(granted) = answer.body else { panic!() };
    let token = Token::random();
    let body = publication(granted.info.tensor, token);
    let published = link.ask("a publication", body.clone()).unwrap().body;
    assert_eq!(published, ReplyBody::Published { generation: token.0.as_u64_pair().1 });

    let seen = pond.requests();
    let proof =
        Proof { pond: "00000000-0000-4000-8000-000000000001".parse().unwrap(), token: [6; 16] };
    let hello = |claims| {
        RequestBody::Hello(Hello {
            version: 1,
            capabilities: 0,
            client: link.client(),
            program: "test".into(),
            claims,
            proof: claims.then_some(proof),
        })
    };
    let claim = LeaseClaim {
        lease,
        target: granted.info.tensor.into(),
        mode: Mode::ReadOnly,
        token: [7; 16],
    };
    let bodies: Vec<_> = seen.iter().map(|(number, one)| (*number, one.body.clone())).collect();
    assert_eq!(bodies[0], (0, hello(false)));
    assert_eq!(bodies[2], (0, body.clone()));
    assert_eq!(bodies[3], (1, hello(true)));
    assert_eq!(bodies[4], (1, RequestBody::Claim(Claim { leases: vec![claim], last: true })));
    assert_eq!(bodies[5], (1, body));
    assert_eq!(seen[2].1.number, seen[5].1.number, "the same number");
    assert!(!answer.lost.unwrap().load(Ordering::Acquire));
}

#[test]
fn all_threads_repeat_what_was_under_way() {
    let pond = FakePond::start(|connection, request| match &request.body {
        RequestBody::TensorPublish { .. } if connection == 0 => Does::Nothing,
        _ => Does::Polite,
    });
    let link = pond.link();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let token = Token::random();
                let body = publication(TensorId::random(), token);
                let answer = link.ask("a publication", body).unwrap().body;
                assert_eq!(answer, ReplyBody::Published { generation: token.0.as_u64_pair().1 });
            });
        }
        eventually(|| pond.seen().len() == 9);
        pond.hang_up();
    });
    assert_eq!(pond.seen().iter().filter(|(number, _)| *number == 1).count(), 9);
}

#[test]
fn many_claims_go_in_batches_of_which_the_last_says_so() {
    let pond = granting(|_, _| Does::Polite);
    let link = pond.link();
    for _ in 0..1100 {
        get(&link, Duration::from_secs(5)).1.unwrap();
    }
    pond.hang_up();
    eventually(|| {
        link.ask_done("a ping", RequestBody::Ping).is_ok()
            && pond.seen().iter().any(|(number, _)| *number == 1)
    });
    let batches: Vec<(usize, bool)> = pond
        .seen()
        .iter()
        .filter_map(|(_, body)| match body {
            RequestBody::Claim(claim) => Some((claim.leases.len(), claim.last)),
            _ => None,
        })
        .collect();
    assert_eq!(batches, [(512, false), (512, false), (76, true)]);
}

#[test]
fn a_refused_claim_and_another_pond_are_remembered() {
    let other = PondId::random();
    let pond = granting(move |connection, request| match (connection, &request.body) {
        (1, RequestBody::Claim(claim)) => {
            let refused = vec![claim.leases.iter().map(|one| one.lease).min().unwrap()];
            Does::Reply(ReplyBody::Claimed { refused })
        }
        (2, RequestBody::Hello(_)) => Does::Reply(welcome_of(other, 1)),
        _ => Does::Polite,
    });
    let link = pond.link();
    let lost = [(); 2].map(|()| get(&link, Duration::from_secs(5)).1.unwrap().lost.unwrap());
    let is_lost = || [0, 1].map(|index: usize| lost[index].load(Ordering::Acquire));
    assert_eq!(is_lost(), [false, false]);
    pond.hang_up();
    eventually(|| link.ask_done("a ping", RequestBody::Ping).is_ok() && is_lost()[0]);
    assert_eq!(is_lost(), [true, false]);
    pond.hang_up();
    eventually(|| link.ask_done("a ping", RequestBody::Ping).is_ok() && is_lost()[1]);
    assert!(link.lock().session.leases().is_empty());
}

#[test]
fn the_watch_claims_without_any_call() {
    let pond = granting(|_, _| Does::Polite);
    let link = pond.link();
    get(&link, Duration::from_secs(5)).1.unwrap();
    link.start_watch().unwrap();
    link.start_watch().unwrap();
    for connection in 1..4 {
        pond.hang_up();
        pond.wait_for(|number, body| {
            number == connection && matches!(body, RequestBody::Claim(claim) if claim.last)
        });
    }
    // The last lease ends, and nobody is left.
    let leases: Vec<_> =
        link.lock().session.leases().claims().iter().map(|one| one.lease).collect();
    link.release(&leases).unwrap();
    link.end();
    pond.wait_for(|number, body| number == 3 && *body == RequestBody::Goodbye);
    eventually(|| Arc::strong_count(&link) == 1);
}

#[test]
fn a_grant_that_comes_too_late_is_given_back() {
    let tensor = info("acts/x");
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorGet(get) => {
            let reply = grant(tensor.clone(), get.lease, get.mode);
            let does = Does::ReplyWith(reply, vec![an_fd()]);
            Does::After(Duration::from_millis(100), Box::new(does))
        }
        _ => Does::Polite,
    });
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_millis(30));
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
    // Nobody calls, and yet it is read.
    pond.wait_for(|_, body| *body == RequestBody::LeaseRelease { leases: vec![lease] });
    eventually(|| !link.lock().session.has_duties());
}

/// A process that ends at once would be silent otherwise: the watching thread would not run any more.
#[test]
fn whoever_has_given_back_everything_says_goodbye_itself() {
    let pond = granting(|_, _| Does::Polite);
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_secs(10));
    answer.unwrap();
    link.start_watch().unwrap();
    link.give_back(lease);
    link.end();
    assert!(link.lock().session.is_closed());
    pond.wait_for(|_, body| *body == RequestBody::Goodbye);
    eventually(|| Arc::strong_count(&link) == 1);
}

/// Else the connection would stay for ever: whoever waits for a lease to come does not leave.
#[test]
fn a_refusal_that_comes_too_late_ends_the_wait_for_a_lease() {
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorGet(_) => {
            let does = Does::Reply(failure(ErrorKind::NotFound));
            Does::After(Duration::from_millis(100), Box::new(does))
        }
        _ => Does::Polite,
    });
    let link = pond.link();
    let (_, answer) = get(&link, Duration::from_millis(30));
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
    assert!(link.lock().session.has_duties());
    link.end();
    pond.wait_for(|_, body| *body == RequestBody::Goodbye);
    eventually(|| Arc::strong_count(&link) == 1);
    assert!(!pond.seen().iter().any(|(_, body)| matches!(body, RequestBody::LeaseRelease { .. })));
}

#[test]
fn a_grant_that_may_have_been_lost_is_given_back_to_the_next_connection() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::TensorGet(_) => Does::Nothing,
        _ => Does::Polite,
    });
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_millis(30));
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
    pond.hang_up();
    pond.wait_for(|number, body| {
        number == 1 && *body == RequestBody::LeaseRelease { leases: vec![lease] }
    });
    eventually(|| !link.lock().session.has_duties());
}

#[test]
fn a_lease_that_may_have_been_granted_to_a_failed_call_is_given_back() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::TensorGet(_) => Does::Raw(b"garbage".to_vec()),
        _ => Does::Polite,
    });
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_secs(5));
    assert_eq!(answer.unwrap_err().kind(), ErrorKind::Protocol);
    pond.wait_for(|number, body| {
        number == 1 && *body == RequestBody::LeaseRelease { leases: vec![lease] }
    });
}

#[test]
fn a_repeat_waits_only_for_what_is_left() {
    let tensor = info("acts/x");
    let pond = FakePond::start(move |connection, request| match &request.body {
        RequestBody::TensorGet(_) if connection == 0 => {
            Does::After(Duration::from_millis(50), Box::new(Does::HangUp))
        }
        RequestBody::TensorGet(get) => {
            Does::ReplyWith(grant(tensor.clone(), get.lease, get.mode), vec![an_fd()])
        }
        _ => Does::Polite,
    });
    get(&pond.link(), Duration::from_secs(5)).1.unwrap();
    let waits: Vec<(LeaseId, u64)> = pond
        .seen()
        .iter()
        .filter_map(|(_, body)| match body {
            RequestBody::TensorGet(get) => Some((get.lease, get.wait_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(waits[0].0, waits[1].0, "the same lease");
    assert_eq!(waits[0].1, 60_000);
    assert!((50_000..=59_950).contains(&waits[1].1), "{waits:?}");
}

#[test]
fn a_request_that_the_daemon_dies_of_is_not_repeated_for_ever() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::Ping => Does::HangUp,
        _ => Does::Polite,
    });
    let error = pond.link().ask_done("a ping", RequestBody::Ping).unwrap_err();
    assert!(matches!(error, Error::NoPond { .. }), "{error}");
    let pings = pond.seen().iter().filter(|(_, body)| *body == RequestBody::Ping).count();
    assert_eq!(pings, 21);
}

#[test]
fn a_daemon_that_restarts_during_hello_is_waited_for() {
    let pond = FakePond::start(|connection, request| match &request.body {
        RequestBody::Hello(_) if connection < 3 => Does::HangUp,
        _ => Does::Polite,
    });
    pond.link().ask_done("a ping", RequestBody::Ping).unwrap();
}

#[test]
fn a_lease_whose_release_is_under_way_is_not_claimed() {
    let tensor = info("acts/x");
    let pond = FakePond::start(move |number, request| match &request.body {
        RequestBody::TensorGet(get) => {
            Does::ReplyWith(grant(tensor.clone(), get.lease, get.mode), vec![an_fd()])
        }
        // Killed before it could answer, and perhaps before it could do it.
        RequestBody::LeaseRelease { .. } if number == 0 => Does::HangUp,
        _ => Does::Polite,
    });
    let link = pond.link();
    let (first, answer) = get(&link, Duration::from_secs(5));
    answer.unwrap();
    let (second, answer) = get(&link, Duration::from_secs(5));
    answer.unwrap();
    link.release(&[first]).unwrap();
    let claimed: Vec<LeaseId> = pond
        .seen()
        .into_iter()
        .filter_map(|(_, body)| match body {
            RequestBody::Claim(claim) => Some(claim.leases),
            _ => None,
        })
        .flatten()
        .map(|claim| claim.lease)
        .collect();
    assert_eq!(claimed, [second], "what is unmapped must not come back to life");
}

#[test]
fn a_grant_whose_repeat_is_refused_is_given_back() {
    let pond = FakePond::start(move |number, request| match &request.body {
        // Granted, and the answer lost with the connection; the repeat finds nothing any more.
        RequestBody::TensorGet(_) if number == 0 => Does::HangUp,
        RequestBody::TensorGet(_) => Does::Reply(failure(ErrorKind::NotFound)),
        _ => Does::Polite,
    });
    let link = pond.link();
    let (lease, answer) = get(&link, Duration::from_secs(5));
    answer.unwrap_err();
    pond.wait_for(
        |_, body| matches!(body, RequestBody::LeaseRelease { leases } if leases.contains(&lease)),
    );
}

/// Nobody could ever find it: its name is its identity, and whoever asked for it has gone away.
#[test]
fn a_tensor_without_a_name_that_came_too_late_is_deleted() {
    let late = Duration::from_millis(300);
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorCreate(create) => {
            let lease = create.lease.unwrap();
            let made = TensorInfo { tensor: create.tensor, ..info("made") };
            let grant = grant(made, lease, Mode::ReadWrite);
            Does::After(late, Box::new(Does::ReplyWith(grant, vec![an_fd()])))
        }
        _ => Does::Polite,
    });
    let link = pond.link_with(Duration::from_millis(50));
    let mut expected = Vec::new();
    for spec in [TensorSpec::unnamed(Dtype::F32, [4, 8]), TensorSpec::new("x", Dtype::F32, [4, 8])]
    {
        let lease = link.new_lease();
        let create = spec.into_request(Some(lease)).unwrap();
        if create.name.is_none() {
            expected.push(create.tensor);
        }
        let ask = Ask {
            what: "a creation",
            body: RequestBody::TensorCreate(create),
            lease: Some(lease),
            deadline: Instant::now().checked_add(Duration::from_millis(50)),
            waits_until: None,
        };
        assert!(matches!(link.call(ask, None), Err(Error::Timeout { .. })));
        pond.wait_for(|_, body| {
            matches!(body, RequestBody::LeaseRelease { leases } if leases.contains(&lease))
        });
    }
    pond.wait_for(|_, body| matches!(body, RequestBody::TensorDelete { .. }));
    let deleted: Vec<TensorId> = pond
        .seen()
        .into_iter()
        .filter_map(|(_, body)| match body {
            RequestBody::TensorDelete { tensor } => Some(tensor),
            _ => None,
        })
        .collect();
    assert_eq!(deleted, expected, "one with a name can be found, and may be somebody's by now");
}
