//! `millpond tensor put`, `get`, `copy` and `zero`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use millpond_wire::{Dtype, Shape, TensorName};

use super::tensor::Share;
use super::{JsonArg, LifeArgs};
use crate::span::Span;

/// What a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// As numpy's `save` writes it
    Npy,
    /// Just the bytes
    Raw,
}

/// Put a file into the pond as a tensor
///
/// The tensor appears when all of its bytes have arrived; if the command is interrupted, nothing is
/// left of it. `--replace` replaces a tensor of the same name in one step, and programs that hold the
/// old one keep it. The pond's mover reads the file; this command itself needs no GPU.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A numpy file is recognised by its first bytes. Any other file needs `--dtype`; without `--shape` the
tensor has one dimension.

Examples:
  millpond tensor put weights/w0 w0.npy
  millpond tensor put weights/w0 w0.bin --dtype bf16 --shape 4096,4096 --replace
  zstd -dc w0.npy.zst | millpond tensor put weights/w0 -
  millpond tensor put scratch x.npy --ttl 10m --share group")]
pub struct PutArgs {
    /// A path-like name such as `weights/w0`; everybody finds names under `public/`
    pub name: TensorName,
    /// The file; `-` is standard input
    pub file: PathBuf,
    /// Element type, in safetensors', numpy's or torch's spelling; a numpy file has its own
    #[arg(long, value_name = "DTYPE")]
    pub dtype: Option<Dtype>,
    /// Dimensions, as in `4096,4096`; a numpy file has its own
    #[arg(long, value_name = "N,N...")]
    pub shape: Option<Shape>,
    /// Format of the file, where its first bytes do not tell
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Replace a tensor of this name
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten)]
    pub life: LifeArgs,
}

/// Where a tensor is, and for whom.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The GPU: its index in `millpond status` as `0` or `cuda:0`, or its UUID
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Who may use it
    #[arg(long, alias = "audience", value_name = "WHO", value_enum, default_value_t)]
    pub share: Share,
}

/// Save a tensor to a file
///
/// The file appears under its name when it is complete. Replacing or deleting the tensor meanwhile
/// has no effect on it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The format follows the file's name: a name without an ending or with `.npy` gets numpy's format, any
other name just the bytes. `--format` overrides that.

Examples:
  millpond tensor get weights/w0 -o w0.npy
  millpond tensor get weights/w0 -o w0.bin
  millpond tensor get acts/x -o - --wait 5s | python3 look.py")]
pub struct GetArgs {
    /// A name or UUID, or the first digits of a UUID
    pub name: String,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Format of the file [default: from its name]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Wait this long for the tensor to be published, as in `5s`
    #[arg(long, value_name = "TIME")]
    pub wait: Option<Span>,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Copy a tensor, on its GPU or to another one
#[derive(Debug, Args)]
#[command(after_long_help = "\
By default the copy is on the same GPU. It appears when it is complete.

Examples:
  millpond tensor copy weights/w0 backup/w0
  millpond tensor copy weights/w0 weights/w0-1 --device 1
  millpond tensor copy '~alice/acts/x' acts/x --replace")]
pub struct CopyArgs {
    /// The tensor: a name or UUID, or the first digits of a UUID
    pub from: String,
    /// The name of the copy
    pub to: TensorName,
    /// Replace a tensor of this name
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten)]
    pub life: LifeArgs,
}

/// Fill a tensor with zeroes and publish it
///
/// Programs that have it mapped see the zeroes arrive.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor zero counts")]
pub struct ZeroArgs {
    /// A name or UUID, or the first digits of a UUID
    pub name: String,
    #[command(flatten)]
    pub json: JsonArg,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::args::{Cli, Command, TensorCommand};

    fn parse(line: &str) -> Result<TensorCommand, String> {
        let words = "millpond tensor".split(' ').chain(line.split(' '));
        match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Command::Tensor(command) => Ok(command),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn times_need_a_unit_and_a_life_has_three_ends() {
        let Ok(TensorCommand::Put(args)) =
            parse("put x - --ttl 1h30m --linger 250ms --max-accesses 3")
        else {
            panic!("it is a put");
        };
        let life = args.life.life();
        assert_eq!((life.ttl_ms, life.linger_ms), (Some(5_400_000), Some(250)));
        assert_eq!(life.accesses, Some(3));
        assert!(parse("put x - --ttl 10").unwrap_err().contains("write 10s"));
        assert!(parse("put x - --max-accesses 0").is_err());
        assert!(parse("get x").unwrap_err().contains("--output"));
    }
}
