//! Headers of safetensors files, and what a loader makes of them.

use millpond_weights::header::Header;
use millpond_weights::writer::{self, Written};
use millpond_weights::{Layout, Plan, SourceTensor, TensorHashes, pieces};
use millpond_wire::ContentHash;
use safetensors::SafeTensors;

use crate::memory;

/// Tensors that say more than that are checked, but not laid out: their pieces alone fill memory.
const MOST_BYTES: u64 = 1 << 30;

/// What is read can be written, and then everybody reads the same; all of it finds its place.
pub fn check(data: &[u8]) {
    let header = match memory::within(data, 48, || Header::parse(data)) {
        Ok(header) => header,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let written: Vec<Written<'_>> = header
        .tensors
        .iter()
        .map(|tensor| Written { name: &tensor.name, dtype: tensor.dtype, shape: &tensor.shape })
        .collect();
    let (bytes, offsets) = writer::header(&written, &header.metadata).expect("it was read");
    let again = Header::parse(&bytes[8..]).expect("what was written can be read");
    assert_eq!((&again.metadata, again.data_bytes), (&header.metadata, header.data_bytes));
    assert_eq!(again.tensors.len(), header.tensors.len());
    if header.data_bytes <= 1 << 16 {
        let mut file = bytes.clone();
        file.resize(file.len() + usize::try_from(header.data_bytes).expect("a few"), 0);
        let read = SafeTensors::deserialize(&file).expect("the reference reader takes it");
        assert_eq!(read.len(), header.tensors.len());
    }
    if header.data_bytes <= MOST_BYTES && !header.tensors.is_empty() {
        load(&header, &offsets);
    }
}

fn load(header: &Header, offsets: &[u64]) {
    let tensors = header.tensors.iter().zip(offsets).map(|(tensor, offset)| SourceTensor {
        name: tensor.name.clone(),
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        file: 0,
        file_offset: *offset,
        bytes: tensor.bytes,
    });
    let tensors: Vec<SourceTensor> = tensors.collect();
    let planned = Plan::everything().apply_to(&tensors).expect("everything is a plan");
    let described =
        planned.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape));
    let layout = Layout::new(described, 2 << 20).expect("it fits an arena");
    let mut hashes = TensorHashes::new(&layout);
    let mut moved = 0;
    for batch in pieces::batches(&planned, &layout, pieces::DEFAULT_BATCH_BYTES) {
        assert!(!batch.is_scattered(), "whole tensors lie together");
        moved += batch.bytes;
        for (piece, tensor, index) in batch.pieces {
            assert!(piece.offset + piece.bytes <= layout.slabs[batch.slab]);
            hashes.set(tensor, index, ContentHash::of(&piece.offset.to_le_bytes()));
        }
    }
    assert_eq!(moved, header.data_bytes);
    let hashes = hashes.finish(&layout).expect("every piece was moved");
    assert_eq!(layout.manifest(&hashes).content_hash(), hashes.content);
}
