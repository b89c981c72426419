//! Manifests, as a reader gets them from somebody else.

use millpond_wire::manifest::ManifestView;

use crate::memory;

/// What is handed out is inside its slab, and what is read as a whole comes back when written.
pub fn check(data: &[u8]) {
    let manifest = memory::within(data, 200, || {
        let view = match ManifestView::open(data) {
            Ok(view) => view,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return None;
            }
        };
        for name in view.names().flatten() {
            if let Ok(Some(found)) = view.find(name) {
                assert_eq!(found.name, name);
            }
        }
        for tensor in view.tensors().flatten() {
            assert!(tensor.offset + tensor.bytes <= view.slabs()[tensor.slab].bytes);
            assert_eq!(tensor.shape.bytes(tensor.dtype).expect("whole bytes"), tensor.bytes);
        }
        let _ = (view.find("w"), view.get(view.len()).is_err(), view.arena_bytes());
        let manifest = view.to_manifest().ok()?;
        assert_eq!(view.content_hash().expect("it was read"), manifest.content_hash());
        assert_eq!(view.layout_hash().expect("it was read"), manifest.layout_hash());
        Some(manifest)
    });
    if let Some(manifest) = manifest {
        let bytes = manifest.encode();
        let again = ManifestView::open(&bytes[..]).expect("what was written can be opened");
        assert_eq!(again.to_manifest().expect("what was written can be read"), manifest);
    }
}
