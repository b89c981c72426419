//! Which tensors are shown one by one, and what the others come to.

use std::collections::BTreeMap;

use millpond::TensorInfo;
use millpond_view as view;
use serde::{Deserialize, Serialize};

/// So many sums of tensors are kept apart; a tensor name chooses its own first component, so their number
/// is a user's to choose.
const MOST_GROUPS: usize = 256;

/// Tensors that are not shown one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorGroup {
    /// UUID of their GPU.
    pub device: String,
    /// Their owner's user id; nothing for all owners of small groups together.
    pub user: Option<u32>,
    /// The first component of their names; nothing for tensors without a name, and for all names of small
    /// groups together.
    pub prefix: Option<String>,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Leases on them.
    pub lease_count: u64,
    /// Those of the bytes that have the transport `ipc`.
    pub ipc_bytes: u64,
}

/// Takes tensors one by one, and keeps the largest. Its memory does not grow with their number.
#[derive(Debug)]
pub struct Selection {
    most: usize,
    kept: Vec<view::Tensor>,
    groups: BTreeMap<Key, Sum>,
    total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    device: String,
    user: Option<u32>,
    prefix: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    bytes: u64,
    leases: u64,
    ipc_bytes: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.leases = self.leases.saturating_add(other.leases);
        self.ipc_bytes = self.ipc_bytes.saturating_add(other.ipc_bytes);
    }
}

impl Selection {
    /// Keeps at most `most` tensors.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, kept: Vec::new(), groups: BTreeMap::new(), total: 0 }
    }

    /// Takes tensors.
    pub fn add(&mut self, tensors: &[TensorInfo]) {
        for info in tensors {
            self.total += 1;
            self.kept.push(info.into());
            if self.kept.len() >= self.most.saturating_mul(2).saturating_add(1024) {
                self.cut();
            }
        }
    }

    /// The tensors that are shown, the sums of all others, and how many there are.
    #[must_use]
    pub fn finish(mut self) -> (Vec<view::Tensor>, Vec<TensorGroup>, u64) {
        self.cut();
        self.merge_small(MOST_GROUPS);
        let group = |(key, sum): (Key, Sum)| TensorGroup {
            device: key.device,
            user: key.user,
            prefix: key.prefix,
            count: sum.count,
            bytes: sum.bytes,
            lease_count: sum.leases,
            ipc_bytes: sum.ipc_bytes,
        };
        (self.kept, self.groups.into_iter().map(group).collect(), self.total)
    }

    fn cut(&mut self) {
        self.kept.sort_by(|a, b| order(a).cmp(&order(b)));
        for tensor in self.kept.drain(self.most.min(self.kept.len())..) {
            let key = Key {
                device: tensor.device.to_string(),
                user: Some(tensor.user),
                prefix: tensor.name.as_ref().map(|name| first_component(name.as_str())),
            };
            let is_ipc = *tensor.transport == millpond::TransportKind::Ipc;
            self.groups.entry(key).or_default().add(Sum {
                count: 1,
                bytes: tensor.bytes,
                leases: tensor.lease_count.into(),
                ipc_bytes: if is_ipc { tensor.bytes } else { 0 },
            });
        }
        // While tensors come, more are kept than are shown, so that a group is not cut while it grows.
        if self.groups.len() > MOST_GROUPS * 64 {
            self.merge_small(MOST_GROUPS * 16);
        }
    }

    /// Puts the smallest groups of each GPU together.
    fn merge_small(&mut self, most: usize) {
        if self.groups.len() <= most {
            return;
        }
        let mut all: Vec<_> = std::mem::take(&mut self.groups).into_iter().collect();
        all.sort_by(|(a, x), (b, y)| y.bytes.cmp(&x.bytes).then_with(|| a.cmp(b)));
        let small = all.split_off(most);
        self.groups.extend(all);
        for (key, sum) in small {
            let together = Key { user: None, prefix: None, ..key };
            self.groups.entry(together).or_default().add(sum);
        }
    }
}

/// The largest first, then by name; those without a name last, by identity.
fn order(tensor: &view::Tensor) -> impl Ord + '_ {
    let name = tensor.name.as_ref().map(|name| name.as_str());
    (std::cmp::Reverse(tensor.bytes), name.is_none(), name, tensor.user, tensor.id.0)
}

/// `acts` of `acts/layer0/x`, and `public/acts` of `public/acts/x`: everybody's names have a place of
/// their own.
fn first_component(name: &str) -> String {
    let (prefix, rest) = match name.strip_prefix("public/") {
        Some(rest) => ("public/", rest),
        None => ("", name),
    };
    let first = rest.split('/').next().unwrap_or_default();
    format!("{prefix}{first}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tensor_info;

    fn select(most: usize, tensors: &[TensorInfo]) -> (Vec<String>, Vec<TensorGroup>, u64) {
        let mut selection = Selection::new(most);
        tensors.chunks(7).for_each(|page| selection.add(page));
        let (kept, groups, total) = selection.finish();
        let names =
            kept.iter().map(|tensor| tensor.name.as_ref().map_or("-".into(), ToString::to_string));
        (names.collect(), groups, total)
    }

    #[test]
    fn the_largest_stay_and_the_rest_is_summed_by_owner_and_first_component() {
        let tensors = [
            tensor_info(1, "acts/a", 1, 5),
            tensor_info(2, "acts/b", 1, 5),
            tensor_info(3, "acts/c", 1, 2),
            tensor_info(4, "acts/d/e", 1, 2),
            tensor_info(5, "acts/f", 2, 1),
            tensor_info(6, "public/x/y", 1, 1),
            tensor_info(7, "", 1, 1),
            tensor_info(8, "big", 1, 9),
        ];
        let (names, groups, total) = select(3, &tensors);
        assert_eq!((names.join(" ").as_str(), total), ("big acts/a acts/b", 8));
        let shown = groups.iter().map(|it| (it.user, it.prefix.as_deref(), it.count, it.bytes));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (Some(1), None, 1, 1),
                (Some(1), Some("acts"), 2, 4),
                (Some(1), Some("public/x"), 1, 1),
                (Some(2), Some("acts"), 1, 1),
            ]
        );
        let mut turned = tensors.to_vec();
        turned.reverse();
        assert_eq!(select(3, &turned), select(3, &tensors), "whatever order they come in");
    }

    #[test]
    fn very_many_first_components_are_no_very_many_sums() {
        let name = |number: u32| format!("prefix-{number}/x");
        let tensors: Vec<_> =
            (0..50_000).map(|it| tensor_info(it.into(), &name(it), 1, u64::from(it) + 1)).collect();
        let (names, groups, total) = select(10, &tensors);
        assert_eq!((names.len(), total), (10, 50_000));
        assert!(groups.len() <= MOST_GROUPS + 1, "{}", groups.len());
        assert_eq!(groups.iter().map(|it| it.count).sum::<u64>(), 50_000 - 10);
        let all: u64 = tensors.iter().map(|it| it.bytes).sum();
        let shown: u64 = tensors.iter().rev().take(10).map(|it| it.bytes).sum();
        assert_eq!(groups.iter().map(|it| it.bytes).sum::<u64>(), all - shown);
    }
}
