//! Hashes over a whole version. Each text is preceded by its length, each number has eight bytes,
//! so that no two versions write the same bytes.

use twox_hash::XxHash3_128;

use crate::{ContentHash, Dtype, Shape};

/// Hashes what an arena looks like: slab sizes, and name, dtype, shape and place of each tensor.
pub struct LayoutHasher(XxHash3_128);

impl LayoutHasher {
    /// Begins with the sizes of all slabs.
    pub fn new(slab_bytes: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut hasher = XxHash3_128::new();
        number(&mut hasher, slab_bytes.len() as u64);
        slab_bytes.for_each(|bytes| number(&mut hasher, bytes));
        Self(hasher)
    }

    /// The next tensor, in the order of names.
    pub fn tensor(&mut self, name: &str, dtype: Dtype, shape: &Shape, slab: usize, offset: u64) {
        describe(&mut self.0, name, dtype, shape);
        number(&mut self.0, slab as u64);
        number(&mut self.0, offset);
    }

    #[must_use]
    pub fn finish(self) -> ContentHash {
        ContentHash(self.0.finish_128().to_be_bytes())
    }
}

/// Hashes what the tensors of a version are: name, dtype, shape and bytes of each.
#[derive(Default)]
pub struct ContentHasher(XxHash3_128);

impl ContentHasher {
    /// The next tensor, in the order of names.
    pub fn tensor(&mut self, name: &str, dtype: Dtype, shape: &Shape, hash: ContentHash) {
        describe(&mut self.0, name, dtype, shape);
        self.0.write(&hash.0);
    }

    #[must_use]
    pub fn finish(self) -> ContentHash {
        ContentHash(self.0.finish_128().to_be_bytes())
    }
}

/// The hash of a slab from its tensors' hashes, in the order of names.
#[must_use]
pub fn slab_hash(tensors: impl IntoIterator<Item = ContentHash>) -> ContentHash {
    let mut hasher = XxHash3_128::new();
    tensors.into_iter().for_each(|hash| hasher.write(&hash.0));
    ContentHash(hasher.finish_128().to_be_bytes())
}

fn describe(hasher: &mut XxHash3_128, name: &str, dtype: Dtype, shape: &Shape) {
    number(hasher, name.len() as u64);
    hasher.write(name.as_bytes());
    number(hasher, dtype.code().into());
    number(hasher, shape.dims().len() as u64);
    shape.dims().iter().for_each(|dim| number(hasher, *dim));
}

fn number(hasher: &mut XxHash3_128, value: u64) {
    hasher.write(&value.to_le_bytes());
}
