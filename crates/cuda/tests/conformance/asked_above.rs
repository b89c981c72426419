//! What libraries above the driver ask about streams and pointers before they use them.

use crate::extra::{Extra, need};
use crate::support::{Gpu, observe_text};
use millpond_cuda::Stream;
use millpond_cuda::sys::{CUcontext, CUdeviceptr, Status, constants};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Memory type, whether it is managed, ordinal, start of the range.
const ASKED: [u32; 4] = [
    constants::POINTER_MEMORY_TYPE,
    constants::POINTER_IS_MANAGED,
    constants::POINTER_DEVICE_ORDINAL,
    constants::POINTER_RANGE_START,
];

#[test]
fn a_stream_knows_its_context_and_priorities_have_a_range() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let extra = Extra::find();
    let (of, range) = (need!(extra, cuStreamGetCtx), need!(extra, cuCtxGetStreamPriorityRange));
    let stream = Stream::new(&context).unwrap();
    let mut found: CUcontext = null_mut();
    let (mut least, mut greatest) = (-9, 9);
    // SAFETY: the out-pointers are valid for the calls, and the stream is alive; null means no answer.
    unsafe {
        for asked in [stream.raw(), null_mut()] {
            assert_eq!(of(asked, &raw mut found), Status::SUCCESS);
            assert_eq!(found, context.raw());
            found = null_mut();
        }
        assert_eq!(of(stream.raw(), null_mut()), Status::INVALID_VALUE);
        assert_eq!(range(&raw mut least, &raw mut greatest), Status::SUCCESS);
        assert_eq!(range(null_mut(), null_mut()), Status::SUCCESS);
    }
    observe_text("priorities of streams", format!("{least} to {greatest}"));
    assert!(least == 0 && greatest <= least, "{least} to {greatest}");
}

#[test]
fn several_attributes_of_a_pointer_come_with_one_question() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let ask = need!(Extra::find(), cuPointerGetAttributes);
    let memory = gpu.memory(gpu.unit());
    let on_the_stack = 0_u64;
    let unknown = (&raw const on_the_stack).expose_provenance() as CUdeviceptr;
    for (address, wanted) in [(memory.pointer().0 + 256, Some(memory.pointer().0)), (unknown, None)]
    {
        let (mut kind, mut managed, mut ordinal, mut start) = (9_u32, 9_u32, 9_i32, 9_u64);
        let mut told: [*mut c_void; 4] = [
            (&raw mut kind).cast(),
            (&raw mut managed).cast(),
            (&raw mut ordinal).cast(),
            (&raw mut start).cast(),
        ];
        // SAFETY: four attributes, each with a place for a value of its type or larger.
        let status = unsafe { ask(4, ASKED.as_ptr(), told.as_mut_ptr(), address) };
        assert_eq!(status, Status::SUCCESS, "{wanted:?}");
        assert_eq!(managed & 0xff, 0);
        match wanted {
            Some(begin) => assert_eq!((kind, ordinal, start), (2, gpu.device.ordinal(), begin)),
            // Of memory that the driver does not know, the beginning is left as it was.
            None => assert_eq!((kind, ordinal, start), (0, -2, 9)),
        }
    }
    // SAFETY: nothing is written for no attributes.
    let nothing = unsafe { ask(0, ASKED.as_ptr(), null_mut(), memory.pointer().0) };
    assert_eq!(nothing, Status::INVALID_VALUE);
}
