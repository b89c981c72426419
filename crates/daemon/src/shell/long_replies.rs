//! Replies with very many entries are encoded by a thread of their own: putting a million tensors in
//! order and into a memfd takes seconds, and nobody else should wait for that.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use millpond_wire::fd;
use millpond_wire::memfd;
use millpond_wire::message::{Reply, ReplyBody};

use crate::policy::{ConnId, LONG, entries, in_order};
use crate::side_thread::{Inside, SideThread};

/// So long after a long reply its memory is given back to the system, unless another is asked for:
/// the event loop may wait for that.
const PAUSE: Duration = Duration::from_millis(250);
/// But so many bytes do not wait.
const MUCH: usize = 256 << 20;
/// What an entry weighs, roughly, until it is known.
const ENTRY_BYTES: usize = 160;

/// A reply in its memfd.
#[derive(Debug)]
pub struct Made {
    pub conn: ConnId,
    pub number: u64,
    /// What it was thought to weigh.
    pub expected: usize,
    /// The memfd with its bytes.
    pub file: io::Result<(OwnedFd, usize)>,
}

/// The thread, from outside.
#[derive(Debug)]
pub struct LongReplies {
    thread: SideThread<(ConnId, Reply), Made>,
}

impl LongReplies {
    /// Starts the thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn start() -> io::Result<Self> {
        let thread = SideThread::start("replies", serve)?;
        Ok(Self { thread })
    }

    /// Has a reply encoded.
    pub fn make(&self, conn: ConnId, reply: Reply) {
        self.thread.ask((conn, reply));
    }

    /// What was made since the last time.
    pub fn next(&self) -> Option<Made> {
        self.thread.next()
    }

    /// Makes the descriptor unreadable until something new is made.
    pub fn clear(&self) {
        self.thread.clear();
    }
}

impl AsFd for LongReplies {
    /// Readable when something was made.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.thread.as_fd()
    }
}

fn serve(inside: Inside<(ConnId, Reply), Made>) {
    let Inside { asks, asked, speaker, .. } = inside;
    drop(asks);
    // Freed since it was last given back to the system.
    let mut freed = 0;
    loop {
        let next = match freed {
            0 => asked.recv().map_err(RecvTimeoutError::from),
            _ => asked.recv_timeout(PAUSE),
        };
        let (conn, mut reply) = match next {
            Ok(asked) => asked,
            Err(RecvTimeoutError::Timeout) => {
                fd::give_memory_back();
                freed = 0;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let (number, expected) = (reply.number, expected(&reply.body).unwrap_or(0));
        let file = make(&mut reply);
        // Before the next is taken: it may be as large.
        drop(reply);
        freed += expected;
        if freed >= MUCH {
            fd::give_memory_back();
            freed = 0;
        }
        speaker.say(Made { conn, number, expected, file });
    }
}

/// What a reply weighs, roughly, if it is a long one.
#[must_use]
pub fn expected(body: &ReplyBody) -> Option<usize> {
    let entries = entries(body);
    (entries > LONG).then_some(entries * ENTRY_BYTES)
}

fn make(reply: &mut Reply) -> io::Result<(OwnedFd, usize)> {
    in_order(&mut reply.body);
    // Its own, because it is as large as the reply, and stays so.
    let mut builder = planus::Builder::new();
    let bytes = reply.encode(&mut builder);
    Ok((memfd::sealed("millpond-reply", bytes)?, bytes.len()))
}

#[cfg(test)]
mod tests {
    use millpond_wire::message::{ClientInfo, LeaseInfo};
    use millpond_wire::{ClientId, Mode, TensorId, caps};
    use rustix::event::{PollFd, PollFlags};

    use super::*;

    fn lease(client: ClientId) -> LeaseInfo {
        LeaseInfo {
            target: TensorId::random().into(),
            name: None,
            mode: Mode::ReadOnly,
            bytes: 1,
            since_unix_ms: 2,
            client,
            pid: 3,
            program: "test".into(),
        }
    }

    #[test]
    fn what_is_made_is_what_was_said() {
        let client = ClientId::random();
        let clients = ReplyBody::Clients(vec![ClientInfo {
            client,
            pid: 3,
            user: 4,
            program: "test".into(),
            since_unix_ms: 5,
            silent: false,
            leases: (0..LONG).map(|_| lease(client)).collect(),
            mover: false,
        }]);
        assert!(expected(&clients).is_some_and(|bytes| bytes > 100 * LONG));
        assert_eq!(expected(&ReplyBody::Clients(Vec::new())), None);
        let replies = LongReplies::start().unwrap();
        replies.make(ConnId(7), Reply { number: 9, body: clients.clone() });
        rustix::event::poll(&mut [PollFd::new(&replies, PollFlags::IN)], None).unwrap();
        replies.clear();
        let made = replies.next().unwrap();
        assert_eq!((made.conn, made.number), (ConnId(7), 9));
        assert_eq!(Some(made.expected), expected(&clients));
        let (file, bytes) = made.file.unwrap();
        let bytes = memfd::read_sealed(file, bytes as u64, caps::MEMFD_BYTES).unwrap();
        assert_eq!(Reply::decode(&bytes).unwrap().body, clients);
    }
}
