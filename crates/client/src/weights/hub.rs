//! Checkpoints that are in Hugging Face's cache on this machine: `hf:org/name@revision`.
//!
//! Nothing is downloaded. What the cache lacks is an error that says how to download it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What a path begins with that means the cache.
const SCHEME: &str = "hf:";
/// The revision that is meant where none is named.
const MAIN: &str = "main";
/// No reference in the cache is longer: it is a commit, forty digits.
const REFERENCE_BYTES: u64 = 256;

/// A repository that a path means.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Repository<'a> {
    name: &'a str,
    revision: Option<&'a str>,
}

/// Where the files of a path are, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) path: PathBuf,
    /// For people: a path, or `hf:org/name@commit`.
    pub(super) label: String,
}

/// The files that each path means.
pub(super) fn locate_all(paths: &[PathBuf]) -> Result<Vec<Located>> {
    let variable = |name: &str| std::env::var_os(name);
    paths.iter().map(|path| locate(path, &variable)).collect()
}

fn locate(path: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Located> {
    let text = path.to_str().and_then(|text| text.strip_prefix(SCHEME));
    let Some(text) = text else {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        return Ok(Located { path: path.to_owned(), label: whole.display().to_string() });
    };
    let repository = parse(text).ok_or_else(|| {
        let message = format!("'{SCHEME}{text}' is not a repository");
        Error::file_with_hint(message, "write `hf:ORG/NAME`, or `hf:ORG/NAME@REVISION`")
    })?;
    let missing = |what: String| {
        let revision = repository.revision.map(|it| format!(" --revision {it}"));
        let command = format!("hf download {}{}", repository.name, revision.unwrap_or_default());
        Error::file_with_hint(what, format!("`{command}` downloads it"))
    };
    let cache = cache(variable).ok_or_else(|| {
        missing("there is no home folder, and therefore no Hugging Face cache".to_owned())
    })?;
    let folder = cache.join(format!("models--{}", repository.name.replace('/', "--")));
    if !folder.is_dir() {
        let shown = cache.display();
        let message = format!("'{}' is not in the Hugging Face cache '{shown}'", repository.name);
        return Err(missing(message));
    }
    let revision = repository.revision.unwrap_or(MAIN);
    let Some(commit) = commit(&folder, revision) else {
        let message = format!(
            "revision '{revision}' of '{}' is not in the Hugging Face cache",
            repository.name
        );
        return Err(missing(message));
    };
    let label = format!("{SCHEME}{}@{commit}", repository.name);
    Ok(Located { path: folder.join("snapshots").join(commit), label })
}

/// `org/name`, or `name` alone as old models have it, and what follows an '@'.
fn parse(text: &str) -> Option<Repository<'_>> {
    let (name, revision) = match text.split_once('@') {
        Some((name, revision)) => (name, Some(revision)),
        None => (text, None),
    };
    let plain = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(known)
    };
    // A branch may have slashes, but never leads out of its folder.
    let fits = |revision: &str| revision.split('/').all(plain);
    let is_name = (1..=2).contains(&name.split('/').count()) && name.split('/').all(plain);
    (is_name && revision.is_none_or(fits)).then_some(Repository { name, revision })
}

/// Where Hugging Face's tools keep what they have downloaded.
fn cache(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let hub = |home: PathBuf| home.join("hub");
    named("HF_HUB_CACHE")
        .or_else(|| named("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| named("HF_HOME").map(hub))
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| hub(cache.join("huggingface"))))
        .or_else(|| named("HOME").map(|home| hub(home.join(".cache/huggingface"))))
}

/// The commit that a branch, a tag, or a commit or its first digits mean.
fn commit(folder: &Path, revision: &str) -> Option<String> {
    let is_there = |commit: &str| folder.join("snapshots").join(commit).is_dir();
    let reference = folder.join("refs").join(revision);
    let small = std::fs::metadata(&reference).is_ok_and(|it| it.len() <= REFERENCE_BYTES);
    if small && let Ok(text) = std::fs::read_to_string(&reference) {
        let commit = text.trim();
        let is_commit = !commit.is_empty() && commit.chars().all(|c| c.is_ascii_alphanumeric());
        return (is_commit && is_there(commit)).then(|| commit.to_owned());
    }
    let snapshots = std::fs::read_dir(folder.join("snapshots")).ok()?;
    let names = snapshots.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(revision)).collect();
    match found.as_slice() {
        [_] if revision.len() >= 6 => found.pop(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn located(home: &Path, text: &str) -> Result<Located> {
        let variable = |name: &str| (name == "HF_HOME").then(|| home.as_os_str().to_owned());
        locate(Path::new(text), &variable)
    }

    #[test]
    fn a_repository_of_the_local_cache_is_found_by_its_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hub/models--org--tiny");
        let snapshot = folder.join("snapshots").join(COMMIT);
        std::fs::create_dir_all(&snapshot).unwrap();
        std::fs::create_dir_all(folder.join("refs/pr")).unwrap();
        std::fs::write(folder.join("refs/main"), COMMIT).unwrap();
        std::fs::write(folder.join("refs/pr/1"), format!("{COMMIT}\n")).unwrap();
        let label = format!("hf:org/tiny@{COMMIT}");
        for text in ["hf:org/tiny", "hf:org/tiny@main", "hf:org/tiny@pr/1", "hf:org/tiny@012345"] {
            let expected = Located { path: snapshot.clone(), label: label.clone() };
            assert_eq!(located(home.path(), text).unwrap(), expected, "{text}");
        }
        let error = located(home.path(), "hf:org/tiny@v2").unwrap_err();
        assert!(error.to_string().contains("revision 'v2' of 'org/tiny'"), "{error}");
        assert_eq!(
            error.hint().as_deref(),
            Some("`hf download org/tiny --revision v2` downloads it")
        );
    }

    #[test]
    fn what_the_cache_lacks_says_how_to_download_it() {
        let home = tempfile::tempdir().unwrap();
        let error = located(home.path(), "hf:org/other").unwrap_err();
        assert!(error.to_string().contains("'org/other' is not in the Hugging Face cache"));
        assert_eq!(error.hint().as_deref(), Some("`hf download org/other` downloads it"));
        assert_eq!(error.kind(), millpond_wire::ErrorKind::File);
        for bad in ["hf:", "hf:a/b/c", "hf:../x", "hf:a/..", "hf:a@../../x", "hf:a@"] {
            let error = located(home.path(), bad).unwrap_err();
            assert!(error.to_string().contains("is not a repository"), "{bad}: {error}");
        }
        let plain = located(home.path(), "/some/file").unwrap();
        assert_eq!((plain.path.to_str(), plain.label.as_str()), (Some("/some/file"), "/some/file"));
    }

    #[test]
    fn the_cache_is_where_hugging_faces_tools_have_it() {
        let of = |variables: &[(&str, &str)]| {
            let variables = variables.to_vec();
            cache(&|name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(of(&[("HF_HUB_CACHE", "/c"), ("HF_HOME", "/h")]), Some("/c".into()));
        assert_eq!(of(&[("HF_HOME", "/h"), ("HOME", "/u")]), Some("/h/hub".into()));
        assert_eq!(of(&[("XDG_CACHE_HOME", "/x")]), Some("/x/huggingface/hub".into()));
        assert_eq!(
            of(&[("HOME", "/u"), ("HF_HOME", "")]),
            Some("/u/.cache/huggingface/hub".into())
        );
        assert_eq!(of(&[]), None);
    }
}
