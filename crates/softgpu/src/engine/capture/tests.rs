//! Captures without a program around them.

use super::super::address::AddressSpace;
use super::super::board::test_device;
use super::super::contexts::Contexts;
use super::super::graph::{Graphs, Work};
use super::super::job::Job;
use super::*;

const FIRST: u64 = 100;
const SECOND: u64 = 200;

struct Fixture {
    captures: Captures,
    graphs: Graphs,
    context: Arc<Context>,
    _folder: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = Arc::new(test_device(folder.path(), 64 << 20));
    let space = Arc::new(AddressSpace::new(true));
    let contexts = Contexts::new(Arc::clone(&space), true, 0, 1);
    let context = contexts.find(contexts.retain_primary(&device).unwrap()).unwrap();
    context.queue.open(FIRST, true);
    context.queue.open(SECOND, false);
    let graphs = Graphs::new(&[device], &space, 2 << 20);
    Fixture { captures: Captures::default(), graphs, context, _folder: folder }
}

impl Fixture {
    fn begin(&self, stream: u64, mode: u32) {
        self.captures.begin(stream, &self.context, mode, self.graphs.create()).unwrap();
    }

    fn work(&self, stream: u64) -> Result<(), Status> {
        let tip = self.captures.tip(stream, &self.context)?.ok_or(Status::NOT_FOUND)?;
        let node = self.graphs.add(&tip.graph, Work::Job(Job::Nothing), &tip.after)?;
        self.captures.advance(stream, node);
        Ok(())
    }

    fn end(&self, stream: u64) -> Result<usize, Status> {
        let (graph, answer) = self.captures.end(stream)?;
        answer.map(|()| graph.nodes().len())
    }
}

#[test]
fn work_of_a_capturing_stream_is_a_chain() {
    let f = fixture();
    assert_eq!(f.work(FIRST), Err(Status::NOT_FOUND), "nothing captures");
    f.begin(FIRST, GLOBAL);
    for _ in 0..3 {
        f.work(FIRST).unwrap();
    }
    assert_eq!(f.work(SECOND), Err(Status::NOT_FOUND), "another stream does its work");
    let (graph, answer) = f.captures.end(FIRST).unwrap();
    assert_eq!(answer, Ok(()));
    let nodes = graph.nodes();
    assert!(nodes[0].after.is_empty());
    assert_eq!(nodes[2].after, [nodes[1].id]);
    assert_eq!(f.captures.end(FIRST).unwrap_err(), Status::ILLEGAL_STATE);
}

#[test]
fn a_branch_must_come_back() {
    let f = fixture();
    let (there, back) = (1, 2);
    for joined in [false, true] {
        f.begin(FIRST, GLOBAL);
        f.work(FIRST).unwrap();
        assert_eq!(f.captures.record(there, FIRST, &f.context), Ok(true));
        assert_eq!(f.captures.wait(SECOND, there, &f.context), Ok(true));
        f.work(SECOND).unwrap();
        if joined {
            f.captures.record(back, SECOND, &f.context).unwrap();
            f.captures.wait(FIRST, back, &f.context).unwrap();
            f.work(FIRST).unwrap();
        }
        let expected = if joined { Ok(3) } else { Err(Status::STREAM_CAPTURE_UNJOINED) };
        assert_eq!(f.end(FIRST), expected);
        assert_eq!(f.work(SECOND), Err(Status::NOT_FOUND), "the branch ended with its capture");
        assert_eq!(f.captures.refuse_event(there), Ok(()));
    }
}

#[test]
fn what_breaks_a_capture() {
    let f = fixture();
    let broken = |by: &dyn Fn() -> Result<(), Status>, status: Status| {
        f.begin(FIRST, GLOBAL);
        f.captures.record(1, FIRST, &f.context).unwrap();
        assert_eq!(by(), Err(status));
        assert_eq!(f.work(FIRST), Err(Status::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(f.end(FIRST), Err(Status::STREAM_CAPTURE_INVALIDATED));
    };
    let unsupported = Status::STREAM_CAPTURE_UNSUPPORTED;
    broken(&|| f.captures.refuse_stream(FIRST, &f.context), unsupported);
    broken(&|| f.captures.refuse_context(f.context.id), unsupported);
    broken(&|| f.captures.refuse_unsafe_call(), unsupported);
    broken(&|| f.captures.refuse_event(1), Status::CAPTURED_EVENT);
    broken(&|| f.captures.refuse_stream(LEGACY, &f.context), Status::STREAM_CAPTURE_IMPLICIT);
    broken(&|| f.captures.wait(FIRST, 99, &f.context).map(drop), Status::STREAM_CAPTURE_ISOLATION);
}

#[test]
fn what_leaves_a_capture_alone() {
    let f = fixture();
    // A stream that does not wait for the legacy one, captured in relaxed mode.
    f.begin(SECOND, RELAXED);
    f.captures.refuse_stream(LEGACY, &f.context).unwrap();
    f.captures.refuse_stream(FIRST, &f.context).unwrap();
    f.captures.refuse_unsafe_call().unwrap();
    f.captures.refuse_context(f.context.id + 1).unwrap();
    assert_eq!(f.end(SECOND), Ok(0));
    f.begin(SECOND, GLOBAL);
    let before = exchange_mode(RELAXED);
    f.captures.refuse_unsafe_call().unwrap();
    exchange_mode(before);
    assert_eq!(f.end(SECOND), Ok(0));
    f.begin(SECOND, GLOBAL);
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| f.end(SECOND)).join().unwrap();
        assert_eq!(ended, Err(Status::STREAM_CAPTURE_WRONG_THREAD));
    });
    assert_eq!(f.end(SECOND), Err(Status::ILLEGAL_STATE), "that ended it");
    f.begin(FIRST, GLOBAL);
    f.captures.drop_stream(FIRST);
    f.captures.refuse_unsafe_call().unwrap();
}
