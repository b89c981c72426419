//! What travels: read it, write it, read it again, and it is the same.

use millpond_host::channel::{FromHost, ToHost};
use millpond_keeper::channel::Message;
use millpond_mover::channel::{FromMover, ToMover};
use millpond_wire::message::{Reply, ReplyBody, Request, RequestBody};
use planus::Builder;

use crate::memory;

/// Names and shapes may be shared inside a message, which is then smaller than what it says.
const SHARED: usize = 64;

/// What clients send to the daemon.
pub fn requests(data: &[u8]) {
    memory::within(data, SHARED, || {
        let Ok(request) = Request::decode(data) else { return };
        let mut builder = Builder::new();
        if request.body == RequestBody::Unknown {
            return; // What is not known cannot be written.
        }
        let again = Request::decode(request.encode(&mut builder));
        assert_eq!(again.as_ref().ok(), Some(&request), "{again:?}");
    });
}

/// What the daemon answers.
pub fn replies(data: &[u8]) {
    memory::within(data, SHARED, || {
        let Ok(reply) = Reply::decode(data) else { return };
        let mut builder = Builder::new();
        if reply.body == ReplyBody::Unknown {
            return; // What is not known cannot be written.
        }
        let again = Reply::decode(reply.encode(&mut builder));
        assert_eq!(again.as_ref().ok(), Some(&reply), "{again:?}");
    });
}

/// What keeper and daemon say to each other.
pub fn keeper_channel(data: &[u8]) {
    memory::within(data, 8, || {
        let Ok(message) = Message::decode(data) else { return };
        assert!(message.descriptors() <= millpond_wire::caps::MESSAGE_FDS);
        let bytes = message.encode().expect("what was read can be written");
        assert_eq!(bytes, data, "each message has one spelling");
        assert_eq!(Message::decode(&bytes).ok().as_ref(), Some(&message));
    });
}

/// What daemon and mover say to each other; one input is read as either.
pub fn mover_channel(data: &[u8]) {
    memory::within(data, 8, || {
        if let Ok(message) = ToMover::decode(data) {
            assert!(message.descriptors() <= 1);
            assert_eq!(message.encode(), data, "each message has one spelling");
        }
        if let Ok(message) = FromMover::decode(data) {
            assert_eq!(message.encode(), data, "each message has one spelling");
        }
    });
}

/// What daemon and host say to each other; one input is read as either.
pub fn host_channel(data: &[u8]) {
    memory::within(data, 8, || {
        match ToHost::decode(data) {
            // A range of versions may be another that has ours in it.
            Ok(message @ ToHost::Hello { .. }) => {
                assert_eq!(ToHost::decode(&message.encode()).ok(), Some(message));
            }
            Ok(message) => assert_eq!(message.encode(), data, "each message has one spelling"),
            Err(_) => {}
        }
        if let Ok(message) = FromHost::decode(data) {
            assert_eq!(message.encode(), data, "each message has one spelling");
        }
    });
}
