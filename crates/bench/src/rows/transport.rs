//! Memory with legacy handles and of memory pools: opened, got again, and made.

use std::time::{Duration, Instant};

use millpond::{Dtype, TensorSpec, TransportKind};
use millpond_console::error::CommandError;
use millpond_trial::protocol::Order;

use super::Rows;
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::{self, Samples};
use crate::socket::Floor;

pub const NAMES: &[&str] =
    &["transport/ipc-open", "transport/ipc-again", "transport/ipc-create", "transport/pool-open"];

const IPC: &str = "millpond-bench/transport/ipc";
const POOL: &str = "millpond-bench/transport/pool";
const BYTES: u64 = 2 << 20;
/// Gets between two looks at the clock, which takes about as long as one of them.
pub const BATCH: u32 = 100;

fn spec(name: &str, transport: TransportKind) -> TensorSpec {
    TensorSpec::new(name, Dtype::U8, [BYTES]).zero(true).transport(transport)
}

/// Opened by a worker with a context, and made by a host that runs.
pub fn run(bench: &mut Bench) -> Rows {
    let rounds = bench.ground.count(500, 50);
    let gets = bench.ground.count(20_000, 500);
    let creates = bench.ground.count(200, 20);
    let (soft, device) = (bench.ground.card.soft, bench.ground.card.device.clone());
    let ipc = bench.pond.reserve(spec(IPC, TransportKind::Ipc))?;
    let pool = bench.pond.reserve(spec(POOL, TransportKind::Mempool))?;
    let handle = bench.pond.handle(IPC)?;
    let attach = |name: &str, beside: Option<&str>, rounds| {
        let beside = beside.map(str::to_owned);
        Order::from(Measure::Attach { names: vec![name.to_owned()], beside, rounds })
    };
    let floor = Floor::start()?;
    let socket = Samples::new(samples::measure(gets, || floor.round_trip())?);
    let raw = Measure::OpenRaw { device: device.clone(), handle: handle.memory().to_vec(), rounds };
    let raw_open = Samples::new(bench.worker.times(&Order::from(raw))?);
    let open = Samples::new(bench.worker.times(&attach(IPC, None, rounds))?);
    let again = Measure::GetAgain { name: IPC.to_owned(), rounds: gets / BATCH };
    let again = Samples::new(bench.worker.times(&Order::from(again))?);
    let pool_open = Samples::new(bench.worker.times(&attach(POOL, None, rounds))?);
    let alloc = Measure::AllocRaw { device, bytes: BYTES, rounds: creates };
    let raw_alloc = Samples::new(bench.worker.times(&Order::from(alloc))?);
    let create = Samples::new(create(bench, creates)?);
    drop(handle);
    for made in [ipc, pool] {
        bench.pond.delete(made.tensor)?;
    }
    let goal = || Goal { ratio: Some(1.2), ..Goal::default() };
    let at_once = Goal { value: Some(0.2), ..Goal::default() };
    Ok(vec![
        RowJson::times(
            NAMES[0],
            "first get of a legacy handle: a message, and it is opened",
            &open,
        )
        .beside("bare round trip and bare open", &raw_open)
        .goal(goal(), soft),
        RowJson::times(NAMES[1], "get again of what is opened", &again)
            .beside("bare round trip", &socket)
            .goal(at_once, soft),
        RowJson::times(NAMES[2], "create of 2 MiB in a host that runs", &create)
            .beside("bare round trip and bare cuMemAlloc", &raw_alloc)
            .goal(goal(), soft),
        RowJson::times(
            NAMES[3],
            "first get of a memory pool: a message, and it is imported",
            &pool_open,
        )
        .beside("bare round trip", &socket),
    ])
}

/// None is deleted in between: a host that has freed something makes no more.
fn create(bench: &Bench, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let (mut taken, mut made) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let spec = TensorSpec::unnamed(Dtype::U8, [BYTES]).transport(TransportKind::Ipc);
        let start = Instant::now();
        let tensor = bench.pond.reserve(spec)?;
        taken.push(start.elapsed());
        made.push(tensor.tensor);
    }
    for tensor in made {
        bench.pond.delete(tensor)?;
    }
    Ok(taken)
}
