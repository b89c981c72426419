//! Listings as JSON, in the words of the program's `--json`.

use millpond::GroupName;
use millpond_view as view;

use crate::border::{Answer, Out, Text, required, waiting};
use crate::failure::Failure;
use crate::objects::PONDS;
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::text::{json, millpond_text};

/// A group's name, checked.
pub(crate) fn group(name: &str) -> Answer<GroupName> {
    GroupName::new(name).map_err(|error| Failure::invalid(error.to_string()))
}

/// Who is connected and what it holds, as `millpond ps --json` shows it. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_clients_json(
    pond: *const millpond_pond,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let pond = PONDS.get(pond)?;
        let clients = pond.clients()?;
        let tags = view::Tags::of_clients(&clients, || pond.models(""))?;
        out.write(json(&view::Clients::new(&clients, &tags))?);
        Ok(())
    })
}

/// What users have of everything that is counted, and may have, as `millpond users --json` shows it: the caller, or
/// everybody for root and the user who runs the pond. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_accounts_json(
    pond: *const millpond_pond,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let (users, all) = PONDS.get(pond)?.accounts()?;
        out.write(json(&view::Users::new(&users, &all))?);
        Ok(())
    })
}

/// Every elastic cache of groups that the caller may use, or those of one group, as `millpond elastic ls --json`
/// shows them. `group` may be NULL. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_caches_json(
    pond: *const millpond_pond,
    group: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let pond = PONDS.get(pond)?;
        let group = group.optional("group")?.map(self::group).transpose()?;
        out.write(json(&view::Caches::from(pond.caches(group)?.as_slice()))?);
        Ok(())
    })
}
