//! Identities. Those of objects and requests are made by the client, so that a repeat after a lost
//! answer names the same thing.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new random identity.
            #[must_use]
            pub fn random() -> Self {
                Self(Uuid::new_v4())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    )*};
}

uuid_ids! {
    TensorId;
    /// A version of a model.
    VersionId;
    /// A slab: one allocation of the driver.
    SlabId;
    /// One client process, across its reconnections.
    ClientId;
    /// One pond, across the restarts of its daemon.
    PondId;
    /// An elastic cache.
    CacheId;
    /// A process that owns memory with legacy handles.
    HostId;
    /// One publish, so that its repeat is recognised.
    Token;
}

impl TensorId {
    /// The identity of a tensor that is made by a request with this token: every repeat of the request
    /// has the same, in whichever process.
    #[must_use]
    pub fn of_token(token: Token) -> Self {
        Self(Uuid::new_v5(&token.0, b"tensor"))
    }
}

/// What a lease is on; an event or a rename is about the same things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaseTarget {
    Tensor(TensorId),
    Version(VersionId),
}

impl LeaseTarget {
    /// The identity, whatever it is one of.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        match self {
            LeaseTarget::Tensor(id) => id.0,
            LeaseTarget::Version(id) => id.0,
        }
    }

    /// The tensor, if it is one.
    #[must_use]
    pub const fn tensor(self) -> Option<TensorId> {
        match self {
            LeaseTarget::Tensor(id) => Some(id),
            LeaseTarget::Version(_) => None,
        }
    }

    /// The version, if it is one.
    #[must_use]
    pub const fn version(self) -> Option<VersionId> {
        match self {
            LeaseTarget::Tensor(_) => None,
            LeaseTarget::Version(id) => Some(id),
        }
    }

    /// The word for the kind.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            LeaseTarget::Tensor(_) => "tensor",
            LeaseTarget::Version(_) => "version",
        }
    }
}

impl From<TensorId> for LeaseTarget {
    fn from(id: TensorId) -> Self {
        LeaseTarget::Tensor(id)
    }
}

impl From<VersionId> for LeaseTarget {
    fn from(id: VersionId) -> Self {
        LeaseTarget::Version(id)
    }
}

impl fmt::Display for LeaseTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.uuid().fmt(f)
    }
}

/// A lease, numbered by the client that holds it. Zero is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the daemons of one pond; every start has the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A GPU's UUID; ordinals never cross a process border.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuUuid(pub [u8; 16]);

impl fmt::Display for GpuUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GPU-{}", Uuid::from_bytes(self.0))
    }
}

impl fmt::Debug for GpuUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for GpuUuid {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        let bare = text.strip_prefix("GPU-").unwrap_or(text);
        bare.parse::<Uuid>().map(|uuid| Self(*uuid.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpu_uuid_prints_as_the_driver_does_and_parses_with_and_without_prefix() {
        let uuid = GpuUuid([0x11; 16]);
        assert_eq!(uuid.to_string(), "GPU-11111111-1111-1111-1111-111111111111");
        assert_eq!(uuid.to_string().parse::<GpuUuid>().unwrap(), uuid);
        assert_eq!(uuid.to_string()[4..].parse::<GpuUuid>().unwrap(), uuid);
        assert!("GPU-11".parse::<GpuUuid>().is_err());
    }
}
