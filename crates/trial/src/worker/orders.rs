//! Orders from standard input.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::protocol::Order;
use millpond_console::error::{CommandError, failed};

/// Orders as they come, one on a line. Not buffered behind the back of `poll`.
#[derive(Default)]
pub struct Orders {
    pending: Vec<u8>,
}

impl Orders {
    /// The next order; nothing when whoever gives them is gone.
    pub fn next(&mut self) -> Result<Option<Order>, CommandError> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| failed("an order", error));
            }
            let mut buffer = [0; 4096];
            let read =
                rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut buffer))
                    .map_err(|error| failed("reading orders", error))?;
            if read == 0 {
                return Ok(None);
            }
            self.pending.extend_from_slice(&buffer[..read]);
        }
    }

    /// Whether there is one to read now.
    pub fn are_waiting(&self) -> Result<bool, CommandError> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let stdin = rustix::stdio::stdin();
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&at_once))
            .map_err(|error| failed("waiting for orders", error))?;
        Ok(ready > 0 || self.pending.contains(&b'\n'))
    }
}
