//! Names of held descriptors.

use std::fmt;
use std::str::FromStr;

use millpond_wire::{Backing, ClientId, GpuUuid, HostId, SlabId, VersionId};

/// Why a text is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Empty or too long.
    #[error("a hold key has {0} bytes; 1 to {max} are allowed", max = HoldKey::MAX_BYTES)]
    Length(usize),
    /// Something else than printable ASCII.
    #[error("a hold key has the byte {0:#04x}; printable ASCII is allowed")]
    Byte(u8),
}

/// The name of a held descriptor, such as `slab/<uuid>`. The keeper never looks inside.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HoldKey(String);

/// What a key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyView<'key> {
    Journal,
    /// The page of counters that clients read.
    Page,
    /// A listening socket: its file name in the runtime folder.
    Listen(&'key str),
    /// The runtime folder's lock.
    FolderLock,
    GpuLock(GpuUuid),
    /// A slab of GPU memory.
    Slab(SlabId),
    /// The pidfd of a client process.
    Client(ClientId),
    Manifest(VersionId),
    /// The channel to a host.
    HostChannel(HostId),
    /// The pidfd of a host.
    HostProcess(HostId),
    /// To the daemon that waits, with everything, until its successor serves.
    Handover,
    /// The table of what the service manager keeps.
    Store,
    /// A key that this version does not know.
    Other(&'key str),
}

/// A descriptor to be held: its key and, for a slab, what the memory is made of. The keeper hands
/// both back as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    pub key: HoldKey,
    pub backing: Backing,
}

impl Holding {
    /// Whether the key says it all: everything but slabs, and slabs whose descriptor is the memory.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.backing == Backing::default()
    }
}

impl From<HoldKey> for Holding {
    fn from(key: HoldKey) -> Holding {
        Holding { key, backing: Backing::default() }
    }
}

impl HoldKey {
    /// Longest key; the longest of ours has 49.
    pub const MAX_BYTES: usize = 100;

    #[must_use]
    pub fn journal() -> HoldKey {
        HoldKey("journal".to_owned())
    }

    /// The page of counters that clients read.
    #[must_use]
    pub fn page() -> HoldKey {
        HoldKey("page".to_owned())
    }

    /// To the daemon that waits, with everything, until its successor serves.
    #[must_use]
    pub fn handover() -> HoldKey {
        HoldKey("handover".to_owned())
    }

    /// The table of what the service manager keeps.
    #[must_use]
    pub fn store() -> HoldKey {
        HoldKey("store".to_owned())
    }

    /// The listening socket with this file name in the runtime folder.
    ///
    /// # Errors
    /// [`KeyError`] if the name does not fit a key.
    pub fn listen(name: &str) -> Result<HoldKey, KeyError> {
        format!("listen/{name}").parse()
    }

    /// The runtime folder's lock.
    #[must_use]
    pub fn folder_lock() -> HoldKey {
        HoldKey("lock/folder".to_owned())
    }

    #[must_use]
    pub fn gpu_lock(gpu: GpuUuid) -> HoldKey {
        HoldKey(format!("lock/gpu/{gpu}"))
    }

    #[must_use]
    pub fn slab(slab: SlabId) -> HoldKey {
        HoldKey(format!("slab/{slab}"))
    }

    /// The manifest of a version.
    #[must_use]
    pub fn manifest(version: VersionId) -> HoldKey {
        HoldKey(format!("manifest/{version}"))
    }

    /// The daemon's end of the channel to a host, which lives while anybody has it.
    #[must_use]
    pub fn host_channel(host: HostId) -> HoldKey {
        HoldKey(format!("host/{host}"))
    }

    /// The pidfd of a host.
    #[must_use]
    pub fn host_process(host: HostId) -> HoldKey {
        HoldKey(format!("host-process/{host}"))
    }

    /// The pidfd of a client.
    #[must_use]
    pub fn client(client: ClientId) -> HoldKey {
        HoldKey(format!("client/{client}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only a pond that has had a GPU holds this. Without any such key nothing was ever
    /// made, and nothing is lost if the pond ends.
    #[must_use]
    pub fn is_of_gpu(&self) -> bool {
        matches!(self.view(), KeyView::GpuLock(_) | KeyView::Slab(_))
    }

    /// What the key says. A key that looks like one of ours and is not (`slab/x`) is
    /// [`KeyView::Other`].
    #[must_use]
    pub fn view(&self) -> KeyView<'_> {
        let text = self.as_str();
        let (family, rest) = text.split_once('/').unwrap_or((text, ""));
        let view = match (family, rest) {
            ("journal", "") => Some(KeyView::Journal),
            ("page", "") => Some(KeyView::Page),
            ("handover", "") => Some(KeyView::Handover),
            ("store", "") => Some(KeyView::Store),
            ("lock", "folder") => Some(KeyView::FolderLock),
            ("listen", name) if !name.is_empty() => Some(KeyView::Listen(name)),
            ("lock", gpu) => {
                gpu.strip_prefix("gpu/").and_then(|gpu| gpu.parse().ok()).map(KeyView::GpuLock)
            }
            ("slab", id) => id.parse().ok().map(KeyView::Slab),
            ("client", id) => id.parse().ok().map(KeyView::Client),
            ("host", id) => id.parse().ok().map(KeyView::HostChannel),
            ("host-process", id) => id.parse().ok().map(KeyView::HostProcess),
            ("manifest", id) => id.parse().ok().map(KeyView::Manifest),
            _ => None,
        };
        view.unwrap_or(KeyView::Other(text))
    }
}

impl FromStr for HoldKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<HoldKey, KeyError> {
        if text.is_empty() || text.len() > HoldKey::MAX_BYTES {
            return Err(KeyError::Length(text.len()));
        }
        if let Some(byte) = text.bytes().find(|byte| !(b' '..=b'~').contains(byte)) {
            return Err(KeyError::Byte(byte));
        }
        Ok(HoldKey(text.to_owned()))
    }
}

impl fmt::Display for HoldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HoldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HoldKey({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constructor_is_seen_through_its_view() {
        let (gpu, slab, client) = (GpuUuid([7; 16]), SlabId::random(), ClientId::random());
        assert_eq!(HoldKey::journal().view(), KeyView::Journal);
        assert_eq!(HoldKey::page().view(), KeyView::Page);
        assert_eq!(HoldKey::handover().view(), KeyView::Handover);
        assert_eq!(HoldKey::store().view(), KeyView::Store);
        assert_eq!(HoldKey::listen("admin.sock").unwrap().view(), KeyView::Listen("admin.sock"));
        assert_eq!(HoldKey::folder_lock().view(), KeyView::FolderLock);
        assert_eq!(HoldKey::gpu_lock(gpu).view(), KeyView::GpuLock(gpu));
        assert_eq!(HoldKey::slab(slab).view(), KeyView::Slab(slab));
        assert_eq!(HoldKey::client(client).view(), KeyView::Client(client));
        let version = VersionId::random();
        assert_eq!(HoldKey::manifest(version).view(), KeyView::Manifest(version));
        assert_eq!(HoldKey::gpu_lock(gpu).as_str().len(), 49);
    }

    #[test]
    fn unknown_and_nearly_known_keys_are_other() {
        for text in ["slab/x", "slab", "journal/2", "lock/gpu/7", "listen/", "manifest/1", "/"] {
            assert_eq!(text.parse::<HoldKey>().unwrap().view(), KeyView::Other(text), "{text}");
        }
    }

    #[test]
    fn keys_are_short_printable_ascii() {
        assert_eq!("".parse::<HoldKey>(), Err(KeyError::Length(0)));
        assert_eq!("x".repeat(101).parse::<HoldKey>(), Err(KeyError::Length(101)));
        assert!("x".repeat(100).parse::<HoldKey>().is_ok());
        assert_eq!("a\nb".parse::<HoldKey>(), Err(KeyError::Byte(b'\n')));
        assert_eq!("ä".parse::<HoldKey>(), Err(KeyError::Byte(0xc3)));
        assert_eq!(HoldKey::listen("\0"), Err(KeyError::Byte(0)));
    }
}
