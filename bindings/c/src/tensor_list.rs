//! Many tensors at once, and what the pond says of one.

use std::ffi::c_void;
use std::num::NonZeroU32;

use millpond_view as view;

use crate::border::{Answer, Out, Text, required, waiting, write};
use crate::failure::Failure;
use crate::objects::PONDS;
use crate::pond::{millpond_pond, wait};
use crate::result::ResultNumber;
use crate::tensor::{Mapped, millpond_tensor};
use crate::tensor_types::{millpond_get_options, millpond_tensor_info};
use crate::text::{json, millpond_text};

/// Is called for each tensor of a listing, in the calling thread. The info is valid during the call. Anything but
/// zero ends the listing, which then answers MILLPOND_CANCELLED. It may call this library. Neither a C++ exception
/// nor longjmp() may leave it.
pub type millpond_tensor_visitor =
    Option<extern "C" fn(info: &millpond_tensor_info, user_data: *mut c_void) -> u32>;

/// Tensors that are asked for at a time unless said.
const PAGE: NonZeroU32 = NonZeroU32::new(1000).unwrap();

/// Calls `visitor` for every tensor shared with the caller whose name begins with `prefix`; NULL for all, also those
/// without a name. They are asked for in pages of at most `page` tensors, 0 for 1000. A tensor that is there from the
/// first page to the last is among them; others may be. They come in no order of meaning.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_list(
    pond: *const millpond_pond,
    prefix: Text,
    page: u32,
    visitor: millpond_tensor_visitor,
    user_data: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let visitor = required(visitor, "visitor")?;
        let prefix = prefix.optional("prefix")?.unwrap_or("");
        let most = NonZeroU32::new(page).unwrap_or(PAGE);
        for page in pond.list_pages(prefix, most) {
            for info in &page? {
                if visitor(&millpond_tensor_info::from(info), user_data) != 0 {
                    return Err(Failure::Cancelled);
                }
            }
        }
        Ok(())
    })
}

/// Every tensor as millpond_tensor_list() finds it, as `millpond tensor ls --json` shows it. Free the text with
/// millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_list_json(
    pond: *const millpond_pond,
    prefix: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let found = PONDS.get(pond)?.list(prefix.optional("prefix")?.unwrap_or(""))?;
        let tensors = found.iter().map(view::Tensor::from).collect();
        out.write(json(&view::Tensors { tensors })?);
        Ok(())
    })
}

/// What the pond says of a tensor now. Nothing is mapped.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_inspect(
    pond: *const millpond_pond,
    target: Text,
    info: Out<'_, millpond_tensor_info>,
) -> ResultNumber {
    waiting(|| {
        let out = required(info, "info")?;
        let details = PONDS.get(pond)?.inspect(target.required("target")?)?;
        out.write((&details.info).into());
        Ok(())
    })
}

/// As millpond_tensor_inspect(), with all leases, as `millpond inspect --json` shows it. Free the text with
/// millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_inspect_json(
    pond: *const millpond_pond,
    target: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let details = PONDS.get(pond)?.inspect(target.required("target")?)?;
        let tags = view::Tags::default();
        out.write(json(&view::TensorDetails {
            tensor: view::Tensor::from(&details.info),
            leases: details.leases.iter().map(|lease| view::Lease::new(lease, &tags)).collect(),
        })?);
        Ok(())
    })
}

/// Maps `count` tensors; faster than one after the other. `tensors` has room for `count` handles, in the order of the
/// targets; each is freed by itself. If one fails, none is mapped and nothing is written.
///
/// Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works in the child,
/// over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_get_many(
    pond: *const millpond_pond,
    targets: *const Text,
    count: usize,
    options: Option<&millpond_get_options>,
    tensors: *mut *mut millpond_tensor,
) -> ResultNumber {
    waiting(|| {
        if count == 0 {
            return Ok(());
        }
        if targets.is_null() {
            return Err(Failure::Null { what: "targets" });
        }
        if tensors.is_null() {
            return Err(Failure::Null { what: "tensors" });
        }
        if count > isize::MAX.unsigned_abs() / size_of::<Text>() {
            return Err(Failure::invalid(format!(
                "{count} targets are more than a process can have"
            )));
        }
        // SAFETY: it is not NULL and its bytes fit an `isize`; the header demands so many readable texts.
        let targets = unsafe { std::slice::from_raw_parts(targets, count) };
        let names: Vec<&str> =
            targets.iter().map(|target| target.required("a target")).collect::<Answer<_>>()?;
        let options = millpond_get_options::read(options)?;
        let found = PONDS.get(pond)?.get_many(names, options)?;
        let mut handles = Vec::with_capacity(found.len());
        for tensor in found {
            match Mapped::keep(tensor) {
                Ok(handle) => handles.push(handle),
                Err(failure) => {
                    for handle in handles {
                        crate::objects::TENSORS.free(handle)?;
                    }
                    return Err(failure);
                }
            }
        }
        // SAFETY: there are `count` handles, one for each target, and the header demands room for as many.
        unsafe { tensors.copy_from_nonoverlapping(handles.as_ptr(), handles.len().min(count)) };
        Ok(())
    })
}

/// Gives back what nobody uses: empty slabs and, where `unleased_for_ms` is not zero, also one's own tensors that
/// nobody has leased for so long. With `dry_run` 1 it only says what would be given back. The outputs may be NULL:
/// deleted tensors, slabs, and bytes of those slabs.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_collect(
    pond: *const millpond_pond,
    unleased_for_ms: u64,
    dry_run: u32,
    tensors: Out<'_, u64>,
    slabs: Out<'_, u64>,
    slab_bytes: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let dry_run = crate::border::flag(dry_run, "dry_run")?;
        let since = (unleased_for_ms != 0).then(|| wait(unleased_for_ms));
        let collected = PONDS.get(pond)?.collect(since, dry_run)?;
        write(tensors, collected.tensors.len() as u64);
        write(slabs, collected.slabs.into());
        write(slab_bytes, collected.slab_bytes);
        Ok(())
    })
}
