//! Server-sent events: what changes, for everybody who has the page open.
//!
//! A message is written once and shared by all readers, the first one of each included. A reader holds what it is being
//! sent and, of what comes meanwhile, the newest overview; one that falls too far behind loses its connection with all
//! that waits in it, and asks again. So a thousand readers cost one collection, one writing and a few copies, and none
//! of them holds anything up.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame};
use serde::Serialize;

use crate::seats::Closer;

/// So many readers at once.
pub const READERS: usize = 1000;
/// Overviews that may come while a reader takes none: each that is being sent to a reader is kept.
const BEHIND: usize = 16;
/// Lists of events that may wait for a reader. They are small, come up to twenty times a second, and are not skipped.
const EVENTS: usize = 128;

/// A comment: it keeps what lies between from giving the connection up.
const HEARTBEAT: Bytes = Bytes::from_static(b": still here\n\n");

/// What readers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Pond,
    Overview,
    Events,
}

impl Kind {
    fn opening(self) -> &'static str {
        match self {
            Self::Pond => "event: pond\ndata: ",
            Self::Overview => "event: overview\ndata: ",
            Self::Events => "event: events\ndata: ",
        }
    }

    /// One event, as it goes over the wire: JSON in one line.
    pub fn frame(self, data: &impl Serialize) -> Bytes {
        let mut text = self.opening().as_bytes().to_vec();
        // Writing to memory does not fail, and what is told is JSON.
        let _ = serde_json::to_writer(&mut text, data);
        text.extend_from_slice(CLOSING);
        text.shrink_to_fit();
        text.into()
    }

    /// The JSON of such an event, in the same memory.
    pub fn json(self, frame: &Bytes) -> Bytes {
        frame.slice(self.opening().len()..frame.len() - CLOSING.len())
    }
}

const CLOSING: &[u8] = b"\n\n";

/// What a reader has not taken yet.
#[derive(Debug, Default)]
struct Unread {
    pond: Option<Bytes>,
    overview: Option<Bytes>,
    events: VecDeque<Bytes>,
    beat: bool,
    /// Overviews that have come since it took something.
    behind: usize,
    ended: bool,
    waker: Option<Waker>,
}

impl Unread {
    /// The next message. A later state or overview has taken the place of an earlier one.
    fn take(&mut self) -> Option<Bytes> {
        let beat = || HEARTBEAT;
        let next = self.pond.take().or_else(|| self.overview.take());
        let next = next.or_else(|| self.events.pop_front());
        let next = next.or_else(|| std::mem::take(&mut self.beat).then(beat));
        if next.is_some() {
            self.behind = 0;
        }
        next
    }
}

#[derive(Debug, Default)]
struct Reader {
    unread: Mutex<Unread>,
    closer: Closer,
}

impl Reader {
    fn lock(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what it is to take, unless it has ended. Whether it has not.
    fn add(&self, add: impl FnOnce(&mut Unread)) -> bool {
        let mut unread = self.lock();
        if unread.ended {
            return false;
        }
        add(&mut unread);
        let is_late = unread.behind > BEHIND || unread.events.len() > EVENTS;
        if is_late {
            *unread = Unread { ended: true, waker: unread.waker.take(), ..Unread::default() };
            self.closer.close();
        }
        if let Some(waker) = unread.waker.take() {
            waker.wake();
        }
        !is_late
    }
}

/// All readers.
#[derive(Debug, Default)]
pub struct Hub(Mutex<Vec<Weak<Reader>>>);

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Reader>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new reader, who gets the present state and overview and everything from then on; nobody where there are too
    /// many. `closer` ends its connection.
    pub fn join(
        &self,
        closer: Closer,
        now: impl FnOnce() -> (Bytes, Option<Bytes>),
    ) -> Option<Stream> {
        let mut readers = self.lock();
        readers.retain(|reader| reader.strong_count() > 0);
        if readers.len() >= READERS {
            return None;
        }
        // Under the lock: nothing that is published meanwhile is missed.
        let (pond, overview) = now();
        let unread = Unread { pond: Some(pond), overview, ..Unread::default() };
        let reader = Arc::new(Reader { unread: Mutex::new(unread), closer });
        readers.push(Arc::downgrade(&reader));
        Some(Stream(reader))
    }

    /// Sends an event to all readers, and cuts off those that are too far behind.
    pub fn publish(&self, kind: Kind, message: &Bytes) {
        self.each(|unread| {
            let message = message.clone();
            match kind {
                Kind::Pond => unread.pond = Some(message),
                Kind::Overview => {
                    unread.overview = Some(message);
                    unread.behind += 1;
                }
                Kind::Events => unread.events.push_back(message),
            }
        });
    }

    /// Sends a comment to all readers that get nothing else.
    pub fn beat(&self) {
        self.each(|unread| unread.beat = true);
    }

    fn each(&self, add: impl Fn(&mut Unread)) {
        self.lock().retain(|reader| reader.upgrade().is_some_and(|reader| reader.add(&add)));
    }

    /// How many there are.
    pub fn readers(&self) -> usize {
        let mut readers = self.lock();
        readers.retain(|reader| reader.strong_count() > 0);
        readers.len()
    }

    /// Ends all streams.
    pub fn close(&self) {
        self.each(|unread| unread.ended = true);
        self.lock().clear();
    }
}

/// What one reader gets.
#[derive(Debug)]
pub struct Stream(Arc<Reader>);

impl Body for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let mut unread = self.0.lock();
        if let Some(message) = unread.take() {
            return Poll::Ready(Some(Ok(Frame::data(message))));
        }
        if unread.ended {
            return Poll::Ready(None);
        }
        unread.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(stream: &mut Stream) -> Option<Bytes> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(stream).poll_frame(&mut context) {
            Poll::Ready(Some(frame)) => Some(frame.unwrap().into_data().unwrap()),
            Poll::Ready(None) | Poll::Pending => None,
        }
    }

    fn reader(hub: &Hub) -> Stream {
        hub.join(Closer::default(), || (Kind::Pond.frame(&"up"), None)).unwrap()
    }

    fn is_cut_off(stream: &Stream) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        std::pin::pin!(stream.0.closer.closed()).as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn a_reader_gets_the_present_and_then_what_changes() {
        let hub = Hub::default();
        let mut reader = reader(&hub);
        hub.publish(Kind::Overview, &Kind::Overview.frame(&1));
        hub.publish(Kind::Events, &Kind::Events.frame(&[2]));
        hub.beat();
        assert_eq!(next(&mut reader).unwrap(), "event: pond\ndata: \"up\"\n\n");
        assert_eq!(next(&mut reader).unwrap(), "event: overview\ndata: 1\n\n");
        assert_eq!(next(&mut reader).unwrap(), "event: events\ndata: [2]\n\n");
        assert_eq!(next(&mut reader).unwrap(), HEARTBEAT);
        assert_eq!(next(&mut reader), None);
    }

    #[test]
    fn a_thousand_readers_that_do_not_read_share_one_copy_and_the_newest() {
        let hub = Hub::default();
        let first = Kind::Overview.frame(&"first");
        let now = || (Kind::Pond.frame(&"up"), Some(first.clone()));
        let mut readers: Vec<Stream> =
            (0..READERS).map(|_| hub.join(Closer::default(), now).unwrap()).collect();
        for reader in &mut readers {
            next(reader).unwrap();
            assert_eq!(next(reader).unwrap().as_ptr(), first.as_ptr(), "no copy of its own");
        }
        let frames: Vec<Bytes> = (0..BEHIND).map(|it| Kind::Overview.frame(&it)).collect();
        frames.iter().for_each(|frame| hub.publish(Kind::Overview, frame));
        assert!(frames[..BEHIND - 1].iter().all(Bytes::is_unique), "nobody holds them");
        let newest = frames.last().unwrap();
        for reader in &mut readers {
            assert_eq!(next(reader).unwrap().as_ptr(), newest.as_ptr(), "older ones are skipped");
            assert_eq!(next(reader), None);
        }
    }

    #[test]
    fn who_does_not_read_is_cut_off_and_holds_nothing_and_the_others_are_not() {
        for (kind, most) in [(Kind::Overview, BEHIND), (Kind::Events, EVENTS)] {
            let hub = Hub::default();
            let (mut slow, mut quick) = (reader(&hub), reader(&hub));
            assert!(next(&mut quick).is_some());
            for number in 0..=most {
                assert!(!is_cut_off(&slow));
                hub.publish(kind, &kind.frame(&number));
                assert!(next(&mut quick).is_some());
            }
            assert_eq!(hub.readers(), 1);
            assert!(is_cut_off(&slow) && !is_cut_off(&quick));
            assert_eq!(next(&mut slow), None, "nothing is kept for it");
        }
    }

    #[test]
    fn there_are_only_so_many_and_who_leaves_makes_room() {
        let hub = Hub::default();
        let now = || (Kind::Pond.frame(&"up"), None);
        let mut all: Vec<Stream> = (0..READERS).map(|_| reader(&hub)).collect();
        assert!(hub.join(Closer::default(), now).is_none());
        all.pop();
        assert!(hub.join(Closer::default(), now).is_some());
    }

    #[test]
    fn the_end_of_the_server_is_the_end_of_a_stream_and_no_cut() {
        let hub = Hub::default();
        let mut stream = reader(&hub);
        hub.close();
        assert!(next(&mut stream).is_some() && next(&mut stream).is_none());
        assert!(stream.0.lock().ended && !is_cut_off(&stream));
    }

    #[test]
    fn a_message_is_one_line_of_json_and_its_json_is_no_copy() {
        let frame = Kind::Overview.frame(&"a\nb\r\u{2028}");
        assert_eq!(frame.iter().filter(|byte| **byte == b'\n').count(), 3);
        let json = Kind::Overview.json(&frame);
        assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), "a\nb\r\u{2028}");
        let inside = json.as_ptr() as usize - frame.as_ptr() as usize;
        assert_eq!(inside, Kind::Overview.opening().len());
    }
}
