//! Requests and replies as small structs of our own.
//!
//! [`Request::encode`] and [`Reply::encode`] write them, [`Request::decode`] and [`Reply::decode`]
//! read them completely and check every cap on the way.

mod account;
mod cache;
#[cfg(test)]
mod caps;
mod counters;
mod event;
mod failure;
mod group;
mod list;
mod pond;
mod read;
mod reply;
mod request;
mod session;
mod tensor;
#[cfg(test)]
mod tests;
mod transfer;
mod version;

pub use account::{ResourceUse, UserAccount};
pub use cache::{CacheGave, CacheInfo, CacheOpen, CacheSlot, Gave, Pressure};
pub use counters::{
    Counter, CounterUnit, Counters, Counts, LENGTHS, LENGTHS_NANOSECONDS, RefusalCount,
    RequestCount,
};
pub use event::{Event, EventKind};
pub use group::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, MemberDevice,
    MemberInfo, drift_bytes,
};
pub use pond::{ClientInfo, DeviceInfo, HostInfo, MoverInfo, Service, Status};
pub use read::DecodeError;
pub use reply::{Reply, ReplyBody};
pub use request::{Request, RequestBody};
pub use session::{Claim, ClientToken, Hello, LeaseClaim, LeaseInfo, LeaseToken, Proof, Welcome};
pub use tensor::{
    Life, Rename, Target, TensorAdopt, TensorCreate, TensorGet, TensorGrant, TensorHold,
    TensorInfo, TensorPage, TensorPublish, TensorState, WAIT_FOREVER,
};
pub use transfer::{MoveWork, TensorMove};
pub use version::{
    ModelInfo, PartInfo, PartSpec, VersionCommit, VersionDetails, VersionGet, VersionGrant,
    VersionInfo, VersionStage, VersionState,
};

pub(crate) use read::{
    at_most, bytes16, code, dtype, gpu, is_unknown_kind, name, record_id_to_uuid, required, shape,
    target, text_up_to, uuid_to_record_id,
};
pub(crate) use tensor::{read_info, write_info};

/// The first field of the first message: `POND` in ASCII.
pub const MAGIC: u32 = 0x504f_4e44;
/// The version of the protocol that this crate speaks. Older minor differences are capabilities.
pub const VERSION: u16 = 1;

macro_rules! small_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $code:literal $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $code,)*
        }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The number that travels.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The value with this number.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<$name> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// The word for it, the same everywhere.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                $name::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(|| {
                    let known: Vec<_> = $name::ALL.iter().map(|value| value.name()).collect();
                    format!("'{text}' is not one of {}", known.join(", "))
                })
            }
        }
    };
}
pub(crate) use small_enum;

small_enum! {
    /// How a lease maps its object.
    Mode {
        /// Read-only: protects from bugs, not from a hostile holder of the descriptor.
        1 ReadOnly "ro",
        2 ReadWrite "rw",
    }
}

small_enum! {
    /// With whom an object is shared.
    Audience {
        /// Its owner's user only.
        1 User "user",
        /// Members of its owner's primary group.
        2 Group "group",
        /// Every user of the tenant.
        3 Everybody "everybody",
    }
}
