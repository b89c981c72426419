//! Graphs, their nodes, and what is made from them to be launched.
//!
//! A graph here is a list of work in an order that its dependencies allow: nodes can only name
//! earlier ones. A launch puts the whole list into one stream, which is one of the orders that the
//! card may choose.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_cuda::sys::Status;

use super::address::AddressSpace;
use super::board::Device;
use super::fence::{Fence, Spot};
use super::graph_memory::GraphMemory;
use super::ids;
use super::job::Job;

/// What a node does.
#[derive(Clone, Debug)]
pub enum Work {
    /// A copy, a fill or a kernel.
    Job(Job),
    /// Allocates memory of a device.
    Alloc { at: u64, bytes: u64, device: usize },
    /// Frees what an allocation node of any graph allocated.
    Free { at: u64, device: usize },
}

#[derive(Clone, Debug)]
pub struct Node {
    /// The number by which the program knows it.
    pub id: u64,
    pub work: Work,
    /// The nodes that come before it.
    pub after: Vec<u64>,
}

#[derive(Debug)]
pub struct Graph {
    /// The number by which the program knows it.
    pub id: u64,
    nodes: Mutex<Vec<Node>>,
    /// An executable graph of it exists; with allocation nodes there may be only one.
    instantiated: AtomicBool,
}

impl Graph {
    /// Its nodes in the order in which they were added.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What can be launched.
#[derive(Debug)]
pub struct Exec {
    nodes: Vec<Node>,
    auto_free: bool,
    graph: Arc<Graph>,
    /// The end of its last launch: the next comes after it, in whatever stream.
    last: Mutex<Option<Fence>>,
}

#[derive(Debug, Default)]
struct Tables {
    graphs: HashMap<u64, Arc<Graph>>,
    nodes: HashMap<u64, u64>,
    execs: HashMap<u64, Arc<Exec>>,
}

/// All graphs of this process.
#[derive(Debug)]
pub struct Graphs {
    memory: Vec<GraphMemory>,
    tables: RwLock<Tables>,
}

impl Graphs {
    pub fn new(devices: &[Arc<Device>], space: &Arc<AddressSpace>, step: u64) -> Self {
        let memory = devices.iter().map(|device| GraphMemory::new(device, space, step)).collect();
        Self { memory, tables: RwLock::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory of graphs on a device.
    pub fn memory(&self, device: usize) -> Result<&GraphMemory, Status> {
        self.memory.get(device).ok_or(Status::INVALID_DEVICE)
    }

    /// The device whose graph memory has an address as the start of a node's.
    pub fn device_of(&self, at: u64) -> Option<usize> {
        self.memory.iter().position(|memory| memory.knows(at))
    }

    /// The memory in use around an address: its start and the bytes asked for.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        self.memory.iter().find_map(|memory| memory.around(at))
    }

    pub fn create(&self) -> Arc<Graph> {
        let graph = Arc::new(Graph {
            id: ids::next(),
            nodes: Mutex::default(),
            instantiated: AtomicBool::new(false),
        });
        self.write().graphs.insert(graph.id, Arc::clone(&graph));
        graph
    }

    /// A graph by its number.
    pub fn find(&self, id: u64) -> Result<Arc<Graph>, Status> {
        self.read().graphs.get(&id).cloned().ok_or(Status::INVALID_VALUE)
    }

    /// A node by its number.
    pub fn node(&self, id: u64) -> Result<Node, Status> {
        let graph = self.read().nodes.get(&id).copied().ok_or(Status::INVALID_VALUE)?;
        let graph = self.find(graph)?;
        let nodes = graph.nodes();
        nodes.iter().find(|node| node.id == id).cloned().ok_or(Status::INVALID_VALUE)
    }

    /// Adds a node that comes after others of the same graph. An allocation node's addresses must
    /// have been reserved, and are the graph's from here on.
    pub fn add(&self, graph: &Graph, work: Work, after: &[u64]) -> Result<u64, Status> {
        let id = ids::next();
        let mut nodes = graph.nodes();
        if after.iter().any(|before| nodes.iter().all(|node| node.id != *before)) {
            return Err(Status::INVALID_VALUE);
        }
        nodes.push(Node { id, work, after: after.to_vec() });
        drop(nodes);
        self.write().nodes.insert(id, graph.id);
        Ok(id)
    }

    /// Adds an allocation node and answers it with its addresses.
    pub fn add_alloc(
        &self,
        graph: &Graph,
        bytes: u64,
        device: usize,
        after: &[u64],
    ) -> Result<(u64, u64), Status> {
        let memory = self.memory(device)?;
        let at = memory.reserve(bytes)?;
        match self.add(graph, Work::Alloc { at, bytes, device }, after) {
            Ok(node) => Ok((node, at)),
            Err(status) => {
                memory.let_go(at);
                Err(status)
            }
        }
    }

    fn let_go(&self, nodes: &[Node]) {
        for node in nodes {
            if let Work::Alloc { at, device, .. } = node.work
                && let Ok(memory) = self.memory(device)
            {
                memory.let_go(at);
            }
        }
    }

    /// `cuGraphDestroy`: what was made from it lives on.
    pub fn destroy(&self, id: u64) -> Result<(), Status> {
        let mut tables = self.write();
        let graph = tables.graphs.remove(&id).ok_or(Status::INVALID_VALUE)?;
        tables.nodes.retain(|_, owner| *owner != id);
        drop(tables);
        self.let_go(&graph.nodes());
        Ok(())
    }

    pub fn instantiate(&self, graph: u64, auto_free: bool) -> Result<u64, Status> {
        let graph = self.find(graph)?;
        let nodes = graph.nodes().clone();
        let allocates = nodes.iter().any(|node| matches!(node.work, Work::Alloc { .. }));
        if allocates && graph.instantiated.swap(true, Ordering::AcqRel) {
            return Err(Status::NOT_SUPPORTED);
        }
        for node in &nodes {
            if let Work::Alloc { at, device, .. } = node.work {
                self.memory(device)?.hold(at);
            }
        }
        let id = ids::next();
        let exec = Exec { nodes, auto_free, graph, last: Mutex::default() };
        self.write().execs.insert(id, Arc::new(exec));
        Ok(id)
    }

    /// `cuGraphExecDestroy`: the memory stays reserved.
    pub fn destroy_exec(&self, id: u64) -> Result<(), Status> {
        let exec = self.write().execs.remove(&id).ok_or(Status::INVALID_VALUE)?;
        exec.graph.instantiated.store(false, Ordering::Release);
        self.let_go(&exec.nodes);
        Ok(())
    }

    /// `cuGraphUpload`: memory appears, nothing runs.
    pub fn upload(&self, id: u64) -> Result<(), Status> {
        let exec = self.read().execs.get(&id).cloned().ok_or(Status::INVALID_VALUE)?;
        let _one_at_a_time = exec.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut begun = Vec::new();
        let done = exec.nodes.iter().try_for_each(|node| match node.work {
            Work::Alloc { at, device, .. } if !self.memory(device)?.is_in_use(at) => {
                let memory = self.memory(device)?;
                memory.begin(at, None)?;
                begun.push((memory, at));
                Ok(())
            }
            _ => Ok(()),
        });
        begun.into_iter().for_each(|(memory, at)| memory.rest(at));
        done
    }

    /// `cuGraphLaunch`: memory first, then the work.
    pub fn launch(&self, id: u64, spot: Spot<'_>) -> Result<(), Status> {
        let exec = self.read().execs.get(&id).cloned().ok_or(Status::INVALID_VALUE)?;
        let mut end_of_last = exec.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fence) = end_of_last.as_ref().filter(|fence| !fence.is_before(spot)) {
            fence.delay(spot)?;
        }
        let mut begun = Vec::new();
        let prepared = exec.nodes.iter().try_for_each(|node| match node.work {
            Work::Alloc { at, device, .. } => {
                let memory = self.memory(device)?;
                if exec.auto_free && memory.is_in_use(at) {
                    memory.end(at, None)?;
                }
                memory.begin(at, Some(spot))?;
                begun.push((at, device));
                Ok(())
            }
            Work::Free { at, device } if !self.memory(device)?.is_in_use(at) => {
                Err(Status::INVALID_VALUE)
            }
            _ => Ok(()),
        });
        if let Err(status) = prepared {
            for (at, device) in begun {
                self.memory(device)?.end(at, None)?;
            }
            return Err(status);
        }
        for node in &exec.nodes {
            if let Work::Job(job) = &node.work {
                spot.queue.submit(spot.lane, job.clone())?;
            }
        }
        let last = spot.queue.submit(spot.lane, Job::Nothing)?;
        *end_of_last = Some(Fence::new(spot.queue, last));
        for node in &exec.nodes {
            if let Work::Free { at, device } = node.work {
                self.memory(device)?.end(at, Some(Fence::new(spot.queue, last)))?;
            }
        }
        Ok(())
    }
}
