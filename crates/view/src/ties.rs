//! Tensors of a version that have several names.

use std::collections::BTreeMap;

use millpond_wire::manifest::Manifest;

/// What is stored once under several names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// Names of the same bytes, sorted; by the first of them.
    pub names: Vec<Vec<String>>,
    /// Bytes that are saved by it.
    pub bytes: u64,
}

impl Ties {
    /// Those of a version.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let mut places: BTreeMap<(usize, u64, u64), Vec<String>> = BTreeMap::new();
        for tensor in manifest.tensors.iter().filter(|tensor| tensor.bytes > 0) {
            let place = (tensor.slab, tensor.offset, tensor.bytes);
            places.entry(place).or_default().push(tensor.name.clone());
        }
        let mut ties = Self::default();
        for ((_, _, bytes), mut names) in places.into_iter().filter(|(_, names)| names.len() > 1) {
            ties.bytes = (1..names.len()).fold(ties.bytes, |all, _| all.saturating_add(bytes));
            names.sort();
            ties.names.push(names);
        }
        ties.names.sort();
        ties
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::manifest::ManifestTensor;
    use millpond_wire::{ContentHash, Dtype, Shape};

    use super::*;

    #[test]
    fn names_of_one_place_are_tied_and_empty_ones_are_not() {
        let tensor = |name: &str, offset: u64, bytes: u64| ManifestTensor {
            name: name.to_owned(),
            dtype: Dtype::U8,
            shape: Shape::new_or_empty([bytes]).unwrap(),
            slab: 0,
            offset,
            bytes,
            hash: ContentHash::of(b"x"),
        };
        let tensors = vec![
            tensor("z.head", 0, 8),
            tensor("embed", 0, 8),
            tensor("a.head", 0, 8),
            tensor("e1", 256, 0),
            tensor("e2", 256, 0),
            tensor("norm", 256, 8),
            tensor("b", 512, 4),
            tensor("a", 512, 4),
        ];
        let ties = Ties::of(&Manifest { tensors, ..Manifest::default() });
        assert_eq!(ties.names, [vec!["a", "b"], vec!["a.head", "embed", "z.head"]]);
        assert_eq!(ties.bytes, 8 + 8 + 4);
        assert_eq!(Ties::of(&Manifest::default()), Ties::default());
    }
}
