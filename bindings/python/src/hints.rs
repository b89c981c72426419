//! Ways out in Python's words.
//!
//! The pond and the client write their hints for the command line and for Rust. Which call has failed
//! with which kind of error says enough to name the argument instead of the flag.

use millpond::{Error, ErrorKind};

/// The call that an error came out of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'a> {
    /// One whose errors say the same in every language.
    Plain,
    Create {
        name: &'a str,
    },
    Get,
    /// The handle of a tensor.
    Handle,
    /// Memory of this program that becomes a tensor.
    Adopt {
        name: &'a str,
    },
    Put {
        name: &'a str,
    },
    Copy {
        name: &'a str,
    },
    Attach {
        name: &'a str,
    },
    /// A load, or a version that is staged.
    Make {
        name: &'a str,
        version: Option<&'a str>,
    },
    Retire {
        name: &'a str,
    },
    /// A group that is made or changed.
    Group,
    /// A group whose caches are asked for.
    Elastic {
        group: &'a str,
    },
}

/// The way out of this error, where Python has another one.
pub(crate) fn hint(call: Call<'_>, error: &Error) -> Option<String> {
    if let Error::File { reason: Some(std::io::ErrorKind::AlreadyExists), .. } = error {
        return Some("force=True writes over it".to_owned());
    }
    match error {
        Error::NoHandle { .. } => {
            return Some(
                "millpond.create(NAME, ..., transport=\"ipc\") makes one that has".to_owned(),
            );
        }
        Error::NoEvent { .. } => {
            let hint = "publish() after the work: readers wait for that; or \
                        millpond.create(NAME, ..., transport=\"ipc\"), which has an event";
            return Some(hint.to_owned());
        }
        Error::Adopt { .. } => return Some("copy=True makes a copy instead".to_owned()),
        _ => {}
    }
    Some(match (call, error.kind()) {
        (Call::Create { name } | Call::Adopt { name }, ErrorKind::Exists) => {
            format!("delete it first, millpond.delete({name:?}), or choose another name")
        }
        (Call::Put { name } | Call::Copy { name }, ErrorKind::Exists) => {
            format!("replace=True takes its place; or delete it first: millpond.delete({name:?})")
        }
        (Call::Get, ErrorKind::NotReady) => {
            "wait=SECONDS waits for its publish; mode=\"rw\" maps it to be written".to_owned()
        }
        (Call::Copy { .. }, ErrorKind::NotReady) => "publish it first".to_owned(),
        (Call::Attach { name }, ErrorKind::NotFound) => {
            return file(name).or_else(|| listed(error, "millpond.models() lists what exists"));
        }
        (Call::Handle, ErrorKind::NotReady) => "publish it first".to_owned(),
        (Call::Get | Call::Handle, ErrorKind::NotFound) => {
            return listed(error, "millpond.list() lists what exists");
        }
        (_, ErrorKind::GpuFull) => return room(error),
        (Call::Make { name, version: Some(tag) }, ErrorKind::Exists) => {
            format!(
                "choose another version=, or give that one up: millpond.retire({name:?}, {tag:?})"
            )
        }
        (Call::Make { .. }, ErrorKind::Exists) => "choose another version=".to_owned(),
        (Call::Retire { name }, ErrorKind::Invalid) if error.failure().is_some() => format!(
            "make another version current first: millpond.swap({name:?}, VERSION), or \
             millpond.load({name:?}, FILES, activate=True)"
        ),
        (Call::Group, ErrorKind::NotFound) => "create=True makes it".to_owned(),
        (Call::Elastic { group }, ErrorKind::NotFound) => {
            format!("millpond.set_group({group:?}, limit=\"10G\") makes it")
        }
        _ => return None,
    })
}

/// Where several names are similar, or none: a single one is the pond's own hint.
fn listed(error: &Error, call: &str) -> Option<String> {
    (error.failure()?.similar.len() != 1).then(|| call.to_owned())
}

/// The way to room on a GPU, if there is one.
fn room(error: &Error) -> Option<String> {
    let failure = error.failure()?;
    let fits = failure.requested_bytes? <= failure.capacity_bytes?;
    Some(if fits {
        "millpond.list() and millpond.models() show what can go: millpond.delete(NAME), \
         millpond.retire(NAME, VERSION); millpond.gc() gives back what nobody uses"
            .to_owned()
    } else {
        "`capacity` in the pond's configuration is the limit; millpond.status() shows it".to_owned()
    })
}

/// The way from a file, which safetensors' function of the same name takes, to a model.
pub(crate) fn file(name: &str) -> Option<String> {
    let is_file = name.ends_with(".safetensors")
        || name.contains(['/', '.']) && std::path::Path::new(name).exists();
    is_file.then(|| format!("is it a file? millpond.load(NAME, {name:?}) loads it first"))
}
