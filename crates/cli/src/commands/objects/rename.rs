//! `millpond mv`.

use millpond_view as view;

use super::find::{Inventory, Word};
use super::object::{Kind, Object};
use crate::args::{Global, MoveArgs};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::pond;
use crate::printer::Printer;

/// Renames a tensor or a model.
pub fn rename(args: &MoveArgs, global: &Global, printer: &Printer) -> Outcome {
    let word = Word::parse(&args.from, None)?;
    let usage = |message: String, hint: &str| {
        CommandError::from(Report::new(Code::Usage, message).hint(hint))
    };
    if !word.is_name() {
        let message = format!("'{}' may mean several objects", args.from);
        return Err(usage(message, "name one tensor or one model"));
    }
    let pond = pond::connect(global)?;
    let there = Inventory::read_for(&pond, std::slice::from_ref(&word))?;
    let found = word.find(&pond, &there)?;
    let Some(object) = found.first() else { return Ok(()) };
    let was = object.bare_name().unwrap_or_else(|| object.id());
    match object {
        Object::Tensor(info) => pond.rename(info.tensor, args.to.as_str())?,
        Object::Version(_) if word.names_version() => {
            let message = format!("'{}' is a version, and versions keep their tags", args.from);
            return Err(usage(message, "name the model alone to rename it"));
        }
        Object::Version(_) => pond.rename_model(&was, args.to.as_str())?,
    }
    let (kind, name) = (object.kind(), args.to.to_string());
    if printer.is_json() {
        return printer.json(&view::Renamed { kind: kind.name(), name, was });
    }
    printer.line(&name)?;
    if kind == Kind::Model && object.users() > 0 {
        printer.detail("programs that have it attached keep it");
    }
    Ok(())
}
