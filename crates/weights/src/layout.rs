//! Where each tensor goes: the arena of a version.
//!
//! It depends on names, dtypes and shapes only, never on files or on the order in which they came:
//! so two checkpoints of one architecture have equal layouts, and can share slabs.

use millpond_wire::manifest::{
    LayoutHasher, Manifest, ManifestSlab, ManifestTensor, SLAB_STEP, TENSOR_ALIGN,
};
use millpond_wire::{ContentHash, Dtype, Shape, ShapeError, caps};

use crate::hashes::Hashes;
use crate::shown;

/// How large a slab gets at most, unless one tensor is larger.
pub const DEFAULT_SLAB_BYTES: u64 = 2 << 30;

/// An arena: slabs, and tensors in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The slabs' sizes, in the order of the arena; each a multiple of [`SLAB_STEP`].
    pub slabs: Vec<u64>,
    /// Sorted by name, bytewise; so also by slab and offset.
    pub tensors: Vec<LaidTensor>,
}

/// A tensor with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaidTensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Shape,
    pub bytes: u64,
    pub slab: usize,
    /// Where in that slab; a multiple of [`TENSOR_ALIGN`].
    pub offset: u64,
    /// Which of the tensors that the layout was made from.
    pub source: usize,
}

/// Why there is no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Nothing to lay out.
    #[error("there is no tensor to load")]
    Empty,
    #[error("{0} tensors are too many for one version; at most {max}", max = caps::TENSORS_PER_VERSION)]
    TooManyTensors(usize),
    /// Two tensors with one name.
    #[error("tensor '{}' appears twice", shown(.0))]
    Duplicate(String),
    /// A tensor that has no whole number of bytes.
    #[error("tensor '{}': {error}", shown(.name))]
    Shape { name: String, error: ShapeError },
    /// More bytes than a number can say.
    #[error("the tensors together are larger than any memory")]
    TooLarge,
}

impl Layout {
    /// Lays out tensors in slabs of at most `slab_bytes`, where no tensor is larger by itself and
    /// no more than [`caps::PARTS`] slabs come of it; otherwise slabs are larger.
    ///
    /// # Errors
    /// [`LayoutError`] for no tensors, too many, one twice, or impossible sizes.
    pub fn new<'a>(
        tensors: impl IntoIterator<Item = (&'a str, Dtype, &'a Shape)>,
        slab_bytes: u64,
    ) -> Result<Self, LayoutError> {
        let mut laid = Vec::new();
        for (source, (name, dtype, shape)) in tensors.into_iter().enumerate() {
            let bytes = shape
                .bytes(dtype)
                .map_err(|error| LayoutError::Shape { name: name.to_owned(), error })?;
            let (name, shape) = (name.to_owned(), shape.clone());
            laid.push(LaidTensor { name, dtype, shape, bytes, slab: 0, offset: 0, source });
        }
        if laid.is_empty() {
            return Err(LayoutError::Empty);
        }
        if laid.len() > caps::TENSORS_PER_VERSION {
            return Err(LayoutError::TooManyTensors(laid.len()));
        }
        laid.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        if let Some(pair) = laid.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(LayoutError::Duplicate(pair[0].name.clone()));
        }
        let mut most = (slab_bytes / SLAB_STEP).max(1) * SLAB_STEP;
        loop {
            let slabs = place(&mut laid, most).ok_or(LayoutError::TooLarge)?;
            if slabs.len() <= caps::PARTS {
                return Ok(Self { slabs, tensors: laid });
            }
            most = most.checked_mul(2).ok_or(LayoutError::TooLarge)?;
        }
    }

    /// The same tensors in slabs as another arena has them, if that is possible: so the two can
    /// share slabs. `like` says for each slab of the other one how large it is and how many tensors
    /// are in it.
    ///
    /// A slab with several tensors was within the bound that the other arena was made with, and the
    /// tensor after it did not fit: so the largest of them is a bound that gives the same slabs.
    #[must_use]
    pub fn in_slabs_like(&self, like: &[(u64, usize)], hash: ContentHash) -> Option<Self> {
        let several = like.iter().filter(|(_, tensors)| *tensors > 1).map(|(bytes, _)| *bytes);
        let described = self.tensors.iter();
        let described = described.map(|it| (it.name.as_str(), it.dtype, &it.shape));
        let mut layout = Self::new(described, several.max().unwrap_or(SLAB_STEP)).ok()?;
        for tensor in &mut layout.tensors {
            // Both are sorted by name: what was a place here is one among those of the files.
            tensor.source = self.tensors.get(tensor.source)?.source;
        }
        (layout.hash() == hash).then_some(layout)
    }

    /// The size of the arena.
    #[must_use]
    pub fn arena_bytes(&self) -> u64 {
        // Checked when it was made.
        self.slabs.iter().sum()
    }

    /// Where a slab begins in the arena.
    #[must_use]
    pub fn arena_offset(&self, slab: usize) -> u64 {
        self.slabs.iter().take(slab).sum()
    }

    /// The tensors of a slab.
    #[must_use]
    pub fn tensors_of(&self, slab: usize) -> &[LaidTensor] {
        let begin = self.tensors.partition_point(|tensor| tensor.slab < slab);
        let end = self.tensors.partition_point(|tensor| tensor.slab <= slab);
        self.tensors.get(begin..end).unwrap_or_default()
    }

    /// The same as of a manifest with this layout.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut hasher = LayoutHasher::new(self.slabs.iter().copied());
        for tensor in &self.tensors {
            hasher.tensor(&tensor.name, tensor.dtype, &tensor.shape, tensor.slab, tensor.offset);
        }
        hasher.finish()
    }

    /// The manifest of a version with this layout and these hashes, still without metadata and
    /// source.
    #[must_use]
    pub fn manifest(&self, hashes: &Hashes) -> Manifest {
        let mut arena_offset = 0;
        let slabs = self.slabs.iter().zip(&hashes.slabs).map(|(bytes, hash)| {
            let slab = ManifestSlab { arena_offset, bytes: *bytes, hash: *hash };
            arena_offset += bytes;
            slab
        });
        let tensors =
            self.tensors.iter().zip(&hashes.tensors).map(|(tensor, hash)| ManifestTensor {
                name: tensor.name.clone(),
                dtype: tensor.dtype,
                shape: tensor.shape.clone(),
                slab: tensor.slab,
                offset: tensor.offset,
                bytes: tensor.bytes,
                hash: *hash,
            });
        Manifest { slabs: slabs.collect(), tensors: tensors.collect(), ..Manifest::default() }
    }
}

/// Gives each tensor its place and returns the slabs' sizes; `None` where they overflow.
fn place(tensors: &mut [LaidTensor], most: u64) -> Option<Vec<u64>> {
    let mut slabs = Vec::new();
    let mut arena = 0u64;
    let mut used = 0u64;
    let mut close = |used: u64, slabs: &mut Vec<u64>| {
        // Even a slab of empty tensors is one: they need a slab to lie in.
        let bytes = used.max(1).checked_next_multiple_of(SLAB_STEP)?;
        arena = arena.checked_add(bytes)?;
        slabs.push(bytes);
        Some(())
    };
    for tensor in tensors {
        let offset = used.checked_next_multiple_of(TENSOR_ALIGN)?;
        let end = offset.checked_add(tensor.bytes)?;
        let (offset, end) = if end > most && used > 0 {
            close(used, &mut slabs)?;
            (0, tensor.bytes)
        } else {
            (offset, end)
        };
        (tensor.slab, tensor.offset) = (slabs.len(), offset);
        used = end;
    }
    close(used, &mut slabs)?;
    Some(slabs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lay(tensors: &[(String, Shape)], slab_bytes: u64) -> Result<Layout, LayoutError> {
        let described = tensors.iter().map(|(name, shape)| (name.as_str(), Dtype::U8, shape));
        Layout::new(described, slab_bytes)
    }

    fn sized(sizes: &[u64]) -> Vec<(String, Shape)> {
        let shape = |bytes: &u64| Shape::new_or_empty([*bytes]).unwrap();
        sizes.iter().enumerate().map(|(i, bytes)| (format!("t{i:05}"), shape(bytes))).collect()
    }

    #[test]
    fn slabs_are_cut_at_tensor_borders() {
        let step = SLAB_STEP;
        let layout = lay(&sized(&[100, step - 256, 1, 3 * step + 1, 0, 5]), step).unwrap();
        let places: Vec<(usize, u64)> =
            layout.tensors.iter().map(|tensor| (tensor.slab, tensor.offset)).collect();
        // The large one has a slab of its own, which even an empty one does not join.
        assert_eq!(places, [(0, 0), (0, 256), (1, 0), (2, 0), (3, 0), (3, 0)]);
        assert_eq!(layout.slabs, [step, step, 4 * step, step]);
        assert_eq!(layout.arena_offset(3), 6 * step);
        assert_eq!(layout.arena_bytes(), 7 * step);
        assert_eq!(layout.tensors_of(3).len(), 2);
        assert_eq!(layout.tensors_of(4).len(), 0);
        assert_eq!(lay(&sized(&[0]), step).unwrap().slabs, [step]);
    }

    #[test]
    fn what_cannot_be_laid_out() {
        assert_eq!(lay(&[], SLAB_STEP), Err(LayoutError::Empty));
        let twice = [sized(&[1]), sized(&[2])].concat();
        assert_eq!(lay(&twice, SLAB_STEP), Err(LayoutError::Duplicate("t00000".to_owned())));
        let huge: Vec<u64> = vec![1 << 50; 1 << 15];
        assert_eq!(lay(&sized(&huge), SLAB_STEP), Err(LayoutError::TooLarge));
        let odd = Shape::new([3]).unwrap();
        assert!(matches!(
            Layout::new([("w", Dtype::F4, &odd)], SLAB_STEP),
            Err(LayoutError::Shape { .. })
        ));
    }

    #[test]
    fn slabs_grow_where_there_would_be_too_many() {
        let layout = lay(&sized(&vec![SLAB_STEP; 3000]), SLAB_STEP).unwrap();
        assert_eq!(layout.slabs, vec![4 * SLAB_STEP; 750]);
    }

    fn sizes() -> impl Strategy<Value = Vec<u64>> {
        let size = prop_oneof![Just(0), 1..600u64, 0..3 * SLAB_STEP];
        prop::collection::vec(size, 1..60)
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_order_does_not_matter(
            sizes in sizes(),
            slab_bytes in 0..4 * SLAB_STEP,
            seed in any::<u64>(),
        ) {
            let tensors = sized(&sizes);
            let layout = lay(&tensors, slab_bytes).unwrap();
            let mut end = (0, 0);
            for tensor in &layout.tensors {
                prop_assert!(tensor.offset.is_multiple_of(TENSOR_ALIGN));
                prop_assert!((tensor.slab, tensor.offset) >= end);
                end = (tensor.slab, tensor.offset + tensor.bytes);
                prop_assert!(end.1 <= layout.slabs[tensor.slab]);
                prop_assert_eq!(&tensors[tensor.source].0, &tensor.name);
            }
            prop_assert_eq!(end.0 + 1, layout.slabs.len());
            let largest = sizes.iter().max().unwrap().next_multiple_of(SLAB_STEP);
            for slab in &layout.slabs {
                prop_assert!(*slab > 0 && slab.is_multiple_of(SLAB_STEP));
                prop_assert!(*slab <= slab_bytes.max(SLAB_STEP).max(largest));
            }
            let mut shuffled = tensors;
            shuffled.sort_by_key(|(name, _)| ContentHash::of(format!("{seed}{name}").as_bytes()));
            let other = lay(&shuffled, slab_bytes).unwrap();
            prop_assert_eq!(other.hash(), layout.hash());
            prop_assert_eq!(other.slabs, layout.slabs);
        }
    }

    #[test]
    fn the_slabs_of_another_arena_are_found_again_whatever_their_bound_was() {
        let shape = |n: u64| Shape::new([n << 20]).unwrap();
        let shapes: Vec<(String, Shape)> = [1, 1, 3, 5, 1, 1, 1, 9, 2, 2]
            .iter()
            .enumerate()
            .map(|(i, n)| (format!("t{i}"), shape(*n)))
            .collect();
        let described = || shapes.iter().map(|(name, shape)| (name.as_str(), Dtype::U8, shape));
        let own = Layout::new(described(), DEFAULT_SLAB_BYTES).unwrap();
        for most in [1 << 20, 2 << 20, 4 << 20, 5 << 20, 8 << 20, 64 << 20] {
            let other = Layout::new(described(), most).unwrap();
            let like: Vec<(u64, usize)> = other
                .slabs
                .iter()
                .enumerate()
                .map(|(slab, bytes)| (*bytes, other.tensors_of(slab).len()))
                .collect();
            assert_eq!(own.in_slabs_like(&like, other.hash()), Some(other), "{most}");
        }
        let like = [(own.slabs[0], own.tensors.len())];
        assert_eq!(own.in_slabs_like(&like, ContentHash::of(b"another")), None);
    }
}
