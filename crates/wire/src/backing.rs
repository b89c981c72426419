//! How the memory of a slab is reached by another process.

use millpond_schema::{message as fb, record as jfb};

use crate::message::DecodeError;
use crate::{ErrorKind, Failure};

/// Bytes of a legacy IPC handle, and of the exported pointer of a memory pool; both are the
/// driver's numbers.
pub const HANDLE_BYTES: usize = 64;

/// How a slab is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Virtual memory management: the descriptor is the memory.
    #[default]
    Vmm,
    /// A memory pool of the driver: its descriptor, and the exported pointer of one allocation.
    Mempool([u8; HANDLE_BYTES]),
    /// A legacy IPC handle. It has no descriptor, and lives no longer than the process that made it.
    Ipc([u8; HANDLE_BYTES]),
}

/// What a slab is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Backing {
    pub transport: Transport,
    /// Another program made the memory, and the pond took it in.
    pub adopted: bool,
}

impl Backing {
    /// Whether this version of the programs can use such memory.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for memory that only a newer version knows how to share.
    pub fn supported(&self) -> Result<(), Failure> {
        match self.transport {
            Transport::Vmm => Ok(()),
            other => {
                let message = format!("memory of the kind '{}' is not supported", other.name());
                Err(Failure::new(ErrorKind::Unsupported, message)
                    .hint("use the version of Millpond that made it"))
            }
        }
    }
}

const VMM: u8 = 1;
const MEMPOOL: u8 = 2;
const IPC: u8 = 3;

impl Transport {
    /// The number that travels.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Transport::Vmm => VMM,
            Transport::Mempool(_) => MEMPOOL,
            Transport::Ipc(_) => IPC,
        }
    }

    /// The word for it, the same everywhere.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Vmm => "vmm",
            Transport::Mempool(_) => "mempool",
            Transport::Ipc(_) => "ipc",
        }
    }

    /// The bytes that travel beside the descriptor, or instead of it.
    #[must_use]
    pub const fn data(&self) -> Option<&[u8; HANDLE_BYTES]> {
        match self {
            Transport::Vmm => None,
            Transport::Mempool(data) | Transport::Ipc(data) => Some(data),
        }
    }

    /// Whether a descriptor belongs to it.
    #[must_use]
    pub const fn has_descriptor(self) -> bool {
        !matches!(self, Transport::Ipc(_))
    }

    /// The transport with this number and these bytes.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] for a number that means nothing, and for bytes that are not its.
    pub fn from_parts(code: u8, data: Option<&[u8]>) -> Result<Self, DecodeError> {
        let handle = || {
            let data = data.ok_or(DecodeError::Missing("data"))?;
            let bad = DecodeError::BadValue { field: "data", value: data.len() as u64 };
            <[u8; HANDLE_BYTES]>::try_from(data).map_err(|_| bad)
        };
        match (code, data) {
            (VMM, None | Some([])) => Ok(Transport::Vmm),
            (VMM, Some(data)) => {
                Err(DecodeError::BadValue { field: "data", value: data.len() as u64 })
            }
            (MEMPOOL, _) => handle().map(Transport::Mempool),
            (IPC, _) => handle().map(Transport::Ipc),
            _ => Err(DecodeError::BadValue { field: "transport", value: code.into() }),
        }
    }
}

macro_rules! codec {
    ($schema:ident, $write:ident, $read:ident) => {
        /// Memory that the pond made and shares by its descriptor needs no bytes.
        pub(crate) fn $write(backing: &Backing) -> Option<Box<$schema::Backing>> {
            (*backing != Backing::default()).then(|| {
                Box::new($schema::Backing {
                    transport: backing.transport.code(),
                    data: backing.transport.data().map(|data| data.to_vec()),
                    adopted: backing.adopted,
                })
            })
        }

        pub(crate) fn $read(
            backing: Option<$schema::BackingRef<'_>>,
        ) -> Result<Backing, DecodeError> {
            let Some(backing) = backing else { return Ok(Backing::default()) };
            Ok(Backing {
                transport: Transport::from_parts(backing.transport()?, backing.data()?)?,
                adopted: backing.adopted()?,
            })
        }
    };
}

codec!(fb, write, read);
codec!(jfb, write_record, read_record);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_of_descriptors_is_supported_and_the_refusal_names_the_kind() {
        let refusal = |transport| Backing { transport, adopted: false }.supported();
        assert_eq!(refusal(Transport::Vmm), Ok(()));
        for (transport, word) in
            [(Transport::Mempool([0; 64]), "'mempool'"), (Transport::Ipc([0; 64]), "'ipc'")]
        {
            let failure = refusal(transport).unwrap_err();
            assert_eq!(failure.kind, ErrorKind::Unsupported);
            assert!(failure.message.contains(word), "{failure}");
        }
    }

    #[test]
    fn a_transport_has_the_bytes_that_are_its_own_and_no_others() {
        let data = [7; HANDLE_BYTES];
        for transport in [Transport::Vmm, Transport::Mempool(data), Transport::Ipc(data)] {
            let bytes = transport.data().map(<[u8; HANDLE_BYTES]>::as_slice);
            assert_eq!(Transport::from_parts(transport.code(), bytes).unwrap(), transport);
        }
        let refused = |code, data: Option<&[u8]>| Transport::from_parts(code, data).unwrap_err();
        assert!(matches!(refused(1, Some(&data)), DecodeError::BadValue { field: "data", .. }));
        assert!(matches!(refused(2, None), DecodeError::Missing("data")));
        assert!(matches!(refused(3, Some(&data[1..])), DecodeError::BadValue { .. }));
        for code in [0, 4, 255] {
            let error = refused(code, None);
            assert!(matches!(error, DecodeError::BadValue { field: "transport", .. }), "{error}");
        }
        assert!(
            Transport::Mempool(data).has_descriptor() && !Transport::Ipc(data).has_descriptor()
        );
    }
}
