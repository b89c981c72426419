//! Files that hold weights in another format: what they are, and how to convert them.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A format that is recognised and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// What `torch.save` writes: a pickle, alone or in a zip archive.
    PyTorch,
    Gguf,
    Hdf5,
    /// One array of numpy.
    Numpy,
}

/// As many bytes tell them apart: of a zip archive the name of its first file is looked at.
const MAGIC_BYTES: usize = 256;
/// Where a zip archive has the length of that name, and the name.
const ZIP_NAME_LENGTH: usize = 26;
const ZIP_NAME: usize = 30;

/// Endings of files that hold weights.
const ENDINGS: [&str; 8] = [".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".npy", ".npz"];

impl OtherFormat {
    /// By its first bytes.
    pub(super) fn of(file: &File) -> Option<Self> {
        let mut magic = [0; MAGIC_BYTES];
        let read = file.read_at(&mut magic, 0).unwrap_or(0);
        let magic = magic.get(..read)?;
        match magic {
            [b'P', b'K', 3, 4, ..] if first_of_zip(magic).ends_with(b".npy") => Some(Self::Numpy),
            [b'P', b'K', 3, 4, ..] => Some(Self::PyTorch),
            // A pickle says its protocol first.
            [0x80, 2..=5, ..] => Some(Self::PyTorch),
            [b'G', b'G', b'U', b'F', ..] => Some(Self::Gguf),
            [0x89, b'H', b'D', b'F', ..] => Some(Self::Hdf5),
            [0x93, b'N', b'U', b'M', ..] => Some(Self::Numpy),
            _ => None,
        }
    }

    /// Whether a file of this name is worth a look.
    pub(super) fn is_likely(name: &str) -> bool {
        ENDINGS.iter().any(|ending| name.ends_with(ending))
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PyTorch => "a PyTorch pickle",
            Self::Gguf => "a GGUF file",
            Self::Hdf5 => "an HDF5 file",
            Self::Numpy => "a numpy file",
        }
    }

    /// How to come by safetensors.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::PyTorch => {
                "convert it: `python -c \"import torch, safetensors.torch as s; \
                 s.save_file(torch.load('FILE', map_location='cpu', weights_only=True), \
                 'model.safetensors')\"`"
            }
            Self::Gguf => {
                "GGUF is llama.cpp's quantised format; load the safetensors files that it was \
                 made from"
            }
            Self::Hdf5 => "save it again with Hugging Face's `save_pretrained`",
            Self::Numpy => "`millpond tensor put NAME FILE` puts one array into the pond",
        }
    }
}

fn first_of_zip(archive: &[u8]) -> &[u8] {
    let length = archive.get(ZIP_NAME_LENGTH..ZIP_NAME_LENGTH + 2);
    let length = length.map_or(0, |two| usize::from(two[0]) + 256 * usize::from(two[1]));
    archive.get(ZIP_NAME..ZIP_NAME + length).unwrap_or_default()
}
