//! The bare driver's calls for memory that comes and goes under addresses that stay.

use std::time::{Duration, Instant};

use millpond_console::error::{CommandError, failed};
use millpond_cuda::{Access, AddressRange, Allocation, Context, CudaError, Mapping};

/// How addresses are divided.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Parts that do not lie side by side: each has calls of its own.
    pub segments: u64,
    /// Memory of all segments together.
    pub bytes: u64,
    pub handle_bytes: u64,
}

/// Addresses, and the handles that are mapped there now.
pub struct Bare {
    context: Context,
    layout: Layout,
    range: AddressRange,
    handles: Vec<Allocation>,
    mappings: Vec<Mapping>,
}

impl Bare {
    pub fn reserve(context: &Context, layout: Layout) -> Result<Self, CommandError> {
        // A gap after each segment, as a larger cache has one.
        let addresses = if layout.segments > 1 { layout.bytes * 2 } else { layout.bytes };
        let range = AddressRange::reserve(context.driver(), addresses).map_err(refused)?;
        let (handles, mappings) = (Vec::new(), Vec::new());
        Ok(Self { context: context.clone(), layout, range, handles, mappings })
    }

    /// Makes and maps everything: `cuMemCreate` and `cuMemMap` for each handle, one `cuMemSetAccess` for
    /// what lies side by side.
    pub fn make(&mut self) -> Result<Duration, CommandError> {
        let start = Instant::now();
        self.try_to_make().map_err(refused)?;
        Ok(start.elapsed())
    }

    fn try_to_make(&mut self) -> Result<(), CudaError> {
        let Layout { segments, bytes, handle_bytes } = self.layout;
        let device = self.context.device();
        let each = bytes / segments;
        for _ in 0..bytes / handle_bytes {
            self.handles.push(Allocation::create_private(device, handle_bytes)?);
        }
        let handles: Vec<&Allocation> = self.handles.iter().collect();
        let in_segment = handles.len().div_ceil(usize::try_from(segments).unwrap_or(1)).max(1);
        let step = if segments > 1 { each * 2 } else { each };
        let mut at = 0;
        for handles in handles.chunks(in_segment) {
            let (context, range) = (&self.context, &self.range);
            self.mappings.push(Mapping::map_all(context, range, at, handles, Access::ReadWrite)?);
            at += step;
        }
        Ok(())
    }

    /// Unmaps and releases everything.
    pub fn end(&mut self) -> Result<Duration, CommandError> {
        let start = Instant::now();
        for mapping in self.mappings.drain(..) {
            mapping.unmap().map_err(refused)?;
        }
        for handle in self.handles.drain(..) {
            handle.release().map_err(refused)?;
        }
        Ok(start.elapsed())
    }
}

fn refused(error: CudaError) -> CommandError {
    failed("making memory with the bare driver", error)
}
