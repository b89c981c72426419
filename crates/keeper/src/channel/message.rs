//! The messages and their bytes.

use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{Epoch, limits};

use super::{ChannelError, HoldKey, VERSIONS};

/// Longest configuration: it must fit one datagram of 64 KiB with room to spare.
pub const CONFIG_BYTES: usize = 48 * 1024;
/// Keys, and so descriptors, in one message; a datagram takes 128.
pub const KEYS_PER_MESSAGE: usize = 100;
/// Longest path of a program, and longest reason.
pub const TEXT_BYTES: usize = limits::TEXT_BYTES;
/// The version of a first message that names none: programs before versions were named speak it.
const UNNAMED: u32 = 1;

/// What keeper and daemon say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Keeper: the first message. Comes with the keeper's pidfd.
    Start {
        /// The epoch of the daemon that reads this.
        epoch: Epoch,
        keeper_pid: u32,
        /// The configuration as JSON.
        config: Vec<u8>,
        /// The version of the channel that is spoken.
        version: u32,
    },
    /// Keeper: descriptors that were held for an earlier daemon, one for each key.
    Held { keys: Vec<HoldKey> },
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
    Hold { keys: Vec<HoldKey> },
    /// Daemon: close the descriptors of these keys.
    Drop { keys: Vec<HoldKey> },
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
        daemon_pid: u32,
        /// The configuration as JSON.
        config: Vec<u8>,
        /// The version of the channel that is spoken.
        version: u32,
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

    /// The bytes of this message.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`] if there are more keys, or a longer configuration, than a
    /// message takes.
    pub fn encode(&self) -> Result<Vec<u8>, ChannelError> {
        let writer = match self {
            Message::Start { epoch, keeper_pid: pid, config, version } => {
                write_process(Writer::new(kind::START), *epoch, *pid, config, *version)?
            }
            Message::Adopt { epoch, daemon_pid: pid, config, version } => {
                write_process(Writer::new(kind::ADOPT), *epoch, *pid, config, *version)?
            }
            Message::Held { keys } => write_keys(Writer::new(kind::HELD), keys)?,
            Message::Hold { keys } => write_keys(Writer::new(kind::HOLD), keys)?,
            Message::Drop { keys } => write_keys(Writer::new(kind::DROP), keys)?,
            Message::Ping { number } => Writer::new(kind::PING).u64(*number),
            Message::Pong { number } => Writer::new(kind::PONG).u64(*number),
            Message::Ready => Writer::new(kind::READY),
            Message::Stop => Writer::new(kind::STOP),
            Message::Serving => Writer::new(kind::SERVING),
            Message::AdoptDone => Writer::new(kind::ADOPT_DONE),
            Message::HandOver => Writer::new(kind::HAND_OVER),
            Message::HandedOver => Writer::new(kind::HANDED_OVER),
            Message::Upgrade { program } => Writer::new(kind::UPGRADE).text(program)?,
            Message::UpgradeRefused { reason } => {
                Writer::new(kind::UPGRADE_REFUSED).text(reason)?
            }
        };
        Ok(writer.bytes())
    }

    /// Reads a message completely.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`], [`ChannelError::Invalid`] for a key, or [`ChannelError::Version`].
    pub fn decode(bytes: &[u8]) -> Result<Message, ChannelError> {
        let mut reader = Reader::new(bytes);
        let message = match reader.u8()? {
            kind::START => {
                let (epoch, keeper_pid, config, version) = read_process(&mut reader)?;
                Message::Start { epoch, keeper_pid, config, version }
            }
            kind::ADOPT => {
                let (epoch, daemon_pid, config, version) = read_process(&mut reader)?;
                Message::Adopt { epoch, daemon_pid, config, version }
            }
            kind::HELD => Message::Held { keys: read_keys(&mut reader)? },
            kind::HOLD => Message::Hold { keys: read_keys(&mut reader)? },
            kind::DROP => Message::Drop { keys: read_keys(&mut reader)? },
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
        reader.end(message)
    }
}

impl Frame for Message {
    const MAX_BYTES: usize = limits::MESSAGE_BYTES;

    fn fds(&self) -> usize {
        self.descriptors()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ChannelError> {
        self.encode()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Message, ChannelError> {
        Message::decode(bytes)
    }
}

const LONG_CONFIG: &str = "the configuration is above 48 KiB";

fn write_process(
    writer: Writer,
    epoch: Epoch,
    pid: u32,
    config: &[u8],
    version: u32,
) -> Result<Writer, ChannelError> {
    if config.len() > CONFIG_BYTES {
        return Err(ChannelError::Malformed(LONG_CONFIG));
    }
    let writer = writer.u64(epoch.0).u32(pid).count(config.len()).raw(config);
    Ok(if version == UNNAMED { writer } else { writer.u32(version) })
}

fn read_process(reader: &mut Reader<'_>) -> Result<(Epoch, u32, Vec<u8>, u32), ChannelError> {
    let (epoch, pid, length) = (reader.epoch()?, reader.u32()?, reader.count()?);
    if length > CONFIG_BYTES {
        return Err(ChannelError::Malformed(LONG_CONFIG));
    }
    let config = reader.take(length)?.to_vec();
    if reader.left() == 0 {
        return Ok((epoch, pid, config, UNNAMED));
    }
    match reader.u32()? {
        UNNAMED => Err(ChannelError::Malformed("a version is named that never is")),
        // Whatever follows the number of another version means nothing here.
        named => Ok((epoch, pid, config, VERSIONS.check(named)?)),
    }
}

fn write_keys(writer: Writer, keys: &[HoldKey]) -> Result<Writer, ChannelError> {
    let count = u8::try_from(keys.len()).ok().filter(|_| keys.len() <= KEYS_PER_MESSAGE);
    let count = count.ok_or(ChannelError::Malformed("more than 100 keys"))?;
    keys.iter().try_fold(writer.u8(count), |writer, key| {
        let text = key.as_str();
        // A key's own rule keeps it at 100 bytes.
        let length = u8::try_from(text.len()).map_err(|_| ChannelError::Malformed("a long key"))?;
        Ok(writer.u8(length).raw(text.as_bytes()))
    })
}

fn read_keys(reader: &mut Reader<'_>) -> Result<Vec<HoldKey>, ChannelError> {
    let count = reader.u8()?;
    if usize::from(count) > KEYS_PER_MESSAGE {
        return Err(ChannelError::Malformed("more than 100 keys"));
    }
    (0..count).map(|_| read_key(reader)).collect()
}

fn read_key(reader: &mut Reader<'_>) -> Result<HoldKey, ChannelError> {
    let length = reader.u8()?;
    let text = std::str::from_utf8(reader.take(usize::from(length))?)
        .map_err(|_| ChannelError::Malformed("a key is not text"))?;
    text.parse().map_err(|error: super::KeyError| ChannelError::Invalid(error.into()))
}
