//! Calls about versions of models that map nothing.

use std::collections::BTreeMap;
use std::ffi::c_void;

use millpond::VersionId;
use millpond_view as view;

use crate::border::{Out, Text, required, waiting, write};
use crate::failure::Failure;
use crate::model_types::millpond_version_info;
use crate::objects::PONDS;
use crate::pond::{millpond_pond, wait};
use crate::result::ResultNumber;
use crate::text::{json, millpond_text};
use crate::uuid::millpond_uuid;

/// Is called for each version of a listing, in the calling thread. The info is valid during the call. Anything but
/// zero ends the listing, which then answers MILLPOND_CANCELLED. It may call this library. Neither a C++ exception
/// nor longjmp() may leave it.
pub type millpond_version_visitor =
    Option<extern "C" fn(info: &millpond_version_info, user_data: *mut c_void) -> u32>;

/// Calls `visitor` for every version of every model shared with the caller whose name begins with `prefix`; NULL for
/// all. Versions of one model come one after the other, in the order in which they were begun.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_list(
    pond: *const millpond_pond,
    prefix: Text,
    visitor: millpond_version_visitor,
    user_data: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let visitor = required(visitor, "visitor")?;
        let models = pond.models(prefix.optional("prefix")?.unwrap_or(""))?;
        for info in models.iter().flat_map(|model| &model.versions) {
            if visitor(&millpond_version_info::from(info), user_data) != 0 {
                return Err(Failure::Cancelled);
            }
        }
        Ok(())
    })
}

/// Every model with its versions, as `millpond models --json` shows them. `prefix` may be NULL. Free the text with
/// millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_list_json(
    pond: *const millpond_pond,
    prefix: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let models = PONDS.get(pond)?.models(prefix.optional("prefix")?.unwrap_or(""))?;
        out.write(json(&view::Models::from(models.as_slice()))?);
        Ok(())
    })
}

/// What the pond says of a version now. Nothing is mapped.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_inspect(
    pond: *const millpond_pond,
    target: Text,
    info: Out<'_, millpond_version_info>,
) -> ResultNumber {
    waiting(|| {
        let out = required(info, "info")?;
        out.write((&PONDS.get(pond)?.version(target.required("target")?)?.info).into());
        Ok(())
    })
}

/// As millpond_version_inspect(), with its slabs, tensors and readers, as `millpond inspect --tensors --json` shows
/// it. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_inspect_json(
    pond: *const millpond_pond,
    target: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let pond = PONDS.get(pond)?;
        let found = pond.version(target.required("target")?)?;
        let manifest = found.manifest.as_ref().map(|map| map.to_manifest()).transpose();
        let manifest = manifest.map_err(|error| {
            Failure::invalid(format!("the version's manifest is damaged: {error}"))
        })?;
        let info = &found.info;
        let models = pond.models(info.model.as_str())?;
        let own = models.iter().find(|model| model.name == info.model && model.user == info.user);
        let previous = own.and_then(|model| model.versions.iter().rev().find(|one| one.previous));
        let rollback_to = previous.map(|version| version.tag.to_string());
        let tags = view::Tags::of_version(found.info.version, &found.info.tag);
        let ties = manifest.as_ref().map(view::Ties::of).unwrap_or_default();
        out.write(json(&view::VersionDetails {
            version: view::Version::from(&found.info),
            rollback_to,
            slabs: view::Slab::all(&found.parts, manifest.as_ref()),
            tied_bytes: ties.bytes,
            tied: ties.names,
            metadata: manifest.as_ref().map_or_else(BTreeMap::new, |one| one.metadata.clone()),
            tensors: manifest
                .as_ref()
                .map(|one| one.tensors.iter().map(view::Weight::from).collect()),
            leases: found.leases.iter().map(|lease| view::Lease::new(lease, &tags)).collect(),
        })?);
        Ok(())
    })
}

/// Makes another version of a model the current one. Whoever has the old one keeps it. `current`, what is current
/// now, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_swap(
    pond: *const millpond_pond,
    model: Text,
    tag: Text,
    current: Out<'_, millpond_version_info>,
) -> ResultNumber {
    waiting(|| {
        let (model, tag) = (model.required("model")?, tag.required("tag")?);
        write(current, (&PONDS.get(pond)?.swap(model, tag)?.current).into());
        Ok(())
    })
}

/// Makes the version current that was so before. `current`, what is current now, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_rollback(
    pond: *const millpond_pond,
    model: Text,
    current: Out<'_, millpond_version_info>,
) -> ResultNumber {
    waiting(|| {
        let model = model.required("model")?;
        write(current, (&PONDS.get(pond)?.rollback(model)?.current).into());
        Ok(())
    })
}

/// Ends a version: no new leases, and the memory goes when the last one has ended. One that is being staged is given
/// up. MILLPOND_INVALID for the current version.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_retire(
    pond: *const millpond_pond,
    target: Text,
) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.retire(target.required("target")?)?))
}

/// Ends a version, also if it is the current one: its readers keep it until they let go.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_remove(
    pond: *const millpond_pond,
    target: Text,
) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.remove_version(target.required("target")?)?))
}

/// Waits until a version is gone: its last reader has left, or it was given up. MILLPOND_TIMEOUT if the time was over
/// before.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_version_wait_gone(
    pond: *const millpond_pond,
    id: Option<&millpond_uuid>,
    timeout_ms: u64,
) -> ResultNumber {
    waiting(|| {
        let version = VersionId(uuid::Uuid::from_bytes(required(id, "id")?.bytes));
        let after = wait(timeout_ms);
        let timeout = (after != std::time::Duration::MAX).then_some(after);
        if PONDS.get(pond)?.wait_gone(version, timeout)? {
            return Ok(());
        }
        Err(millpond::Error::Timeout { what: "the end of a version", after }.into())
    })
}

/// Gives a model another name. Whoever has it attached keeps it.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_model_rename(
    pond: *const millpond_pond,
    model: Text,
    name: Text,
) -> ResultNumber {
    waiting(|| {
        let (model, name) = (model.required("model")?, name.required("name")?);
        Ok(PONDS.get(pond)?.rename_model(model, name)?)
    })
}
