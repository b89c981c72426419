use proptest::prelude::*;

use super::*;

fn tensor(name: &str, slab: usize, offset: u64, dims: &[u64]) -> ManifestTensor {
    let shape = Shape::new_or_empty(dims).unwrap();
    let bytes = shape.bytes(Dtype::F32).unwrap();
    let hash = ContentHash::of(name.as_bytes());
    ManifestTensor { name: name.to_owned(), dtype: Dtype::F32, shape, slab, offset, bytes, hash }
}

fn slab(index: u64) -> ManifestSlab {
    let hash = ContentHash::of(&index.to_le_bytes());
    ManifestSlab { arena_offset: index * SLAB_STEP, bytes: SLAB_STEP, hash }
}

fn small() -> Manifest {
    Manifest {
        slabs: vec![slab(0), slab(1)],
        tensors: vec![
            tensor("a.weight", 0, 0, &[2, 3]),
            tensor("b", 0, 256, &[0, 7]),
            tensor("c é", 1, 0, &[SLAB_STEP / 4]),
            tensor("scalar", 1, SLAB_STEP, &[0]),
        ],
        metadata: BTreeMap::from([("format".to_owned(), "pt".to_owned())]),
        source: "model.safetensors".to_owned(),
    }
}

type Change = fn(&mut Manifest);

fn refused(change: impl FnOnce(&mut Manifest)) -> String {
    let mut manifest = small();
    change(&mut manifest);
    let view = match ManifestView::open(manifest.encode()) {
        Ok(view) => view,
        Err(error) => return error.to_string(),
    };
    view.to_manifest().unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read() {
    let mut manifest = small();
    let view = ManifestView::open(manifest.encode()).unwrap();
    assert_eq!(view.to_manifest().unwrap(), manifest);
    assert_eq!((view.len(), view.arena_bytes()), (4, 2 * SLAB_STEP));
    assert_eq!(view.find("b").unwrap().unwrap(), manifest.tensors[1]);
    assert!(view.find("").unwrap().is_none());
    assert!(view.find("zz").unwrap().is_none());
    assert!(matches!(view.get(4), Err(ManifestError::NoSuchIndex { index: 4, len: 4 })));
    assert_eq!(view.layout_hash().unwrap(), manifest.layout_hash());
    assert_eq!(view.content_hash().unwrap(), manifest.content_hash());
    let written = manifest.encode();
    manifest.tensors.reverse();
    assert_eq!(manifest.encode(), written, "the order in memory does not matter");
    let empty = ManifestView::open(Manifest::default().encode()).unwrap();
    assert_eq!((empty.len(), empty.arena_bytes()), (0, 0));
    assert!(empty.find("a").unwrap().is_none());
}

#[test]
fn hashes_see_what_they_are_over() {
    let manifest = small();
    let changed = |change: Change| {
        let mut other = small();
        change(&mut other);
        let layout = other.layout_hash() != manifest.layout_hash();
        (layout, other.content_hash() != manifest.content_hash())
    };
    assert_eq!(changed(|m| m.tensors[0].hash = ContentHash::of(b"other")), (false, true));
    assert_eq!(changed(|m| m.tensors[1].offset = 512), (true, false));
    assert_eq!(changed(|m| m.tensors[3].slab = 0), (true, false));
    assert_eq!(changed(|m| m.slabs[1].bytes *= 2), (true, false));
    assert_eq!(changed(|m| m.tensors[0].name = "aa".to_owned()), (true, true));
    assert_eq!(changed(|m| m.tensors[0].dtype = Dtype::I32), (true, true));
    assert_eq!(changed(|m| m.tensors[0].shape = Shape::new([3, 2]).unwrap()), (true, true));
    assert_eq!(changed(|m| m.source.clear()), (false, false));
    let one = ContentHash::of(b"x");
    assert_eq!(slab_hash([one]), ContentHash::of(&one.0), "a slab is never its tensor");
}

#[test]
fn a_tensor_that_cannot_be_is_not_handed_out() {
    let cases: [(Change, &str); 9] = [
        (|m| m.tensors[0].bytes = 25, "'a.weight' of the manifest has more or fewer bytes"),
        (|m| m.tensors[0].offset = 8, "'a.weight' of the manifest does not begin at a multiple"),
        (
            |m| m.tensors[0].slab = 2,
            "'a.weight' of the manifest lies in a slab that does not exist",
        ),
        (|m| m.tensors[2].offset = 256, "'c é' of the manifest does not fit its slab"),
        (|m| m.tensors[0].offset = u64::MAX - 255, "'a.weight' of the manifest does not fit"),
        (|m| m.tensors[1].name = "a.weight".to_owned(), "is not in the order of names"),
        (|m| m.tensors[0].name = "x".repeat(256), "256 bytes in a name; at most 255"),
        (|m| m.slabs[1].arena_offset = 0, "slab 1 of the manifest does not begin where"),
        (|m| m.slabs[0].bytes = 4096, "slab 0 of the manifest is not a multiple of 2 MiB"),
    ];
    for (change, message) in cases {
        let said = refused(change);
        assert!(said.contains(message), "{said}");
    }
    let said = refused(|m| m.slabs = (0..1025).map(slab).collect());
    assert!(said.contains("1025 slabs; at most 1024"), "{said}");
    let said = refused(|m| m.metadata = [("k".into(), "v".repeat(17 << 20))].into());
    assert!(said.contains("bytes of metadata"), "{said}");
    let newer = fb::Manifest { format: 2, ..fb::Manifest::default() };
    let bytes = Builder::new().finish(newer, None).to_vec();
    assert!(matches!(ManifestView::open(bytes), Err(ManifestError::Format(2))));
    let unknown = fb::Manifest {
        format: FORMAT,
        tensors: Some(vec![fb::Tensor { dtype: 99, ..fb::Tensor::default() }]),
        ..fb::Manifest::default()
    };
    let view = ManifestView::open(Builder::new().finish(unknown, None).to_vec()).unwrap();
    assert!(view.get(0).unwrap_err().to_string().contains("unknown dtype"));
}

#[test]
fn one_of_many_is_found() {
    let name = |index: u64| format!("layers.{index}.weight");
    let tensors = (0..20_000).map(|index| tensor(&name(index), 0, 256 * (index % 8000), &[8]));
    let manifest =
        Manifest { slabs: vec![slab(0)], tensors: tensors.collect(), ..Manifest::default() };
    let bytes = manifest.encode();
    assert!(bytes.len() < 20_000 * 200, "{} bytes", bytes.len());
    let view = ManifestView::open(&bytes[..]).unwrap();
    for index in (0..20_000).step_by(37) {
        assert_eq!(view.find(&name(index)).unwrap().unwrap().name, name(index));
    }
    assert!(view.find("layers.20000.weight").unwrap().is_none());
    assert_eq!(view.names().filter(Result::is_ok).count(), 20_000);
}

/// Uses everything a reader has; what comes back may be anything, but it comes back.
fn exercise(bytes: &[u8]) {
    let Ok(view) = ManifestView::open(bytes) else { return };
    let _ = (view.arena_bytes(), view.metadata(), view.source().map(str::len));
    for name in view.names().flatten() {
        let _ = view.find(name);
    }
    for tensor in view.tensors().flatten() {
        let end = tensor.offset + tensor.bytes;
        assert!(end <= view.slabs()[tensor.slab].bytes, "{tensor:?}");
        assert_eq!(tensor.shape.bytes(tensor.dtype).unwrap(), tensor.bytes);
    }
    let _ = view.to_manifest();
}

#[test]
fn a_manifest_that_was_cut_is_read_without_harm() {
    let bytes = small().encode();
    for end in 0..bytes.len() {
        exercise(&bytes[..end]);
        assert!(
            ManifestView::open(&bytes[..end]).and_then(|view| view.to_manifest()).is_err(),
            "nobody notices that {end} of {} bytes are there",
            bytes.len()
        );
    }
}

proptest! {
    #[test]
    fn a_manifest_that_was_changed_is_read_without_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..16),
    ) {
        let mut bytes = small().encode();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        exercise(&bytes);
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        exercise(&bytes);
    }

    #[test]
    fn names_in_any_order_end_the_search(
        names in prop::collection::vec("[a-c]{0,3}", 0..40),
        wanted in "[a-c]{0,3}",
    ) {
        let tensors = names.iter().map(|name| fb::Tensor {
            name: Some(name.clone()), ..fb::Tensor::default()
        });
        let manifest = fb::Manifest {
            format: FORMAT, tensors: Some(tensors.collect()), ..fb::Manifest::default()
        };
        let bytes = Builder::new().finish(manifest, None).to_vec();
        let view = ManifestView::open(bytes).unwrap();
        if let Some(index) = view.find_index(&wanted).unwrap() {
            prop_assert_eq!(&names[index], &wanted);
        }
    }
}
