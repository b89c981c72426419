//! Where a picture goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use millpond_console::error::{Outcome, failed};
use millpond_console::printer::Printer;

/// Writes a picture to a file, or to standard output for `-`. Whoever looks at the file meanwhile sees the
/// old one or the new one.
pub(super) fn write(file: &Path, picture: &str, printer: &Printer) -> Outcome {
    if file == Path::new("-") {
        return printer.raw(picture.as_bytes());
    }
    put(file, picture).map_err(|error| failed(format!("writing '{}'", file.display()), error))?;
    printer.note(format_args!("wrote `{}`", file.display()));
    Ok(())
}

fn put(file: &Path, picture: &str) -> io::Result<()> {
    // A device or a pipe is written to, not replaced.
    if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return fs::write(file, picture);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside: PathBuf = file.with_file_name(name);
    fs::write(&beside, picture)?;
    fs::rename(&beside, file).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}
