//! What `benchmarks/c/create_get_free.c` does through the C library, here through the client itself: for a comparison in one run.

use std::hint::black_box;
use std::time::Instant;

use millpond::{Dtype, Error, GetOptions, Pond, TensorSpec};

/// Gets of something mapped that are timed together: one is shorter than a look at the clock.
const BATCH: u32 = 1000;

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn main() -> Result<(), Error> {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2000_u32);
    let pond = Pond::connect()?;
    let held = pond.create(TensorSpec::new("bench/held", Dtype::U8, [1 << 20]).zero(true))?;
    let (mut whole, mut again) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begun = Instant::now();
        let spec = TensorSpec::new("bench/x", Dtype::U8, [1 << 20]).zero(true);
        let made = pond.create(spec)?;
        let got = pond.get_with("bench/x", GetOptions::read_write())?;
        drop(got);
        drop(made);
        pond.delete("bench/x")?;
        whole.push(begun.elapsed().as_nanos());
    }
    drop(pond.get("bench/held")?);
    let kept = pond.get("bench/held")?;
    for _ in 0..rounds / 10 {
        let begun = Instant::now();
        for _ in 0..BATCH {
            drop(black_box(pond.get(black_box("bench/held"))?));
        }
        again.push(begun.elapsed().as_nanos() / u128::from(BATCH));
    }
    drop((kept, held));
    pond.delete("bench/held")?;
    println!("{{\"create_get_free_ns\": {whole:?}, \"get_again_ns\": {again:?}}}");
    pond.close()
}
