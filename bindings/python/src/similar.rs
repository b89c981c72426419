//! Names close to one that a model has not.

/// Names in one answer.
const PROPOSED: usize = 3;
/// Longer names are not compared: it takes time in proportion to the product of both.
const COMPARED_BYTES: usize = 255;

/// Those of `among` that differ from `wanted` in few letters, the closest first.
pub(crate) fn to<'a>(wanted: &str, among: impl Iterator<Item = &'a str>) -> Vec<String> {
    if wanted.len() > COMPARED_BYTES {
        return Vec::new();
    }
    let far = wanted.chars().count() / 3;
    let mut close: Vec<(usize, &str)> = among
        .filter(|one| one.len() <= COMPARED_BYTES && one.len().abs_diff(wanted.len()) <= 4 * far)
        .map(|one| (strsim::osa_distance(wanted, one), one))
        .filter(|(distance, _)| *distance <= far)
        .collect();
    close.sort_unstable();
    close.truncate(PROPOSED);
    close.into_iter().map(|(_, name)| name.to_owned()).collect()
}
