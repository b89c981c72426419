//! The smallest client there can be: it takes one lease to get at a slab's descriptor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use millpond_wire::message::{
    Hello, Reply, ReplyBody, Request, RequestBody, Target, TensorGet, VERSION,
};
use millpond_wire::{ClientId, LeaseId, Mode, limits, runtime_dir, socket};

use crate::error::{CommandError, failed, wrong};

/// A lease without any library around it.
pub struct RawLease {
    socket: OwnedFd,
    fd: OwnedFd,
    bytes: u64,
}

impl RawLease {
    /// Says hello and gets a tensor.
    pub fn take(folder: Option<PathBuf>, name: &str) -> Result<Self, CommandError> {
        let folder = folder.unwrap_or_else(runtime_dir::for_client);
        let socket = socket::connect(&runtime_dir::socket(&folder))
            .map_err(|error| failed("connecting", error))?;
        let hello = Hello {
            version: VERSION,
            capabilities: 0,
            client: ClientId::random(),
            program: "bench raw".to_owned(),
            claims: false,
        };
        ask(&socket, 1, RequestBody::Hello(hello))?;
        let name = name.parse().map_err(|error| failed("naming a tensor", error))?;
        let get = TensorGet {
            target: Target::Name(name),
            lease: LeaseId(1),
            mode: Mode::ReadOnly,
            wait_ms: 0,
        };
        match ask(&socket, 2, RequestBody::TensorGet(get))? {
            (ReplyBody::Tensor(grant), Some(fd)) => {
                Ok(Self { socket, fd, bytes: grant.info.slab_bytes })
            }
            _ => Err(wrong("no lease was granted")),
        }
    }

    /// Says goodbye, with nothing mapped.
    pub fn end(self) -> Result<(), CommandError> {
        drop(self.fd);
        ask(&self.socket, 3, RequestBody::Goodbye).map(drop)
    }

    /// The slab's descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The slab's size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn ask(
    socket: &OwnedFd,
    number: u64,
    body: RequestBody,
) -> Result<(ReplyBody, Option<OwnedFd>), CommandError> {
    let trouble = |error| failed("asking the pond", error);
    let mut builder = planus::Builder::new();
    socket::send(socket, Request { number, body }.encode(&mut builder), &[], true)
        .map_err(trouble)?;
    let mut buffer = vec![0; limits::MESSAGE_BYTES];
    let received = socket::receive(socket, &mut buffer, true).map_err(trouble)?.unwrap_or_default();
    let bytes = buffer.get(..received.bytes).unwrap_or_default();
    let reply = Reply::decode(bytes).map_err(|error| failed("reading an answer", error))?;
    Ok((reply.body, received.fds.into_iter().next()))
}
