//! `millpond load` and `millpond save`.

use std::path::PathBuf;

use clap::Args;
use millpond_wire::{ModelNameError, TensorName, VersionTag, model_name};

use super::JsonArg;
use super::tensor::Share;
use crate::size::ByteSize;

/// Load a checkpoint into the pond as a new version of a model
///
/// Takes a safetensors file, a folder with or without an index, an index, or several files. All of
/// them are checked before any memory is taken. The version appears when all of its bytes have
/// arrived. If the command is interrupted, nothing is left of it and the current version stays.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A model's first version becomes the current one. A later version becomes current with `--activate`,
or with `millpond swap`.

`hf:ORG/NAME` is a repository that `hf download` has put into the local cache (`HF_HUB_CACHE`,
`HF_HOME` or ~/.cache/huggingface). Nothing is downloaded.

If the version that `--like` names has the same layout, the files are compared with it first, slab by
slab: a slab with equal bytes is shared and not loaded again.

A plan selects part of the checkpoint, for example for one rank of several:
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
    /// The model's name, such as `llama`, or with the version as in `llama@v2`; everybody finds
    /// names under `public/`
    pub model: NewVersion,
    /// Safetensors files, folders with them, an index, or `hf:ORG/NAME[@REVISION]`
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The version's tag [default: the next of v1, v2, ...]
    #[arg(long, value_name = "TAG")]
    pub version: Option<VersionTag>,
    /// The GPU: its index in `millpond status` as `0` or `cuda:0`, or its UUID
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Make it the current version
    #[arg(long)]
    pub activate: bool,
    /// Share equal slabs with this version, or with `none` [default: the current one]
    #[arg(long, value_name = "TAG|none")]
    pub like: Option<String>,
    /// Load only what this plan selects
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Largest size of a slab that holds more than one tensor [default: as in the version that it
    /// shares with, else 2GiB]
    #[arg(long, value_name = "BYTES")]
    pub slab_bytes: Option<ByteSize>,
    /// Who may use it
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
/// Writes safetensors: one file if the path ends in `.safetensors`, otherwise a folder with one file
/// or with shards and their index. Everything is compared with the version's hashes, and appears
/// under its name when it is complete.
#[derive(Debug, Args)]
#[command(after_long_help = "\
`--force` replaces an existing file. In an existing folder it replaces the files of the same names,
the index last, and leaves all others.

Examples:
  millpond save llama ./out
  millpond save llama@v2 model.safetensors
  millpond save llama@v2 ./out --shard-bytes 5G --force")]
pub struct SaveArgs {
    /// The model, or the version as in `llama@v2`
    pub name: String,
    /// The folder, or the file if it ends in `.safetensors`
    pub path: PathBuf,
    /// Write shards with at most this many bytes of tensors each
    #[arg(long, value_name = "BYTES")]
    pub shard_bytes: Option<ByteSize>,
    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
