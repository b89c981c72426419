//! Words that people type first because other programs have them, and the command that is meant.
//!
//! A word that means exactly a command of ours is an alias of it, in `args/`. These mean something
//! close, and running it unasked could surprise.

/// What was typed, and what to say.
const WORDS: &[(&str, &str)] = &[
    ("start", "`millpond serve --detach` starts a pond in the background"),
    ("up", "`millpond serve --detach` starts a pond in the background"),
    ("restart", "`millpond upgrade` replaces the running daemon; nothing is lost"),
    ("down", "`millpond stop` stops the pond"),
    ("shutdown", "`millpond stop` stops the pond"),
    ("kill", "`millpond stop` stops the pond; `millpond rm NAME` removes objects"),
    ("log", "`millpond logs` shows the log of a pond in the background"),
    ("watch", "`millpond status --watch` shows the pond as it changes"),
    ("info", "`millpond status` shows the pond, `millpond inspect NAME` one object"),
    ("show", "`millpond inspect NAME` shows one object, `millpond ls` all of them"),
    ("tensors", "`millpond tensor ls` lists tensors, `millpond ls` everything"),
    ("pull", "`millpond load NAME hf:ORG/NAME` loads what `hf download` has put into the cache"),
    (
        "download",
        "`millpond load NAME hf:ORG/NAME` loads what `hf download` has put into the cache",
    ),
    ("create", "`millpond tensor create NAME --dtype f32 --shape 4,4` makes a tensor"),
    ("put", "`millpond tensor put NAME FILE` puts a file into the pond"),
    ("get", "`millpond tensor get NAME -o FILE` saves a tensor to a file"),
    ("cp", "`millpond tensor copy FROM TO` copies a tensor"),
    ("copy", "`millpond tensor copy FROM TO` copies a tensor"),
    ("activate", "`millpond swap MODEL VERSION` makes a version the current one"),
    ("cache", "`millpond elastic ls` lists elastic caches"),
    ("caches", "`millpond elastic ls` lists elastic caches"),
    ("elastic show", "`millpond elastic inspect NAME` shows an elastic cache"),
    ("model ls", "`millpond models` lists models and their versions"),
    ("model list", "`millpond models` lists models and their versions"),
    ("model rm", "`millpond rm MODEL` removes a model, `millpond rm MODEL@VERSION` one version"),
    (
        "model delete",
        "`millpond rm MODEL` removes a model, `millpond rm MODEL@VERSION` one version",
    ),
    ("model mv", "`millpond mv OLD NEW` renames a model"),
    ("model load", "`millpond load MODEL PATH` loads a checkpoint"),
    ("model save", "`millpond save MODEL PATH` saves a checkpoint"),
    ("model inspect", "`millpond inspect MODEL` shows a model"),
    ("model", "`millpond models` lists models and their versions"),
    ("tensor mv", "`millpond mv OLD NEW` renames a tensor"),
    ("tensor rename", "`millpond mv OLD NEW` renames a tensor"),
    ("tensor cp", "`millpond tensor copy FROM TO` copies a tensor"),
    ("tensor show", "`millpond tensor inspect NAME` shows a tensor"),
];

/// What to say about a word that is no command; `words` is the command line without flags, from the
/// first word on.
pub fn hint(words: &[String]) -> Option<&'static str> {
    let two = words.get(..2).map(|two| two.join(" "));
    let one = words.first().cloned();
    let find = |typed: String| WORDS.iter().find(|(word, _)| *word == typed);
    two.and_then(find).or_else(|| one.and_then(find)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn no_word_here_is_a_command_and_every_one_says_what_to_type() {
        let root = Cli::command();
        for (typed, hint) in WORDS {
            assert!(hint.starts_with("`millpond "), "{typed}");
            let mut command = Some(&root);
            for word in typed.split(' ') {
                command = command.and_then(|found| found.find_subcommand(word));
            }
            assert!(command.is_none(), "{typed} is a command");
        }
    }

    #[test]
    fn two_words_come_before_one() {
        let hint = |line: &str| hint(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(hint("model rm llama").unwrap().starts_with("`millpond rm MODEL`"));
        assert!(hint("model frobnicate").unwrap().starts_with("`millpond models`"));
        assert!(hint("start").unwrap().contains("serve --detach"));
        assert_eq!(hint("nonsense"), None);
    }
}
