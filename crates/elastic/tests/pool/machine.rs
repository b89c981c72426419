//! Any sequence of requests, work, captures and failures: nothing is in use twice, nothing is used again
//! before its work is done, and all of it comes back.

use crate::model::{Card, GRANULE, Stream};
use millpond_elastic::{Block, GraphMemory, PoolError, PoolMutation, StreamPool};
use proptest::prelude::*;

type Pool = StreamPool<Card>;

#[derive(Clone, Debug)]
pub enum Step {
    Alloc { stream: usize, bytes: u64 },
    Free { block: usize },
    FreeOn { block: usize, stream: usize },
    Work { block: usize },
    Share { block: usize, stream: usize },
    Run { stream: usize, items: u8 },
    NewStream { place: usize },
    Trim { granules: u64, wait: bool },
    Capture { stream: usize },
    EndCapture { stream: usize },
    Launch { graph: usize, stream: usize },
    DropGraph { graph: usize },
    Limit { granules: u64 },
    Fail { after: u32 },
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1_u64..8 << 10,
        3 => 100_u64 << 10..1 << 20,
        4 => 1_u64 << 20..12 << 20,
        1 => 12_u64 << 20..60 << 20,
    ]
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0..4_usize, sizes()).prop_map(|(stream, bytes)| Step::Alloc { stream, bytes }),
        8 => any::<usize>().prop_map(|block| Step::Free { block }),
        1 => (any::<usize>(), 0..4_usize).prop_map(|(block, stream)| Step::FreeOn { block, stream }),
        8 => any::<usize>().prop_map(|block| Step::Work { block }),
        2 => (any::<usize>(), 0..4_usize).prop_map(|(block, stream)| Step::Share { block, stream }),
        6 => (0..4_usize, any::<u8>()).prop_map(|(stream, items)| Step::Run { stream, items: items % 8 }),
        1 => (0..4_usize).prop_map(|place| Step::NewStream { place }),
        1 => (0..40_u64, any::<bool>()).prop_map(|(granules, wait)| Step::Trim { granules, wait }),
        1 => (0..4_usize).prop_map(|stream| Step::Capture { stream }),
        2 => (0..4_usize).prop_map(|stream| Step::EndCapture { stream }),
        2 => (any::<usize>(), 0..4_usize).prop_map(|(graph, stream)| Step::Launch { graph, stream }),
        1 => any::<usize>().prop_map(|graph| Step::DropGraph { graph }),
        1 => (8..60_u64).prop_map(|granules| Step::Limit { granules }),
        1 => (0..6_u32).prop_map(|after| Step::Fail { after }),
    ];
    prop::collection::vec(step, 1..250)
}

struct Graph {
    id: u64,
    /// Blocks that work of the graph uses; they are kept while it may run.
    blocks: Vec<Block<Card>>,
    memory: GraphMemory<Card>,
    /// Where it was captured.
    own: Stream,
    /// Where it was launched.
    streams: Vec<Stream>,
    is_open: bool,
}

impl Graph {
    /// Gives the graph up. Blocks from outside of the capture are freed as any that other streams use.
    fn give_up(mut self, card: &Card) {
        card.drop_graph(self.id);
        for block in &mut self.blocks {
            self.streams.iter().for_each(|stream| block.record_stream(stream));
        }
        drop(self.memory);
    }
}

struct Machine {
    card: Card,
    pool: Pool,
    streams: Vec<Stream>,
    blocks: Vec<Block<Card>>,
    graphs: Vec<Graph>,
    captures: Vec<Option<usize>>,
}

impl Machine {
    fn new(lasting: bool, mutation: Option<PoolMutation>) -> Self {
        let mut card = Card::new(400, 40);
        card.lasting = lasting;
        let pool = Pool::new(card.clone());
        pool.break_rule(mutation);
        let streams: Vec<_> = (0..4).map(|_| card.stream()).collect();
        let captures = vec![None; 4];
        Self { card, pool, streams, blocks: Vec::new(), graphs: Vec::new(), captures }
    }

    fn is_capturing(&self) -> bool {
        self.captures.iter().any(Option::is_some)
    }

    fn stream_of(&self, block: &Block<Card>) -> Option<usize> {
        self.streams.iter().position(|stream| stream == block.stream())
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Alloc { stream, bytes } => {
                let asked = self.streams[stream].clone();
                match self.pool.alloc(bytes, &asked) {
                    Ok(block) => {
                        assert!(block.bytes() >= bytes && block.offset().is_multiple_of(512));
                        self.blocks.push(block);
                    }
                    Err(PoolError::OutOfMemory { .. } | PoolError::Driver(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Step::Free { block } if !self.blocks.is_empty() => {
                let block = self.blocks.swap_remove(block % self.blocks.len());
                drop(block);
            }
            Step::FreeOn { block, stream } if !self.blocks.is_empty() => {
                let index = block % self.blocks.len();
                if self.captures[stream].is_none() && self.is_free(index) {
                    let block = self.blocks.swap_remove(index);
                    self.card.order(block.stream(), &self.streams[stream]);
                    block.free_on(&self.streams[stream]);
                }
            }
            Step::Work { block } if !self.blocks.is_empty() => {
                let block = &self.blocks[block % self.blocks.len()];
                let offsets = block.offset()..block.offset() + block.bytes();
                self.card.work(block.stream(), offsets, block.serial());
            }
            Step::Share { block, stream } if !self.blocks.is_empty() => {
                let index = block % self.blocks.len();
                if self.captures[stream].is_some() || !self.is_free(index) {
                    return;
                }
                let other = self.streams[stream].clone();
                let block = &mut self.blocks[index];
                self.card.order(block.stream(), &other);
                block.record_stream(&other);
                let offsets = block.offset()..block.offset() + block.bytes();
                self.card.work(&other, offsets, block.serial());
            }
            Step::Run { stream, items } => {
                for _ in 0..items {
                    self.card.step(self.streams[stream].id);
                }
            }
            // The old one dies with its last block; its work is still done.
            Step::NewStream { place } if self.captures[place].is_none() => {
                self.streams[place] = self.card.stream();
            }
            Step::Trim { granules, wait } if !(wait && self.is_capturing()) => {
                let _ = self.pool.trim(granules * GRANULE, wait);
            }
            Step::Capture { stream } if self.captures[stream].is_none() => {
                let id = self.card.begin_capture(&self.streams[stream]);
                let memory = self.pool.graph_memory(&self.streams[stream]).unwrap().unwrap();
                let (blocks, streams) = (Vec::new(), Vec::new());
                let own = self.streams[stream].clone();
                self.graphs.push(Graph { id, blocks, memory, own, streams, is_open: true });
                self.captures[stream] = Some(self.graphs.len() - 1);
            }
            Step::EndCapture { stream } => self.end_capture(stream),
            Step::Launch { graph, stream } if !self.graphs.is_empty() => {
                let index = graph % self.graphs.len();
                let graph = &mut self.graphs[index];
                if !graph.is_open && self.captures[stream].is_none() {
                    // Blocks from before the capture are ready for the stream that they are from.
                    self.card.order(&graph.own, &self.streams[stream]);
                    self.card.launch(graph.id, &self.streams[stream]);
                    graph.streams.push(self.streams[stream].clone());
                }
            }
            Step::DropGraph { graph } if !self.graphs.is_empty() && !self.is_capturing() => {
                self.graphs.swap_remove(graph % self.graphs.len()).give_up(&self.card);
            }
            Step::Limit { granules } => self.card.state().limit = granules,
            Step::Fail { after } => self.card.state().fail_in = Some(after),
            _ => {}
        }
    }

    /// Whether a block's stream is not in a capture, so that its place in the stream can be waited for.
    fn is_free(&self, index: usize) -> bool {
        let stream = self.stream_of(&self.blocks[index]);
        stream.is_none_or(|stream| self.captures[stream].is_none())
    }

    /// The capture ends. Blocks that its work uses stay as long as the graph does.
    fn end_capture(&mut self, stream: usize) {
        let Some(graph) = self.captures[stream].take() else { return };
        self.card.end_capture(&self.streams[stream]);
        let own = self.streams[stream].clone();
        let (kept, rest) =
            std::mem::take(&mut self.blocks).into_iter().partition(|block| *block.stream() == own);
        self.blocks = rest;
        let graph = &mut self.graphs[graph];
        graph.blocks = kept;
        graph.is_open = false;
    }

    fn check(&self) -> Result<(), String> {
        if let Some(fault) = self.card.faults().first() {
            return Err(fault.clone());
        }
        let blocks = self.blocks.iter().chain(self.graphs.iter().flat_map(|graph| &graph.blocks));
        let mut used: Vec<_> =
            blocks.map(|block| (block.offset(), block.offset() + block.bytes())).collect();
        used.sort_unstable();
        for pair in used.windows(2) {
            if pair[0].1 > pair[1].0 {
                return Err(format!("{pair:?} are in use twice"));
            }
        }
        let stats = self.pool.stats();
        let in_use = used.iter().map(|(start, end)| end - start).sum::<u64>();
        let is_right = stats.in_use_bytes == in_use
            && stats.held_bytes == stats.in_use_bytes + stats.free_bytes
            && stats.held_bytes == self.card.committed_bytes()
            && stats.largest_gap_bytes + stats.waiting_bytes <= stats.free_bytes;
        is_right.then_some(()).ok_or_else(|| format!("{in_use} bytes are in use: {stats:?}"))
    }

    fn end(&mut self) -> Result<(), String> {
        self.card.state().fail_in = None;
        (0..4).for_each(|stream| self.end_capture(stream));
        self.blocks.clear();
        self.graphs.drain(..).for_each(|graph| graph.give_up(&self.card));
        self.pool.trim(u64::MAX, true).map_err(|error| error.to_string())?;
        self.check()?;
        let stats = self.pool.stats();
        let left = [stats.held_bytes, self.card.committed_bytes(), stats.blocks, stats.gaps];
        (left == [0; 4]).then_some(()).ok_or_else(|| format!("something is left: {stats:?}"))
    }
}

/// Takes all steps. A pool whose rules are broken is left as it is when that was noticed.
pub fn run(lasting: bool, steps: Vec<Step>, mutation: Option<PoolMutation>) -> Result<(), String> {
    let mut machine = Machine::new(lasting, mutation);
    let all = steps.into_iter().try_for_each(|step| {
        machine.take(step);
        machine.check()
    });
    let answer = all.and_then(|()| machine.end());
    if answer.is_err() {
        std::mem::forget(machine);
    }
    answer
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_block_is_in_use_twice_and_none_before_its_work_is_done(lasting in any::<bool>(), steps in steps()) {
        prop_assert_eq!(run(lasting, steps, None), Ok(()));
    }
}
