//! One module for each command.

mod completions;
mod coverage;
mod demo;
mod detach;
mod doctor;
mod elastic;
mod events;
mod gc;
mod group;
mod handle;
mod help;
mod hidden;
mod inspect;
mod logs;
mod man;
mod model;
mod near_miss;
pub mod objects;
mod opener;
pub mod ps;
mod run;
mod serve;
pub mod status;
mod stop;
mod tensor;
mod transfer;
mod upgrade;
pub mod usage;
mod version;
mod watch;

use crate::args::{Cli, Command, TensorCommand};
use crate::error::Outcome;
use crate::printer::Printer;

/// Does what the command line says.
pub fn run(cli: &Cli, printer: &Printer) -> Outcome {
    let global = &cli.global;
    match &cli.command {
        Command::Demo(args) => demo::run(args, printer),
        Command::Serve(args) => serve::run(args, global, printer),
        Command::Stop(args) => stop::run(args, global, printer),
        Command::Logs(args) => logs::run(args, global, printer),
        Command::Doctor(_) => doctor::run(global, printer),
        Command::Ls(args) => objects::list(args, global, printer),
        Command::Rm(args) => objects::remove(args, global, printer),
        Command::Mv(args) => objects::rename(args, global, printer),
        Command::Tensor(TensorCommand::Create(args)) => tensor::create(args, global, printer),
        Command::Tensor(TensorCommand::Put(args)) => transfer::put(args, global, printer),
        Command::Tensor(TensorCommand::Get(args)) => transfer::get(args, global, printer),
        Command::Tensor(TensorCommand::Copy(args)) => transfer::copy(args, global, printer),
        Command::Tensor(TensorCommand::Zero(args)) => transfer::zero(args, global, printer),
        Command::Tensor(TensorCommand::Ls(args)) => tensor::list(args, global, printer),
        Command::Tensor(TensorCommand::Rm(args)) => objects::remove_tensors(args, global, printer),
        Command::Tensor(TensorCommand::Inspect(args)) => inspect::run(args, global, printer),
        Command::Tensor(TensorCommand::Handle(args)) => handle::run(args, global, printer),
        Command::Load(args) => model::load(args, global, printer),
        Command::Models(args) => model::list(args, global, printer),
        Command::Inspect(args) => model::inspect(args, global, printer),
        Command::Swap(args) => model::swap(args, global, printer),
        Command::Rollback(args) => model::rollback(args, global, printer),
        Command::Retire(args) => model::retire(args, global, printer),
        Command::Verify(args) => model::verify(args, global, printer),
        Command::Save(args) => model::save(args, global, printer),
        Command::Run(args) => run::run(args, global, printer),
        Command::Group(command) => group::run(command, global, printer),
        Command::Elastic(command) => elastic::run(command, global, printer),
        Command::Coverage(args) => coverage::run(args, printer),
        Command::Ps(args) => ps::run(args, global, printer),
        Command::Status(args) => status::run(args, global, printer),
        Command::Upgrade(args) => upgrade::run(args, global, printer),
        Command::Events(args) => events::run(args, global, printer),
        Command::Gc(args) => gc::run(args, global, printer),
        Command::Completions(args) => completions::run(args, printer),
        Command::Man(args) => man::run(args, printer),
        Command::Version(_) => version::run(printer),
        Command::Help(args) => help::run(args, printer),
        Command::Daemon(args) => hidden::daemon(args, printer),
        Command::Keeper(log) => hidden::keeper(log),
        Command::Mover(log) => hidden::mover(log),
        Command::Host(log) => hidden::host(log),
        Command::Opener(log) => opener::run(log, printer),
        Command::Worker(args) => hidden::worker(args, global, printer),
        Command::Janitor(args) => millpond_trial::janitor::run(&args.folder),
    }
}
