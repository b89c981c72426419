//! Events between processes: order that another process sees.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::ipc::{from_text, to_text};
use crate::support::{Gpu, MIB, invalid, is_soft, observe, observe_text, read_word, sum_of_words};
use millpond_cuda::sys::{Status, constants};
use millpond_cuda::{Event, IpcEvent, LinearMemory, OpenedMemory, Stream, result};
use std::time::Duration;

/// Long enough that work which does not wait for it is done before.
const LATE: Duration = Duration::from_millis(300);

const BYTES: u64 = 4 * MIB;
const AT: u64 = 2 * MIB;

/// The sum of what the first half of the memory holds.
fn expected(byte: u8) -> u64 {
    sum_of_words(&vec![byte; usize::try_from(AT).unwrap()])
}

/// Opens memory and event, and uses both in turns with who made them.
pub fn order_events(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let kernel = gpu.kernel();
    let memory = OpenedMemory::open(&context, &from_text(&peer.receive().0)).unwrap();
    let event = IpcEvent::open(&context, &from_text(&peer.receive().0)).unwrap();
    assert!(event.is_done().unwrap(), "it was never recorded");
    kernel.touch_part(&stream, &memory, 0..AT, &memory, AT, LATE).unwrap();
    event.record(&stream).unwrap();
    peer.send("recorded");
    peer.expect("recorded there");
    let target = gpu.memory(gpu.unit());
    event.make_wait(&stream).unwrap();
    kernel.touch_part(&stream, &memory, AT + 8..AT + 16, &target, 0, Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(read_word(&target), expected(3), "what the maker's work wrote");
    event.synchronize().unwrap();
    peer.send("seen");
    drop((event, memory));
}

#[test]
fn streams_of_two_processes_wait_for_each_other() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let kernel = gpu.kernel();
    let memory = LinearMemory::alloc(&context, BYTES).unwrap();
    memory.fill(3).unwrap();
    memory.span().memset(AT, 64, 0).unwrap();
    let event = IpcEvent::new(&context).unwrap();
    assert!(event.is_done().unwrap());
    let child = Child::spawn("order_events");
    child.peer.send(&to_text(&memory.ipc_handle().unwrap()));
    child.peer.send(&to_text(&event.handle().unwrap()));
    child.peer.expect("recorded");
    let target = gpu.memory(gpu.unit());
    event.make_wait(&stream).unwrap();
    kernel.touch_part(&stream, &memory, AT..AT + 8, &target, 0, Duration::ZERO).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(read_word(&target), expected(3), "what the opener's work wrote");
    assert!(event.is_done().unwrap());
    kernel.touch_part(&stream, &memory, 0..AT, &memory, AT + 8, LATE).unwrap();
    event.record(&stream).unwrap();
    child.peer.send("recorded there");
    child.peer.expect("seen");
    child.finish();
    stream.synchronize().unwrap();
    event.record(&stream).unwrap();
    event.synchronize().unwrap();
}

/// Makes an event, records it, and is killed when the work before that is done: a card lets nobody
/// past the record of a process that was killed before.
pub fn make_event(peer: &Peer) {
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let kernel = gpu.kernel();
    let event = IpcEvent::new(&context).unwrap();
    let memory = gpu.memory(gpu.unit());
    peer.send(&to_text(&event.handle().unwrap()));
    peer.expect("record");
    kernel.touch(&stream, &memory, &memory, LATE).unwrap();
    event.record(&stream).unwrap();
    peer.send("recorded");
    stream.synchronize().unwrap();
    peer.send("done");
    peer.wait_for_the_end();
}

#[test]
fn an_event_stays_usable_when_its_maker_was_killed() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let stream = Stream::new(&context).unwrap();
    let mut child = Child::spawn("make_event");
    let handle = from_text(&child.peer.receive().0);
    let event = IpcEvent::open(&context, &handle).unwrap();
    child.peer.send("record");
    child.peer.expect("recorded");
    child.peer.expect("done");
    child.kill();
    assert!(event.is_done().unwrap());
    event.make_wait(&stream).unwrap();
    stream.synchronize().unwrap();
    event.synchronize().unwrap();
    event.record(&stream).unwrap();
    event.make_wait(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(event.is_done().unwrap());
    let again = IpcEvent::open(&context, &handle).unwrap();
    again.record(&stream).unwrap();
    event.make_wait(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(again.is_done().unwrap() && event.is_done().unwrap());
}

#[test]
fn what_is_no_event_of_several_processes() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let timed = result::event::create(table, constants::EVENT_INTERPROCESS);
    invalid("an event of several processes with a clock", timed);
    let ordinary = Event::new(&context).unwrap();
    // SAFETY: the event is alive.
    let handle = unsafe { result::ipc::event_handle(table, ordinary.raw()) };
    observe("the handle of an ordinary event", &handle);
    assert!(handle.is_err());
    let garbage = IpcEvent::open(&context, &[0x55; 64]);
    observe("garbage as an event's handle", &garbage);
    assert!(garbage.is_err());
    let event = IpcEvent::new(&context).unwrap();
    let handle = event.handle().unwrap();
    assert_eq!(handle, event.handle().unwrap(), "the same bytes again");
    let own = IpcEvent::open(&context, &handle);
    let answer = own.as_ref().err().map_or(Status::SUCCESS, |error| error.status);
    observe_text("cuIpcOpenEventHandle of one's own handle", answer);
    assert!(own.is_err() || !is_soft());
}
