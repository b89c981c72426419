//! The streams and events that the program has made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::contexts::Context;
use super::ids;
use super::job::{Job, Stamp};
use super::queue::Position;
use super::shared_events::SharedEvent;

const NON_BLOCKING: u32 = 1;
const EVENT_BLOCKING: u32 = 1;
const EVENT_NO_TIMING: u32 = 2;
const EVENT_INTERPROCESS: u32 = 4;

/// The streams of the program. Each is a lane of its context's queue. Lanes have numbers of their own,
/// because the handle of a stream that was destroyed is given to the next one, as cards do.
#[derive(Debug, Default)]
pub struct Streams {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    live: HashMap<u64, (Arc<Context>, u64)>,
    vacant: Vec<u64>,
}

impl Streams {
    pub fn create(&self, context: Arc<Context>, flags: u32) -> Result<u64, Status> {
        if flags & !NON_BLOCKING != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let lane = ids::next();
        context.queue.open(lane, flags & NON_BLOCKING == 0);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let handle = table.vacant.pop().unwrap_or(lane);
        table.live.insert(handle, (context, lane));
        Ok(handle)
    }

    /// The context of a stream, and its lane there.
    pub fn find(&self, handle: u64) -> Result<(Arc<Context>, u64), Status> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.live.get(&handle).cloned().ok_or(Status::INVALID_HANDLE)
    }

    /// `cuStreamDestroy`: returns the lane at once; its work still runs.
    pub fn destroy(&self, handle: u64) -> Result<u64, Status> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let (context, lane) = table.live.remove(&handle).ok_or(Status::INVALID_HANDLE)?;
        table.vacant.push(handle);
        drop(table);
        context.queue.close(lane);
        Ok(lane)
    }
}

/// Where an event was recorded last.
#[derive(Clone, Debug)]
pub struct Record {
    /// The context whose queue the position is in.
    pub context: Arc<Context>,
    pub position: Position,
    stamp: Arc<Stamp>,
    /// Its number among the records of all processes; 0 for an event of this process alone.
    number: u64,
}

/// The last record of an event.
#[derive(Clone, Debug)]
pub enum Last {
    /// There is none.
    Never,
    Here(Record),
    /// In another process, with its number.
    Elsewhere(Arc<SharedEvent>, u64),
}

#[derive(Debug)]
struct Event {
    context: Arc<Context>,
    flags: u32,
    record: Mutex<Option<Record>>,
    /// What it has in common with other processes.
    shared: Option<Arc<SharedEvent>>,
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
        let mut shared = None;
        if flags & EVENT_INTERPROCESS != 0 {
            if flags & EVENT_NO_TIMING == 0 {
                return Err(Status::INVALID_VALUE);
            }
            shared = Some(Arc::new(SharedEvent::create(&context.device)?));
        }
        Ok(self.insert(Event { context, flags, record: Mutex::new(None), shared }))
    }

    /// An event of another process.
    pub fn adopt(&self, context: Arc<Context>, shared: SharedEvent) -> u64 {
        let flags = EVENT_INTERPROCESS | EVENT_NO_TIMING;
        let shared = Some(Arc::new(shared));
        self.insert(Event { context, flags, record: Mutex::new(None), shared })
    }

    fn insert(&self, event: Event) -> u64 {
        let id = ids::next();
        self.table.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(event));
        id
    }

    /// What an event has in common with other processes; `None` for one of this process alone.
    pub fn shared(&self, id: u64) -> Result<Option<Arc<SharedEvent>>, Status> {
        Ok(self.find(id)?.shared.clone())
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
        let (job, number) = match &event.shared {
            None => (Job::Stamp(Arc::clone(&stamp)), 0),
            Some(shared) => {
                let signal = shared.record()?;
                let number = signal.number;
                (Job::Signal(Arc::new(signal)), number)
            }
        };
        let position = context.queue.submit(lane, job)?;
        *record = Some(Record { context: Arc::clone(context), position, stamp, number });
        Ok(())
    }

    /// Where an event was recorded last.
    pub fn last_record(&self, id: u64) -> Result<Last, Status> {
        let event = self.find(id)?;
        let record = event.record.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let last = event.shared.as_ref().map_or(Ok(0), |shared| shared.last())?;
        Ok(match (record, &event.shared) {
            (Some(record), _) if record.number == last => Last::Here(record),
            (_, Some(shared)) if last > 0 => Last::Elsewhere(Arc::clone(shared), last),
            _ => Last::Never,
        })
    }

    pub fn elapsed(&self, start: u64, end: u64) -> Result<f32, Status> {
        let mut times = Vec::with_capacity(2);
        for id in [start, end] {
            if self.find(id)?.flags & EVENT_NO_TIMING != 0 {
                return Err(Status::INVALID_HANDLE);
            }
            let Last::Here(record) = self.last_record(id)? else {
                return Err(Status::INVALID_HANDLE);
            };
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
