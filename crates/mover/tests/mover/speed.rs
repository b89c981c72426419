//! What hashing costs. To be run by hand, in a release build, on an idle machine:
//! `cargo test --release -p millpond-mover --test mover speed -- --ignored --nocapture`

use std::time::{Duration, Instant};

use millpond_mover::channel::{FromMover, PiecesKind};
use millpond_wire::{GpuUuid, Piece, Run, caps};

use crate::world::{MIB, Mover, in_own_world, pattern, pieces, put, start};

const BYTES: u64 = 256 * MIB;
const ROUNDS: usize = 9;

#[test]
#[ignore = "it measures, and says nothing about right and wrong"]
fn loads_beside_puts() {
    in_own_world(|world| {
        let mut mover = Mover::spawn(&[]);
        mover.say(&start(GpuUuid(world.device.uuid().0), 0, 0), None);
        assert!(matches!(mover.hear(), FromMover::Ready { .. }));
        let slab = world.slab(BYTES);
        mover.map(&slab);
        let source = world.file("source", &pattern(BYTES, 1));
        let runs = [Run { file_offset: 0, bytes: BYTES }];
        let cut = |bytes: u64| -> Vec<Piece> {
            (0..BYTES / bytes).map(|index| Piece { offset: index * bytes, bytes }).collect()
        };
        let (large, small) = (cut(caps::PIECE_BYTES), cut(MIB / 4));
        let load = PiecesKind::Load;
        let mut best = [Duration::MAX; 4];
        // In turns, so that whatever else the machine does hits all of them.
        for _ in 0..ROUNDS {
            for (which, best) in best.iter_mut().enumerate() {
                let work = match which {
                    0 => put(&slab, 0, BYTES, 0),
                    1 => pieces(load, &slab, &large, &runs),
                    2 => pieces(load, &slab, &small, &runs),
                    _ => pieces(PiecesKind::HashFile, &slab, &large, &runs),
                };
                let begin = Instant::now();
                mover.hashes(work, Some(&source));
                *best = begin.elapsed().min(*best);
            }
        }
        let names = ["put", "load, 4 MiB pieces", "load, 256 KiB pieces", "hash of the file"];
        for (name, best) in names.iter().zip(best) {
            let speed = BYTES as f64 / best.as_secs_f64() / 1e9;
            println!("{name:22} {speed:6.2} GB/s");
        }
    });
}
