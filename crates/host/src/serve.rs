//! The host's main loop.

use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::{Driver, DriverChoice};
use millpond_wire::{GpuUuid, socket, trust};

use crate::card::Card;
use crate::channel::{ChannelError, FromHost, HostEnd, ToHost};
use crate::end;
use crate::error::HostError;
use crate::memory::Memory;
use crate::owner::Owner;
use crate::rights;

/// How long is waited after the system refused to hand over a message, or to look at the channel.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// Runs as the host that a daemon started: the channel is on standard input. Returns after `Stop`; when
/// nobody has the other end any more, the process ends at once.
///
/// # Errors
/// [`HostError`]; the daemon was told, if it can be.
pub fn run_from_stdin() -> Result<(), HostError> {
    rights::give_up_rights()?;
    rights::give_up_all()?;
    let socket = socket::take_stdin().map_err(HostError::io("taking the host's channel"))?;
    let channel = Arc::new(HostEnd::new(socket.ok_or(HostError::NotAChannel)?));
    // A thread of its own: this one may be inside a driver call when the last holder hangs up.
    let watched = Arc::clone(&channel);
    let watcher = std::thread::Builder::new().name("millpond-hangup".to_owned());
    let watch = move || {
        // A look that fails says nothing about the other end, and memory is at stake.
        while let Err(error) = watched.wait_for_hang_up() {
            tracing::warn!("{error}");
            std::thread::sleep(AFTER_REFUSAL);
        }
        end::hung_up()
    };
    watcher.spawn(watch).map_err(HostError::io("starting a thread"))?;
    match run(&channel) {
        // Seen here before it was seen there.
        Err(HostError::Channel(ChannelError::HungUp)) => end::hung_up(),
        result => result,
    }
}

fn run(channel: &HostEnd) -> Result<(), HostError> {
    // Before it is known for which GPU, as a mover does.
    let choice = DriverChoice::from_env();
    let trusted = choice.path().map_or(Ok(()), trust::library).map_err(HostError::from);
    let driver =
        trusted.and_then(|()| Ok(Driver::open(choice, Some(&millpond_softgpu::PROVIDER))?));
    let Some(device) = first(channel)? else { return Ok(()) };
    let started = driver.and_then(|driver| Card::open(&driver, device));
    let (card, context_bytes) = match started {
        Ok(started) => started,
        Err(error) => {
            channel.send(&FromHost::Failed { text: error.to_string() })?;
            return Err(error);
        }
    };
    let mut owner = Owner::new(device, card, context_bytes);
    channel.send(&owner.ready())?;
    tracing::debug!(context_bytes, "the host is ready");
    owner.prepare();
    let result = serve(channel, &mut owner);
    if let Err(error @ HostError::Lost { .. }) = &result {
        end::lost(error);
    }
    // All memory goes with the process and not before: a free under a reader that has not closed its
    // mapping yet is what the driver promises nothing about.
    std::mem::forget(owner);
    result
}

/// Waits for the first message: the GPU, or `None` if nothing is wanted any more.
fn first(channel: &HostEnd) -> Result<Option<GpuUuid>, HostError> {
    let error = match channel.receive() {
        Ok(ToHost::Start { device }) => return Ok(Some(device)),
        Ok(ToHost::Stop) => return Ok(None),
        // The daemon that was to say it has died before. This host holds nothing and is not missed.
        Ok(_) => HostError::Unexpected { expected: "`Start`" },
        Err(error) => error.into(),
    };
    // Every version understands this one; a daemon that is gone needs none.
    let _ = channel.send(&FromHost::Failed { text: error.to_string() });
    Err(error)
}

/// Answers until `Stop`. Memory is at stake: whatever a daemon says, the host goes on.
pub(crate) fn serve<M: Memory>(channel: &HostEnd, owner: &mut Owner<M>) -> Result<(), HostError> {
    loop {
        let message = match channel.receive() {
            Ok(message) => message,
            Err(ChannelError::HungUp) => return Err(ChannelError::HungUp.into()),
            Err(error @ ChannelError::Version { .. }) => {
                tracing::warn!("a daemon was not understood: {error}");
                channel.send(&FromHost::Failed { text: error.to_string() })?;
                continue;
            }
            Err(error) => {
                tracing::warn!("a message was not understood: {error}");
                if let ChannelError::Socket(_) = error {
                    std::thread::sleep(AFTER_REFUSAL);
                }
                continue;
            }
        };
        let Some(answers) = owner.answer(&message)? else { return Ok(()) };
        for answer in &answers {
            channel.send(answer)?;
        }
        owner.prepare();
    }
}

#[cfg(test)]
mod tests;
