//! What a cache is to be like, as words.
//!
//! ```text
//! bytes=N            of addresses in all; or blocks=N and block=N
//! segments=N         granule=N, handle=N (the largest)
//! min=N              weight=N
//! wait_ms=N          how long a commit waits for others
//! ahead=LOW:HIGH     pages are made before they are needed
//! break=RULE         a rule of the engine that is broken on purpose
//! ```

use std::time::Duration;

use millpond::ReserveSpec;
use millpond::engine::Mutation;

use super::number;
use crate::tool::{Trouble, wrong};

const DEFAULT_BYTES: u64 = 1 << 30;

/// The value of a word `key=value`.
pub(super) fn value<'a>(options: &[&'a str], key: &str) -> Option<&'a str> {
    options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
}

/// The same as a number.
pub(super) fn number_of(options: &[&str], key: &str) -> Result<Option<u64>, Trouble> {
    value(options, key).map(number).transpose()
}

/// What the words say; and the rule that is broken.
pub(super) fn read(options: &[&str]) -> Result<(ReserveSpec, Option<Mutation>), Trouble> {
    let get = |key: &str| number_of(options, key);
    let mut spec = match get("block")? {
        Some(block) => ReserveSpec::of_blocks(get("blocks")?.unwrap_or(0), block),
        None => ReserveSpec::new(get("bytes")?.unwrap_or(DEFAULT_BYTES)),
    };
    if let Some(segments) = get("segments")? {
        spec = spec.segments(segments);
    }
    if let Some(granule) = get("granule")? {
        spec = spec.granule(granule);
    }
    if let Some(handle) = get("handle")? {
        spec = spec.largest_handle(handle);
    }
    if let Some(min) = get("min")? {
        spec = spec.min(min);
    }
    if let Some(weight) = get("weight")? {
        spec = spec.weight(u32::try_from(weight).map_err(|_| wrong("too large a weight"))?);
    }
    if let Some(ms) = get("wait_ms")? {
        spec = spec.wait(Duration::from_millis(ms));
    }
    if let Some((low, high)) = value(options, "ahead").and_then(|text| text.split_once(':')) {
        spec = spec.ahead(number(low)?, number(high)?);
    }
    let broken = match value(options, "break") {
        None => None,
        Some("no-fence") => Some(Mutation::NoFenceBeforeUnmap),
        Some("trim-in-use") => Some(Mutation::TrimInUse),
        Some("credit-after-map") => Some(Mutation::CreditAfterMap),
        Some("credit-before-release") => Some(Mutation::CreditBeforeRelease),
        Some("block-twice") => Some(Mutation::BlockTwice),
        Some(rule) => return Err(wrong(format!("'{rule}' is no rule"))),
    };
    Ok((spec, broken))
}
