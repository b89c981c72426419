//! What a process is called where people look: its script's name rather than its interpreter's.

use std::path::Path;

/// Programs that run others, without the version at the end of their names.
const INTERPRETERS: [&str; 10] =
    ["python", "pypy", "bash", "sh", "dash", "perl", "ruby", "node", "julia", "Rscript"];
/// Options of interpreters that have a value of their own.
const WITH_VALUE: [&str; 4] = ["-X", "-W", "-o", "--check-hash-based-pycs"];
/// Where `-e` is another option than "the program is the next word".
const SHELLS: [&str; 3] = ["bash", "sh", "dash"];

/// The name of this process.
pub(crate) fn own() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    let executable = path.file_name()?.to_string_lossy().into_owned();
    let arguments = std::env::args_os().skip(1);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    Some(script(&executable, arguments).unwrap_or(executable))
}

/// The script that an interpreter runs: its file's name, or the module's.
fn script(executable: &str, mut arguments: impl Iterator<Item = String>) -> Option<String> {
    let plain = executable.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if !INTERPRETERS.contains(&plain) {
        return None;
    }
    while let Some(argument) = arguments.next() {
        if argument == "-m" {
            return arguments.next().filter(|module| !module.is_empty());
        }
        // The program is on the command line itself, or comes through a pipe.
        let is_text = matches!(argument.as_str(), "-c" | "-")
            || (argument == "-e" && !SHELLS.contains(&plain));
        if is_text {
            return None;
        }
        if WITH_VALUE.contains(&argument.as_str()) {
            arguments.next();
        } else if !argument.starts_with('-') {
            let name = Path::new(&argument).file_name()?;
            return Some(name.to_string_lossy().into_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_called_as_its_script_is() {
        let name = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let executable = words.next().unwrap();
            script(&executable, words)
        };
        for (line, expected) in [
            ("python3.11 worker.py --gpu 0", Some("worker.py")),
            ("python3 -u -X dev /srv/app/serve.py x", Some("serve.py")),
            ("python -m vllm.entrypoints.api_server --port 1", Some("vllm.entrypoints.api_server")),
            ("python3.12 /usr/bin/jupyter-lab", Some("jupyter-lab")),
            ("bash -e tools/load.sh", Some("load.sh")),
            ("perl -e print", None),
            ("python3.11 -c import", None),
            ("python3.11 -", None),
            ("python3.11 -m", None),
            ("python3.11", None),
            ("python3.11 ..", None),
            ("worker /srv/data.py", None),
        ] {
            assert_eq!(name(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_program_that_runs_no_script_is_called_as_its_file_is() {
        let file = std::env::current_exe().unwrap();
        assert_eq!(own().unwrap(), file.file_name().unwrap().to_string_lossy());
    }
}
