//! `millpond coverage`: what of a driver's library is watched.

use std::path::{Path, PathBuf};

use millpond_cuda::{Driver, DriverChoice, DriverKind};
use millpond_preload::coverage::{self, Class};
use millpond_view::{Coverage, Export};
use millpond_wire::ErrorKind;

use crate::args::CoverageArgs;
use crate::commands::serve::chain;
use crate::elf::Elf;
use crate::error::{CommandError, Outcome, Report, failed};
use crate::exit::Code;
use crate::printer::{Printer, Tone};
use crate::units;

/// The software driver as a library of its own, beside this program.
const SOFTWARE: &str = "libcuda.so";

const HOOKED: &str = "hooked";
const PASSED: &str = "passed";
const WATCHED: &str = "watched";
const UNKNOWN: &str = "unknown";

/// Reads the library, and says what of it is watched.
pub fn run(args: &CoverageArgs, printer: &Printer) -> Outcome {
    let library = match &args.library {
        Some(file) => file.clone(),
        None => chosen()?,
    };
    let exports = Elf::open(&library).and_then(|elf| elf.exports());
    let exports = exports.map_err(|error| failed(format!("'{}'", library.display()), error))?;
    if !exports.iter().any(|name| name == "cuInit") {
        let message = format!("'{}' is not a CUDA driver: it has no cuInit", library.display());
        return Err(Report::new(Code::Kind(ErrorKind::File), message)
            .hint("`--library` names a libcuda.so.1")
            .into());
    }
    let exports: Vec<Export> = exports.into_iter().map(classify).collect();
    let counted = count(&library, &exports);
    let shown: Vec<Export> =
        exports.into_iter().filter(|export| args.all || export.class == UNKNOWN).collect();
    let ok = counted.ok;
    if printer.is_json() {
        printer.json(&Coverage { exports: shown, ..counted })?;
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

fn classify(name: String) -> Export {
    let (class, reason) = match coverage::classify(&name) {
        Class::Hooked(_) => (HOOKED, None),
        Class::Passed(reason) => (PASSED, Some(reason.text())),
        Class::Watched(reason) => (WATCHED, Some(reason.text())),
        Class::Unknown => (UNKNOWN, None),
    };
    let may_allocate = class == UNKNOWN && sounds_like_memory(&name);
    Export { name, class, reason, may_allocate }
}

/// Whether a function that nobody has looked at may take memory, by its name. In doubt it may: all
/// that takes memory so far makes, imports, opens or maps something.
fn sounds_like_memory(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "alloc",
        "create",
        "import",
        "open",
        "reserve",
        "pool",
        "retain",
        "instantiate",
        "upload",
        "launch",
        "register",
        "map",
    ];
    let is_driver =
        name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let name = name.to_ascii_lowercase();
    is_driver && WORDS.iter().any(|word| name.contains(word))
}

fn count(library: &Path, exports: &[Export]) -> Coverage {
    let count = |class: &str| exports.iter().filter(|export| export.class == class).count() as u64;
    Coverage {
        ok: !exports.iter().any(|export| export.may_allocate),
        library: library.display().to_string(),
        hooked: count(HOOKED),
        passed: count(PASSED),
        watched: count(WATCHED),
        unknown: count(UNKNOWN),
        exports: Vec::new(),
    }
}

fn print(counted: &Coverage, shown: &[Export], printer: &Printer) -> Outcome {
    for export in shown {
        if printer.is_quiet() {
            printer.line(&export.name)?;
            continue;
        }
        let tone = match (export.may_allocate, export.class) {
            (true, _) => Tone::Bad,
            (_, HOOKED) => Tone::Good,
            (_, UNKNOWN) => Tone::Careful,
            _ => Tone::Dim,
        };
        let class = printer.paint(tone, format_args!("{:<8}", export.class));
        let remark = match export.reason {
            _ if export.may_allocate => "looks as if it could take memory",
            Some(reason) => reason,
            None => "",
        };
        printer
            .line(format_args!("{class} {:<44} {remark}", export.name).to_string().trim_end())?;
    }
    if printer.is_quiet() {
        return Ok(());
    }
    let total = counted.hooked + counted.passed + counted.watched + counted.unknown;
    printer.line(format_args!(
        "{}: {}, {} hooked, {} passed, {} watched, {} unknown",
        counted.library,
        units::count(total, "function"),
        counted.hooked,
        counted.passed,
        counted.watched,
        counted.unknown
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_function_that_could_take_memory_is_told_from_others() {
        let may = |name: &str| classify(name.to_owned()).may_allocate;
        for name in
            ["cuMemAllocQuantum", "cuTensorArenaCreate", "cuMemPoolGrow_v9", "cuFooImportBar"]
        {
            assert!(may(name), "{name}");
        }
        for name in ["cuFooGetName", "cudbgNewThing", "helperAlloc", "_fini"] {
            assert!(!may(name), "{name}");
        }
        assert!(!may("cuMemAlloc_v2") && classify("cuMemAlloc_v2".into()).class == HOOKED);
    }

    #[test]
    fn a_library_with_something_new_is_not_ok() {
        let names = ["cuInit", "cuMemAlloc_v2", "cuModuleLoad", "cuNewQuestion"];
        let exports: Vec<Export> = names.map(|name| classify(name.to_owned())).into();
        let counted = count(Path::new("/x"), &exports);
        assert!(counted.ok);
        assert_eq!([counted.hooked, counted.passed, counted.watched, counted.unknown], [1; 4]);
        let new = [classify("cuMemAllocQuantum".into())];
        assert!(!count(Path::new("/x"), &new).ok);
    }
}
