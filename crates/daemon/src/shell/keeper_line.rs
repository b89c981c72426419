//! The daemon's line to its keeper, which nobody ever waits for.
//!
//! What has a descriptor is taken now or refused: it counts as held when it is sent. Everything else
//! waits here, in order, until the keeper reads. Of that there is no more than was held when the
//! channel became full, because nothing new is held while something waits.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use millpond_keeper::channel::{Channel, ChannelError, KEYS_PER_MESSAGE, Message, SEND_TIMEOUT};
use millpond_wire::fd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::policy::{HoldError, KeeperRoom, PortError};

/// How long others may take to read descriptors, before something that has one is refused.
const IN_FLIGHT: Duration = Duration::from_millis(250);
/// Pauses between tries then: no descriptor says when it is over.
const PAUSE: Duration = Duration::from_millis(10);

/// What the kernel would take of a message now.
#[derive(Clone, Copy, Debug)]
enum Room {
    Plenty,
    /// The keeper has not read for a while.
    Little,
    /// The keeper has taken nothing since, and then had so many bytes unread.
    Full {
        since: Instant,
        unread: usize,
    },
    /// Too many descriptors of this user are in flight, to whomever, and were at the last try.
    Short {
        since: Instant,
        last: Instant,
    },
}

/// What became of one try to send. A room says the rest.
enum Sent {
    Yes,
    Full,
    /// With the reason.
    Short(String),
    Refused(ChannelError),
}

#[derive(Debug)]
pub struct KeeperLine {
    channel: Option<Channel>,
    waiting: VecDeque<Message>,
    room: Room,
    hung: bool,
    watched: bool,
}

impl KeeperLine {
    pub fn new(channel: Channel) -> Self {
        let (channel, waiting) = (Some(channel), VecDeque::new());
        Self { channel, waiting, room: Room::Plenty, hung: false, watched: false }
    }

    /// The keeper's channel, unless it is dead.
    pub fn channel(&self) -> Option<&Channel> {
        self.channel.as_ref()
    }

    /// There is no keeper from now on. The next one gets everything that is held.
    pub fn disconnect(&mut self) -> Option<Channel> {
        self.waiting.clear();
        (self.room, self.watched) = (Room::Plenty, false);
        self.channel.take()
    }

    pub fn connect(&mut self, channel: Channel) {
        *self = Self::new(channel);
    }

    /// The keeper cannot be told what to hold, and is none.
    pub fn give_up(&mut self) {
        self.hung = true;
    }

    pub fn take_hung(&mut self) -> bool {
        std::mem::take(&mut self.hung)
    }

    /// Whether there is a keeper that may listen.
    pub fn is_up(&self) -> bool {
        self.channel.is_some() && !self.hung
    }

    pub fn room(&self) -> KeeperRoom {
        match self.room {
            _ if !self.is_up() => KeeperRoom::Plenty,
            Room::Plenty => KeeperRoom::Plenty,
            Room::Little => KeeperRoom::Little,
            Room::Full { .. } => KeeperRoom::None,
            Room::Short { last, .. } if last.elapsed() < PAUSE => KeeperRoom::None,
            Room::Short { .. } => KeeperRoom::Little,
        }
    }

    /// Sends something to hold. Without a keeper there is nothing to send.
    ///
    /// # Errors
    /// [`HoldError`]; nothing was sent then.
    pub fn hold(&mut self, message: &Message, fds: &[BorrowedFd<'_>]) -> Result<(), HoldError> {
        self.flush();
        if !self.is_up() {
            return Ok(());
        }
        if !self.waiting.is_empty() {
            return Err(HoldError::Full);
        }
        match (self.send(message, fds), self.room) {
            (Sent::Yes, _) => Ok(()),
            (Sent::Short(text), Room::Short { since, last }) if last >= since + IN_FLIGHT => {
                Err(PortError(format!("the keeper: {text}")).into())
            }
            (Sent::Full | Sent::Short(_), _) => Err(HoldError::Full),
            (Sent::Refused(error), _) => Err(port_error(&error).into()),
        }
    }

    /// Says something without a descriptor, now or when there is room.
    ///
    /// # Errors
    /// [`PortError`] if the message itself is at fault.
    pub fn tell(&mut self, message: Message) -> Result<(), PortError> {
        self.flush();
        if !self.is_up() {
            return Ok(());
        }
        if self.waiting.is_empty() {
            match self.send(&message, &[]) {
                Sent::Yes => return Ok(()),
                Sent::Full | Sent::Short(_) => {}
                Sent::Refused(error) => return Err(port_error(&error)),
            }
        }
        match (self.waiting.back_mut(), message) {
            (Some(Message::Drop { keys }), Message::Drop { keys: more })
                if keys.len() + more.len() <= KEYS_PER_MESSAGE =>
            {
                keys.extend(more);
            }
            (_, message) => self.waiting.push_back(message),
        }
        Ok(())
    }

    /// Says the last thing of all, when nobody is served any more who would have to wait for it.
    ///
    /// # Errors
    /// [`PortError`] if it could not be said.
    pub fn tell_at_last(&mut self, message: Message) -> Result<(), PortError> {
        let Some(channel) = self.channel.as_ref().filter(|_| !self.hung) else { return Ok(()) };
        for message in self.waiting.drain(..).chain([message]) {
            match channel.send(&message, &[]) {
                Ok(()) | Err(ChannelError::HungUp) => {}
                Err(error) => return Err(port_error(&error)),
            }
        }
        Ok(())
    }

    /// Sends what waits, as far as there is room. A keeper that has taken nothing for long is given
    /// up.
    pub fn care(&mut self) {
        if !self.is_up() {
            return;
        }
        let now = Instant::now();
        if matches!(self.room, Room::Little | Room::Full { .. }) {
            self.look(now);
        }
        self.flush();
        if let Room::Full { since, .. } = self.room
            && now >= since + SEND_TIMEOUT
        {
            let seconds = SEND_TIMEOUT.as_secs();
            tracing::error!("the keeper took no message for {seconds} s; replacing it");
            self.hung = true;
        }
    }

    /// When to care again, at the latest.
    pub fn next(&self, is_awaited: bool) -> Option<Instant> {
        match self.room {
            _ if !self.is_up() => None,
            Room::Full { since, .. } => Some(since + SEND_TIMEOUT),
            Room::Short { last, .. } if is_awaited || !self.waiting.is_empty() => {
                Some(last + PAUSE)
            }
            _ => None,
        }
    }

    /// Whether the event loop is to wait for room from now on; `None` if it does what it should.
    pub fn interest(&mut self) -> Option<bool> {
        let wants = self.is_up() && matches!(self.room, Room::Little | Room::Full { .. });
        let changed = wants != std::mem::replace(&mut self.watched, wants);
        changed.then_some(wants)
    }

    fn flush(&mut self) {
        while self.is_up()
            && let Some(message) = self.waiting.pop_front()
        {
            match self.send(&message, &[]) {
                Sent::Yes => {}
                Sent::Full | Sent::Short(_) => {
                    self.waiting.push_front(message);
                    return;
                }
                Sent::Refused(error) => tracing::error!("the keeper: {error}"),
            }
        }
    }

    fn send(&mut self, message: &Message, fds: &[BorrowedFd<'_>]) -> Sent {
        let Some(channel) = &self.channel else { return Sent::Yes };
        let sent = channel.send_within(message, fds, Duration::ZERO);
        let now = Instant::now();
        match sent {
            // Whether the keeper is gone, only its pidfd says.
            Ok(()) | Err(ChannelError::HungUp) => {
                // What has no descriptor says nothing about descriptors.
                if !(fds.is_empty() && matches!(self.room, Room::Short { .. })) {
                    self.look(now);
                }
                Sent::Yes
            }
            Err(ChannelError::HungPeer { .. }) => match self.look(now) {
                // Room, but no memory for the message.
                Room::Plenty => self.short(now, "the system has no memory for a message".into()),
                Room::Full { .. } => Sent::Full,
                _ => {
                    self.room = Room::Full { since: now, unread: self.unread() };
                    Sent::Full
                }
            },
            Err(error @ ChannelError::InFlight) => self.short(now, error.to_string()),
            Err(error) => Sent::Refused(error),
        }
    }

    fn short(&mut self, now: Instant, why: String) -> Sent {
        let since = match self.room {
            // Tries follow each other quickly as long as anybody wants it.
            Room::Short { since, last } if now < last + IN_FLIGHT => since,
            _ => now,
        };
        self.room = Room::Short { since, last: now };
        Sent::Short(why)
    }

    /// Looks what the keeper has read. With a quarter of the channel full, the kernel calls it full.
    fn look(&mut self, now: Instant) -> Room {
        let is_writable = self.channel.as_ref().is_none_or(|channel| {
            let mut polled = [PollFd::new(channel, PollFlags::OUT)];
            let looked = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
            looked.is_err() || !polled[0].revents().is_empty()
        });
        self.room = match self.room {
            _ if is_writable => Room::Plenty,
            Room::Full { since, unread } => {
                let now_unread = self.unread();
                let since = if now_unread < unread { now } else { since };
                Room::Full { since, unread: now_unread }
            }
            _ => Room::Little,
        };
        self.room
    }

    fn unread(&self) -> usize {
        self.channel.as_ref().and_then(|channel| fd::unread_by_peer(channel).ok()).unwrap_or(0)
    }
}

fn port_error(error: &ChannelError) -> PortError {
    PortError(format!("the keeper: {error}"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use millpond_keeper::channel::HoldKey;
    use millpond_wire::SlabId;

    use super::*;

    fn key(number: u128) -> HoldKey {
        HoldKey::slab(SlabId(uuid::Uuid::from_u128(number)))
    }

    fn hold(line: &mut KeeperLine, number: u128) -> Result<(), HoldError> {
        let file = File::open("/dev/null").unwrap();
        line.hold(&Message::Hold { holdings: vec![key(number).into()] }, &[file.as_fd()])
    }

    fn let_go(line: &mut KeeperLine, number: u128) {
        line.tell(Message::Drop { keys: vec![key(number)] }).unwrap();
    }

    /// A line whose keeper does not read, and how much it has taken.
    fn full() -> (KeeperLine, Channel, u128) {
        let (channel, theirs) = Channel::pair().unwrap();
        let mut line = KeeperLine::new(channel);
        let taken = (0..).find(|number| hold(&mut line, *number).is_err()).unwrap();
        assert!(taken > 100 && line.room() == KeeperRoom::None, "{taken}");
        (line, Channel::new(theirs), taken)
    }

    fn read(keeper: &Channel) -> Vec<(bool, HoldKey)> {
        let mut read = Vec::new();
        while let Some((message, _)) = keeper.try_receive().unwrap() {
            match message {
                Message::Hold { holdings } => {
                    read.extend(holdings.into_iter().map(|it| (true, it.key)));
                }
                Message::Drop { keys } => read.extend(keys.into_iter().map(|key| (false, key))),
                other => panic!("{other:?}"),
            }
        }
        read
    }

    #[test]
    fn a_keeper_that_does_not_read_is_given_up_after_its_time_and_nobody_waits_for_it() {
        let begun = Instant::now();
        let (mut line, _keeper, _) = full();
        assert_eq!(line.interest(), Some(true));
        let until = line.next(true).unwrap();
        assert!(until >= begun + SEND_TIMEOUT && until <= Instant::now() + SEND_TIMEOUT);
        line.care();
        assert!(!line.take_hung());
        let Room::Full { unread, .. } = line.room else { panic!("{line:?}") };
        line.room = Room::Full { since: begun.checked_sub(SEND_TIMEOUT).unwrap(), unread };
        line.care();
        // Its successor gets everything.
        assert!(hold(&mut line, 0).is_ok() && line.room() == KeeperRoom::Plenty);
        assert!(line.take_hung());
    }

    #[test]
    fn a_keeper_that_reads_slowly_does_not_hang() {
        let (mut line, keeper, _) = full();
        let Room::Full { unread, .. } = line.room else { panic!("{line:?}") };
        let long_ago = Instant::now().checked_sub(SEND_TIMEOUT).unwrap();
        line.room = Room::Full { since: long_ago, unread };
        keeper.try_receive().unwrap().unwrap();
        line.care();
        assert!(!line.take_hung());
        assert!(matches!(line.room, Room::Full { since, .. } if since > long_ago), "{line:?}");
    }

    #[test]
    fn what_waits_is_said_in_order_and_before_anything_new_is_held() {
        let (mut line, keeper, taken) = full();
        // More than fit, so that some wait.
        for number in 0..taken {
            let_go(&mut line, number);
        }
        assert!(!line.waiting.is_empty());
        assert!(matches!(hold(&mut line, 0), Err(HoldError::Full)));
        let mut said = read(&keeper);
        line.care();
        assert_eq!((line.room(), line.interest()), (KeeperRoom::Plenty, None));
        hold(&mut line, 0).unwrap();
        said.extend(read(&keeper));
        let holds = (0..taken).map(|number| (true, key(number)));
        let drops = (0..taken).map(|number| (false, key(number)));
        assert_eq!(said, holds.chain(drops).chain([(true, key(0))]).collect::<Vec<_>>());
    }

    #[test]
    fn many_descriptors_in_flight_are_no_hang_and_refused_after_a_while() {
        let (channel, _theirs) = Channel::pair().unwrap();
        let mut line = KeeperLine::new(channel);
        let begun = Instant::now();
        line.short(begun, String::new());
        assert_eq!((line.room(), line.interest()), (KeeperRoom::None, None));
        assert_eq!((line.next(true), line.next(false)), (Some(begun + PAUSE), None));
        line.short(begun + IN_FLIGHT / 2, String::new());
        line.short(begun + IN_FLIGHT, String::new());
        assert!(matches!(line.room, Room::Short { since, .. } if since == begun), "{line:?}");
        // Much later it is another shortage.
        line.short(begun + 3 * IN_FLIGHT, String::new());
        assert!(matches!(line.room, Room::Short { since, .. } if since > begun), "{line:?}");
        line.care();
        assert!(!line.take_hung());
        // What has no descriptor is not concerned, and what has one may find it over.
        let_go(&mut line, 1);
        assert!(line.waiting.is_empty() && matches!(line.room, Room::Short { .. }));
        hold(&mut line, 1).unwrap();
        assert_eq!(line.room(), KeeperRoom::Plenty);
    }

    #[test]
    fn nothing_of_one_keeper_is_said_to_the_next() {
        let (mut line, _keeper, taken) = full();
        for number in 0..taken {
            let_go(&mut line, number);
        }
        line.give_up();
        assert!(line.disconnect().is_some() && line.channel().is_none());
        let (channel, theirs) = Channel::pair().unwrap();
        line.connect(channel);
        hold(&mut line, 7).unwrap();
        assert_eq!(read(&Channel::new(theirs)), [(true, key(7))]);
    }
}
