//! `millpond top`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use millpond_view::span::Span;

/// The shortest interval: a person sees no more.
const LEAST: Duration = Duration::from_millis(100);
/// The longest: a picture that is older is no live one.
const MOST: Duration = Duration::from_secs(60);

/// Show the pond on a full screen
///
/// GPUs to scale, models, groups, elastic caches, tensors, processes and events, as they change. Sort,
/// filter and inspect them; swap, roll back and retire versions, and change the limits of groups. Each
/// change is confirmed first.
#[derive(Debug, Args)]
#[command(after_long_help = "\
`?` lists the keys. Connects to `watch.sock`, which shows the objects of all users, where this user may,
and else to `sock`, which shows the user's own. Changes go through `sock`, with the user's own rights.

Without a terminal, `--once` prints one picture as text, as wide as COLUMNS says or 80 columns, and
`--once --json` everything as data.

Examples:
  millpond top
  millpond top --interval 0.5 --ascii
  millpond top --readonly
  millpond top --once
  millpond top --once --json")]
pub struct TopArgs {
    /// Print one picture and end
    #[arg(long)]
    pub once: bool,
    /// With `--once`: print everything as JSON
    #[arg(long, requires = "once")]
    pub json: bool,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// Refuse every key that would change something
    #[arg(long)]
    pub readonly: bool,
    /// Time between two pictures: 0.1 to 60 seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    pub interval: Duration,
    /// Show the objects of all users, by `watch.sock`, or fail
    #[arg(long, conflicts_with = "own")]
    pub watch: bool,
    /// Show only the objects that this user may use
    #[arg(long)]
    pub own: bool,
    /// With `--once`: draw the picture to this file
    #[arg(long, value_name = "FILE", requires = "once", conflicts_with = "json")]
    pub svg: Option<PathBuf>,
}

/// Seconds, with a fraction or not, or a time with its unit.
fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let every = match seconds {
        Some(seconds) => seconds,
        None => text.parse::<Span>()?.0,
    };
    if every < LEAST {
        return Err(format!("'{text}' is too short; the shortest is 0.1"));
    }
    if every > MOST {
        return Err(format!("'{text}' is too long; the longest is 60"));
    }
    Ok(every)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_between_a_tenth_of_a_second_and_a_minute() {
        assert_eq!(interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(interval("60"), Ok(Duration::from_secs(60)));
        assert_eq!(interval("250ms"), Ok(Duration::from_millis(250)));
        for text in ["0", "0.09", "-1", "nan", "61", "1e99", "2m", "soon", ""] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
