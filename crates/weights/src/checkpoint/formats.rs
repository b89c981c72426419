//! Files that hold weights in another format: what they are, and how to convert them.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// A format that is recognised and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFormat {
    /// What `torch.save` writes: a pickle, alone or in a zip archive.
    PyTorch,
    /// llama.cpp's.
    Gguf,
    /// Keras' and TensorFlow's.
    Hdf5,
    /// One array of numpy.
    Numpy,
}

/// As many bytes tell them apart.
const MAGIC_BYTES: usize = 8;

/// Endings of files that hold weights.
const ENDINGS: [(&str, OtherFormat); 8] = [
    (".bin", OtherFormat::PyTorch),
    (".pt", OtherFormat::PyTorch),
    (".pth", OtherFormat::PyTorch),
    (".ckpt", OtherFormat::PyTorch),
    (".gguf", OtherFormat::Gguf),
    (".h5", OtherFormat::Hdf5),
    (".npy", OtherFormat::Numpy),
    (".npz", OtherFormat::Numpy),
];

impl OtherFormat {
    /// By its first bytes.
    pub(super) fn of(file: &File) -> Option<Self> {
        let mut magic = [0; MAGIC_BYTES];
        let read = file.read_at(&mut magic, 0).unwrap_or(0);
        match magic.get(..read)? {
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Some(Self::PyTorch),
            // A pickle says its protocol first.
            [0x80, 2..=5, ..] => Some(Self::PyTorch),
            [b'G', b'G', b'U', b'F', ..] => Some(Self::Gguf),
            [0x89, b'H', b'D', b'F', ..] => Some(Self::Hdf5),
            [0x93, b'N', b'U', b'M', ..] => Some(Self::Numpy),
            _ => None,
        }
    }

    /// By the end of a file's name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let found = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| *format)
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
