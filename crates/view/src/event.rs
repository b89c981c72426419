//! What happened.

use millpond_wire::message::EventKind;
use millpond_wire::{LeaseTarget, TensorName, message};

use crate::Text;

data! { $
    /// One line of `events`.
    pub struct Event as event_fields {
        /// Rises from one event to the next, also across daemons.
        sequence: u64,
        /// When.
        unix_ms: u64,
        /// What, as in `tensor_created`.
        kind: Text<EventKind>,
        /// The tensor's identity, or that of the version of a model.
        tensor: Option<Text<LeaseTarget>>,
        /// The name of the tensor, the model or the group.
        name: Option<Text<TensorName>>,
        /// User id.
        user: Option<u32>,
        /// Why, in words.
        text: String,
    }
}

impl From<&message::Event> for Event {
    fn from(event: &message::Event) -> Self {
        Self {
            sequence: event.sequence,
            unix_ms: event.unix_ms,
            kind: Text(event.kind),
            tensor: event.target.map(Text),
            name: event.name.clone().map(Text),
            user: event.user,
            text: event.text.clone(),
        }
    }
}
