//! What happens in a pond, as it happens.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, TryLockError};

use millpond::Event;
use millpond_wire::fd::process_number;

use crate::border::{Answer, Out, call, required, waiting};
use crate::failure::Failure;
use crate::objects::{EVENTS, PONDS};
use crate::pond::{millpond_pond, wait};
use crate::result::ResultNumber;
use crate::table::Kind;
use crate::tensor_types::MILLPOND_NAME_BYTES;
use crate::uuid::{cut, millpond_uuid};
use crate::words::EventKindNumber;

/// A subscription to events, with a connection of its own.
pub struct millpond_events {
    _private: [u8; 0],
}

/// What a handle of events names.
pub(crate) struct Subscription {
    events: Mutex<millpond::Events>,
    pid: u32,
}

/// Something that happened in the pond.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_event {
    /// Rises from one event to the next, also across daemons.
    pub sequence: u64,
    /// When.
    pub unix_ms: u64,
    /// What.
    pub kind: EventKindNumber,
    /// By or to whom: a user id; UINT32_MAX where that is not said.
    pub user: u32,
    /// The tensor, or the version of a model; all zero where it is about neither.
    pub target: millpond_uuid,
    /// Its name, or the group's; empty where there is none.
    pub name: [c_char; MILLPOND_NAME_BYTES],
    /// More, for people; cut where it is longer.
    pub text: [c_char; 512],
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

/// Is called for each event, in the calling thread. The event is valid during the call. Anything but zero ends the
/// round, which then answers MILLPOND_CANCELLED. It may call this library. Neither a C++ exception nor longjmp() may
/// leave it.
pub type millpond_event_visitor =
    Option<extern "C" fn(event: &millpond_event, user_data: *mut c_void) -> u32>;

impl From<&Event> for millpond_event {
    fn from(event: &Event) -> Self {
        let tensor = event.target.and_then(millpond::LeaseTarget::tensor);
        let version = event.target.and_then(millpond::LeaseTarget::version);
        let bytes = tensor.map(|id| *id.0.as_bytes()).or(version.map(|id| *id.0.as_bytes()));
        Self {
            sequence: event.sequence,
            unix_ms: event.unix_ms,
            kind: event.kind.code().into(),
            user: event.user.unwrap_or(u32::MAX),
            target: millpond_uuid { bytes: bytes.unwrap_or([0; 16]) },
            name: cut(event.name.as_ref().map_or("", |name| name.as_str())),
            text: cut(&event.text),
            reserved: [0; 4],
        }
    }
}

/// Runs work on the events, which one thread at a time may have.
fn with<T>(
    events: *const millpond_events,
    work: impl FnOnce(&mut millpond::Events) -> Answer<T>,
) -> Answer<T> {
    let subscription = EVENTS.get(events)?;
    if subscription.pid != process_number() {
        return Err(Failure::Forked { what: Kind::Events });
    }
    match subscription.events.try_lock() {
        Ok(mut events) => work(&mut events),
        Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::invalid("another thread waits for these events"))
        }
    }
}

/// Subscribes to what happens in the pond, from sequence number `from` on; 0 means from now on, 1 all that the pond
/// has kept. It survives restarts of the daemon; MILLPOND_EVENT_GAP says that events in between may be missing. Free
/// it with millpond_events_free().
///
/// Threads: any, one at a time. Fork: events of the parent are refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_events_subscribe(
    pond: *const millpond_pond,
    from: u64,
    events: Out<'_, *mut millpond_events>,
) -> ResultNumber {
    waiting(|| {
        let out = required(events, "events")?;
        let subscribed = PONDS.get(pond)?.events(from)?;
        let subscription = Subscription { events: Mutex::new(subscribed), pid: process_number() };
        out.write(EVENTS.insert(Arc::new(subscription))?);
        Ok(())
    })
}

/// Waits for the next event. MILLPOND_TIMEOUT if none came within that time.
///
/// Threads: any, one at a time: MILLPOND_INVALID while another thread waits. Fork: events of the parent are refused
/// in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_events_next(
    events: *const millpond_events,
    timeout_ms: u64,
    event: Out<'_, millpond_event>,
) -> ResultNumber {
    waiting(|| {
        let out = required(event, "event")?;
        let after = wait(timeout_ms);
        match with(events, |events| Ok(events.next_timeout(after)?))? {
            Some(event) => {
                out.write((&event).into());
                Ok(())
            }
            None => Err(millpond::Error::Timeout { what: "a request for events", after }.into()),
        }
    })
}

/// Calls `visitor` for everything that the pond has kept from the number on that was asked for, without waiting for
/// more. A MILLPOND_EVENT_GAP at the beginning says that some before are gone.
///
/// Threads: any, one at a time: MILLPOND_INVALID while another thread waits. Fork: events of the parent are refused
/// in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_events_kept(
    events: *const millpond_events,
    visitor: millpond_event_visitor,
    user_data: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        EVENTS.get(events)?;
        let visitor = required(visitor, "visitor")?;
        for event in with(events, |events| Ok(events.kept()?))? {
            if visitor(&millpond_event::from(&event), user_data) != 0 {
                return Err(Failure::Cancelled);
            }
        }
        Ok(())
    })
}

/// Ends a subscription. A thread that waits for an event goes on waiting; millpond_cancel_use() ends that. NULL is
/// nothing.
///
/// Threads: any. Fork: events of the parent are freed in the child alone.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_events_free(events: *mut millpond_events) -> ResultNumber {
    call(|| EVENTS.free(events))
}
