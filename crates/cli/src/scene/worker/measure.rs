//! What a worker measures for the bench.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, Sink, Source, Tensor, TensorSpec};
use millpond_cuda::{Access, AddressRange, Allocation, Device, Mapping};
use millpond_mover::raw::{RawRing, raw_get, raw_put};
use millpond_mover::settings;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::card::{attach_raw, context};
use super::raw::RawClient;
use super::{FLUSH, Worker};
use crate::error::{CommandError, failed, wrong};
use crate::scene::protocol::{Measure, Move};

impl Worker {
    /// Does it, and says how long each part took.
    pub(super) fn measure(&mut self, what: Measure) -> Result<Vec<Duration>, CommandError> {
        match what {
            Measure::Attach { names, beside, rounds } => {
                attach(self.pond()?, &names, beside.as_deref(), rounds)
            }
            Measure::AttachRaw { device, names, rounds } => {
                let mut client = RawClient::connect(self.global.runtime_dir())?;
                let fds: Result<Vec<(OwnedFd, u64)>, _> =
                    names.iter().map(|name| client.get(name)).collect();
                let fds = fds?;
                let taken = attach_raw(&self.device(&device)?, &fds, rounds);
                drop(fds);
                client.end()?;
                taken
            }
            Measure::Publish { rounds } => publish(self.pond()?, rounds),
            Measure::Create { bytes, rounds } => create(self.pond()?, bytes, rounds),
            Measure::Connect { connections } => self.join_crowd(connections),
            Measure::Hold { name, clients } => self.hold(&name, clients),
            Measure::Claim => self.claim(),
            Measure::Move(what) => move_bytes(self.pond()?, &what),
            Measure::MoveRaw { device, what } => {
                let mut client = RawClient::connect(self.global.runtime_dir())?;
                let slab = client.get(&what.name)?;
                let taken = move_raw(&self.device(&device)?, &slab, &what);
                drop(slab);
                client.end()?;
                taken
            }
        }
    }

    fn join_crowd(&mut self, connections: u32) -> Result<Vec<Duration>, CommandError> {
        let limit = getrlimit(Resource::Nofile);
        // Where it stays as it is, a connection says so.
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
        let folder = self.global.runtime_dir();
        let mut taken = Vec::new();
        for _ in 0..connections {
            let start = Instant::now();
            self.crowd.push(RawClient::connect(folder.clone())?);
            taken.push(start.elapsed());
        }
        Ok(taken)
    }

    fn hold(&mut self, name: &str, clients: u32) -> Result<Vec<Duration>, CommandError> {
        let taken = self.join_crowd(clients)?;
        for client in &mut self.crowd {
            drop(client.get(name)?);
        }
        Ok(taken)
    }

    /// Waits for the daemon's end; then everybody claims.
    fn claim(&mut self) -> Result<Vec<Duration>, CommandError> {
        let first = self.crowd.first().ok_or_else(|| wrong("nobody is connected"))?;
        first.wait_for_hang_up()?;
        let start = Instant::now();
        for client in &mut self.crowd {
            client.claim()?;
        }
        Ok(vec![start.elapsed()])
    }
}

fn move_bytes(pond: &Pond, what: &Move) -> Result<Vec<Duration>, CommandError> {
    let mut taken = Vec::new();
    for _ in 0..what.rounds {
        let file = open(what)?;
        let start = Instant::now();
        if what.put {
            pond.upload(what.name.as_str(), Source::file(file, "a file")?, |_| ())?;
        } else {
            pond.download(what.name.as_str(), Sink::file(file, "a file")?, |_| ())?;
        }
        taken.push(start.elapsed());
    }
    Ok(taken)
}

fn open(what: &Move) -> Result<File, CommandError> {
    let opened = File::options().read(true).write(true).open(&what.file);
    opened.map_err(|error| failed("opening a file", error))
}

/// The same ring as a mover's, on the same slab.
fn move_raw(
    device: &Device,
    slab: &(OwnedFd, u64),
    what: &Move,
) -> Result<Vec<Duration>, CommandError> {
    let file = open(what)?;
    let context = context(device)?;
    let refused = |error| failed("mapping with the bare driver", error);
    let memory = Allocation::import(device.driver(), slab.0.as_fd(), slab.1).map_err(refused)?;
    let range = AddressRange::reserve(device.driver(), slab.1).map_err(refused)?;
    let mapping = Mapping::map(&context, &range, 0, &memory, Access::ReadWrite).map_err(refused)?;
    let ring = RawRing {
        threads: usize::from(settings::default_threads()),
        block_bytes: usize::try_from(settings::BLOCK_BYTES).unwrap_or(usize::MAX),
        depth: usize::from(settings::DEPTH),
    };
    let turn = if what.put { raw_put } else { raw_get };
    let taken: Result<Vec<Duration>, _> =
        (0..what.rounds).map(|_| turn(&context, &file, &mapping, what.bytes, ring)).collect();
    drop(memory);
    mapping.unmap().map_err(refused)?;
    taken.map_err(|error| failed("the bare ring", error))
}

/// Maps all of them and lets go, while another one may stay mapped.
fn attach(
    pond: &Pond,
    names: &[String],
    beside: Option<&str>,
    rounds: u32,
) -> Result<Vec<Duration>, CommandError> {
    let held = beside.map(|name| pond.get(name)).transpose()?;
    let mut taken = Vec::new();
    let mut tensors: Vec<Tensor> = Vec::with_capacity(names.len());
    for _ in 0..rounds {
        let start = Instant::now();
        for name in names {
            tensors.push(pond.get(name.as_str())?);
        }
        taken.push(start.elapsed());
        tensors.clear();
        pond.flush(FLUSH)?;
    }
    drop(held);
    pond.flush(FLUSH)?;
    Ok(taken)
}

fn publish(pond: &Pond, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let tensor = pond.create(TensorSpec::unnamed(Dtype::U8, [1]))?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        tensor.publish()?;
        taken.push(start.elapsed());
    }
    pond.delete(tensor.id())?;
    drop(tensor);
    pond.flush(FLUSH)?;
    Ok(taken)
}

/// Makes and maps tensors, each of them gone before the next; the slab stays mapped.
fn create(pond: &Pond, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    let spec = || TensorSpec::unnamed(Dtype::U8, [bytes]);
    let anchor = pond.create(spec())?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let tensor = pond.create(spec())?;
        taken.push(start.elapsed());
        pond.delete(tensor.id())?;
        drop(tensor);
        if !pond.flush(FLUSH)? {
            return Err(failed("giving a tensor back", "it takes too long"));
        }
    }
    pond.delete(anchor.id())?;
    drop(anchor);
    pond.flush(FLUSH)?;
    Ok(taken)
}
