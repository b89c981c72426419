//! How the memory of a slab is reached by another process.

use millpond_schema::{message as fb, record as jfb};

use crate::message::{DecodeError, small_enum};

/// Bytes of a legacy IPC handle, and of the exported pointer of a memory pool; both are the
/// driver's numbers.
pub const HANDLE_BYTES: usize = 64;

small_enum! {
    /// The ways to share memory.
    TransportKind {
        /// Virtual memory management: a descriptor for each allocation.
        1 Vmm "vmm",
        /// A memory pool of the driver, with one allocation in it.
        2 Mempool "mempool",
        /// A legacy IPC handle.
        3 Ipc "ipc",
        /// A handle for the GPUs of other nodes. The driver is asked, and its answer passed on.
        4 Fabric "fabric",
    }
}

small_enum! {
    /// What memory survives.
    Survives {
        /// The end of every process but keeper and daemon together.
        1 Everything "everything",
        /// Everything but the end of the process that hosts it.
        2 Host "host",
        /// Everything but the end of the process that announced it.
        3 Owner "owner",
    }
}

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
    /// What such memory survives.
    #[must_use]
    pub const fn survives(&self) -> Survives {
        match (self.transport, self.adopted) {
            (Transport::Ipc(_), true) => Survives::Owner,
            (Transport::Ipc(_), false) => Survives::Host,
            _ => Survives::Everything,
        }
    }
}

const VMM: u8 = TransportKind::Vmm.code();
const MEMPOOL: u8 = TransportKind::Mempool.code();
const IPC: u8 = TransportKind::Ipc.code();

impl Transport {
    #[must_use]
    pub const fn kind(self) -> TransportKind {
        match self {
            Transport::Vmm => TransportKind::Vmm,
            Transport::Mempool(_) => TransportKind::Mempool,
            Transport::Ipc(_) => TransportKind::Ipc,
        }
    }

    /// The number that travels.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.kind().code()
    }

    /// The word for it, the same everywhere.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.kind().name()
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

/// Sixty-four bytes, or none.
pub(crate) fn read_handle(
    field: &'static str,
    bytes: Option<&[u8]>,
) -> Result<Option<[u8; HANDLE_BYTES]>, DecodeError> {
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
    let bad = DecodeError::BadValue { field, value: bytes.len() as u64 };
    <[u8; HANDLE_BYTES]>::try_from(bytes).map(Some).map_err(|_| bad)
}

codec!(fb, write, read);
codec!(jfb, write_record, read_record);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_survives_what_keeps_it() {
        let survives = |transport, adopted| Backing { transport, adopted }.survives();
        for adopted in [false, true] {
            assert_eq!(survives(Transport::Vmm, adopted), Survives::Everything);
            assert_eq!(survives(Transport::Mempool([0; 64]), adopted), Survives::Everything);
        }
        assert_eq!(survives(Transport::Ipc([0; 64]), false), Survives::Host);
        assert_eq!(survives(Transport::Ipc([0; 64]), true), Survives::Owner);
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
