//! Tokens: who shows one may read, or act.
//!
//! Only their hashes are kept, and all of them are compared to the end: neither a dump of this process
//! nor the time of an answer gives one away.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A file of tokens is a few lines.
const FILE_BYTES: u64 = 64 * 1024;
/// A token that is shorter could be guessed.
pub const SHORTEST: usize = 16;

/// Why a file of tokens is not used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("reading the tokens in '{path}': {source}", path = path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("'{path}' is no file", path = path.display())]
    NoFile { path: PathBuf },
    #[error("'{path}' belongs to user {owner}", path = path.display())]
    Foreign { path: PathBuf, owner: u32 },
    #[error("'{path}' can be read by others: its mode is {mode:04o}", path = path.display())]
    Open { path: PathBuf, mode: u32 },
    #[error("'{path}' has more than {FILE_BYTES} bytes", path = path.display())]
    TooLong { path: PathBuf },
    #[error("the token in line {line} of '{path}' has fewer than {SHORTEST} characters, or others than letters, digits and -._~+/=", path = path.display())]
    Weak { path: PathBuf, line: usize },
    #[error("'{path}' has no token", path = path.display())]
    Empty { path: PathBuf },
}

impl TokenError {
    /// What to type.
    pub fn hint(&self) -> String {
        match self {
            Self::Open { path, .. } => format!("`chmod 600 {}`", path.display()),
            Self::Foreign { path, .. } => {
                format!("`chown` it to the user who runs this command, or to root: '{}'", path.display())
            }
            Self::Unreadable { path, .. }
            | Self::NoFile { path }
            | Self::TooLong { path }
            | Self::Weak { path, .. }
            | Self::Empty { path } => {
                format!("`(umask 077; head -c 24 /dev/urandom | base64 > {})` makes one", path.display())
            }
        }
    }
}

type Hash = [u8; 32];

/// Tokens of one file.
#[derive(Clone, Debug, Default)]
pub struct Tokens(Vec<Hash>);

impl Tokens {
    /// Reads a file with one token in each line; empty lines and those that begin with `#` are passed over.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let unreadable = |source| TokenError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(TokenError::NoFile { path: path.to_owned() });
        }
        if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
            return Err(TokenError::Foreign { path: path.to_owned(), owner: about.uid() });
        }
        if about.mode() & 0o077 != 0 {
            return Err(TokenError::Open { path: path.to_owned(), mode: about.mode() & 0o7777 });
        }
        let mut text = String::new();
        let read = file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
        if read as u64 > FILE_BYTES {
            return Err(TokenError::TooLong { path: path.to_owned() });
        }
        let mut tokens = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let token = line.trim();
            if token.is_empty() || token.starts_with('#') {
                continue;
            }
            if token.len() < SHORTEST || !token.bytes().all(is_of_a_token) {
                return Err(TokenError::Weak { path: path.to_owned(), line: at + 1 });
            }
            tokens.push(hash(token));
        }
        match tokens.is_empty() {
            true => Err(TokenError::Empty { path: path.to_owned() }),
            false => Ok(Self(tokens)),
        }
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is one of them.
    pub fn has(&self, token: &str) -> bool {
        let shown = hash(token);
        let differs = |kept: &Hash| kept.iter().zip(&shown).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.iter().map(differs).filter(|differs| *differs == 0).count() > 0
    }
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

/// What a header takes as a bearer token (RFC 6750).
fn is_of_a_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn tokens_are_lines() {
        let (_folder, path) = file("# mine\n\nabcdefgh12345678\n  ABCDEFGH+/12345=  \n", 0o600);
        let tokens = Tokens::read(&path).unwrap();
        assert!(tokens.has("abcdefgh12345678") && tokens.has("ABCDEFGH+/12345="));
        assert!(!tokens.has("abcdefgh1234567") && !tokens.has("") && !tokens.has("# mine"));
        assert!(!Tokens::default().has(""));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        for mode in [0o640, 0o604, 0o620, 0o602] {
            let (_folder, path) = file("abcdefgh12345678", mode);
            let error = Tokens::read(&path).unwrap_err();
            assert!(matches!(error, TokenError::Open { .. }), "{error}");
            assert!(error.hint().starts_with("`chmod 600 "));
        }
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line() {
        for (text, expected) in [
            ("", "has no token"),
            ("# only this\n", "has no token"),
            ("abcdefgh12345678\nshort\n", "line 2"),
            ("abc defgh12345678", "line 1"),
        ] {
            let (_folder, path) = file(text, 0o600);
            let error = Tokens::read(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let (folder, path) = file(&"x".repeat(70_000), 0o600);
        assert!(matches!(Tokens::read(&path), Err(TokenError::TooLong { .. })));
        assert!(matches!(Tokens::read(folder.path()), Err(TokenError::NoFile { .. })));
        let none = folder.path().join("none");
        assert!(matches!(Tokens::read(&none), Err(TokenError::Unreadable { .. })));
    }
}
