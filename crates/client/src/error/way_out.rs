//! What an error offers beyond its message.

use std::fmt;
use std::path::Path;

use millpond_client_core::HELLO;
use millpond_elastic::{ElasticError, PoolError};
use millpond_wire::fd::OVERFLOW_USER;
use millpond_wire::{Failure, Holder, Remedy, runtime_dir};

use super::Error;
use crate::adopt::AdoptRefusal;

const SERVE: &str = "millpond serve";

impl Error {
    /// What the caller can do about it.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        self.kind().remedy()
    }

    /// The way out: the next command to type, or what to change.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Refused(failure) => return failure.hint.clone(),
            Error::Version { hint, .. } => return hint.clone(),
            // Somebody listens, so there is a keeper; who answers is the daemon.
            Error::Timeout { what: HELLO, .. } => {
                "the pond's daemon hangs or keeps dying; the log of `millpond serve` says why"
                    .to_owned()
            }
            Error::NoPond { path, .. } => starting(path, &runtime_dir::candidates()),
            Error::NotLetIn { .. } => {
                let variable = runtime_dir::ENVIRONMENT;
                format!(
                    "start a pond of your own with `millpond serve`, or name another one with {variable}"
                )
            }
            Error::File { reason: Some(std::io::ErrorKind::AlreadyExists), .. } => {
                "`--force` overwrites it".to_owned()
            }
            Error::Elastic(error) => return elastic_hint(error),
            Error::Pool(error) => return pool_hint(error),
            Error::ReadOnly { .. } => "get it with `GetOptions::read_write()`".to_owned(),
            Error::Adopt { reason: AdoptRefusal::OfThePond, .. } => {
                "get the tensor that has it, or copy it into a new one".to_owned()
            }
            Error::Adopt { .. } => {
                "create a tensor and copy into it (in Python, `copy=True`)".to_owned()
            }
            Error::NoHandle { .. } => {
                "create it with `TensorSpec::transport(TransportKind::Ipc)`".to_owned()
            }
            Error::NoEvent { .. } => {
                "create it with `TensorSpec::transport(TransportKind::Ipc)`, or \
                                      publish: readers wait for that"
                    .to_owned()
            }
            Error::DeviceNotVisible { .. } => {
                "check CUDA_VISIBLE_DEVICES and MILLPOND_DRIVER; `millpond status` shows the \
                 pond's driver and GPUs"
                    .to_owned()
            }
            Error::Untrusted { owner: OVERFLOW_USER, .. } => {
                "let the user who runs the pond have a number here: /proc/self/uid_map lists those \
                 that have one"
                    .to_owned()
            }
            Error::PathTooLong { .. } => {
                format!("set {} to a shorter path", runtime_dir::ENVIRONMENT)
            }
            Error::InUse { .. } => "drop the tensors first".to_owned(),
            Error::User(_) => "a user's number always works, as in `~1000/name`".to_owned(),
            Error::NoDriver(_) => {
                format!("{}=soft runs without a GPU", millpond_cuda::DriverChoice::VARIABLE)
            }
            _ => return None,
        })
    }

    /// All that the pond said, where it was the pond that said no.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::Refused(failure) => Some(failure),
            _ => None,
        }
    }

    /// Names close to one that was not found.
    #[must_use]
    pub fn similar(&self) -> &[String] {
        self.failure().map_or(&[], |failure| &failure.similar)
    }

    /// Bytes free, where memory was short.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        self.failure().and_then(|failure| failure.free_bytes)
    }

    /// Who holds the rest, largest first, where memory was short.
    #[must_use]
    pub fn holders(&self) -> &[Holder] {
        self.failure().map_or(&[], |failure| &failure.holders)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        match self.hint() {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// How somebody comes to answer on this socket. Where no folder was named, the pond may run in one
/// that only another terminal knows.
fn starting(socket: &Path, looked_for: &[std::path::PathBuf]) -> String {
    let command = serving(socket, looked_for);
    let other = format!("; if one is running, set {} to its folder", runtime_dir::ENVIRONMENT);
    format!("start one with `{command}`{}", if command == SERVE { &other } else { "" })
}

/// The command that makes somebody answer on this socket. A folder that is looked for anyway need
/// not be named.
fn serving(socket: &Path, looked_for: &[std::path::PathBuf]) -> String {
    let known = |folder: &Path| {
        looked_for.iter().any(|one| std::path::absolute(one).is_ok_and(|one| one == folder))
    };
    match socket.parent() {
        Some(folder) if !known(folder) => {
            let folder = folder.display().to_string();
            let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
            let folder = if folder.chars().all(plain) {
                folder
            } else {
                format!("'{}'", folder.replace('\'', r"'\''"))
            };
            format!("{SERVE} --runtime-dir {folder}")
        }
        _ => SERVE.to_owned(),
    }
}

fn elastic_hint(error: &ElasticError) -> Option<String> {
    Some(match error {
        ElasticError::NeverFits { .. } => {
            "ask for less, or raise the limit: `millpond group set NAME --limit ...`".to_owned()
        }
        ElasticError::AfterFreeing { .. } | ElasticError::OverBudget { .. } => {
            "`millpond elastic ls` shows which caches hold the rest".to_owned()
        }
        ElasticError::OverCap { .. } => {
            "uncommit blocks of this cache, or raise its cap with `set_cap`".to_owned()
        }
        ElasticError::CardFull { .. } => {
            "`millpond status` and `nvidia-smi` show who holds the card's memory".to_owned()
        }
        _ => return None,
    })
}

fn pool_hint(error: &PoolError) -> Option<String> {
    match error {
        PoolError::OutOfMemory { source, .. } => elastic_hint(source),
        PoolError::OtherProcess { .. } => Some("make a pool in this process".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::ErrorKind;
    use millpond_wire::socket::SocketError;

    use super::*;

    fn connecting(code: i32) -> Error {
        let source = std::io::Error::from_raw_os_error(code);
        let error = SocketError::Io { what: "connecting".into(), source };
        Error::connecting(Path::new("/run/millpond/sock"), error)
    }

    #[test]
    fn a_missing_pond_names_its_socket_and_the_command() {
        let error = connecting(2);
        let shown = format!("{error:?}");
        assert_eq!(shown, format!("{error}\nhint: {}", error.hint().unwrap()));
        assert_eq!(error.to_string(), "no pond answers on '/run/millpond/sock'");
        let refused = connecting(111).to_string();
        assert_eq!(refused, "no pond answers on '/run/millpond/sock' (nothing listens there)");
        assert_eq!(connecting(13).kind(), ErrorKind::Denied);
        assert!(error.hint().unwrap().contains("`millpond serve"));
        assert_eq!(error.kind(), ErrorKind::NoPond);
        assert_eq!(error.remedy(), Remedy::Operator);
    }

    #[test]
    fn a_folder_that_nobody_looks_for_by_itself_is_named() {
        let looked_for = ["/run/user/5/millpond".into(), "/run/millpond".into()];
        let command = |socket: &str| serving(Path::new(socket), &looked_for);
        assert_eq!(command("/run/millpond/sock"), "millpond serve");
        assert_eq!(command("/run/user/5/millpond/sock"), "millpond serve");
        assert_eq!(command("/tmp/pond/sock"), "millpond serve --runtime-dir /tmp/pond");
        assert_eq!(command("/a b/c's/sock"), r"millpond serve --runtime-dir '/a b/c'\''s'");
        let hint = |socket: &str| starting(Path::new(socket), &looked_for);
        assert!(hint("/run/millpond/sock").ends_with("set MILLPOND_RUNTIME_DIR to its folder"));
        assert_eq!(
            hint("/tmp/pond/sock"),
            "start one with `millpond serve --runtime-dir /tmp/pond`"
        );
    }

    #[test]
    fn the_ponds_answer_comes_through_whole() {
        let failure = Failure {
            similar: vec!["acts/y".into()],
            free_bytes: Some(5),
            holders: vec![Holder { user: 7, bytes: 9, tensors: 1, cache: None, pid: None }],
            ..Failure::new(ErrorKind::GpuFull, "full").hint("delete something")
        };
        let error = Error::from(failure);
        assert_eq!(error.kind(), ErrorKind::GpuFull);
        assert_eq!(error.to_string(), "full");
        assert_eq!(error.hint().as_deref(), Some("delete something"));
        assert_eq!(error.similar(), ["acts/y"]);
        assert_eq!((error.free_bytes(), error.holders()[0].user), (Some(5), 7));
    }
}
