//! Streams and events.

use std::ffi::{c_int, c_uint};

use millpond_cuda::sys::{CUcontext, CUevent, CUstream, Status};

use super::{Out, entries, number, opaque};
use crate::engine::Engine;
use crate::engine::default_stream::is_default;
use crate::engine::job::Job;
use crate::engine::queue::LEGACY;
use crate::engine::streams::Last;
use crate::engine::system::to_u64;

fn create(engine: &'static Engine, stream: *mut CUstream, flags: c_uint) -> Result<(), Status> {
    let context = engine.contexts.current()?;
    // SAFETY: the callers below were promised a pointer that is null or valid for writing.
    let stream = unsafe { Out::new(stream)? };
    stream.set(opaque(engine.streams.create(context, flags)?));
    Ok(())
}

entries! {
    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) |engine| { create(engine, stream, flags) }

    fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, _priority: c_int) |engine| {
        create(engine, stream, flags)
    }

    fn cuStreamDestroy_v2(stream: CUstream) |engine| {
        if is_default(number(stream)) {
            return Err(Status::INVALID_HANDLE);
        }
        let lane = engine.streams.destroy(number(stream))?;
        engine.captures.drop_stream(lane);
        Ok(())
    }

    fn cuStreamGetId(stream: CUstream, id: *mut u64) |engine| {
        // SAFETY: as the caller promised.
        let id = unsafe { Out::new(id)? };
        let (context, lane) = engine.lane(number(stream))?;
        engine.captures.refuse_stream(lane, &context)?;
        // Lanes and contexts are numbered together, so the legacy stream may have its context's number.
        id.set(if lane == LEGACY { context.id } else { lane });
        Ok(())
    }

    fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext) |engine| {
        // SAFETY: as the caller promised.
        let context = unsafe { Out::new(context)? };
        context.set(opaque(engine.lane(number(stream))?.0.id));
        Ok(())
    }

    fn cuStreamSynchronize(stream: CUstream) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        engine.captures.refuse_stream(lane, &context)?;
        let end = context.queue.end(lane);
        if lane == LEGACY {
            // The legacy stream comes after all blocking streams: a place in it waits for them.
            context.queue.run(lane, Job::Nothing)?;
        } else {
            context.queue.wait(end)?;
        }
        engine.pools.waited_for(&context.queue, end);
        Ok(())
    }

    fn cuStreamQuery(stream: CUstream) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        engine.captures.refuse_stream(lane, &context)?;
        engine.captures.refuse_unsafe_call()?;
        context.queue.query(context.queue.end(lane))
    }

    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        if engine.captures.wait(lane, number(event), &context)? {
            return Ok(());
        }
        match engine.events.last_record(number(event))? {
            Last::Never => Ok(()),
            Last::Here(record) if record.context.id == context.id => {
                context.queue.submit_after(lane, Job::Nothing, Some(record.position)).map(drop)
            }
            // Two contexts' queues do not know each other.
            Last::Here(record) => record.context.queue.wait(record.position),
            Last::Elsewhere(event, number) => {
                context.queue.submit(lane, Job::Await(event, number)).map(drop)
            }
        }
    }

    fn cuEventCreate(event: *mut CUevent, flags: c_uint) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let event = unsafe { Out::new(event)? };
        event.set(opaque(engine.events.create(context, flags)?));
        Ok(())
    }

    fn cuEventDestroy_v2(event: CUevent) |engine| { engine.events.destroy(to_u64(event.addr())) }

    fn cuEventRecord(event: CUevent, stream: CUstream) |engine| {
        let (context, lane) = engine.lane(number(stream))?;
        if engine.captures.record(number(event), lane, &context)? {
            return Ok(());
        }
        engine.events.record(number(event), &context, lane)
    }

    fn cuEventQuery(event: CUevent) |engine| {
        engine.captures.refuse_event(number(event))?;
        match engine.events.last_record(number(event))? {
            Last::Never => Ok(()),
            Last::Here(record) => record.context.queue.query(record.position),
            Last::Elsewhere(event, number) => event.query(number),
        }
    }

    fn cuEventSynchronize(event: CUevent) |engine| {
        engine.captures.refuse_event(number(event))?;
        match engine.events.last_record(number(event))? {
            Last::Never => Ok(()),
            Last::Here(record) => {
                record.context.queue.wait(record.position)?;
                engine.pools.waited_for(&record.context.queue, record.position);
                Ok(())
            }
            Last::Elsewhere(event, number) => event.wait(number),
        }
    }

    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) |engine| {
        // SAFETY: as the caller promised. The real driver answers 400 for null here.
        let milliseconds = unsafe { Out::new(milliseconds) }.map_err(|_| Status::INVALID_HANDLE)?;
        milliseconds.set(engine.events.elapsed(number(start), number(end))?);
        Ok(())
    }
}
