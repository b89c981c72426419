//! A pond and a Redis in memory, for tests of everything between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use millpond_wire::{
    Dtype, ErrorKind, GpuUuid, HANDLE_BYTES, Shape, Survives, TensorId, TensorState, Token,
    TransportKind,
};

use crate::answer::{Code, FIELDS, Fields, Place, Refusal};
use crate::keys::Source;
use crate::store::{Call, Failed, Got, Gotten, Lost, Owner, Pushed, Store, Taken};
use crate::truth::{Gpu, Opened, Status, Tensor, Told, Trouble, Truth, Wanted};

pub fn gpu(index: u8) -> GpuUuid {
    GpuUuid([index + 1; 16])
}

pub fn a_tensor(name: &str, holds: Option<u64>) -> Tensor {
    Tensor {
        id: TensorId::random(),
        name: Some(name.to_owned()),
        dtype: Dtype::F32,
        shape: Shape::new([2, 3]).unwrap(),
        gpu: gpu(0),
        bytes: 24,
        offset: 0,
        state: TensorState::Ready,
        created_unix_ms: 7,
        transport: TransportKind::Ipc,
        survives: Survives::Host,
        owner_pid: 77,
        holds,
    }
}

pub fn status(epoch: u64) -> Status {
    let gpu = |index: u8| Gpu {
        index: index.into(),
        uuid: gpu(index),
        name: "soft".into(),
        total_bytes: 1 << 30,
        used: 0,
    };
    let gpus = vec![gpu(0), gpu(1)];
    Status { pond: "pond".into(), epoch, version: "0".into(), tensors: 0, gpus }
}

/// A pond whose holds are counters.
#[derive(Debug)]
pub struct FakeTruth {
    pub tensors: BTreeMap<String, Tensor>,
    pub tokens: BTreeSet<[u8; 16]>,
    pub epoch: u64,
    /// So many calls fail first.
    pub away: u32,
    /// What every call is refused with.
    pub refuse: Option<ErrorKind>,
    pub calls: u32,
}

impl FakeTruth {
    pub fn new() -> Self {
        let (tensors, tokens) = (BTreeMap::new(), BTreeSet::new());
        Self { tensors, tokens, epoch: 1, away: 0, refuse: None, calls: 0 }
    }

    fn here(&mut self) -> Told<()> {
        self.calls += 1;
        if self.away > 0 {
            self.away -= 1;
            return Err(Trouble::Away("gone".into()));
        }
        if let Some(kind) = self.refuse {
            return Err(Trouble::No(Refusal::new(Code::Kind(kind), "not now")));
        }
        Ok(())
    }

    fn find(&mut self, name: &str) -> Told<&mut Tensor> {
        let missing = || {
            let message = format!("tensor '{name}' not found");
            Trouble::No(Refusal::new(Code::Kind(ErrorKind::NotFound), message))
        };
        self.tensors.get_mut(name).ok_or_else(missing)
    }

    fn is_new(&mut self, token: Token) -> bool {
        self.tokens.insert(*token.0.as_bytes())
    }
}

impl Truth for FakeTruth {
    fn list(&mut self, prefix: &str) -> Told<Vec<Tensor>> {
        self.here()?;
        let begins = |(name, _): &(&String, &Tensor)| name.starts_with(prefix);
        Ok(self.tensors.iter().filter(begins).map(|(_, tensor)| tensor.clone()).collect())
    }

    fn inspect(&mut self, name: &str) -> Told<Tensor> {
        self.here()?;
        self.find(name).cloned()
    }

    fn inspect_id(&mut self, id: TensorId) -> Told<Tensor> {
        self.here()?;
        let name = self.tensors.iter().find(|(_, tensor)| tensor.id == id);
        let name = name.map(|(name, _)| name.clone()).unwrap_or_default();
        self.find(&name).cloned()
    }

    fn create(&mut self, wanted: &Wanted) -> Told<Tensor> {
        self.here()?;
        let new = self.is_new(wanted.token);
        if let Some(tensor) = self.tensors.get_mut(&wanted.name) {
            if tensor.shape != wanted.shape || tensor.dtype != wanted.dtype {
                return Err(Trouble::No(Refusal::new(Code::Kind(ErrorKind::Exists), "differs")));
            }
            tensor.holds = tensor.holds.map(|holds| holds + u64::from(new));
            return Ok(tensor.clone());
        }
        let mut tensor = a_tensor(&wanted.name, Some(1));
        (tensor.dtype, tensor.shape) = (wanted.dtype, wanted.shape.clone());
        (tensor.gpu, tensor.id) = (wanted.gpu, TensorId(wanted.token.0));
        self.tensors.insert(wanted.name.clone(), tensor.clone());
        Ok(tensor)
    }

    fn hold(&mut self, name: &str, _: Option<u32>, token: Token) -> Told<Opened> {
        self.here()?;
        let new = self.is_new(token);
        let tensor = self.find(name)?;
        let Some(holds) = &mut tensor.holds else {
            return Err(Trouble::No(Refusal::new(Code::Kind(ErrorKind::Invalid), "not held")));
        };
        *holds += u64::from(new);
        Ok(Opened { tensor: tensor.clone(), handle: [9; HANDLE_BYTES] })
    }

    fn unhold(&mut self, name: &str, _: Option<u32>, token: Token) -> Told<Tensor> {
        self.here()?;
        let new = self.is_new(token);
        let tensor = self.find(name)?;
        let Some(holds) = &mut tensor.holds else {
            return Err(Trouble::No(Refusal::new(Code::Kind(ErrorKind::NotFound), "no holds")));
        };
        *holds -= u64::from(new);
        if *holds > 0 {
            return Ok(tensor.clone());
        }
        let mut tensor = tensor.clone();
        tensor.state = TensorState::Deleted;
        self.tensors.remove(name);
        Ok(tensor)
    }

    fn peek(&mut self, _: TensorId) -> Told<[u8; HANDLE_BYTES]> {
        self.here().map(|()| [9; HANDLE_BYTES])
    }

    fn copy(&mut self, _: &str, wanted: &Wanted) -> Told<Tensor> {
        self.create(wanted)
    }

    fn status(&mut self) -> Told<Status> {
        self.here().map(|()| status(self.epoch))
    }
}

pub type Hash = BTreeMap<String, String>;

/// A Redis of maps, that loses connections and refuses writes when it is told to.
#[derive(Debug, Default)]
pub struct FakeStore {
    node: String,
    pub hashes: BTreeMap<String, Hash>,
    pub index: BTreeMap<String, BTreeSet<String>>,
    pub nodes: BTreeSet<String>,
    pub beats: BTreeSet<String>,
    pub commands: VecDeque<Vec<u8>>,
    pub processing: VecDeque<Vec<u8>>,
    pub replies: Vec<(String, String)>,
    pub forwarded: Vec<(String, Vec<u8>)>,
    pub servers: Vec<String>,
    /// What commands gave.
    pub memory: BTreeMap<Vec<u8>, String>,
    /// Keys of other applications, by the name of a tensor.
    pub foreign: BTreeSet<String>,
    /// Lists of calls that are carried out and not answered.
    pub lose: u32,
    /// Writes that a full server refuses.
    pub full: u32,
    pub lists: u32,
}

impl FakeStore {
    pub fn new(node: &str) -> Self {
        Self { node: node.to_owned(), ..Self::default() }
    }

    /// Shows a tensor as another node's bridge would.
    pub fn put(&mut self, tensor: &Tensor, node: &str) {
        let place = Place { node, epoch: 1, device: 0, now_unix_ms: 1 };
        let name = tensor.name.clone().unwrap();
        self.index.entry(node.to_owned()).or_default().insert(name.clone());
        self.hashes.insert(name, hash(&Fields::of(tensor, None, place)));
    }

    pub fn field(&self, name: &str, field: &str) -> Option<&str> {
        self.hashes.get(name)?.get(field).map(String::as_str)
    }

    fn owner(&self, name: &str) -> Owner {
        match self.field(name, "node") {
            _ if self.foreign.contains(name) => Owner::Foreign,
            Some(node) => Owner::Node(node.to_owned()),
            None => Owner::Nobody,
        }
    }

    fn taken(&self, commands: Vec<Vec<u8>>) -> Got {
        let pushed = |raw: Vec<u8>| Pushed { gave: self.memory.get(&raw).cloned(), raw };
        let commands = commands.into_iter().map(pushed).collect();
        Got::Commands(Taken { commands, ..Taken::default() })
    }

    fn one(&mut self, call: &Call) -> Result<Got, Failed> {
        let writes = matches!(call, Call::Project { .. } | Call::Answer { reply: Some(_), .. });
        if writes && self.full > 0 {
            self.full -= 1;
            return Err(Failed::Later("OOM full".into()));
        }
        Ok(match call.clone() {
            Call::Project { name, fields, force } => match self.owner(&name) {
                Owner::Foreign => Got::Owner(Owner::Foreign),
                Owner::Node(node) if node != self.node && !force => Got::Owner(Owner::Node(node)),
                _ => {
                    self.hashes.insert(name, hash(&fields));
                    Got::Owner(Owner::Nobody)
                }
            },
            Call::Remove { name, node } => {
                if self.field(&name, "node") == Some(&node) {
                    self.hashes.remove(&name);
                }
                Got::Nothing
            }
            Call::Index(names) => {
                self.index.entry(self.node.clone()).or_default().extend(names);
                Got::Nothing
            }
            Call::Forget { names, node } => {
                let index = self.index.entry(node).or_default();
                index.retain(|name| !names.contains(name));
                Got::Nothing
            }
            Call::Answer { raw, reply, gave, .. } => {
                self.replies.extend(reply);
                self.acknowledge(&raw);
                self.memory.extend(gave.map(|gave| (raw, gave)));
                Got::Is(true)
            }
            Call::Forward { raw, node, .. } => {
                self.acknowledge(&raw);
                self.forwarded.push((node, raw));
                Got::Nothing
            }
            Call::Take { source: Source::Own, .. } => Got::Commands(Taken::default()),
            Call::Take { at_most, .. } => {
                let count = at_most.min(self.commands.len());
                let taken: Vec<_> = self.commands.drain(..count).collect();
                self.processing.extend(taken.iter().cloned());
                self.taken(taken)
            }
            Call::Waiting(_) => self.taken(self.processing.iter().cloned().collect()),
            Call::Owner(name) => Got::Owner(self.owner(&name)),
            Call::Heartbeat(node) => Got::Is(self.beats.contains(&node)),
            Call::Fields(name) if self.foreign.contains(&name) => Got::Owner(Owner::Foreign),
            Call::Fields(name) => {
                let value = |field: &&str| Some(self.field(&name, field)?.as_bytes().to_vec());
                Got::Values(FIELDS.iter().map(value).collect())
            }
            Call::Names { node, .. } => {
                Got::Page(0, self.index.get(&node).into_iter().flatten().cloned().collect())
            }
            Call::Servers => Got::Names(self.servers.clone()),
            Call::Nodes { .. } => Got::Page(0, self.nodes.iter().cloned().collect()),
            Call::Node(..) => Got::Values(Vec::new()),
            Call::Register(_) => {
                self.beats.insert(self.node.clone());
                Got::Is(self.nodes.insert(self.node.clone()))
            }
            Call::Unregister(node) => {
                self.nodes.remove(&node);
                self.index.remove(&node);
                Got::Nothing
            }
        })
    }

    fn acknowledge(&mut self, raw: &[u8]) {
        if let Some(at) = self.processing.iter().position(|it| it == raw) {
            self.processing.remove(at);
        }
    }
}

fn hash(fields: &Fields) -> Hash {
    fields.texts().map(|(name, text)| (name.to_owned(), text)).collect()
}

impl Store for FakeStore {
    fn call(&mut self, calls: &[Call]) -> Result<Gotten, Lost> {
        self.lists += 1;
        let gotten = calls.iter().map(|call| self.one(call)).collect();
        if self.lose > 0 {
            self.lose -= 1;
            return Err(Lost("reset".into()));
        }
        Ok(gotten)
    }

    fn reconnect(&mut self) -> Result<(), Lost> {
        Ok(())
    }
}
