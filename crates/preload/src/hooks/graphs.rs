//! Graphs that allocate: their memory is taken from the card when they are uploaded or launched,
//! and kept until it is trimmed.
//!
//! A graph is only looked into once the program has made an allocation node, and a launch costs one
//! load unless some executable graph is known to hold one.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use millpond_ledger::units_for;

use super::pool_registry::{give_back_unused, graphs_charged, settle_graphs};
use super::pools::STEP;
use super::reserve::Reserve;
use super::{key, linear, written};
use crate::account::{self, Account};
use crate::driver::{others, real};
use crate::state::{self, DEVICES, State};
use crate::types::{AllocationNode, Location, PoolProperties, Status, status};

const NODE_GRAPH: u32 = 4;
const NODE_ALLOCATION: u32 = 10;
const NODE_FREE: u32 = 11;
const NODE_CONDITIONAL: u32 = 13;
const MARK: u64 = 1 << 63;

fn note_allocation_node() {
    if let Some(state) = state::get() {
        state.allocation_nodes.store(1, Ordering::Relaxed);
    }
}

pub(crate) unsafe fn cuGraphAddMemAllocNode(
    node: *mut usize,
    graph: usize,
    before: *const usize,
    count: usize,
    parameters: *mut c_void,
) -> Status {
    note_allocation_node();
    // SAFETY: the caller's arguments, unchanged.
    unsafe { real::cuGraphAddMemAllocNode(node, graph, before, count, parameters) }
}

/// # Safety
/// `parameters` is null or begins with the node's type.
unsafe fn note_if_allocation(parameters: *const c_void) {
    // SAFETY: not null, and the type is first in every version of the struct.
    if !parameters.is_null() && unsafe { written(parameters.cast::<u32>()) } == NODE_ALLOCATION {
        note_allocation_node();
    }
}

pub(crate) unsafe fn cuGraphAddNode(
    node: *mut usize,
    graph: usize,
    before: *const usize,
    count: usize,
    parameters: *mut c_void,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        note_if_allocation(parameters);
        real::cuGraphAddNode(node, graph, before, count, parameters)
    }
}

pub(crate) unsafe fn cuGraphAddNode_v2(
    node: *mut usize,
    graph: usize,
    before: *const usize,
    edges: *const c_void,
    count: usize,
    parameters: *mut c_void,
) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        note_if_allocation(parameters);
        real::cuGraphAddNode_v2(node, graph, before, edges, count, parameters)
    }
}

/// What a graph's nodes allocate: on which devices, and how much in all.
#[derive(Clone, Copy, Default)]
struct Needs {
    devices: u16,
    bytes: u64,
    unfreed: i64,
}

impl Needs {
    /// The most that the graphs' memory can need, in units.
    fn units(self) -> u32 {
        units_for(self.bytes.checked_next_multiple_of(STEP).unwrap_or(u64::MAX))
    }

    /// A part of the graph cannot be looked into: what it takes is charged when it was taken.
    fn add_unseen(&mut self) {
        let bit = account::current_device().and_then(|ordinal| u32::try_from(ordinal).ok());
        self.devices |= bit.and_then(|bit| 1_u16.checked_shl(bit)).unwrap_or(0);
    }

    fn pack(self) -> u64 {
        MARK | u64::from(self.devices) << 32 | u64::from(self.units())
    }
}

/// How deep graphs in graphs are looked into.
const DEPTH: u32 = 8;

/// Looks for allocation nodes. The list of nodes goes into a mapping of its own.
fn look(graph: usize, depth: u32, needs: &mut Needs) {
    let mut count = 0_usize;
    // SAFETY: without an array the call says how many there are.
    let status = unsafe { others::cuGraphGetNodes(graph, core::ptr::null_mut(), &raw mut count) };
    if status != status::SUCCESS || count == 0 {
        return;
    }
    if depth == 0 {
        return needs.add_unseen();
    }
    let Some(bytes) = count.checked_mul(size_of::<usize>()) else { return };
    // SAFETY: a new private mapping, unmapped below.
    let list = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if list == libc::MAP_FAILED {
        return needs.add_unseen();
    }
    let nodes = list.cast::<usize>();
    // SAFETY: the list has room for `count` nodes.
    if unsafe { others::cuGraphGetNodes(graph, nodes, &raw mut count) } == status::SUCCESS {
        for index in 0..count {
            // SAFETY: the driver has written `count` nodes.
            look_at(unsafe { nodes.add(index).read() }, depth, needs);
        }
    }
    // SAFETY: made above.
    unsafe { libc::munmap(list, bytes) };
}

fn look_at(node: usize, depth: u32, needs: &mut Needs) {
    let mut kind = u32::MAX;
    // SAFETY: a node of the graph, and a pointer to a type.
    if unsafe { others::cuGraphNodeGetType(node, &raw mut kind) } != status::SUCCESS {
        return;
    }
    if kind == NODE_GRAPH {
        let mut child = 0;
        // SAFETY: a node of this type, and a pointer to a graph.
        let status = unsafe { others::cuGraphChildGraphNodeGetGraph(node, &raw mut child) };
        if status == status::SUCCESS {
            look(child, depth - 1, needs);
        }
    }
    if kind == NODE_CONDITIONAL {
        // The driver does not show what is inside.
        needs.add_unseen();
    }
    if kind == NODE_FREE {
        needs.unfreed -= 1;
    }
    if kind != NODE_ALLOCATION {
        return;
    }
    needs.unfreed += 1;
    let mut parameters = AllocationNode {
        pool: PoolProperties {
            kind: 0,
            handle_types: 0,
            location: Location { kind: 0, id: 0 },
            win32: 0,
            max_bytes: 0,
            reserved: [0; 7],
        },
        access: 0,
        access_count: 0,
        bytes: 0,
        pointer: 0,
    };
    // SAFETY: a node of this type, and a struct of the right layout.
    let status = unsafe { others::cuGraphMemAllocNodeGetParams(node, &raw mut parameters) };
    if status != status::SUCCESS {
        return;
    }
    if let Some(ordinal) = parameters.pool.location.device()
        && let Ok(bit) = u32::try_from(ordinal)
    {
        let bytes = account::bytes(parameters.bytes);
        let rounded = bytes.checked_next_multiple_of(linear::BLOCK).unwrap_or(u64::MAX);
        needs.devices |= 1_u16.checked_shl(bit).unwrap_or(0);
        needs.bytes = needs.bytes.saturating_add(rounded);
    }
}

/// Runs a call that may take what graphs need on each of their devices.
fn with_memory(state: &State, devices: u16, units: u32, call: impl FnOnce() -> Status) -> Status {
    let mut held = [(None, 0_u32); DEVICES];
    for (ordinal, place) in (0..).zip(&mut held) {
        if devices >> ordinal & 1 == 0 {
            continue;
        }
        // What graphs hold already serves this one too, unless it has to be given back for room, or
        // some graph leaves memory behind when it ends, so that nobody knows what is in use.
        let more = || {
            if state.unfreed_graphs.load(Ordering::Relaxed) == 0 {
                units.saturating_sub(graphs_charged(ordinal))
            } else {
                units
            }
        };
        let reserved = Account::of(ordinal).and_then(|account| {
            let units = more();
            if account.reserve_once(units) {
                return Some((account, units));
            }
            give_back_unused(ordinal);
            let units = more();
            if account.reserve_once(units) {
                return Some((account, units));
            }
            crate::refusal::note(account, units);
            None
        });
        match reserved {
            Some((account, units)) => *place = (Some(account), units),
            None => {
                give_up(&held);
                return status::OUT_OF_MEMORY;
            }
        }
    }
    let status = call();
    for (account, units) in held {
        if let Some(account) = account {
            if status == status::OUT_OF_MEMORY {
                // On a full card the driver keeps what it got before it gave up.
                // SAFETY: no conditions; what graphs use stays.
                unsafe { real::cuDeviceGraphMemTrim(account.ordinal()) };
            }
            settle_graphs(account, units, status == status::SUCCESS);
        }
    }
    status
}

fn give_up(held: &[(Option<Account>, u32)]) {
    for (account, units) in held {
        if let Some(account) = account {
            account.release(*units);
        }
    }
}

/// Whether parameters of an instantiation ask for an upload with it.
///
/// # Safety
/// `parameters` is null or begins with flags.
pub(super) unsafe fn uploads(parameters: *const c_void) -> bool {
    const UPLOAD: u64 = 2;
    // SAFETY: not null, and the flags are first.
    !parameters.is_null() && unsafe { written(parameters.cast::<u64>()) } & UPLOAD != 0
}

/// Makes an executable graph; what it needs is noted, and taken at once if it is uploaded with it.
///
/// # Safety
/// `exec` may be read after `call` has succeeded.
pub(super) unsafe fn instantiate(
    exec: *mut usize,
    graph: usize,
    uploads: bool,
    call: impl FnOnce() -> Status,
) -> Status {
    let Some(state) = state::get() else { return call() };
    if state.allocation_nodes.load(Ordering::Relaxed) == 0 {
        return call();
    }
    let mut needs = Needs::default();
    look(graph, DEPTH, &mut needs);
    if needs.devices == 0 {
        return call();
    }
    if needs.unfreed > 0 {
        state.unfreed_graphs.store(1, Ordering::Relaxed);
    }
    let status =
        if uploads { with_memory(state, needs.devices, needs.units(), call) } else { call() };
    if status == status::SUCCESS && !exec.is_null() {
        // SAFETY: the call has succeeded.
        let made = unsafe { written(exec) };
        let known = state.execs.take(key(made)).is_some();
        if !state.execs.insert(key(made), needs.pack()) {
            // There is no place to remember it: better none than one that nobody counts.
            // SAFETY: just made, and the program has not seen it.
            unsafe {
                real::cuGraphExecDestroy(made);
                exec.write_unaligned(0);
            }
            return status::OUT_OF_MEMORY;
        }
        if !known {
            state.allocating_execs.fetch_add(1, Ordering::Relaxed);
        }
    }
    status
}

/// A launch or an upload.
pub(super) fn launch(exec: usize, call: impl FnOnce() -> Status) -> Status {
    match state::get() {
        Some(state) if state.allocating_execs.load(Ordering::Relaxed) != 0 => {
            launch_known(state, exec, call)
        }
        _ => call(),
    }
}

fn launch_known(state: &State, exec: usize, call: impl FnOnce() -> Status) -> Status {
    let Some(word) = state.execs.get(key(exec)) else { return call() };
    let [a, b, c, d, low, high, ..] = word.to_le_bytes();
    with_memory(state, u16::from_le_bytes([low, high]), u32::from_le_bytes([a, b, c, d]), call)
}

pub(crate) unsafe fn cuGraphExecDestroy(exec: usize) -> Status {
    let taken = state::get().and_then(|state| state.execs.take(key(exec)));
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuGraphExecDestroy(exec) };
    if let Some(word) = taken
        && let Some(state) = state::get()
    {
        if status == status::SUCCESS {
            state.allocating_execs.fetch_sub(1, Ordering::Relaxed);
        } else {
            state.execs.insert(key(exec), word);
        }
    }
    status
}

pub(crate) unsafe fn cuDeviceGraphMemTrim(device: c_int) -> Status {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { real::cuDeviceGraphMemTrim(device) };
    if status == status::SUCCESS
        && graphs_charged(device) != 0
        && let Some(account) = Account::of(device)
    {
        settle_graphs(account, 0, true);
    }
    status
}

const _: () = assert!(DEVICES <= 16);
