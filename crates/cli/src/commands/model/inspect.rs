//! `millpond inspect`.

use millpond::{ErrorKind, IntoVersion, Pond, VersionInfo, VersionView};
use millpond_view as view;
use millpond_wire::manifest::{Manifest, ManifestTensor};

use super::list::state;
use super::shown;
use crate::args::{Global, InspectAnyArgs};
use crate::commands::inspect::{self as tensor, show_holders};
use crate::error::{CommandError, Outcome};
use crate::printer::{Printer, Tone};
use crate::table::{Side, Table};
use crate::{moment, pond, units, users};

/// Prints everything about a version, or about a tensor where there is no such model.
pub fn inspect(args: &InspectAnyArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    match pond.version(args.name.as_str()) {
        Ok(found) => version(&pond, found, args.tensors, printer),
        Err(no_model) => match no_model.kind() {
            // It is a model, and something is wrong with it.
            ErrorKind::Invalid if args.name.as_str().into_version().is_ok() => Err(no_model.into()),
            ErrorKind::NotFound | ErrorKind::Invalid => tensor::show(&pond, &args.name, printer)
                .map_err(|no_tensor| neither(&args.name, no_model, no_tensor)),
            _ => Err(no_model.into()),
        },
    }
}

/// What is said of a name that is neither.
pub fn neither(name: &str, no_model: millpond::Error, no_tensor: CommandError) -> CommandError {
    match no_tensor {
        CommandError::Failed(report) if report.failure.kind == ErrorKind::NotFound => {
            if name.contains('@') && no_model.kind() == ErrorKind::NotFound {
                return no_model.into();
            }
            let mut report = *report;
            // Where it ended, that is what to know.
            if report.failure.ended_ago_ms.is_none() {
                report.failure.message = format!("no model and no tensor '{name}'");
            }
            let tensors = report.failure.similar.len();
            report.failure.similar.splice(0..0, no_model.similar().iter().cloned());
            report.failure.hint = Some(match (no_model.similar(), tensors) {
                ([only], 0) => format!("did you mean the model '{only}'?"),
                ([], 1) => format!("did you mean '{}'?", report.failure.similar[0]),
                ([_, ..], 0) => "`millpond models` lists the models".to_owned(),
                _ => "`millpond ls` lists all objects".to_owned(),
            });
            report.into()
        }
        other => other,
    }
}

fn version(pond: &Pond, found: VersionView, tensors: bool, printer: &Printer) -> Outcome {
    let VersionView { info, parts, leases, manifest } = found;
    let manifest = match manifest {
        Some(view) => Some(view.to_manifest().map_err(|error| {
            crate::error::failed(format!("the manifest of {}", shown(&info)), error)
        })?),
        None => None,
    };
    let ties = manifest.as_ref().map(view::Ties::of).unwrap_or_default();
    let rollback_to = rollback_to(pond, &info)?;
    if printer.is_json() {
        let weights =
            |manifest: &Manifest| manifest.tensors.iter().map(view::Weight::from).collect();
        let tags = view::Tags::of_version(info.version, &info.tag);
        return printer.json(&view::VersionDetails {
            version: view::Version::from(&info),
            rollback_to,
            slabs: view::Slab::all(&parts, manifest.as_ref()),
            tied_bytes: ties.bytes,
            tied: ties.names,
            metadata: manifest.as_ref().map(|it| it.metadata.clone()).unwrap_or_default(),
            tensors: manifest.as_ref().filter(|_| tensors).map(weights),
            leases: leases.iter().map(|lease| view::Lease::new(lease, &tags)).collect(),
        });
    }
    if printer.is_quiet() {
        return printer.line(info.version);
    }
    for (name, value) in facts(&info, &ties, rollback_to.as_deref()) {
        let name = printer.paint(Tone::Dim, format!("{name:<12}"));
        printer.line(format_args!("{name} {value}"))?;
    }
    show_holders(&leases, info.readers, printer)?;
    if let (true, Some(manifest)) = (tensors, &manifest) {
        printer.line("")?;
        printer.line(weights(&manifest.tensors).render())?;
    }
    Ok(())
}

/// The tag that a rollback of its model leads to.
fn rollback_to(pond: &Pond, info: &VersionInfo) -> Result<Option<String>, CommandError> {
    let models = pond.models(info.model.as_str())?;
    let own = models.iter().find(|model| model.name == info.model && model.user == info.user);
    let previous = own.and_then(|model| model.versions.iter().rev().find(|it| it.previous));
    Ok(previous.map(|version| version.tag.to_string()))
}

fn facts(
    info: &VersionInfo,
    ties: &view::Ties,
    rollback_to: Option<&str>,
) -> Vec<(&'static str, String)> {
    let exact = |bytes: u64| format!("{} ({} bytes)", units::bytes(bytes), units::thousands(bytes));
    let hash =
        |hash: Option<millpond::ContentHash>| hash.map_or("-".to_owned(), |it| it.to_string());
    let own = info.slab_bytes.saturating_sub(info.shared_bytes);
    let age = units::age(info.created_unix_ms);
    let what = match (info.current, info.previous) {
        (true, _) => ", current",
        (false, true) => ", previous",
        (false, false) => "",
    };
    let stager = info.stager_pid.map(|pid| format!(", staged by pid {pid}")).unwrap_or_default();
    let slabs = units::count(u64::from(info.slabs), "slab");
    let mut facts = vec![
        ("version", shown(info)),
        ("id", info.version.to_string()),
        ("state", format!("{}{what}{stager}", state(info))),
        ("owner", format!("{} ({})", users::name(info.user), info.user)),
        ("shared with", info.audience.to_string()),
        ("device", info.device.to_string()),
        ("tensors", format!("{} of {}", units::thousands(info.tensors.into()), exact(info.bytes))),
        ("tied", tied(ties)),
        ("memory", format!("{} in {slabs}", exact(info.slab_bytes))),
        ("own", exact(own)),
        ("shared", exact(info.shared_bytes)),
        ("layout hash", hash(info.layout)),
        ("content hash", hash(info.content)),
        ("source", crate::shown::printable(&info.source).into_owned()),
        ("created", format!("{} ({age} ago)", moment::zoned(info.created_unix_ms))),
        ("rollback to", rollback_to.unwrap_or("-").to_owned()),
        ("readers", info.readers.to_string()),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// What has several names, and what that saves; nothing for most versions.
fn tied(ties: &view::Ties) -> String {
    if ties.names.is_empty() {
        return String::new();
    }
    let equal = |names: &Vec<String>| {
        let names: Vec<_> = names.iter().map(|name| crate::shown::printable(name)).collect();
        names.join(" = ")
    };
    let all: Vec<String> = ties.names.iter().map(equal).collect();
    format!("{}, {} saved", all.join(", "), units::bytes(ties.bytes))
}

fn weights(tensors: &[ManifestTensor]) -> Table {
    let mut table = Table::new(&[
        ("TENSOR", Side::Left),
        ("DTYPE", Side::Left),
        ("SHAPE", Side::Left),
        ("SIZE", Side::Right),
        ("SLAB", Side::Right),
        ("OFFSET", Side::Right),
        ("HASH", Side::Left),
    ])
    .no_trunc(true);
    for tensor in tensors {
        table.row(vec![
            tensor.name.escape_debug().to_string(),
            tensor.dtype.to_string(),
            tensor.shape.to_string(),
            units::bytes(tensor.bytes),
            tensor.slab.to_string(),
            tensor.offset.to_string(),
            tensor.hash.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::model::list::samples;

    #[test]
    fn a_version_is_told_whole() {
        let info = VersionInfo { current: true, ..samples::version("v2") };
        let ties = view::Ties {
            names: vec![vec!["lm_head.weight".to_owned(), "wte.weight".to_owned()]],
            bytes: 1 << 20,
        };
        let text = facts(&info, &ties, Some("v1"))
            .iter()
            .fold(String::new(), |text, (name, value)| text + name + " " + value + "\n");
        for part in [
            "version llama@v2",
            "state ready, current",
            "own 4 MiB (4,194,304 bytes)",
            "shared 2 MiB",
            "in 3 slabs",
            "tied lm_head.weight = wte.weight, 1 MiB saved",
            "rollback to v1",
            "readers 8",
            &info.content.unwrap().to_string(),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let untied = facts(&info, &view::Ties::default(), None);
        assert!(untied.iter().all(|(name, _)| *name != "tied"), "nothing is said of nothing");
    }
}
