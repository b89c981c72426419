//! How the data is written down.

use std::fmt;
use std::ops::Deref;

use millpond_wire::{ContentHash, Shape};
use serde::{Serialize, Serializer};

/// Data whose fields another language lists too.
pub trait Fields {
    /// The names of its fields, as they are serialized.
    const FIELDS: &'static [&'static str];
}

/// Something that is shown as its text: an identity, a name, a word of a fixed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<T>(pub T);

impl<T> Deref for Text<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The extents of a tensor: a list of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(pub Shape);

impl Serialize for Dims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.dims().serialize(serializer)
    }
}

/// A hash that something has once it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub Option<ContentHash>);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.map(Text).serialize(serializer)
    }
}

/// Defines a struct of public fields, [`Fields`] for it, and a macro that hands its fields with their
/// documentation to another macro: `fields!(callback, rest)` becomes
/// `callback! { [#[doc = "…"] field …] rest }`. The first token is a `$`, for that inner macro.
macro_rules! data {
    (
        $dollar:tt
        $(#[$outer:meta])*
        pub struct $name:ident as $fields:ident {
            $( $(#[doc = $doc:literal])* $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $name {
            $( $(#[doc = $doc])* pub $field: $type, )*
        }

        impl $crate::Fields for $name {
            const FIELDS: &'static [&'static str] = &[$( stringify!($field) ),*];
        }

        #[doc = concat!("Hands the fields of [`", stringify!($name), "`] to another macro.")]
        #[macro_export]
        macro_rules! $fields {
            ($dollar callback:ident, $dollar($dollar rest:tt)*) => {
                $dollar callback! { [$( $(#[doc = $doc])* $field )*] $dollar($dollar rest)* }
            };
        }
    };
}
