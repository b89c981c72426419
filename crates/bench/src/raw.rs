//! The smallest client there can be, without any library around it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use millpond_wire::message::{
    Claim, Hello, LeaseClaim, Reply, ReplyBody, Request, RequestBody, Target, TensorGet, VERSION,
    VersionGet,
};
use millpond_wire::socket::{self, SocketError};
use millpond_wire::{ClientId, LeaseId, Mode, VersionTarget, runtime_dir};

use millpond_console::error::{CommandError, failed, wrong};

/// Every answer that such a client gets is far smaller.
const ANSWER_BYTES: usize = 4096;
/// How long a daemon that is being replaced is waited for, and how often it is tried.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_micros(500);

/// A connection that has said hello.
pub struct RawClient {
    path: PathBuf,
    client: ClientId,
    socket: OwnedFd,
    leases: Vec<LeaseClaim>,
}

impl RawClient {
    /// Connects and says hello.
    pub fn connect(folder: Option<PathBuf>) -> Result<Self, CommandError> {
        let path = runtime_dir::socket(&folder.unwrap_or_else(runtime_dir::for_client));
        let client = ClientId::random();
        let socket = hello(&path, client, false)?;
        Ok(Self { path, client, socket, leases: Vec::new() })
    }

    /// Gets a tensor read-only: its slab's descriptor and bytes.
    pub fn get(&mut self, name: &str) -> Result<(OwnedFd, u64), CommandError> {
        let name = name.parse().map_err(|error| failed("naming a tensor", error))?;
        let get = TensorGet {
            target: Target::Name(name),
            lease: LeaseId(self.leases.len() as u64 + 1),
            mode: Mode::ReadOnly,
            wait_ms: 0,
        };
        let (ReplyBody::Tensor(grant), Some(fd)) = ask(&self.socket, RequestBody::TensorGet(get))?
        else {
            return Err(wrong("no lease was granted"));
        };
        if let Some((lease, mode, token)) = grant.lease {
            self.leases.push(LeaseClaim { lease, target: grant.info.tensor.into(), mode, token });
        }
        Ok((fd, grant.info.slab_bytes))
    }

    /// Gets the current version of a model: its slabs' descriptors and bytes.
    pub fn get_version(&mut self, model: &str) -> Result<Vec<(OwnedFd, u64)>, CommandError> {
        let model = model.parse().map_err(|error| failed("naming a model", error))?;
        let get = VersionGet {
            target: VersionTarget::Name(model),
            lease: LeaseId(self.leases.len() as u64 + 1),
            mode: Mode::ReadOnly,
            wait_ms: 0,
        };
        let (ReplyBody::Version(grant), mut fds) =
            ask_with_all(&self.socket, RequestBody::VersionGet(get))?
        else {
            return Err(wrong("no lease was granted"));
        };
        if let Some((lease, mode, token)) = grant.lease {
            let target = grant.info.version.into();
            self.leases.push(LeaseClaim { lease, target, mode, token });
        }
        let slabs = fds.split_off(usize::from(grant.manifest).min(fds.len()));
        Ok(slabs.into_iter().zip(grant.parts.iter().map(|part| part.bytes)).collect())
    }

    /// Waits until the daemon is gone.
    pub fn wait_for_hang_up(&self) -> Result<(), CommandError> {
        match socket::receive(&self.socket, &mut [0; ANSWER_BYTES], true) {
            Err(SocketError::HungUp) => Ok(()),
            Err(error) => Err(failed("waiting for the daemon's end", error)),
            Ok(_) => Err(wrong("the daemon said something that nobody had asked for")),
        }
    }

    /// Connects to the next daemon and claims what it holds.
    pub fn claim(&mut self) -> Result<(), CommandError> {
        let start = Instant::now();
        loop {
            match self.try_to_claim() {
                Ok(()) => return Ok(()),
                Err(error) if start.elapsed() > PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn try_to_claim(&mut self) -> Result<(), CommandError> {
        self.socket = hello(&self.path, self.client, true)?;
        let claim = Claim { leases: self.leases.clone(), last: true };
        match ask(&self.socket, RequestBody::Claim(claim))?.0 {
            ReplyBody::Failure(failure) => Err(failure.into()),
            _ => Ok(()),
        }
    }

    /// Says goodbye, with nothing mapped.
    pub fn end(self) -> Result<(), CommandError> {
        ask(&self.socket, RequestBody::Goodbye).map(drop)
    }
}

fn hello(path: &Path, client: ClientId, claims: bool) -> Result<OwnedFd, CommandError> {
    let socket = socket::connect(path).map_err(|error| failed("connecting", error))?;
    let program = "bench raw".to_owned();
    let hello = Hello { version: VERSION, capabilities: 0, client, program, claims };
    match ask(&socket, RequestBody::Hello(hello))?.0 {
        ReplyBody::Failure(failure) => Err(failure.into()),
        _ => Ok(socket),
    }
}

fn ask(socket: &OwnedFd, body: RequestBody) -> Result<(ReplyBody, Option<OwnedFd>), CommandError> {
    ask_with_all(socket, body).map(|(body, fds)| (body, fds.into_iter().next()))
}

/// One request after the other, so its number means nothing.
fn ask_with_all(
    socket: &OwnedFd,
    body: RequestBody,
) -> Result<(ReplyBody, Vec<OwnedFd>), CommandError> {
    let trouble = |error| failed("asking the pond", error);
    let mut builder = planus::Builder::new();
    socket::send(socket, Request { number: 1, body }.encode(&mut builder), &[], true)
        .map_err(trouble)?;
    let mut buffer = [0; ANSWER_BYTES];
    let received = socket::receive(socket, &mut buffer, true).map_err(trouble)?.unwrap_or_default();
    let bytes = buffer.get(..received.bytes).unwrap_or_default();
    let reply = Reply::decode(bytes).map_err(|error| failed("reading an answer", error))?;
    Ok((reply.body, received.fds))
}
