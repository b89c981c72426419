//! What the keeper starts once its pond serves: it greets whoever started the pond, and loads the
//! models of the settings as any client does.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use millpond::{LoadSpec, Pond};
use millpond_keeper::config::{Config, LogFormat, StartModel};
use millpond_wire::message::Status;
use millpond_wire::{VersionState, VersionTag};

use super::hidden;
use super::status::is_software;
use crate::args::LogArgs;
use crate::error::{CommandError, Outcome, failed, wrong};
use crate::printer::Printer;
use crate::{pond, units};

/// How long a terminal that takes nothing holds up the models.
const GREETED_WITHIN: Duration = Duration::from_secs(1);

pub fn run(log: &LogArgs, printer: &Printer) -> Outcome {
    let config = settings()?;
    hidden::begin(c"millpond-opener", log)?;
    let folder = config.folder();
    let pond = Pond::builder().runtime_dir(&folder).program("millpond opener").connect()?;
    let status = pond.status()?;
    if config.log_format == LogFormat::Text && !printer.is_quiet() {
        greet(&status, &folder, printer.clone());
    }
    for model in &config.load {
        if let Err(error) = load(&pond, model) {
            let text = format!("{}: {error}", model.name);
            tracing::error!("a model of the configuration was not loaded: {text}");
            pond.report_start("", &text)?;
        }
    }
    if !config.load.is_empty() {
        pond.report_start("", "")?;
    }
    Ok(pond.close()?)
}

fn settings() -> Result<Config, CommandError> {
    let mut json = Vec::new();
    let bytes = millpond_keeper::channel::CONFIG_BYTES as u64;
    let read = std::io::stdin().take(bytes).read_to_end(&mut json);
    read.map_err(|error| failed("reading the settings", error))?;
    Config::from_json(&json).map_err(|_| wrong("only `millpond serve` starts this command"))
}

/// In a thread of its own: a standard error that takes nothing must not hold up the models.
fn greet(status: &Status, folder: &Path, printer: Printer) {
    let lines = lines(status, folder);
    let (said, heard) = std::sync::mpsc::channel();
    let speaker = std::thread::Builder::new().spawn(move || {
        printer.note(lines.join("\n"));
        let _ = said.send(());
    });
    if speaker.is_ok() {
        let _ = heard.recv_timeout(GREETED_WITHIN);
    }
}

/// What is served, where, and what to type next.
fn lines(status: &Status, folder: &Path) -> [String; 3] {
    [
        format!("serving {}", cards(status)),
        format!("folder  {}", folder.display()),
        format!("In another terminal: {}", pond::command_for(folder, "status")),
    ]
}

/// The pond's GPUs in one line.
pub fn cards(status: &Status) -> String {
    let card = |name: &str, bytes: u64| {
        format!("{} with {}", crate::shown::printable(name), units::bytes(bytes))
    };
    let all: Vec<String> =
        status.devices.iter().map(|device| card(&device.name, device.total_bytes)).collect();
    let all = match all.as_slice() {
        [] => "no GPU".to_owned(),
        [one] => one.clone(),
        many => format!("{} GPUs: {}", many.len(), many.join(", ")),
    };
    match is_software(status) {
        true => format!("{all}: SOFTWARE DRIVER, host memory, no GPU"),
        false => all,
    }
}

/// Loads a model, unless it is there: the pond may be one that was taken over with everything in it.
fn load(pond: &Pond, model: &StartModel) -> Outcome {
    let tag = model.version.as_deref().map(VersionTag::new).transpose();
    let tag = tag.map_err(|error| wrong(error.to_string()))?;
    let there = pond.models(&model.name)?;
    let me = crate::users::me();
    let mine = there.iter().filter(|found| found.name.as_str() == model.name && found.user == me);
    let mut versions = mine.flat_map(|found| &found.versions);
    if versions.any(|found| {
        found.state == VersionState::Ready && tag.as_ref().is_none_or(|tag| found.tag == *tag)
    }) {
        tracing::info!("model '{}' is already in the pond", model.name);
        return Ok(());
    }
    let shown = match &tag {
        Some(tag) => format!("{}@{tag}", model.name),
        None => model.name.clone(),
    };
    pond.report_start(&shown, "")?;
    tracing::info!("loading model '{shown}' from '{}'", model.path.display());
    let mut spec = LoadSpec::new(model.name.as_str()).paths([&model.path]);
    if let Some(tag) = tag {
        spec = spec.tag(tag);
    }
    if let Some(device) = &model.device {
        spec = spec.device(pond::device(pond, device)?);
    }
    let loaded = pond.load(spec, |_| {})?;
    let (bytes, time) = (units::bytes(loaded.info.bytes), units::time(loaded.elapsed));
    tracing::info!("model '{}@{}' is loaded: {bytes} in {time}", model.name, loaded.info.tag);
    Ok(())
}
