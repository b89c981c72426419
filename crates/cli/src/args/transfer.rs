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
    /// Nothing but the bytes
    Raw,
}

/// Put a file into the pond as a tensor
///
/// Nobody sees the tensor before all of its bytes are there, and if this command is ended before,
/// nothing is left of it. With `--replace` it takes the place of another one in one step: whoever
/// holds the old one keeps it. The pond's mover reads the file itself; this command needs no GPU.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A file that begins as numpy's do is read as such. Of any other the dtype must be said; without a
shape it has one dimension.

Examples:
  millpond tensor put weights/w0 w0.npy
  millpond tensor put weights/w0 w0.bin --dtype bf16 --shape 4096,4096 --replace
  zstd -dc w0.npy.zst | millpond tensor put weights/w0 -
  millpond tensor put scratch x.npy --ttl 10m --share group")]
pub struct PutArgs {
    /// A path-like name such as `weights/w0`; under `public/` it is found by everybody
    pub name: TensorName,
    /// The file; `-` is standard input
    pub file: PathBuf,
    /// Element type, in safetensors', numpy's or torch's spelling; a numpy file has its own
    #[arg(long, value_name = "DTYPE")]
    pub dtype: Option<Dtype>,
    /// Extents, as in `4096,4096`; a numpy file has its own
    #[arg(long, value_name = "N,N...")]
    pub shape: Option<Shape>,
    /// What the file looks like, where its first bytes do not say it
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Take the place of a tensor that has this name
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
    /// Which GPU: its index in `millpond status` as `0` or `cuda:0`, or its UUID
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// With whom it is shared
    #[arg(long, alias = "audience", value_name = "WHO", value_enum, default_value_t)]
    pub share: Share,
}

/// Save a tensor to a file
///
/// The file appears under its name when it is complete. Whoever replaces or deletes the tensor
/// meanwhile does not disturb this.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Written as numpy's `save` does, unless the file's name has another ending than `.npy`: then nothing
but the bytes are written. `--format` says it outright.

Examples:
  millpond tensor get weights/w0 -o w0.npy
  millpond tensor get weights/w0 -o w0.bin
  millpond tensor get acts/x -o - --wait 5s | python3 look.py")]
pub struct GetArgs {
    /// Its name or identity, or the first digits of that
    pub name: String,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What the file is to look like
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// How long to wait until the tensor is there and published, as in `5s`
    #[arg(long, value_name = "TIME")]
    pub wait: Option<Span>,
    /// Write over a file that is there
    #[arg(short, long)]
    pub force: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Copy a tensor, also to another GPU
#[derive(Debug, Args)]
#[command(after_long_help = "\
The copy is on the GPU of the first one unless said. Nobody sees it before it is complete.

Examples:
  millpond tensor copy weights/w0 backup/w0
  millpond tensor copy weights/w0 weights/w0-1 --device 1
  millpond tensor copy '~alice/acts/x' acts/x --replace")]
pub struct CopyArgs {
    /// What to copy: a name or identity, or the first digits of that
    pub from: String,
    /// The name of the copy
    pub to: TensorName,
    /// Take the place of a tensor that has this name
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
/// Whoever has it mapped sees the zeroes come.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor zero counts")]
pub struct ZeroArgs {
    /// Its name or identity, or the first digits of that
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
