//! Fields of messages, in little-endian order; a text has its length in front. By hand, for the
//! reason that the keeper's channel is: a dozen small frames between two parts of one program.

use millpond_wire::limits::TEXT_BYTES;
use millpond_wire::{Epoch, SlabId};
use uuid::Uuid;

use super::ChannelError;

/// What is written so far.
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn new(kind: u8) -> Writer {
        Writer(vec![kind])
    }

    pub(super) fn u8(mut self, value: u8) -> Writer {
        self.0.push(value);
        self
    }

    pub(super) fn u64(self, value: u64) -> Writer {
        self.raw(&value.to_le_bytes())
    }

    /// A number of things of which a message never has more than fits.
    pub(super) fn count(self, count: usize) -> Writer {
        self.raw(&u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes())
    }

    pub(super) fn slab(self, slab: SlabId) -> Writer {
        self.raw(slab.0.as_bytes())
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Writer {
        self.0.extend(bytes);
        self
    }

    /// Cuts what is too long: a report with half a text is better than none.
    pub(super) fn text(self, text: &str) -> Writer {
        let end = (0..=text.len().min(TEXT_BYTES)).rev().find(|end| text.is_char_boundary(*end));
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let length = u16::try_from(text.len()).unwrap_or(0);
        self.raw(&length.to_le_bytes()).raw(text.as_bytes())
    }
}

/// What is left of a message.
pub(super) struct Reader<'bytes>(pub(super) &'bytes [u8]);

impl<'bytes> Reader<'bytes> {
    fn take(&mut self, count: usize) -> Result<&'bytes [u8], ChannelError> {
        let split = self.0.split_at_checked(count);
        let (taken, rest) = split.ok_or(ChannelError::Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ChannelError> {
        self.take(N)?.try_into().map_err(|_| ChannelError::Malformed("it ends too early"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, ChannelError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, ChannelError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn count(&mut self) -> Result<usize, ChannelError> {
        self.array().map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    pub(super) fn epoch(&mut self) -> Result<Epoch, ChannelError> {
        self.u64().map(Epoch)
    }

    pub(super) fn slab(&mut self) -> Result<SlabId, ChannelError> {
        self.array().map(|bytes| SlabId(Uuid::from_bytes(bytes)))
    }

    pub(super) fn text(&mut self) -> Result<String, ChannelError> {
        let length = self.count()?;
        if length > TEXT_BYTES {
            return Err(ChannelError::Malformed("a text is above 4096 bytes"));
        }
        let text = std::str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| ChannelError::Malformed("a text is not UTF-8"))
    }

    /// The message, if it is all there was.
    pub(super) fn end<T>(&self, message: T) -> Result<T, ChannelError> {
        if self.0.is_empty() {
            Ok(message)
        } else {
            Err(ChannelError::Malformed("bytes after the end"))
        }
    }
}
