//! Versions in real (software) device memory, granted by a pond in a thread.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_wire::message::RequestBody;
use millpond_wire::{Backing, ErrorKind, LeaseId, TensorId, Transport};

use crate::connection::lock;
use crate::testing::{Does, FakeModels, SLAB, manifest_of};
use crate::{Error, process};

const SECOND: Duration = Duration::from_secs(5);

fn is_get(body: &RequestBody) -> bool {
    matches!(body, RequestBody::VersionGet(_))
}

fn is_inspect(body: &RequestBody) -> bool {
    matches!(body, RequestBody::VersionInspect(_))
}

#[test]
fn a_version_is_attached_with_one_message_and_its_tensors_are_where_the_manifest_says() {
    let models = FakeModels::new();
    let version = models.add("v1", &[3, 5]);
    let pond = models.connect();
    let model = pond.attach("m").unwrap();
    assert_eq!((model.version(), model.tag().as_str(), model.len()), (version, "v1", 4));
    assert_eq!(model.names().unwrap(), ["t0000.a", "t0000.b", "t0001.a", "t0001.b"]);
    assert_eq!(model.arena_bytes(), 2 * SLAB);
    let tensor = model.tensor("t0001.b").unwrap();
    assert_eq!(tensor.device_ptr().0, model.arena_ptr().0 + SLAB + 256);
    assert_eq!((tensor.bytes(), tensor.shape().dims()), (1000, &[1000][..]));
    assert_eq!(tensor.to_vec().unwrap(), [5; 1000]);
    assert_eq!(model.tensor_at(0).unwrap().to_vec().unwrap(), [3; 128]);
    let seen = models.pond.seen();
    assert_eq!(seen.len(), 2, "a hello and one request: {seen:?}");
    assert_eq!((pond.live_leases(), pond.live_bytes()), (1, 2 * SLAB));

    let missing = model.tensor("t9").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().contains("'m@v1' has no tensor 't9'"), "{missing}");
    assert_eq!(model.tensor_at(4).unwrap_err().kind(), ErrorKind::Invalid);
    let mut bytes = [0; 2];
    let outside = tensor.copy_to_host(999, &mut bytes).unwrap_err();
    assert!(matches!(outside, Error::OutOfBounds { .. }), "{outside}");
}

#[test]
fn a_tensor_keeps_the_lease_and_the_last_one_ends_it() {
    let models = FakeModels::new();
    models.add("v1", &[3]);
    let pond = models.connect();
    let model = pond.attach("m@v1").unwrap();
    let (tensor, clone) = (model.tensor("t0000.a").unwrap(), model.clone());
    drop((model, clone));
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(tensor.to_vec().unwrap(), [3; 128]);
    assert_eq!(pond.live_leases(), 1);
    assert!(matches!(pond.clone().close(), Err(Error::InUse { leases: 1 })));
    drop(tensor);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(models.released(), [LeaseId(1)]);
    assert_eq!((pond.live_leases(), pond.live_bytes()), (0, 0));
    pond.close().unwrap();
}

#[test]
fn more_slabs_than_a_message_carries_come_in_several() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1, 2, 3]);
    {
        // The same few slabs again and again, with identities of their own.
        let mut state = lock(&models.state);
        let few = state.versions[0].slabs.clone();
        let many = (0..300).map(|index| {
            let mut slab = few[index % 3].clone();
            slab.part = TensorId::random();
            slab
        });
        let many: Vec<_> = many.collect();
        let fill: Vec<u8> = (0..300u16).map(|index| u8::try_from(index % 3 + 1).unwrap()).collect();
        state.versions[0].slabs = many;
        state.versions[0].manifest = Some(manifest_of(&fill).encode());
    }
    let pond = models.connect();
    let model = pond.attach(first).unwrap();
    assert_eq!(model.arena_bytes(), 300 * SLAB);
    for index in [0, 126, 127, 128, 299] {
        let byte = u8::try_from(index % 3 + 1).unwrap();
        let tensor = model.tensor(&format!("t{index:04}.a")).unwrap();
        assert_eq!(tensor.to_vec().unwrap(), [byte; 128], "slab {index}");
    }
    let asked: Vec<(u32, u32)> = models
        .pond
        .seen()
        .into_iter()
        .filter_map(|(_, body)| match body {
            RequestBody::VersionSlabs { first, count, .. } => Some((first, count)),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [(127, 128), (254, 46)]);
}

#[test]
fn a_hostile_manifest_is_refused_and_the_lease_goes_back() {
    let honest = || manifest_of(&[1, 2]);
    let mut short = honest();
    short.slabs.pop();
    short.tensors.retain(|tensor| tensor.slab == 0);
    let mut small = honest();
    small.slabs[1].bytes = 2 * SLAB;
    for (bytes, said, expected) in [
        (b"nothing".to_vec(), None, "damaged"),
        (short.encode(), None, "1 slabs, the pond 2"),
        (small.encode(), None, "has 4194304 bytes in its manifest and 2097152 in the pond"),
        (honest().encode(), Some(4096), "2097152 bytes in its manifest and 4096 in the pond"),
    ] {
        let models = FakeModels::new();
        models.add("v1", &[1, 2]);
        lock(&models.state).versions[0].manifest = Some(bytes);
        lock(&models.state).versions[0].said = said;
        let pond = models.connect();
        let error = pond.attach("m").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let text = error.to_string();
        assert!(text.contains("'m@v1'") && text.contains(expected), "{text}");
        models
            .pond
            .wait_for(|_, body| *body == RequestBody::LeaseRelease { leases: vec![LeaseId(1)] });
        assert_eq!(pond.live_leases(), 0);
    }
}

#[test]
fn a_version_of_memory_without_a_descriptor_is_refused_and_the_lease_goes_back() {
    for transport in [Transport::Ipc([1; 64]), Transport::Mempool([1; 64])] {
        let models = FakeModels::new();
        models.add("v1", &[1]);
        lock(&models.state).versions[0].backing = Backing { transport, adopted: false };
        let pond = models.connect();
        let error = pond.attach("m").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let text = error.to_string();
        assert!(text.contains("'m@v1'") && text.contains(transport.name()), "{text}");
        assert_eq!(models.released(), [LeaseId(1)]);
    }
}

#[test]
fn a_tensor_that_lies_outside_of_its_slab_is_not_handed_out() {
    let models = FakeModels::new();
    models.add("v1", &[1]);
    let mut manifest = manifest_of(&[1]);
    manifest.tensors[1].offset = SLAB - 256;
    lock(&models.state).versions[0].manifest = Some(manifest.encode());
    let pond = models.connect();
    let model = pond.attach("m").unwrap();
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [1; 128]);
    let error = model.tensor("t0000.b").unwrap_err();
    assert!(error.to_string().contains("does not fit its slab"), "{error}");
}

#[test]
fn what_cannot_be_mapped_is_unmapped_and_given_back() {
    let models = FakeModels::new();
    models.add("v1", &[1, 2, 3]);
    let last = lock(&models.state).versions[0].slabs[2].part;
    lock(&models.state).bad_slab = Some(last);
    let pond = models.connect();
    assert_eq!(pond.attach("m").unwrap_err().kind(), ErrorKind::Driver);
    assert_eq!(models.released(), [LeaseId(1)]);
    assert_eq!(pond.live_leases(), 0);
    lock(&models.state).bad_slab = None;
    assert_eq!(pond.attach("m").unwrap().len(), 6);
}

#[test]
fn a_wait_travels_and_a_refusal_comes_through() {
    let models = FakeModels::new();
    let pond = models.connect();
    let options = crate::AttachOptions::default().wait(Duration::from_secs(7));
    assert_eq!(pond.attach_with("m", options).unwrap_err().kind(), ErrorKind::NotFound);
    models
        .pond
        .wait_for(|_, body| matches!(body, RequestBody::VersionGet(get) if get.wait_ms == 7000));
}

#[test]
fn a_restart_neither_unmaps_nor_forgets_a_version() {
    let models = FakeModels::new();
    let version = models.add("v1", &[4]);
    let pond = models.connect();
    let model = pond.attach("m").unwrap();
    models.pond.hang_up();
    models.pond.wait_for(|number, body| match body {
        RequestBody::Claim(claim) => {
            number == 1 && claim.leases.iter().all(|one| one.target == version.into())
        }
        _ => false,
    });
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [4; 128]);
    assert!(!model.is_lost());
}

#[test]
fn a_refused_claim_is_a_lost_version_that_stays_mapped() {
    let models = FakeModels::with(|connection, request| match &request.body {
        RequestBody::Claim(claim) if connection == 1 => {
            let refused = claim.leases.iter().map(|one| one.lease).collect();
            Some(Does::Reply(millpond_wire::message::ReplyBody::Claimed { refused }))
        }
        _ => None,
    });
    models.add("v1", &[4]);
    let pond = models.connect();
    let model = pond.attach("m").unwrap();
    models.pond.hang_up();
    crate::testing::eventually(|| model.is_lost());
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [4; 128]);
    drop(model);
    assert!(pond.flush(SECOND).unwrap());
}

#[test]
fn a_refresh_attaches_the_new_version_and_old_views_keep_the_old_one() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    assert!(!model.is_stale().unwrap() && !model.refresh().unwrap());
    let old = model.tensor("t0000.a").unwrap();
    let second = models.add_like("v2", first, &[Some(9)]);
    assert!(model.is_stale().unwrap() && model.refresh().unwrap());
    assert_eq!((model.version(), model.tag().as_str()), (second, "v2"));
    assert!(!model.is_stale().unwrap());
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [9; 128]);
    assert_eq!(old.to_vec().unwrap(), [1; 128]);
    assert_eq!(pond.live_leases(), 2);
    drop(old);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(models.released(), [LeaseId(1)]);
}

#[test]
fn a_refresh_in_place_keeps_every_address_and_remaps_only_what_differs() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1, 2, 3]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    let mut clone = model.clone();
    let views = ["t0000.a", "t0001.a", "t0002.a"].map(|name| model.tensor(name).unwrap());
    let bytes = || [0, 1, 2].map(|index: usize| views[index].to_vec().unwrap()[0]);
    let addresses = [0, 1, 2].map(|index: usize| views[index].device_ptr());
    assert_eq!(bytes(), [1, 2, 3]);
    models.add_like("v2", first, &[None, Some(7), None]);
    assert!(model.refresh_in_place().unwrap());
    assert_eq!(bytes(), [1, 7, 3], "views from before see the new bytes");
    assert_eq!(model.tag().as_str(), "v2");
    for (name, address) in ["t0000.a", "t0001.a", "t0002.a"].iter().zip(addresses) {
        assert_eq!(model.tensor(name).unwrap().device_ptr(), address);
    }
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(models.released(), [LeaseId(1)], "the old lease, after the exchange");
    assert_eq!(pond.live_leases(), 1);

    // A clone of before finds that it was done.
    assert_eq!(clone.tag().as_str(), "v1");
    let gets = models.count(is_get);
    assert!(clone.refresh_in_place().unwrap());
    assert_eq!((clone.tag().as_str(), models.count(is_get)), ("v2", gets));
    assert!(!clone.refresh_in_place().unwrap());
    drop((model, clone));
    assert_eq!(bytes(), [1, 7, 3]);
    drop(views);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(models.released(), [LeaseId(1), LeaseId(2)]);
}

#[test]
fn another_layout_is_refused_in_place_and_the_new_lease_goes_back() {
    let models = FakeModels::new();
    models.add("v1", &[1, 2]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    models.add("v2", &[1, 2, 3]);
    let error = model.refresh_in_place().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let text = error.to_string();
    assert!(text.contains("'m@v2'") && text.contains("'m@v1'"), "{text}");
    assert!(error.hint().unwrap().contains("refresh()"));
    assert_eq!((model.tag().as_str(), pond.live_leases()), ("v1", 1));
    assert!(model.refresh().unwrap());
    assert_eq!(model.len(), 6);
}

#[test]
fn a_layout_hash_that_lies_does_not_change_what_is_mapped() {
    let models = FakeModels::new();
    models.add("v1", &[1, 2]);
    let layout = lock(&models.state).versions[0].info.layout;
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    models.add("v2", &[1]);
    lock(&models.state).versions[1].info.layout = layout;
    assert_eq!(model.refresh_in_place().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(model.tensor("t0001.a").unwrap().to_vec().unwrap(), [2; 128]);
}

#[test]
fn a_slab_that_cannot_be_taken_leaves_the_old_version_whole() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1, 2, 3]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    let views = ["t0000.a", "t0001.a", "t0002.a"].map(|name| model.tensor(name).unwrap());
    models.add_like("v2", first, &[Some(7), None, Some(8)]);
    let last = lock(&models.state).versions[1].slabs[2].part;
    lock(&models.state).bad_slab = Some(last);
    assert_eq!(model.refresh_in_place().unwrap_err().kind(), ErrorKind::Driver);
    assert_eq!([0, 1, 2].map(|index: usize| views[index].to_vec().unwrap()[0]), [1, 2, 3]);
    assert_eq!((model.tag().as_str(), pond.live_leases()), ("v1", 1));
    lock(&models.state).bad_slab = None;
    assert!(model.refresh_in_place().unwrap());
    assert_eq!([0, 1, 2].map(|index: usize| views[index].to_vec().unwrap()[0]), [7, 2, 8]);
}

#[test]
fn clones_read_while_one_of_them_refreshes() {
    let models = FakeModels::new();
    let mut last = models.add("v1", &[1, 1]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            let clone = model.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let bytes = clone.tensor("t0001.b").unwrap().to_vec().unwrap();
                    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a mix of versions");
                }
            });
        }
        for number in 2..12u8 {
            last = models.add_like(&format!("v{number}"), last, &[None, Some(number)]);
            assert!(model.refresh_in_place().unwrap());
        }
    });
    assert_eq!(model.tensor("t0001.b").unwrap().to_vec().unwrap(), [11; 1000]);
    drop(model);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(pond.live_leases(), 0);
}

#[test]
fn a_forked_child_leaves_the_parents_version_alone() {
    let models = FakeModels::new();
    models.add("v1", &[1]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    let tensor = model.tensor("t0000.a").unwrap();
    let child = process::pretend(u32::MAX);
    assert!(matches!(tensor.to_vec(), Err(Error::Forked { .. })));
    assert!(matches!(model.refresh_in_place(), Err(Error::Forked { .. })));
    drop((model, tensor));
    drop(child);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(models.released(), [], "only the parent's process ends it");
    assert_eq!(pond.live_leases(), 1);
}

#[test]
fn retiring_by_name_goes_by_identity_and_gone_is_waited_for() {
    let models = FakeModels::new();
    let version = models.add("v1", &[1]);
    let pond = Arc::new(models.connect());
    assert!(!pond.wait_gone(version, Some(Duration::from_millis(10))).unwrap());
    let view = pond.version("m@v1").unwrap();
    assert_eq!((view.info.version, view.parts.len()), (version, 1));
    assert_eq!(view.manifest.unwrap().len(), 2);
    pond.retire("m@v1").unwrap();
    let target = millpond_wire::VersionTarget::Id(version);
    models.pond.wait_for(|_, body| *body == RequestBody::VersionRetire(target.clone()));
    assert!(pond.wait_gone(version, None).unwrap());
    assert!(models.count(is_inspect) >= 3);
}

/// A pond with a page, and the page.
fn with_page() -> (FakeModels, std::fs::File) {
    use millpond_wire::message::ReplyBody;
    let page = crate::testing::page();
    let shown = page.try_clone().unwrap();
    let models = FakeModels::with(move |_, request| match &request.body {
        RequestBody::Hello(_) => {
            let ReplyBody::Welcome(mut welcome) = crate::testing::welcome(1) else { panic!() };
            welcome.page_slots = 512;
            let fds = vec![shown.try_clone().unwrap().into()];
            Some(Does::ReplyWith(ReplyBody::Welcome(welcome), fds))
        }
        _ => None,
    });
    (models, page)
}

#[test]
fn whether_a_version_is_stale_needs_no_message_where_nothing_has_changed() {
    let (models, page) = with_page();
    let first = models.add("v1", &[1]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    let by_id = pond.attach(first).unwrap();
    for _ in 0..3 {
        assert!(!model.is_stale().unwrap());
        assert!(!by_id.is_stale().unwrap());
    }
    assert_eq!(models.count(is_inspect), 1, "the one that was not attached by name asked once");
    models.add_like("v2", first, &[Some(2)]);
    assert!(!model.is_stale().unwrap(), "the pond has not said that anything changed");
    crate::testing::change(&page, "m");
    assert!(model.is_stale().unwrap() && model.is_stale().unwrap());
    assert_eq!(models.count(is_inspect), 2);
    assert!(model.refresh_in_place().unwrap());
    // Something else with the same slot of the page: asked once, and then known again.
    crate::testing::change(&page, "m");
    for _ in 0..3 {
        assert!(!model.is_stale().unwrap());
    }
    assert_eq!(models.count(is_inspect), 3);
}

#[test]
fn equal_slabs_with_other_tensors_are_another_layout() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    models.add_like("v2", first, &[Some(2)]);
    {
        let mut state = lock(&models.state);
        let mut manifest = manifest_of(&[2]);
        manifest.tensors[0].name = "another".into();
        state.versions[1].info.layout = Some(manifest.layout_hash());
        state.versions[1].manifest = Some(manifest.encode());
    }
    let error = model.refresh_in_place().unwrap_err();
    assert!(error.to_string().contains("another layout"), "{error}");
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [1; 128]);
}

#[test]
fn a_slab_that_both_versions_have_is_not_touched() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1, 2]);
    let pond = models.connect();
    let mut model = pond.attach("m").unwrap();
    models.add_like("v2", first, &[None, Some(7)]);
    let shared = lock(&models.state).versions[0].slabs[0].part;
    // Whoever wanted to map it again could not.
    lock(&models.state).bad_slab = Some(shared);
    assert!(model.refresh_in_place().unwrap());
    assert_eq!(model.tensor("t0000.a").unwrap().to_vec().unwrap(), [1; 128]);
    assert_eq!(model.tensor("t0001.a").unwrap().to_vec().unwrap(), [7; 128]);
}

#[test]
fn a_repeated_attach_waits_only_for_what_is_left() {
    let models = FakeModels::with(|connection, request| match &request.body {
        RequestBody::VersionGet(_) if connection == 0 => {
            Some(Does::After(Duration::from_millis(50), Box::new(Does::HangUp)))
        }
        _ => None,
    });
    models.add("v1", &[1]);
    let pond = models.connect();
    let options = crate::AttachOptions::default().wait(Duration::from_secs(60));
    pond.attach_with("m", options).unwrap();
    let asked: Vec<(LeaseId, u64)> = models
        .pond
        .seen()
        .into_iter()
        .filter_map(|(_, body)| match body {
            RequestBody::VersionGet(get) => Some((get.lease, get.wait_ms)),
            _ => None,
        })
        .collect();
    assert_eq!((asked.len(), asked[0].0, asked[0].1), (2, asked[1].0, 60_000));
    assert!(asked[1].1 <= 59_950, "{asked:?}");
}
