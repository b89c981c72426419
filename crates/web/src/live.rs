//! Server-sent events: what changes, for everybody who has the page open.
//!
//! A message is written once and shared by all readers. Each reader has a short queue; one that does not
//! empty it is cut off, and asks again. So a thousand readers cost one collection and one writing, and none
//! of them holds anything up.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use serde::Serialize;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// So many readers at once.
pub const READERS: usize = 1000;
/// What a reader may be behind. What waits is shared, but kept as long as anybody waits for it.
const QUEUE: usize = 8;

/// A comment: it keeps what lies between from giving the connection up.
pub const HEARTBEAT: Bytes = Bytes::from_static(b": still here\n\n");

/// One event, as it goes over the wire.
pub fn event(name: &str, data: &impl Serialize) -> Bytes {
    let json = serde_json::to_vec(data).unwrap_or_default();
    framed(name, &json)
}

/// One event of JSON in one line.
pub fn framed(name: &str, json: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(name.len() + json.len() + 17);
    text.extend_from_slice(b"event: ");
    text.extend_from_slice(name.as_bytes());
    text.extend_from_slice(b"\ndata: ");
    text.extend_from_slice(json);
    text.extend_from_slice(b"\n\n");
    text.into()
}

/// All readers.
#[derive(Debug, Default)]
pub struct Hub(Mutex<Vec<Sender<Bytes>>>);

impl Hub {
    /// A new reader, who gets `first` and everything from then on; nobody where there are too many.
    pub fn join(&self, first: impl FnOnce() -> Vec<Bytes>) -> Option<Stream> {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| !reader.is_closed());
        if readers.len() >= READERS {
            return None;
        }
        let (sender, receiver) = channel(QUEUE);
        // Under the lock: nothing that is published meanwhile is missed.
        let first = first();
        readers.push(sender);
        Some(Stream { first: first.into_iter(), receiver })
    }

    /// Sends to everybody, and cuts off who is too far behind.
    pub fn publish(&self, message: &Bytes) {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| match reader.try_send(message.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => false,
        });
    }

    /// How many there are.
    pub fn readers(&self) -> usize {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| !reader.is_closed());
        readers.len()
    }

    /// Ends all streams.
    pub fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What one reader gets.
#[derive(Debug)]
pub struct Stream {
    first: std::vec::IntoIter<Bytes>,
    receiver: Receiver<Bytes>,
}

impl Body for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if let Some(message) = this.first.next() {
            return Poll::Ready(Some(Ok(Frame::data(message))));
        }
        this.receiver.poll_recv(context).map(|message| message.map(|it| Ok(Frame::data(it))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(stream: &mut Stream) -> Option<Bytes> {
        let mut context = Context::from_waker(std::task::Waker::noop());
        match Pin::new(stream).poll_frame(&mut context) {
            Poll::Ready(frame) => Some(frame.unwrap().unwrap().into_data().unwrap()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_reader_gets_the_present_and_then_what_changes() {
        let hub = Hub::default();
        let mut reader = hub.join(|| vec![event("pond", &"up")]).unwrap();
        hub.publish(&event("overview", &1));
        assert_eq!(next(&mut reader).unwrap(), "event: pond\ndata: \"up\"\n\n");
        assert_eq!(next(&mut reader).unwrap(), "event: overview\ndata: 1\n\n");
        assert_eq!(next(&mut reader), None);
    }

    #[test]
    fn who_does_not_read_is_cut_off_and_the_others_are_not() {
        let hub = Hub::default();
        let mut slow = hub.join(Vec::new).unwrap();
        let mut quick = hub.join(Vec::new).unwrap();
        for number in 0..QUEUE + 2 {
            hub.publish(&event("x", &number));
            assert!(next(&mut quick).is_some());
        }
        assert_eq!(hub.readers(), 1);
        let mut left = 0;
        let mut context = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(_)) = Pin::new(&mut slow).poll_frame(&mut context) {
            left += 1;
        }
        assert_eq!(left, QUEUE, "then it ends");
    }

    #[test]
    fn there_are_only_so_many_and_who_leaves_makes_room() {
        let hub = Hub::default();
        let mut all: Vec<Stream> = (0..READERS).map(|_| hub.join(Vec::new).unwrap()).collect();
        assert!(hub.join(Vec::new).is_none());
        all.pop();
        assert!(hub.join(Vec::new).is_some());
    }

    #[test]
    fn a_message_is_one_line_of_json() {
        let text = event("x", &"a\nb\r\u{2028}");
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 3);
    }
}
