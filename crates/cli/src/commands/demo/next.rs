//! What to type after the demo.

use std::path::{Path, PathBuf};

/// The commands, each with what it does. They work in this order, in any shell.
const COMMANDS: [(&str, &str); 4] = [
    ("serve --detach", "in the background"),
    ("tensor create x --dtype f32 --shape 1024 --zero", "outlives its maker"),
    ("status", "what is in it"),
    ("stop", "frees everything"),
];

/// The lines to print.
pub fn lines() -> Vec<String> {
    let name = env!("CARGO_BIN_NAME");
    let width = COMMANDS.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
    let line = |(words, what): &(&str, &str)| format!("  {name} {words:<width$}  # {what}");
    let export =
        missing_in_path(name).map(|folder| format!("  export PATH={}:$PATH", quoted(&folder)));
    export.into_iter().chain(COMMANDS.iter().map(line)).collect()
}

/// The folder of this program, where its name alone does not lead a shell to it.
fn missing_in_path(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    let first = files.find(|file| file.is_file()).and_then(|file| file.canonicalize().ok());
    if first.as_ref() == Some(&own) { None } else { own.parent().map(Path::to_owned) }
}

/// As one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_fit_a_terminal_and_a_shell() {
        for line in lines().iter().filter(|line| !line.contains("export PATH=")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert_eq!(quoted(Path::new("/opt/bin")), "/opt/bin");
        assert_eq!(quoted(Path::new("/it's here")), r"'/it'\''s here'");
    }
}
