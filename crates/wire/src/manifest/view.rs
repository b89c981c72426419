//! Reads a manifest tensor by tensor, without believing any of it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use planus::{ReadAsRoot, Vector};

use super::{
    ContentHasher, FORMAT, LayoutHasher, Manifest, ManifestError, ManifestSlab, ManifestTensor,
    SLAB_STEP, TENSOR_ALIGN, read_hash,
};
use crate::{ContentHash, Dtype, Shape, caps};
use millpond_schema::contents as fb;

type Read<T> = Result<T, ManifestError>;
type Tensors<'a> = Vector<'a, planus::Result<fb::TensorRef<'a>>>;

/// A manifest that is read where it lies, for example in a mapped memfd.
#[derive(Clone, Debug)]
pub struct ManifestView<B> {
    bytes: B,
    slabs: Vec<ManifestSlab>,
    len: usize,
}

impl<B: AsRef<[u8]>> ManifestView<B> {
    /// Checks format, counts and slabs; what it costs does not grow with the number of tensors.
    ///
    /// # Errors
    /// [`ManifestError`] for anything but a manifest whose slabs follow each other.
    pub fn open(bytes: B) -> Read<Self> {
        let size = bytes.as_ref().len() as u64;
        at_most("bytes", size, caps::MANIFEST_BYTES)?;
        let manifest = fb::ManifestRef::read_as_root(bytes.as_ref())?;
        let format = manifest.format()?;
        if format != FORMAT {
            return Err(ManifestError::Format(format));
        }
        let len = manifest.tensors()?.map_or(0, |tensors| tensors.len());
        at_most("tensors", len as u64, caps::TENSORS_PER_VERSION as u64)?;
        let slabs = match manifest.slabs()? {
            Some(slabs) => read_slabs(slabs)?,
            None => Vec::new(),
        };
        Ok(Self { bytes, slabs, len })
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no tensor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slabs in the order of the arena.
    #[must_use]
    pub fn slabs(&self) -> &[ManifestSlab] {
        &self.slabs
    }

    /// The size of the arena.
    #[must_use]
    pub fn arena_bytes(&self) -> u64 {
        // Checked when it was opened.
        self.slabs.last().map_or(0, |slab| slab.arena_offset + slab.bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The tensor at this place in the order of names.
    ///
    /// # Errors
    /// [`ManifestError`] where there is none, or where it is not what it says.
    pub fn get(&self, index: usize) -> Read<ManifestTensor> {
        let tensor = at(&self.tensors_table()?, index)?;
        self.read(tensor)
    }

    /// The tensor with this name, by halving the list.
    ///
    /// # Errors
    /// [`ManifestError`] where the list or the tensor is damaged. In a list that is not sorted a
    /// tensor may not be found.
    pub fn find(&self, name: &str) -> Read<Option<ManifestTensor>> {
        let Some(index) = self.find_index(name)? else { return Ok(None) };
        self.get(index).map(Some)
    }

    /// Where the tensor with this name is in the order of names.
    ///
    /// # Errors
    /// As [`ManifestView::find`].
    pub fn find_index(&self, name: &str) -> Read<Option<usize>> {
        let tensors = self.tensors_table()?;
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match name_of(at(&tensors, middle)?)?.as_bytes().cmp(name.as_bytes()) {
                Ordering::Equal => return Ok(Some(middle)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    /// Every name in order; a name that does not come after the one before it is an error.
    pub fn names(&self) -> impl Iterator<Item = Read<&str>> {
        let tensors = self.tensors_table();
        let mut previous: Option<&str> = None;
        (0..self.len).map(move |index| {
            let tensors = match &tensors {
                Ok(tensors) => tensors,
                // Opening has read it before, so this does not happen to bytes that stay.
                Err(_) => return Err(ManifestError::NoSuchIndex { index, len: 0 }),
            };
            let name = name_of(at(tensors, index)?)?;
            let ascends = previous.is_none_or(|previous| previous.as_bytes() < name.as_bytes());
            previous = Some(name);
            if ascends { Ok(name) } else { Err(refuse(name, "is not in the order of names")) }
        })
    }

    /// Every tensor in order, each checked as by [`ManifestView::get`].
    pub fn tensors(&self) -> impl Iterator<Item = Read<ManifestTensor>> {
        (0..self.len).map(|index| self.get(index))
    }

    /// What the checkpoint says about itself.
    ///
    /// # Errors
    /// [`ManifestError`] where it is damaged or larger than its caps.
    pub fn metadata(&self) -> Read<BTreeMap<String, String>> {
        let mut read = BTreeMap::new();
        let Some(entries) = self.root()?.metadata()? else { return Ok(read) };
        at_most("metadata entries", entries.len() as u64, caps::METADATA_ENTRIES as u64)?;
        // Entries may all point to one text, which no writer does: the sum is capped before the copy.
        let most = caps::METADATA_BYTES.min(self.bytes.as_ref().len()) as u64;
        let mut total = 0;
        for entry in entries {
            let entry = entry?;
            let key = entry.key()?.unwrap_or_default();
            let value = entry.value()?.unwrap_or_default();
            total += (key.len() + value.len()) as u64;
            at_most("bytes of metadata", total, most)?;
            read.insert(key.to_owned(), value.to_owned());
        }
        Ok(read)
    }

    /// Where the bytes came from, for people.
    ///
    /// # Errors
    /// [`ManifestError`] where it is damaged.
    pub fn source(&self) -> Read<&str> {
        Ok(self.root()?.source()?.unwrap_or_default())
    }

    /// The hash over what the arena looks like. It reads every tensor.
    ///
    /// # Errors
    /// [`ManifestError`] of the first tensor that is not what it says.
    pub fn layout_hash(&self) -> Read<ContentHash> {
        let mut hasher = LayoutHasher::new(self.slabs.iter().map(|slab| slab.bytes));
        for tensor in self.tensors() {
            let tensor = tensor?;
            hasher.tensor(&tensor.name, tensor.dtype, &tensor.shape, tensor.slab, tensor.offset);
        }
        Ok(hasher.finish())
    }

    /// The hash over what the tensors are. It reads every tensor.
    ///
    /// # Errors
    /// [`ManifestError`] of the first tensor that is not what it says.
    pub fn content_hash(&self) -> Read<ContentHash> {
        let mut hasher = ContentHasher::default();
        for tensor in self.tensors() {
            let tensor = tensor?;
            hasher.tensor(&tensor.name, tensor.dtype, &tensor.shape, tensor.hash);
        }
        Ok(hasher.finish())
    }

    /// All of it, for a program that changes it.
    ///
    /// # Errors
    /// [`ManifestError`] of the first thing that is damaged, unsorted names included.
    pub fn to_manifest(&self) -> Read<Manifest> {
        for name in self.names() {
            name?;
        }
        Ok(Manifest {
            slabs: self.slabs.clone(),
            tensors: self.tensors().collect::<Read<_>>()?,
            metadata: self.metadata()?,
            source: self.source()?.to_owned(),
        })
    }

    fn root(&self) -> Read<fb::ManifestRef<'_>> {
        Ok(fb::ManifestRef::read_as_root(self.bytes.as_ref())?)
    }

    fn tensors_table(&self) -> Read<Tensors<'_>> {
        let none = ManifestError::NoSuchIndex { index: 0, len: 0 };
        self.root()?.tensors()?.ok_or(none)
    }

    fn read(&self, tensor: fb::TensorRef<'_>) -> Read<ManifestTensor> {
        let name = name_of(tensor)?;
        let dtype = Dtype::from_code(tensor.dtype()?)
            .ok_or_else(|| refuse(name, "has an unknown dtype; use a newer millpond"))?;
        let dims = match tensor.shape()? {
            // The cap comes before the copy.
            Some(dims) if dims.len() > caps::DIMENSIONS => {
                return Err(refuse(name, "has too many dimensions"));
            }
            Some(dims) => dims.iter().collect(),
            None => Vec::new(),
        };
        let shaped = Shape::new_or_empty(dims)
            .and_then(|shape| shape.bytes(dtype).map(|bytes| (shape, bytes)));
        let (shape, bytes) = shaped
            .map_err(|error| ManifestError::Shape { name: name.escape_debug().collect(), error })?;
        if bytes != tensor.bytes()? {
            return Err(refuse(name, "has more or fewer bytes than its shape needs"));
        }
        let slab = usize::try_from(tensor.slab()?).unwrap_or(usize::MAX);
        let slab_bytes = match self.slabs.get(slab) {
            Some(slab) => slab.bytes,
            None => return Err(refuse(name, "lies in a slab that does not exist")),
        };
        let offset = tensor.offset()?;
        if !offset.is_multiple_of(TENSOR_ALIGN) {
            return Err(refuse(name, "does not begin at a multiple of 256 bytes"));
        }
        if offset.checked_add(bytes).is_none_or(|end| end > slab_bytes) {
            return Err(refuse(name, "does not fit its slab"));
        }
        let hash = tensor.hash()?.ok_or_else(|| refuse(name, "has no hash"))?;
        let hash = read_hash(hash);
        Ok(ManifestTensor { name: name.to_owned(), dtype, shape, slab, offset, bytes, hash })
    }
}

fn read_slabs(slabs: Vector<'_, fb::SlabRef<'_>>) -> Read<Vec<ManifestSlab>> {
    at_most("slabs", slabs.len() as u64, caps::PARTS as u64)?;
    let mut end = 0u64;
    let mut read = Vec::with_capacity(slabs.len());
    for (index, slab) in slabs.iter().enumerate() {
        let (arena_offset, bytes) = (slab.arena_offset(), slab.bytes());
        let refuse = |reason| ManifestError::Slab { slab: index, reason };
        if arena_offset != end {
            return Err(refuse("does not begin where the one before it ends"));
        }
        if bytes == 0 || !bytes.is_multiple_of(SLAB_STEP) {
            return Err(refuse("is not a multiple of 2 MiB"));
        }
        end = end.checked_add(bytes).ok_or_else(|| refuse("ends beyond all addresses"))?;
        read.push(ManifestSlab { arena_offset, bytes, hash: read_hash(slab.hash()) });
    }
    Ok(read)
}

fn at<'a>(tensors: &Tensors<'a>, index: usize) -> Read<fb::TensorRef<'a>> {
    let none = || ManifestError::NoSuchIndex { index, len: tensors.len() };
    Ok(tensors.get(index).ok_or_else(none)??)
}

fn name_of(tensor: fb::TensorRef<'_>) -> Read<&str> {
    let name = tensor.name()?.unwrap_or_default();
    at_most("bytes in a name", name.len() as u64, caps::NAME_BYTES as u64)?;
    Ok(name)
}

fn refuse(name: &str, reason: &'static str) -> ManifestError {
    ManifestError::Tensor { name: name.escape_debug().collect(), reason }
}

fn at_most(what: &'static str, count: u64, max: u64) -> Read<()> {
    if count > max { Err(ManifestError::TooMany { what, count, max }) } else { Ok(()) }
}
