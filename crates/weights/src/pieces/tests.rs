use std::io::Write;
use std::os::unix::fs::FileExt;

use millpond_wire::{ContentHash, Dtype, Shape};
use proptest::prelude::*;

use super::*;
use crate::{Plan, SourceTensor, TensorHashes};

fn source(name: &str, dims: &[u64], file: usize, file_offset: u64) -> SourceTensor {
    let shape = Shape::new_or_empty(dims).unwrap();
    let bytes = shape.bytes(Dtype::U8).unwrap();
    SourceTensor { name: name.to_owned(), dtype: Dtype::U8, shape, file, file_offset, bytes }
}

fn lay(planned: &[PlannedTensor], slab_bytes: u64) -> Layout {
    let described =
        planned.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape));
    Layout::new(described, slab_bytes).unwrap()
}

fn check(batch: &PieceBatch, most_bytes: u64) {
    let bytes: u64 = batch.pieces.iter().map(|(piece, ..)| piece.bytes).sum();
    assert_eq!(bytes, batch.bytes);
    assert_eq!(batch.runs.iter().map(|run| run.bytes).sum::<u64>(), bytes);
    assert!(batch.pieces.iter().all(|(piece, ..)| piece.bytes <= caps::PIECE_BYTES));
    if batch.pieces.len() > 1 {
        assert!(batch.pieces.len() <= caps::PIECES_PER_MOVE);
        assert!(batch.runs.len() <= caps::RUNS_PER_MOVE);
        assert!(bytes <= most_bytes);
    }
    for pair in batch.runs.windows(2) {
        assert!(pair[0].file_offset + pair[0].bytes != pair[1].file_offset, "not merged");
    }
}

#[test]
fn a_file_is_read_from_its_start_to_its_end() {
    const MIB: u64 = 1 << 20;
    let sources = [
        source("b", &[10 * MIB], 0, 0),
        source("a", &[3], 0, 10 * MIB),
        source("empty", &[0], 0, 10 * MIB + 3),
        source("c", &[5], 1, 80),
    ];
    let planned = Plan::everything().apply_to(&sources).unwrap();
    let layout = lay(&planned, 64 * MIB);
    let all: Vec<PieceBatch> = batches(&planned, &layout, 256 * MIB).collect();
    let piece = |offset, bytes, tensor, index| (Piece { offset, bytes }, tensor, index);
    assert_eq!(all.len(), 2);
    assert_eq!(
        all[0].pieces,
        [
            piece(256, 4 * MIB, 1, 0),
            piece(256 + 4 * MIB, 4 * MIB, 1, 1),
            piece(256 + 8 * MIB, 2 * MIB, 1, 2),
            piece(0, 3, 0, 0),
        ]
    );
    assert_eq!(all[0].runs, [Run { file_offset: 0, bytes: 10 * MIB + 3 }]);
    assert_eq!((all[1].slab, all[1].file, all[1].bytes), (0, 1, 5));
    let small: Vec<u64> = batches(&planned, &layout, 1).map(|batch| batch.bytes).collect();
    assert_eq!(small, [4 * MIB, 4 * MIB, 2 * MIB, 3, 5]);
    let none = slab_batches(&planned, &layout, 1, MIB).count();
    assert_eq!((none, slab_batches(&planned, &layout, 0, 256 * MIB).count()), (0, 2));
}

#[test]
fn many_tensors_make_many_moves() {
    let sources: Vec<SourceTensor> =
        (0..3000).map(|i| source(&format!("t{i:04}"), &[8], 0, i * 16)).collect();
    let planned = Plan::everything().apply_to(&sources).unwrap();
    let layout = lay(&planned, 1 << 30);
    let counts: Vec<usize> =
        batches(&planned, &layout, 1 << 30).map(|batch| batch.pieces.len()).collect();
    assert_eq!(counts, [1024, 1024, 952]);
    let rows: Vec<SourceTensor> =
        (0..3).map(|i| source(&format!("t{i}"), &[1500, 4], 0, i * 6000)).collect();
    let plan = r#"{"world":2,"rules":[{"match":"*","split":"row"}]}"#;
    let planned = Plan::parse(plan).unwrap().apply_to(&rows).unwrap();
    let layout = lay(&planned, 1 << 30);
    let runs: Vec<usize> = batches(&planned, &layout, 1 << 30).map(|b| b.runs.len()).collect();
    assert_eq!(runs, [1500, 1500, 1500], "two would be more runs than a move may have");
}

#[test]
fn what_is_too_scattered_for_a_move_is_gathered() {
    let rows = 700_000u64;
    let mut file = tempfile::tempfile().unwrap();
    let data: Vec<u8> = (0..rows * 3 + 10).map(|i| u8::try_from(i % 251).unwrap()).collect();
    file.write_all(&data).unwrap();
    let plan = Plan::parse(r#"{"rules":[{"match":"w","slice":[null,[1,2]]}]}"#).unwrap();
    let sources = [source("v", &[10], 0, rows * 3), source("w", &[rows, 3], 0, 0)];
    let planned = plan.apply_to(&sources).unwrap();
    let layout = lay(&planned, 1 << 30);
    let all: Vec<PieceBatch> = batches(&planned, &layout, 1 << 30).collect();
    assert_eq!((all.len(), all[0].is_scattered(), all[1].is_scattered()), (2, true, false));
    let together = tempfile::tempfile().unwrap();
    let run = all[0].gather(&file, &together).unwrap();
    assert_eq!(run, Run { file_offset: 0, bytes: rows });
    let mut found = vec![0; usize::try_from(rows).unwrap()];
    together.read_exact_at(&mut found, 0).unwrap();
    let expected: Vec<u8> = data[1..].iter().copied().step_by(3).take(found.len()).collect();
    assert!(found == expected);
    file.set_len(rows).unwrap();
    assert!(all[0].gather(&file, &together).is_err(), "a file that was cut is an error");
}

proptest! {
    /// Does what the mover does, and looks whether each tensor is where it should be.
    #[test]
    fn moves_bring_every_byte_to_its_place(
        tensors in prop::collection::vec((0..40u64, 1..9u64, 0..3usize, any::<bool>()), 1..20),
        most_bytes in 1..2000u64,
        world in 1..3u64,
    ) {
        let mut files = vec![Vec::new(); 3];
        let mut sources = Vec::new();
        let mut counter = 0u64;
        for (index, (rows, columns, file, hole)) in tensors.into_iter().enumerate() {
            let data: &mut Vec<u8> = &mut files[file];
            if hole {
                data.extend([0; 5]);
            }
            let name = format!("{}", ContentHash::of(&index.to_le_bytes()));
            let columns = columns * world;
            sources.push(source(&name, &[rows, columns], file, data.len() as u64));
            data.extend((0..rows * columns).map(|_| {
                counter += 1;
                ContentHash::of(&counter.to_le_bytes()).0[0]
            }));
        }
        let plan = format!(r#"{{"rank":{},"world":{world},"rules":[{{"match":"*","split":"row"}}]}}"#, world - 1);
        let planned = Plan::parse(&plan).unwrap().apply_to(&sources).unwrap();
        let layout = lay(&planned, 1 << 20);
        let mut slabs: Vec<Vec<u8>> =
            layout.slabs.iter().map(|bytes| vec![0; usize::try_from(*bytes).unwrap()]).collect();
        let mut hashes = TensorHashes::new(&layout);
        let range = |offset: u64, bytes: u64| {
            usize::try_from(offset).unwrap()..usize::try_from(offset + bytes).unwrap()
        };
        for batch in batches(&planned, &layout, most_bytes) {
            check(&batch, most_bytes);
            let read: Vec<u8> = batch.runs.iter()
                .flat_map(|run| &files[batch.file][range(run.file_offset, run.bytes)])
                .copied().collect();
            let mut rest = &read[..];
            for (piece, tensor, index) in &batch.pieces {
                let (bytes, after) = rest.split_at(usize::try_from(piece.bytes).unwrap());
                slabs[batch.slab][range(piece.offset, piece.bytes)].copy_from_slice(bytes);
                prop_assert_eq!(hashes.tensor(*tensor), None, "a piece comes once");
                hashes.set(*tensor, *index, ContentHash::of(bytes));
                rest = after;
            }
        }
        let hashes = hashes.finish(&layout).unwrap();
        for (tensor, hash) in layout.tensors.iter().zip(&hashes.tensors) {
            let source = &sources[tensor.source];
            let data = &files[source.file][range(source.file_offset, source.bytes)];
            let columns = usize::try_from(source.shape.dims()[1]).unwrap();
            let half = columns / usize::try_from(world).unwrap();
            let expected: Vec<u8> =
                data.chunks(columns).flat_map(|row| &row[columns - half..]).copied().collect();
            let found = &slabs[tensor.slab][range(tensor.offset, tensor.bytes)];
            prop_assert_eq!(found, &expected[..]);
            prop_assert_eq!(*hash, ContentHash::of(&expected));
        }
    }
}
