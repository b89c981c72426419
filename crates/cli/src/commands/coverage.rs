//! `millpond coverage`: what of a driver's library is watched.

use std::path::{Path, PathBuf};

use self::coverage::Class;
use millpond_cuda::{Driver, DriverChoice, DriverKind};

use crate::args::CoverageArgs;
use crate::commands::serve::chain;
use crate::elf::Elf;
use crate::error::{CommandError, Outcome, Report, failed};
use crate::exit::Code;
use crate::json::{CoverageJson, ExportJson};
use crate::printer::{Printer, Tone};
use crate::units;

/// The software driver as a library of its own, beside this program.
const SOFTWARE: &str = "libcuda.so";

/// Reads the library, and says what of it is watched.
pub fn run(args: &CoverageArgs, printer: &Printer) -> Outcome {
    let library = match &args.library {
        Some(file) => file.clone(),
        None => chosen()?,
    };
    let exports = Elf::open(&library).and_then(|elf| elf.exports());
    let exports = exports.map_err(|error| failed(format!("'{}'", library.display()), error))?;
    let exports: Vec<ExportJson> = exports.into_iter().map(classify).collect();
    let counted = count(&library, &exports);
    let shown: Vec<ExportJson> =
        exports.into_iter().filter(|export| args.all || export.class == "unknown").collect();
    let ok = counted.ok;
    if printer.is_json() {
        printer.json(&CoverageJson { exports: shown, ..counted })?;
    } else {
        print(&counted, &shown, printer)?;
    }
    if ok { Ok(()) } else { Err(CommandError::Said(Code::Failed)) }
}

/// The library of the driver that would be used.
fn chosen() -> Result<PathBuf, CommandError> {
    let choice = DriverChoice::from_env();
    let beside = || {
        let program = std::env::current_exe().ok()?;
        Some(program.with_file_name(SOFTWARE)).filter(|file| file.is_file())
    };
    let opened = match &choice {
        DriverChoice::Path(file) => return Ok(file.clone()),
        DriverChoice::Soft => None,
        // Not a driver without a card either: what it exports can be read all the same.
        DriverChoice::Auto | DriverChoice::Cuda => Some(Driver::open(DriverChoice::Cuda, None)),
    };
    match opened {
        Some(Ok(driver)) if driver.kind() == DriverKind::Cuda => Ok(driver.library().to_owned()),
        Some(Err(error)) if choice == DriverChoice::Cuda => {
            Err(failed(format!("MILLPOND_DRIVER={choice}"), chain(&error)))
        }
        _ => beside().ok_or_else(|| {
            let message =
                "there is no libcuda.so.1 here, and the software driver is inside this program";
            let hint = "`--library FILE`; `cargo build -p millpond-softgpu-libcuda` builds the \
                        software driver's";
            Report::new(Code::Failed, message).hint(hint).into()
        }),
    }
}

fn classify(name: String) -> ExportJson {
    let class = coverage::class(&name);
    let may_allocate = class == Class::Unknown && coverage::may_allocate(&name);
    ExportJson { class: class.name(), may_allocate, name }
}

fn count(library: &Path, exports: &[ExportJson]) -> CoverageJson {
    let count =
        |class: Class| exports.iter().filter(|export| export.class == class.name()).count() as u64;
    CoverageJson {
        ok: !exports.iter().any(|export| export.may_allocate),
        library: library.display().to_string(),
        hooked: count(Class::Hooked),
        passed: count(Class::Passed),
        unknown: count(Class::Unknown),
        exports: Vec::new(),
    }
}

fn print(counted: &CoverageJson, shown: &[ExportJson], printer: &Printer) -> Outcome {
    for export in shown {
        if printer.is_quiet() {
            printer.line(&export.name)?;
            continue;
        }
        let tone = match (export.may_allocate, export.class) {
            (true, _) => Tone::Bad,
            (_, "hooked") => Tone::Good,
            (_, "unknown") => Tone::Careful,
            _ => Tone::Dim,
        };
        let class = printer.paint(tone, format_args!("{:<8}", export.class));
        let remark = if export.may_allocate { "  looks as if it could take memory" } else { "" };
        printer.line(format_args!("{class} {}{remark}", export.name))?;
    }
    if printer.is_quiet() {
        return Ok(());
    }
    let total = counted.hooked + counted.passed + counted.unknown;
    printer.line(format_args!(
        "{}: {}, {} hooked, {} passed, {} unknown",
        counted.library,
        units::count(total, "function"),
        counted.hooked,
        counted.passed,
        counted.unknown
    ))
}

// STUB
mod coverage {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Class {
        Hooked,
        Passed,
        Unknown,
    }
    impl Class {
        pub fn name(self) -> &'static str {
            match self {
                Class::Hooked => "hooked",
                Class::Passed => "passed",
                Class::Unknown => "unknown",
            }
        }
    }
    pub fn class(name: &str) -> Class {
        if name.starts_with("cuMem") {
            Class::Hooked
        } else if name.starts_with("cu") {
            Class::Passed
        } else {
            Class::Unknown
        }
    }
    pub fn may_allocate(name: &str) -> bool {
        name.contains("Alloc")
    }
}
