//! `millpond demo`: real processes, real kills, and only claims that were looked at.

mod account;
mod ending;
mod kills;
mod next;
mod opening;
mod plan;
mod state;
mod story;

use crate::args::DemoArgs;
use crate::error::{CommandError, Outcome};
use crate::exit::Code;
use crate::printer::Printer;
use crate::units;

use state::Demo;
use story::Story;

/// Plays the whole demo.
pub fn run(args: &DemoArgs, printer: &Printer) -> Outcome {
    let story = Story::new(printer);
    let mut demo = Demo::gather(args, story)?;
    demo.start_the_pond()?;
    demo.start_the_workers()?;
    demo.write_the_tensors()?;
    demo.map_the_tensors()?;
    demo.kill_a_worker()?;
    demo.kill_the_daemon()?;
    demo.kill_the_keeper()?;
    if args.keep {
        demo.keep_the_pond()?;
    } else {
        demo.clean_up()?;
    }
    let (story, facts) = demo.leave();
    if printer.is_json() {
        printer.json(&facts)?;
    }
    let known = |bytes: Option<u64>| bytes.map_or("not measured".to_owned(), units::bytes);
    let survived = match facts.kills_survived.as_slice() {
        [] => "nothing".to_owned(),
        kills => kills.join(", "),
    };
    story.summary(format_args!(
        "{} on {:.2} copies of {}; survived kill -9 of {survived}; lost {}; leaked {}",
        units::count(facts.workers, "worker"),
        facts.copies.unwrap_or(f64::NAN),
        units::bytes(facts.bytes),
        known(facts.lost_bytes),
        known(facts.leaked_bytes),
    ))?;
    if facts.ok && !args.keep {
        story.now_try(&next::lines())?;
    }
    if facts.ok { Ok(()) } else { Err(CommandError::Said(Code::Failed)) }
}
