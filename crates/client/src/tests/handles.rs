//! Tensors for programs that know nothing but CUDA.

use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{Backing, ErrorKind, LeaseId, Mode, Transport, TransportKind};

use crate::testing::{Does, FakePond, an_fd, grant_of, info};
use crate::{Error, GetOptions};

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
