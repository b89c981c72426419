//! Fields of messages, in little-endian order; a text has its length in front.

use millpond_wire::caps::TEXT_BYTES;
use millpond_wire::message::DecodeError;
use millpond_wire::{Backing, Epoch, HANDLE_BYTES, SlabId, Transport};
use uuid::Uuid;

use crate::ChannelError;

const TOO_EARLY: ChannelError = ChannelError::Malformed("it ends too early");
const LONG_TEXT: ChannelError = ChannelError::Malformed("a text is above 4096 bytes");

/// What is written so far.
pub struct Writer(Vec<u8>);

impl Writer {
    #[must_use]
    pub fn new(kind: u8) -> Writer {
        Writer(vec![kind])
    }

    #[must_use]
    pub fn u8(mut self, value: u8) -> Writer {
        self.0.push(value);
        self
    }

    #[must_use]
    pub fn u32(self, value: u32) -> Writer {
        self.raw(&value.to_le_bytes())
    }

    #[must_use]
    pub fn u64(self, value: u64) -> Writer {
        self.raw(&value.to_le_bytes())
    }

    /// A number of things of which a message never has more than fits.
    #[must_use]
    pub fn count(self, count: usize) -> Writer {
        self.raw(&u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes())
    }

    #[must_use]
    pub fn slab(self, slab: SlabId) -> Writer {
        self.raw(slab.0.as_bytes())
    }

    #[must_use]
    pub fn backing(self, backing: &Backing) -> Writer {
        let writer = self.u8(backing.transport.code()).u8(u8::from(backing.adopted));
        match backing.transport.data() {
            Some(data) => writer.raw(data),
            None => writer,
        }
    }

    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Writer {
        self.0.extend(bytes);
        self
    }

    /// A text; what is too long is cut: a report with half a text is better than none.
    #[must_use]
    pub fn cut_text(self, text: &str) -> Writer {
        let end = (0..=text.len().min(TEXT_BYTES)).rev().find(|end| text.is_char_boundary(*end));
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        self.count(text.len()).raw(text.as_bytes())
    }

    /// A text that must arrive whole.
    ///
    /// # Errors
    /// [`ChannelError::Malformed`] if it is too long.
    pub fn text(self, text: &str) -> Result<Writer, ChannelError> {
        if text.len() > TEXT_BYTES {
            return Err(LONG_TEXT);
        }
        Ok(self.cut_text(text))
    }

    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// What is left of a message.
pub struct Reader<'bytes>(&'bytes [u8]);

impl<'bytes> Reader<'bytes> {
    #[must_use]
    pub fn new(bytes: &'bytes [u8]) -> Reader<'bytes> {
        Reader(bytes)
    }

    /// # Errors
    /// [`ChannelError::Malformed`] if fewer bytes are left; so do all below.
    pub fn take(&mut self, count: usize) -> Result<&'bytes [u8], ChannelError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(TOO_EARLY)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ChannelError> {
        self.take(N)?.try_into().map_err(|_| TOO_EARLY)
    }

    pub fn u8(&mut self) -> Result<u8, ChannelError> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, ChannelError> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, ChannelError> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn count(&mut self) -> Result<usize, ChannelError> {
        self.array().map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    pub fn epoch(&mut self) -> Result<Epoch, ChannelError> {
        self.u64().map(Epoch)
    }

    pub fn slab(&mut self) -> Result<SlabId, ChannelError> {
        self.array().map(|bytes| SlabId(Uuid::from_bytes(bytes)))
    }

    pub fn backing(&mut self) -> Result<Backing, ChannelError> {
        let (code, adopted) = (self.u8()?, self.u8()?);
        let transport = match Transport::from_parts(code, None) {
            Err(DecodeError::Missing(_)) => {
                Transport::from_parts(code, Some(self.take(HANDLE_BYTES)?))
            }
            other => other,
        };
        let transport = transport.map_err(|error| ChannelError::Invalid(error.into()))?;
        let adopted = match adopted {
            0 => false,
            1 => true,
            _ => return Err(ChannelError::Malformed("a flag is neither 0 nor 1")),
        };
        Ok(Backing { transport, adopted })
    }

    pub fn text(&mut self) -> Result<String, ChannelError> {
        let length = self.count()?;
        if length > TEXT_BYTES {
            return Err(LONG_TEXT);
        }
        let text = std::str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| ChannelError::Malformed("a text is not UTF-8"))
    }

    /// How many bytes are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// The message, if it is all there was.
    pub fn end<T>(&self, message: T) -> Result<T, ChannelError> {
        if self.0.is_empty() {
            Ok(message)
        } else {
            Err(ChannelError::Malformed("bytes after the end"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            (kind, small, large) in any::<(u8, u32, u64)>(),
            text in "\\PC{0,300}",
            slab in any::<[u8; 16]>(),
        ) {
            let slab = SlabId(Uuid::from_bytes(slab));
            let writer = Writer::new(kind).u32(small).text(&text).unwrap();
            let bytes = writer.slab(slab).count(7).u64(large).u8(1).bytes();
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(reader.u8().unwrap(), kind);
            prop_assert_eq!(reader.u32().unwrap(), small);
            prop_assert_eq!(reader.text().unwrap(), text);
            prop_assert_eq!(reader.slab().unwrap(), slab);
            prop_assert_eq!(reader.count().unwrap(), 7);
            prop_assert_eq!(reader.epoch().unwrap(), Epoch(large));
            prop_assert!(reader.end(()).is_err());
            prop_assert_eq!(reader.u8().unwrap(), 1);
            prop_assert!(reader.end(()).is_ok() && reader.u8().is_err());
        }
    }

    #[test]
    fn a_backing_is_read_with_the_data_of_its_transport_and_no_other() {
        let data = [9; HANDLE_BYTES];
        for transport in [Transport::Vmm, Transport::Mempool(data), Transport::Ipc(data)] {
            for adopted in [false, true] {
                let backing = Backing { transport, adopted };
                let bytes = Writer::new(0).backing(&backing).bytes();
                let mut reader = Reader::new(&bytes[1..]);
                assert_eq!(reader.backing().unwrap(), backing);
                assert_eq!(reader.left(), 0);
                assert!(Reader::new(&bytes[1..bytes.len() - 1]).backing().is_err());
            }
        }
        for bytes in [[0, 0], [4, 0], [1, 2]] {
            assert!(Reader::new(&bytes).backing().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters_or_refused() {
        let long = "ä".repeat(TEXT_BYTES);
        let bytes = Writer::new(0).cut_text(&long).bytes();
        let mut reader = Reader::new(&bytes[1..]);
        assert_eq!(reader.text().unwrap(), "ä".repeat(TEXT_BYTES / 2));
        assert!(Writer::new(0).text(&long).is_err());
        let over = [&4097_u16.to_le_bytes()[..], &[b'x'; 4097]].concat();
        assert!(Reader::new(&over).text().unwrap_err().to_string().contains("above 4096 bytes"));
        assert!(Reader::new(&[1, 0, 0xff]).text().is_err());
    }
}
