//! The cache that a word of the command line means: a name, an identity, or first digits of one.

use millpond::{CacheId, CacheInfo, GroupName};
use millpond_view::{pid_text, visible};
use millpond_wire::{ErrorKind, Failure};

use super::none;
use crate::units;

/// The fewest digits of an identity that stand for it.
const DIGITS: usize = 4;
/// Names that are proposed where one is not there.
const PROPOSED: usize = 3;
/// Longer names are not compared: it takes time in proportion to the product of both.
const COMPARED_BYTES: usize = 255;

/// The one cache that is meant, among those of `group` or of all groups. A name comes first.
pub fn meant(
    caches: &[CacheInfo],
    text: &str,
    group: Option<&GroupName>,
) -> Result<CacheInfo, Failure> {
    let of_name: Vec<&CacheInfo> =
        caches.iter().filter(|cache| cache.name.as_str() == text).collect();
    let of_id: Vec<&CacheInfo> =
        caches.iter().filter(|cache| is_called(cache.cache, text)).collect();
    match (of_name.as_slice(), of_id.as_slice()) {
        ([only], _) | ([], [only]) => Ok((*only).clone()),
        ([], []) => Err(unknown(caches, text, group)),
        ([], many) => {
            let count = units::count(many.len() as u64, "cache");
            let message = format!("'{text}' begins the identities of {count}");
            let hint = "`millpond elastic ls --json` shows them whole";
            Err(Failure::new(ErrorKind::Invalid, message).hint(hint))
        }
        (many, _) => Err(several(many, text)),
    }
}

/// Whether this is an identity, or at least its first four digits.
fn is_called(id: CacheId, text: &str) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    text.len() >= DIGITS && digits && id.to_string().starts_with(&text.to_ascii_lowercase())
}

fn several(caches: &[&CacheInfo], text: &str) -> Failure {
    let count = units::count(caches.len() as u64, "cache");
    let message = format!("'{text}' is the name of {count}");
    let one = |cache: &&CacheInfo| {
        let pid = pid_text(visible(cache.pid));
        format!("{} (group {}, pid {pid})", cache.cache, cache.group)
    };
    let all: Vec<String> = caches.iter().take(PROPOSED).map(one).collect();
    let more = match caches.len().saturating_sub(PROPOSED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let hint = format!("`millpond elastic inspect ID` shows one of {}{more}", all.join(", "));
    Failure::new(ErrorKind::Invalid, message).hint(hint)
}

fn unknown(caches: &[CacheInfo], text: &str, group: Option<&GroupName>) -> Failure {
    let place = group.map(|group| format!(" in group '{group}'")).unwrap_or_default();
    let similar = similar(caches, text);
    let hint = match similar.as_slice() {
        [only] => format!("did you mean '{only}'?"),
        [] if caches.is_empty() => none(group),
        _ => "`millpond elastic ls` lists the caches".to_owned(),
    };
    let message = format!("no cache '{text}'{place}");
    Failure { similar, ..Failure::new(ErrorKind::NotFound, message).hint(hint) }
}

/// Names close to one that no cache has, the closest first: few letters differ, or the last part of the
/// path is the same.
fn similar(caches: &[CacheInfo], text: &str) -> Vec<String> {
    if text.len() > COMPARED_BYTES {
        return Vec::new();
    }
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let close = |cache: &CacheInfo| {
        let name = cache.name.as_str();
        let distance = strsim::osa_distance(text, name);
        let letters = text.chars().count().max(name.chars().count());
        let goes_on = text.chars().count() > 1 && name.starts_with(text);
        let alike = distance <= letters / 3 || last(name) == last(text) || goes_on;
        alike.then(|| (distance, name.to_owned()))
    };
    let mut names: Vec<(usize, String)> = caches.iter().filter_map(close).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(PROPOSED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::elastic::samples::cache;

    fn refused(caches: &[CacheInfo], text: &str) -> Failure {
        meant(caches, text, None).unwrap_err()
    }

    #[test]
    fn a_cache_is_known_by_its_name_its_identity_and_the_first_digits() {
        let caches = [cache("llama-7b/kv", 7), cache("gpt2/kv", 8)];
        let whole = caches[1].cache.to_string();
        for text in ["gpt2/kv", whole.as_str(), &whole[..13], &whole.to_uppercase()] {
            assert_eq!(meant(&caches, text, None).unwrap().pid, 8, "{text}");
        }
        assert_eq!(refused(&caches, &whole[..3]).kind, ErrorKind::NotFound, "too few digits");
        let twins = [caches[0].clone(), caches[0].clone()];
        let message = refused(&twins, &twins[0].cache.to_string()[..8]).message;
        assert!(message.ends_with("begins the identities of 2 caches"), "{message}");
        let mut digits = cache("beef", 9);
        digits.cache = caches[0].cache;
        assert_eq!(meant(&[digits], "beef", None).unwrap().pid, 9, "a name comes first");
    }

    #[test]
    fn a_name_of_several_caches_is_answered_with_their_identities() {
        let caches: Vec<CacheInfo> = (1..=5).map(|pid| cache("kv", pid)).collect();
        let failure = refused(&caches, "kv");
        assert_eq!(failure.message, "'kv' is the name of 5 caches");
        let hint = failure.hint.unwrap();
        assert!(hint.contains(&format!("{} (group serving, pid 1)", caches[0].cache)), "{hint}");
        assert!(hint.ends_with("and 2 more") && !hint.contains("pid 4"), "{hint}");
    }

    #[test]
    fn an_unknown_name_is_answered_with_similar_ones_or_the_way_to_a_cache() {
        let caches = [cache("llama-7b/kv", 7), cache("llama-7b/kv", 8), cache("mixtral/state", 9)];
        let failure = refused(&caches, "lama-7b/kv");
        assert_eq!((failure.kind, failure.similar.len()), (ErrorKind::NotFound, 1));
        assert_eq!(failure.hint.as_deref(), Some("did you mean 'llama-7b/kv'?"));
        assert_eq!(refused(&caches, "state").similar, ["mixtral/state"]);
        let far = refused(&caches, "nothing");
        assert!(far.similar.is_empty() && far.hint.unwrap().contains("`millpond elastic ls`"));
        let group: GroupName = "serving".parse().unwrap();
        let nowhere = meant(&[], "kv", Some(&group)).unwrap_err();
        assert_eq!(nowhere.message, "no cache 'kv' in group 'serving'");
        assert!(nowhere.hint.unwrap().contains("millpond.elastic(\"serving\").reserve(...)"));
    }
}
