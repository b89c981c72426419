//! Files that are read past the page cache, on whatever disk the build is on.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use millpond_mover::channel::{PiecesKind, Why};
use millpond_wire::{Piece, Run};

use crate::world::{BLOCK, MIB, Mover, hashes_of, in_own_world, pattern, pieces, put};

/// A file with these bytes, opened past the page cache; `None` where there is no such thing.
fn direct(folder: &tempfile::TempDir, contents: &[u8]) -> Option<File> {
    let path = folder.path().join("direct");
    std::fs::write(&path, contents).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    let flags = rustix::fs::OFlags::DIRECT.bits().try_into().unwrap();
    match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
        Ok(file) => Some(file),
        Err(error) => {
            println!("SKIPPED: {} is not opened with O_DIRECT: {error}", path.display());
            None
        }
    }
}

/// On a disk: where this was built, or here if it was brought from elsewhere.
fn folder() -> tempfile::TempDir {
    let built = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    built.or_else(|_| tempfile::tempdir_in(".")).unwrap()
}

#[test]
fn pieces_at_any_place_are_read_past_the_page_cache() {
    in_own_world(|world| {
        let folder = folder();
        let contents = pattern(2 * MIB + 1234, 1);
        let Some(source) = direct(&folder, &contents) else { return };
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let size = contents.len() as u64;
        let run = |file_offset, bytes| Run { file_offset, bytes };
        let strided = (0..40).map(|row| run(row * 5000 + 77, 400)).collect();
        for (piece_bytes, runs) in [
            (BLOCK, vec![run(0, 10 * BLOCK)]),
            (BLOCK, vec![run(1, 10 * BLOCK)]),
            (BLOCK, vec![run(4095, 4 * BLOCK), run(4 * BLOCK + 4095, BLOCK)]),
            (1000, vec![run(size - 16_000, 16_000)]),
            (1, vec![run(size - 1, 1)]),
            (4000, strided),
            // The most slack that there can be, in a full buffer.
            (BLOCK, vec![run(4095, 2), run(4095, BLOCK - 2), run(99 * MIB + 1, 0)]),
            (BLOCK, vec![run(1, BLOCK - 4098), run(4095, 4098)]),
        ] {
            let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
            let all: Vec<Piece> = (0..bytes / piece_bytes)
                .map(|index| Piece { offset: index * (piece_bytes + 100), bytes: piece_bytes })
                .collect();
            let wanted = hashes_of(&contents, &all, &runs);
            slab.mapping.memset(0, 4 * MIB, 0).unwrap();
            for kind in [PiecesKind::HashFile, PiecesKind::Load] {
                let work = pieces(kind, &slab, &all, &runs);
                assert_eq!(mover.hashes(work, Some(&source)), wanted, "{kind:?} {runs:?}");
            }
            let hash = pieces(PiecesKind::Hash, &slab, &all, &[]);
            assert_eq!(mover.hashes(hash, None), wanted, "{runs:?}");
        }
        mover.done(put(&slab, 9, 5 * BLOCK + 3, 4097), Some(&source));
        assert!(
            slab.read(9, 5 * BLOCK + 3)
                == contents[4097..4100 + 5 * usize::try_from(BLOCK).unwrap()]
        );
    });
}

#[test]
fn the_end_of_a_file_that_is_read_past_the_page_cache_is_told() {
    in_own_world(|world| {
        let folder = folder();
        let contents = pattern(3 * BLOCK + 10, 1);
        let Some(source) = direct(&folder, &contents) else { return };
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let all: Vec<Piece> =
            (0..10).map(|index| Piece { offset: index * BLOCK, bytes: BLOCK }).collect();
        let bytes = 10 * BLOCK;
        let run = |file_offset, bytes| Run { file_offset, bytes };
        for (runs, ended) in [
            (vec![run(0, bytes)], 3 * BLOCK + 10),
            (vec![run(11, bytes)], 3 * BLOCK - 1),
            (vec![run(3 * BLOCK + 9, bytes)], 1),
            (vec![run(3 * BLOCK + 10, bytes)], 0),
            (vec![run(3 * BLOCK + 11, bytes)], 0),
            (vec![run(99 * BLOCK, bytes)], 0),
            (
                vec![run(0, 2 * BLOCK), run(8, 100), run(3 * BLOCK, bytes - 2 * BLOCK - 100)],
                2 * BLOCK + 110,
            ),
        ] {
            for kind in [PiecesKind::HashFile, PiecesKind::Load] {
                let (why, text) = mover.fails(pieces(kind, &slab, &all, &runs), Some(&source));
                assert_eq!(why, Why::File);
                assert_eq!(text, format!("the file ended at {ended} of {bytes} bytes"));
            }
        }
    });
}
