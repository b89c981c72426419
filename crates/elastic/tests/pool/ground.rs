//! What a pool asks of the modelled card, and what it must not ask.

use crate::model::{Card, GRANULE, Item, Mark, Stream, error};
use millpond_cuda::sys::Status;
use millpond_elastic::{ElasticError, Ground, PageError, Patience};
use std::ops::Range;

impl Ground for Card {
    type Stream = Stream;
    type Mark = Mark;

    fn base(&self) -> u64 {
        1 << 40
    }

    fn granule(&self) -> u64 {
        GRANULE
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn commit(&self, bytes: Range<u64>, patience: Patience) -> Result<(), ElasticError> {
        let mut state = self.call("commit")?;
        let granules: Vec<u64> = (bytes.start / GRANULE..bytes.end / GRANULE).collect();
        let (used, asked) = (state.committed.len() as u64, granules.len() as u64);
        if patience == Patience::Patient {
            state.limit += std::mem::take(&mut state.others);
        }
        if used + asked > state.limit {
            state.refusals += u64::from(patience == Patience::Patient);
            let (asked, limit, used) = (asked * GRANULE, state.limit * GRANULE, used * GRANULE);
            return Err(ElasticError::AfterFreeing { asked, limit, used, holders: Vec::new() });
        }
        for granule in granules {
            if !state.committed.insert(granule) {
                state.faults.push(format!("granule {granule} is committed twice"));
            }
        }
        Ok(())
    }

    fn uncommit(&self, bytes: Range<u64>) -> Result<(), ElasticError> {
        // Whatever the driver says, the pages are not used any more.
        let answer = self.call("uncommit").map(drop);
        let mut state = self.state();
        let pending =
            state.streams.values().flat_map(|queue| &queue.items).any(|item| match item {
                Item::Work(work) => {
                    work.offsets.start < bytes.end && bytes.start < work.offsets.end
                }
                Item::Wait(_) => false,
            });
        if pending {
            state.faults.push(format!("{bytes:?} lose their memory under work"));
        }
        for granule in bytes.start / GRANULE..bytes.end / GRANULE {
            if !state.committed.remove(&granule) {
                state.faults.push(format!("granule {granule} is uncommitted twice"));
            }
        }
        Ok(answer?)
    }

    fn trim(&self, bytes: u64) -> Result<u64, ElasticError> {
        drop(self.call("trim")?);
        Ok(bytes.min(self.bytes))
    }

    fn settle(&self) -> Result<(), PageError> {
        let mut state = self.call("settle")?;
        if state.streams.values().any(|queue| queue.capture.is_some()) {
            state.faults.push("waiting for the device breaks a capture".to_owned());
        }
        state.settle();
        Ok(())
    }

    fn handle(&self, stream: &Stream) -> u64 {
        stream.handle
    }

    fn id(&self, stream: &Stream) -> Result<u64, PageError> {
        let mut state = self.state();
        if state.streams.get(&stream.id).is_some_and(|queue| queue.capture.is_some()) {
            state.faults.push("asking for the number of a stream breaks its capture".to_owned());
        }
        drop(state);
        Ok(if self.confuses_streams { stream.handle } else { stream.id })
    }

    fn lasts(&self, _stream: &Stream) -> bool {
        self.lasting
    }

    fn capture(&self, stream: &Stream) -> Result<Option<u64>, PageError> {
        let state = self.state();
        match state.is_gone {
            true => Err(error("capture", Status::DEINITIALIZED)),
            false => Ok(state.streams[&stream.id].capture),
        }
    }

    fn record(&self, stream: &Stream, _again: Option<Mark>) -> Result<Mark, PageError> {
        let mut state = self.call("record")?;
        state.records += 1;
        let queue = &state.streams[&stream.id];
        let mark = Mark { stream: stream.id, position: queue.submitted };
        if queue.capture.is_some() {
            state.faults.push("a mark is recorded in a capture".to_owned());
        }
        drop(state);
        self.gate.pass("recorded");
        Ok(mark)
    }

    fn is_passed(&self, mark: &Mark) -> Result<bool, PageError> {
        Ok(self.call("is_passed")?.is_passed(*mark))
    }

    fn finish(&self, mark: &Mark) -> Result<(), PageError> {
        self.call("finish")?.run_to(*mark);
        Ok(())
    }

    fn wait(&self, stream: &Stream, mark: &Mark) -> Result<(), PageError> {
        let mut state = self.call("wait")?;
        if state.streams[&stream.id].capture.is_some() {
            state.faults.push("a capture waits for a mark from outside".to_owned());
        }
        state.push(stream.id, Item::Wait(*mark));
        Ok(())
    }
}
