//! How a tensor lies in an elastic cache: which dimensions are segments, which one grows.

use millpond::{Dtype, Geometry};

/// A shape, divided as a cache is. The dimensions before the one that grows are the segments, those
/// after it are one block.
#[derive(Clone, Debug)]
pub(crate) struct CacheShape {
    pub(crate) dtype: Dtype,
    pub(crate) extents: Vec<u64>,
    grows: usize,
    pub(crate) segments: u64,
    pub(crate) blocks: u64,
    pub(crate) block_bytes: u64,
}

impl CacheShape {
    /// Divides a shape. `grows` counts from the end where it is negative, as an axis of numpy does.
    ///
    /// # Errors
    /// What is wrong with the shape, and the way out.
    pub(crate) fn new(
        dtype: Dtype,
        extents: Vec<u64>,
        grows: i64,
    ) -> Result<Self, (String, &'static str)> {
        let dimensions = extents.len();
        let axis = match grows {
            0.. => usize::try_from(grows).ok(),
            _ => usize::try_from(grows.unsigned_abs())
                .ok()
                .and_then(|back| dimensions.checked_sub(back)),
        };
        let Some(grows) = axis.filter(|axis| *axis < dimensions) else {
            let message = format!("grow_along={grows} is no dimension of a shape of {dimensions}");
            return Err((message, "dimensions are counted from 0, or from -1 backwards"));
        };
        if let Some(place) = extents.iter().position(|extent| *extent == 0) {
            let message = format!("dimension {place} of the shape is 0");
            return Err((
                message,
                "name the most that there can ever be: addresses cost no memory",
            ));
        }
        if !dtype.bits().is_multiple_of(8) {
            let message = format!("a cache cannot hold packed {dtype}");
            return Err((
                message,
                "reserve it as dtype=\"uint8\", with the bytes as last dimension",
            ));
        }
        let product = |part: &[u64]| {
            part.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))
        };
        let sizes = product(&extents[grows + 1..])
            .and_then(|elements| elements.checked_mul(dtype.bits() / 8))
            .zip(product(&extents[..grows]));
        let Some((block_bytes, segments)) = sizes else {
            return Err(("the shape is larger than any address".to_owned(), "reserve less"));
        };
        let blocks = extents[grows];
        Ok(Self { dtype, extents, grows, segments, blocks, block_bytes })
    }

    /// What the elements take, without what lies between the segments.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.saturating_mul(self.blocks).saturating_mul(self.block_bytes)
    }

    /// Elements from one index to the next, in each dimension. Segments begin on a granule, so the
    /// dimensions before the one that grows have gaps between them.
    pub(crate) fn strides(&self, geometry: &Geometry) -> Vec<u64> {
        let element_bytes = (self.dtype.bits() / 8).max(1);
        let mut strides = vec![1; self.extents.len()];
        for place in (1..self.extents.len()).rev() {
            strides[place - 1] = match place == self.grows {
                true => geometry.segment_bytes() / element_bytes,
                false => strides[place].saturating_mul(self.extents[place]),
            };
        }
        strides
    }
}
