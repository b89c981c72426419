//! The page: counters that tell a client, without a message, whether what it knows is still so.
//!
//! Each name and each identity has a slot; many share one. The daemon changes the slots of a
//! tensor's name and identity whenever they may mean something else than before, or something in
//! another state. So an unchanged slot says that the last answer still holds; a changed one says
//! only that one has to ask.

use crate::caps::PAGE_SLOTS;
use crate::message::Target;
use crate::name::{PUBLIC_PREFIX, TensorName};
use crate::{LeaseTarget, caps};

/// Bytes of the page.
pub const BYTES: usize = caps::PAGE_SLOTS * 8;

/// The slot of a name, which is the same for every user's, and for the one under `public/`: part of
/// the protocol. They are different names all the same.
#[must_use]
pub fn slot_of_name(name: &TensorName) -> usize {
    let name = name.as_str();
    slot(name.strip_prefix(PUBLIC_PREFIX).unwrap_or(name).as_bytes())
}

/// The slot of an identity.
#[must_use]
pub fn slot_of_id(id: impl Into<LeaseTarget>) -> usize {
    slot(id.into().uuid().as_bytes())
}

/// The slot of what a request names.
#[must_use]
pub fn slot_of(target: &Target) -> usize {
    match target {
        Target::Name(name) => slot_of_name(&name.name),
        Target::Id(id) => slot_of_id(*id),
    }
}

/// FNV-1a with 64 bits, its halves put together, modulo the number of slots. Part of the protocol.
fn slot(bytes: &[u8]) -> usize {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let folded = (hash ^ (hash >> 32)) & 0xffff_ffff;
    usize::try_from(folded).unwrap_or(0) % PAGE_SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorId;

    fn of(text: &str) -> usize {
        slot_of(&Target::Name(text.parse().unwrap()))
    }

    #[test]
    fn every_way_to_write_a_name_has_one_slot() {
        assert_eq!(of("acts/x"), of("public/acts/x"));
        assert_eq!(of("acts/x"), of("~7/acts/x"));
        assert_eq!(of("acts/x"), of("~7/public/acts/x"));
        assert_ne!(of("acts/x"), of("acts/y"));
    }

    #[test]
    fn slots_are_those_of_the_protocol_and_all_are_used() {
        // Fixed: another client must come to the same ones.
        assert_eq!([of("x"), of("acts/x"), of("weights/layer.0")], [75, 492, 174]);
        let id: TensorId = "00112233-4455-6677-8899-aabbccddeeff".parse().unwrap();
        assert_eq!(slot_of_id(id), 383);
        let used: std::collections::BTreeSet<usize> =
            (0..10_000).map(|index| of(&format!("model/layer.{index}"))).collect();
        assert_eq!(used.len(), PAGE_SLOTS);
    }
}
