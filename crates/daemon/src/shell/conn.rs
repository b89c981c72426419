//! One connection: what is still to be sent, and how much of it at once.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use millpond_wire::message::{Reply, ReplyBody};
use millpond_wire::socket::{self, SocketError};
use millpond_wire::{caps, fd, memfd};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::Shutdown;

use super::meter::Unanswered;
use crate::accounts::{Account, Resource};
use crate::driver::SharedFd;

/// What may be unsent before nothing more is read from a client that does not read: messages, the
/// bytes that they keep (those in memfds too), and descriptors.
const PATIENCE: usize = 512;
const PATIENCE_BYTES: usize = 4 << 20;
const PATIENCE_FDS: usize = 64;

struct Outgoing {
    bytes: Vec<u8>,
    fds: Vec<SharedFd>,
    /// The bytes that it keeps.
    weight: usize,
    /// Those of them in a memfd, which stay when it is sent.
    in_memfd: usize,
}

/// What became of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushed {
    Everything,
    /// The peer's queue is full: the socket says when there is room.
    Full,
    /// The peer has a descriptor unread, or the system has too many in flight: try again soon.
    Soon,
    /// The connection's user has too many descriptors unread.
    NoRoom,
    /// The peer is gone.
    Gone,
}

pub struct Conn {
    socket: OwnedFd,
    queue: VecDeque<Outgoing>,
    queued_bytes: usize,
    queued_fds: usize,
    /// Replies that are being made elsewhere; their bytes are among those that wait.
    promised: usize,
    /// Descriptors of the last message that had any, until it is read, and the bytes of its memfd.
    unread_fds: usize,
    unread_bytes: usize,
    /// Who pays; nobody for the operator's.
    account: Option<Rc<Account>>,
    /// The bytes that are paid for.
    charged: u64,
    /// What is unread here is known to whoever looks for it.
    pub listed: bool,
    /// The next message has more descriptors than the user may have in flight now.
    pub no_room: bool,
    /// Ends when everything is sent.
    pub closing: bool,
    /// What the event loop waits for.
    pub interest: (bool, bool),
    pub unanswered: Unanswered,
}

impl Conn {
    /// A connection that was just accepted, on this account.
    #[must_use]
    pub fn new(socket: OwnedFd, account: Option<Rc<Account>>) -> Self {
        if let Some(account) = &account {
            account.add(Resource::Connections, 1);
        }
        Self {
            socket,
            queue: VecDeque::new(),
            queued_bytes: 0,
            queued_fds: 0,
            promised: 0,
            unread_fds: 0,
            unread_bytes: 0,
            account,
            charged: 0,
            listed: false,
            no_room: false,
            closing: false,
            interest: (true, false),
            unanswered: Unanswered::default(),
        }
    }

    /// Messages that are not sent yet.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.queue.len() + self.promised
    }

    /// Whether a reply is being made elsewhere.
    #[must_use]
    pub fn has_promised(&self) -> bool {
        self.promised > 0
    }

    /// Who pays for it.
    #[must_use]
    pub fn account(&self) -> Option<&Rc<Account>> {
        self.account.as_ref()
    }

    /// Whether nothing is read from it because of its user.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.is_full())
    }

    /// Whether descriptors were sent that may be unread.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.unread_fds > 0
    }

    /// Looks whether they are read. True if none is unread; also if nobody can read any more.
    pub fn look(&mut self) -> bool {
        if self.unread_fds > 0 && fd::unread_by_peer(&self.socket).unwrap_or(0) > 0 {
            return false;
        }
        if let Some(account) = &self.account {
            account.give(Resource::Descriptors, self.unread_fds as u64);
        }
        (self.unread_fds, self.unread_bytes, self.listed) = (0, 0, false);
        self.pay();
        true
    }

    /// The user pays for what waits here and for what is unread.
    pub fn pay(&mut self) {
        let now = (self.queued_bytes + self.unread_bytes) as u64;
        if let Some(account) = &self.account
            && now != self.charged
        {
            account.change(Resource::ReplyBytes, self.charged, now);
            self.charged = now;
        }
    }

    /// Nothing more is said or heard.
    pub fn end(&self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Whether the peer is gone; what it said before may still be unread.
    #[must_use]
    pub fn has_hung_up(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// What should be waited for: (readable, writable).
    #[must_use]
    pub fn wants(&self) -> (bool, bool) {
        let patient = self.queue.len() < PATIENCE
            && self.queued_bytes < PATIENCE_BYTES
            && self.queued_fds < PATIENCE_FDS;
        (patient && !self.closing, !self.queue.is_empty())
    }

    /// Sends a reply now if nothing is before it, else later.
    ///
    /// # Errors
    /// If a reply that is larger than a datagram cannot be put into a memfd.
    pub fn send(
        &mut self,
        reply: &Reply,
        fds: Vec<SharedFd>,
        builder: &mut planus::Builder,
    ) -> std::io::Result<Flushed> {
        let bytes = reply.encode(builder);
        if self.queue.is_empty() && bytes.len() <= caps::MESSAGE_BYTES {
            match self.try_send(bytes, &fds, 0) {
                Flushed::Everything => return Ok(Flushed::Everything),
                Flushed::Gone => return Ok(Flushed::Gone),
                later => {
                    let bytes = bytes.to_vec();
                    self.enqueue(bytes, fds, 0);
                    return Ok(later);
                }
            }
        }
        if bytes.len() > caps::MESSAGE_BYTES {
            let file = memfd::sealed("millpond-reply", bytes)?;
            let weight = bytes.len();
            // What belongs to the reply comes behind the memfd.
            let fds = std::iter::once(file.into()).chain(fds).collect();
            self.announce(reply.number, weight, fds, builder);
        } else {
            let bytes = bytes.to_vec();
            self.enqueue(bytes, fds, 0);
        }
        Ok(self.flush())
    }

    /// Sends a reply now, or not at all.
    pub fn send_now(
        &mut self,
        reply: &Reply,
        fds: &[SharedFd],
        builder: &mut planus::Builder,
    ) -> Flushed {
        match self.queue.is_empty() {
            true => self.try_send(reply.encode(builder), fds, 0),
            false => Flushed::Full,
        }
    }

    /// A reply of about so many bytes is being made elsewhere.
    pub fn promise(&mut self, bytes: usize) {
        self.promised += 1;
        self.queued_bytes += bytes;
    }

    /// It is made, and sent as soon as possible.
    pub fn send_made(
        &mut self,
        number: u64,
        expected: usize,
        (file, bytes): (OwnedFd, usize),
        builder: &mut planus::Builder,
    ) -> Flushed {
        self.promised -= 1;
        self.queued_bytes -= expected;
        self.announce(number, bytes, vec![file.into()], builder);
        self.flush()
    }

    fn announce(
        &mut self,
        number: u64,
        bytes: usize,
        fds: Vec<SharedFd>,
        builder: &mut planus::Builder,
    ) {
        let announced = Reply { number, body: ReplyBody::InMemfd { bytes: bytes as u64 } };
        let message = announced.encode(builder).to_vec();
        self.enqueue(message, fds, bytes);
    }

    fn enqueue(&mut self, bytes: Vec<u8>, fds: Vec<SharedFd>, memfd_bytes: usize) {
        let weight = bytes.len() + memfd_bytes;
        self.queued_bytes += weight;
        self.queued_fds += fds.len();
        self.queue.push_back(Outgoing { bytes, fds, weight, in_memfd: memfd_bytes });
    }

    /// Sends as much as possible of what waits.
    pub fn flush(&mut self) -> Flushed {
        while let Some(next) = self.queue.pop_front() {
            match self.try_send(&next.bytes, &next.fds, next.in_memfd) {
                Flushed::Everything => {
                    self.queued_bytes -= next.weight;
                    self.queued_fds -= next.fds.len();
                }
                other => {
                    self.queue.push_front(next);
                    return other;
                }
            }
        }
        Flushed::Everything
    }

    fn try_send(&mut self, bytes: &[u8], fds: &[SharedFd], in_memfd: usize) -> Flushed {
        // At most one unread message with descriptors for each connection, and so many descriptors
        // for each user, so that a client that does not read cannot use up what may be in flight
        // for all.
        self.no_room = false;
        if !fds.is_empty() {
            if !self.look() {
                return Flushed::Soon;
            }
            let more = fds.len() as u64;
            if let Some(account) = &self.account
                && account.check_or_first(Resource::Descriptors, more).is_err()
            {
                self.no_room = true;
                return Flushed::NoRoom;
            }
        }
        let borrowed: Vec<BorrowedFd<'_>> = fds.iter().map(|fd| fd.as_fd()).collect();
        match socket::send(&self.socket, bytes, &borrowed, false) {
            Ok(()) => {
                if !fds.is_empty() {
                    (self.unread_fds, self.unread_bytes) = (fds.len(), in_memfd);
                    if let Some(account) = &self.account {
                        account.add(Resource::Descriptors, fds.len() as u64);
                    }
                }
                Flushed::Everything
            }
            Err(error) if error.is_later() => match &error {
                SocketError::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::WouldBlock =>
                {
                    Flushed::Full
                }
                _ => Flushed::Soon,
            },
            Err(_) => Flushed::Gone,
        }
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        if let Some(account) = &self.account {
            account.give(Resource::Connections, 1);
            account.give(Resource::Descriptors, self.unread_fds as u64);
            account.give(Resource::ReplyBytes, self.charged);
        }
    }
}

impl AsFd for Conn {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::accounts::{Accounts, AllTerms};

    fn receive(socket: &OwnedFd) -> Option<(Reply, Vec<OwnedFd>)> {
        let mut buffer = vec![0; caps::MESSAGE_BYTES];
        let received = socket::receive(socket, &mut buffer, false).unwrap()?;
        Some((Reply::decode(&buffer[..received.bytes]).unwrap(), received.fds))
    }

    fn reply(number: u64) -> Reply {
        Reply { number, body: ReplyBody::Done }
    }

    #[test]
    fn only_one_unread_descriptor_is_in_flight() {
        let (ours, theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        let mut builder = planus::Builder::new();
        let file: SharedFd = Arc::new(std::fs::File::open("/dev/null").unwrap().into());
        let mut send =
            |conn: &mut Conn, number, fd| conn.send(&reply(number), fd, &mut builder).unwrap();
        assert_eq!(send(&mut conn, 1, vec![file.clone()]), Flushed::Everything);
        assert_eq!(send(&mut conn, 2, vec![file.clone()]), Flushed::Soon);
        assert_eq!(send(&mut conn, 3, vec![]), Flushed::Soon);
        assert_eq!(conn.backlog(), 2);
        assert_eq!(receive(&theirs).unwrap().1.len(), 1);
        assert_eq!(conn.flush(), Flushed::Everything);
        assert_eq!(receive(&theirs).unwrap().0.number, 2);
        assert_eq!(receive(&theirs).unwrap().0.number, 3);
    }

    #[test]
    fn a_large_reply_travels_as_a_memfd() {
        let (ours, theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        let failure =
            millpond_wire::Failure::new(millpond_wire::ErrorKind::Invalid, "x".repeat(200_000));
        let large = Reply { number: 5, body: ReplyBody::Failure(failure) };
        let mut builder = planus::Builder::new();
        assert_eq!(conn.send(&large, Vec::new(), &mut builder).unwrap(), Flushed::Everything);
        let (announced, fds) = receive(&theirs).unwrap();
        let ReplyBody::InMemfd { bytes } = announced.body else { panic!("{announced:?}") };
        assert_eq!(announced.number, 5);
        assert!(memfd::read_sealed(&fds[0], bytes, caps::MEMFD_BYTES).unwrap().len() > 200_000);
    }

    #[test]
    fn a_reply_that_is_made_elsewhere_weighs_as_if_it_waited() {
        let (ours, theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        let mut builder = planus::Builder::new();
        conn.promise(PATIENCE_BYTES);
        assert_eq!((conn.backlog(), conn.wants()), (1, (false, false)));
        conn.send(&reply(6), Vec::new(), &mut builder).unwrap();
        let file = memfd::sealed("test", &[1, 2, 3]).unwrap();
        assert_eq!(conn.send_made(5, PATIENCE_BYTES, (file, 3), &mut builder), Flushed::Everything);
        assert_eq!((conn.backlog(), conn.queued_bytes, conn.wants()), (0, 0, (true, false)));
        assert_eq!(receive(&theirs).unwrap().0.number, 6, "others need not wait for it");
        let (announced, fds) = receive(&theirs).unwrap();
        assert_eq!((announced.number, announced.body), (5, ReplyBody::InMemfd { bytes: 3 }));
        assert_eq!(memfd::read_sealed(&fds[0], 3, 3).unwrap(), [1, 2, 3]);
    }

    #[test]
    fn a_client_that_never_reads_is_not_read_from() {
        let (ours, _theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        let mut builder = planus::Builder::new();
        for number in 1..20_000 {
            conn.send(&reply(number), Vec::new(), &mut builder).unwrap();
            if !conn.wants().0 {
                return;
            }
        }
        panic!("it would have been read from for ever");
    }

    #[test]
    fn large_replies_weigh_what_they_keep() {
        let (ours, _theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        let mut builder = planus::Builder::new();
        let failure =
            millpond_wire::Failure::new(millpond_wire::ErrorKind::Invalid, "x".repeat(1 << 20));
        let large = Reply { number: 5, body: ReplyBody::Failure(failure) };
        let sent = (0..20).take_while(|_| {
            conn.send(&large, Vec::new(), &mut builder).unwrap();
            conn.wants().0
        });
        assert!(sent.count() < 10, "memfds count, although their messages are small");
    }

    #[test]
    fn a_connection_that_closes_is_not_read_from() {
        let (ours, theirs) = socket::pair().unwrap();
        let mut conn = Conn::new(ours, None);
        assert_eq!(conn.wants(), (true, false));
        conn.closing = true;
        assert_eq!(conn.wants(), (false, false), "or the event loop would spin on what it ignores");
        drop(theirs);
    }

    #[test]
    fn what_is_sent_is_paid_for_until_it_is_read() {
        let terms = AllTerms::NONE.with(Resource::Descriptors, 3);
        let account = Accounts::new(terms, 0).of(&"local".into(), 1);
        let mut builder = planus::Builder::new();
        let pairs: Vec<_> = (0..3).map(|_| socket::pair().unwrap()).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let conns = ours.into_iter().map(|socket| Conn::new(socket, Some(Rc::clone(&account))));
        let mut conns: Vec<Conn> = conns.collect();
        assert_eq!(account.has(Resource::Connections), 3);
        let file: SharedFd = Arc::new(std::fs::File::open("/dev/null").unwrap().into());
        let two = || vec![file.clone(), file.clone()];
        assert_eq!(conns[0].send(&reply(1), two(), &mut builder).unwrap(), Flushed::Everything);
        assert_eq!(conns[1].send(&reply(2), two(), &mut builder).unwrap(), Flushed::NoRoom);
        let large = memfd::sealed("test", &vec![0; 5000]).unwrap();
        conns[2].promise(4000);
        conns[2].pay();
        assert_eq!(account.has(Resource::ReplyBytes) / 1000, 4);
        let sent = conns[2].send_made(7, 4000, (large, 5000), &mut builder);
        conns[2].pay();
        assert_eq!((sent, account.has(Resource::Descriptors)), (Flushed::Everything, 3));
        assert_eq!(account.has(Resource::ReplyBytes) / 1000, 5, "sent, and not read");
        assert!(!conns[2].look());
        drop(receive(&theirs[2]).unwrap());
        assert!(conns[2].look());
        conns[1].pay();
        let waiting = account.has(Resource::ReplyBytes);
        assert!((1..1000).contains(&waiting), "{waiting}: what waits is small");
        assert_eq!(conns[1].flush(), Flushed::NoRoom);
        drop(receive(&theirs[0]).unwrap());
        assert!(conns[0].look());
        assert_eq!(conns[1].flush(), Flushed::Everything);
        drop(conns);
        let all = [Resource::Connections, Resource::Descriptors, Resource::ReplyBytes];
        assert_eq!(all.map(|resource| account.has(resource)), [0; 3]);
    }
}
