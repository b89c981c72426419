//! `millpond web`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Where the page is if nothing else is asked for.
pub const LISTEN: &str = "127.0.0.1:7711";

/// Show the pond in a browser, and to Prometheus
///
/// Serves one page with what is on each GPU, who holds it and what is wrong; the metrics of the pond at
/// `/metrics`; and the same data as JSON under `/api/v1`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Runs until it is told to end (SIGTERM, SIGINT). It waits for a pond that is not there.

By default only this machine reaches the page, and on this machine only root and the user who runs this
command. Everybody else needs a token of `--token-file`: `Authorization: Bearer TOKEN`. Programs on the
page's address under another name need `--host NAME`.

The page changes nothing. `--actions-token-file` names tokens that allow swaps, rollbacks, retirements and
new limits, as the user who runs this command.

Examples:
  millpond web
  millpond web --listen 127.0.0.1:8080
  millpond web --listen 0.0.0.0:7711 --host gpu7.example.org --token-file /etc/millpond/web.tokens
  millpond web --actions-token-file ~/.config/millpond/actions.tokens
  curl -s http://127.0.0.1:7711/metrics")]
pub struct WebArgs {
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = LISTEN, value_parser = address)]
    pub listen: SocketAddr,
    /// Tokens that allow reading, one in a line; nobody else may read the file
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Tokens that allow actions as well
    #[arg(long, value_name = "FILE", conflicts_with = "readonly")]
    pub actions_token_file: Option<PathBuf>,
    /// A name under which browsers may ask for the page; can be repeated
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Refuse every action, whatever token is shown
    #[arg(long)]
    pub readonly: bool,
}

/// An address with its port; a port alone is one of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let local = || text.parse().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port)));
    let named = || text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}").parse());
    text.parse().or_else(|_| local()).or_else(|_| {
        named().and_then(Result::ok).ok_or_else(|| {
            "an address and a port are needed, such as 127.0.0.1:7711 or [::1]:7711".to_owned()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_in_one_of_three_ways() {
        for (text, read) in [
            ("127.0.0.1:7711", "127.0.0.1:7711"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:7711", "[::1]:7711"),
            ("8080", "127.0.0.1:8080"),
            ("localhost:1", "127.0.0.1:1"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), read);
        }
        for text in ["", "127.0.0.1", "gpu7:80", "localhost:x", "70000", "::1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
