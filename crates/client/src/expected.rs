//! What a put or a load says before it moves anything.

use std::sync::Arc;

use millpond_wire::message::RequestBody;
use millpond_wire::{ErrorKind, GpuUuid, TensorName};

use crate::Result;
use crate::link::Link;

/// Says that moves are about to be asked for, and what their bytes will be called, so that a mover
/// starts meanwhile. A mover starts with the first move at the latest, so only one answer is of interest.
///
/// # Errors
/// `denied` if the name is not the caller's to take.
pub(crate) fn expect_moves(
    link: &Arc<Link>,
    device: Option<GpuUuid>,
    name: &TensorName,
) -> Result<()> {
    let expected = RequestBody::MovesExpected { device, name: Some(name.clone()) };
    match link.ask("moves to come", expected) {
        Err(error) if error.kind() == ErrorKind::Denied => Err(error),
        Err(error) => {
            tracing::debug!("no mover starts ahead: {error}");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}
