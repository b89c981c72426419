//! The real pond behind [`Truth`].

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use millpond::{Audience, Error, Event, EventKind, Events, Pond, TensorInfo, TensorSpec};
use millpond_wire::{ErrorKind, HANDLE_BYTES, TensorId, TensorState, Token, TransportKind};

use crate::answer::{Code, Refusal};
use crate::truth::{
    Gpu, Happened, Happenings, Opened, Status, Tensor, Told, Trouble, Truth, Wanted,
};

/// What `millpond ps` shows.
const PROGRAM: &str = "millpond-redis";
/// A daemon that restarts is back sooner. What takes longer is waited for by the bridge itself, which
/// can be told to end meanwhile.
const RECONNECT: Duration = Duration::from_secs(3);

/// Tensors that are listed at once: a message of about a megabyte.
const PAGE: NonZeroU32 = NonZeroU32::new(4096).unwrap();

/// A pond that is connected to when it is needed, and looked for anew after it was away: another one
/// may have come.
#[derive(Clone, Debug)]
pub struct PondTruth {
    folder: Option<PathBuf>,
    pond: Option<Pond>,
    user: u32,
}

impl PondTruth {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, pond: None, user: rustix::process::getuid().as_raw() }
    }

    fn pond(&mut self) -> Result<Pond, Error> {
        if let Some(pond) = &self.pond {
            return Ok(pond.clone());
        }
        let mut builder = Pond::builder().program(PROGRAM).reconnect_timeout(RECONNECT);
        if let Some(folder) = &self.folder {
            builder = builder.runtime_dir(folder);
        }
        let pond = builder.connect()?;
        self.pond = Some(pond.clone());
        Ok(pond)
    }

    fn ask<R>(&mut self, call: impl FnOnce(&Pond) -> Result<R, Error>) -> Told<R> {
        let given = self.pond().and_then(|pond| call(&pond));
        given.map_err(|error| {
            let trouble = trouble(&error);
            if matches!(trouble, Trouble::Away(_)) {
                self.pond = None;
            }
            trouble
        })
    }

    /// The name as this user types it.
    fn shown(&self, info: &TensorInfo) -> Option<String> {
        let name = info.name.as_ref()?;
        Some(match info.user == self.user || name.is_public() {
            true => name.to_string(),
            false => format!("~{}/{name}", info.user),
        })
    }

    /// The tensor, if the bridge shows it and its name begins so.
    fn shown_below(&self, prefix: &str, info: TensorInfo) -> Option<Tensor> {
        let is_shown = info.user == self.user || info.audience == Audience::Everybody;
        let tensor = is_shown.then(|| self.tensor(info))?;
        tensor.name.as_deref().is_some_and(|name| name.starts_with(prefix)).then_some(tensor)
    }

    fn tensor(&self, info: TensorInfo) -> Tensor {
        Tensor {
            name: self.shown(&info),
            id: info.tensor,
            dtype: info.dtype,
            gpu: info.device,
            bytes: info.bytes,
            offset: info.offset,
            state: info.state,
            created_unix_ms: info.created_unix_ms,
            transport: info.transport,
            survives: info.survives,
            owner_pid: info.home_pid,
            holds: info.holds,
            shape: info.shape,
        }
    }
}

impl Truth for PondTruth {
    fn list(&mut self, prefix: &str) -> Told<Vec<Tensor>> {
        // Names of other users begin with their owner here, and not in the pond.
        let asked = if prefix.starts_with('~') { "" } else { prefix };
        let this = self.clone();
        self.ask(|pond| {
            let mut all = Vec::new();
            for page in pond.list_pages(asked, PAGE) {
                let page = page?;
                // No more than is needed: there may be very many.
                all.reserve_exact(page.len());
                all.extend(page.into_iter().filter_map(|info| this.shown_below(prefix, info)));
            }
            Ok(all)
        })
    }

    fn inspect(&mut self, name: &str) -> Told<Tensor> {
        let target = reference(name)?;
        let info = self.ask(|pond| pond.inspect(target))?.info;
        Ok(self.tensor(info))
    }

    fn inspect_id(&mut self, id: TensorId) -> Told<Tensor> {
        let info = self.ask(|pond| pond.inspect(id))?.info;
        if info.user != self.user && info.audience != Audience::Everybody {
            let message = format!("tensor {id} is not shown");
            return Err(Trouble::No(Refusal::new(Code::Kind(ErrorKind::NotFound), message)));
        }
        Ok(self.tensor(info))
    }

    fn create(&mut self, wanted: &Wanted) -> Told<Tensor> {
        let info = self.ask(|pond| pond.reserve(spec(wanted).zero(true)))?;
        Ok(self.tensor(info))
    }

    fn hold(&mut self, name: &str, pid: Option<u32>, token: Token) -> Told<Opened> {
        let target = reference(name)?;
        let parts = self.ask(|pond| pond.hold(target, pid, token))?;
        Ok(Opened { handle: parts.memory, tensor: self.tensor(parts.info) })
    }

    fn unhold(&mut self, name: &str, pid: Option<u32>, token: Token) -> Told<Tensor> {
        let target = reference(name)?;
        let info = self.ask(|pond| pond.unhold(target, pid, token))?;
        Ok(self.tensor(info))
    }

    fn peek(&mut self, id: TensorId) -> Told<[u8; HANDLE_BYTES]> {
        self.ask(|pond| pond.peek(id)).map(|parts| parts.memory)
    }

    fn copy(&mut self, from: &str, wanted: &Wanted) -> Told<Tensor> {
        let source = reference(from)?;
        let before = match self.inspect(&wanted.name) {
            Ok(there) => Some(there),
            Err(trouble) if trouble.is(ErrorKind::NotFound) => None,
            Err(trouble) => return Err(trouble),
        };
        let made = self.ask(|pond| pond.reserve(spec(wanted)))?;
        // A repeat finds what it has made before, and holds nothing more.
        if before.as_ref().is_some_and(|before| before.holds != made.holds) {
            let undo = Token::random();
            self.ask(|pond| pond.unhold(made.tensor, None, undo))?;
            let message = format!("tensor '{}' already exists", wanted.name);
            let refusal = Refusal::new(Code::Kind(ErrorKind::Exists), message);
            return Err(Trouble::No(refusal.hint("delete it first, or choose another `dst`")));
        }
        if made.state == TensorState::Ready {
            return Ok(self.tensor(made));
        }
        let filled = self.ask(|pond| {
            pond.copy(source, made.tensor, |_| {})?;
            pond.publish(made.tensor)
        });
        match filled {
            Ok(_) => self.inspect_id(made.tensor),
            Err(trouble) => {
                if matches!(trouble, Trouble::No(_)) {
                    // Nobody was told of it.
                    let _ = self.ask(|pond| pond.delete(made.tensor));
                }
                Err(trouble)
            }
        }
    }

    fn status(&mut self) -> Told<Status> {
        let status = self.ask(Pond::status)?;
        let gpu = |device: &millpond::DeviceInfo| Gpu {
            index: device.index,
            uuid: device.device,
            name: device.name.clone(),
            total_bytes: device.total_bytes,
            used: device.slab_bytes,
        };
        Ok(Status {
            pond: status.pond.to_string(),
            epoch: status.epoch.0,
            version: status.daemon_version,
            tensors: status.devices.iter().map(|device| u64::from(device.tensors)).sum(),
            gpus: status.devices.iter().map(gpu).collect(),
        })
    }
}

/// What happens in the pond, from now on.
#[derive(Debug)]
pub struct PondEvents {
    truth: PondTruth,
    events: Option<Events>,
}

impl PondEvents {
    pub fn new(truth: PondTruth) -> Self {
        Self { truth, events: None }
    }
}

impl Happenings for PondEvents {
    fn next(&mut self, timeout: Duration) -> Told<Option<Happened>> {
        let Some(events) = &mut self.events else {
            self.events = Some(self.truth.ask(|pond| pond.events(0))?);
            // What happened before is not in it.
            return Ok(Some(Happened::Everything));
        };
        match events.next_timeout(timeout) {
            Ok(event) => Ok(event.and_then(happened)),
            Err(error) => {
                self.events = None;
                Err(trouble(&error))
            }
        }
    }
}

fn happened(event: Event) -> Option<Happened> {
    let id = event.target.and_then(millpond::LeaseTarget::tensor);
    match event.kind {
        EventKind::Gap | EventKind::Recovered | EventKind::Renamed => Some(Happened::Everything),
        EventKind::TensorCreated | EventKind::TensorPublished | EventKind::TensorAdopted => {
            id.map(Happened::Made)
        }
        EventKind::TensorOrphaned
        | EventKind::HoldEnded
        | EventKind::TensorDeleted
        | EventKind::TensorFreed => {
            // Only names of this bridge's user and public ones are so; a repair finds the others.
            id.map(|id| Happened::Ended(id, event.name.map(|name| name.to_string())))
        }
        _ => None,
    }
}

fn spec(wanted: &Wanted) -> TensorSpec {
    TensorSpec::new(wanted.name.clone(), wanted.dtype, wanted.shape.dims())
        .device(wanted.gpu)
        .transport(TransportKind::Ipc)
        .held(wanted.token)
}

/// A name, never an identity: what looks like one is a name here too.
fn reference(name: &str) -> Told<millpond::TensorRef> {
    crate::keys::checked(name)
        .map_err(|message| Trouble::No(Refusal::new(Code::Kind(ErrorKind::Invalid), message)))
}

fn trouble(error: &Error) -> Trouble {
    let kind = error.kind();
    let own = error.failure().is_none();
    let away = matches!(kind, ErrorKind::NoPond | ErrorKind::Draining)
        || (own && matches!(kind, ErrorKind::Timeout));
    if away {
        return Trouble::Away(error.to_string());
    }
    let refusal = Refusal::new(Code::Kind(kind), error.to_string());
    Trouble::No(match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    })
}
