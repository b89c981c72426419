//! What this process knows: one mapping that a forked child finds empty.
//!
//! A child of `fork` has none of its parent's GPU memory and no slot in the ledger. The kernel wipes
//! the mapping for it, so it begins anew without any handler of ours being run.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use millpond_ledger::DeviceIndex;

use crate::table::Table;
use crate::twins::Member;

/// GPUs that a process can use under a limit, as the ledger can count.
pub(crate) const DEVICES: usize = millpond_ledger::DEVICES;
/// Pools that are known at once. From one that does not fit there is no memory.
pub(crate) const POOLS: usize = 512;
/// Contexts whose memory can be told apart.
pub(crate) const CONTEXTS: usize = 512;
/// Allocations of `cuMemCreate` and imports at once.
pub(crate) const OBJECTS: usize = 1 << 18;

/// Streams that memory outside of pools was freed in, and that nobody has waited for since.
pub(crate) const PENDING: usize = 256;

/// Captures that are told apart.
pub(crate) const CAPTURES: usize = 256;

/// Exported descriptors that are remembered at once.
pub(crate) const EXPORTS: usize = 4096;

/// Everything that belongs to this process alone. Zero is the beginning of every field.
///
/// What every allocation looks at comes first: one line, and the first page with a device's and a
/// pool's.
#[repr(C, align(64))]
pub(crate) struct State {
    pub(crate) attached: AtomicU32,
    pub(crate) device_count: AtomicU32,
    /// Streams that are being captured.
    pub(crate) captures: AtomicU32,
    /// Something was freed in stream order since the pools were last looked at.
    pub(crate) dirty: AtomicU32,
    /// How many of the places for pools were ever taken.
    pub(crate) pool_count: AtomicUsize,
    /// How many entries of `pending` are in use.
    pub(crate) pending_count: AtomicUsize,
    pub(crate) member: UnsafeCell<MaybeUninit<Member>>,
    pub(crate) devices: [Device; DEVICES],
    pub(crate) pools: [Pool; POOLS],
    pub(crate) contexts: [Context; CONTEXTS],
    pub(crate) said: AtomicU32,
    /// How many allocations the limit has refused.
    pub(crate) refusals: AtomicU32,
    /// Which streams are being captured, as far as there is room to note them, and how many more.
    pub(crate) capturing: [Capture; CAPTURES],
    pub(crate) unnoted_captures: AtomicU32,
    /// Some graph may hold allocation nodes.
    pub(crate) allocation_nodes: AtomicU32,
    /// Some graph allocates what it does not free.
    pub(crate) unfreed_graphs: AtomicU32,
    /// Executable graphs that hold some.
    pub(crate) allocating_execs: AtomicU32,
    /// What was freed in stream order, outside of pools, and is not known to be done.
    pub(crate) pending: [Pending; PENDING],
    /// Whether a thread is noting a new pool.
    pub(crate) noting_pool: AtomicU32,
    pub(crate) next_object: AtomicUsize,
    pub(crate) linear: Table<{ 1 << 17 }, 1024>,
    pub(crate) blocks: Table<{ 1 << 14 }, 256>,
    pub(crate) handles: Table<{ 1 << 15 }, 256>,
    pub(crate) mappings: Table<{ 1 << 16 }, 256>,
    pub(crate) arrays: Table<{ 1 << 14 }, 64>,
    pub(crate) execs: Table<{ 1 << 13 }, 64>,
    pub(crate) others: Table<{ 1 << 12 }, 64>,
    pub(crate) objects: [Object; OBJECTS],
    pub(crate) exports: [Export; EXPORTS],
    /// How many of those are in use.
    pub(crate) export_count: AtomicUsize,
    /// When the dead were last looked for, in milliseconds.
    pub(crate) reaped: AtomicU64,
}

// SAFETY: every field but `member` and the devices' `index` is an atomic; those are written once,
// before `attached` and `known` say so, and may be used from any thread.
unsafe impl Sync for State {}

impl State {
    /// What is known about a GPU.
    #[inline]
    pub(crate) fn device(&self, ordinal: c_int) -> Option<&Device> {
        self.devices.get(usize::try_from(ordinal).ok()?)
    }
}

/// What is known about one GPU, by its CUDA number.
#[repr(C, align(64))]
pub(crate) struct Device {
    /// Whether `index` is there.
    pub(crate) known: AtomicU32,
    /// Its number in the ledger.
    pub(crate) index: UnsafeCell<MaybeUninit<DeviceIndex>>,
    /// How often its primary context is held.
    pub(crate) primary: AtomicU32,
    /// What was charged for the primary context, and [`CHARGED`] while it is.
    pub(crate) primary_charge: AtomicU64,
    /// Whether a thread is making or ending the primary context.
    pub(crate) primary_busy: AtomicU32,
    pub(crate) primary_context: AtomicUsize,
    /// The pool that plain allocations come from.
    pub(crate) pool: AtomicUsize,
    /// How often somebody may have chosen another, and above that how many threads are at it: see
    /// `pool_registry::changing`.
    pub(crate) pool_changes: AtomicU64,
    /// The memory of graphs, which is a pool of its own: as `Pool::charged`.
    pub(crate) graph: AtomicU64,
    /// As `Context::small_arrays`, of contexts that nobody can tell apart.
    pub(crate) small_arrays: AtomicU64,
}

/// A primary context is charged, which may be nothing.
pub(crate) const CHARGED: u64 = 1 << 32;

/// A pool: what of it is charged.
#[repr(C, align(64))]
pub(crate) struct Pool {
    pub(crate) handle: AtomicUsize,
    /// Its device plus one, [`NO_DEVICE`] when it has none, 0 while nobody has said.
    pub(crate) device: AtomicU32,
    /// By how much it grows at once, in units; 0 when nobody has seen it grow.
    pub(crate) step: AtomicU32,
    /// A count of changes and the units charged, in one word.
    pub(crate) charged: AtomicU64,
    /// What the program has done with it: see `pools`.
    pub(crate) life: AtomicU32,
    /// Threads that ask it something now and did not get its handle from the program.
    pub(crate) readers: AtomicU32,
}

/// A capture that has begun.
#[repr(C)]
pub(crate) struct Capture {
    /// In which stream; 0 when the entry is free.
    pub(crate) stream: AtomicUsize,
    /// In which context, or 0.
    pub(crate) context: AtomicU32,
}

/// Memory that is the card's again when a stream has come to its end.
#[repr(C)]
pub(crate) struct Pending {
    /// Which stream; 0 when the entry is free.
    pub(crate) stream: AtomicUsize,
    /// Units, above them the device of the memory and that of the stream.
    pub(crate) word: AtomicU64,
}

/// A pool of host memory.
pub(crate) const NO_DEVICE: u32 = u32::MAX;

#[repr(C)]
pub(crate) struct Context {
    pub(crate) handle: AtomicUsize,
    /// Its device plus one, above the units charged for it.
    pub(crate) word: AtomicU64,
    /// Units charged for its stacks and its heap.
    pub(crate) stack: AtomicU32,
    pub(crate) heap: AtomicU32,
    /// How often it is held.
    pub(crate) holds: AtomicU32,
    /// Arrays that share blocks: how many, their units, their blocks.
    pub(crate) small_arrays: AtomicU64,
}

/// One piece of physical memory: charged until its last handle and its last mapping are gone.
#[repr(C)]
pub(crate) struct Object {
    /// Handles and mappings, and whether somebody else pays; 0 when the place is free.
    pub(crate) holders: AtomicU32,
    /// Device, how it is counted.
    pub(crate) kind: AtomicU32,
    /// What is charged or shown as shared.
    pub(crate) units: AtomicU32,
    /// How many exports of it were noted and not seen closed.
    pub(crate) exports: AtomicU32,
}

/// A descriptor that was made for others and keeps memory while it is open here.
#[repr(C)]
pub(crate) struct Export {
    /// Its object's place plus one; 0 when the entry is free.
    pub(crate) object: AtomicUsize,
    pub(crate) fd: AtomicU32,
    /// What the descriptor was open on.
    pub(crate) file: AtomicU64,
}

static STATE: AtomicPtr<State> = AtomicPtr::new(core::ptr::null_mut());

/// This process's state; `None` when the system has no memory for it.
#[inline]
pub(crate) fn get() -> Option<&'static State> {
    let known = STATE.load(Ordering::Acquire);
    if known.is_null() {
        return make();
    }
    // SAFETY: a mapping that is never unmapped; all zero is a state.
    Some(unsafe { &*known })
}

#[cold]
fn make() -> Option<&'static State> {
    let place = map::<State>(true)?;
    let order = (Ordering::AcqRel, Ordering::Acquire);
    let kept = match STATE.compare_exchange(core::ptr::null_mut(), place.as_ptr(), order.0, order.1)
    {
        Ok(_) => place.as_ptr(),
        Err(first) => {
            unmap(place);
            first
        }
    };
    // SAFETY: as in `get`.
    Some(unsafe { &*kept })
}

/// Memory of zeroes for one `T`, apart from any heap; empty again in forked children if asked.
pub(crate) fn map<T>(wiped_on_fork: bool) -> Option<NonNull<T>> {
    // SAFETY: a new private mapping; errno is the program's and stays.
    unsafe {
        let errno = *libc::__errno_location();
        let place = libc::mmap(
            core::ptr::null_mut(),
            size_of::<T>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        let mut usable = place != libc::MAP_FAILED;
        if usable && wiped_on_fork {
            usable = libc::madvise(place, size_of::<T>(), libc::MADV_WIPEONFORK) == 0;
            // Large pages would make a sparse table dense.
            libc::madvise(place, size_of::<T>(), libc::MADV_NOHUGEPAGE);
            libc::madvise(place, size_of::<T>(), libc::MADV_DONTDUMP);
        }
        *libc::__errno_location() = errno;
        if usable { NonNull::new(place.cast()) } else { None }
    }
}

/// Gives back what [`map`] made and nobody uses.
pub(crate) fn unmap<T>(place: NonNull<T>) {
    // SAFETY: the caller made it by `map` and has no reference to it.
    unsafe { libc::munmap(place.as_ptr().cast(), size_of::<T>()) };
}
