//! `millpond models`.

use millpond::{ModelInfo, VersionInfo};
use millpond_view as view;

use super::{shown, shown_model};
use crate::args::{Global, ModelsArgs};
use crate::commands::watch;
use crate::error::Outcome;
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{pond, units};

pub fn list(args: &ModelsArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    watch::run(args.watch, printer, |printer| {
        show(&pond.models(&args.prefix)?, args.no_trunc, printer)
    })
}

fn show(models: &[ModelInfo], no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::Models::from(models));
    }
    if printer.is_quiet() {
        let mut versions = models.iter().flat_map(|model| &model.versions);
        return versions.try_for_each(|info| printer.line(shown(info)));
    }
    printer.table(&table(models, no_trunc))
}

fn table(models: &[ModelInfo], no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("MODEL", Side::Left),
        ("VERSION", Side::Left),
        ("STATE", Side::Left),
        ("TENSORS", Side::Right),
        ("SIZE", Side::Right),
        ("OWN", Side::Right),
        ("SHARED", Side::Right),
        ("READERS", Side::Right),
        ("CREATED", Side::Left),
    ])
    .dispensable(&["TENSORS", "OWN", "CREATED", "SHARED"])
    .no_trunc(no_trunc);
    for model in models {
        for info in &model.versions {
            table.row(vec![
                shown_model(&model.name, model.user),
                format!("{}{}", info.tag, mark(info)),
                state(info).to_owned(),
                info.tensors.to_string(),
                units::bytes(info.bytes),
                units::bytes(info.slab_bytes.saturating_sub(info.shared_bytes)),
                units::bytes(info.shared_bytes),
                info.readers.to_string(),
                format!("{} ago", units::age(info.created_unix_ms)),
            ]);
        }
    }
    table
}

/// What new readers get, and what a rollback leads to.
fn mark(info: &VersionInfo) -> &'static str {
    match (info.current, info.previous) {
        (true, _) => " *",
        (false, true) => " <",
        (false, false) => "",
    }
}

/// The word for where it is in its life.
pub fn state(info: &VersionInfo) -> &'static str {
    if info.lost { "lost" } else { info.state.name() }
}

#[cfg(test)]
pub mod samples {
    use millpond_wire::message::VersionState;
    use millpond_wire::{Audience, ContentHash, GpuUuid, TensorName, VersionId, VersionTag};

    use super::*;

    pub fn version(tag: &str) -> VersionInfo {
        VersionInfo {
            version: VersionId::random(),
            model: TensorName::new("llama").unwrap(),
            tag: VersionTag::new(tag).unwrap(),
            state: VersionState::Ready,
            device: GpuUuid([1; 16]),
            user: crate::users::me(),
            audience: Audience::User,
            bytes: 5 << 20,
            slab_bytes: 6 << 20,
            shared_bytes: 2 << 20,
            slabs: 3,
            tensors: 291,
            layout: Some(ContentHash::of(b"layout")),
            content: Some(ContentHash::of(b"content")),
            created_unix_ms: units::now_unix_ms(),
            ready_unix_ms: Some(units::now_unix_ms()),
            readers: 8,
            current: false,
            previous: false,
            lost: false,
            source: "/checkpoint".into(),
            stager_pid: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_line_with_its_mark() {
        let current = VersionInfo { current: true, ..samples::version("v2") };
        let previous = VersionInfo { previous: true, ..samples::version("v1") };
        let lost = VersionInfo { lost: true, ..samples::version("v3") };
        let user = current.user;
        let versions = vec![previous, current, lost];
        let name = versions[0].model.clone();
        let text = table(&[ModelInfo { name, user, versions }], false).render();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].contains("v1 <") && lines[2].contains("v2 *"), "{text}");
        assert!(lines[3].contains("lost") && lines[2].contains("ready"), "{text}");
        for part in ["5 MiB", "4 MiB", "2 MiB", "291", "0 seconds ago"] {
            assert!(lines[2].contains(part), "{part} in {text}");
        }
    }
}
