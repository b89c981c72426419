//! The streams and events that the program has made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::contexts::Context;
use super::ids;
use super::job::{Job, Stamp};
use super::queue::Position;

const NON_BLOCKING: u32 = 1;
const EVENT_BLOCKING: u32 = 1;
const EVENT_NO_TIMING: u32 = 2;
const EVENT_INTERPROCESS: u32 = 4;

/// A stream of the program: a lane of its context's queue with the same number.
#[derive(Debug, Default)]
pub struct Streams {
    table: RwLock<HashMap<u64, Arc<Context>>>,
}

impl Streams {
    pub fn create(&self, context: Arc<Context>, flags: u32) -> Result<u64, Status> {
        if flags & !NON_BLOCKING != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let id = ids::next();
        context.queue.open(id, flags & NON_BLOCKING == 0);
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, context);
        Ok(id)
    }

    /// The context of a stream.
    pub fn find(&self, id: u64) -> Result<Arc<Context>, Status> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(&id).cloned().ok_or(Status::INVALID_HANDLE)
    }

    /// `cuStreamDestroy`: returns at once, its work still runs.
    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        let context = self
            .table
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id)
            .ok_or(Status::INVALID_HANDLE)?;
        context.queue.close(id);
        Ok(())
    }
}

/// Where an event was recorded last.
#[derive(Clone, Debug)]
pub struct Record {
    /// The context whose queue the position is in.
    pub context: Arc<Context>,
    pub position: Position,
    stamp: Arc<Stamp>,
}

#[derive(Debug)]
struct Event {
    context: Arc<Context>,
    flags: u32,
    record: Mutex<Option<Record>>,
}

/// The events that the program has made.
#[derive(Debug, Default)]
pub struct Events {
    table: RwLock<HashMap<u64, Arc<Event>>>,
}

impl Events {
    pub fn create(&self, context: Arc<Context>, flags: u32) -> Result<u64, Status> {
        if flags & !(EVENT_BLOCKING | EVENT_NO_TIMING | EVENT_INTERPROCESS) != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if flags & EVENT_INTERPROCESS != 0 {
            let allowed = flags & EVENT_NO_TIMING != 0;
            return Err(if allowed { Status::NOT_SUPPORTED } else { Status::INVALID_VALUE });
        }
        let id = ids::next();
        let event = Event { context, flags, record: Mutex::new(None) };
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(event));
        Ok(id)
    }

    fn find(&self, id: u64) -> Result<Arc<Event>, Status> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.get(&id).cloned().ok_or(Status::INVALID_HANDLE)
    }

    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        let removed = self.table.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        removed.map(drop).ok_or(Status::INVALID_HANDLE)
    }

    /// `cuEventRecord` into a lane of a context.
    pub fn record(&self, id: u64, context: &Arc<Context>, lane: u64) -> Result<(), Status> {
        let event = self.find(id)?;
        if event.context.id != context.id {
            return Err(Status::INVALID_HANDLE);
        }
        let stamp = Arc::new(Stamp::default());
        let mut record = event.record.lock().unwrap_or_else(PoisonError::into_inner);
        let position = context.queue.submit(lane, Job::Stamp(Arc::clone(&stamp)))?;
        *record = Some(Record { context: Arc::clone(context), position, stamp });
        Ok(())
    }

    /// Where an event was recorded last; `None` when never.
    pub fn last_record(&self, id: u64) -> Result<Option<Record>, Status> {
        Ok(self.find(id)?.record.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    pub fn elapsed(&self, start: u64, end: u64) -> Result<f32, Status> {
        let mut times = Vec::with_capacity(2);
        for id in [start, end] {
            if self.find(id)?.flags & EVENT_NO_TIMING != 0 {
                return Err(Status::INVALID_HANDLE);
            }
            let record = self.last_record(id)?.ok_or(Status::INVALID_HANDLE)?;
            record.context.queue.query(record.position)?;
            times.push(record.stamp.time().ok_or(Status::NOT_READY)?);
        }
        let (Some(start), Some(end)) = (times.first(), times.last()) else {
            return Err(Status::UNKNOWN);
        };
        let forward = end.saturating_duration_since(*start).as_secs_f32();
        let backward = start.saturating_duration_since(*end).as_secs_f32();
        Ok((forward - backward) * 1e3)
    }
}
