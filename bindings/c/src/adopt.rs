//! Memory that the program has already becomes a tensor, without a copy.

use std::ffi::c_void;

use millpond::DevicePtr;

use crate::border::{Out, required, waiting, write};
use crate::failure::Failure;
use crate::objects::PONDS;
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::tensor_types::{millpond_tensor_info, millpond_tensor_spec};

/// Is called when the pond says that nobody has adopted memory any more, in a thread of this library; and before
/// millpond_tensor_adopt() answers with a failure. Neither a C++ exception nor longjmp() may leave it.
pub type millpond_release = Option<extern "C" fn(user_data: *mut c_void)>;

/// What ends when the pond is done with the memory.
struct Owner {
    release: millpond_release,
    user_data: *mut c_void,
    pid: u32,
}

// SAFETY: the header says that the function is called in a thread of this library, with the pointer that came along.
unsafe impl Send for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // In a forked child the memory is the parent's.
        if let Some(release) = self.release
            && self.pid == millpond_wire::fd::process_number()
        {
            release(self.user_data);
        }
    }
}

/// Makes a tensor of memory that this process has on a GPU, without a copy; it begins at `data`, in C order. Of the
/// spec `name`, `dtype`, `shape` and `audience` count. It waits for the work of the CUDA context, and the tensor is
/// ready at once. How the memory was made decides how it is shared: a mapped `cuMemCreate` allocation and a pool that
/// can be exported survive this process, memory of `cuMemAlloc` does not (`info->survives`). The memory must stay
/// until `release` is called, which may be NULL for memory that always stays.
///
/// Threads: any. Fork: the parent's memory is not the child's to adopt.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_adopt(
    pond: *const millpond_pond,
    spec: Option<&millpond_tensor_spec>,
    data: *mut c_void,
    release: millpond_release,
    user_data: *mut c_void,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    waiting(|| {
        let owner = Owner { release, user_data, pid: millpond_wire::fd::process_number() };
        let pond = PONDS.get(pond)?;
        let spec = required(spec, "spec")?.adopted()?;
        if data.is_null() {
            return Err(Failure::Null { what: "data" });
        }
        let pointer = DevicePtr(data.expose_provenance() as u64);
        let adopted = pond.adopt(spec, pointer, Box::new(owner))?;
        write(info, (&adopted).into());
        Ok(())
    })
}
