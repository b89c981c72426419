//! What one `pondtool` process has, and the commands that it knows.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond::{
    Dtype, GetOptions, GroupLimit, LeaseId, Mode, Pond, PutSpec, Sink, Source, Tensor, TensorSpec,
    runtime_dir,
};
use millpond_cuda::{DeviceUuid, Nvml};
use millpond_wire::message::{RequestBody, Target, TensorGet};

use super::churn::{self, Churn};
use super::elastic::Caches;
use super::member::Membership;
use super::models::Models;
use super::pools::Pools;
use super::transports::Transports;
use super::{Trouble, retire, trouble, wrong};
use crate::{PATIENCE, Raw, content, driver};

type Said = Result<String, Trouble>;

/// What one process has.
#[derive(Default)]
pub(crate) struct Session {
    pond: Option<Pond>,
    held: HashMap<String, Tensor>,
    nvml: Option<(Nvml, DeviceUuid)>,
    churn: Option<Churn>,
    idle: Vec<Raw>,
    models: Models,
    membership: Membership,
    caches: Caches,
    pools: Pools,
    transports: Transports,
}

impl Session {
    /// Does what the words say.
    pub(crate) fn run(&mut self, words: &[&str]) -> Said {
        match *words {
            ["put", name, bytes, seed] => {
                let said = self.make(name, bytes, seed, false)?;
                self.held.remove(name);
                self.run(&["flush"]).map(|_| said)
            }
            ["make", name, bytes, seed] => self.make(name, bytes, seed, false),
            ["ephemeral", name, bytes, seed] => self.make(name, bytes, seed, true),
            ["begin", name, bytes] => self.begin(name, number(bytes)?),
            ["many", prefix, count, bytes] => self.many(prefix, number(count)?, number(bytes)?),
            ["get", name] => self.get(name, GetOptions::read_only()),
            ["get", name, wait_ms] => {
                let wait = Duration::from_millis(number(wait_ms)?);
                self.get(name, GetOptions::read_only().wait(wait))
            }
            ["open", name] => self.get(name, GetOptions::read_write()),
            ["map", name] => {
                let tensor = self.pond()?.get(name).map_err(trouble)?;
                self.held.insert(name.to_owned(), tensor);
                Ok(name.to_owned())
            }
            ["again", name, times] => self.again(name, number(times)?),
            ["hash", name] => match self.held.get(name) {
                Some(tensor) => hash(tensor),
                None => hash(&self.pond()?.get(name).map_err(trouble)?),
            },
            ["write", name, seed] => self.write(name, number(seed)?),
            ["publish", name] => Ok(self.tensor(name)?.publish().map_err(trouble)?.to_string()),
            ["lost", name] => Ok(self.tensor(name)?.is_lost().to_string()),
            ["drop", name] => match self.held.remove(name) {
                Some(_) => Ok(String::new()),
                None => Err(wrong(format!("'{name}' is not held"))),
            },
            ["drop-all"] => {
                self.held.clear();
                Ok(String::new())
            }
            ["flush"] => match self.pond()?.flush(PATIENCE).map_err(trouble)? {
                true => Ok(String::new()),
                false => Err(wrong("the retire list does not become empty")),
            },
            ["delete", name] => self.pond()?.delete(name).map_err(trouble).map(|()| String::new()),
            ["delete-unused", name] => {
                self.pond()?.delete_unused(name).map_err(trouble).map(|()| String::new())
            }
            ["used"] => self.used(),
            ["idle", count] => {
                let folder = std::env::var_os(runtime_dir::ENVIRONMENT).unwrap_or_default();
                for _ in 0..number(count)? {
                    let raw = Raw::connect(Path::new(&folder));
                    raw.be_welcome();
                    self.idle.push(raw);
                }
                Ok(self.idle.len().to_string())
            }
            ["upload", name, bytes, seed] => {
                let content = content::bytes(number(bytes)?, number(seed)?);
                let spec = PutSpec::new(name, Dtype::U8, [number(bytes)?]).replace(true);
                let source = Source::reader(content.as_slice(), "memory");
                self.pond()?.put(spec, source, |_| {}).map_err(trouble)?;
                Ok(content::hash(&content))
            }
            ["download", name] => {
                let mut bytes = Vec::new();
                let sink = Sink::writer(&mut bytes, "memory");
                self.pond()?.download(name, sink, |_| {}).map_err(trouble)?;
                Ok(content::hash(&bytes))
            }
            ["hoard", connections, asks, name] => {
                self.run(&["idle", connections])?;
                for raw in &self.idle {
                    for number in 1..=number(asks)? {
                        raw.send(number, ask_for(name, number)?);
                    }
                }
                Ok(String::new())
            }
            // From now on at the socket of those who only watch.
            ["watch"] => {
                self.pond = Some(Pond::builder().watch().connect().map_err(trouble)?);
                Ok(String::new())
            }
            ["names"] => {
                let tensors = self.pond()?.list("").map_err(trouble)?;
                let names = tensors.iter().filter_map(|tensor| tensor.name.as_ref());
                let mut names: Vec<String> = names.map(ToString::to_string).collect();
                names.sort();
                Ok(names.join(" "))
            }
            ["connect"] => self.pond().map(|_| String::new()),
            // No destructor, no goodbye: as a program ends that never heard of tidiness.
            ["exit"] => std::process::exit(0),
            ["churn", prefix] => {
                self.churn = Some(Churn::start(&self.pond()?, prefix));
                Ok(String::new())
            }
            ["churn-rounds"] => Ok(self.churning()?.rounds().to_string()),
            ["churn-stop"] => self.churn.take().ok_or_else(|| wrong("nothing churns"))?.stop(),
            ["threads", count, rounds] => {
                churn::threads(&self.pond()?, number(count)?, number(rounds)?)
            }
            ["retire", transport, count, bytes, ms] => {
                let transport = transport.parse().map_err(wrong)?;
                let (count, bytes) = (number(count)?, number(bytes)?);
                let duration = Duration::from_millis(number(ms)?);
                retire::run(&self.pond()?, transport, count, bytes, duration)
            }
            ["early-unmap"] => retire::early_unmap(),
            ["model", ref rest @ ..] => {
                let pond = self.pond()?;
                self.models.run(&pond, rest)
            }
            ["join", limit] => {
                let limit = GroupLimit::Bytes(number(limit)?);
                let seat = self.pond()?.join_group(None, Some(limit), None).map_err(trouble)?;
                Ok(format!("{} {}", seat.name, seat.folder.display()))
            }
            ["member", ref rest @ ..] => self.membership.run(rest),
            ["cache", ref rest @ ..] => {
                let pond = self.pond()?;
                self.caches.run(&pond, rest)
            }
            ["pool", ref rest @ ..] => {
                let pond = self.pond()?;
                self.pools.run(&pond, rest)
            }
            ["shared", ref rest @ ..] => {
                let pond = self.pond()?;
                self.transports.run(&pond, &mut self.held, rest)
            }
            _ => Err(wrong(format!("'{}' is no command", words.join(" ")))),
        }
    }

    /// Gives everything back, as a tidy program does.
    pub(crate) fn end(&mut self) {
        self.held.clear();
        self.transports.end();
        self.models.end();
        self.pools.end();
        self.caches.end();
        if let Some(pond) = self.pond.take() {
            let _ = pond.close();
        }
    }

    fn pond(&mut self) -> Result<Pond, Trouble> {
        let pond = match self.pond.take() {
            Some(pond) => pond,
            None => Pond::connect().map_err(trouble)?,
        };
        Ok(self.pond.insert(pond).clone())
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, Trouble> {
        self.held.get(name).ok_or_else(|| wrong(format!("'{name}' is not held")))
    }

    fn churning(&self) -> Result<&Churn, Trouble> {
        self.churn.as_ref().ok_or_else(|| wrong("nothing churns"))
    }

    /// Gets something many times. Says what it is, its generation, and the nanoseconds of each get.
    fn again(&mut self, name: &str, times: u64) -> Said {
        let pond = self.pond()?;
        let begun = Instant::now();
        let mut last = pond.get(name).map_err(trouble)?;
        for _ in 1..times {
            last = pond.get(name).map_err(trouble)?;
        }
        let each = begun.elapsed().as_nanos() / u128::from(times.max(1));
        Ok(format!("{} {} {each}", last.id(), last.generation()))
    }

    fn begin(&mut self, name: &str, bytes: u64) -> Said {
        let spec = TensorSpec::new(name, Dtype::U8, [bytes]);
        let tensor = self.pond()?.create(spec).map_err(trouble)?;
        self.held.insert(name.to_owned(), tensor);
        Ok(String::new())
    }

    fn make(&mut self, name: &str, bytes: &str, seed: &str, ephemeral: bool) -> Said {
        let (bytes, seed) = (number(bytes)?, number(seed)?);
        let spec = TensorSpec::new(name, Dtype::U8, [bytes]).ephemeral(ephemeral);
        let tensor = self.pond()?.create(spec).map_err(trouble)?;
        let content = content::bytes(bytes, seed);
        tensor.copy_from_host(0, &content).map_err(trouble)?;
        tensor.publish().map_err(trouble)?;
        self.held.insert(name.to_owned(), tensor);
        Ok(content::hash(&content))
    }

    fn many(&mut self, prefix: &str, count: u64, bytes: u64) -> Said {
        let pond = self.pond()?;
        for index in 0..count {
            let name = format!("{prefix}/{index}");
            let tensor = pond.create(TensorSpec::new(&name, Dtype::U8, [bytes]));
            let tensor = tensor.map_err(trouble)?;
            tensor.fill(u8::try_from(index % 256).unwrap_or(0)).map_err(trouble)?;
            tensor.publish().map_err(trouble)?;
            self.held.insert(name, tensor);
        }
        Ok(count.to_string())
    }

    fn get(&mut self, name: &str, options: GetOptions) -> Said {
        let tensor = self.pond()?.get_with(name, options).map_err(trouble)?;
        let said = hash(&tensor);
        self.held.insert(name.to_owned(), tensor);
        said
    }

    fn write(&mut self, name: &str, seed: u64) -> Said {
        let tensor = self.tensor(name)?;
        let content = content::bytes(tensor.bytes(), seed);
        tensor.copy_from_host(0, &content).map_err(trouble)?;
        Ok(content::hash(&content))
    }

    /// Needs the driver, but makes no context and asks no pond.
    fn used(&mut self) -> Said {
        if self.nvml.is_none() {
            let driver = driver::open().map_err(trouble)?;
            let device = driver.devices().map_err(trouble)?.remove(0);
            self.nvml = Some((Nvml::open(&driver).map_err(trouble)?, device.uuid()));
        }
        let (nvml, uuid) = self.nvml.as_ref().ok_or_else(|| wrong("no NVML"))?;
        let memory = nvml.device(*uuid).and_then(|device| device.memory());
        memory.map(|memory| memory.used_bytes.to_string()).map_err(|e| wrong(e.to_string()))
    }
}

fn hash(tensor: &Tensor) -> Said {
    tensor.to_vec().map(|bytes| content::hash(&bytes)).map_err(trouble)
}

fn ask_for(name: &str, number: u64) -> Result<RequestBody, Trouble> {
    let name = name.parse().map_err(|_| wrong(format!("'{name}' is no name")))?;
    let (target, lease, mode) = (Target::Name(name), LeaseId(number), Mode::ReadOnly);
    Ok(RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: 0 }))
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is not a number")))
}
