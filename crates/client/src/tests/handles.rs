//! Tensors for programs that know nothing but CUDA.

use millpond_wire::message::{ReplyBody, RequestBody, Target, TensorGrant, TensorHold, TensorInfo};
use millpond_wire::{Backing, ErrorKind, LeaseId, Mode, Token, Transport, TransportKind};

use crate::testing::{Does, FakePond, an_fd, grant_of, info};
use crate::{Dtype, Error, GetOptions, TensorSpec};

const MEMORY: [u8; 64] = [5; 64];
const EVENT: [u8; 64] = [6; 64];

/// A pond whose tensors are of this kind.
fn pond_of(transport: Transport) -> FakePond {
    FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorGet(get) => {
            let backing = Backing { transport, adopted: false };
            let mut body = grant_of(info("acts/x"), get.lease, get.mode, backing);
            if let (ReplyBody::Tensor(grant), Transport::Ipc(_)) = (&mut body, transport) {
                grant.event = Some(EVENT);
            }
            let fds = transport.has_descriptor().then(an_fd);
            Does::ReplyWith(body, fds.into_iter().collect())
        }
        _ => Does::Polite,
    })
}

fn released(pond: &FakePond) -> Vec<LeaseId> {
    let seen = pond.seen().into_iter().filter_map(|(_, body)| match body {
        RequestBody::LeaseRelease { leases } => Some(leases),
        _ => None,
    });
    seen.flatten().collect()
}

#[test]
fn a_handle_has_what_cuda_needs_and_a_lease_until_it_is_dropped() {
    let fake = pond_of(Transport::Ipc(MEMORY));
    // No driver: nothing is mapped here.
    let pond = fake.builder().connect().unwrap();
    let handle = pond.handle("acts/x").unwrap();
    assert_eq!((handle.memory(), handle.event()), (&MEMORY, Some(&EVENT)));
    assert_eq!((handle.offset(), handle.info().bytes), (256, 128));
    assert_eq!(handle.info().transport, TransportKind::Ipc);
    assert!(!format!("{handle:?}").contains("5, 5"), "whoever has the bytes has the memory");
    assert_eq!(pond.live_leases(), 1);
    assert!(released(&fake).is_empty());
    drop(handle);
    assert_eq!(released(&fake), [LeaseId(1)]);
    let parts = pond.handle_with("acts/x", GetOptions::read_write()).unwrap().detach();
    assert_eq!((parts.memory, parts.event, parts.info.offset), (MEMORY, Some(EVENT), 256));
    assert_eq!(released(&fake), [LeaseId(1), LeaseId(2)]);
    let modes = fake.seen().into_iter().filter_map(|(_, body)| match body {
        RequestBody::TensorGet(get) => Some(get.mode),
        _ => None,
    });
    assert_eq!(modes.collect::<Vec<_>>(), [Mode::ReadOnly, Mode::ReadWrite]);
    pond.close().unwrap();
}

#[test]
fn memory_of_other_transports_has_no_handle_and_its_lease_goes_back() {
    for transport in [Transport::Vmm, Transport::Mempool(MEMORY)] {
        let fake = pond_of(transport);
        let pond = fake.builder().connect().unwrap();
        let error = pond.handle("acts/x").unwrap_err();
        assert!(matches!(error, Error::NoHandle { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(transport.name()), "{error}");
        assert!(error.hint().unwrap().contains("TransportKind::Ipc"));
        assert_eq!(released(&fake), [LeaseId(1)]);
        pond.close().unwrap();
    }
}

/// Asks that came, without those that every connection begins with.
fn asked(pond: &FakePond) -> Vec<RequestBody> {
    let seen = pond.seen().into_iter().map(|(_, body)| body);
    let is_asked = |body: &RequestBody| {
        matches!(
            body,
            RequestBody::TensorHold(_)
                | RequestBody::TensorUnhold(_)
                | RequestBody::TensorPeek(_)
                | RequestBody::TensorCreate(_)
        )
    };
    seen.filter(is_asked).collect()
}

/// A pond that hangs up at the first try of each connection before this one.
fn holding(transport: Transport, hangs_up: usize) -> FakePond {
    FakePond::start(move |connection, request| match &request.body {
        RequestBody::TensorHold(_)
        | RequestBody::TensorUnhold(_)
        | RequestBody::TensorPeek(_)
        | RequestBody::TensorCreate(_) => {
            if connection < hangs_up {
                return Does::HangUp;
            }
            let backing = Backing { transport, adopted: false };
            let info = TensorInfo { holds: Some(1), transport: transport.kind(), ..info("acts/x") };
            let event = Some(EVENT);
            let grant = TensorGrant { info, lease: None, existed: false, backing, event };
            Does::Reply(ReplyBody::Tensor(grant))
        }
        _ => Does::Polite,
    })
}

#[test]
fn a_hold_is_repeated_with_its_token_and_has_no_lease() {
    let fake = holding(Transport::Ipc(MEMORY), 1);
    let pond = fake.builder().connect().unwrap();
    let (hold, unhold) = (Token::random(), Token::random());
    let parts = pond.hold("acts/x", Some(77), hold).unwrap();
    assert_eq!((parts.memory, parts.event, parts.info.holds), (MEMORY, Some(EVENT), Some(1)));
    assert_eq!(pond.peek(parts.info.tensor).unwrap().memory, MEMORY);
    assert_eq!(pond.unhold(parts.info.tensor, None, unhold).unwrap().holds, Some(1));
    assert_eq!(pond.live_leases(), 0);
    let name = Target::Name("acts/x".parse().unwrap());
    let first = RequestBody::TensorHold(TensorHold { target: name, pid: Some(77), token: hold });
    let id = Target::Id(parts.info.tensor);
    let last = TensorHold { target: id.clone(), pid: None, token: unhold };
    let expected =
        [first.clone(), first, RequestBody::TensorPeek(id), RequestBody::TensorUnhold(last)];
    assert_eq!(asked(&fake), expected);
    pond.close().unwrap();
}

#[test]
fn a_tensor_is_made_to_be_held_without_a_lease() {
    let fake = holding(Transport::Ipc(MEMORY), 0);
    let pond = fake.builder().connect().unwrap();
    let token = Token::random();
    let spec = TensorSpec::new("acts/x", Dtype::F32, [4, 8]).held(token);
    assert_eq!(pond.reserve(spec).unwrap().holds, Some(1));
    let [RequestBody::TensorCreate(create)] = &asked(&fake)[..] else { panic!("no create") };
    assert_eq!((create.hold, create.lease), (Some(token), None));
    pond.close().unwrap();
}

#[test]
fn memory_without_a_handle_is_not_held() {
    let fake = holding(Transport::Vmm, 0);
    let pond = fake.builder().connect().unwrap();
    let error = pond.hold("acts/x", None, Token::random()).unwrap_err();
    assert!(matches!(error, Error::NoHandle { .. }), "{error}");
    let asked = asked(&fake);
    assert!(matches!(&asked[..], [RequestBody::TensorHold(_), RequestBody::TensorUnhold(_)]));
    let error = pond.peek("acts/x").unwrap_err();
    assert!(matches!(error, Error::NoHandle { .. }), "{error}");
    pond.close().unwrap();
}
