//! Blocks of pools for torch and for C: symbols that are called directly, without Python.
//!
//! Torch knows an allocator by its functions alone, and passes no word about whose memory is meant. So
//! there are as many sets of functions as there may be groups in a process, each with its own pools.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use millpond::cuda::Stream;
use millpond::{Elastic, GroupName, PoolBlock, PoolSpec};

use crate::convert::own_device_of;

/// Groups of one process that can have pools.
pub(crate) const SLOTS: usize = 8;
/// GPUs of one process.
const DEVICES: usize = 32;

/// A group, with a pool for each GPU.
struct Slot {
    group: OnceLock<Elastic>,
    pools: [OnceLock<Served>; DEVICES],
}

/// A pool, and the blocks that somebody else has.
struct Served {
    pool: millpond::StreamPool,
    /// By address.
    live: Mutex<HashMap<u64, PoolBlock>>,
}

static SERVED: [Slot; SLOTS] =
    [const { Slot { group: OnceLock::new(), pools: [const { OnceLock::new() }; DEVICES] } }; SLOTS];

/// One thread at a time makes pools.
static MAKING: Mutex<()> = Mutex::new(());

impl Served {
    fn live(&self) -> MutexGuard<'_, HashMap<u64, PoolBlock>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pool of a group on a GPU, made if there is none, and its set of functions. `None` when all sets
/// are other groups'.
pub(crate) fn serve(
    elastic: &Elastic,
    ordinal: i32,
    spec: PoolSpec,
) -> millpond::Result<Option<(usize, millpond::StreamPool)>> {
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |name: &GroupName| name == elastic.group();
    let free = |slot: &Slot| slot.group.get().is_none_or(|one| is_same(one.group()));
    let Some(index) = SERVED.iter().position(free) else { return Ok(None) };
    let slot = &SERVED[index];
    let served = slot.make(elastic, ordinal, spec)?;
    let _ = slot.group.set(elastic.clone());
    Ok(Some((index, served.pool.clone())))
}

impl Slot {
    fn make(&self, elastic: &Elastic, ordinal: i32, spec: PoolSpec) -> millpond::Result<&Served> {
        let place = usize::try_from(ordinal).ok().and_then(|index| self.pools.get(index));
        let index = usize::try_from(ordinal).unwrap_or(usize::MAX);
        let place = place.ok_or(millpond::Error::NoSuchIndex { index, count: DEVICES })?;
        if let Some(served) = place.get() {
            return Ok(served);
        }
        let made = Served { pool: elastic.pool(spec)?, live: Mutex::default() };
        Ok(place.get_or_init(|| made))
    }

    /// The pool of a GPU. One that nobody has asked for yet is made when torch comes to that GPU.
    fn pool(&self, ordinal: i32) -> millpond::Result<&Served> {
        let known = usize::try_from(ordinal).ok().and_then(|index| self.pools.get(index)?.get());
        if let Some(served) = known {
            return Ok(served);
        }
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let device = own_device_of(ordinal)?;
        let elastic = self.group.get().ok_or(millpond::Error::Closed)?;
        self.make(elastic, ordinal, PoolSpec::new("torch").device(device))
    }

    fn alloc(
        &self,
        size: isize,
        ordinal: i32,
        stream: *mut c_void,
    ) -> millpond::Result<*mut c_void> {
        let served = self.pool(ordinal)?;
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        // SAFETY: the caller vouches for its stream, until the block is freed.
        let stream = unsafe { Stream::from_raw(served.pool.context(), stream.cast()) };
        let block = served.pool.alloc(size, &stream)?;
        let address = block.address();
        served.live().insert(address, block);
        let address = usize::try_from(address).unwrap_or(0);
        Ok(std::ptr::with_exposed_provenance_mut(address))
    }

    fn free(&self, address: *mut c_void, ordinal: i32, stream: *mut c_void) {
        let address = address.expose_provenance() as u64;
        let known = usize::try_from(ordinal).ok().and_then(|index| self.pools.get(index)?.get());
        let Some(served) = known else { return };
        let block = served.live().remove(&address);
        match block {
            Some(block) if block.stream().raw() != stream.cast() => {
                // SAFETY: the caller vouches for its stream during this call.
                let other = unsafe { Stream::from_raw(served.pool.context(), stream.cast()) };
                block.free_on(&other);
            }
            block => drop(block),
        }
    }

    fn record(&self, address: *mut c_void, stream: *mut c_void) {
        let address = address.expose_provenance() as u64;
        for served in self.pools.iter().filter_map(OnceLock::get) {
            if let Some(block) = served.live().get_mut(&address) {
                // SAFETY: the caller vouches for its stream, until the block is freed.
                let other = unsafe { Stream::from_raw(served.pool.context(), stream.cast()) };
                block.record_stream(&other);
                return;
            }
        }
    }
}

/// A block of so many bytes, or null.
fn malloc(slot: usize, size: isize, device: c_int, stream: *mut c_void) -> *mut c_void {
    if size <= 0 {
        return std::ptr::null_mut();
    }
    // Nothing of ours may unwind into torch.
    let made = catch_unwind(|| SERVED[slot].alloc(size, device, stream));
    made.ok().and_then(Result::ok).unwrap_or(std::ptr::null_mut())
}

/// A block, or what is to be thrown.
#[repr(C)]
struct Made {
    address: *mut c_void,
    raise: Option<Raise>,
    text: *const c_char,
}

/// `std::__throw_runtime_error(char const*)` of the C++ library.
type Raise = unsafe extern "C-unwind" fn(*const c_char);

/// A block of so many bytes. Torch takes what it gets without a look, so what cannot be had is an
/// exception of C++, as with torch's own allocator; null where there is no C++.
///
/// The exception is thrown by the caller of this function, which has nothing to clean up: C++ walks through
/// its frame without asking Rust, whose own way to unwind may be another library's.
#[inline(never)]
extern "C" fn make(slot: usize, size: isize, device: c_int, stream: *mut c_void) -> Made {
    let made = catch_unwind(|| SERVED[slot].alloc(size, device, stream));
    let message = match made {
        Ok(Ok(address)) => return Made { address, raise: None, text: std::ptr::null() },
        Ok(Err(error)) => refusal(size, &error),
        Err(_) => c"the pool has failed".to_owned(),
    };
    // The exception copies the text; nobody is left to free it.
    let text: &'static CStr = Box::leak(message.into_boxed_c_str());
    Made { address: std::ptr::null_mut(), raise: raise(), text: text.as_ptr() }
}

/// Begins as torch's own refusal does: programs look for these words.
fn refusal(size: isize, error: &millpond::Error) -> CString {
    let hint = error.hint().map_or(String::new(), |hint| format!(" ({hint})"));
    let text = format!("CUDA out of memory. Tried to allocate {size} bytes: {error}{hint}");
    CString::new(text).unwrap_or_default()
}

/// How to throw `std::runtime_error`, with the C++ library that torch has loaded.
fn raise() -> Option<Raise> {
    static RAISE: OnceLock<Option<(libloading::Library, Raise)>> = OnceLock::new();
    let found = RAISE.get_or_init(|| {
        // SAFETY: the library is loaded already where anybody can catch what it throws, and its
        // initialisers do nothing twice.
        let library = unsafe { libloading::Library::new("libstdc++.so.6") }.ok()?;
        // SAFETY: the function has this signature in every version.
        let found = unsafe { library.get::<Raise>(b"_ZSt21__throw_runtime_errorPKc\0") };
        let raise = *found.ok()?;
        Some((library, raise))
    });
    found.as_ref().map(|(_, raise)| *raise)
}

macro_rules! symbols {
    ($($slot:literal: $malloc:ident, $or_throw:ident, $free:ident, $record:ident;)*) => { $(
        /// Memory of a pool for work of a stream; null where there is none.
        #[unsafe(no_mangle)]
        pub extern "C" fn $malloc(size: isize, device: c_int, stream: *mut c_void) -> *mut c_void {
            malloc($slot, size, device, stream)
        }

        /// The same, with an exception of C++ where there is none.
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $or_throw(size: isize, device: c_int, stream: *mut c_void) -> *mut c_void {
            let made = make($slot, size, device, stream);
            if let Some(raise) = made.raise {
                // SAFETY: a text that ends with a zero, and is never freed.
                unsafe { raise(made.text) };
            }
            made.address
        }

        /// Gives a block back behind the work of its stream.
        #[unsafe(no_mangle)]
        pub extern "C" fn $free(address: *mut c_void, _size: isize, device: c_int, stream: *mut c_void) {
            let _ = catch_unwind(AssertUnwindSafe(|| SERVED[$slot].free(address, device, stream)));
        }

        /// Says that work of another stream uses a block too, until it is freed.
        #[unsafe(no_mangle)]
        pub extern "C" fn $record(address: *mut c_void, stream: *mut c_void) {
            let _ = catch_unwind(AssertUnwindSafe(|| SERVED[$slot].record(address, stream)));
        }
    )* };
}

symbols! {
    0: millpond_pool_malloc, millpond_pool_malloc_or_throw, millpond_pool_free, millpond_pool_record_stream;
    1: millpond_pool_malloc_1, millpond_pool_malloc_or_throw_1, millpond_pool_free_1, millpond_pool_record_stream_1;
    2: millpond_pool_malloc_2, millpond_pool_malloc_or_throw_2, millpond_pool_free_2, millpond_pool_record_stream_2;
    3: millpond_pool_malloc_3, millpond_pool_malloc_or_throw_3, millpond_pool_free_3, millpond_pool_record_stream_3;
    4: millpond_pool_malloc_4, millpond_pool_malloc_or_throw_4, millpond_pool_free_4, millpond_pool_record_stream_4;
    5: millpond_pool_malloc_5, millpond_pool_malloc_or_throw_5, millpond_pool_free_5, millpond_pool_record_stream_5;
    6: millpond_pool_malloc_6, millpond_pool_malloc_or_throw_6, millpond_pool_free_6, millpond_pool_record_stream_6;
    7: millpond_pool_malloc_7, millpond_pool_malloc_or_throw_7, millpond_pool_free_7, millpond_pool_record_stream_7;
}
