//! `millpond history`.

use std::path::PathBuf;

use clap::Args;
use millpond_view::span::Span;

use super::web;
use crate::args::JsonArg;

/// Draw the memory of a GPU over time, by holder
///
/// Shows which models, groups, users and other programs had how much of the card, with the limits that
/// held. `millpond web` keeps the samples: up to one a second for ten minutes, one in fifteen seconds for a day.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Asks the `millpond web` of this machine, or that of `--url`. Another machine's, and another user's, wants
a token: `--token-file`.

Examples:
  millpond history gpu0
  millpond history gpu0 --since 1h -o history.svg
  millpond history gpu0 --since 10m --json
  millpond history gpu0 --url http://gpu7:7711 --token-file web.token -o history.svg")]
pub struct HistoryArgs {
    /// The GPU, by index or UUID; the first if none is named
    #[arg(value_name = "GPU")]
    pub gpu: Option<String>,
    /// How far back
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub since: Span,
    /// Write a picture (SVG) to this file; `-` is standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Where `millpond web` is
    #[arg(long, value_name = "URL", default_value_t = format!("http://{}", web::LISTEN))]
    pub url: String,
    /// A file with a token of that `millpond web`
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}
