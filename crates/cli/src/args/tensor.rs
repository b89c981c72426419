//! `millpond tensor …`.

use clap::{Args, Subcommand, ValueEnum};
use millpond_wire::{Audience, Dtype, Shape, TensorName};

use super::transfer::{CopyArgs, GetArgs, PutArgs, ZeroArgs};
use super::{JsonArg, LifeArgs};

/// Create, fill, save, list and delete tensors
#[derive(Debug, Subcommand)]
pub enum TensorCommand {
    Create(Box<CreateArgs>),
    Put(Box<PutArgs>),
    Get(GetArgs),
    Copy(Box<CopyArgs>),
    Zero(ZeroArgs),
    #[command(visible_alias = "list")]
    Ls(LsArgs),
    Rm(RmArgs),
    Inspect(InspectArgs),
}

impl TensorCommand {
    /// Whether JSON is wanted.
    pub fn is_json(&self) -> bool {
        match self {
            TensorCommand::Create(args) => args.json.json,
            TensorCommand::Put(args) => args.json.json,
            TensorCommand::Get(args) => args.json.json,
            TensorCommand::Copy(args) => args.json.json,
            TensorCommand::Zero(args) => args.json.json,
            TensorCommand::Ls(args) => args.json.json,
            TensorCommand::Rm(_) => false,
            TensorCommand::Inspect(args) => args.json.json,
        }
    }
}

/// Create a tensor
///
/// The memory is taken from the GPU and stays there until the tensor is deleted, even if every
/// program exits. Without `--zero` the tensor stays in the state `writing` until a program fills and
/// publishes it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor create acts/x --dtype bf16 --shape 4096,4096
  millpond tensor create counts --dtype i64 --shape 128 --zero --share group
  millpond tensor create scratch --dtype u8 --shape 1048576 --ttl 1h")]
pub struct CreateArgs {
    /// A path-like name such as `acts/x`; everybody finds names under `public/`
    pub name: TensorName,
    /// Element type, in safetensors', numpy's or torch's spelling
    #[arg(long, value_name = "DTYPE")]
    pub dtype: Dtype,
    /// Dimensions, as in `4096,4096`
    #[arg(long, value_name = "N,N...")]
    pub shape: Shape,
    /// The GPU: its index in `millpond status`, or its UUID [default: the first]
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Who may use it
    #[arg(long, alias = "audience", value_name = "WHO", value_enum, default_value_t)]
    pub share: Share,
    /// Delete it when the process that made it ends, which is this command
    #[arg(long)]
    pub ephemeral: bool,
    /// Fill it with zeroes; it is ready at once
    #[arg(long)]
    pub zero: bool,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten)]
    pub life: LifeArgs,
}

/// With whom a tensor is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Share {
    /// Only with programs of your user
    #[default]
    User,
    /// With members of your primary group
    Group,
    /// With every user of the pond
    Everybody,
}

impl From<Share> for Audience {
    fn from(share: Share) -> Self {
        match share {
            Share::User => Audience::User,
            Share::Group => Audience::Group,
            Share::Everybody => Audience::Everybody,
        }
    }
}

/// List tensors
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor ls
  millpond tensor ls acts/            only names with this prefix
  millpond tensor rm $(millpond tensor ls -q acts/)
  millpond tensor ls --json | jq '[.tensors[].bytes] | add'")]
pub struct LsArgs {
    /// List only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    pub prefix: String,
    /// List deleted tensors too, while programs still hold them
    #[arg(short, long)]
    pub all: bool,
    /// Show every column, and names, UUIDs and GPUs whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Delete tensors
///
/// They take no new readers from then on. The memory is freed when the last program that holds
/// them lets go.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor rm acts/x acts/y")]
pub struct RmArgs {
    /// Names or UUIDs, or the first digits of a UUID
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

/// Show everything about a tensor, and who holds it
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor inspect acts/x
  millpond tensor inspect '~1001/acts/x'  of another user
  millpond tensor inspect acts/x --json")]
pub struct InspectArgs {
    /// A name or UUID, or the first digits of a UUID
    pub name: String,
    #[command(flatten)]
    pub json: JsonArg,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn create(line: &str) -> Result<CreateArgs, clap::Error> {
        let words = "millpond tensor create".split(' ').chain(line.split(' '));
        match Cli::try_parse_from(words)?.command {
            Command::Tensor(TensorCommand::Create(args)) => Ok(*args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tensor_is_checked_before_anybody_is_asked() {
        let args = create("acts/x --dtype torch.bfloat16 --shape 2x3 --share group").unwrap();
        assert_eq!((args.dtype, args.shape.dims()), (Dtype::Bf16, &[2, 3][..]));
        assert_eq!(Audience::from(args.share), Audience::Group);
        let error = |line: &str| create(line).unwrap_err().to_string();
        assert!(error("x --dtype f33 --shape 1").contains("unknown dtype 'f33'"));
        assert!(error("x --dtype f32 --shape 0").contains("no elements"));
        assert!(error("a//b --dtype f32 --shape 1").contains("nothing between two slashes"));
    }
}
