//! The messages and their bytes: first the kind, then fields in little-endian order; a text has its
//! length in front. By hand, because the keeper should not carry a schema language for fifteen frames.

use millpond_wire::Epoch;

use super::{ChannelError, HoldKey};

/// Longest configuration: it must fit one datagram of 64 KiB with room to spare.
pub const CONFIG_BYTES: usize = 48 * 1024;
/// Keys, and so descriptors, in one message; a datagram takes 128.
pub const KEYS_PER_MESSAGE: usize = 100;
/// Longest path of a program, and longest reason.
pub const TEXT_BYTES: usize = 4096;

/// What keeper and daemon say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Keeper: the first message. Comes with the keeper's pidfd.
    Start {
        /// The epoch of the daemon that reads this.
        epoch: Epoch,
        /// The keeper.
        keeper_pid: u32,
        /// The configuration as JSON.
        config: Vec<u8>,
    },
    /// Keeper: descriptors that were held for an earlier daemon, one for each key.
    Held {
        /// Their names.
        keys: Vec<HoldKey>,
    },
    /// Keeper: everything held was sent.
    Ready,
    /// Keeper: are you there?
    Ping {
        /// To be repeated in the answer.
        number: u64,
    },
    /// Keeper: finish what is running, then exit with code 0.
    Stop,
    /// Keeper: another program takes over. Answer what can be answered at once, read nothing more,
    /// say [`Message::HandedOver`], and stay until the descriptor that comes along says that the
    /// next daemon serves, or that nobody is left.
    HandOver,
    /// Keeper: there is no upgrade, and this is why.
    UpgradeRefused {
        /// A sentence for people.
        reason: String,
    },
    /// Daemon: hold these descriptors, one for each key. An older one of the same key is closed.
    Hold {
        /// Their names.
        keys: Vec<HoldKey>,
    },
    /// Daemon: close the descriptors of these keys.
    Drop {
        /// Their names.
        keys: Vec<HoldKey>,
    },
    /// Daemon: I am here.
    Pong {
        /// The number of the ping.
        number: u64,
    },
    /// Daemon: clients are served.
    Serving,
    /// Daemon, to a keeper that it started: the first message. Comes with the daemon's pidfd.
    Adopt {
        /// The epoch of this daemon; the next one gets the next.
        epoch: Epoch,
        /// The daemon.
        daemon_pid: u32,
        /// The configuration as JSON.
        config: Vec<u8>,
    },
    /// Daemon: everything to be held was sent.
    AdoptDone,
    /// Daemon: start the next one from another program.
    Upgrade {
        /// Its absolute path; empty means the keeper's own.
        program: String,
    },
    /// Daemon: I serve nobody any more and change nothing; the next one can start.
    HandedOver,
}

mod kind {
    pub const START: u8 = 1;
    pub const HELD: u8 = 2;
    pub const READY: u8 = 3;
    pub const PING: u8 = 4;
    pub const STOP: u8 = 5;
    pub const HAND_OVER: u8 = 6;
    pub const UPGRADE_REFUSED: u8 = 7;
    pub const HOLD: u8 = 16;
    pub const DROP: u8 = 17;
    pub const PONG: u8 = 18;
    pub const SERVING: u8 = 19;
    pub const ADOPT: u8 = 20;
    pub const ADOPT_DONE: u8 = 21;
    pub const UPGRADE: u8 = 22;
    pub const HANDED_OVER: u8 = 23;
}

impl Message {
    /// How many descriptors travel with this message.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        match self {
            Message::Start { .. } | Message::Adopt { .. } | Message::HandOver => 1,
            Message::Held { keys } | Message::Hold { keys } => keys.len(),
            _ => 0,
        }
    }

    pub(super) fn check_descriptors(&self, found: usize) -> Result<(), ChannelError> {
        let expected = self.descriptors();
        if found == expected { Ok(()) } else { Err(ChannelError::Descriptors { expected, found }) }
    }

    /// The bytes of this message.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`] if there are more keys, or a longer configuration, than a
    /// message takes.
    pub fn encode(&self) -> Result<Vec<u8>, ChannelError> {
        let mut bytes = Vec::new();
        match self {
            Message::Start { epoch, keeper_pid: pid, config } => {
                write_process(&mut bytes, kind::START, *epoch, *pid, config)?;
            }
            Message::Adopt { epoch, daemon_pid: pid, config } => {
                write_process(&mut bytes, kind::ADOPT, *epoch, *pid, config)?;
            }
            Message::Held { keys } => write_keys(&mut bytes, kind::HELD, keys)?,
            Message::Hold { keys } => write_keys(&mut bytes, kind::HOLD, keys)?,
            Message::Drop { keys } => write_keys(&mut bytes, kind::DROP, keys)?,
            Message::Ping { number } => write_number(&mut bytes, kind::PING, *number),
            Message::Pong { number } => write_number(&mut bytes, kind::PONG, *number),
            Message::Ready => bytes.push(kind::READY),
            Message::Stop => bytes.push(kind::STOP),
            Message::Serving => bytes.push(kind::SERVING),
            Message::AdoptDone => bytes.push(kind::ADOPT_DONE),
            Message::HandOver => bytes.push(kind::HAND_OVER),
            Message::HandedOver => bytes.push(kind::HANDED_OVER),
            Message::Upgrade { program } => write_text(&mut bytes, kind::UPGRADE, program)?,
            Message::UpgradeRefused { reason } => {
                write_text(&mut bytes, kind::UPGRADE_REFUSED, reason)?;
            }
        }
        Ok(bytes)
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`] or [`ChannelError::Key`].
    pub fn decode(bytes: &[u8]) -> Result<Message, ChannelError> {
        let mut reader = Reader(bytes);
        let [kind] = reader.array()?;
        let message = match kind {
            kind::START => {
                let (epoch, keeper_pid, config) = reader.process()?;
                Message::Start { epoch, keeper_pid, config }
            }
            kind::ADOPT => {
                let (epoch, daemon_pid, config) = reader.process()?;
                Message::Adopt { epoch, daemon_pid, config }
            }
            kind::HELD => Message::Held { keys: reader.keys()? },
            kind::HOLD => Message::Hold { keys: reader.keys()? },
            kind::DROP => Message::Drop { keys: reader.keys()? },
            kind::PING => Message::Ping { number: reader.u64()? },
            kind::PONG => Message::Pong { number: reader.u64()? },
            kind::READY => Message::Ready,
            kind::STOP => Message::Stop,
            kind::SERVING => Message::Serving,
            kind::ADOPT_DONE => Message::AdoptDone,
            kind::HAND_OVER => Message::HandOver,
            kind::HANDED_OVER => Message::HandedOver,
            kind::UPGRADE => Message::Upgrade { program: reader.text()? },
            kind::UPGRADE_REFUSED => Message::UpgradeRefused { reason: reader.text()? },
            _ => return Err(ChannelError::Malformed("unknown kind")),
        };
        if reader.0.is_empty() {
            Ok(message)
        } else {
            Err(ChannelError::Malformed("bytes after the end"))
        }
    }
}

fn write_number(bytes: &mut Vec<u8>, kind: u8, number: u64) {
    bytes.push(kind);
    bytes.extend(number.to_le_bytes());
}

fn write_text(bytes: &mut Vec<u8>, kind: u8, text: &str) -> Result<(), ChannelError> {
    let length = u16::try_from(text.len()).ok().filter(|_| text.len() <= TEXT_BYTES);
    let length = length.ok_or(ChannelError::Malformed("a text is above 4 KiB"))?;
    bytes.push(kind);
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.as_bytes());
    Ok(())
}

fn write_process(
    bytes: &mut Vec<u8>,
    kind: u8,
    epoch: Epoch,
    pid: u32,
    config: &[u8],
) -> Result<(), ChannelError> {
    let length = u16::try_from(config.len()).ok().filter(|_| config.len() <= CONFIG_BYTES);
    let length = length.ok_or(ChannelError::Malformed("the configuration is above 48 KiB"))?;
    bytes.push(kind);
    bytes.extend(epoch.0.to_le_bytes());
    bytes.extend(pid.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(config);
    Ok(())
}

fn write_keys(bytes: &mut Vec<u8>, kind: u8, keys: &[HoldKey]) -> Result<(), ChannelError> {
    let count = u8::try_from(keys.len()).ok().filter(|_| keys.len() <= KEYS_PER_MESSAGE);
    let count = count.ok_or(ChannelError::Malformed("more than 100 keys"))?;
    bytes.extend([kind, count]);
    for key in keys {
        let text = key.as_str();
        // A key's own rule keeps it at 100 bytes.
        let length = u8::try_from(text.len()).map_err(|_| ChannelError::Malformed("a long key"))?;
        bytes.push(length);
        bytes.extend(text.as_bytes());
    }
    Ok(())
}

/// What is left of a message.
struct Reader<'bytes>(&'bytes [u8]);

impl<'bytes> Reader<'bytes> {
    fn take(&mut self, count: usize) -> Result<&'bytes [u8], ChannelError> {
        let split = self.0.split_at_checked(count);
        let (taken, rest) = split.ok_or(ChannelError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ChannelError> {
        self.take(N)?.try_into().map_err(|_| ChannelError::Malformed("it ends too early"))
    }

    fn u64(&mut self) -> Result<u64, ChannelError> {
        self.array().map(u64::from_le_bytes)
    }

    fn process(&mut self) -> Result<(Epoch, u32, Vec<u8>), ChannelError> {
        let epoch = Epoch(self.u64()?);
        let pid = u32::from_le_bytes(self.array()?);
        let length = usize::from(u16::from_le_bytes(self.array()?));
        if length > CONFIG_BYTES {
            return Err(ChannelError::Malformed("the configuration is above 48 KiB"));
        }
        Ok((epoch, pid, self.take(length)?.to_vec()))
    }

    fn text(&mut self) -> Result<String, ChannelError> {
        let length = usize::from(u16::from_le_bytes(self.array()?));
        if length > TEXT_BYTES {
            return Err(ChannelError::Malformed("a text is above 4 KiB"));
        }
        let text = std::str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| ChannelError::Malformed("a text is not text"))
    }

    fn keys(&mut self) -> Result<Vec<HoldKey>, ChannelError> {
        let [count] = self.array()?;
        if usize::from(count) > KEYS_PER_MESSAGE {
            return Err(ChannelError::Malformed("more than 100 keys"));
        }
        (0..count).map(|_| self.key()).collect()
    }

    fn key(&mut self) -> Result<HoldKey, ChannelError> {
        let [length] = self.array()?;
        let text = std::str::from_utf8(self.take(usize::from(length))?)
            .map_err(|_| ChannelError::Malformed("a key is not text"))?;
        Ok(text.parse()?)
    }
}
