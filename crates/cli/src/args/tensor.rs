//! `millpond tensor …`.

use clap::{Args, Subcommand, ValueEnum};
use millpond_wire::{Audience, Dtype, Shape, TensorName, TransportKind};

use super::transfer::{CopyArgs, GetArgs, PutArgs, ZeroArgs};
use super::{ConsentArgs, JsonArg, LifeArgs};

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
    #[command(visible_alias = "delete", alias = "remove")]
    Rm(RmArgs),
    Inspect(InspectArgs),
    Handle(HandleArgs),
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
            TensorCommand::Rm(args) => args.json.json,
            TensorCommand::Inspect(args) => args.json.json,
            TensorCommand::Handle(args) => args.json.json,
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
If a tensor of this name with the same dtype, shape and audience already exists, that is the one,
and a note says which flags had no effect. `--zero` is refused for one that is still written.

Examples:
  millpond tensor create acts/x --dtype bf16 --shape 4096,4096
  millpond tensor create counts --dtype i64 --shape 128 --zero --share group
  millpond tensor create scratch --dtype u8 --shape 1048576 --ttl 1h
  millpond tensor create frames/x --dtype u8 --shape 1080,1920,3 --zero --transport ipc")]
pub struct CreateArgs {
    /// A path-like name such as `acts/x`; everybody finds names under `public/`
    pub name: TensorName,
    /// Element type, in safetensors', numpy's or torch's spelling
    #[arg(long, value_name = "DTYPE")]
    pub dtype: Dtype,
    /// Dimensions, as in `4096,4096`
    #[arg(long, value_name = "N,N...")]
    pub shape: Shape,
    /// The GPU: its index in `millpond status` as `0` or `cuda:0`, or its UUID [default: the first]
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Who may use it
    #[arg(long, alias = "audience", value_name = "WHO", value_enum, default_value_t)]
    pub share: Share,
    /// How its memory is shared
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub transport: Transport,
    /// Refused with the reason: it would end the tensor with this command
    #[arg(long, hide = true)]
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

/// How the memory of a tensor is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// A descriptor, for every program that uses Millpond; survives everything
    #[default]
    Vmm,
    /// A handle of 64 bytes, for programs that know only CUDA IPC; survives everything but its host
    Ipc,
    /// A memory pool of the driver, for programs that import pools; survives everything
    Mempool,
    /// The driver is asked, and its answer passed on
    #[value(hide = true)]
    Fabric,
}

impl From<Transport> for TransportKind {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Vmm => TransportKind::Vmm,
            Transport::Ipc => TransportKind::Ipc,
            Transport::Mempool => TransportKind::Mempool,
            Transport::Fabric => TransportKind::Fabric,
        }
    }
}

/// List tensors
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond tensor ls
  millpond tensor ls acts/            names with this prefix
  millpond tensor ls 'q*'             names that match
  millpond tensor ls --json | jq '[.tensors[].bytes] | add'")]
pub struct LsArgs {
    /// List only names with this prefix, or that match this pattern
    #[arg(default_value = "", hide_default_value = true, value_name = "PATTERN")]
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
Where a name means more than one tensor, it asks first. Without a terminal it then needs `--yes`.

Examples:
  millpond tensor rm acts/x acts/y
  millpond tensor rm acts/ --yes
  millpond tensor rm acts/x --unused
  millpond tensor rm 'a*' --dry-run")]
pub struct RmArgs {
    /// Names, prefixes that end in `/`, patterns, UUIDs or their first digits
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub consent: ConsentArgs,
    #[command(flatten)]
    pub json: JsonArg,
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

/// Print the handle of an `ipc` tensor, for programs that know only CUDA IPC
///
/// Whoever has the 64 bytes can open the memory, whatever user that is. The memory begins where
/// `cudaIpcOpenMemHandle` says, and the tensor at `offset` in it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Bytes are printed in base64. With `--hold` the command holds a lease until Ctrl-C, SIGTERM or the
end of its standard input, so that the memory cannot be freed meanwhile. Without it nothing keeps
the tensor while the handle is used.

Examples:
  millpond tensor handle frames/x
  millpond tensor handle frames/x --hold --json")]
pub struct HandleArgs {
    /// A name or UUID, or the first digits of a UUID
    pub name: String,
    /// Keep the tensor until Ctrl-C, SIGTERM or the end of standard input
    #[arg(long)]
    pub hold: bool,
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
        assert_eq!(TransportKind::from(args.transport), TransportKind::Vmm);
        for kind in TransportKind::ALL {
            let args = create(&format!("x --dtype u8 --shape 1 --transport {kind}")).unwrap();
            assert_eq!(TransportKind::from(args.transport), *kind);
        }
        let error = |line: &str| create(line).unwrap_err().to_string();
        assert!(error("x --dtype f33 --shape 1").contains("unknown dtype 'f33'"));
        assert!(error("x --dtype f32 --shape 0").contains("no elements"));
        assert!(error("a//b --dtype f32 --shape 1").contains("nothing between two slashes"));
    }
}
