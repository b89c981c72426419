use std::collections::BTreeSet;

use millpond_schema::message as fb;
use planus::Builder;
use proptest::prelude::*;

use super::*;
use crate::{LeaseId, caps, samples};

#[test]
fn every_request_comes_back_as_it_was() {
    let mut builder = Builder::new();
    for (number, (name, body)) in (1..).zip(samples::requests()) {
        let request = Request { number, body };
        let bytes = request.encode(&mut builder).to_vec();
        assert_eq!(Request::decode(&bytes).unwrap(), request, "{name}");
    }
}

#[test]
fn every_kind_of_request_has_its_own_word_and_a_sample() {
    let words: BTreeSet<&str> = RequestBody::KINDS.iter().copied().collect();
    assert_eq!(words.len(), RequestBody::KINDS.len());
    let samples = samples::requests();
    let mut shown: BTreeSet<&str> = samples.iter().map(|(_, body)| body.name()).collect();
    shown.insert(RequestBody::Unknown.name());
    assert_eq!(shown, words);
    let files: BTreeSet<&str> = samples.iter().map(|(name, _)| *name).collect();
    assert_eq!(files.len(), samples.len(), "a sample's name is a file's name");
}

#[test]
fn a_request_comes_with_the_descriptors_of_its_kind() {
    for (name, body) in samples::requests() {
        let expected = match &body {
            RequestBody::TensorMove(moving) => usize::from(moving.work.has_file()),
            RequestBody::TensorAdopt(adopt) => usize::from(adopt.transport.has_descriptor()),
            RequestBody::VersionCommit(_) => 1,
            _ => 0,
        };
        assert_eq!(body.descriptors(), expected, "{name}");
        assert!(expected <= RequestBody::MOST_DESCRIPTORS);
    }
}

#[test]
fn every_reply_comes_back_as_it_was() {
    let mut builder = Builder::new();
    for (number, (name, body)) in (0..).zip(samples::replies()) {
        let reply = Reply { number, body };
        let bytes = reply.encode(&mut builder).to_vec();
        assert_eq!(Reply::decode(&bytes).unwrap(), reply, "{name}");
    }
}

#[test]
fn a_cut_reply_is_an_error_and_no_panic() {
    let mut builder = Builder::new();
    for (_, body) in samples::replies() {
        let bytes = Reply { number: 1, body }.encode(&mut builder).to_vec();
        for length in 0..bytes.len() {
            let _ = Reply::decode(&bytes[..length]);
        }
    }
}

fn decoded(body: fb::RequestBody) -> DecodeError {
    let request = fb::Request { number: 4, body: Some(body) };
    let mut builder = Builder::new();
    let (number, error) = Request::decode(builder.finish(request, None)).unwrap_err();
    assert_eq!(number, 4);
    error
}

#[test]
fn a_name_on_another_node_is_refused_and_the_refusal_names_the_node() {
    let node = Some(fb::Id { high: 1, low: 2 });
    let name = || Some("x".to_owned());
    let (lease, mode) = (1, Mode::ReadOnly.code());
    use fb::RequestBody as B;
    let refused = [
        B::TensorGet(Box::new(fb::TensorGet {
            name: name(),
            lease,
            mode,
            node,
            ..Default::default()
        })),
        B::TensorInspect(Box::new(fb::TensorInspect { name: name(), node, ..Default::default() })),
        B::TensorHold(Box::new(fb::TensorHold { name: name(), node, ..Default::default() })),
        B::TensorUnhold(Box::new(fb::TensorUnhold { name: name(), node, ..Default::default() })),
        B::TensorPeek(Box::new(fb::TensorPeek { name: name(), node, ..Default::default() })),
        B::VersionGet(Box::new(fb::VersionGet {
            model: name(),
            lease,
            mode,
            node,
            ..Default::default()
        })),
        B::VersionInspect(Box::new(fb::VersionInspect {
            version: node,
            node,
            ..Default::default()
        })),
        B::VersionRetire(Box::new(fb::VersionRetire { model: name(), node, ..Default::default() })),
        B::ModelSwap(Box::new(fb::ModelSwap {
            model: name(),
            token: node,
            node,
            ..Default::default()
        })),
    ];
    for body in refused {
        let error = decoded(body.clone());
        let words = "node 00000000-0000-0001-0000-000000000002 is named";
        assert!(error.to_string().starts_with(words), "{body:?}: {error}");
    }
}

#[test]
fn a_lease_is_on_a_tensor_or_on_a_version_and_not_on_both() {
    let id = Some(fb::Id { high: 1, low: 2 });
    let claim = |tensor, version| {
        let (mode, token) = (Mode::ReadOnly.code(), Some(vec![0; 16]));
        let leases = Some(vec![fb::LeaseClaim { lease: 1, tensor, version, mode, token }]);
        decoded(fb::RequestBody::Claim(Box::new(fb::Claim { leases, last: true })))
    };
    assert!(matches!(claim(id, id), DecodeError::TwoTargets));
    assert!(matches!(claim(None, None), DecodeError::Missing("tensor")));
}

#[test]
fn a_hold_is_for_a_number_that_a_process_can_have() {
    let token = Some(fb::Id { high: 1, low: 2 });
    for pid in [0, 1 << 31, u32::MAX] {
        let (name, pid) = (Some("x".to_owned()), Some(pid));
        let hold = fb::TensorHold { name: name.clone(), pid, token, ..Default::default() };
        let unhold = fb::TensorUnhold { name, pid, token, ..Default::default() };
        for error in [
            decoded(fb::RequestBody::TensorHold(Box::new(hold))),
            decoded(fb::RequestBody::TensorUnhold(Box::new(unhold))),
        ] {
            assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{pid:?}: {error}");
        }
    }
}

#[test]
fn a_name_and_an_identity_together_are_invalid() {
    let id = Some(fb::Id { high: 1, low: 2 });
    let name = || Some("x".to_owned());
    let (lease, mode) = (1, Mode::ReadOnly.code());
    use fb::RequestBody as B;
    let both = [
        B::TensorGet(Box::new(fb::TensorGet {
            name: name(),
            tensor: id,
            lease,
            mode,
            ..Default::default()
        })),
        B::TensorInspect(Box::new(fb::TensorInspect {
            name: name(),
            tensor: id,
            ..Default::default()
        })),
        B::VersionGet(Box::new(fb::VersionGet {
            version: id,
            model: name(),
            lease,
            mode,
            ..Default::default()
        })),
        B::VersionRetire(Box::new(fb::VersionRetire {
            version: id,
            tag: name(),
            ..Default::default()
        })),
    ];
    for body in both {
        let error = decoded(body.clone());
        assert!(matches!(error, DecodeError::NameAndId), "{body:?}: {error}");
        assert_eq!(error.kind(), crate::ErrorKind::Invalid);
    }
}

#[test]
fn a_token_that_is_too_short_is_told_how_long_one_is() {
    let id = Some(fb::Id { high: 1, low: 2 });
    let token = Some(vec![0; 15]);
    let hello = fb::Hello { magic: MAGIC, client: id, pond: id, token, ..Default::default() };
    let error = decoded(fb::RequestBody::Hello(Box::new(hello)));
    assert_eq!(error.to_string(), "field 'token' has 15 bytes; a token has 16");
}

#[test]
fn a_place_that_no_file_has_is_invalid() {
    let id = Some(fb::Id { high: 1, low: 2 });
    for (kind, file_offset) in [(1, u64::MAX), (2, u64::MAX - 8), (1, (1 << 63) - 8)] {
        let moving = fb::TensorMove {
            token: id,
            kind,
            tensor: id,
            bytes: 16,
            file_offset,
            ..Default::default()
        };
        let error = decoded(fb::RequestBody::TensorMove(Box::new(moving)));
        assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{error}");
    }
    let run = fb::Span { offset: (1 << 63) - 8, bytes: 16 };
    let moving = fb::TensorMove {
        token: id,
        kind: 5,
        tensor: id,
        bytes: 16,
        pieces: Some(vec![fb::Span { offset: 0, bytes: 16 }]),
        runs: Some(vec![run]),
        ..Default::default()
    };
    let error = decoded(fb::RequestBody::TensorMove(Box::new(moving)));
    assert!(matches!(error, DecodeError::BeyondFiles { .. }), "{error}");
}

#[test]
fn the_number_of_events_is_no_number_for_a_request() {
    let bytes = Request { number: 0, body: RequestBody::Ping }.encode(&mut Builder::new()).to_vec();
    let (number, error) = Request::decode(&bytes).unwrap_err();
    assert_eq!((number, error.kind()), (0, crate::ErrorKind::Protocol));
    assert_eq!(error.to_string(), "field 'number' cannot be 0");
}

#[test]
fn caps_hold() {
    let mut builder = Builder::new();
    let leases = vec![LeaseId(1); caps::LEASES_PER_MESSAGE + 1];
    let body = RequestBody::LeaseRelease { leases };
    let bytes = Request { number: 4, body }.encode(&mut builder).to_vec();
    let (number, error) = Request::decode(&bytes).unwrap_err();
    assert_eq!(number, 4);
    assert!(matches!(error, DecodeError::TooMany { field: "leases", .. }));
}

proptest! {
    #[test]
    fn damaged_requests_never_panic(
        flips in prop::collection::vec((any::<u16>(), any::<u8>()), 1..8),
        which in 0..samples::requests().len(),
        cut in any::<u16>(),
    ) {
        let mut builder = Builder::new();
        let (_, body) = samples::requests().swap_remove(which);
        let mut bytes = Request { number: 7, body }.encode(&mut builder).to_vec();
        for (at, value) in flips {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        let _ = Request::decode(&bytes);
        bytes.truncate(usize::from(cut) % (bytes.len() + 1));
        let _ = Request::decode(&bytes);
    }
}

/// A message in which every offset of every list leads to the same entry.
fn folded(clients: usize, leases: usize) -> Vec<u8> {
    let mut builder = Builder::new();
    let id = fb::Id { high: 1, low: 2 };
    let lease = fb::LeaseInfo {
        tensor: Some(id),
        client: Some(id),
        mode: Mode::ReadOnly.code(),
        ..fb::LeaseInfo::default()
    };
    let lease = planus::WriteAsOffset::prepare(&lease, &mut builder);
    let leases = vec![lease; leases];
    let client =
        fb::ClientInfo::create(&mut builder, id, 1, 2, (), 3, false, leases.as_slice(), false);
    let clients = vec![client; clients];
    let body = fb::Clients::create(&mut builder, clients.as_slice());
    let body = fb::ReplyBody::create_clients(&mut builder, body);
    let reply = fb::Reply::create(&mut builder, 1, body);
    builder.finish(reply, None).to_vec()
}

#[test]
fn a_message_cannot_say_more_entries_than_it_has_bytes_for() {
    // 64 KiB that would be 64 million leases, which take 9 GB.
    let bytes = folded(8000, 8000);
    assert!(bytes.len() <= caps::MESSAGE_BYTES, "{}", bytes.len());
    assert!(matches!(Reply::decode(&bytes), Err(DecodeError::TooMany { .. })));
    let bytes = folded(2000, 2);
    assert!(matches!(Reply::decode(&bytes), Err(DecodeError::TooMany { .. })));
    // Each of its lists alone would do.
    assert!(matches!(Reply::decode(&folded(5, 5)), Err(DecodeError::TooMany { .. })));
    let few = Reply::decode(&folded(1, 5)).unwrap();
    assert!(matches!(few.body, ReplyBody::Clients(clients) if clients[0].leases.len() == 5));
}

#[test]
fn the_page_says_which_requests_are_for_watching() {
    let page = include_str!("../../../../docs/protocol.md");
    let section = page.split("### Watching\n").nth(1).unwrap().split("\n### ").next().unwrap();
    let list = section.split("\n\n").find(|part| part.starts_with("`Hello`")).unwrap();
    let mut listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    listed.sort_unstable();
    let mut expected = RequestBody::reading();
    // What nobody knows is answered so.
    expected.retain(|name| *name != "Unknown");
    expected.sort_unstable();
    assert_eq!(listed, expected);
}
