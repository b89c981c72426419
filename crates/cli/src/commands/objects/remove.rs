//! `millpond rm` and `millpond tensor rm`.

use millpond::{Pond, VersionInfo};
use millpond_view as view;

use super::find::{Inventory, Word};
use super::object::{Kind, Object, census, total_bytes};
use crate::args::{ConsentArgs, Global, RemoveArgs, RmArgs};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::printer::{self, Printer};
use crate::{pond, units};

/// Names that a question shows before it only counts.
const SHOWN: usize = 10;

/// Removes models, versions and tensors.
pub fn remove(args: &RemoveArgs, global: &Global, printer: &Printer) -> Outcome {
    run(&args.names, None, args.consent, global, printer)
}

pub fn remove_tensors(args: &RmArgs, global: &Global, printer: &Printer) -> Outcome {
    run(&args.names, Some(Kind::Tensor), args.consent, global, printer)
}

/// Removes all that can be, and says which could not.
fn run(
    names: &[String],
    only: Option<Kind>,
    consent: ConsentArgs,
    global: &Global,
    printer: &Printer,
) -> Outcome {
    let words = names.iter().map(|name| Word::parse(name, only));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let pond = pond::connect(global)?;
    let there = Inventory::read_for(&pond, &words)?;
    let mut work = Work { objects: Vec::new(), many: Vec::new(), code: Code::Ok };
    for (word, name) in words.iter().zip(names) {
        match word.find(&pond, &there) {
            Ok(found) => work.add(name, found),
            Err(error) => work.code = printer::finish(printer, Err(error)),
        }
    }
    work.in_order();
    if consent.unused {
        work.only_tensors()?;
    }
    if consent.dry_run {
        return work.show(printer);
    }
    if !consent.yes && !work.objects.is_empty() {
        work.ask(printer)?;
    }
    work.remove(&pond, &there, consent.unused, printer)
}

/// What is to go.
struct Work {
    objects: Vec<Object>,
    /// Words that mean more than one object.
    many: Vec<String>,
    /// Of the last word that means nothing.
    code: Code,
}

impl Work {
    fn add(&mut self, word: &str, found: Vec<Object>) {
        if found.len() > 1 {
            self.many.push(word.to_owned());
        }
        for object in found {
            if !self.objects.contains(&object) {
                self.objects.push(object);
            }
        }
    }

    /// A current version goes after the others of its model.
    fn in_order(&mut self) {
        let last = |object: &Object| matches!(object, Object::Version(info) if info.current);
        self.objects.sort_by_key(last);
    }

    /// A version is never refused for its readers: it drains, whoever has it.
    fn only_tensors(&self) -> Outcome {
        let is_version = |object: &&Object| matches!(object, Object::Version(_));
        let Some(version) = self.objects.iter().find(is_version) else { return Ok(()) };
        let message = format!("'{}' is a version: --unused is for tensors", version.name());
        let hint = "without it, readers keep a removed version until they let go; `tensor rm` and \
                    `tensor:NAME` mean tensors alone";
        Err(Report::new(Code::Usage, message).hint(hint).into())
    }

    fn size(&self) -> String {
        units::bytes(total_bytes(&self.objects))
    }

    fn show(&self, printer: &Printer) -> Outcome {
        if printer.is_json() {
            printer.json(&as_data(true, &self.objects, 0))?;
        } else {
            self.objects.iter().try_for_each(|object| printer.line(object.name()))?;
            let what = census(&self.objects);
            printer.note(format_args!("would remove {what}, {}", self.size()));
        }
        self.end()
    }

    fn ask(&self, printer: &Printer) -> Outcome {
        if self.many.is_empty() {
            return Ok(());
        }
        let (what, size) = (census(&self.objects), self.size());
        for object in self.objects.iter().take(SHOWN) {
            printer.aside(format_args!("  {}", object.name()));
        }
        if let Some(more) = self.objects.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            printer.aside(format_args!("  and {more} more"));
        }
        match printer.confirm(format_args!("Remove {what}, {size}?")) {
            Some(true) => Ok(()),
            Some(false) => {
                printer.note("nothing was removed");
                Err(CommandError::Said(Code::Failed))
            }
            None => {
                let words: Vec<String> = self.many.iter().map(|word| format!("'{word}'")).collect();
                let verb = if words.len() == 1 { "means" } else { "mean" };
                let message = format!("{} {verb} {what}, {size}", words.join(", "));
                let hint = "`--yes` removes them without a question, `--dry-run` shows them";
                Err(Report::new(Code::Usage, message).hint(hint).into())
            }
        }
    }

    fn remove(
        mut self,
        pond: &Pond,
        there: &Inventory,
        unused: bool,
        printer: &Printer,
    ) -> Outcome {
        let mut removed = Vec::new();
        for object in &self.objects {
            let gone = match object {
                Object::Tensor(info) if unused => pond.delete_unused(info.tensor),
                Object::Tensor(info) => pond.delete(info.tensor),
                Object::Version(info) if self.is_whole(info, there) => {
                    pond.remove_version(info.version)
                }
                Object::Version(info) => pond.retire(info.version),
            };
            match gone {
                Ok(()) => {
                    if !printer.is_json() {
                        printer.line(object.name())?;
                    }
                    removed.push(object.clone());
                }
                Err(error) => self.code = printer::finish(printer, Err(error.into())),
            }
        }
        // As of the listing: what is refused while it is used was not used any more.
        let is_held = |object: &&Object| object.users() > 0 && !unused;
        let held: Vec<&Object> = removed.iter().filter(is_held).collect();
        let bytes = held.iter().map(|object| object.bytes()).sum();
        if printer.is_json() {
            printer.json(&as_data(false, &removed, bytes))?;
        } else if !held.is_empty() {
            let users = held.iter().map(|object| u64::from(object.users())).sum();
            printer.note(format_args!(
                "note: {} stay until {} let go; `millpond ps` shows who",
                units::bytes(bytes),
                units::count(users, "lease")
            ));
        }
        self.end()
    }

    /// Whether everything of a version's model goes, so that there is nothing to swap to.
    fn is_whole(&self, info: &VersionInfo, there: &Inventory) -> bool {
        let goes = |object: &&Object| match object {
            Object::Version(other) => (&other.model, other.user) == (&info.model, info.user),
            Object::Tensor(_) => false,
        };
        self.objects.iter().filter(goes).count() >= there.live_versions(info)
    }

    fn end(&self) -> Outcome {
        match self.code {
            Code::Ok => Ok(()),
            code => Err(CommandError::Said(code)),
        }
    }
}

/// What went, or would, as data.
fn as_data(dry_run: bool, objects: &[Object], held_bytes: u64) -> view::Removed {
    let bytes = total_bytes(objects);
    view::Removed {
        dry_run,
        objects: objects.iter().map(Object::view).collect(),
        bytes,
        held_bytes,
    }
}
