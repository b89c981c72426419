//! Events as JSON.

use millpond_wire::message::Event;
use serde::Serialize;

/// One line of `events`.
#[derive(Debug, Serialize)]
pub struct EventJson<'a> {
    /// Rises from one event to the next, also across daemons.
    sequence: u64,
    /// When.
    unix_ms: u64,
    /// What, as in `tensor_created`.
    kind: &'static str,
    /// To which tensor.
    tensor: Option<String>,
    /// That tensor's name.
    name: Option<String>,
    /// User id.
    user: Option<u32>,
    /// Why, in words.
    text: &'a str,
}

impl<'a> From<&'a Event> for EventJson<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            sequence: event.sequence,
            unix_ms: event.unix_ms,
            kind: event.kind.name(),
            tensor: event.target.map(|id| id.to_string()),
            name: event.name.as_ref().map(ToString::to_string),
            user: event.user,
            text: &event.text,
        }
    }
}
