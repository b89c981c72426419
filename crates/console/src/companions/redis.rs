//! `millpond redis`.

use clap::{Args, Subcommand};
use millpond_view::span::Span;

use crate::args::JsonArg;

/// The variable that keeps passwords out of the list of processes.
pub const URL_VARIABLE: &str = "MILLPOND_REDIS_URL";
/// The prefix, for `millpond ls --all-nodes`, which has no flag for it.
pub const PREFIX_VARIABLE: &str = "MILLPOND_REDIS_PREFIX";

/// Let programs that speak only Redis and CUDA IPC use the pond
///
/// Takes commands from a Redis list, carries them out in this machine's pond, and shows its tensors as
/// hashes. The pond stays the truth: a Redis that is emptied is filled again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Runs until it is told to end (SIGTERM, SIGINT). It waits for a Redis and for a pond that are not there.
Several machines may share one Redis: each runs this command under its own `--node`.

A URL is `redis://`, `rediss://` (TLS), `unix:///path` or `redis-sentinel://host:port/NAME`, with
`user:password@` before the host. Put one with a password into `MILLPOND_REDIS_URL`.

Examples:
  millpond redis --url redis://127.0.0.1:6379
  millpond redis --url unix:///run/redis/redis.sock --prefix lab:
  millpond redis --url redis://h1:7000 --url redis://h2:7000 --cluster
  millpond redis --url redis://s1:26379 --url redis://s2:26379 --sentinel main
  millpond redis --url redis://127.0.0.1 --once
  millpond redis nodes --url redis://127.0.0.1
  millpond redis ls --json --url redis://127.0.0.1")]
pub struct RedisArgs {
    #[command(flatten)]
    pub server: ServerArgs,
    /// The name of this machine in Redis; by default its host name
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// How often hashes are compared with the pond
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub repair_every: Span,
    /// How long an answer waits to be read
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub reply_ttl: Span,
    /// Carry out what waits, repair, and end
    #[arg(long)]
    pub once: bool,
    #[command(subcommand)]
    pub command: Option<RedisCommand>,
}

/// Which Redis.
#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    /// Where Redis is; several for a cluster or for Sentinels
    #[arg(
        long,
        value_name = "URL",
        env = URL_VARIABLE,
        hide_env_values = true,
        value_delimiter = ',',
        global = true
    )]
    pub url: Vec<String>,
    /// The URLs are those of Sentinels, and this is the name of what they watch
    #[arg(long, value_name = "NAME", global = true, conflicts_with = "cluster")]
    pub sentinel: Option<String>,
    /// The URLs are those of a cluster
    #[arg(long, global = true)]
    pub cluster: bool,
    /// What every key begins with
    #[arg(
        long,
        value_name = "TEXT",
        env = PREFIX_VARIABLE,
        hide_env_values = true,
        default_value = "",
        hide_default_value = true,
        global = true
    )]
    pub prefix: String,
}

/// What Redis knows.
#[derive(Debug, Subcommand)]
pub enum RedisCommand {
    /// List the machines that share this Redis
    Nodes(JsonArg),
    /// List the tensors of all machines
    #[command(visible_alias = "list")]
    Ls(JsonArg),
}
