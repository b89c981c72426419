//! The messages and their bytes.

use std::borrow::Cow;

use millpond_channel::{Frame, Reader, Writer};
use millpond_wire::{Epoch, caps};

use super::{ChannelError, HoldKey, Holding, VERSIONS};

/// Longest configuration: it must fit one datagram of 64 KiB with room to spare.
pub const CONFIG_BYTES: usize = 48 * 1024;
/// Keys, and therefore descriptors, in one message; a datagram takes 128.
pub const KEYS_PER_MESSAGE: usize = 100;
/// Longest path of a program, and longest reason.
pub const TEXT_BYTES: usize = caps::TEXT_BYTES;
/// The version of a first message that names none: programs before versions were named speak it.
const UNNAMED: u32 = 1;
/// The first version whose `Hold` and `Held` say what a slab is made of.
const BACKINGS_SINCE: u32 = 2;

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
    Held { holdings: Vec<Holding> },
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
    Hold { holdings: Vec<Holding> },
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
    /// As `HELD`, with the backing of each.
    pub const HELD_BACKINGS: u8 = 8;
    pub const HOLD: u8 = 16;
    pub const DROP: u8 = 17;
    pub const PONG: u8 = 18;
    pub const SERVING: u8 = 19;
    pub const ADOPT: u8 = 20;
    pub const ADOPT_DONE: u8 = 21;
    pub const UPGRADE: u8 = 22;
    pub const HANDED_OVER: u8 = 23;
    /// As `HOLD`, with the backing of each.
    pub const HOLD_BACKINGS: u8 = 24;
}

impl Message {
    /// How many descriptors travel with this message.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        match self {
            Message::Start { .. } | Message::Adopt { .. } | Message::HandOver => 1,
            Message::Held { holdings } | Message::Hold { holdings } => holdings.len(),
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
            Message::Held { holdings } => {
                write_holdings(kind::HELD, kind::HELD_BACKINGS, holdings)?
            }
            Message::Hold { holdings } => {
                write_holdings(kind::HOLD, kind::HOLD_BACKINGS, holdings)?
            }
            Message::Drop { keys } => write_keys(Writer::new(kind::DROP), keys.iter())?,
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

    /// The message as a peer of this version of the channel understands it. Version 1 has no
    /// backings: its daemons find them in the journal.
    #[must_use]
    pub(super) fn for_version(&self, version: u32) -> Cow<'_, Message> {
        let plain = |holdings: &[Holding]| {
            holdings.iter().map(|holding| holding.key.clone().into()).collect()
        };
        match self {
            _ if version >= BACKINGS_SINCE => Cow::Borrowed(self),
            Message::Held { holdings } => Cow::Owned(Message::Held { holdings: plain(holdings) }),
            Message::Hold { holdings } => Cow::Owned(Message::Hold { holdings: plain(holdings) }),
            _ => Cow::Borrowed(self),
        }
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
            kind::HELD => Message::Held { holdings: read_plain(&mut reader)? },
            kind::HOLD => Message::Hold { holdings: read_plain(&mut reader)? },
            kind::HELD_BACKINGS => Message::Held { holdings: read_backings(&mut reader)? },
            kind::HOLD_BACKINGS => Message::Hold { holdings: read_backings(&mut reader)? },
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
    const MAX_BYTES: usize = caps::MESSAGE_BYTES;

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
        UNNAMED => Err(ChannelError::Malformed("version 1 must not be named")),
        // Whatever follows the number of another version means nothing here.
        named => Ok((epoch, pid, config, VERSIONS.check(named)?)),
    }
}

/// Keys alone, which every version reads, where no memory is of another kind than `vmm`.
fn write_holdings(plain: u8, backings: u8, holdings: &[Holding]) -> Result<Writer, ChannelError> {
    if holdings.iter().all(Holding::is_plain) {
        return write_keys(Writer::new(plain), holdings.iter().map(|holding| &holding.key));
    }
    let writer = write_count(Writer::new(backings), holdings.len())?;
    holdings.iter().try_fold(writer, |writer, holding| {
        check_descriptor(holding)?;
        Ok(write_key(writer, &holding.key)?.backing(&holding.backing))
    })
}

fn read_plain(reader: &mut Reader<'_>) -> Result<Vec<Holding>, ChannelError> {
    Ok(read_keys(reader)?.into_iter().map(Holding::from).collect())
}

fn read_backings(reader: &mut Reader<'_>) -> Result<Vec<Holding>, ChannelError> {
    let count = read_count(reader)?;
    let holdings: Vec<Holding> = (0..count)
        .map(|_| {
            let holding = Holding { key: read_key(reader)?, backing: reader.backing()? };
            check_descriptor(&holding).map(|()| holding)
        })
        .collect::<Result<_, ChannelError>>()?;
    if holdings.iter().all(Holding::is_plain) {
        return Err(ChannelError::Malformed("a list of backings without any"));
    }
    Ok(holdings)
}

fn check_descriptor(holding: &Holding) -> Result<(), ChannelError> {
    if holding.backing.transport.has_descriptor() {
        Ok(())
    } else {
        Err(ChannelError::Malformed("memory without a descriptor cannot be held"))
    }
}

fn write_keys<'key>(
    writer: Writer,
    mut keys: impl ExactSizeIterator<Item = &'key HoldKey>,
) -> Result<Writer, ChannelError> {
    keys.try_fold(write_count(writer, keys.len())?, write_key)
}

fn write_count(writer: Writer, count: usize) -> Result<Writer, ChannelError> {
    let number = u8::try_from(count).ok().filter(|_| count <= KEYS_PER_MESSAGE);
    number.map(|number| writer.u8(number)).ok_or(ChannelError::Malformed("more than 100 keys"))
}

fn write_key(writer: Writer, key: &HoldKey) -> Result<Writer, ChannelError> {
    let text = key.as_str();
    // A key's own rule keeps it at 100 bytes.
    let length = u8::try_from(text.len()).map_err(|_| ChannelError::Malformed("a long key"))?;
    Ok(writer.u8(length).raw(text.as_bytes()))
}

fn read_keys(reader: &mut Reader<'_>) -> Result<Vec<HoldKey>, ChannelError> {
    (0..read_count(reader)?).map(|_| read_key(reader)).collect()
}

fn read_count(reader: &mut Reader<'_>) -> Result<u8, ChannelError> {
    let count = reader.u8()?;
    if usize::from(count) > KEYS_PER_MESSAGE {
        return Err(ChannelError::Malformed("more than 100 keys"));
    }
    Ok(count)
}

fn read_key(reader: &mut Reader<'_>) -> Result<HoldKey, ChannelError> {
    let length = reader.u8()?;
    let text = std::str::from_utf8(reader.take(usize::from(length))?)
        .map_err(|_| ChannelError::Malformed("a key is not text"))?;
    text.parse().map_err(|error: super::KeyError| ChannelError::Invalid(error.into()))
}
