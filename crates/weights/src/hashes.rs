//! Hashes of pieces, as they come in, and of everything that is made of them.

use millpond_wire::manifest::{ContentHasher, slab_hash};
use millpond_wire::{ContentHash, caps};

use crate::layout::Layout;
use crate::shown;

/// Collects the pieces' hashes of a version, in any order.
#[derive(Clone, Debug)]
pub struct TensorHashes {
    pieces: Vec<Option<ContentHash>>,
    /// Where each tensor's pieces begin; one more than there are tensors.
    begins: Vec<usize>,
}

/// All hashes of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of each tensor, in the order of the layout.
    pub tensors: Vec<ContentHash>,
    pub slabs: Vec<ContentHash>,
    pub content: ContentHash,
}

/// A piece has no hash yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tensor '{}' is not loaded completely: piece {piece} has no hash", shown(.tensor))]
pub struct MissingHash {
    pub tensor: String,
    /// The first such piece.
    pub piece: usize,
}

/// How many pieces so many bytes have.
#[must_use]
pub fn piece_count(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(caps::PIECE_BYTES)).unwrap_or(usize::MAX)
}

impl TensorHashes {
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let mut begins = vec![0];
        let mut end = 0;
        for tensor in &layout.tensors {
            end += piece_count(tensor.bytes);
            begins.push(end);
        }
        Self { pieces: vec![None; end], begins }
    }

    /// Takes the hash of a piece. One that is no piece of the layout is left out.
    pub fn set(&mut self, tensor: usize, piece: usize, hash: ContentHash) {
        let range = self.range(tensor);
        if let Some(place) = self.pieces[range].get_mut(piece) {
            *place = Some(hash);
        }
    }

    /// Takes all hashes of a tensor as unknown again.
    pub fn forget(&mut self, tensor: usize) {
        let range = self.range(tensor);
        self.pieces[range].fill(None);
    }

    /// The hash of a tensor, once all its pieces have theirs. A tensor without bytes has its own.
    #[must_use]
    pub fn tensor(&self, tensor: usize) -> Option<ContentHash> {
        if tensor.saturating_add(1) >= self.begins.len() {
            return None;
        }
        let pieces: Option<Vec<_>> = self.pieces[self.range(tensor)].iter().copied().collect();
        pieces.map(|pieces| ContentHash::of_parts(&pieces))
    }

    /// All hashes, once every piece has its own.
    ///
    /// # Errors
    /// [`MissingHash`] that names the first piece without.
    pub fn finish(&self, layout: &Layout) -> Result<Hashes, MissingHash> {
        let mut tensors = Vec::with_capacity(layout.tensors.len());
        let mut content = ContentHasher::default();
        for (index, tensor) in layout.tensors.iter().enumerate() {
            let hash = self.tensor(index).ok_or_else(|| {
                let pieces = &self.pieces[self.range(index)];
                let piece = pieces.iter().position(Option::is_none).unwrap_or_default();
                MissingHash { tensor: tensor.name.clone(), piece }
            })?;
            content.tensor(&tensor.name, tensor.dtype, &tensor.shape, hash);
            tensors.push(hash);
        }
        let mut rest = tensors.iter().copied();
        let slabs = (0..layout.slabs.len())
            .map(|slab| slab_hash(rest.by_ref().take(layout.tensors_of(slab).len())))
            .collect();
        Ok(Hashes { tensors, slabs, content: content.finish() })
    }

    fn range(&self, tensor: usize) -> std::ops::Range<usize> {
        match self.begins.get(tensor..tensor.saturating_add(2)) {
            Some(&[begin, end]) => begin..end,
            _ => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Dtype, Shape};

    use super::*;

    #[test]
    fn pieces_become_tensors_slabs_and_a_version() {
        let piece = caps::PIECE_BYTES;
        let shapes = [2 * piece + 1, 0, 7].map(|bytes| Shape::new_or_empty([bytes]).unwrap());
        let described = ["a", "b", "c"].into_iter().zip(&shapes);
        let layout =
            Layout::new(described.map(|(name, shape)| (name, Dtype::U8, shape)), 1 << 20).unwrap();
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        let mut hashes = TensorHashes::new(&layout);
        let missing = MissingHash { tensor: "a".to_owned(), piece: 0 };
        assert_eq!(hashes.finish(&layout), Err(missing));
        hashes.set(2, 0, hash("c0"));
        hashes.set(0, 2, hash("a2"));
        hashes.set(0, 0, hash("a0"));
        hashes.set(1, 0, hash("no piece"));
        hashes.set(9, 0, hash("no tensor"));
        assert_eq!((hashes.tensor(0), hashes.tensor(3)), (None, None));
        assert_eq!(hashes.finish(&layout).unwrap_err().piece, 1);
        hashes.set(0, 1, hash("a1"));
        let all = hashes.finish(&layout).unwrap();
        let a = ContentHash::of_parts(&[hash("a0"), hash("a1"), hash("a2")]);
        assert_eq!(all.tensors, [a, hash(""), hash("c0")]);
        assert_eq!(all.slabs, [slab_hash([a]), slab_hash([hash(""), hash("c0")])]);
        let manifest = layout.manifest(&all);
        assert_eq!(manifest.content_hash(), all.content);
        assert_eq!(manifest.layout_hash(), layout.hash());
        let view = millpond_wire::manifest::ManifestView::open(manifest.encode()).unwrap();
        assert_eq!(view.to_manifest().unwrap(), manifest);
        hashes.forget(0);
        assert_eq!(hashes.tensor(0), None);
    }
}
