//! `millpond logs`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use millpond_wire::message::Status;
use millpond_wire::{ErrorKind, runtime_dir};

use super::detach::{default_log_file, in_folder};
use crate::args::{Global, LogsArgs};
use crate::error::{CommandError, Outcome, Report, failed, wrong};
use crate::exit::Code;
use crate::pond;
use crate::printer::Printer;

/// How often a log that is followed is looked at.
const PAUSE: Duration = Duration::from_millis(100);
const BLOCK: usize = 64 << 10;

pub fn run(args: &LogsArgs, global: &Global, printer: &Printer) -> Outcome {
    let path = path(global)?;
    let reading = |error| failed(format!("reading '{}'", path.display()), error);
    let mut file = File::open(&path).map_err(reading)?;
    if let Some(lines) = args.lines {
        seek_to_last(&mut file, lines).map_err(reading)?;
    }
    loop {
        copy(&mut file, printer, &path)?;
        if !args.follow {
            return Ok(());
        }
        if let Some(next) = successor(&file, &path) {
            // Whatever was written until it was renamed.
            copy(&mut file, printer, &path)?;
            file = next;
            continue;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The log file of the pond, or of the last one in that folder.
fn path(global: &Global) -> Result<PathBuf, CommandError> {
    match pond::connect(global) {
        Ok(pond) => {
            let status = pond.status()?;
            match status.log_file.as_str() {
                "" => Err(no_file(&status)),
                path => Ok(path.into()),
            }
        }
        Err(CommandError::Failed(report)) if report.code == Code::Kind(ErrorKind::NoPond) => {
            let folder = global.runtime_dir().unwrap_or_else(runtime_dir::for_client);
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            let places = default_log_file(&folder).into_iter().chain([in_folder(&folder)]);
            let found = places.into_iter().find(|path| path.exists());
            found.ok_or(CommandError::Failed(report))
        }
        Err(error) => Err(error),
    }
}

/// A pond that logs to its standard error: where that leads.
fn no_file(status: &Status) -> CommandError {
    let hint = match &status.service {
        Some(service) => {
            let user = if service.user { " --user" } else { "" };
            format!("`journalctl{user} -u {}`", service.unit)
        }
        None => {
            let target = std::fs::read_link(format!("/proc/{}/fd/2", status.keeper_pid));
            match target.ok().filter(|target| target.is_absolute() && target.is_file()) {
                Some(file) => format!("it goes to '{}'", file.display()),
                None => "look at the terminal of `millpond serve`; a pond that is started with \
                     `--detach` or `--log-file` has a log file"
                    .to_owned(),
            }
        }
    };
    let message = format!("the pond in '{}' logs to its standard error", status.runtime_dir);
    Report::new(Code::Failed, message).hint(hint).into()
}

fn copy(file: &mut File, printer: &Printer, path: &Path) -> Outcome {
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => printer.raw(block.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(wrong(format!("reading '{}': {error}", path.display()))),
        }
    }
}

/// The file that has taken the place of this one.
fn successor(file: &File, path: &Path) -> Option<File> {
    let next = File::open(path).ok()?;
    let identity = |file: &File| file.metadata().map(|found| (found.dev(), found.ino())).ok();
    (identity(file) != identity(&next)).then_some(next)
}

/// To the beginning of the last lines.
fn seek_to_last(file: &mut File, lines: u64) -> io::Result<()> {
    let mut end = file.seek(SeekFrom::End(0))?;
    // The last line's own end is not the beginning of one.
    let mut left = lines.saturating_add(1);
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let begin = end.saturating_sub(BLOCK as u64);
        file.seek(SeekFrom::Start(begin))?;
        let part = block.get_mut(..usize::try_from(end - begin).unwrap_or(0)).unwrap_or_default();
        file.read_exact(part)?;
        for (at, byte) in part.iter().enumerate().rev() {
            if *byte == b'\n' {
                left -= 1;
                if left == 0 {
                    file.seek(SeekFrom::Start(begin + at as u64 + 1))?;
                    return Ok(());
                }
            }
        }
        end = begin;
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let all: Vec<String> = (0..20_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, all.concat()).unwrap();
        for lines in [0, 1, 3, 15_000, 20_000, 30_000_u64] {
            let mut file = File::open(&path).unwrap();
            seek_to_last(&mut file, lines).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            let first = all.len().saturating_sub(usize::try_from(lines).unwrap());
            assert!(text == all[first..].concat(), "{lines}");
        }
    }
}
