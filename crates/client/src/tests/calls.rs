//! Calls: who gets which answer, and when there is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use millpond_wire::message::{Reply, ReplyBody, Request, RequestBody};
use millpond_wire::{ErrorKind, TensorId, Token, memfd};

use crate::connection::lock;
use crate::link::{Ask, Link};
use crate::testing::{Does, FakePond, eventually, failure, info, publication};
use crate::{Error, GpuUuid, Pond};

/// A request whose right answer can be told from all others.
fn publish(link: &Arc<Link>) {
    let token = Token::random();
    let body = publication(TensorId::random(), token);
    let answer = link.ask("a publication", body).unwrap();
    assert_eq!(answer.body, ReplyBody::Published { generation: token.0.as_u64_pair().1 });
}

#[test]
fn eight_threads_each_get_their_own_answer() {
    let pond = FakePond::polite();
    let link = pond.link();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..200).for_each(|_| publish(&link)));
        }
    });
    assert_eq!(pond.requests().iter().filter(|(number, _)| *number == 0).count(), 8 * 200 + 1);
    let mut numbers: Vec<u64> = pond.requests().iter().map(|(_, one)| one.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 8 * 200 + 1, "every number is used once");
}

#[test]
fn a_lazy_pond_connects_with_its_first_call() {
    let pond = FakePond::polite();
    let lazy = pond.builder().lazy().connect().unwrap();
    assert!(pond.seen().is_empty());
    lazy.ping().unwrap();
    lazy.ping().unwrap();
    let seen = pond.seen();
    assert!(matches!(seen[..], [(0, RequestBody::Hello(_)), (0, RequestBody::Ping), (0, _)]));
    let nowhere = tempfile::tempdir().unwrap();
    let lazy = Pond::builder().runtime_dir(nowhere.path()).lazy().connect().unwrap();
    assert_eq!(lazy.ping().unwrap_err().kind(), ErrorKind::NoPond);
}

#[test]
fn the_work_of_a_caller_is_done_before_the_pond_has_answered_the_hello() {
    let worked = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&worked);
    let pond = FakePond::start(move |_, request| {
        if let RequestBody::Hello(_) = &request.body {
            eventually(|| seen.load(Ordering::Acquire));
        }
        Does::Polite
    });
    let link = pond.link();
    let ask = |body| Ask { what: "a ping", body, lease: None, deadline: None, waits_until: None };
    let work = || assert!(!worked.swap(true, Ordering::AcqRel), "once");
    link.call_while(ask(RequestBody::Ping), None, work).unwrap();
    assert!(worked.load(Ordering::Acquire));
}

#[test]
fn answers_in_any_order_reach_who_waits_for_them() {
    let waiting = Mutex::new(Vec::<Request>::new());
    let pond = FakePond::start(move |_, request| {
        let RequestBody::TensorPublish(_) = &request.body else { return Does::Polite };
        let mut waiting = lock(&waiting);
        waiting.push(request.clone());
        if waiting.len() < 8 {
            return Does::Nothing;
        }
        let answer = |request: &Request| {
            let RequestBody::TensorPublish(publish) = &request.body else { unreachable!() };
            let generation = publish.token.0.as_u64_pair().1;
            Reply { number: request.number, body: ReplyBody::Published { generation } }
        };
        Does::Replies(waiting.drain(..).rev().map(|request| answer(&request)).collect())
    });
    let link = pond.link();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| publish(&link)));
        }
    });
}

#[test]
fn a_silent_pond_is_a_timeout_and_others_are_not_held_up() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::ClientList => Does::Nothing,
        _ => Does::Polite,
    });
    let (hasty, patient) = (pond.link_with(Duration::from_millis(80)), pond.link());
    patient.ask_done("a ping", RequestBody::Ping).unwrap();
    let begun = Instant::now();
    let error = hasty.ask("a listing of clients", RequestBody::ClientList).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("a listing of clients"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(80));
    assert!(begun.elapsed() < Duration::from_secs(2));
    // A leader that gives up hands the lead on.
    thread::scope(|scope| {
        let waits = scope.spawn(|| hasty.ask("a listing of clients", RequestBody::ClientList));
        for _ in 0..50 {
            hasty.ask_done("a ping", RequestBody::Ping).unwrap();
            thread::sleep(Duration::from_millis(3));
        }
        assert_eq!(waits.join().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
    });
}

#[test]
fn every_kind_of_failure_comes_through() {
    let kinds = Mutex::new(ErrorKind::ALL.iter().copied());
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::Ping => Does::Reply(failure(lock(&kinds).next().unwrap())),
        _ => Does::Polite,
    });
    let link = pond.link_with(Duration::from_millis(500));
    for kind in ErrorKind::ALL.iter().filter(|kind| **kind != ErrorKind::Later) {
        let error = link.ask_done("a ping", RequestBody::Ping).unwrap_err();
        assert_eq!((error.kind(), error.remedy()), (*kind, kind.remedy()));
        assert_eq!(error.to_string(), format!("no: {kind}"));
    }
}

#[test]
fn what_the_pond_wants_later_is_repeated_until_the_deadline() {
    let pings = Mutex::new(0);
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::ClientList => Does::Reply(failure(ErrorKind::Later)),
        RequestBody::Ping if *lock(&pings) < 3 => {
            *lock(&pings) += 1;
            Does::Reply(failure(ErrorKind::Later))
        }
        _ => Does::Polite,
    });
    let link = pond.link_with(Duration::from_millis(200));
    link.ask_done("a ping", RequestBody::Ping).unwrap();
    let error = link.ask("a listing of clients", RequestBody::ClientList).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Later);
}

#[test]
fn a_large_answer_comes_as_a_memfd() {
    let tensors: Vec<_> = (0..1000).map(|index| info(&format!("acts/{index}"))).collect();
    let expected = tensors.clone();
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorList { prefix, page: None } if prefix == "acts/" => {
            let body = ReplyBody::Tensors(tensors.clone());
            let mut builder = planus::Builder::new();
            let bytes = Reply { number: request.number, body }.encode(&mut builder).to_vec();
            let fd = memfd::sealed("reply", &bytes).unwrap();
            Does::ReplyWith(ReplyBody::InMemfd { bytes: bytes.len() as u64 }, vec![fd])
        }
        _ => Does::Polite,
    });
    assert_eq!(pond.builder().connect().unwrap().list("acts/").unwrap(), expected);
}

#[test]
fn pages_go_on_after_the_largest_identity_and_end_with_one_that_is_not_full() {
    let mut tensors: Vec<_> = (0..10).map(|index| info(&format!("acts/{index}"))).collect();
    for tensor in &mut tensors {
        tensor.tensor = TensorId::random();
    }
    let mut expected: Vec<TensorId> = tensors.iter().map(|tensor| tensor.tensor).collect();
    expected.sort();
    tensors.sort_by_key(|tensor| tensor.tensor);
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorList { page: Some(page), .. } => {
            let later =
                tensors.iter().filter(|tensor| page.after.is_none_or(|at| tensor.tensor > at));
            let mut listed: Vec<_> = later.take(page.most.get() as usize).cloned().collect();
            // In what order they come says nothing.
            listed.reverse();
            Does::Reply(ReplyBody::Tensors(listed))
        }
        _ => Does::Polite,
    });
    let pond = pond.builder().connect().unwrap();
    for (most, pages) in [(3, vec![3, 3, 3, 1]), (5, vec![5, 5]), (10, vec![10]), (11, vec![10])] {
        let most = std::num::NonZeroU32::new(most).unwrap();
        let listed: Vec<_> = pond.list_pages("", most).map(Result::unwrap).collect();
        assert_eq!(listed.iter().map(Vec::len).collect::<Vec<_>>(), pages);
        let mut seen: Vec<_> = listed.iter().flatten().map(|tensor| tensor.tensor).collect();
        seen.sort();
        assert_eq!(seen, expected);
    }
}

#[test]
fn a_missing_pond_is_told_at_once_and_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let error = Pond::builder().runtime_dir(dir.path()).connect().unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(error.kind(), ErrorKind::NoPond);
    assert!(error.to_string().starts_with("no pond answers on '/"), "{error}");
    let long = dir.path().join("x".repeat(120));
    let error = Pond::builder().runtime_dir(long).connect().unwrap_err();
    assert!(matches!(error, Error::PathTooLong { .. }), "{error}");
    assert!(error.hint().unwrap().contains("MILLPOND_RUNTIME_DIR"));
}

#[test]
fn a_process_has_one_plain_connection_per_pond() {
    let pond = FakePond::polite();
    let plain = || Pond::builder().runtime_dir(pond.folder()).connect().unwrap();
    let (one, two) = (plain(), plain());
    assert_eq!(one.client_id(), two.client_id());
    let own = pond.builder().program("own").connect().unwrap();
    assert_ne!(own.client_id(), one.client_id());
    two.close().unwrap();
    assert!(matches!(one.ping(), Err(Error::Closed)));
    assert_ne!(plain().client_id(), one.client_id());
}

#[test]
fn handles_may_go_to_any_thread_and_timeouts_may_be_absurd() {
    fn everywhere<T: Send + Sync>() {}
    everywhere::<Pond>();
    everywhere::<crate::Tensor>();
    everywhere::<Error>();
    let pond = FakePond::polite();
    let builder = pond.builder().request_timeout(Duration::MAX);
    let client = builder.reconnect_timeout(Duration::MAX).connect().unwrap();
    client.ping().unwrap();
    assert!(client.flush(Duration::MAX).unwrap());
}

#[test]
fn a_pond_that_nobody_uses_any_more_hears_goodbye() {
    let pond = FakePond::polite();
    drop(pond.builder().connect().unwrap());
    pond.wait_for(|_, body| *body == RequestBody::Goodbye);
}

#[test]
fn devices_are_found_by_the_ponds_own_index() {
    let pond = FakePond::polite();
    let client = pond.builder().connect().unwrap();
    assert_eq!(client.device_at(0).unwrap(), GpuUuid([0; 16]));
    assert_eq!(client.device_at(1).unwrap(), GpuUuid([1; 16]));
    let error = client.device_at(2).unwrap_err();
    assert_eq!(error.to_string(), "there is no GPU 2; the pond has 2");
}

#[test]
fn a_name_is_resolved_before_it_is_deleted() {
    let tensor = info("acts/x");
    let id = tensor.tensor;
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorInspect(_) => {
            Does::Reply(ReplyBody::Details { info: tensor.clone(), leases: Vec::new() })
        }
        _ => Does::Polite,
    });
    let client = pond.builder().connect().unwrap();
    client.delete("acts/x").unwrap();
    client.delete(id).unwrap();
    let deleted = RequestBody::TensorDelete { tensor: id };
    assert_eq!(pond.seen().iter().filter(|(_, body)| *body == deleted).count(), 2);
    assert_eq!(pond.seen().len(), 4, "hello, one inspection, two deletions");
    client.delete_unused("acts/x").unwrap();
    let (_, last) = pond.seen().pop().unwrap();
    assert_eq!(last, RequestBody::TensorDeleteUnused { tensor: id });
}

#[test]
fn a_full_queue_does_not_make_the_two_sides_wait_for_each_other() {
    // The pond does not read for a while, and many threads send to it.
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::ClientList => Does::After(Duration::from_millis(200), Box::new(Does::Nothing)),
        _ => Does::Polite,
    });
    let link = pond.link();
    let hasty = |link: &Arc<Link>| {
        link.call(
            crate::link::Ask {
                what: "a listing of clients",
                body: RequestBody::ClientList,
                lease: None,
                deadline: Some(Instant::now() + Duration::from_millis(1)),
                waits_until: None,
            },
            None,
        )
    };
    link.ask_done("a ping", RequestBody::Ping).unwrap();
    assert_eq!(hasty(&link).unwrap_err().kind(), ErrorKind::Timeout);
    let body = RequestBody::TensorList { prefix: "x".repeat(250), page: None };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    // Its answer is not a listing, but it is an answer.
                    link.ask("a listing", body.clone()).unwrap();
                }
            });
        }
    });
    eventually(|| pond.seen().len() == 8 * 100 + 3);
}

/// Somebody else has taken its identity, and it held nothing.
#[test]
fn a_client_that_is_denied_without_leases_goes_on_as_a_new_one() {
    let pond = FakePond::start(|connection, request| match &request.body {
        RequestBody::Hello(_) if connection == 1 => Does::Reply(failure(ErrorKind::Denied)),
        RequestBody::Ping if connection == 0 => Does::HangUp,
        _ => Does::Polite,
    });
    let link = pond.link();
    let before = link.client();
    link.ask_done("a ping", RequestBody::Ping).unwrap();
    assert_ne!(link.client(), before);
    let hellos: Vec<_> = pond
        .seen()
        .into_iter()
        .filter_map(|(connection, body)| match body {
            RequestBody::Hello(hello) => Some((connection, hello.client, hello.proof.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(hellos, [(0, before, false), (1, before, true), (2, link.client(), false)]);
}

#[test]
fn a_new_client_that_is_denied_as_well_says_so() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::Hello(_) => Does::Reply(failure(ErrorKind::Denied)),
        _ => Does::Polite,
    });
    let error = pond.link().ask("a ping", RequestBody::Ping).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(pond.seen().len(), 2);
}
