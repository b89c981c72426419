//! `millpond load` and `millpond save`.

use std::path::PathBuf;

use clap::Args;
use millpond_wire::{ModelNameError, TensorName, VersionTag, model_name};

use super::JsonArg;
use super::tensor::Share;
use crate::units::ByteSize;

/// Load a checkpoint into the pond as a new version of a model
///
/// Takes a safetensors file, a folder with an index or without, an index, or several files. They
/// are checked whole before any memory is taken. Nobody sees the version before all of its bytes
/// are there and no file has changed meanwhile; if this command is ended before, by Ctrl-C too,
/// nothing is left of it and the current version stays as it was.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A model's first version becomes its current one. A later one does with `--activate`; else
`millpond swap` makes it so.

`hf:ORG/NAME` is a repository that `hf download` has put into the local cache (`HF_HUB_CACHE`,
`HF_HOME` or ~/.cache/huggingface). Nothing is downloaded.

Where the tensors of the version that `--like` names lie in the same way, the files are compared
with it first, slab by slab: a slab whose bytes are equal is shared, not loaded again.

A plan says which part of the checkpoint is loaded, as for one rank of several:
  {\"rank\": 0, \"world\": 2, \"rules\": [
    {\"match\": \"*.q_proj.weight\", \"split\": \"column\"},
    {\"match\": \"*.o_proj.weight\", \"split\": \"row\"},
    {\"match\": \"*.rotary*\", \"split\": \"skip\"}]}

Examples:
  millpond load llama ./checkpoint-dir
  millpond load llama hf:org/llama    from the local Hugging Face cache
  millpond load llama@v2 ./checkpoint-dir
  millpond load llama model-00001.safetensors model-00002.safetensors --version v2 --activate
  millpond load llama ./finetuned --like v1
  millpond load llama-0 ./checkpoint-dir --plan rank0.json --device 0")]
pub struct LoadArgs {
    /// The model's name, such as `llama`, or with the version as in `llama@v2`; under `public/` it is
    /// found by everybody
    pub model: NewVersion,
    /// Safetensors files, folders with them, an index, or `hf:ORG/NAME[@REVISION]`
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The version's tag [default: the next of v1, v2, ...]
    #[arg(long, value_name = "TAG")]
    pub version: Option<VersionTag>,
    /// Which GPU: its index in `millpond status` as `0` or `cuda:0`, or its UUID
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Make it the current version
    #[arg(long)]
    pub activate: bool,
    /// Share equal slabs with this version, or with `none` [default: the current one]
    #[arg(long, value_name = "TAG|none")]
    pub like: Option<String>,
    /// Load only what this file says
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// How large a slab is at most, unless one tensor is larger [default: as in the version that it
    /// shares with, else 2GiB]
    #[arg(long, value_name = "BYTES")]
    pub slab_bytes: Option<ByteSize>,
    /// With whom it is shared
    #[arg(long, visible_alias = "share", value_name = "WHO", value_enum, default_value_t)]
    pub audience: Share,
    #[command(flatten)]
    pub json: JsonArg,
}

/// A version to be made: a model, and its tag if that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// The model.
    pub name: TensorName,
    /// The version's tag.
    pub tag: Option<VersionTag>,
}

impl std::str::FromStr for NewVersion {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let (name, tag) = match text.split_once('@') {
            Some((name, tag)) => (name, Some(VersionTag::new(tag)?)),
            None => (text, None),
        };
        Ok(Self { name: model_name(name)?, tag })
    }
}

/// Save a version as a checkpoint
///
/// Writes safetensors: one file if the path ends so, else a folder with one file, or with shards
/// and their index. It appears under its name when it is complete, and what was written was
/// compared with the version's hashes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
With `--force` a file is replaced; into a folder that is there the new files are moved, the index
last, and other files in it stay.

Examples:
  millpond save llama ./out
  millpond save llama@v2 model.safetensors
  millpond save llama@v2 ./out --shard-bytes 5G --force")]
pub struct SaveArgs {
    /// The model, or the version as in `llama@v2`
    pub name: String,
    /// The folder, or the file if it ends in `.safetensors`
    pub path: PathBuf,
    /// Write shards of at most so many bytes of tensors
    #[arg(long, value_name = "BYTES")]
    pub shard_bytes: Option<ByteSize>,
    /// Write over what is there
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
